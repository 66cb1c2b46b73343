"""Tables reduced to who annotated which image, as needed for sums per image."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.table import Annotations


def annotated_classes(annotations: Annotations) -> NDArray[np.int32]:
    """(I, R) a class that each rater annotated on each image; -1 if there are none.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": "ann", "category": "cat", "box": [0, 0, 9, 9]}]
    >>> annotated_classes(Annotations.from_rows(rows, images=[1], raters=["ann", "bob"], assigned="all")).tolist()
    [[0, -1]]
    """
    classes = np.full(annotations.assigned.shape, -1, np.int32)
    classes[annotations.image, annotations.rater] = annotations.category
    return classes


def thinned(annotations: Annotations, classes: NDArray[np.int32]) -> Annotations:
    """Reduce a table to one annotation without shape for each rater and image that have any.

    Parameters
    ----------
    annotations : Annotations
    classes : (I, R) int
        See `annotated_classes`.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": "ann", "category": "cat", "box": [x, 0, 9, 9]} for x in (0, 20)]
    >>> table = Annotations.from_rows(rows)
    >>> len(thinned(table, annotated_classes(table)))
    1
    """
    image, rater = np.nonzero(classes >= 0)
    return replace(
        annotations,
        image=image,
        rater=rater,
        category=classes[image, rater].astype(np.intp),
        id=np.arange(len(image)),
        shapes={},
        attributes={},
        crowd_regions=None,
    )
