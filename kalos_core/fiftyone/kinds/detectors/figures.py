"""Figures of a ranking of detectors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kalos_core.display import number_of, percent_text
from kalos_core.fiftyone.kinds.detectors.kind import DetectorRun
from kalos_core.fiftyone.runs.table import Part
from kalos_core.ranking import DetectorRanking
from kalos_core.report import Block, rankings
from kalos_core.text import names_shown


def figures(run: DetectorRun, detector: str | None = None, reference: str | None = None) -> dict[str, Part]:
    """Return the figures of a ranking.

    - ``bump``, and if rankings can be compared, ``shared`` (the different rankings) and ``tau``;
    - for score maps: ``bounds``, ``curves`` (a detector under each reference), ``agreement`` (curves at increasing
      thresholds of agreement, if the run has them), ``under`` (all detectors under a reference), and ``correlations``
      (detectors with agreement);
    - ``boundaries``, if the run has the Berkeley evaluation.

    Parameters
    ----------
    run : Run
        A run with its details.
    detector, reference : str, optional
        Detector and reference of the curves; by default the first of each.
    """
    found, boundaries = run.details.ranking, run.details.boundaries
    ranking = found.ranking
    parts = {"bump": Part.of(ranking, note=_over_what(run))}
    if min(ranking.values.shape) > 1 and np.isfinite(ranking.values).any():
        parts["shared"] = Part.of(ranking, "shared")
        parts["tau"] = Part.of(ranking, "tau")
    if isinstance(found, DetectorRanking):
        chosen = ranking.systems[0] if detector is None else detector
        under = ranking.truths[0] if reference is None else reference
        parts["bounds"] = Part.of(found, "bounds", " ".join(names_shown(found.notes)))
        parts["curves"] = Part.of(found, "curves", detector=chosen)
        if len(found.by_agreement):
            parts["agreement"] = Part.of(found, "agreement", detector=chosen)
        parts["under"] = Part.of(found, "reference", reference=under)
        parts["correlations"] = Part.of(found, "correlations")
    if boundaries is not None:
        note = f"The field `{run.names.f1}` holds the best F1 of each image, for the detector that is best over all."
        parts["boundaries"] = Part.of(boundaries, note=note)
    return parts


def _over_what(run: DetectorRun) -> str:
    """Describe the data and the measure of a ranking."""
    metrics = run.metrics
    are_raters = number_of(len(metrics["raters"]), "is a rater", "are raters")
    references = f"{number_of(len(metrics['truths']), 'reference')}, of which {are_raters}"
    text = f"{number_of(len(metrics['detectors']), 'detector')} under {references}; by {metrics['measure']}"
    found = run.details.ranking
    if not isinstance(found, DetectorRanking):
        return f"{text}."
    low, high = found.skew
    return f"{text}; precision averaged over {percent_text(low)} to {percent_text(high)} positives."


def drawn(run: DetectorRun) -> Iterator[Block]:
    """Return the same figures as blocks of a report."""
    found, boundaries = run.details.ranking, run.details.boundaries
    ranking = found.ranking
    yield rankings.ranks(ranking)
    if min(ranking.values.shape) > 1 and np.isfinite(ranking.values).any():
        yield rankings.shared(ranking)
        yield rankings.alike_rankings(ranking)
    if isinstance(found, DetectorRanking):
        yield rankings.bounds(found)
        yield from rankings.detector_curves(found)
        yield rankings.with_agreement(found)
    if boundaries is not None:
        yield rankings.boundary_curves(boundaries)
