"""What is shown of a ranking of detectors."""

from __future__ import annotations

import numpy as np

from kalos_core.errors import lookup
from kalos_core.fiftyone.kinds.detectors.details import stored_ranking
from kalos_core.fiftyone.kinds.detectors.kind import DetectorRun
from kalos_core.fiftyone.runs.table import Part
from kalos_core.figures import (
    bounds_bars,
    bounds_title,
    bump_chart,
    curves_title,
    precision_curves,
    ranking_title,
    tau_heatmap,
    tau_title,
)
from kalos_core.ranking import Rankings


def figures(run: DetectorRun, detector: str | None = None) -> dict[str, Part]:
    """``bump``, where rankings can be compared ``tau``, and of score maps ``bounds`` and the ``curves`` of a detector.

    Parameters
    ----------
    run : Run
        With its details.
    detector : str, optional
        By default the first.
    """
    metrics, tau = run.metrics, run.details["tau"]
    references, detectors = metrics["truths"], metrics["detectors"]
    ranking = stored_ranking(metrics)
    chart = bump_chart(references, detectors, ranking.ranks, ranking.values, ranking.measure)
    parts = {"bump": Part(ranking_title(ranking), chart)}
    if len(references) > 1 and len(detectors) > 1:
        parts["tau"] = Part(tau_title(references, tau), tau_heatmap(references, tau))
    if metrics["of"] == "pixels":
        parts |= _of_score_maps(run, ranking, detectors[0] if detector is None else detector)
    return parts


def _of_score_maps(run: DetectorRun, ranking: Rankings, detector: str) -> dict[str, Part]:
    """Bounds of all detectors, and the curves of one."""
    metrics, details = run.metrics, run.details
    references, detectors = metrics["truths"], metrics["detectors"]
    code = lookup({name: number for number, name in enumerate(detectors)}, detector, "detector")
    is_rater = np.isin(references, metrics["raters"])
    areas = ranking.values[:, code]
    curves = precision_curves(
        references,
        details["recall"],
        [of_reference[code] for of_reference in details["precision"]],
        areas,
        dashed=(~is_rater).tolist(),
    )
    title = bounds_title(detectors, details["bounds"], sum(details["raters_outside"]))
    bars = bounds_bars(detectors, details["bounds"], metrics["raters"], ranking.values[is_rater])
    return {"bounds": Part(title, bars), "curves": Part(curves_title(detector, areas), curves)}
