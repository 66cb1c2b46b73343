"""Matches from which average precision of any subset of images is computed without matching again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import distinct_codes, find_sorted, short, total
from kalos_core.convergence.crowds import CrowdOverlaps
from kalos_core.convergence.matching import compared, detect, detect_jointly, rank_in_order
from kalos_core.convergence.precision import average_precision, precision_points, single_point_precision
from kalos_core.pairs import Pairs

AT_ONCE = 1 << 17
"""Detections times thresholds times subsets accumulated together, small enough for the processor's cache."""


@dataclass(frozen=True, eq=False)
class Counted:
    """D detections and M ground-truth annotations in G groups: ground-truth rater, detecting rater and class.

    Parameters
    ----------
    truth, found, category : (G,) int
        Ground-truth rater, detecting rater and class of each group. Every group has ground truth.
    group, image : (D,) int
        Group and image of each detection, sorted by group, then by image and position in the order of detections.
    hit : (T, D) bool
        Whether a detection found an annotation.
    counts : (T, D) bool or None
        Whether a detection counts at all; None if all do.
    annotation_group, annotation_image : (M,) int
        Group and image of each ground-truth annotation that counts.
    images : int
        I, the number of images.
    joint : bool
        Whether all detections enter at once.
    """

    truth: NDArray[np.intp]
    found: NDArray[np.intp]
    category: NDArray[np.intp]
    group: NDArray[np.intp]
    image: NDArray[np.intp]
    hit: NDArray[np.bool_]
    counts: NDArray[np.bool_] | None
    annotation_group: NDArray[np.intp]
    annotation_image: NDArray[np.intp]
    images: int
    joint: bool

    def class_precision(self) -> NDArray[np.float64]:
        """(T, G) average precision of every group on all images; NaN where no annotation counts."""
        positives = np.bincount(self.annotation_group, minlength=len(self.truth))
        return self._measure(self.group, self.hit, self.counts, positives)

    def directions(self, subsets: NDArray[np.bool_], raters: int) -> NDArray[np.float64]:
        """(B, T, R, R) mAP of every direction on B subsets (B, I) of the images, mean over the ground-truth classes."""
        parts = [self.by_direction(self._precision(part), raters) for part in self._parts(subsets)]
        return np.concatenate([np.zeros((0, len(self.hit), raters, raters)), *parts])

    def by_direction(self, precision: NDArray[np.float64], raters: int) -> NDArray[np.float64]:
        """(B, T, G) -> (B, T, R, R) mean over the classes of the ground truth; NaN if there are none."""
        means = np.full((*precision.shape[:-1], raters * raters), np.nan)
        direction, first = np.unique(self.truth * raters + self.found, return_index=True)  # groups are in this order
        if len(direction):
            defined = np.isfinite(precision)
            sums = np.add.reduceat(np.where(defined, precision, 0.0), first, axis=-1)
            times = np.add.reduceat(defined, first, axis=-1, dtype=np.intp)
            means[..., direction] = sums / np.where(times, times, np.nan)
        return means.reshape(*precision.shape[:-1], raters, raters)

    def points(self, truth: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """(V,) distinct precisions under a ground-truth rater, and (V,) how many recall points read each.

        Points are counted over all classes and thresholds. The sum of precision times points is the sum of
        `class_precision` over classes and thresholds, times 101.
        """
        groups = len(self.truth)
        positives = np.bincount(self.annotation_group, minlength=groups)
        key, points, precision = precision_points(self.group, self.hit, self.counts, positives)
        own = self.truth[key % max(groups, 1)] == truth
        values, index = np.unique(precision[own], return_inverse=True)
        return values, total(index, points[own], len(values)).astype(np.intp)

    def _parts(self, subsets: NDArray[np.bool_]) -> Iterator[NDArray[np.bool_]]:
        share = max(float(subsets.mean()), 1e-9) if subsets.size else 1.0
        size = max(1, int(AT_ONCE / (max(self.hit.size, 1) * share)))
        for start in range(0, len(subsets), size):
            yield subsets[start : start + size]

    def _precision(self, subsets: NDArray[np.bool_]) -> NDArray[np.float64]:
        """(B, T, G) average precision of every group on each subset."""
        groups = len(self.truth)
        subset, detection = np.nonzero(subsets[:, self.image])
        positives = np.concatenate(
            [np.bincount(self.annotation_group[kept[self.annotation_image]], minlength=groups) for kept in subsets]
        )
        counts = None if self.counts is None else self.counts.take(detection, axis=1)
        hit = self.hit.take(detection, axis=1)
        ap = self._measure(subset * groups + self.group.take(detection), hit, counts, positives)
        return ap.reshape(len(ap), len(subsets), groups).transpose(1, 0, 2)

    @property
    def _measure(self) -> Callable[..., NDArray[np.float64]]:
        return single_point_precision if self.joint else average_precision


@dataclass(frozen=True, eq=False)
class Matches:
    """D detections, matched image by image, and M ground-truth annotations, not yet in groups.

    Matches of different images can be concatenated (`join_matches`).

    Parameters
    ----------
    key, image : (D,) int
        Ground-truth rater, detecting rater and class as one number, and the image of each detection.
    image_position, rank : (D,) int
        Position of the image among all images, and of the detection within its image, rater and class.
    sureness : (D,) float64
    hit, ignored : (T, D) bool
        See `Detections`.
    annotation_key, annotation_image : (M,) int
    """

    key: NDArray[np.intp]
    image: NDArray[np.intp]
    image_position: NDArray[np.intp]
    rank: NDArray[np.intp]
    sureness: NDArray[np.float64]
    hit: NDArray[np.bool_]
    ignored: NDArray[np.bool_]
    annotation_key: NDArray[np.intp]
    annotation_image: NDArray[np.intp]

    def counted(self, images: int, raters: int, categories: int, joint: bool) -> Counted:
        """Group the detections and put them into the order in which they are taken."""
        groups, annotation_group = distinct_codes(self.annotation_key)
        number_of_group = find_sorted(groups, self.key)
        of_truth = np.flatnonzero(number_of_group >= 0)
        group = number_of_group[of_truth]
        unequal = [] if (self.sureness == self.sureness[:1]).all() else [-self.sureness[of_truth]]
        order = [short(self.rank)[of_truth], short(self.image_position)[of_truth], *unequal, short(group)]
        taken = np.lexsort(order)
        chosen = of_truth[taken]
        return Counted(
            truth=groups // (raters * categories),
            found=groups // categories % raters,
            category=groups % categories,
            group=group[taken],
            image=self.image[chosen],
            hit=np.take(self.hit, chosen, axis=1),
            counts=~np.take(self.ignored, chosen, axis=1) if self.ignored.any() else None,
            annotation_group=annotation_group,
            annotation_image=self.annotation_image,
            images=images,
            joint=joint,
        )


def join_matches(parts: Sequence[Matches], starts: NDArray[np.intp]) -> Matches:
    """Concatenate the matches of tables of different images; `starts` is the first image of each table."""
    if len(parts) == 1:
        return parts[0]
    shifted = [
        replace(part, image=part.image + start, annotation_image=part.annotation_image + start)
        for part, start in zip(parts, starts, strict=False)
    ]
    return Matches(
        **{
            entry.name: np.concatenate([getattr(part, entry.name) for part in shifted], axis=-1)
            for entry in fields(Matches)
        }
    )


@dataclass(frozen=True, eq=False)
class Order:
    """One order of detections: positions of images (I,), and of annotations (N,) within an image."""

    images: NDArray[np.intp]
    annotations: NDArray[np.intp]


def orders_of(annotations: Annotations, rows: int, ties: str, orders: int, seed: int) -> list[Order]:
    """Return the orders for a `ties` rule and a number of annotations: several random ones, otherwise one."""
    rng = np.random.default_rng(seed)
    if ties != "shuffle":
        return [Order(_image_positions(annotations), np.arange(rows))]
    return [Order(rng.permutation(len(annotations.images)), rng.permutation(rows)) for _ in range(orders)]


def match(
    annotations: Annotations,
    pairs: Pairs,
    thresholds: NDArray[np.float64],
    ties: str,
    in_size: NDArray[np.bool_],
    order: Order,
    crowds: CrowdOverlaps,
    scores: NDArray[np.float64] | None = None,
) -> Matches:
    """Match the annotations of every two raters: highest score first, ties broken by an order.

    Parameters
    ----------
    annotations : Annotations
    pairs : Pairs
        Computed at the least threshold or lower.
    thresholds : (T,) float64
    ties : "coco", "shuffle" or "joint"
    in_size : (N,) bool
        Annotations of the chosen sizes.
    order : Order
    crowds : CrowdOverlaps
        Annotations that lie in a crowd region of another rater.
    scores : (N,) float64, optional
        Score of each annotation as a detection; all scores are equal by default.
    """
    sureness = np.zeros(len(annotations)) if scores is None else scores
    as_they_stand = scores is None and bool((order.annotations[1:] > order.annotations[:-1]).all())
    rank = rank_in_order(annotations, None if as_they_stand else np.lexsort((order.annotations, -sureness)))
    is_compared = compared(annotations)
    if ties == "joint":
        detections = detect_jointly(annotations, pairs, thresholds, in_size, crowds, is_compared)
    else:
        detections = detect(annotations, pairs, thresholds, rank, in_size, crowds, is_compared)
    row, other = detections.row, detections.truth
    image, rater, category = (code.take(row) for code in (annotations.image, annotations.rater, annotations.category))
    truth = slice(None) if in_size.all() else in_size[row]  # each is ground truth for the detections of the other
    return Matches(
        key=_group_key(annotations, other, rater, category),
        image=image,
        image_position=order.images.take(image),
        rank=rank.take(row),
        sureness=sureness.take(row),
        hit=detections.hit,
        ignored=detections.ignored,
        annotation_key=_group_key(annotations, rater[truth], other[truth], category[truth]),
        annotation_image=image[truth],
    )


def _group_key(
    annotations: Annotations, truth: NDArray[np.intp], found: NDArray[np.intp], category: NDArray[np.intp]
) -> NDArray[np.intp]:
    return (truth * len(annotations.raters) + found) * len(annotations.categories) + category


def _image_positions(annotations: Annotations) -> NDArray[np.intp]:
    """(I,) position of each image: by ascending id if all ids are integers, as pycocotools; else as in the table."""
    ids = list(annotations.images)
    position = np.arange(len(ids))
    if all(issubclass(kind, (int, np.integer)) for kind in set(map(type, ids))):
        position[np.argsort(np.array(ids, dtype=np.int64), kind="stable")] = np.arange(len(ids))
    return position
