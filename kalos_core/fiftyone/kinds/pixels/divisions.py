"""Divisions of images into regions without names as a run on pixels has them: how alike those of two raters are."""

from __future__ import annotations

from typing import Any

from kalos_core.fiftyone.dataset.masks import ImageMasks
from kalos_core.fiftyone.kinds.pixels.paired import PairCounter, run_with, stored_pairs
from kalos_core.fiftyone.runs.stored import load_metrics, load_run_view
from kalos_core.pixels import RegionAgreement, region_agreement


class DivisionCounter(PairCounter):
    """Divisions of one image after the other. `field`: of their mean adjusted Rand index; `raters`: names of all."""

    def __init__(self, field: str, raters: tuple[str, ...]) -> None:
        super().__init__("divisions", RegionAgreement.measures, field, "adjusted_rand", raters)

    def documents(self, sample_id: str, found: ImageMasks) -> dict[str, float | None]:
        """Field -> mean adjusted Rand index of two raters on an image; None without two."""
        labels = found.labels
        compared = {} if labels is None or len(labels.raters) < 2 else {0: region_agreement([labels], bootstrap=0)}
        return self.add(sample_id, compared)


def divisions_of(samples: Any, run_key: str) -> RegionAgreement:
    """How alike every two raters divide images into regions, as a run on pixels with ``divisions=True`` stored it.

    Images are sample ids. No mask is read.

    Raises
    ------
    InputError
        For a run that did not compare divisions.
    """
    return RegionAgreement(**stored_pairs(samples, run_with(samples, run_key, "divisions"), "divisions")[0])


def view_of_divisions(samples: Any, run_key: str) -> Any:
    """The samples of a run that two raters divided, those divided least alike first."""
    run = load_metrics(samples, run_key, "pixels")
    return load_run_view(samples, run.key).exists(run.names.adjusted_rand).sort_by(run.names.adjusted_rand)
