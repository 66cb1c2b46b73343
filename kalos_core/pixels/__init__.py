"""Agreement of raters about pixels (Lampert, Stumpf & Gançarski 2016)."""

from kalos_core.pixels.agreement import LIMIT, PixelAccumulator, PixelAgreement, pixel_agreement, rater_count_map
from kalos_core.pixels.classes import ClassPixelAgreement, class_pixel_agreement
from kalos_core.pixels.contours import ContourMatch, match_contours, near, thinned, tolerance_in_pixels
from kalos_core.pixels.drawn import mask_stacks
from kalos_core.pixels.moments import Correlation
from kalos_core.pixels.performance import RaterPerformance, rater_performance
from kalos_core.pixels.properties import channel_names
from kalos_core.pixels.stack import LabelStack, MaskStack, as_stack
from kalos_core.pixels.sums import PixelSums

__all__ = [
    "LIMIT",
    "ClassPixelAgreement",
    "ContourMatch",
    "Correlation",
    "LabelStack",
    "MaskStack",
    "PixelAccumulator",
    "PixelAgreement",
    "PixelSums",
    "RaterPerformance",
    "as_stack",
    "channel_names",
    "class_pixel_agreement",
    "mask_stacks",
    "match_contours",
    "near",
    "pixel_agreement",
    "rater_count_map",
    "rater_performance",
    "thinned",
    "tolerance_in_pixels",
]
