"""What a calibration stores: of each similarity what it says, and what is shown of its distances."""

from __future__ import annotations

from typing import TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from kalos_core.calibration import GRID, Calibration, Sample, Separation, densities, once_each
from kalos_core.calibration.relative import Compared, Coordinates
from kalos_core.fiftyone.runs.records import plain

BINS = 50
"""Of the stored histograms."""

EVERY = 5
"""Of the 1,000 points of a density, every fifth is stored: finer than a screen shows."""

Ends = list[float | None]


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
    ks_at: float | None
    tau: float | None
    tau_interval: Ends
    threshold: float | None
    threshold_interval: Ends
    reason: str
    trusted: bool
    why: str
    coordinates: Compared
    crosses: bool


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


class Distances(TypedDict):
    """How many distances there are, in all and in each bin, and their density at the points of the grid."""

    count: int
    histogram: list[int]
    density: list[float] | None


class SeparationDetails(SeparationMetrics):
    """What is shown of one similarity."""

    observed: Distances
    expected: Distances
    strata: dict[str, SeparationMetrics]


class CalibrationDetails(TypedDict):
    """What is shown of a calibration: ``edges`` of `BINS` bins, and the points ``grid`` of densities."""

    edges: list[float]
    grid: list[float]
    similarities: list[SeparationDetails]


def separation_metrics(found: Separation) -> SeparationMetrics:
    """What a calibration says of one similarity."""
    return cast(SeparationMetrics, {name: plain(getattr(found, name)) for name in SeparationMetrics.__annotations__})


def calibration_details(result: Calibration) -> CalibrationDetails:
    """What is shown of a calibration, as plain values."""
    edges = np.linspace(0, 1, BINS + 1)
    similarities = [
        SeparationDetails(
            **separation_metrics(found),
            observed=_distances(found.observed, edges),
            expected=_distances(found.expected, edges),
            strata={size: separation_metrics(part) for size, part in found.strata.items()},
        )
        for found in result
    ]
    return {"edges": edges.tolist(), "grid": GRID[::EVERY].tolist(), "similarities": similarities}


def _distances(distances: NDArray[np.float64], edges: NDArray[np.float64]) -> Distances:
    sample = Sample(distances, np.zeros(len(distances), np.intp))
    density = densities(sample, once_each(1))[0]
    return {
        "count": len(distances),
        "histogram": np.histogram(distances, edges)[0].tolist(),
        "density": None if np.isnan(density).any() else density[::EVERY].tolist(),
    }
