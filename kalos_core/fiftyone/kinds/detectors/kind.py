"""Detectors under each reference as a kind of run."""

from __future__ import annotations

from typing import Any

from kalos_core.fiftyone.kinds.detectors.details import (
    DetectorDetails,
    DetectorMetrics,
    DetectorSettings,
    stored_result,
)
from kalos_core.fiftyone.kinds.masked import newer_files, read_masks_or_objects
from kalos_core.fiftyone.runs.changes import Changes
from kalos_core.fiftyone.runs.table import Kind, Run, register
from kalos_core.ranking import DetectorRanking, ModelRanking

DetectorRun = Run[DetectorSettings, DetectorMetrics, DetectorDetails, DetectorRanking | ModelRanking]


def _restore(changes: Changes) -> DetectorRanking | ModelRanking:
    """As it was stored: what detectors scored under the references of then."""
    return stored_result(changes.run, changes.arrays)


def _written(_: Run[Any, Any, Any, Any]) -> str:
    return "nothing on samples or labels"


DETECTORS: Kind[DetectorSettings, DetectorMetrics, DetectorDetails, DetectorRanking | ModelRanking] = register(
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
        newer=newer_files,
    )
)
