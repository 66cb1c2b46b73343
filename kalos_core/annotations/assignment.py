"""Assignment of raters: images, classes of a rater, and single exclusions.

An *exclusion* (image, rater, category) means that a rater is not assigned to annotate every object of a class on an
image, as with ``not_exhaustive_category_ids`` in LVIS. Their annotations of that class there are normal values, but a
missing annotation has no meaning.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import expand_runs


def assigned_any_class(
    assigned: NDArray[np.bool_], limits: NDArray[np.bool_] | None, excluded: NDArray[np.intp], categories: int
) -> NDArray[np.bool_]:
    """(I, R) whether a rater is assigned to an image and to at least one class on it.

    Parameters
    ----------
    assigned : (I, R) bool
    limits : (R, K) bool or None
        Classes that each rater is assigned to; None for all.
    excluded : (X, 3) int
        Distinct triples of image, rater and category.
    categories : int
        K, the number of categories.

    Examples
    --------
    >>> assigned_any_class(np.array([[True, True]]), None, np.array([[0, 1, 0]]), categories=1).tolist()
    [[True, False]]
    """
    found = assigned if limits is None else assigned & limits.any(axis=1)
    if not len(excluded):
        return np.asarray(found)
    allowed = _allowed(limits, assigned.shape[1], categories)
    image, rater, category = excluded.T
    lost = np.zeros(assigned.shape, np.intp)
    np.add.at(lost, (image, rater), allowed[rater, category])
    return np.asarray(found & (lost < allowed.sum(axis=1)))


def comparable_images(
    assigned: NDArray[np.bool_], limits: NDArray[np.bool_] | None, excluded: NDArray[np.intp], categories: int
) -> NDArray[np.bool_]:
    """(I,) whether at least two raters are assigned to a common class; parameters as in `assigned_any_class`.

    Examples
    --------
    >>> both, limits = np.array([[True, True]]), np.array([[True, False], [True, True]])
    >>> comparable_images(both, limits, np.zeros((0, 3), int), categories=2).tolist()
    [True]
    >>> comparable_images(both, limits, np.array([[0, 1, 0]]), categories=2).tolist()
    [False]
    """
    if limits is None and not len(excluded):
        return np.asarray(assigned.sum(axis=1) >= 2)
    allowed = _allowed(limits, assigned.shape[1], categories)
    # images share few distinct sets of raters; this avoids a table of all images and classes
    teams, team = np.unique(assigned, axis=0, return_inverse=True)
    common = ((teams.astype(np.float32) @ allowed.astype(np.float32)) >= 2).sum(axis=1)[team.reshape(-1)]
    if len(excluded):
        image, rater, category = excluded.T
        cell, position = np.unique(image * categories + category, return_inverse=True)
        before = (assigned[cell // categories] & allowed[:, cell % categories].T).sum(axis=1)
        lost = np.bincount(position.reshape(-1), weights=assigned[image, rater] & allowed[rater, category])
        gone = cell[(before >= 2) & (before - lost < 2)] // categories
        common = common - np.bincount(gone, minlength=len(assigned))
    return np.asarray(common > 0)


def assigned_per_annotation(
    assigned: NDArray[np.bool_],
    limits: NDArray[np.bool_] | None,
    excluded: NDArray[np.intp],
    image: NDArray[np.intp],
    category: NDArray[np.intp],
    categories: int,
) -> NDArray[np.bool_]:
    """(N, R) whether a rater is assigned to the image and class of an annotation; see `assigned_any_class`.

    Examples
    --------
    >>> both, cats = np.array([[True, True]]), np.array([0, 1])
    >>> assigned_per_annotation(both, None, np.array([[0, 1, 0]]), np.array([0, 0]), cats, categories=2).tolist()
    [[True, False], [True, True]]
    """
    found = assigned[image]
    if limits is not None:
        found &= limits[:, category].T
    if len(excluded):
        cell = image * categories + category
        order = np.argsort(cell)
        wanted = excluded[:, 0] * categories + excluded[:, 2]
        first, last = (np.searchsorted(cell[order], wanted, side=side) for side in ("left", "right"))
        exclusion, position = expand_runs(first, last - first)
        found[order[position], excluded[exclusion, 1]] = False
    return found


def _allowed(limits: NDArray[np.bool_] | None, raters: int, categories: int) -> NDArray[np.bool_]:
    return np.ones((raters, categories), np.bool_) if limits is None else limits
