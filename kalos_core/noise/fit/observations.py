"""Differences between two raters of an image: shifts, confusions, unmatched annotations and fragments (KαLOS §9.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.errors import InputError, listed, repr_of
from kalos_core.variation import Variations, variations

THRESHOLD = 0.5
"""Minimum IoU of annotations of the same object; fixed, so that an error means the same for all data (KαLOS §9.2)."""

ROUNDING = 1e-9
"""Tolerance of equal positions, as a share of the image, and of equal sizes, as the logarithm of their ratio."""

MOST_MERGED = 2
"""Maximum number of fragments of a whole: a generated annotation is split into two."""


@dataclass(frozen=True, eq=False)
class Shifts:
    """Differences of n annotations in position and size from their counterparts, relative to the image.

    Parameters
    ----------
    area : (n,) float64
        Area that the trend depends on: mean area of both annotations, or area of the whole of a fragment.
    translation : (n,) float64
        Distance between the centres.
    angle : (n,) float64
        Direction from one centre to the other in radians; NaN if they coincide.
    width, height : (n,) float64
        Absolute logarithm of the ratio of the sides.
    """

    area: NDArray[np.float64]
    translation: NDArray[np.float64]
    angle: NDArray[np.float64]
    width: NDArray[np.float64]
    height: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.area)

    @property
    def angles(self) -> NDArray[np.float64]:
        """Directions that are defined."""
        return self.angle[~np.isnan(self.angle)]


@dataclass(frozen=True, eq=False)
class Observations:
    """Data that a noise model is fitted to, from every image and pair of its raters.

    Parameters
    ----------
    correct, wrong_class : Shifts
        Shifts of annotations matched one to one, from the first rater of the pair to the second.
    category_a, category_b : (m,) int
        Classes of all annotations matched one to one.
    categories : (K,) object
        Names of the classes.
    events, annotations_per_rater : (v, 2) int
        For each image and pair of raters, and either rater: the annotations that the other lacks, and all.
    class_events, class_annotations : (w, 2) int
        The same for each image, pair of raters and class that either of them gave there.
    class_image : (w,) int
        Row of `events` that each of them belongs to.
    matched_area, unmatched_area : float64
        Areas of the annotations that the other rater has too, and of those that the other lacks.
    parent_area, other_area : float64
        Areas of the annotations that the other rater annotated as two, and of all others.
    first, second : Shifts
        Larger and smaller fragment relative to their whole; `width` and `height` are how much smaller, at least 0.
    opposition : (f,) float64 in [0, 1]
        Angle between the fragments, seen from the centre of the whole, as a share of pi.
    """

    correct: Shifts
    wrong_class: Shifts
    category_a: NDArray[np.intp]
    category_b: NDArray[np.intp]
    categories: NDArray[np.object_]
    events: NDArray[np.intp]
    annotations_per_rater: NDArray[np.intp]
    class_events: NDArray[np.intp]
    class_annotations: NDArray[np.intp]
    class_image: NDArray[np.intp]
    matched_area: NDArray[np.float64]
    unmatched_area: NDArray[np.float64]
    parent_area: NDArray[np.float64]
    other_area: NDArray[np.float64]
    first: Shifts
    second: Shifts
    opposition: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RelativeBoxes:
    """Centres (N, 2) and sides (N, 2) of boxes, relative to the sides of their images."""

    centre: NDArray[np.float64]
    sides: NDArray[np.float64]

    @property
    def area(self) -> NDArray[np.float64]:
        """(N,) areas as shares of the image."""
        return np.asarray(self.sides.prod(axis=1))

    def shifts(self, start: NDArray[np.intp], end: NDArray[np.intp], area: NDArray[np.float64]) -> Shifts:
        """Return the shifts from rows `start` to rows `end`, with `width` and `height` as signed ln of the ratio."""
        step = self.centre[end] - self.centre[start]
        angle = np.arctan2(step[:, 1], step[:, 0])
        ratio = np.log(self.sides[end] / self.sides[start])
        ratio = np.where(np.abs(ratio) > ROUNDING, ratio, 0.0)
        return Shifts(
            area=area,
            translation=np.where(moved(step), np.hypot(step[:, 0], step[:, 1]), 0.0),
            angle=np.where(moved(step), angle, np.nan),
            width=ratio[:, 0],
            height=ratio[:, 1],
        )


def relative_boxes(annotations: Annotations) -> RelativeBoxes:
    """Return the boxes of all annotations relative to their images.

    Raises
    ------
    InputError
        If the argument is not `Annotations`, has no boxes, or has images of unknown size, which are named.
    """
    if not isinstance(annotations, Annotations):
        raise InputError(f"annotations: expected Annotations, got {type(annotations).__name__}")
    if not len(annotations) or "box" not in annotations.shapes:
        actual = f"annotations with {listed(annotations.shapes)}" if len(annotations) else "no annotations"
        raise InputError(f"annotations: expected annotations with boxes, got {actual}")
    unsized = np.unique(annotations.image[np.isnan(annotations.image_size[annotations.image]).any(axis=1)])
    if len(unsized):
        names = listed(map(repr_of, annotations.images[unsized]))
        raise InputError(
            f"image_size: expected width and height of each image, since noise is relative to them, got none of {names}"
        )
    corners = annotations.shapes["box"].bounds() / np.tile(annotations.image_size[annotations.image], 2)
    return RelativeBoxes((corners[:, :2] + corners[:, 2:]) / 2, corners[:, 2:] - corners[:, :2])


def moved(step: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Check whether steps (n, 2) exceed rounding errors (n,); smaller ones have no direction."""
    return np.asarray((np.abs(step) > ROUNDING).any(axis=1))


