"""What is shown of label convergence: figures, each with its finding."""

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
    """``bars``, ``sizes``, ``matrix`` and ``scatter``.

    Parameters
    ----------
    run : Run
    found : ConvergenceStudy, optional
        Of `convergence_metrics`, of some thresholds; by default what the run stored, of all.
    pooled : mapping, optional
        Of `pooled_replicates`: the scatter is that of several data sets.
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
    """The same as a report draws them."""
    return iter(objects.all_ceilings(run.details))
