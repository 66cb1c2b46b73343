"""Which similarity tells signal from chance, and from which threshold on: observed against expected distances.

Distances (1 - similarity) occur here and nowhere else.

* the answer: `calibrate` -> `Calibration`, a `Separation` for each similarity
* sizes of annotations: `SIZES`, `size_classes`
* distances: `observed_distances`, `expected_distances`, `draw_references`
* densities and where they cross: `Sample`, `GRID`, `densities`, `has_density`, `crossings`, `kolmogorov_smirnov`,
  `once_each`
"""

from kalos_core.calibration.compute import SIZES, calibrate, size_classes
from kalos_core.calibration.density import (
    GRID,
    Sample,
    crossings,
    densities,
    has_density,
    kolmogorov_smirnov,
    once_each,
)
from kalos_core.calibration.distances import draw_references, expected_distances, observed_distances
from kalos_core.calibration.result import Calibration, Separation

__all__ = [
    "GRID",
    "SIZES",
    "Calibration",
    "Sample",
    "Separation",
    "calibrate",
    "crossings",
    "densities",
    "draw_references",
    "expected_distances",
    "has_density",
    "kolmogorov_smirnov",
    "observed_distances",
    "once_each",
    "size_classes",
]
