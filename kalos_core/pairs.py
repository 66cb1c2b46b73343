"""Pairs of annotations of two raters in one image, with their similarity: computed once, read by everything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.annotations.blocks import AT_ONCE, ByImage, Take
from kalos_core.arrays import expand_runs, run_starts
from kalos_core.errors import InputError
from kalos_core.results import Result
from kalos_core.shapes.borrowed import Borrowed
from kalos_core.similarity import SIMILARITIES, Rows, Similarity, check_threshold, get_similarity

if TYPE_CHECKING:
    import pandas as pd


BLOCK = 1 << 14
"""Pairs compared at a time: small enough for their temporary arrays to stay in the processor's cache."""


@dataclass(frozen=True, eq=False, repr=False)
class Pairs(Result):
    """P pairs of annotations whose similarity reaches a floor.

    Figures: ``"similarities"``.

    Parameters
    ----------
    left, right : (P,) int
        Rows of the annotations, of one image and two raters.
    similarity : (P,) float64 in [0, 1]
    name : str
        Which similarity it is.
    floor : float
        No pair below it is here; thresholds may be chosen from it upwards.
    kind : str, optional
        Shape kind that was compared; it breaks ties. That of the similarity of this name unless given.

    Examples
    --------
    >>> pairs = Pairs(np.array([0, 0]), np.array([1, 2]), np.array([0.9, 0.6]), "box_iou", floor=0.5)
    >>> len(pairs), len(pairs.at_least(0.75)), pairs.kind
    (2, 1, 'box')
    """

    _call = "compute_pairs(annotations)"
    _shows_table = False

    left: NDArray[np.intp]
    right: NDArray[np.intp]
    similarity: NDArray[np.float64]
    name: str
    floor: float
    kind: str = ""

    def __post_init__(self) -> None:
        if not self.kind and self.name in SIMILARITIES:
            object.__setattr__(self, "kind", SIMILARITIES[self.name].kind)

    def __len__(self) -> int:
        return len(self.left)

    def at_least(self, threshold: float) -> Pairs:
        """The pairs that reach `threshold`, which may not be below the floor they were computed for."""
        threshold = check_threshold(threshold)
        if threshold < self.floor:
            raise InputError(
                f"threshold: expected at least {self.floor}, from which these pairs were computed, got {threshold}"
            )
        return self.keep(self.similarity >= threshold, threshold)

    def keep(self, chosen: NDArray[np.bool_], floor: float | None = None) -> Pairs:
        """The pairs of a mask (P,)."""
        floor = self.floor if floor is None else floor
        return Pairs(self.left[chosen], self.right[chosen], self.similarity[chosen], self.name, floor, self.kind)

    def within(self, annotations: Annotations, images: NDArray[np.bool_]) -> Pairs:
        """The pairs of some images (I,), as rows of ``annotations.select(images=images)``.

        Examples
        --------
        >>> rows = [
        ...     {"image": n, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for n in "ab" for r in ("ann", "bob")
        ... ]
        >>> annotations = Annotations.from_rows(rows)
        >>> found = compute_pairs(annotations).within(annotations, annotations.images == "b")
        >>> found.left.tolist(), found.right.tolist()
        ([0], [1])
        """
        inside = images[annotations.image]
        kept, row = self.keep(inside[self.left]), np.cumsum(inside) - 1
        return replace(kept, left=row[kept.left], right=row[kept.right])

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return f"{len(self.left):,} pairs of annotations, {self.name}"

    def to_pandas(self) -> pd.DataFrame:
        """One row a pair: rows of the annotations, and their similarity."""
        import pandas as pd

        return pd.DataFrame(
            {
                "left": self.left,
                "right": self.right,
                "similarity": self.similarity,
            }
        )


