"""What is shown of a ranking of detectors."""

from __future__ import annotations

import numpy as np

from kalos_core.errors import lookup
from kalos_core.fiftyone.kinds.detectors.details import stored_ranking
from kalos_core.fiftyone.kinds.detectors.kind import DetectorRun
from kalos_core.fiftyone.runs.table import Part
from kalos_core.figures import (
    agreement_curves,
    agreement_curves_title,
    bounds_bars,
    bounds_title,
    bump_chart,
    curves_title,
    detector_correlation_dots,
    detector_correlation_title,
    precision_curves,
    ranking_title,
    reference_title,
    shared_chart,
    shared_title,
    tau_heatmap,
    tau_title,
)
from kalos_core.ranking import Rankings, shared_rankings


def figures(run: DetectorRun, detector: str | None = None, reference: str | None = None) -> dict[str, Part]:
    """``bump``, and where rankings can be compared ``shared``, the different ones, and ``tau``.

    Of score maps also ``bounds``, the ``curves`` of a detector under every reference, those at growing thresholds of
    ``agreement`` where the run has them, the curves of all detectors ``under`` a reference, and ``correlations`` of
    detectors with agreement.

    Parameters
    ----------
    run : Run
        With its details.
    detector, reference : str, optional
        By default the first.
    """
    metrics, tau = run.metrics, run.details["tau"]
    references, detectors = metrics["truths"], metrics["detectors"]
    ranking = stored_ranking(metrics)
    chart = bump_chart(references, detectors, ranking.ranks, ranking.values, ranking.measure)
    parts = {"bump": Part(ranking_title(ranking), chart)}
    if len(references) > 1 and len(detectors) > 1:
        shared = shared_rankings(ranking)
        parts["shared"] = Part(shared_title(shared), shared_chart(shared) if shared else None)
        parts["tau"] = Part(tau_title(references, tau), tau_heatmap(references, tau))
    if metrics["of"] == "pixels":
        parts |= _of_score_maps(run, ranking, detectors[0] if detector is None else detector)
        parts["under"] = _of_reference(run, ranking, references[0] if reference is None else reference)
        parts["correlations"] = _correlations(run)
    return parts


def _of_score_maps(run: DetectorRun, ranking: Rankings, detector: str) -> dict[str, Part]:
    """Bounds of all detectors, and the curves of one."""
    metrics, details = run.metrics, run.details
    references, detectors = metrics["truths"], metrics["detectors"]
    code = lookup({name: number for number, name in enumerate(detectors)}, detector, "detector")
    is_rater = np.isin(references, metrics["raters"])
    areas = ranking.values[:, code]
    precision = [of_reference[code] for of_reference in details["precision"]]
    curves = precision_curves(references, details["recall"], precision, areas, dashed=(~is_rater).tolist())
    outside, compared = sum(details["raters_outside"]), sum(details["raters_compared"])
    title = bounds_title(detectors, details["bounds"], outside, compared)
    bars = bounds_bars(detectors, details["bounds"], metrics["raters"], ranking.values[is_rater])
    parts = {
        "bounds": Part(title, bars, " ".join(details["notes"])),
        "curves": Part(curves_title(detector, areas), curves),
    }
    shares = np.array(details["least_share"], np.float64)
    rows = [row for row in np.argsort(shares, kind="stable").tolist() if np.isfinite(shares[row])]
    if rows:
        names = [references[row] for row in rows]
        growing = agreement_curves(names, details["recall"], [precision[row] for row in rows], areas[rows])
        parts["agreement"] = Part(agreement_curves_title(detector, areas[rows]), growing)
    return parts


def _of_reference(run: DetectorRun, ranking: Rankings, reference: str) -> Part:
    """The curves of all detectors under one reference."""
    detectors, details = run.metrics["detectors"], run.details
    row = lookup({name: number for number, name in enumerate(run.metrics["truths"])}, reference, "reference")
    areas = ranking.values[row]
    curves = precision_curves(detectors, details["recall"], details["precision"][row], areas)
    return Part(reference_title(reference, detectors, areas), curves)


def _correlations(run: DetectorRun) -> Part:
    """How each detector's output goes with agreement, with its significance."""
    cco, cci = ([record["r"] for record in run.details[name]] for name in ("cco", "cci"))
    cco_p, cci_p = ([record["p"] for record in run.details[name]] for name in ("cco", "cci"))
    detectors = run.metrics["detectors"]
    dots = detector_correlation_dots(detectors, cco, cci, cco_p, cci_p)
    return Part(detector_correlation_title(detectors, cco, cci), dots)