def observe(annotations: Annotations, found: Variations | None = None) -> Observations:
    """Collect the differences between the raters of a data set; each image and each pair of raters counts once.

    Parameters
    ----------
    annotations : Annotations
    found : Variations, optional
        Result of ``variations(annotations, threshold=0.5, max_merge=2)``, if already computed.

    Raises
    ------
    InputError
        See `relative_boxes` and `variations`.

    Examples
    --------
    >>> rows = [
    ...     {"image": 1, "rater": "ann", "category": "cat", "box": [10, 10, 20, 20]},
    ...     {"image": 1, "rater": "bob", "category": "cat", "box": [12, 10, 20, 20]},
    ...     {"image": 1, "rater": "bob", "category": "dog", "box": [60, 60, 10, 10]},
    ... ]
    >>> seen = observe(Annotations.from_rows(rows, image_size={1: (100, 100)}))
    >>> seen.correct.translation.round(6).tolist(), seen.events.tolist(), seen.annotations_per_rater.tolist()
    ([0.02], [[0, 1]], [[1, 2]])
    """
    boxes = relative_boxes(annotations)
    if found is None:
        found = variations(annotations, "box_iou", threshold=THRESHOLD, max_merge=MOST_MERGED)
    count_a, count_b = (np.array([len(rows) for rows in side], np.intp) for side in (found.rows_a, found.rows_b))
    single = (count_a == 1) & (count_b == 1)
    start, end = (_firsts(side[single]) for side in (found.rows_a, found.rows_b))
    wrong = found.type[single] == "wrong_class"
    alone = count_a + count_b == 1
    alone_rows = [row for side in (found.rows_a[alone], found.rows_b[alone]) for rows in side for row in rows]
    shared_rows = [row for side in (found.rows_a[~alone], found.rows_b[~alone]) for rows in side for row in rows]
    whole, first, second = _fragments(found, np.flatnonzero(count_a + count_b > MOST_MERGED), boxes.area)
    everything = np.array([*alone_rows, *shared_rows], np.intp)
    shared, events, per_rater = _events(annotations, found, alone)
    class_image, class_events, class_annotations = _events_of_classes(annotations, found, alone, shared)
    return Observations(
        correct=_pairs(boxes, start[~wrong], end[~wrong]),
        wrong_class=_pairs(boxes, start[wrong], end[wrong]),
        category_a=annotations.category[start],
        category_b=annotations.category[end],
        categories=annotations.categories,
        events=events,
        annotations_per_rater=per_rater,
        class_events=class_events,
        class_annotations=class_annotations,
        class_image=class_image,
        matched_area=boxes.area[np.array(shared_rows, np.intp)],
        unmatched_area=boxes.area[np.array(alone_rows, np.intp)],
        parent_area=boxes.area[whole],
        other_area=_without(boxes.area, everything, whole),
        first=_parts(boxes, whole, first),
        second=_parts(boxes, whole, second),
        opposition=_opposition(boxes, whole, first, second),
    )


def _firsts(sides: NDArray[np.object_]) -> NDArray[np.intp]:
    return np.array([rows[0] for rows in sides], np.intp)


def _pairs(boxes: RelativeBoxes, start: NDArray[np.intp], end: NDArray[np.intp]) -> Shifts:
    """Return the unsigned shifts between two annotations of one object: neither of them is the right one."""
    found = boxes.shifts(start, end, (boxes.area[start] + boxes.area[end]) / 2)
    return Shifts(found.area, found.translation, found.angle, np.abs(found.width), np.abs(found.height))


