"""Alpha of each image by class, by rater and by pair of raters, for sorting images."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement
from kalos_core.annotations.blocks import ByImage
from kalos_core.diagnostics.parts import Part
from kalos_core.reliability import Units


@dataclass(frozen=True, eq=False)
class PartAlphas:
    """Alphas of I images in E entries, one for each class in an image, image after image. R raters.

    Parameters
    ----------
    count : (I,) int
        Number of entries of each image.
    category : (E,) object
        Class of each entry.
    class_alpha : (E,) float64
        Alpha of the units in which a rater chose the class.
    rater_alpha : (I, R) float64
        Alpha of the pairs of each rater with every other rater; NaN if undefined. No column for raters who are local.
    class_rater_alpha : (E, R) float64
        Alpha by class and rater.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> given = [("ann", "cat"), ("bob", "dog")]
    >>> rows = [{"image": 1, "rater": r, "category": c, "box": [0, 0, 9, 9]} for r, c in given]
    >>> found = AlphasByImage(agreement(Annotations.from_rows(rows))).of(0, 1)
    >>> found.count.tolist(), found.category.tolist(), found.class_rater_alpha.tolist()
    ([2], ['cat', 'dog'], [[0.0, 0.0], [0.0, 0.0]])
    """

    count: NDArray[np.intp]
    category: NDArray[np.object_]
    class_alpha: NDArray[np.float64]
    rater_alpha: NDArray[np.float64]
    class_rater_alpha: NDArray[np.float64]


class AlphasByImage:
    """Alphas of an agreement for one block of images at a time, so that memory does not grow with the data.

    Parameters
    ----------
    agreement : Agreement

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
    >>> found = AlphasByImage(agreement(Annotations.from_rows(rows, images=[1, 2]))).of(0, 1)
    >>> found.category.tolist(), found.class_alpha.tolist(), found.rater_alpha.tolist()
    (['cat'], [1.0], [[1.0, 1.0]])
    """

    def __init__(self, agreement: Agreement) -> None:
        self._agreement, self._by_image = agreement, ByImage(agreement.annotations)

    def of(self, first: int, last: int) -> PartAlphas:
        """Return the alphas of the images from `first` up to but excluding `last`."""
        agreement, images = self._agreement, last - first
        chosen = slice(*np.searchsorted(agreement.units.image, (first, last)))
        units = Units(agreement.units.image[chosen] - first, agreement.units.values[chosen])
        part = Part(self._by_image.table(first, last), units)
        cells, _, codes = part.class_cells()
        raters = 0 if agreement.annotations.raters_are_local else len(agreement.annotations.raters)
        index = codes[cells.statistic] * images + cells.image  # ascending
        of_raters, of_classes = np.empty((images, raters)), np.full((len(cells), raters), np.nan)
        for rater in range(raters):
            own = part.of_rater(rater)
            of_raters[:, rater] = own.cells().value
            own_cells, _, own_codes = own.class_cells()
            at = np.searchsorted(index, own_codes[own_cells.statistic] * images + own_cells.image)
            of_classes[at, rater] = own_cells.value
        order = np.argsort(cells.image, kind="stable")
        return PartAlphas(
            count=np.bincount(cells.image, minlength=images),
            category=agreement.annotations.categories[codes[cells.statistic[order]]],
            class_alpha=cells.value[order],
            rater_alpha=of_raters,
            class_rater_alpha=of_classes[order],
        )
