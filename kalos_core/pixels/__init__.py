"""Pixel-wise agreement of raters (Lampert, Stumpf & Gançarski 2016).

* Masks of one image: `MaskStack`, `as_stack`; `mask_stacks` rasterises polygons and masks; `LabelStack` for several
  classes.
* Agreement: `pixel_agreement`, `PixelAgreement`, `PixelSums`, `LIMIT`; image by image with `PixelAccumulator`; of
  several classes: `class_pixel_agreement`, `ClassPixelAgreement`; number of raters per pixel: `rater_count_map`.
* Raters against a ground truth: `rater_performance`, `RaterPerformance`.
* Properties of the image that may explain agreement: `Correlation`, `SIGNIFICANT`, `channel_names`.
* Boundaries: `boundary_distance`, `BoundaryDistance`; of every two raters: `boundary_agreement`, `unit_boundaries`,
  `BoundaryAgreement`; as a similarity: `surface_dice`.
* Regions without names: `region_agreement`, `RegionAgreement`; `PairedRaters` is its common base with boundaries.
* Regions where raters differ most: `disputed_regions`, `DisputedRegions`; of one image `regions_in_dispute`, `Region`.
* Contours: `match_contours`, `ContourMatch`, `near`, `thinned`, `tolerance_in_pixels`.
"""

from kalos_core.names import public_names
from kalos_core.pixels.agreement import LIMIT as LIMIT
from kalos_core.pixels.agreement import PixelAccumulator as PixelAccumulator
from kalos_core.pixels.agreement import PixelAgreement as PixelAgreement
from kalos_core.pixels.agreement import pixel_agreement as pixel_agreement
from kalos_core.pixels.agreement import rater_count_map as rater_count_map
from kalos_core.pixels.boundaries import BoundaryDistance as BoundaryDistance
from kalos_core.pixels.boundaries import boundary_distance as boundary_distance
from kalos_core.pixels.classes import ClassPixelAgreement as ClassPixelAgreement
from kalos_core.pixels.classes import class_pixel_agreement as class_pixel_agreement
from kalos_core.pixels.contours import ContourMatch as ContourMatch
from kalos_core.pixels.contours import match_contours as match_contours
from kalos_core.pixels.contours import near as near
from kalos_core.pixels.contours import thinned as thinned
from kalos_core.pixels.contours import tolerance_in_pixels as tolerance_in_pixels
from kalos_core.pixels.disputed import DisputedRegions as DisputedRegions
from kalos_core.pixels.disputed import Region as Region
from kalos_core.pixels.disputed import disputed_regions as disputed_regions
from kalos_core.pixels.disputed import regions_in_dispute as regions_in_dispute
from kalos_core.pixels.moments import SIGNIFICANT as SIGNIFICANT
from kalos_core.pixels.moments import Correlation as Correlation
from kalos_core.pixels.outlined import surface_dice as surface_dice
from kalos_core.pixels.paired import PairedRaters as PairedRaters
from kalos_core.pixels.performance import RaterPerformance as RaterPerformance
from kalos_core.pixels.performance import rater_performance as rater_performance
from kalos_core.pixels.properties import channel_names as channel_names
from kalos_core.pixels.rasterisation import mask_stacks as mask_stacks
from kalos_core.pixels.rater_boundaries import BoundaryAgreement as BoundaryAgreement
from kalos_core.pixels.rater_boundaries import boundary_agreement as boundary_agreement
from kalos_core.pixels.rater_boundaries import unit_boundaries as unit_boundaries
from kalos_core.pixels.regions import RegionAgreement as RegionAgreement
from kalos_core.pixels.regions import region_agreement as region_agreement
from kalos_core.pixels.stack import LabelStack as LabelStack
from kalos_core.pixels.stack import MaskStack as MaskStack
from kalos_core.pixels.stack import as_stack as as_stack
from kalos_core.pixels.sums import PixelSums as PixelSums

__all__ = public_names(vars())
