"""What a calibration stores: of each similarity what it says; its details are a `Calibration` without the distances."""

from __future__ import annotations

from typing import TypedDict, cast

from kalos_core.calibration import Separation
from kalos_core.calibration.relative import Compared, Coordinates
from kalos_core.fiftyone.runs.records import Ends, plain


class CalibrationSettings(TypedDict):
    """As in `kalos_core.calibrate`."""

    similarities: list[str]
    repeats: int
    bootstrap: int
    seed: int
    coordinates: Coordinates


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
    return cast(SeparationMetrics, {name: plain(getattr(found, name)) for name in SeparationMetrics.__annotations__})
