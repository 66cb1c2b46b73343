"""Processing of annotations in blocks of images, so that temporary memory does not grow with the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.table import Annotations
from kalos_core.shapes import ShapeColumn
from kalos_core.shapes.borrowed import Borrowed

AT_ONCE = 1 << 16
"""Approximate number of annotations processed at a time."""

Take = Callable[[ShapeColumn, NDArray[np.intp]], ShapeColumn]


class ByImage:
    """Rows of a table by image; whole images can be extracted without scanning the others.

    Parameters
    ----------
    annotations : Annotations

    Examples
    --------
    >>> rows = [{"image": i, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in "ab" for i in (1, 2)]
    >>> by_image = ByImage(Annotations.from_rows(rows))
    >>> by_image.rows(1, 2).tolist(), by_image.table(1, 2).images.tolist()
    ([1, 3], [2])
    """

    def __init__(self, annotations: Annotations) -> None:
        self.annotations = annotations
        self.order = np.argsort(annotations.image, kind="stable")
        every_image = np.arange(len(annotations.images) + 1)
        self.start = np.searchsorted(annotations.image[self.order], every_image)
        self._exclusions = np.searchsorted(annotations.excluded[:, 0], every_image)

    def rows(self, first: int, last: int) -> NDArray[np.intp]:
        """Return rows of the annotations on images from `first` up to but excluding `last`, image after image."""
        return self.order[self.start[first] : self.start[last]]

    def table(self, first: int, last: int, take: Take = Borrowed) -> Annotations:
        """Return the images from `first` up to but excluding `last` as a table, without crowd regions.

        Its rows are in the order of `rows`. `take` selects rows of a shape column.
        """
        given, rows = self.annotations, self.rows(first, last)
        excluded = given.excluded[self._exclusions[first] : self._exclusions[last]]
        fields = given.taken(N=rows, I=slice(first, last)) | {
            "image": given.image[rows] - first,
            "shapes": {kind: take(column, rows) for kind, column in given.shapes.items()},
            "excluded": excluded - (first, 0, 0),
            "crowd_regions": None,
        }
        return replace(given, **fields)

    def blocks(self, size: int = AT_ONCE) -> Iterator[tuple[int, int]]:
        """Yield the first image of each block and the one after its last; `size` is the approximate annotation count.

        Examples
        --------
        >>> list(ByImage(Annotations.from_rows([], images=[1, 2])).blocks())
        [(0, 2)]
        """
        images = len(self.annotations.images)
        cuts = np.searchsorted(self.start, np.arange(size, len(self.annotations), size))
        edges = np.unique([0, *cuts.tolist(), images]).tolist()
        yield from pairwise(edges)
