"""A data set in one line, as papers list theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kalos_core.annotations.table import Annotations
from kalos_core.arguments import check_arguments

if TYPE_CHECKING:
    import pandas as pd


def overview(annotations: Annotations) -> pd.DataFrame:
    """How large a data set is and how many raters each image has (KαLOS Table 1, label convergence Table 1).

    Parameters
    ----------
    annotations : Annotations

    Returns
    -------
    DataFrame
        One row:

        ==========================  ===================================================================
        ``images``                  all, annotated or not
        ``annotations``             all
        ``categories``              of the vocabulary
        ``annotated_categories``    that occur
        ``raters``                  of the vocabulary
        ``raters_per_image``        mean over images of the raters assigned to an image; NaN without images
        ``least_raters``            of an image
        ``most_raters``             of an image
        ``comparable_images``       with two raters who are assigned to a common class: agreement is defined there
        ``empty_images``            that nobody annotated
        ``annotations_per_image``   mean over images; NaN without images
        ``shapes``                  the kinds, separated by commas
        ==========================  ===================================================================

    Raises
    ------
    InputError
        For anything but `Annotations`.

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
    check_arguments(overview, locals())
    import pandas as pd

    images = len(annotations.images)
    raters = annotations.assigned.sum(axis=1)
    return pd.DataFrame(
        {
            "images": [images],
            "annotations": [len(annotations)],
            "categories": [len(annotations.categories)],
            "annotated_categories": [len(np.unique(annotations.category))],
            "raters": [len(annotations.raters)],
            "raters_per_image": [float(raters.mean()) if images else np.nan],
            "least_raters": [int(raters.min(initial=len(annotations.raters)))],
            "most_raters": [int(raters.max(initial=0))],
            "comparable_images": [int(annotations.comparable_images.sum())],
            "empty_images": [images - len(np.unique(annotations.image))],
            "annotations_per_image": [len(annotations) / images if images else np.nan],
            "shapes": [", ".join(annotations.shapes)],
        }
    )
