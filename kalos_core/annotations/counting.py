"""Summary of a data set in one row, as in papers."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.table import Annotations
from kalos_core.options import checked
from kalos_core.sharding import Sharded, known_of, parts_of

if TYPE_CHECKING:
    import pandas as pd


@checked
def overview(annotations: Annotations | Sharded[Annotations]) -> pd.DataFrame:
    """Count images, annotations, classes and raters of a data set (KαLOS Table 1, label convergence Table 1).

    Parameters
    ----------
    annotations : Annotations, or shards of them

    Returns
    -------
    DataFrame
        One row:

        ==========================  ===================================================================
        ``images``                  number of images, annotated or not
        ``annotations``             number of annotations
        ``categories``              classes in the vocabulary
        ``annotated_categories``    classes that occur
        ``raters``                  raters in the vocabulary
        ``raters_per_image``        mean number of raters assigned to an image; NaN without images
        ``least_raters``            minimum number of raters of an image
        ``most_raters``             maximum number of raters of an image
        ``comparable_images``       images with two raters assigned to a common class, where agreement is defined
        ``empty_images``            images that no rater annotated
        ``annotations_per_image``   mean over images; NaN without images
        ``shapes``                  kinds of shapes, separated by commas
        ==========================  ===================================================================

    Raises
    ------
    InputError
        If the input is not `Annotations`.

    Examples
    --------
    >>> rows = [
    ...     {"image": 1, "rater": "ann", "category": "cat", "box": [0, 0, 9, 9]},
    ...     {"image": 1, "rater": "bob", "category": "cat", "box": [0, 0, 9, 8]},
    ... ]
    >>> annotations = Annotations.from_rows(rows, images=[1, 2, 3], categories=["cat", "dog"], assigned={3: ["ann"]})
    >>> for name, value in overview(annotations).iloc[0].items():
    ...     print(name, value if isinstance(value, str) else round(float(value), 2))
    images 3.0
    annotations 2.0
    categories 2.0
    annotated_categories 1.0
    raters 2.0
    raters_per_image 1.67
    least_raters 1.0
    most_raters 2.0
    comparable_images 2.0
    empty_images 2.0
    annotations_per_image 0.67
    shapes box
    """
    import pandas as pd

    known = known_of(annotations)
    counts, classes, annotated, kinds = zip(*parts_of(annotations, _counted, "Overview"), strict=True)
    images, count = len(known.images), sum(counts)
    raters = known.assigned.sum(axis=1)
    return pd.DataFrame(
        {
            "images": [images],
            "annotations": [count],
            "categories": [len(known.categories)],
            "annotated_categories": [len(np.unique(np.concatenate(classes)))],
            "raters": [len(known.raters)],
            "raters_per_image": [float(raters.mean()) if images else np.nan],
            "least_raters": [int(raters.min(initial=len(known.raters)))],
            "most_raters": [int(raters.max(initial=0))],
            "comparable_images": [int(known.comparable_images.sum())],
            "empty_images": [images - sum(annotated)],
            "annotations_per_image": [count / images if images else np.nan],
            "shapes": [", ".join(dict.fromkeys(itertools.chain(*kinds)))],
        }
    )


def _counted(annotations: Annotations) -> tuple[int, NDArray[np.intp], int, tuple[str, ...]]:
    """Return the number of annotations, the classes, the number of annotated images, and the kinds of shapes."""
    annotated = len(np.unique(annotations.image))
    return len(annotations), np.unique(annotations.category), annotated, tuple(annotations.shapes)
