"""Distance of each annotation to the nearest annotation of another rater, on its own image and on another one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import blocks_of_runs, run_starts
from kalos_core.calibration.relative import COORDINATES, Coordinates, relative_column
from kalos_core.errors import InputError, lookup
from kalos_core.options import checked
from kalos_core.pairs import image_pairs
from kalos_core.similarity import Similarity

Block = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]
"""P pairs: rows (P,) and (P,), and targets (P, 1) or (P, 2) whose nearest distance a pair may determine."""


@dataclass(frozen=True, eq=False)
class Nearest:
    """Q distances, each from a target annotation to the nearest of several annotations.

    Parameters
    ----------
    distance : (Q,) float64 in [0, 1]
        1 - similarity; 1 if there is no annotation to compare with.
    row : (Q,) int
        Row of the target annotation.
    """

    distance: NDArray[np.float64]
    row: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Drawn:
    """D random draws, for each of N targets, of another image and a rater assigned there.

    Parameters
    ----------
    image, rater : (D, N) int
        Codes of images and raters.
    """

    image: NDArray[np.intp]
    rater: NDArray[np.intp]


@checked
def observed_distances(annotations: Annotations, measure: Similarity) -> Nearest:
    """Compute each annotation's distance to the nearest one of each other rater on its image (KαLOS §3.3, §7.2).

    A rater who was assigned to the image and annotated nothing there is at distance 1. A rater who is assigned to no
    class at all is excluded. Classes of annotations are ignored. The result does not depend on the order of rows and
    raters.

    Parameters
    ----------
    annotations : Annotations
    measure : Similarity

    Returns
    -------
    Nearest
        One entry for each annotation and other rater, in the order of rows.

    Examples
    --------
    Bob is 0.2 away from Ann's annotation; Cid, who was also assigned, annotated nothing.

    >>> from kalos_core.similarity import get_similarity
    >>> common = {"image": 1, "category": "cat"}
    >>> rows = [{**common, "rater": rater, "box": [0, 0, 10, height]} for rater, height in [("ann", 10), ("bob", 8)]]
    >>> annotations = Annotations.from_rows(rows, raters=["ann", "bob", "cid"], assigned="all")
    >>> found = observed_distances(annotations, get_similarity("box_iou"))
    >>> found.row.tolist(), found.distance.round(3).tolist()
    ([0, 0, 1, 1], [0.2, 1.0, 0.2, 1.0])
    """
    image, rater = annotations.image, annotations.rater
    others = annotations.assigned_any_class.sum(axis=1)[image] - 1
    start = run_starts(others)
    rank = np.cumsum(annotations.assigned_any_class, axis=1) - 1  # of a rater among the assigned ones

    def slot(target: NDArray[np.intp], other: NDArray[np.intp]) -> NDArray[np.intp]:
        own, their = rank[image[target], rater[target]], rank[image[target], rater[other]]
        return start[target] + their - (their > own)

    def blocks() -> Iterator[Block]:
        for left, right in image_pairs(annotations):
            yield left, right, np.stack([slot(left, right), slot(right, left)], axis=1)

    best = _best_similarity(measure, _column(annotations, measure), blocks(), int(start[-1]))
    return Nearest(1 - best, np.repeat(np.arange(len(annotations)), others))


@checked
def draw_references(annotations: Annotations, repeats: int, seed: int) -> Drawn:
    """Draw another image and a rater assigned there, uniformly, for each image and rater with annotations.

    Images and raters are drawn in the order of their names, so that a seed gives the same draws for any order of rows,
    images or raters. Only images with an assigned rater can be drawn.

    Parameters
    ----------
    annotations : Annotations
    repeats : int
        D, the number of draws.
    seed : int

    Returns
    -------
    Drawn

    Raises
    ------
    InputError
        If there is no other image.

    Examples
    --------
    >>> rows = [{"image": image, "rater": "ann", "category": "cat", "box": [0, 0, 9, 9]} for image in ("a", "b")]
    >>> drawn = draw_references(Annotations.from_rows(rows), repeats=1, seed=0)
    >>> drawn.image.tolist(), drawn.rater.tolist()
    ([[1, 0]], [[0, 0]])
    """
    present = np.zeros(annotations.assigned.shape, np.bool_)
    present[annotations.image, annotations.rater] = True
    image, rater = draw_for_raters(annotations, present, repeats, seed)
    return Drawn(image[:, annotations.image, annotations.rater], rater[:, annotations.image, annotations.rater])


def draw_for_raters(
    annotations: Annotations, present: NDArray[np.bool_], repeats: int, seed: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Draw as in `draw_references`, for each image and rater: (D, I, R) images and raters; -1 without annotations.

    Parameters
    ----------
    annotations : Annotations
        Only images, raters and assignment are read.
    present : (I, R) bool
        Whether each rater annotated something on each image.
    repeats, seed : int
        As in `draw_references`.
    """
    images_by_name, raters_by_name = np.argsort(annotations.image_rank), np.argsort(annotations.raters.astype(str))
    assigned = annotations.assigned_any_class[:, raters_by_name]
    count = assigned.sum(axis=1)
    eligible = images_by_name[count[images_by_name] > 0]
    if len(eligible) < 2:
        raise InputError(
            "annotations: expected at least two images with raters assigned, because calibration estimates chance from "
            f"raters of different images, got {len(eligible)}"
        )
    rng = np.random.default_rng(seed)
    number = np.full(len(annotations.images), -1, np.intp)
    number[eligible] = np.arange(len(eligible))
    rater_rank = np.argsort(raters_by_name)
    own_image, own_rater = np.nonzero(present)
    in_order = np.argsort(number[own_image] * len(annotations.raters) + rater_rank[own_rater])
    own_image, own_rater = own_image[in_order], own_rater[in_order]
    drawn = rng.integers(0, len(eligible) - 1, (repeats, len(in_order)))
    found = np.full((2, repeats, *present.shape), -1, np.intp)
    image = eligible[drawn + (drawn >= number[own_image])]
    assigned_first = np.argsort(~assigned, axis=1, kind="stable")
    found[0][:, own_image, own_rater] = image
    found[1][:, own_image, own_rater] = raters_by_name[assigned_first[image, rng.integers(0, count[image])]]
    return found[0], found[1]


