"""Calibration as a kind of run."""

from __future__ import annotations

from typing import Any, TypedDict, cast

from kalos_core.calibration import Calibration, Separation, calibrate
from kalos_core.calibration.relative import Compared
from kalos_core.fiftyone.kinds.matched import annotations_again, read_compared
from kalos_core.fiftyone.runs.changes import Changes
from kalos_core.fiftyone.runs.records import Ends
from kalos_core.fiftyone.runs.table import Demo, Kind, Run, register
from kalos_core.results import plain_values


class SeparationMetrics(TypedDict):
    """What a calibration says of one similarity; None for what is undefined, with the reason, as in `Separation`."""

    name: str
    ks: float | None
    ks_interval: Ends
    tau: float | None
    tau_interval: Ends
    threshold: float | None
    threshold_interval: Ends
    reason: str
    trusted: bool
    why: str
    coordinates: Compared


class Chosen(TypedDict):
    """A threshold somebody chose from it."""

    similarity: str
    threshold: float


class CalibrationMetrics(TypedDict):
    """The summary of a calibration, the similarity that separates best first."""

    similarities: list[SeparationMetrics]
    chosen: list[Chosen]
    images: int
    annotations: int
    raters: list[str]


def separation_metrics(found: Separation) -> SeparationMetrics:
    """What a calibration says of one similarity."""
    return cast(
        SeparationMetrics, {name: plain_values(getattr(found, name)) for name in SeparationMetrics.__annotations__}
    )


CalibrationRun = Run[dict[str, Any], CalibrationMetrics, Calibration, Calibration]


def _restore(changes: Changes) -> Calibration:
    return calibrate(annotations_again(changes), **changes.run.settings)


CALIBRATION: Kind[dict[str, Any], CalibrationMetrics, Calibration, Calibration] = register(
    Kind(
        name="calibration",
        title="Calibration",
        operator="calibrate_threshold",
        section="Threshold",
        suffix="calibration",
        read=read_compared,
        restore=_restore,
        demo=Demo(lambda run: f"Calibration: {run.result.best}", {"bootstrap": 100}),  # as in the paper
        details=Calibration,
    )
)
