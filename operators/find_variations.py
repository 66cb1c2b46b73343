"""Operator that names every difference between raters and tags it on the labels."""

import fiftyone.operators.types as types

from kalos_core.display import VARIATION_LABELS, percent_text
from kalos_core.errors import Undefined
from kalos_core.fiftyone.kinds.variations.kind import VariationRun
from kalos_core.figures.convergence import boundary_title, shares_title
from kalos_core.figures.variations import variations_title
from kalos_core.text import shown
from kalos_core.variation import VARIATION_TYPES

from . import base, forms, widgets
from .widgets import Context


class FindVariations(base.Analysis[VariationRun]):
    NAME, LABEL = "find_variations", "Find variations between raters"
    DESCRIPTION = (
        "Tag every disagreement or error of annotators on the labels: wrong class, merged, missing, additional"
    )
    ICON, RESULT = "/assets/variations.svg", "Variations"

    def add_options(self, ctx: Context, inputs: types.Object) -> None:
        forms.add_similarity(ctx, inputs)
        self.ask(ctx, inputs, "max_merge")

    def summary(self, run: VariationRun) -> str:
        """Return the counts of a run as a table, and further findings."""
        counts = run.metrics["counts"]
        total = max(sum(counts.values()), 1)
        rows = [
            (VARIATION_LABELS[name], f"{counts[name]:,}", percent_text(counts[name] / total))
            for name in VARIATION_TYPES
        ]
        shares, boundary = run.details.shares, run.details.boundary
        notes = [boundary_title(boundary.findings, boundary.median, boundary.identical)]
        if not isinstance(shares, Undefined):
            notes.append(shares_title(shares.equilibrium, shares.no_equilibrium))
        return (
            f"**{variations_title(counts)}**\n\n{widgets.table(('type', 'findings', 'share'), rows)}\n\n"
            f"{'. '.join(notes)}.\n\nWritten: {shown(run.written, None)}."
        )
