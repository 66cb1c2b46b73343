"""Name every difference between raters and tag it on the labels."""

import fiftyone.operators as foo
import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import VARIATION_TYPES
from kalos_core.figures import VARIATION_LABELS, significant, variations_title

from . import forms, running


class FindVariations(foo.Operator):
    @property
    def config(self):
        return foo.OperatorConfig(
            name="find_variations",
            label="Find variations between raters",
            description="Name every difference (wrong class, merged, missing, additional) and tag it on the labels",
            icon="/assets/variations.svg",
            dynamic=True,
            execute_as_generator=True,
            allow_immediate_execution=True,
            allow_delegated_execution=True,
        )

    def resolve_input(self, ctx):
        inputs = types.Object()
        forms.check_view(ctx, inputs)
        if forms.add_label_choice(ctx, inputs):
            forms.add_similarity(ctx, inputs)
            inputs.int(
                "max_merge",
                default=4,
                min=1,
                max=10,
                label="Most marks of one rater that may together match one of another",
                description="1: merged marks are not looked for",
            )
            forms.add_run_key(ctx, inputs, "variations")
        return types.Property(inputs, view=types.View(label="Find variations between raters"))

    def execute(self, ctx):
        params, samples = ctx.params, ctx.target_view()
        names = ("similarity", "threshold", "max_merge")
        settings = {name: params[name] for name in names if params.get(name) is not None}

        def work(progress):
            key = params.get("run_key") or kf.free_run_key(ctx.dataset, "variations")
            choice = forms.read_label_choice(ctx)
            run = kf.find_variations(samples, key, choice=choice, progress=progress, **settings)
            return {"run_key": key, **run.figures, "summary": summary(run)}

        return running.run(ctx, work, then=(ctx.ops.reload_dataset, *running.showing(ctx, "variations")))

    def resolve_output(self, ctx):
        return running.outputs(ctx, "Variations")

    def __call__(self, samples, run_key, **params):
        """Run from a notebook: `foo.get_operator("@kalos/variation/find_variations")(view, "first")`."""
        return foo.execute_operator(self.uri, {"view": samples.view()}, params={"run_key": run_key, **params})


def summary(run):
    """The figures of a run as text."""
    counts = run.figures["counts"]
    total = max(sum(counts.values()), 1)
    table = "\n".join(
        f"| {VARIATION_LABELS[name]} | {counts[name]:,} | {significant(100 * counts[name] / total)} % |"
        for name in VARIATION_TYPES
    )
    names = run.names
    return (
        f"**{variations_title(counts)}**\n\n| type | findings | share |\n|---|---|---|\n{table}\n\n"
        f"Written on every label: `{names.variation}`, `{names.similarity}`, `{names.match}`."
    )
