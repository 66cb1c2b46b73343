"""Raters against truths that were estimated image by image, counted over all of them."""

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
    """The truths of one method over the images of a study, nothing of an image kept but numbers. R raters, I images.

    Table: one row a rater: images, sensitivity, specificity, and how often the estimate rests on the rater.

    Figures: ``"raters"``.

    Parameters
    ----------
    raters : (R,) object
        None where raters have no names over the images.
    confusion : (R, 2, 2) int64
        Pixels by what a rater says and by what is true: 0 nothing, 1 marked.
    seen : (R,) int64
        Images with a truth that each rater is assigned to.
    kept : (R,) int64
        Those of them whose estimate rests on the rater.
    sensitivity_sum, specificity_sum : (R,) float64
        Sums over these images of what each estimate says of the rater: STAPLE's own estimates, else counted.
    marked : (I,) int64
        Pixels of the truth; -1 where there is none.

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
        """Of no image yet."""
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
        """Count the truth of one image, by its number."""
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
        """Each rater against the truth, over all images."""
        return RaterPerformance(self.raters, self.confusion)

    @property
    def images(self) -> int:
        """How many have a truth."""
        return int((self.marked >= 0).sum())

    @property
    def empty(self) -> int:
        """How many have one without a pixel."""
        return int((self.marked == 0).sum())

    @property
    def pixels(self) -> int:
        """How many pixels are true."""
        return int(self.marked[self.marked >= 0].sum())

    @property
    def kept_share(self) -> NDArray[np.float64]:
        """(R,) of each rater's images, the share whose estimate rests on them; NaN without any."""
        return divide(self.kept, self.seen)

    @property
    def sensitivity(self) -> NDArray[np.float64]:
        """(R,) mean over each rater's images of the sensitivity that the estimate says they have."""
        return divide(self.sensitivity_sum, self.seen)

    @property
    def specificity(self) -> NDArray[np.float64]:
        """(R,) the same of the specificity."""
        return divide(self.specificity_sum, self.seen)

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return (
            f"Reference of {number_of(self.images, 'image')}: {number_of(self.pixels, 'pixel')}, "
            f"{number_of(self.empty, 'image')} empty"
        )