@checked
def expected_distances(
    annotations: Annotations,
    measure: Similarity,
    references: Drawn,
    coordinates: Coordinates = "relative",
    grid: tuple[int, int] | None = None,
) -> Nearest:
    """Compute each annotation's distance to the nearest one of a rater on another image (KαLOS §3.3, §7.2).

    The distance is 1 if that rater has no annotation there.

    The target is the left side of the similarity.

    Parameters
    ----------
    annotations : Annotations
    measure : Similarity
    references : Drawn
        References of the first annotations, which are the targets. Rows without references are only compared with.
    coordinates : "relative" or "pixels"
        Coordinates for comparing annotations of two images; see `relative_column` for their meaning by kind of shape.
    grid : (int, int), optional
        See `relative_column`.

    Returns
    -------
    Nearest
        D * N distances: all annotations in the order of rows, once for each draw.

    Raises
    ------
    InputError
        If coordinates are relative and the size of an annotation's image is unknown.

    Examples
    --------
    Boxes of 10 x 10 and 10 x 8 pixels; the first fills a quarter of its image, the second the whole image:

    >>> from kalos_core.similarity import get_similarity
    >>> common = {"rater": "ann", "category": "cat"}
    >>> rows = [{**common, "image": image, "box": [0, 0, 10, height]} for image, height in [("a", 10), ("b", 8)]]
    >>> annotations = Annotations.from_rows(rows, image_size={"a": (20, 20), "b": (10, 8)})
    >>> drawn, iou = draw_references(annotations, repeats=1, seed=0), get_similarity("box_iou")
    >>> expected_distances(annotations, iou, drawn).distance.round(3).tolist()
    [0.75, 0.75]
    >>> expected_distances(annotations, iou, drawn, "pixels").distance.round(3).tolist()
    [0.2, 0.2]
    """
    column = _column(annotations, measure)
    lookup(COORDINATES, coordinates, "coordinates")
    if coordinates == "relative":
        relative = relative_column(annotations, column, grid)
        column = column if relative is None else relative
    count, raters = references.image.shape[1], len(annotations.raters)
    key = annotations.image * raters + annotations.rater
    order = np.argsort(key, kind="stable")
    start = run_starts(np.bincount(key, minlength=len(annotations.images) * raters))

    def blocks() -> Iterator[Block]:
        for draw, wanted in enumerate(references.image * raters + references.rater):
            for target, position in blocks_of_runs(start[wanted], start[wanted + 1] - start[wanted]):
                yield target, order[position], (draw * count + target)[:, None]

    best = _best_similarity(measure, column, blocks(), references.image.size)
    return Nearest(1 - best, np.tile(np.arange(count), len(references.image)))


def _column(annotations: Annotations, measure: Similarity) -> Any:
    return measure.column(annotations) if len(annotations) else None  # an empty table has no shapes


def _best_similarity(measure: Similarity, column: Any, blocks: Iterable[Block], targets: int) -> NDArray[np.float64]:
    """(targets,) largest similarity of all pairs for each target; 0 if there are none."""
    best = np.zeros(targets)
    for left, right, target in blocks:
        if measure.bound is None:
            _raise(best, target, measure.values(column, left, column, right))
        else:
            _go_down(measure, column, left, right, target, best)
    return best


def _go_down(
    measure: Similarity,
    column: Any,
    left: NDArray[np.intp],
    right: NDArray[np.intp],
    target: NDArray[np.intp],
    best: NDArray[np.float64],
) -> None:
    """Compare pairs from the highest upper bound downwards, while a bound exceeds the best value found."""
    assert measure.bound is not None
    bound = measure.bound(column, left, column, right)
    left_over = np.argsort(-bound, kind="stable")
    first = np.empty(len(best), np.intp)
    while True:
        left_over = left_over[bound[left_over] > best[target[left_over]].min(axis=1)]
        if not len(left_over):
            return
        chosen = _first_of_each(target[left_over], first)
        pairs = left_over[chosen]
        floor = float(best[target[pairs]].min())
        _raise(best, target[pairs], measure.values(column, left[pairs], column, right[pairs], floor))
        left_over = left_over[~chosen]


def _first_of_each(target: NDArray[np.intp], first: NDArray[np.intp]) -> NDArray[np.bool_]:
    """(P,) whether a pair is the first at any of its targets (P, M); `first` is scratch space, overwritten."""
    position = np.arange(len(target))
    first[target[::-1].ravel()] = np.repeat(position[::-1], target.shape[1])  # the first pair is written last
    chosen: NDArray[np.bool_] = (first[target] == position[:, None]).any(axis=1)
    return chosen


def _raise(best: NDArray[np.float64], target: NDArray[np.intp], values: NDArray[np.float64]) -> None:
    """Raise the best value of every target to the values of its pairs; most are 0 and are skipped."""
    some = np.flatnonzero(values)
    for column in target[some].T:
        np.maximum.at(best, column, values[some])
