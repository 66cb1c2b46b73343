"""Class difficulty: agreement on the units in which a class occurs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, AgreementSettings, agreement_of
from kalos_core.annotations import Annotations
from kalos_core.diagnostics.parts import Part, estimate_cells
from kalos_core.errors import InputError, listed, repr_of
from kalos_core.options import checked
from kalos_core.resampling import Estimates
from kalos_core.results import lowest
from kalos_core.sharding import Sharded


@dataclass(frozen=True, eq=False, repr=False)
class ClassDifficulty(Estimates):
    """Agreement on each annotated class, in the order of the vocabulary.

    Figures: ``"classes"``.

    Parameters
    ----------
    category : (C,) object
        Class names.
    alpha : (C,) float64
        Mean over the images in which the class occurs; NaN if undefined in all of them.
    alpha_interval : (C, 2) float64
        95 % bootstrap interval over images, all classes on the same draws; draws without the class are excluded.
    global_alpha : (C,) float64
        Alpha of all units with the class in one matrix.
    global_alpha_interval : (C, 2) float64
    images : (C,) int
        Number of images behind the mean.
    units : (C,) int
        Number of units in which at least one rater chose the class.

    Examples
    --------
    >>> from kalos_core import Annotations, class_difficulty
    >>> from kalos_core._agreement import agreement
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
    >>> frame = class_difficulty(agreement(Annotations.from_rows(rows))).to_pandas()
    >>> frame[["category", "alpha", "images", "units"]].to_dict("list")
    {'category': ['cat'], 'alpha': [1.0], 'images': [1], 'units': [1]}
    """

    _call = "class_difficulty(agreement(annotations))"
    _columns = "category alpha global_alpha alpha_interval global_alpha_interval images units"

    category: NDArray[np.object_]
    units: NDArray[np.intp]

    @property
    def headline(self) -> str:
        """Summary of the result in one line."""
        worst = hardest(self.alpha, self.images)
        shown = self.alpha if worst is None else np.where(np.arange(len(self.alpha)) == worst, self.alpha, np.inf)
        return lowest("class", self.category, "alpha", np.where(np.isnan(self.alpha), np.nan, shown))


LEAST_IMAGES = 10
"""Minimum number of images with an alpha for a class to be reported as the hardest."""


def hardest_first(values: NDArray[np.float64], images: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return indices of the classes, or questions, with a value on at least `LEAST_IMAGES` images, lowest first.

    Examples
    --------
    >>> hardest_first(np.array([0.5, -1.0, 0.4]), np.array([12, 2, 10])).tolist()
    [2, 0]
    """
    enough = np.flatnonzero((images >= LEAST_IMAGES) & np.isfinite(values))
    return np.asarray(enough[np.argsort(values[enough], kind="stable")])


def hardest(values: NDArray[np.float64], images: NDArray[np.intp]) -> int | None:
    """Return the class, or question, with the lowest agreement: the first of `hardest_first`.

    Returns
    -------
    int or None
        None unless at least two have enough images.

    Examples
    --------
    >>> hardest(np.array([0.5, -1.0, 0.4]), np.array([12, 2, 10])), hardest(np.array([0.5, 0.4]), np.array([12, 2]))
    (2, None)
    """
    order = hardest_first(values, images)
    return int(order[0]) if len(order) > 1 else None


@checked
def class_difficulty(agreement: Agreement | Annotations | Sharded[Annotations]) -> ClassDifficulty:
    """Class recognition difficulty (KαLOS §13): alpha of the units in which a class occurs.

    A unit in which raters chose two classes counts for both. An assigned rater who annotated nothing there disagrees
    about existence. Images without the class add nothing.

    Parameters
    ----------
    agreement : Agreement, or annotations or shards to compute a default agreement from
        Its configuration also sets the bootstrap.

    Returns
    -------
    ClassDifficulty

    Examples
    --------
    Two units with a dog in them, cat and dog, dog and dog: n = 4, D_o = 2 / 4, D_e = (16 - 10) / 12.

    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> given = [("ann", "cat", 0), ("bob", "dog", 0), ("ann", "dog", 50), ("bob", "dog", 50)]
    >>> rows = [{"image": 1, "rater": r, "category": c, "box": [x, 0, 9, 9]} for r, c, x in given]
    >>> found = class_difficulty(agreement(Annotations.from_rows(rows)))
    >>> found.category.tolist(), found.alpha.tolist(), found.units.tolist()
    (['cat', 'dog'], [0.0, 0.0], [1, 2])
    """
    agreement = agreement_of(agreement)
    return class_difficulty_of(Part.of(agreement), agreement.configuration)


def class_difficulty_of(part: Part, configuration: AgreementSettings) -> ClassDifficulty:
    """Compute `class_difficulty` of a part of an agreement."""
    cells, units, codes = part.class_cells()
    made = estimate_cells(part.annotations, configuration, cells, len(codes))
    return ClassDifficulty(category=part.annotations.categories[codes], **vars(made), units=units)


@checked
def class_image_alpha(agreement: Agreement, category: str) -> NDArray[np.float64]:
    """(I,) alpha of the units of each image in which a class occurs; NaN if there are none or it is undefined.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
    >>> class_image_alpha(agreement(Annotations.from_rows(rows, images=[1, 2])), "cat").tolist()
    [1.0, nan]
    """
    known = agreement.annotations.categories
    if category not in known.tolist():
        raise InputError(f"category: expected one of {listed(map(repr_of, known), 20)}, got {repr_of(category)}")
    return Part.of(agreement).with_class(known.tolist().index(category)).bare_cells().value
