"""Operator that matches raters and computes their agreement."""

from typing import ClassVar

import fiftyone.operators.types as types

from kalos_core import SIMILARITIES
from kalos_core.correspondence import usable_solvers
from kalos_core.display import alpha_text, with_interval
from kalos_core.fiftyone.kinds.agreement.settings import AgreementRun
from kalos_core.figures.agreement import agreement_title
from kalos_core.inference import why_no_interval
from kalos_core.text import MOST_LETTERS, names_shown, shown

from . import base, forms, widgets
from .widgets import Context

OUTLINED = ("polygon", "mask")
"""Kinds of shapes with comparable outlines."""

FURTHER = ("solver", "cost", "bootstrap", "seed", "empty")


class ComputeAgreement(base.Analysis[AgreementRun]):
    NAME, LABEL = "compute_agreement", "Match raters and compute agreement"
    DESCRIPTION = "Inter-annotator agreement: which labels mean the same object, and how much raters agree on them"
    ICON, RESULT = "/assets/agreement.svg", "Agreement"
    HIDDEN: ClassVar = {"advanced": FURTHER, "boundaries": ("tolerance",)}

    def add_options(self, ctx: Context, inputs: types.Object) -> None:
        similarity = forms.add_similarity(ctx, inputs)
        if similarity in SIMILARITIES and SIMILARITIES[similarity].kind in OUTLINED:
            self.ask(ctx, inputs, "boundaries")
        forms.add_attributes(ctx, inputs)
        if widgets.is_on(ctx, inputs, "advanced", label="Choose solver, cost and interval"):
            self.ask(ctx, inputs, "solver", offered=usable_solvers())
            self.ask(ctx, inputs, *FURTHER[1:])

    def summary(self, run: AgreementRun) -> str:
        """Return the metrics of a run as a table."""
        f = run.metrics
        why = why_no_interval(f["alpha_interval"], f["defined_images"], run.settings["bootstrap"])
        rows = [
            ("Mean alpha over images", with_interval(f["alpha"], f["alpha_interval"], why=why)),
            ("Median alpha of images", alpha_text(f["median_alpha"])),
            ("In words", f"{f['band']} (KαLOS §3.3); {f['convergence_band']} (label convergence App. B)"),
            ("Alpha over all units at once", with_interval(f["global_alpha"], f["global_alpha_interval"])),
            ("Images", f"{f['images']:,}, {f['defined_images']:,} with an alpha"),
            ("Empty by agreement", f"{f['empty_images']:,}; mean without them {alpha_text(f['alpha_without_empty'])}"),
            ("Raters", ", ".join(names_shown(f["raters"], MOST_LETTERS))),
            ("Annotations", f"{f['annotations']:,} in {f['units']:,} units"),
            ("Configuration", shown(f["notation"], None)),
            ("Written", shown(run.written, None)),
        ]
        title = agreement_title(f["alpha"], f["alpha_interval"])
        note = f"\n\n{shown(f['note'] or '', None)}".rstrip()
        return f"**{title}**{note}\n\n{widgets.table(('Metric', 'Value'), rows)}"
