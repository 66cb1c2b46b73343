"""Comparison of raters with ground truths of single images, counted over all images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.columns import object_array
from kalos_core.arrays import divide
from kalos_core.consensus.truth import Truth
from kalos_core.display import number_of
from kalos_core.pixels.performance import RaterPerformance
from kalos_core.results import Result


@dataclass(frozen=True, eq=False, repr=False)
class CountedTruth(Result):
    """Ground truths of one method over the images of a study, kept only as counts. R raters, I images.

    Table: one row for each rater: images, sensitivity, specificity, and the share of estimates based on the rater.

    Figures: ``"raters"``.

    Parameters
    ----------
    raters : (R,) object
        Empty if raters have no names across images.
    confusion : (R, 2, 2) int64
        Pixels by the rater's value and the true value: 0 not marked, 1 marked.
    seen : (R,) int64
        Number of images with a ground truth that each rater is assigned to.
    kept : (R,) int64
        Number of these images whose estimate is based on the rater.
    sensitivity_sum, specificity_sum : (R,) float64
        Sums over these images of the rater's estimated performance: STAPLE's own estimates, otherwise counted.
    marked : (I,) int64
        Number of true pixels; -1 if the image has no ground truth.

    Examples
    --------
    >>> from kalos_core.consensus import vote_any
    >>> found = CountedTruth.nothing(["ann", "bob"], images=2)
    >>> found.add(0, vote_any({"ann": [[0, 1]], "bob": [[1, 1]]}))
    >>> found.performance.sensitivity.tolist(), found.images, found.pixels
    ([0.5, 1.0], 1, 2)
    """

    _call = "CountedTruth.nothing(raters, images)"
    _columns = "rater:raters images:seen sensitivity specificity kept_share"

    raters: NDArray[np.object_]
    confusion: NDArray[np.int64]
    seen: NDArray[np.int64]
    kept: NDArray[np.int64]
    sensitivity_sum: NDArray[np.float64]
    specificity_sum: NDArray[np.float64]
    marked: NDArray[np.int64]

    @classmethod
    def nothing(cls, raters: Sequence[str], images: int) -> CountedTruth:
        """Create an empty count."""
        size = len(raters)
        return cls(
            raters=object_array(list(raters)),
            confusion=np.zeros((size, 2, 2), np.int64),
            seen=np.zeros(size, np.int64),
            kept=np.zeros(size, np.int64),
            sensitivity_sum=np.zeros(size),
            specificity_sum=np.zeros(size),
            marked=np.full(images, -1, np.int64),
        )

    def add(self, image: int, truth: Truth) -> None:
        """Add the ground truth of one image, given the number of the image."""
        self.marked[image] = truth.mask.sum()
        if len(self.raters):
            code = {name: number for number, name in enumerate(self.raters)}
            assigned = [code[name] for name in truth.raters]
            self.confusion[assigned] += truth.performance.confusion
            self.seen[assigned] += 1
            self.kept[assigned] += truth.kept
            self.sensitivity_sum[assigned] += truth.sensitivity
            self.specificity_sum[assigned] += truth.specificity

    @property
    def performance(self) -> RaterPerformance:
        """Confusion of each rater with the ground truth, over all images."""
        return RaterPerformance(self.raters, self.confusion)

    @property
    def images(self) -> int:
        """Number of images that have a ground truth."""
        return int((self.marked >= 0).sum())

    @property
    def empty(self) -> int:
        """Number of images whose ground truth is empty."""
        return int((self.marked == 0).sum())

    @property
    def pixels(self) -> int:
        """Number of true pixels."""
        return int(self.marked[self.marked >= 0].sum())

    @property
    def kept_share(self) -> NDArray[np.float64]:
        """(R,) share of each rater's images whose estimate is based on the rater; NaN without images."""
        return divide(self.kept, self.seen)

    @property
    def sensitivity(self) -> NDArray[np.float64]:
        """(R,) estimated sensitivity of each rater, mean over their images."""
        return divide(self.sensitivity_sum, self.seen)

    @property
    def specificity(self) -> NDArray[np.float64]:
        """(R,) estimated specificity of each rater, mean over their images."""
        return divide(self.specificity_sum, self.seen)

    @property
    def headline(self) -> str:
        """Summary of the result in one line."""
        return (
            f"Reference of {number_of(self.images, 'image')}: {number_of(self.pixels, 'pixel')}, "
            f"{number_of(self.empty, 'image')} empty"
        )
