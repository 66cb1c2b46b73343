"""Figures of variations, each with its finding."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kalos_core.fiftyone.kinds.variations.kind import VariationRun
from kalos_core.fiftyone.runs.records import Undefined
from kalos_core.fiftyone.runs.table import Maker, Part
from kalos_core.figures.convergence import boundary_title
from kalos_core.figures.variations import variation_bars, variations_title
from kalos_core.report import Block, Text, objects
from kalos_core.variation import NarrowedVariations


def figures(
    run: VariationRun, threshold: float | None = None, part: NarrowedVariations | None = None
) -> dict[str, Maker]:
    """Return the figures ``counts``, ``shares`` and ``boundary``.

    `threshold` is the selected threshold, by default that of the run. `part` is a result of `narrowed_variations`.
    Shares always include all findings, and counts of a part with a rater are from this rater's side.
    """
    selected = run.settings["threshold"] if threshold is None else threshold
    counts, boundary = run.metrics["counts"], run.details.boundary
    if part is not None:
        counts, boundary = part.by_rater[part.rater] if part.rater else part.counts, part.boundary
    without = Undefined(boundary_title(0, None, 0))
    return {
        "counts": lambda: Part(variations_title(counts), variation_bars(counts)),
        "shares": partial(Part.of, run.details.shares, selected=selected),
        "boundary": partial(Part.of, boundary if boundary.findings else without),
    }


def drawn(run: VariationRun) -> Iterator[Block]:
    """Return the same figures as blocks of a report."""
    boundary, shares = run.details.boundary, run.details.shares
    yield objects.counted(run.metrics["counts"])
    yield Text(shares.reason, soft=True) if isinstance(shares, Undefined) else objects.shares_over_thresholds(shares)
    if boundary.findings:
        yield objects.boundary(boundary)
