"""Ranking of detectors as a kind of run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kalos_core.fiftyone.dataset.raters import MASKS
from kalos_core.fiftyone.kinds.masked import newer_files, read_masks_or_objects
from kalos_core.fiftyone.runs.table import Changes, Kind, Run, register
from kalos_core.ranking import BoundaryEvaluation, DetectorRanking, ModelRanking, Rankings
from kalos_core.results import plain_values


@dataclass(frozen=True, eq=False)
class DetectorDetails:
    """Details of a ranking of detectors: the ranking, and the Berkeley evaluation of boundaries, if requested."""

    ranking: DetectorRanking | ModelRanking
    boundaries: BoundaryEvaluation | None = None


def ranking_metrics(of: str, ranking: Rankings, raters: list[str]) -> dict[str, Any]:
    """Return the summary of a ranking of S detectors under T references (R of them `raters`), as plain values.

    ``of`` is "pixels" or "objects"; ``values`` and ``ranks`` are (T, S), None where undefined; ``undefined`` holds
    sentences.
    """
    return {
        "of": of,
        "detectors": ranking.systems.tolist(),
        "truths": ranking.truths.tolist(),
        "raters": raters,
        "measure": ranking.measure,
        "values": plain_values(ranking.values),
        "ranks": plain_values(ranking.ranks),
        "undefined": list(ranking.undefined),
    }


Result = DetectorRanking | ModelRanking
DetectorRun = Run[dict[str, Any], dict[str, Any], DetectorDetails, Result]


def _restore(changes: Changes) -> Result:
    """Return the stored ranking, computed under the references at the time of the run."""
    details: DetectorDetails = changes.run.details
    return details.ranking


DETECTORS: Kind[dict[str, Any], dict[str, Any], DetectorDetails, Result] = register(
    Kind(
        name="detectors",
        title="Ranking of detectors",
        operator="rank_detectors",
        section="Ranking",
        family=MASKS,
        read=read_masks_or_objects,
        restore=_restore,
        details=DetectorDetails,
        newer=newer_files,
    )
)
