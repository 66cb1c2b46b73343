"""Agreement of raters about pixels (Lampert, Stumpf & Gançarski 2016).

* Masks of one image: `MaskStack`, `as_stack`; `mask_stacks` rasterises polygons and masks; `LabelStack` for several
  classes.
* Agreement: `pixel_agreement`, `PixelAgreement`, `PixelSums`, `LIMIT`; image by image with `PixelAccumulator`; of
  several classes: `class_pixel_agreement`, `ClassPixelAgreement`; how many raters marked each pixel: `rater_count_map`.
* Raters against a truth: `rater_performance`, `RaterPerformance`.
* Properties of the image that may explain agreement: `Correlation`, `SIGNIFICANT`, `channel_names`.
* Boundaries: `boundary_distance`, `BoundaryDistance`; of every two raters: `boundary_agreement`, `unit_boundaries`,
  `BoundaryAgreement`; as a similarity: `surface_dice`.
* Regions without names: `region_agreement`, `RegionAgreement`; `PairedRaters` is what it shares with boundaries.
* Where raters differ most: `disputed_regions`, `DisputedRegions`; of one image `regions_in_dispute`, `Region`.
* Contours: `match_contours`, `ContourMatch`, `near`, `thinned`, `tolerance_in_pixels`.
"""

from kalos_core.pixels.agreement import LIMIT, PixelAccumulator, PixelAgreement, pixel_agreement, rater_count_map
from kalos_core.pixels.boundaries import BoundaryDistance, boundary_distance
from kalos_core.pixels.classes import ClassPixelAgreement, class_pixel_agreement
from kalos_core.pixels.contours import ContourMatch, match_contours, near, thinned, tolerance_in_pixels
from kalos_core.pixels.disputed import DisputedRegions, Region, disputed_regions, regions_in_dispute
from kalos_core.pixels.moments import SIGNIFICANT, Correlation
from kalos_core.pixels.outlined import surface_dice
from kalos_core.pixels.paired import PairedRaters
from kalos_core.pixels.performance import RaterPerformance, rater_performance
from kalos_core.pixels.properties import channel_names
from kalos_core.pixels.rasterisation import mask_stacks
from kalos_core.pixels.rater_boundaries import BoundaryAgreement, boundary_agreement, unit_boundaries
from kalos_core.pixels.regions import RegionAgreement, region_agreement
from kalos_core.pixels.stack import LabelStack, MaskStack, as_stack
from kalos_core.pixels.sums import PixelSums

__all__ = [
    "LIMIT",
    "SIGNIFICANT",
    "BoundaryAgreement",
    "BoundaryDistance",
    "ClassPixelAgreement",
    "ContourMatch",
    "Correlation",
    "DisputedRegions",
    "LabelStack",
    "MaskStack",
    "PairedRaters",
    "PixelAccumulator",
    "PixelAgreement",
    "PixelSums",
    "RaterPerformance",
    "Region",
    "RegionAgreement",
    "as_stack",
    "boundary_agreement",
    "boundary_distance",
    "channel_names",
    "class_pixel_agreement",
    "disputed_regions",
    "mask_stacks",
    "match_contours",
    "near",
    "pixel_agreement",
    "rater_count_map",
    "rater_performance",
    "region_agreement",
    "regions_in_dispute",
    "surface_dice",
    "thinned",
    "tolerance_in_pixels",
    "unit_boundaries",
]
