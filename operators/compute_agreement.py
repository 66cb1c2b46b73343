"""Match raters and compute their agreement."""

from typing import ClassVar

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import SIMILARITIES
from kalos_core.correspondence import usable_solvers
from kalos_core.display import alpha_text, with_interval
from kalos_core.fiftyone.kinds.agreement.kind import AgreementRun
from kalos_core.figures.agreement import agreement_title
from kalos_core.text import MOST_LETTERS, names_shown, shown

from . import base, forms, widgets
from .widgets import Context

OUTLINED = ("polygon", "mask")
"""Kinds of shapes with outlines, which can be compared."""

ASKED_APART = ("similarity", "threshold", "thresholds", "boundaries", "tolerance", "attributes")
"""Options that depend on the labels, or on one another; all others are asked for as they are declared."""

DECLARED = base.declared_by(kf.compute_agreement)
FURTHER = [entry for name, entry in DECLARED.items() if name not in ASKED_APART]


class ComputeAgreement(base.Analysis[AgreementRun]):
    NAME, LABEL = "compute_agreement", "Match raters and compute agreement"
    DESCRIPTION = "Find which labels of different raters mean the same object, and how far the raters agree"
    ICON, RESULT = "/assets/agreement.svg", "Agreement"
    HIDDEN: ClassVar = {"advanced": tuple(entry.name for entry in FURTHER), "boundaries": ("tolerance",)}

    def add_options(self, ctx: Context, inputs: types.Object) -> None:
        similarity = forms.add_similarity(ctx, inputs)
        if similarity in SIMILARITIES and SIMILARITIES[similarity].kind in OUTLINED:
            forms.add_boundaries(ctx, inputs, DECLARED)
        forms.add_attributes(ctx, inputs)
        widgets.add_switch(inputs, "advanced", label="Choose solver, cost and interval")
        if ctx.params.get("advanced"):
            for entry in FURTHER:
                widgets.add_option(ctx, inputs, entry, usable_solvers() if entry.name == "solver" else None)

    def summary(self, run: AgreementRun) -> str:
        """The metrics of a run as text."""
        f = run.metrics
        rows = [
            ("Mean alpha over images", with_interval(f["alpha"], f["alpha_interval"])),
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
