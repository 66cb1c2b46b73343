"""Operator that ranks image classifiers under each rater, and under the majority."""

from typing import Any, ClassVar

import fiftyone.core.collections as foc
import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.display import number_of
from kalos_core.fiftyone.dataset.image_labels import scored_fields
from kalos_core.fiftyone.dataset.raters import IMAGE_LABELS
from kalos_core.fiftyone.kinds.ranking.kind import RankingRun
from kalos_core.figures.ranking import concordance_title, rank_text, ranking_title, tau_title
from kalos_core.nominal.grouping import read_groups
from kalos_core.text import names_shown, shown

from . import image_label_forms, widgets
from .widgets import Context

TREE_EXAMPLE = "animal: cat, dog; plant: oak"


def read_tree(text: str, _: str) -> dict[str, str] | None:
    """Parse a tree of labels to node -> parent; None for an empty text."""
    return {node: above for above, nodes in read_groups(text).items() for node in nodes} or None


class RankSystems(image_label_forms.ImageLabelAnalysis[RankingRun]):
    NAME, LABEL = "rank_systems", "Rank classifiers under each rater"
    DESCRIPTION = "Rank several classifiers, and show whether the best depends on the rater used as reference"
    ICON, RESULT = "/assets/labels.svg", "Ranking of classifiers"
    TYPED: ClassVar = {"tree": read_tree}
    FILLED = ("systems",)

    def add_options(self, ctx: Context, inputs: types.Object) -> None:
        used = image_label_forms.fields_of_raters(ctx)
        fields = [name for name in kf.label_fields(ctx.dataset, IMAGE_LABELS) if name not in used]
        usual = [name for name in scored_fields(ctx.dataset) if name in fields]
        classifiers = self.ask(ctx, inputs, "systems", offered=fields, default=usual)
        chosen = ctx.params.get("systems")
        chosen = usual if chosen is None else chosen
        unknown = [name for name in chosen if isinstance(chosen, list) and name not in fields]
        if unknown:
            widgets.refuse(classifiers, f"{unknown[0]!r} is not a field of scores")
        elif len(chosen) < 2:
            widgets.refuse(classifiers, "A ranking needs at least two classifiers")
        self.ask(ctx, inputs, "missing", "bootstrap", "seed")
        image_label_forms.add_teams(ctx, inputs, "The majority of each team is an additional reference")
        about = f"Parents with their labels, such as {TREE_EXAMPLE}; empty for none"
        self.ask(ctx, inputs, "tree", label="A tree of the labels, for the ontology score", description=about)

    def analyse(self, samples: foc.SampleCollection, run_key: str, **settings: Any) -> RankingRun:
        if "systems" not in settings:  # calls from the SDK fill in no defaults
            settings["systems"] = scored_fields(samples)
        return super().analyse(samples, run_key, **settings)

    def summary(self, run: RankingRun) -> str:
        """Describe for each measure whether the best classifier changes, with the values under all references."""
        f, details = run.metrics, run.details
        parts = []
        for measure, ranking in details.rankings.items():
            rows = [
                [shown(reference), *(rank_text(ranking, row, system) for system in range(len(f["systems"])))]
                for row, reference in enumerate(f["truths"])
            ]
            near = concordance_title(details.concordance[measure])
            notes = [tau_title(f["truths"], ranking.tau), near, *names_shown(ranking.undefined)]
            table = widgets.table(["Reference", *names_shown(f["systems"])], rows)
            parts.append(
                f"**{ranking_title(ranking)}** ({measure})\n\n{table}\n\n" + "\n".join(f"- {note}." for note in notes)
            )
        counted = f"{number_of(f['images'], 'image')}, {number_of(f['concepts'], 'label')}"
        if f["skipped_images"]:
            counted += f"; {number_of(f['skipped_images'], 'image')} without scores are left out"
        drawn = any(ranking.sureness for ranking in details.rankings.values())
        beside = "rank, and share of replicates with the best rank; before them 95 % intervals" if drawn else "the rank"
        return "\n\n".join([*parts, f"{counted}. In brackets: {beside}."])