def _parts(boxes: RelativeBoxes, whole: NDArray[np.intp], part: NDArray[np.intp]) -> Shifts:
    """Return the shifts of fragments from the centre of their whole, and how much smaller they are."""
    found = boxes.shifts(whole, part, boxes.area[whole])
    smaller = [np.maximum(0, -ratio) for ratio in (found.width, found.height)]
    return Shifts(found.area, found.translation, found.angle, *smaller)


def _fragments(
    found: Variations, merged: NDArray[np.intp], area: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows of the whole, its larger and its smaller fragment, for each merge."""
    lines = []
    for finding in merged:
        one, two = sorted((found.rows_a[finding], found.rows_b[finding]), key=len)
        larger, smaller = sorted(two, key=lambda row: (-area[row], row))
        lines.append((one[0], larger, smaller))
    table = np.array(lines, np.intp).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def _opposition(
    boxes: RelativeBoxes, whole: NDArray[np.intp], first: NDArray[np.intp], second: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the angle between both fragments as a share of pi, unless one lies exactly at the centre of the whole."""
    steps = [boxes.centre[part] - boxes.centre[whole] for part in (first, second)]
    angle = [np.arctan2(step[:, 1], step[:, 0]) for step in steps]
    known = moved(steps[0]) & moved(steps[1])
    turn = np.abs(angle[0] - angle[1])[known]
    return np.asarray(np.minimum(turn, 2 * np.pi - turn) / np.pi)


def _without(area: NDArray[np.float64], rows: NDArray[np.intp], whole: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the areas of all annotations, once per pair of raters, without one entry for each whole."""
    left = np.bincount(rows, minlength=len(area)) - np.bincount(whole, minlength=len(area))
    return np.asarray(np.repeat(area, left))


def _events(
    annotations: Annotations, found: Variations, alone: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.intp], NDArray[np.intp]]:
    """Return the images (I, P) that pairs share, and there (v, 2) the unmatched and all annotations of either rater."""
    raters, images = len(annotations.raters), len(annotations.images)
    left, right = np.triu_indices(raters, 1)
    shared = annotations.assigned_any_class[:, left] & annotations.assigned_any_class[:, right]
    count = np.zeros((images, len(left), 2), np.intp)
    np.add.at(count, (found.image[alone], _pairs_of(found, raters)[alone], _sides(found)[alone]), 1)
    own = np.zeros((images, raters), np.intp)
    np.add.at(own, (annotations.image, annotations.rater), 1)
    return shared, count[shared], np.stack([own[:, left], own[:, right]], axis=2)[shared]


def _events_of_classes(
    annotations: Annotations, found: Variations, alone: NDArray[np.bool_], shared: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return rows (w,) of `events`, and (w, 2) unmatched annotations and all, for each class that either rater gave."""
    raters, classes = len(annotations.raters), len(annotations.categories)
    row_of = np.cumsum(shared.ravel()).reshape(shared.shape) - 1  # in the order of boolean indexing
    rows = [(*found.rows_a[at], *found.rows_b[at])[0] for at in np.flatnonzero(alone)]
    at_events = row_of[found.image[alone], _pairs_of(found, raters)[alone]] * classes
    event_key = at_events + annotations.category[np.array(rows, np.intp)]
    keys, sides = [np.zeros(0, np.intp)], [np.zeros(0, np.intp)]
    for pair, both in enumerate(zip(*np.triu_indices(raters, 1), strict=True)):
        for side, rater in enumerate(both):
            own = np.flatnonzero((annotations.rater == rater) & shared[annotations.image, pair])
            keys.append(row_of[annotations.image[own], pair] * classes + annotations.category[own])
            sides.append(np.full(len(own), side))
    distinct, place = np.unique(np.concatenate(keys), return_inverse=True)
    own_count, events = np.zeros((2, len(distinct), 2), np.intp)
    np.add.at(own_count, (place.reshape(-1), np.concatenate(sides)), 1)
    np.add.at(events, (np.searchsorted(distinct, event_key), _sides(found)[alone]), 1)
    return distinct // max(classes, 1), events, own_count


def _pairs_of(found: Variations, raters: int) -> NDArray[np.intp]:
    """Return the pair of raters of each finding, in the order of `numpy.triu_indices`."""
    left, right = np.triu_indices(raters, 1)
    index = np.zeros((raters, raters), np.intp)
    index[left, right] = np.arange(len(left))
    return np.asarray(index[found.rater_a, found.rater_b])


def _sides(found: Variations) -> NDArray[np.intp]:
    """Return 1 for an unmatched annotation of the second rater of the pair, else 0."""
    return np.asarray(found.type == "additional", np.intp)