def compute_pairs(
    annotations: Annotations, similarity: str | Similarity | Rows = "box_iou", floor: float = 0.5
) -> Pairs:
    """All pairs of annotations of one image and two raters whose similarity is at least `floor`.

    Parameters
    ----------
    annotations : Annotations
    similarity : name in `SIMILARITIES`, a `Similarity`, or a function ``function(annotations, left, right)``
    floor : float in [0, 1]
        The lowest threshold anyone will need.

    Returns
    -------
    Pairs

    Examples
    --------
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 10, h]} for r, h in [("a", 10), ("b", 8)]]
    >>> pairs = compute_pairs(Annotations.from_rows(rows))
    >>> pairs.left.tolist(), pairs.right.tolist(), pairs.similarity.tolist()
    ([0], [1], [0.8])
    >>> len(compute_pairs(Annotations.from_rows([])))
    0
    """
    measure = get_similarity(similarity)
    floor = check_threshold(floor, "floor")
    none = np.zeros(0, np.intp)
    found = [(none, none, np.zeros(0))]
    column = measure.column(annotations) if len(annotations) else None
    for left, right in image_pairs(annotations):
        values = measure.values(column, left, column, right, floor)
        near = values >= floor
        found.append((left[near], right[near], values[near]))
    left, right, values = (np.concatenate(part) for part in zip(*found, strict=True))
    kind = measure.kind_in(annotations) if len(annotations) else measure.kind
    return Pairs(left, right, values, measure.name, floor, kind)


def with_pairs(
    annotations: Annotations, pairs: Pairs, take: Take = Borrowed
) -> Iterator[tuple[NDArray[np.intp], int, Annotations, Pairs]]:
    """Some images at a time: the rows of their annotations, their first image, their table, and their pairs in it.

    Images come in their order, and rows of an image in theirs. A small table comes whole, as it is.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 10, 9]} for r in "ab"]
    >>> annotations = Annotations.from_rows(rows)
    >>> [
    ...     (rows.tolist(), first, len(near))
    ...     for rows, first, _, near in with_pairs(annotations, compute_pairs(annotations))
    ... ]
    [([0, 1], 0, 1)]
    """
    if len(annotations) <= AT_ONCE:
        yield np.arange(len(annotations)), 0, annotations, pairs
        return
    by_image = ByImage(annotations)
    place = np.empty(len(annotations), np.intp)
    place[by_image.order] = np.arange(len(annotations))
    image = annotations.image[pairs.left]
    order = None if (image[1:] >= image[:-1]).all() else np.argsort(image, kind="stable")
    image = image if order is None else image[order]
    for first, last in by_image.blocks():
        chosen: Any = slice(*np.searchsorted(image, (first, last)))
        chosen = chosen if order is None else order[chosen]
        start = by_image.start[first]
        left, right = place[pairs.left[chosen]] - start, place[pairs.right[chosen]] - start
        near = replace(pairs, left=left, right=right, similarity=pairs.similarity[chosen])
        yield by_image.rows(first, last), first, by_image.table(first, last, take), near


def image_pairs(annotations: Annotations) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """All pairs of rows of one image and two raters, each once, about `BLOCK` at a time.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": rater, "category": "cat", "box": [0, 0, 9, 9]} for rater in "abb"]
    >>> [(left.tolist(), right.tolist()) for left, right in image_pairs(Annotations.from_rows(rows))]
    [([0, 0], [1, 2])]
    """
    order = np.lexsort((annotations.rater, annotations.image))
    image, rater = annotations.image[order], annotations.rater[order]
    # sorted by image and rater, the partners of a row are one run: from the next rater to the end of the image
    end_of_image = np.searchsorted(image, image, side="right")
    run = image * len(annotations.raters) + rater
    first = np.searchsorted(run, run, side="right")
    for left, right in blocks_of_runs(first, end_of_image - first):
        yield order[left], order[right]


def blocks_of_runs(
    first: NDArray[np.intp], count: NDArray[np.intp]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """`expand_runs`, about `BLOCK` positions at a time.

    Examples
    --------
    >>> [(owner.tolist(), position.tolist()) for owner, position in blocks_of_runs(np.array([5, 9]), np.array([2, 1]))]
    [([0, 0, 1], [5, 6, 9])]
    """
    edges = run_starts(count)
    cuts = np.minimum(np.searchsorted(edges, np.arange(0, edges[-1] + BLOCK, BLOCK)), len(count))
    for start, stop in pairwise(cuts):
        owner, position = expand_runs(first[start:stop], count[start:stop])
        yield start + owner, position
