"""The search for variations, as one call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import check_comparable
from kalos_core.annotations import Annotations
from kalos_core.arguments import check_arguments
from kalos_core.arrays import run_starts
from kalos_core.errors import InputError, check_whole
from kalos_core.pairs import Pairs, pairs_from, with_pairs
from kalos_core.shapes import ShapeColumn
from kalos_core.similarity import Similarity, check_threshold
from kalos_core.similarity.fitting import ComparedBy, measure_for
from kalos_core.variation.search import Ground, Search
from kalos_core.variation.tables import CORRECT, MERGED, MERGED_WRONG_CLASS, WRONG_CLASS, Variations

TOUCHING = float(np.nextafter(0.0, 1.0))
"""Floor of the pairs a merge is made of: any similarity at all."""


def variations(
    annotations: Annotations,
    similarity: ComparedBy = "auto",
    threshold: float = 0.5,
    max_merge: int = 4,
    *,
    pairs: Pairs | None = None,
) -> Variations:
    """Name every difference between each two raters of each image (label convergence, App. C).

    Parameters
    ----------
    annotations : Annotations
    similarity : name in `SIMILARITIES`, a `Similarity`, or a function ``function(annotations, left, right)``
    threshold : float in (0, 1]
        Least similarity at which two sides are the same object.
    max_merge : int, at least 1
        How many annotations of one rater may together match one of the other. 2 is what the authors' extension does;
        larger ones grow from the best couple of each annotation, one by one, each time by the annotation that raises
        the similarity most or at least does not lower it (a part inside the whole). 1: no merges. The bounds of every
        merged annotation overlap those of the one it is matched to, whatever the similarity. The union of boxes is the
        box that encloses them. A similarity of shapes that cannot be joined (`Similarity.merges`) finds no merges.
    pairs : Pairs, optional
        Pairs already computed from `TOUCHING` upwards, of these annotations.

    Returns
    -------
    Variations
        Sorted by image, pair of raters, type and similarity. A class the other rater is not assigned to is no finding.

    Raises
    ------
    InputError
        For fewer than two raters, no image, a threshold outside (0, 1] or `max_merge` below 1.

    Examples
    --------
    One bench by ann, annotated as two halves by bob, and a dog only bob saw:

    >>> found = variations(
    ...     Annotations.from_rows(
    ...         [
    ...             {"image": 1, "rater": "ann", "category": "bench", "box": [0, 0, 20, 10]},
    ...             {"image": 1, "rater": "bob", "category": "bench", "box": [0, 0, 9, 10]},
    ...             {"image": 1, "rater": "bob", "category": "bench", "box": [11, 0, 9, 10]},
    ...             {"image": 1, "rater": "bob", "category": "dog", "box": [50, 0, 5, 5]},
    ...         ]
    ...     )
    ... )
    >>> list(zip(found.type.tolist(), found.rows_a, found.rows_b))
    [('merged', (0,), (1, 2)), ('additional', (), (3,))]
    """
    check_arguments(variations, locals())
    measure = measure_for(similarity, annotations)
    near = checked_pairs(annotations, measure, threshold, max_merge, pairs)
    parts = [
        search.table(rows, first)
        for rows, first, search in searches(annotations, measure, near, [float(threshold)], max_merge)
    ]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    side_start = run_starts(columns.pop("side_size"))
    return Variations(annotations, near, measure.name, float(threshold), max_merge, side_start=side_start, **columns)


def checked_pairs(
    annotations: Annotations, measure: Similarity, threshold: float, max_merge: int, pairs: Pairs | None
) -> Pairs:
    """All pairs that touch, once the parameters of `variations` are checked."""
    check_search(threshold, max_merge)
    check_comparable(annotations)
    near = pairs_from(annotations, measure, TOUCHING, pairs)
    return near if near.floor == TOUCHING else near.at_least(TOUCHING)


def check_search(threshold: float, max_merge: int) -> float:
    """The threshold of `variations`, once it and `max_merge` are checked."""
    threshold = check_threshold(threshold)
    check_whole(max_merge, "max_merge", least=1)
    if threshold == 0:
        raise InputError("threshold: expected a similarity above 0, got 0: annotations that do not touch would match")
    return threshold


def searches(
    annotations: Annotations, measure: Similarity, pairs: Pairs, thresholds: Sequence[float], max_merge: int
) -> Iterator[tuple[NDArray[np.intp], int, Search]]:
    """The search of `variations`, done, some images at a time and for these at each threshold in turn.

    With it the rows of their annotations and their first image.
    """
    least = min(thresholds) if len(thresholds) > 1 else None
    for rows, first, table, near in with_pairs(annotations, pairs, _taken):
        ground = Ground(table, measure, near, least)
        for threshold in thresholds:
            search = Search(ground, threshold)
            search.match(same_class=True, found=CORRECT)
            search.merge(same_class=True, found=MERGED, max_merge=max_merge)
            search.match(same_class=False, found=WRONG_CLASS)
            search.merge(same_class=False, found=MERGED_WRONG_CLASS, max_merge=max_merge)
            search.leave_rest()
            yield rows, first, search


def _taken(column: ShapeColumn, rows: NDArray[np.intp]) -> ShapeColumn:
    return column.take(rows)
