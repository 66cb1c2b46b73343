"""Reliability matrix of units, its value counts by group of units, and Krippendorff's alpha.

A cell of the reliability matrix has one of three states: a category; `NO_OBJECT` if the rater was assigned and
annotated nothing there; `NOT_ASSIGNED` if the rater was not assigned: missing data, which pairs with nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import total
from kalos_core.chance import Unequal, alpha_of_sums, number_of_values

AT_ONCE = 1 << 16
"""Units counted at a time, so that temporary tables stay small."""

NO_OBJECT = -1
"""Value of a rater who was assigned and annotated nothing there. It counts as disagreement about existence."""

NOT_ASSIGNED = -2
"""Marker, not a value: the rater was not assigned. Missing data, which counts for nothing."""


@dataclass(frozen=True, eq=False)
class Units:
    """U units: columns of the reliability matrix.

    Parameters
    ----------
    image : (U,) int
        Code of the image of each unit.
    values : (U, R) int32
        Category code, `NO_OBJECT` or `NOT_ASSIGNED` for every rater.

    Examples
    --------
    Two units of one image: both raters chose category 0 in the first; only the first rater annotated the second.

    >>> units = Units(np.array([0, 0]), np.array([[0, 0], [3, NO_OBJECT]], np.int32))
    >>> len(units)
    2
    """

    image: NDArray[np.intp]
    values: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.image)

    @property
    def compare_objects(self) -> bool:
        """Whether any unit with an object has two assigned raters."""
        return bool(((self.values >= 0).any(axis=1) & ((self.values != NOT_ASSIGNED).sum(axis=1) >= 2)).any())


def join_units(parts: Sequence[Units], images: Sequence[int]) -> Units:
    """Join the units of all parts, given the number of images of each part.

    Examples
    --------
    >>> one = Units(np.array([0]), np.array([[0, 0]], np.int32))
    >>> join_units([one, one], [3, 1]).image.tolist()
    [0, 3]
    """
    starts = np.cumsum([0, *images])
    return Units(
        np.concatenate([part.image + start for part, start in zip(parts, starts, strict=False)]),
        np.concatenate([part.values for part in parts]),
    )


def build_units(annotations: Annotations, unit_of: NDArray[np.intp]) -> Units:
    """Build the reliability matrix of units (KαLOS §3.2; Krippendorff 2004).

    Parameters
    ----------
    annotations : Annotations
    unit_of : (N,) int
        Unit of every annotation, 0 to U - 1.

    Returns
    -------
    Units
        A rater who annotated nothing in a unit and is assigned to none of the classes annotated there is
        `NOT_ASSIGNED`.

    Examples
    --------
    >>> annotations = Annotations.from_rows(
    ...     [{"image": 1, "rater": "ann", "category": "cat", "box": [0, 0, 1, 1]}],
    ...     raters=["ann", "bob", "cid"],
    ...     assigned={1: ["ann", "bob"]},
    ... )
    >>> build_units(annotations, np.array([0])).values.tolist()
    [[0, -1, -2]]
    """
    count = int(unit_of.max()) + 1 if len(unit_of) else 0
    image = np.zeros(count, np.intp)
    image[unit_of] = annotations.image
    if annotations.assigned_categories is None and not len(annotations.excluded):
        assigned = annotations.assigned[image]
    else:
        assigned = np.zeros((count, len(annotations.raters)), np.bool_)
        np.logical_or.at(assigned, unit_of, annotations.assigned_per_annotation)
    values = np.where(assigned, np.int32(NO_OBJECT), np.int32(NOT_ASSIGNED))
    values[unit_of, annotations.rater] = annotations.category
    return Units(image, values)


@dataclass(frozen=True, eq=False)
class Coincidences:
    """Sums over the units of each group (an image, or the whole data set), for alpha and for resampling groups.

    G groups; a unit counts if at least two raters gave it a value.

    Parameters
    ----------
    pairable : (G,) float64
        n: number of pairable values.
    agreeing : (G,) float64
        Sum of the diagonal of the coincidence matrix: n_uc (n_uc - 1) / (m_u - 1) summed over units and values.
    group, value : (M,) int
        Values that occur in each group; `value` may be `NO_OBJECT`.
    count : (M,) float64
        n_c: number of occurrences.
    """

    pairable: NDArray[np.float64]
    agreeing: NDArray[np.float64]
    group: NDArray[np.intp]
    value: NDArray[np.intp]
    count: NDArray[np.float64]


def coincidences(values: NDArray[np.int32], group: NDArray[np.intp], groups: int) -> Coincidences:
    """Count the values (U, R) of units, summed over the groups (U,) of the units.

    Examples
    --------
    >>> sums = coincidences(np.array([[0, 0], [0, -1]]), np.array([0, 0]), 1)
    >>> sums.pairable.tolist(), sums.agreeing.tolist()
    ([4.0], [2.0])
    >>> sums.value.tolist(), sums.count.tolist()
    ([-1, 0], [1.0, 3.0])
    """
    if len(values) <= AT_ONCE:
        return _coincidences(values, group, groups)
    by_group = np.argsort(group, kind="stable")
    cuts = group[by_group[AT_ONCE::AT_ONCE]]
    edges = np.unique([0, *cuts.tolist(), groups])
    starts = np.searchsorted(group, edges, sorter=by_group).tolist()
    return join_coincidences(
        [
            _coincidences(values[by_group[begin:end]], group[by_group[begin:end]] - first, last - first)
            for (begin, end), (first, last) in zip(pairwise(starts), pairwise(edges.tolist()), strict=True)
        ]
    )


def with_empty_images(annotations: Annotations, units: Units) -> tuple[Units, NDArray[np.bool_]]:
    """Return the units, plus one of `NO_OBJECT` for each image empty by agreement, and (I,) which images those are."""
    annotated = np.zeros(len(annotations.images), np.bool_)
    annotated[annotations.image] = True
    empty = ~annotated & annotations.comparable_images
    where = np.flatnonzero(empty)
    silent = np.where(annotations.assigned_any_class[where], np.int32(NO_OBJECT), np.int32(NOT_ASSIGNED))
    return Units(np.concatenate([units.image, where]), np.concatenate([units.values, silent])), empty


def image_coincidences(annotations: Annotations, units: Units) -> tuple[Coincidences, NDArray[np.bool_]]:
    """Return counts per image, with the units of `with_empty_images`, and (I,) which images are empty by agreement."""
    whole, empty = with_empty_images(annotations, units)
    return coincidences(whole.values, whole.image, len(annotations.images)), empty


def join_coincidences(parts: Sequence[Coincidences]) -> Coincidences:
    """Join the groups of all parts, one part after the other.

    Examples
    --------
    >>> one = coincidences(np.array([[0, 0]]), np.array([0]), 1)
    >>> join_coincidences([one, one]).group.tolist()
    [0, 1]
    """
    starts = np.cumsum([0, *(len(part.pairable) for part in parts)])
    return Coincidences(
        pairable=np.concatenate([part.pairable for part in parts]),
        agreeing=np.concatenate([part.agreeing for part in parts]),
        group=np.concatenate([part.group + start for part, start in zip(parts, starts, strict=False)]),
        value=np.concatenate([part.value for part in parts]),
        count=np.concatenate([part.count for part in parts]),
    )


def _coincidences(values: NDArray[np.int32], group: NDArray[np.intp], groups: int) -> Coincidences:
    codes = np.ascontiguousarray(values.T).astype(np.intp) - NO_OBJECT  # -1 where missing
    number = number_of_values(codes)
    same = number * (number - 1) - Unequal().of_raters(codes)
    # sum whole numbers first, in a column for each m_u: results are identical in any order of units
    columns = len(codes) + 1
    agreeing = total(group * columns + number, same, groups * columns).reshape(groups, columns)[:, 2:]
    rater, unit = np.nonzero((codes >= 0) & (number >= 2))
    span = int(codes.max(initial=0)) + 1
    entry, count = np.unique(group[unit] * span + codes[rater, unit], return_counts=True)
    return Coincidences(
        pairable=total(group, np.where(number >= 2, number, 0), groups),
        agreeing=(agreeing / np.arange(1, columns - 1)).sum(axis=1),
        group=entry // span,
        value=entry % span + NO_OBJECT,
        count=count.astype(np.float64),
    )


def alpha_by_group(sums: Coincidences) -> NDArray[np.float64]:
    """Compute (G,) alpha of each group; NaN if nothing is pairable."""
    squares = total(sums.group, sums.count**2, len(sums.pairable))
    return alpha_of_sums(sums.pairable, sums.agreeing, squares)


def alpha_of_all(sums: Coincidences) -> float:
    """Compute alpha of all groups as one reliability matrix; NaN if nothing is pairable."""
    totals = total(sums.value - NO_OBJECT, sums.count, 1)
    whole = alpha_of_sums(
        np.array([sums.pairable.sum()]),
        np.array([math.fsum(sums.agreeing)]),
        np.array([(totals**2).sum()]),
    )
    return float(whole[0])
