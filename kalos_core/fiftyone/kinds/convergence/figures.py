"""Figures of label convergence, each with its finding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from kalos_core.convergence import ConvergenceStudy, Replicates
from kalos_core.fiftyone.kinds.convergence.kind import ConvergenceRun
from kalos_core.fiftyone.runs.table import Maker, Part
from kalos_core.figures import plot_regression, plot_sizes
from kalos_core.figures.convergence import fit_title
from kalos_core.report import Block, objects


def figures(
    run: ConvergenceRun, found: ConvergenceStudy | None = None, pooled: Mapping[str, Replicates] | None = None
) -> dict[str, Maker]:
    """Return the figures ``bars``, ``sizes``, ``matrix`` and ``scatter``.

    Parameters
    ----------
    run : Run
    found : ConvergenceStudy, optional
        Result of `convergence_metrics` for some thresholds; by default, the stored result for all thresholds.
    pooled : mapping, optional
        Result of `pooled_replicates`; the scatter then shows several data sets.
    """
    shown = run.details if found is None else found
    narrowed = len(shown.whole.thresholds) < len(run.settings["thresholds"])
    return {
        "bars": partial(Part.of, shown),
        "sizes": partial(Part.of, shown.sizes, plot_sizes, "Over all thresholds of the run." if narrowed else ""),
        "matrix": partial(Part.of, shown, "directions"),
        "scatter": partial(Part.of, pooled, plot_regression) if pooled else partial(_scatter, shown),
    }


def _scatter(found: ConvergenceStudy) -> Part:
    return replace(Part.of(found.whole), title=fit_title(found.whole))


def drawn(run: ConvergenceRun) -> Iterator[Block]:
    """Return the same figures as blocks of a report."""
    return iter(objects.all_ceilings(run.details))
