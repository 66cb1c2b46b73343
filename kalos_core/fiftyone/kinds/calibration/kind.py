"""Calibration as a kind of run."""

from __future__ import annotations

from typing import Any

from kalos_core.calibration import Calibration, calibrate
from kalos_core.fiftyone.kinds.calibration.details import CalibrationDetails, CalibrationMetrics, CalibrationSettings
from kalos_core.fiftyone.kinds.matched import annotations_again, read_compared
from kalos_core.fiftyone.runs.changes import Changes
from kalos_core.fiftyone.runs.table import Kind, Run, register

CalibrationRun = Run[CalibrationSettings, CalibrationMetrics, CalibrationDetails, Calibration]


def _restore(changes: Changes) -> Calibration:
    return calibrate(annotations_again(changes), **changes.run.settings)


def _written(_: Run[Any, Any, Any, Any]) -> str:
    return "nothing on samples or labels"


CALIBRATION: Kind[CalibrationSettings, CalibrationMetrics, CalibrationDetails, Calibration] = register(
    Kind(
        name="calibration",
        title="Calibration",
        operator="calibrate_threshold",
        section="calibration",
        read=read_compared,
        restore=_restore,
        written=_written,
        figures="kalos_core.fiftyone.kinds.calibration.figures",
        views={},
    )
)
