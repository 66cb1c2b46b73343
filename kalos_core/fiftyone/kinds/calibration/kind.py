"""Calibration as a kind of run."""

from __future__ import annotations

from kalos_core.calibration import Calibration, calibrate
from kalos_core.fiftyone.kinds.calibration.details import CalibrationMetrics, CalibrationSettings
from kalos_core.fiftyone.kinds.matched import annotations_again, read_compared
from kalos_core.fiftyone.runs.changes import Changes
from kalos_core.fiftyone.runs.table import Demo, Kind, Run, register

CalibrationRun = Run[CalibrationSettings, CalibrationMetrics, Calibration, Calibration]


def _restore(changes: Changes) -> Calibration:
    return calibrate(annotations_again(changes), **changes.run.settings)


CALIBRATION: Kind[CalibrationSettings, CalibrationMetrics, Calibration, Calibration] = register(
    Kind(
        name="calibration",
        title="Calibration",
        operator="calibrate_threshold",
        section="calibration",
        read=read_compared,
        restore=_restore,
        written=lambda _: "nothing on samples or labels",
        figures="kalos_core.fiftyone.kinds.calibration.figures",
        demo=Demo(lambda run: f"Calibration: {run.result.best}", {"bootstrap": 100}),  # as in the paper
        views={},
        details=Calibration,
    )
)
