"""What average precision of any subset of images is computed from: matched once, accumulated as often as wanted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import total
from kalos_core.convergence.matching import detect, detect_jointly, rank_in_order
from kalos_core.convergence.precision import average_precision, single_point_precision
from kalos_core.pairs import Pairs

MOST_DETECTIONS = 1000
"""Detections that count of each image and class."""

AT_ONCE = 1 << 21
"""Detections times thresholds times subsets that are accumulated together."""


@dataclass(frozen=True, eq=False)
class Counted:
    """D detections and M marks of the ground truth in G groups: ground-truth rater, detecting rater and class.

    Parameters
    ----------
    truth, found, category : (G,) int
        Of each group; every group has ground truth.
    group, image : (D,) int
        Of each detection, sorted by group, then by image and place in the order they are taken.
    hit, counts : (T, D) bool
        Whether a detection found a mark, and whether it counts at all.
    marks_group, marks_image : (M,) int
        Of each mark of the ground truth that counts.
    images : int
        I
    joint : bool
        Whether all detections enter at once.
    """

    truth: NDArray[np.intp]
    found: NDArray[np.intp]
    category: NDArray[np.intp]
    group: NDArray[np.intp]
    image: NDArray[np.intp]
    hit: NDArray[np.bool_]
    counts: NDArray[np.bool_]
    marks_group: NDArray[np.intp]
    marks_image: NDArray[np.intp]
    images: int
    joint: bool

    def precision(self, subsets: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
        """(B, T, G) average precision of every group on B subsets (B, I) of the images, all images by default."""
        if subsets is None:
            subsets = np.ones((1, self.images), np.bool_)
        parts = [self._precision(part) for part in self._parts(subsets)]
        return np.concatenate(parts) if parts else np.zeros((0, len(self.hit), len(self.truth)))

    def _parts(self, subsets: NDArray[np.bool_]) -> Iterator[NDArray[np.bool_]]:
        share = max(float(subsets.mean()), 1e-9)
        size = max(1, int(AT_ONCE / (max(self.hit.size, 1) * share)))
        for start in range(0, len(subsets), size):
            yield subsets[start : start + size]

    def _precision(self, subsets: NDArray[np.bool_]) -> NDArray[np.float64]:
        groups = len(self.truth)
        subset, detection = np.nonzero(subsets[:, self.image])
        positives = np.concatenate(
            [np.bincount(self.marks_group[kept[self.marks_image]], minlength=groups) for kept in subsets]
        )
        measure = single_point_precision if self.joint else average_precision
        ap = measure(
            subset * groups + self.group[detection], self.hit[:, detection], self.counts[:, detection], positives
        )
        return ap.reshape(len(ap), len(subsets), groups).transpose(1, 0, 2)

    def by_direction(self, precision: NDArray[np.float64], raters: int) -> NDArray[np.float64]:
        """(T, G) -> (T, R, R) mean over the classes of the ground truth, NaN where there is none."""
        direction = self.truth * raters + self.found
        levels = len(precision)
        level = np.arange(levels)[:, None] * raters**2
        defined = np.isfinite(precision)
        key = (level + direction)[defined]
        sums = total(key, precision[defined], levels * raters**2)
        times = np.bincount(key, minlength=levels * raters**2)
        return (sums / np.where(times, times, np.nan)).reshape(levels, raters, raters)


def count(
    annotations: Annotations,
    pairs: Pairs,
    thresholds: NDArray[np.float64],
    ties: str,
    in_size: NDArray[np.bool_],
    rng: np.random.Generator,
) -> Counted:
    """Match the marks of every two raters in the order that `ties` says."""
    image_place = _image_places(annotations)
    order = np.lexsort((np.arange(len(annotations)), image_place[annotations.image]))
    if ties == "shuffle":
        image_place = rng.permutation(len(annotations.images))
        order = rng.permutation(len(annotations))
    rank = rank_in_order(annotations, order)
    if ties == "joint":
        detections = detect_jointly(annotations, pairs, thresholds, in_size=in_size)
    else:
        detections = detect(annotations, pairs, thresholds, rank, most=MOST_DETECTIONS, in_size=in_size)
    row, other = np.nonzero(annotations.askable)
    truth_kept = in_size[row]
    marks = row[truth_kept]
    marks_key = _group_key(annotations, annotations.rater[marks], other[truth_kept], annotations.category[marks])
    groups, marks_group = np.unique(marks_key, return_inverse=True)
    found = annotations.rater[detections.row]
    key = _group_key(annotations, detections.truth, found, annotations.category[detections.row])
    place = np.minimum(np.searchsorted(groups, key), max(len(groups) - 1, 0))
    of_truth = np.flatnonzero(groups[place] == key) if len(groups) else np.zeros(0, np.intp)
    group, image = place[of_truth], annotations.image[detections.row[of_truth]]
    taken = np.lexsort((rank[detections.row[of_truth]], image_place[image], group))
    chosen = of_truth[taken]
    raters, categories = len(annotations.raters), len(annotations.categories)
    return Counted(
        truth=groups // (raters * categories),
        found=groups // categories % raters,
        category=groups % categories,
        group=group[taken],
        image=image[taken],
        hit=detections.hit[:, chosen],
        counts=~detections.ignored[:, chosen],
        marks_group=marks_group.reshape(-1),
        marks_image=annotations.image[marks],
        images=len(annotations.images),
        joint=ties == "joint",
    )


def _group_key(
    annotations: Annotations, truth: NDArray[np.intp], found: NDArray[np.intp], category: NDArray[np.intp]
) -> NDArray[np.intp]:
    return (truth * len(annotations.raters) + found) * len(annotations.categories) + category


def _image_places(annotations: Annotations) -> NDArray[np.intp]:
    """(I,) place of each image by ascending id where ids are whole numbers, as pycocotools walks, else as they come."""
    ids = list(annotations.images)
    place = np.arange(len(ids))
    if all(isinstance(key, (int, np.integer)) for key in ids):
        place[np.argsort(np.array(ids, dtype=np.int64), kind="stable")] = np.arange(len(ids))
    return place
