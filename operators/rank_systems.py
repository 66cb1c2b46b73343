"""How systems that label whole images rank under each rater's truth and the majority's."""

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.figures import ranking_title, significant, tau_title

from . import forms, image_forms

MISSING = {"raise": "an error that counts them", "skip": "these images are left out for all"}

TREE_EXAMPLE = "animal: cat, dog; plant: oak"


class RankSystems(image_forms.ImageAnalysis):
    NAME, LABEL, KIND = "rank_systems", "Rank systems under each rater", "ranking"
    DESCRIPTION = "Whether the best of several systems depends on whose labels are the truth"
    ICON, RESULT = "/assets/labels.svg", "Ranking"
    PANEL = "labels"

    def add_choices(self, ctx, inputs):
        used = image_forms.fields_of_raters(ctx)
        fields = [name for name in kf.image_label_fields(ctx.dataset) if name not in used]
        usual = [name for name in kf.scored_fields(ctx.dataset) if name in fields]
        choices = types.DropdownView(multiple=True)
        for name in fields:
            choices.add_choice(name, label=name)
        systems = inputs.list(
            "systems",
            types.String(),
            default=usual,
            view=choices,
            label="Systems",
            description="Fields whose labels have a confidence or logits, at least two",
        )
        chosen = ctx.params.get("systems")
        chosen = usual if chosen is None else chosen
        strangers = [name for name in chosen if isinstance(chosen, list) and name not in fields]
        if strangers:
            forms.refuse(systems, f"{strangers[0]!r} is no field of scores")
        elif len(chosen) < 2:
            forms.refuse(systems, "A ranking needs at least two systems")
        missing = types.DropdownView()
        for name, label in MISSING.items():
            missing.add_choice(name, label=label)
        inputs.enum("missing", missing.values(), default="raise", view=missing, label="Images without scores")
        tree = inputs.str(
            "tree",
            label="A tree of the labels, for the ontology score",
            description=f"What stands above which, such as {TREE_EXAMPLE}; empty for none",
        )
        forms.check(tree, lambda: read_tree(ctx.params.get("tree")))

    def settings(self, params):
        given = forms.given(params, "missing", "decision", "unlisted", "seed", "on_repeat")
        chosen = params.get("systems")
        return given | {
            "systems": chosen,
            "groups": image_forms.read_groups(params),
            "tree": read_tree(params.get("tree")),
        }

    def analyse(self, samples, run_key, **settings):
        if settings["systems"] is None:  # calls from the SDK fill in no defaults
            settings["systems"] = kf.scored_fields(samples)
        return kf.rank_systems(samples, run_key, **settings)

    def summary(self, run):
        """Whether the best changes, by measure, with the values under every truth."""
        f, rankings = run.figures, run.result.rankings
        parts = []
        for measure, stored in zip(f["measures"], run.diagnostics["measures"], strict=True):
            rows = "\n".join(
                f"| {truth} | {' | '.join(_value(v, r) for v, r in zip(values, ranks, strict=True))} |"
                for truth, values, ranks in zip(f["truths"], measure["values"], measure["ranks"], strict=True)
            )
            notes = [tau_title(f["truths"], stored["tau"]), *measure["undefined"]]
            head = " | ".join(f["systems"])
            lines = "|---" * (1 + len(f["systems"]))
            title = ranking_title(rankings[measure["measure"]])
            parts.append(
                f"**{title}** ({measure['measure']})\n\n| Truth | {head} |\n{lines}|\n{rows}\n\n"
                + "\n".join(f"- {note}." for note in notes)
            )
        counted = f"{f['images']:,} images, {f['concepts']:,} labels"
        if f["skipped_images"]:
            counted += f"; {f['skipped_images']:,} images without scores are left out"
        return "\n\n".join([*parts, f"{counted}. In brackets: the rank."])


def read_tree(text):
    """Node -> the node above it, from a text; None for none."""
    return {node: above for above, nodes in kf.read_groups(text).items() for node in nodes} or None


def _value(value, rank):
    return "undefined" if value is None else f"{significant(value)} ({rank:g})"
