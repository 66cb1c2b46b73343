"""What is shown of variations: figures, each with its finding."""

from __future__ import annotations

from functools import partial

from kalos_core.fiftyone.kinds.variations.kind import VariationRun
from kalos_core.fiftyone.runs.records import Undefined
from kalos_core.fiftyone.runs.table import Part
from kalos_core.figures import boundary_title, plot_boundaries, plot_shares, variation_bars


def figures(run: VariationRun, threshold: float | None = None) -> dict[str, Part]:
    """``counts``, ``shares`` (with a threshold that is selected, by default the run's own) and ``boundary``."""
    selected = run.settings["threshold"] if threshold is None else threshold
    boundary = run.details.boundary
    without = Undefined(boundary_title(0, None, 0))
    return {
        "counts": Part("", variation_bars(run.metrics["counts"])),
        "shares": Part.of(run.details.shares, partial(plot_shares, selected=selected)),
        "boundary": Part.of(boundary if boundary.findings else without, plot_boundaries),
    }
