"""Detectors under each reference as a kind of run."""

from __future__ import annotations

from kalos_core.fiftyone.kinds.detectors.details import DetectorDetails, DetectorMetrics, DetectorSettings
from kalos_core.fiftyone.kinds.masked import newer_files, read_masks_or_objects
from kalos_core.fiftyone.runs.changes import Changes
from kalos_core.fiftyone.runs.table import Kind, Run, register
from kalos_core.ranking import DetectorRanking, ModelRanking

Result = DetectorRanking | ModelRanking
DetectorRun = Run[DetectorSettings, DetectorMetrics, DetectorDetails, Result]


def _restore(changes: Changes) -> Result:
    """As it was stored: what detectors scored under the references of then."""
    details: DetectorDetails = changes.run.details
    return details.ranking


def _written(run: DetectorRun) -> str:
    return f"{run.names.f1!r} on samples" if run.settings.get("boundaries") else "nothing on samples or labels"


DETECTORS: Kind[DetectorSettings, DetectorMetrics, DetectorDetails, Result] = register(
    Kind(
        name="detectors",
        title="Ranking of detectors",
        operator="rank_detectors",
        section="truth",
        read=read_masks_or_objects,
        restore=_restore,
        written=_written,
        figures="kalos_core.fiftyone.kinds.detectors.figures",
        views={},
        details=DetectorDetails,
        newer=newer_files,
    )
)
