"""Which similarity tells signal from chance, and from which threshold on: observed against expected distances.

Distances (1 - similarity) occur here and nowhere else.

* the answer: `calibrate` -> `Calibration`, a `Separation` for each similarity
* what it means for what is in use: `threshold_advice` -> `ThresholdAdvice`
* sizes of annotations: `SIZES`, `size_classes`
* distances: `observed_distances`, `expected_distances`, `draw_references`
* annotations of two images: `relative_column`, `COORDINATES`
* densities and where they cross: `Sample`, `GRID`, `densities`, `has_density`, `crossings`, `do_cross`,
  `kolmogorov_smirnov`, `once_each`
* what is plotted of distances: `Shares`, `distance_shares`, `distance_curve`, `DISTANCE_EDGES`
* when a threshold is not to be trusted: `LEAST_KS`, `WIDEST_INTERVAL`, `ENDS`, `LEAST_DISTANCES`
"""

from kalos_core.calibration.advice import ThresholdAdvice, threshold_advice
from kalos_core.calibration.compute import calibrate
from kalos_core.calibration.density import (
    GRID,
    Sample,
    crossings,
    densities,
    do_cross,
    has_density,
    kolmogorov_smirnov,
    once_each,
)
from kalos_core.calibration.distances import draw_references, expected_distances, observed_distances
from kalos_core.calibration.parts import SIZES, size_classes
from kalos_core.calibration.relative import COORDINATES, relative_column
from kalos_core.calibration.result import ENDS, LEAST_DISTANCES, LEAST_KS, WIDEST_INTERVAL, Calibration, Separation
from kalos_core.calibration.shares import DISTANCE_EDGES, Shares, distance_curve, distance_shares

__all__ = [
    "COORDINATES",
    "DISTANCE_EDGES",
    "ENDS",
    "GRID",
    "LEAST_DISTANCES",
    "LEAST_KS",
    "SIZES",
    "WIDEST_INTERVAL",
    "Calibration",
    "Sample",
    "Separation",
    "Shares",
    "ThresholdAdvice",
    "calibrate",
    "crossings",
    "densities",
    "distance_curve",
    "distance_shares",
    "do_cross",
    "draw_references",
    "expected_distances",
    "has_density",
    "kolmogorov_smirnov",
    "observed_distances",
    "once_each",
    "relative_column",
    "size_classes",
    "threshold_advice",
]
