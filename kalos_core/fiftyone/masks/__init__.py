"""Masks of raters in FiftyOne: read one image at a time, loaded from folders, written as files of a run."""

from kalos_core.fiftyone.masks.fields import MARKED, TRUTH, mask_classes, mask_fields, mask_raters, truth_fields
from kalos_core.fiftyone.masks.files import MapFiles, map_field
from kalos_core.fiftyone.masks.loading import load_mask_folders
from kalos_core.fiftyone.masks.reading import ImageMasks, RaterMasks, read_masks

__all__ = [
    "MARKED",
    "TRUTH",
    "ImageMasks",
    "MapFiles",
    "RaterMasks",
    "load_mask_folders",
    "map_field",
    "mask_classes",
    "mask_fields",
    "mask_raters",
    "read_masks",
    "truth_fields",
]
