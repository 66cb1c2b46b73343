"""Calibration of similarities and thresholds, from observed and expected distances.

Distances (1 - similarity) occur in this package only.

* calibration: `calibrate` -> `Calibration`, with a `Separation` for each similarity
* advice on the similarity and threshold in use: `threshold_advice` -> `ThresholdAdvice`
* sizes of annotations: `SIZES`, `size_classes`
* distances: `observed_distances`, `expected_distances`, `draw_references`
* relative coordinates: `relative_column`, `COORDINATES`
* densities and their crossings: `Sample`, `GRID`, `densities`, `has_density`, `crossings`, `do_cross`,
  `kolmogorov_smirnov`, `once_each`
* plots of distances: `Shares`, `distance_shares`, `distance_curve`, `DISTANCE_EDGES`
* limits of trusted thresholds: `LEAST_KS`, `WIDEST_INTERVAL`, `ENDS`, `LEAST_DISTANCES`
"""

from kalos_core.calibration.advice import ThresholdAdvice as ThresholdAdvice
from kalos_core.calibration.advice import threshold_advice as threshold_advice
from kalos_core.calibration.compute import calibrate as calibrate
from kalos_core.calibration.density import GRID as GRID
from kalos_core.calibration.density import Sample as Sample
from kalos_core.calibration.density import crossings as crossings
from kalos_core.calibration.density import densities as densities
from kalos_core.calibration.density import do_cross as do_cross
from kalos_core.calibration.density import has_density as has_density
from kalos_core.calibration.density import kolmogorov_smirnov as kolmogorov_smirnov
from kalos_core.calibration.density import once_each as once_each
from kalos_core.calibration.distances import draw_references as draw_references
from kalos_core.calibration.distances import expected_distances as expected_distances
from kalos_core.calibration.distances import observed_distances as observed_distances
from kalos_core.calibration.parts import SIZES as SIZES
from kalos_core.calibration.parts import size_classes as size_classes
from kalos_core.calibration.relative import COORDINATES as COORDINATES
from kalos_core.calibration.relative import relative_column as relative_column
from kalos_core.calibration.result import ENDS as ENDS
from kalos_core.calibration.result import LEAST_DISTANCES as LEAST_DISTANCES
from kalos_core.calibration.result import LEAST_KS as LEAST_KS
from kalos_core.calibration.result import WIDEST_INTERVAL as WIDEST_INTERVAL
from kalos_core.calibration.result import Calibration as Calibration
from kalos_core.calibration.result import Separation as Separation
from kalos_core.calibration.shares import DISTANCE_EDGES as DISTANCE_EDGES
from kalos_core.calibration.shares import Shares as Shares
from kalos_core.calibration.shares import distance_curve as distance_curve
from kalos_core.calibration.shares import distance_shares as distance_shares
from kalos_core.names import public_names

__all__ = public_names(vars())
