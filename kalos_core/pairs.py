"""Pairs of annotations of two raters in one image, with their similarity; computed once and reused everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.annotations.blocks import AT_ONCE, ByImage, Take
from kalos_core.arrays import blocks_of_runs, run_ends, short
from kalos_core.display import number_of
from kalos_core.errors import InputError, check_number, repr_of, warn
from kalos_core.limits import check_limit
from kalos_core.options import checked
from kalos_core.results import Result
from kalos_core.shapes.borrowed import Borrowed
from kalos_core.similarity import SIMILARITIES, Similarity
from kalos_core.similarity.fitting import ComparedBy, measure_for

MANY_CANDIDATES = 1_000_000
"""Candidates in one image above which `compute_pairs` warns about the cost of matching."""

MANY_COMPARED = 20_000_000
"""Pairs in one image above which `compute_pairs` warns before comparing them."""

COSTS_OF_A_MILLION = "each million takes about 0.3 s with greedy, 10 s with shm, and 100 MB"
"""Cost of matching candidates."""


@dataclass(frozen=True, eq=False, repr=False)
class Pairs(Result):
    """P pairs of annotations with a similarity of at least a floor.

    Figures: ``"similarities"``.

    Parameters
    ----------
    left, right : (P,) int
        Rows of the annotations; both in one image, of two raters.
    similarity : (P,) float64 in [0, 1]
    name : str
        Name of the similarity.
    floor : float
        Smallest similarity that was kept; thresholds must be at least this.
    kind : str, optional
        Shape kind that was compared; it breaks ties. By default the kind of the named similarity.

    Examples
    --------
    >>> pairs = Pairs(np.array([0, 0]), np.array([1, 2]), np.array([0.9, 0.6]), "box_iou", floor=0.5)
    >>> len(pairs), len(pairs.at_least(0.75)), pairs.kind
    (2, 1, 'box')
    """

    _call = "compute_pairs(annotations)"
    _columns = "left right similarity"
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
        """Return the pairs that reach `threshold`, which must not be below the floor."""
        threshold = check_number(threshold, "threshold", 0, 1)
        if threshold < self.floor:
            raise InputError(
                f"threshold: expected at least {self.floor}, from which these pairs were computed, got {threshold}"
            )
        return self.keep(self.similarity >= threshold, threshold)

    def keep(self, chosen: NDArray[np.bool_], floor: float | None = None) -> Pairs:
        """Return the pairs selected by a mask (P,)."""
        floor = self.floor if floor is None else floor
        return Pairs(self.left[chosen], self.right[chosen], self.similarity[chosen], self.name, floor, self.kind)

    def within(self, annotations: Annotations, images: NDArray[np.bool_]) -> Pairs:
        """Return the pairs of some images (I,), as rows of ``annotations.select(images=images)``.

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
        """Finding, in words."""
        return f"{number_of(len(self.left), 'pair')} of annotations, {self.name}"


@checked
def compute_pairs(
    annotations: Annotations,
    similarity: ComparedBy = "auto",
    floor: float = 0.5,
    *,
    same_class: bool = False,
) -> Pairs:
    """Compute all pairs of annotations of two raters in one image whose similarity is at least `floor`.

    Parameters
    ----------
    annotations : Annotations
    similarity : name in `SIMILARITIES`, a `Similarity`, or a function ``function(annotations, left, right)``
    floor : float in [0, 1]
        Lowest threshold that any later step needs.
    same_class : bool
        Only compute pairs of one class, for analyses that compare no others.

    Returns
    -------
    Pairs

    Raises
    ------
    InputError
        If there are more candidates than the environment variable ``KALOS_MOST_CANDIDATES`` allows (500 million).

    Warns
    -----
    KalosWarning
        Before comparing, if an image has more than `MANY_COMPARED` (20 million) pairs; and before matching, if more
        than `MANY_CANDIDATES` (a million) pairs of one image reach the floor. Two raters reach that with 1,000
        overlapping annotations each; most often, annotations were loaded twice.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 10, h]} for r, h in [("a", 10), ("b", 8)]]
    >>> pairs = compute_pairs(Annotations.from_rows(rows))
    >>> pairs.left.tolist(), pairs.right.tolist(), pairs.similarity.tolist()
    ([0], [1], [0.8])
    >>> len(compute_pairs(Annotations.from_rows([])))
    0
    """
    measure = measure_for(similarity, annotations)
    return pairs_of(annotations, measure, check_number(floor, "floor", 0, 1), same_class=same_class)


