"""Accuracy of matching when the object of each annotation is known (KαLOS §5.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import expand_runs
from kalos_core.pairs import Pairs, compute_pairs
from kalos_core.similarity import get_similarity

OVERLAP = 1e-9
"""Minimum similarity of annotations that overlap at all."""

CASES = ("true positive", "missed", "false positive", "cuckoo egg")
"""Possible outcomes of a pair of annotations that a solver matched or could have matched."""


@dataclass(frozen=True, eq=False)
class Truth:
    """Pairs of annotations of the same object, and the other pairs that a solver might match.

    Parameters
    ----------
    annotations : Annotations
    similarity : str
        Similarity that the solver uses.
    threshold : float
        Minimum similarity of a match.
    pairs : Pairs
        All pairs that overlap.
    same : (S,) int
        Keys of the pairs of the same object, in ascending order; see `keys`.
    same_similarity : (S,) float64

    Examples
    --------
    Two raters and two cats, one of which bob annotated too far to the right:

    >>> cat = {"image": 1, "category": "cat"}
    >>> boxes = {"ann": ([0, 0, 10, 10], [40, 0, 10, 10]), "bob": ([0, 0, 10, 8], [47, 0, 10, 10])}
    >>> rows = [{**cat, "rater": rater, "box": box} for rater, own in boxes.items() for box in own]
    >>> truth = Truth.of(Annotations.from_rows(rows), np.array([[0], [1], [0], [1]]))
    >>> score = truth.score(np.array([0, 1, 0, 2]))
    >>> score.tp, score.fp, score.fn, truth.out_of_reach
    (1, 0, 1, 1)
    """

    annotations: Annotations
    similarity: str
    threshold: float
    pairs: Pairs
    same: NDArray[np.intp]
    same_similarity: NDArray[np.float64]

    @classmethod
    def of(
        cls, annotations: Annotations, objects: NDArray[np.intp], similarity: str = "box_iou", threshold: float = 0.5
    ) -> Truth:
        """Build the ground truth from annotations (N) with known objects (N, W), as in `GeneratedRaters.object`."""
        left, right = pairs_of_groups(annotations, objects)
        measure = get_similarity(similarity)
        column = measure.column(annotations)
        return cls(
            annotations=annotations,
            similarity=similarity,
            threshold=threshold,
            pairs=compute_pairs(annotations, measure, OVERLAP),
            same=keys(annotations, left, right),
            same_similarity=measure.values(column, left, column, right),
        )

    @property
    def out_of_reach(self) -> int:
        """Number of pairs of the same object below the threshold, which no solver can find."""
        return int((self.same_similarity < self.threshold).sum())

    def score(self, unit_of: NDArray[np.intp]) -> Score:
        """Compare the units (N,) of a solver with the ground truth."""
        left, right = pairs_of_groups(self.annotations, unit_of[:, None])
        matched = keys(self.annotations, left, right)
        right_ones = int(np.isin(matched, self.same, assume_unique=True).sum())
        touching = keys(self.annotations, self.pairs.left, self.pairs.right)
        considered = np.unique(np.concatenate([touching, self.same, matched]))
        fp, fn = len(matched) - right_ones, len(self.same) - right_ones
        return Score(tp=right_ones, fp=fp, fn=fn, tn=len(considered) - right_ones - fp - fn)

    def cases(self, unit_of: NDArray[np.intp]) -> tuple[NDArray[np.str_], NDArray[np.float64]]:
        """Return the outcome of each pair, a name from `CASES`, and its similarity (KαLOS §5.1, experiment 3).

        A cuckoo egg is a false positive that displaced a match: one of its annotations has the same object as another
        annotation of that rater, at or above the threshold. It is not counted as a false positive.
        """
        left, right = pairs_of_groups(self.annotations, unit_of[:, None])
        matched = keys(self.annotations, left, right)
        hit = np.isin(self.same, matched, assume_unique=True)
        missed = ~hit & (self.same_similarity >= self.threshold)
        wrong = ~np.isin(matched, self.same, assume_unique=True)
        left, right = left[wrong], right[wrong]
        measure = get_similarity(self.similarity)
        column = measure.column(self.annotations)
        displaced = self._sides(*np.divmod(self.same[missed], len(self.annotations)))
        cuckoo = np.isin(self._sides(left, right), displaced).reshape(2, -1).any(axis=0)
        names = np.repeat(np.array(CASES), [hit.sum(), missed.sum(), (~cuckoo).sum(), cuckoo.sum()])
        false = measure.values(column, left, column, right)
        parts = [self.same_similarity[hit], self.same_similarity[missed], false[~cuckoo], false[cuckoo]]
        return names, np.concatenate(parts)

    def _sides(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> NDArray[np.intp]:
        """Encode both annotations of each pair (2 P,): the annotation, and the rater of the other."""
        rater, raters = self.annotations.rater, len(self.annotations.raters)
        return np.concatenate([left * raters + rater[right], right * raters + rater[left]])


@dataclass(frozen=True)
class Score:
    """Outcome of pairs of annotations, of two raters in an image, that overlap, are matched, or have the same object.

    The Rand index is *filtered*. Over all pairs of an image it would be near 1 for any solver, because nearly all pairs
    are far apart and no solver would match them.

    Examples
    --------
    >>> score = Score(tp=6, fp=2, fn=2, tn=10)
    >>> score.rand_index, score.precision, score.recall, score.f1
    (0.8, 0.75, 0.75, 0.75)
    """

    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def rand_index(self) -> float:
        """Share of the pairs that were decided correctly."""
        return _share(self.tp + self.tn, self.tp + self.fp + self.fn + self.tn)

    @property
    def precision(self) -> float:
        """Share of the matched pairs that are of the same object."""
        return _share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float:
        """Share of the pairs of the same object that were matched."""
        return _share(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return _share(2 * self.tp, 2 * self.tp + self.fp + self.fn)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def keys(annotations: Annotations, left: NDArray[np.intp], right: NDArray[np.intp]) -> NDArray[np.intp]:
    """Encode pairs of rows as (P,) numbers, independent of order: lower row times N plus the other."""
    return np.minimum(left, right) * len(annotations) + np.maximum(left, right)


def pairs_of_groups(annotations: Annotations, groups: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return all pairs of rows of two raters that share a group, each once, in ascending order of key.

    Parameters
    ----------
    annotations : Annotations
    groups : (N, W) int
        Groups of each annotation, -1 where fewer than W. A group lies within one image.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": rater, "category": "cat", "box": [0, 0, 9, 9]} for rater in "abb"]
    >>> table = Annotations.from_rows(rows)
    >>> [part.tolist() for part in pairs_of_groups(table, np.array([[0, 1], [0, 1], [1, -1]]))]
    [[0, 0], [1, 2]]
    """
    row, column = np.nonzero(groups >= 0)
    group = groups[row, column]
    order = np.argsort(group, kind="stable")
    row, group = row[order], group[order]
    after = np.arange(1, len(row) + 1)
    index, partner = expand_runs(after, np.searchsorted(group, group, side="right") - after)
    left, right = row[index], row[partner]
    apart = annotations.rater[left] != annotations.rater[right]
    found = np.unique(keys(annotations, left[apart], right[apart]))
    first, second = np.divmod(found, max(len(annotations), 1))
    return first, second
