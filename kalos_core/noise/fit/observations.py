"""Noise that two raters of an image show: shifts, confusions, unmatched annotations and fragments (KαLOS §9.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.errors import InputError, listed, repr_of
from kalos_core.variation import Variations, variations

THRESHOLD = 0.5
"""Least IoU of annotations of the same object: fixed, so that an error means the same for all data (KαLOS §9.2)."""

ROUNDING = 1e-9
"""Shares of an image that count as the same position, and logarithms of ratios that count as the same size."""

MOST_MERGED = 2
"""Fragments of a whole: a generated annotation is split into two."""


@dataclass(frozen=True, eq=False)
class Shifts:
    """How n annotations differ in position and size from what they are compared with, relative to the image.

    Parameters
    ----------
    area : (n,) float64
        What the trend follows: the mean area of both annotations, or the area of the whole that a fragment is of.
    translation : (n,) float64
        Distance of the centres.
    angle : (n,) float64
        Direction from the one centre to the other in radians; NaN where they are the same point.
    width, height : (n,) float64
        Size of the logarithm of the ratio of the sides.
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
        """The directions that there are."""
        return self.angle[~np.isnan(self.angle)]


@dataclass(frozen=True, eq=False)
class Observations:
    """All that a noise model is fitted to, over every image and pair of its raters.

    Parameters
    ----------
    correct, wrong_class : Shifts
        Of annotations matched one to one, from the first rater of the pair to the second.
    category_a, category_b : (m,) int
        Classes of all annotations matched one to one.
    categories : (K,) object
        Their names.
    events, annotations_per_rater : (v, 2) int
        Of each image and pair of raters, for either rater: the annotations that the other has not, and all.
    class_events, class_annotations : (w, 2) int
        The same of each image, pair of raters and class that either of them gave there.
    class_image : (w,) int
        The row of `events` that each of them is of.
    matched_area, unmatched_area : float64
        Areas of the annotations that the other rater has too, and of those that the other has not.
    parent_area, other_area : float64
        Areas of the annotations that the other rater annotated as two, and of all others.
    first, second : Shifts
        Larger and smaller fragment against their whole; `width` and `height` are how much smaller, at least 0.
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
    """Centre (N, 2) and sides (N, 2) of boxes, as shares of the sides of their images."""

    centre: NDArray[np.float64]
    sides: NDArray[np.float64]

    @property
    def area(self) -> NDArray[np.float64]:
        """(N,) shares of the image."""
        return np.asarray(self.sides.prod(axis=1))

    def shifts(self, start: NDArray[np.intp], end: NDArray[np.intp], area: NDArray[np.float64]) -> Shifts:
        """From rows `start` to rows `end`, with `width` and `height` as ln of the ratio, sign and all."""
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
    """The boxes of all annotations relative to their images.

    Raises
    ------
    InputError
        For anything but annotations, without boxes, or for annotations on images of unknown size, which are named.
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
    """(n,) whether steps (n, 2) lead anywhere: what is lost in rounding has no direction."""
    return np.asarray((np.abs(step) > ROUNDING).any(axis=1))


def observe(annotations: Annotations, found: Variations | None = None) -> Observations:
    """Gather what the raters of a data set show about noise: each image and each pair of raters counts once.

    Parameters
    ----------
    annotations : Annotations
    found : Variations, optional
        Their ``variations(annotations, threshold=0.5, max_merge=2)``, if they are computed already.

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
    """Shifts between two annotations of one object: neither is the right one, so only the size of a change counts."""
    found = boxes.shifts(start, end, (boxes.area[start] + boxes.area[end]) / 2)
    return Shifts(found.area, found.translation, found.angle, np.abs(found.width), np.abs(found.height))


def _parts(boxes: RelativeBoxes, whole: NDArray[np.intp], part: NDArray[np.intp]) -> Shifts:
    """How far fragments lie from the centre of their whole, and how much smaller they are."""
    found = boxes.shifts(whole, part, boxes.area[whole])
    smaller = [np.maximum(0, -ratio) for ratio in (found.width, found.height)]
    return Shifts(found.area, found.translation, found.angle, *smaller)


def _fragments(
    found: Variations, merged: NDArray[np.intp], area: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Rows of the whole, its larger and its smaller fragment, of each merge."""
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
    """Angle between both fragments as a share of pi, where neither lies at the very centre of the whole."""
    steps = [boxes.centre[part] - boxes.centre[whole] for part in (first, second)]
    angle = [np.arctan2(step[:, 1], step[:, 0]) for step in steps]
    known = moved(steps[0]) & moved(steps[1])
    turn = np.abs(angle[0] - angle[1])[known]
    return np.asarray(np.minimum(turn, 2 * np.pi - turn) / np.pi)


def _without(area: NDArray[np.float64], rows: NDArray[np.intp], whole: NDArray[np.intp]) -> NDArray[np.float64]:
    """Areas of all annotations, each once for each pair of raters, but for one entry of each whole."""
    left = np.bincount(rows, minlength=len(area)) - np.bincount(whole, minlength=len(area))
    return np.asarray(np.repeat(area, left))


def _events(
    annotations: Annotations, found: Variations, alone: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.intp], NDArray[np.intp]]:
    """Which images (I, P) each pair shares; (v, 2) unmatched annotations of either rater, and all of theirs, there."""
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
    """(w,) the row of `events`, and (w, 2) unmatched annotations and all, of each class that either rater gave."""
    raters, classes = len(annotations.raters), len(annotations.categories)
    row_of = np.cumsum(shared.ravel()).reshape(shared.shape) - 1  # as a mask takes them
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
    """The pair of raters of each finding, as `numpy.triu_indices` numbers them."""
    left, right = np.triu_indices(raters, 1)
    index = np.zeros((raters, raters), np.intp)
    index[left, right] = np.arange(len(left))
    return np.asarray(index[found.rater_a, found.rater_b])


def _sides(found: Variations) -> NDArray[np.intp]:
    """1 where an unmatched annotation is that of the second rater of the pair, else 0."""
    return np.asarray(found.type == "additional", np.intp)