def pairs_of(annotations: Annotations, measure: Similarity, floor: float, *, same_class: bool = False) -> Pairs:
    """Compute pairs (see `compute_pairs`) with a resolved similarity and a checked floor."""
    none = np.zeros(0, np.intp)
    found, many = [(none, none, np.zeros(0))], 0
    _warn_of_many(annotations, _most_pairs(annotations), MANY_COMPARED, "pairs to compare")
    column = measure.column(annotations) if len(annotations) else None
    for left, right in image_pairs(annotations, same_class=same_class):
        values = measure.values(column, left, column, right, floor)
        near = np.flatnonzero(values >= floor)
        found.append((left.take(near), right.take(near), values.take(near)))
        many += len(found[-1][0])
        check_limit("KALOS_MOST_CANDIDATES", many, f"annotations: {measure.name} of at least {floor:.3g}")
    left, right, values = (np.concatenate(part) for part in zip(*found, strict=True))
    kind = measure.kind_in(annotations) if len(annotations) else measure.kind
    candidates = np.bincount(annotations.image[left], minlength=len(annotations.images))
    _warn_of_many(annotations, candidates, MANY_CANDIDATES, f"candidates ({measure.name} of at least {floor:.3g})")
    return Pairs(left, right, values, measure.name, floor, kind)


def pairs_from(
    annotations: Annotations, measure: Similarity, floor: float, given: Pairs | None, *, same_class: bool = False
) -> Pairs:
    """Return the given pairs after checks, or compute pairs with a similarity of at least `floor`.

    Raises
    ------
    InputError
        If the given pairs have another similarity or belong to another table.
    """
    if given is None:
        return pairs_of(annotations, measure, floor, same_class=same_class)
    if given.name != measure.name:
        raise InputError(f"pairs: expected pairs of {measure.name!r}, got {repr_of(given.name)}")
    last = max(given.left.max(initial=-1), given.right.max(initial=-1))
    if last >= len(annotations):
        raise InputError(
            f"pairs: expected pairs of these {len(annotations):,} annotations, got one of the {last + 1:,}th"
        )
    return given


def _most_pairs(annotations: Annotations) -> NDArray[np.intp]:
    """Return (I,) the number of pairs of annotations of two raters; 0 for images that certainly have few."""
    size = np.bincount(annotations.image, minlength=len(annotations.images))
    crowded = np.flatnonzero(size**2 > 2 * MANY_COMPARED)
    pairs = np.zeros_like(size)
    for image in crowded.tolist():
        own = np.bincount(annotations.rater[annotations.image == image])
        pairs[image] = (size[image] ** 2 - (own**2).sum()) // 2
    return pairs


def _warn_of_many(annotations: Annotations, counts: NDArray[np.intp], limit: int, what: str) -> None:
    """Warn about the image with the highest count, if it is above the limit."""
    if counts.max(initial=0) <= limit:
        return
    image = int(counts.argmax())
    beyond = np.count_nonzero(counts > limit)
    warn(
        f"annotations: {counts[image]:,} {what} among the {np.count_nonzero(annotations.image == image):,} annotations "
        f"of image {annotations.images[image]!r}"
        + (f" ({beyond:,} images have more than {limit:,})" if beyond > 1 else "")
        + f": {COSTS_OF_A_MILLION}. If annotations were loaded twice, remove the duplicates; otherwise raise "
        "the threshold"
    )


def with_pairs(
    annotations: Annotations, pairs: Pairs, threshold: float, take: Take = Borrowed
) -> Iterator[tuple[NDArray[np.intp], int, Annotations, Pairs]]:
    """Yield blocks of images: rows of their annotations, their first image, their table, and their pairs in it.

    Only pairs that reach the threshold are included. Images are in order, and so are the rows of each image. A
    small table is yielded whole, without a copy.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 10, 9]} for r in "ab"]
    >>> annotations = Annotations.from_rows(rows)
    >>> [
    ...     (rows.tolist(), first, len(near))
    ...     for rows, first, _, near in with_pairs(annotations, compute_pairs(annotations), 0.5)
    ... ]
    [([0, 1], 0, 1)]
    """
    if len(annotations) <= AT_ONCE:
        yield np.arange(len(annotations)), 0, annotations, pairs.at_least(threshold)
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
        yield by_image.rows(first, last), first, by_image.table(first, last, take), near.at_least(threshold)


def image_pairs(
    annotations: Annotations, *, same_class: bool = False
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield all pairs of rows of one image and two raters (and one class) once, in blocks; see `blocks_of_runs`.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": rater, "category": "cat", "box": [0, 0, 9, 9]} for rater in "abb"]
    >>> [(left.tolist(), right.tolist()) for left, right in image_pairs(Annotations.from_rows(rows))]
    [([0, 0], [1, 2])]
    """
    codes = (annotations.rater, *((annotations.category,) if same_class else ()), annotations.image)
    order = np.lexsort([short(code) for code in codes])
    place = annotations.image[order]
    if same_class:
        place = place * len(annotations.categories) + annotations.category[order]
    # rows sorted by place and rater: the partners of a row are one run, from the next rater to the end of the place
    first = run_ends(place * len(annotations.raters) + annotations.rater[order])
    for left, right in blocks_of_runs(first, run_ends(place) - first):
        yield order.take(left), order.take(right)
