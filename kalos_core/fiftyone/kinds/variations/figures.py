"""What is shown of variations: figures, each with its finding."""

from __future__ import annotations

from kalos_core.fiftyone.kinds.variations.details import (
    BoundaryDetails,
    ShareDetails,
    VariationDetails,
    VariationMetrics,
    VariationSettings,
)
from kalos_core.fiftyone.runs.table import Part, Run
from kalos_core.figures import (
    boundary_histogram,
    boundary_title,
    shares_over_thresholds,
    shares_title,
    variation_bars,
)
from kalos_core.variation import Variations


def figures(
    run: Run[VariationSettings, VariationMetrics, VariationDetails, Variations], threshold: float | None = None
) -> dict[str, Part]:
    """``counts``, ``shares`` (with a threshold that is selected, by default the run's own) and ``boundary``."""
    selected = run.settings["threshold"] if threshold is None else threshold
    return {
        "counts": Part("", variation_bars(run.metrics["counts"])),
        "shares": _shares(run.details["shares"], selected),
        "boundary": _boundary(run.details["boundary"]),
    }


def _shares(found: ShareDetails, selected: float) -> Part:
    if "reason" in found:
        return Part(found["reason"])
    figure = shares_over_thresholds(found["threshold"], found["counts"], found["equilibrium"], selected=selected)
    return Part(shares_title(found["equilibrium"], found["no_equilibrium"]), figure)


def _boundary(found: BoundaryDetails) -> Part:
    title = boundary_title(found["findings"], found["median"], found["identical"])
    return Part(title, boundary_histogram(found["edges"], found["counts"]) if found["findings"] else None)
