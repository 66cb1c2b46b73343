"""Views behind the figures, and what the panels list: what a click on a bar, a pair of classes or a row leads to."""

from kalos_core.fiftyone.views.events import CHANGES, NoisyImage, noisy_images, view_of_changes, view_of_event
from kalos_core.fiftyone.views.findings import (
    MergedFinding,
    merged_findings,
    view_of_boundary,
    view_of_confusion,
    view_of_copies,
    view_of_merged,
    view_of_variation,
)
from kalos_core.fiftyone.views.images import (
    ImageRow,
    image_alphas,
    view_of_alpha,
    view_of_class,
    view_of_pair,
    view_of_rater,
    view_of_tag,
    view_worst_first,
    worst_images,
)
from kalos_core.fiftyone.views.masks import PixelImage, pixel_images, view_of_mask_rater
from kalos_core.fiftyone.views.sample import Cell, MergedCells, NotInRun, SampleReport, sample_report

__all__ = [
    "CHANGES",
    "Cell",
    "ImageRow",
    "MergedCells",
    "MergedFinding",
    "NoisyImage",
    "NotInRun",
    "PixelImage",
    "SampleReport",
    "image_alphas",
    "merged_findings",
    "noisy_images",
    "pixel_images",
    "sample_report",
    "view_of_alpha",
    "view_of_boundary",
    "view_of_changes",
    "view_of_class",
    "view_of_confusion",
    "view_of_copies",
    "view_of_event",
    "view_of_mask_rater",
    "view_of_merged",
    "view_of_pair",
    "view_of_rater",
    "view_of_tag",
    "view_of_variation",
    "view_worst_first",
    "worst_images",
]
