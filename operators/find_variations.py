"""Name every difference between raters and tag it on the labels."""

import kalos_core.fiftyone as kf
from kalos_core import VARIATION_TYPES
from kalos_core.figures import VARIATION_LABELS, boundary_title, shares_title, significant, variations_title

from . import forms, running


class FindVariations(running.Analysis):
    NAME, LABEL, KIND = "find_variations", "Find variations between raters", "variations"
    DESCRIPTION = "Name every difference (wrong class, merged, missing, additional) and tag it on the labels"
    ICON, RESULT = "/assets/variations.svg", "Variations"

    def add_choices(self, ctx, inputs):
        forms.add_similarity(ctx, inputs)
        inputs.int(
            "max_merge",
            default=4,
            min=1,
            max=10,
            label="Most marks of one rater that may together match one of another",
            description="1: merged marks are not looked for",
        )

    def settings(self, params):
        return forms.compared(params) | forms.given(params, "max_merge", "thresholds")

    def analyse(self, samples, run_key, **settings):
        return kf.find_variations(samples, run_key, **settings)

    def summary(self, run):
        """The figures of a run as text."""
        counts = run.figures["counts"]
        total = max(sum(counts.values()), 1)
        table = "\n".join(
            f"| {VARIATION_LABELS[name]} | {counts[name]:,} | {significant(100 * counts[name] / total)} % |"
            for name in VARIATION_TYPES
        )
        names, shares, boundary = run.names, run.diagnostics["shares"], run.diagnostics["boundary"]
        notes = [boundary_title(boundary["findings"], boundary["median"], boundary["identical"])]
        if "reason" not in shares:
            notes.append(shares_title(shares["equilibrium"], shares["no_equilibrium"]))
        return (
            f"**{variations_title(counts)}**\n\n| type | findings | share |\n|---|---|---|\n{table}\n\n"
            f"{'. '.join(notes)}.\n\n"
            f"Written on every label: `{names.variation}`, `{names.similarity}`, `{names.match}`."
        )
