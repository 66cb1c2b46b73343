"""Settings of agreement about pixels: how masks are read, and what else is compared."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.kinds.masked import RatersAreLocal
from kalos_core.fiftyone.runs.progress import Progress
from kalos_core.options import Option, Settings
from kalos_core.pixels.agreement import ChosenChannels
from kalos_core.pixels.boundaries import TOLERANCE, Tolerance
from kalos_core.pixels.disputed import LEAST_AREA, LEAST_WIDTH, LeastArea, LeastWidth
from kalos_core.pixels.stored import IgnoreValue


@dataclass(frozen=True, kw_only=True)
class PixelRunSettings(Settings):
    """Settings for the comparison of masks.

    Examples
    --------
    >>> PixelRunSettings(channels=("red", "nir")).record()["channels"]
    ('red', 'nir')
    """

    ignore_value: IgnoreValue = None
    images: Annotated[
        bool,
        Option(
            "Compare with the images themselves",
            "Correlate agreement with the intensity, contrast and colours of the images; reads every image.",
        ),
    ] = False
    channels: ChosenChannels = None
    raters_are_local: RatersAreLocal = None
    regions: Annotated[
        bool,
        Option(
            "Regions in dispute",
            "Make labels of the regions where raters differ most, with their areas, to decide one by one in *Decide*.",
        ),
    ] = False
    region_area: LeastArea = LEAST_AREA
    region_width: LeastWidth = LEAST_WIDTH
    region_most: Annotated[
        int, Option("Most regions of an image", "Only the largest regions become labels.", low=1, high=10_000)
    ] = 100
    boundaries: Annotated[
        bool,
        Option("Compare boundaries", "Boundary distances of each pair of raters, in pixels."),
    ] = False
    tolerance: Tolerance = TOLERANCE
    divisions: Annotated[
        bool,
        Option(
            "Compare divisions into regions",
            "How similarly two raters divide images into regions, ignoring names and numbers of the regions.",
        ),
    ] = False


@dataclass(frozen=True)
class PixelRunArguments(PixelRunSettings, Selection):
    """Arguments of `compute_pixel_agreement`: the settings, the masks to read, and a progress callback."""

    _: KW_ONLY
    progress: Progress | bool | None = None
