"""Types of differences between two raters: wrong class, merged, missing, additional.

Each image and pair of raters is compared one-to-one in this order (Tschirschwitz & Rodehorst, WACV 2025, App. C):

1. same class, similarity at least the threshold: ``correct``;
2. of the rest, several annotations of one class by one rater that together match one annotation of that class:
   ``merged``;
3. as 1, for different classes: ``wrong_class``;
4. as 2, across classes: ``merged_wrong_class``;
5. the rest: ``missing`` if only the first rater of the pair annotated, ``additional`` if only the second did.

Within a step, the highest similarity goes first. Every annotation is in exactly one finding per pair of raters.
(The authors' extension joins a pair as soon as *either* side is free, and so counts some annotations twice.)

* findings: `variations` -> `Variations`, with `AnnotationVariations`, `Confusions` and `Merged`;
  `VARIATION_TYPES`, `TOUCHING`
* over thresholds: `variation_shares` -> `VariationShares`
* outlines of correct findings: `boundary_quality` -> `BoundaryQuality`
* a class, a rater, some images: `narrowed_variations` -> `NarrowedVariations`
* rates of differences per object and rater: `rater_rates` -> `RaterRates`, `RATES`; `Habit`
* each rater: `rater_scorecards` -> `Scorecard`, with `RaterCard` and `Confused`
* one image: `image_report` -> `ImageReport`, with `Cell`, `Finding` and `MergedCells`; from `Findings`
"""

from kalos_core.names import public_names
from kalos_core.variation.find import TOUCHING as TOUCHING
from kalos_core.variation.find import variations as variations
from kalos_core.variation.narrowing import NarrowedVariations as NarrowedVariations
from kalos_core.variation.narrowing import narrowed_variations as narrowed_variations
from kalos_core.variation.rates import RATES as RATES
from kalos_core.variation.rates import VARIATION_TYPES as VARIATION_TYPES
from kalos_core.variation.rates import Habit as Habit
from kalos_core.variation.rates import RaterRates as RaterRates
from kalos_core.variation.rates import rater_rates as rater_rates
from kalos_core.variation.reports import Cell as Cell
from kalos_core.variation.reports import Finding as Finding
from kalos_core.variation.reports import Findings as Findings
from kalos_core.variation.reports import ImageReport as ImageReport
from kalos_core.variation.reports import MergedCells as MergedCells
from kalos_core.variation.reports import image_report as image_report
from kalos_core.variation.scorecards import Confused as Confused
from kalos_core.variation.scorecards import RaterCard as RaterCard
from kalos_core.variation.scorecards import Scorecard as Scorecard
from kalos_core.variation.scorecards import rater_scorecards as rater_scorecards
from kalos_core.variation.shares import BoundaryQuality as BoundaryQuality
from kalos_core.variation.shares import VariationShares as VariationShares
from kalos_core.variation.shares import boundary_quality as boundary_quality
from kalos_core.variation.shares import variation_shares as variation_shares
from kalos_core.variation.tables import AnnotationVariations as AnnotationVariations
from kalos_core.variation.tables import Confusions as Confusions
from kalos_core.variation.tables import Merged as Merged
from kalos_core.variation.tables import Variations as Variations

__all__ = public_names(vars())
