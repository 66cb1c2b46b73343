"""Search for variations in one call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import check_comparable
from kalos_core.annotations import Annotations
from kalos_core.arrays import run_starts
from kalos_core.options import Option, Settings, takes
from kalos_core.pairs import Pairs, pairs_from, with_pairs
from kalos_core.shapes import ShapeColumn
from kalos_core.sharding import Sharded, kinds_of
from kalos_core.similarity import Similarity
from kalos_core.similarity.fitting import ComparedBy, measure_for, sent
from kalos_core.variation.rates import CORRECT, MERGED, MERGED_WRONG_CLASS, WRONG_CLASS
from kalos_core.variation.search import Ground, Search
from kalos_core.variation.tables import VariationPart, Variations

TOUCHING = float(np.nextafter(0.0, 1.0))
"""Floor of the pairs for merges: any positive similarity."""


SameObject = Annotated[
    float,
    Option(
        "Threshold τ_s",
        "Minimum similarity at which annotations of two raters are the same object.",
        above=0,
        high=1,
    ),
]
MaxMerge = Annotated[
    int,
    Option(
        "Maximum size of a merge",
        "Maximum number of annotations of one rater that together match one of another; 1: no merges.",
        low=1,
    ),
]


@dataclass(frozen=True)
class VariationSettings(Settings):
    """Settings of the search for variations."""

    similarity: ComparedBy = "auto"
    threshold: SameObject = 0.5
    max_merge: MaxMerge = 4


@dataclass(frozen=True)
class VariationArguments(VariationSettings):
    """Arguments of `variations`: its settings, and pairs computed earlier."""

    pairs: Pairs | None = field(default=None, kw_only=True)


@takes(VariationArguments)
def variations(annotations: Annotations | Sharded[Annotations], settings: VariationArguments) -> Variations:
    """Find and classify every difference between each two raters in each image (label convergence, App. C).

    Parameters
    ----------
    annotations : Annotations, or shards of them
    pairs : Pairs, optional
        Pairs of these annotations computed earlier from `TOUCHING` upwards; not allowed with shards.

    Returns
    -------
    Variations
        Sorted by image, pair of raters, type and similarity. A class that the other rater is not assigned to gives no
        finding. Results of shards hold no annotations: counts, rates and confusions are available, ids are not.

    Notes
    -----
    With `max_merge` 2, merges are as in the authors' extension. Larger merges grow from the best couple of each
    annotation, one annotation at a time: the one that raises the similarity most, or at least does not lower it (a part
    inside the whole). The bounds of every merged annotation overlap those of its counterpart, for any similarity. The
    union of boxes is their enclosing box. If the shapes of a similarity cannot be joined (`Similarity.merges`), there
    are no merges.

    Raises
    ------
    InputError
        If there are fewer than two raters, no image, a threshold outside (0, 1], or `max_merge` below 1.

    Examples
    --------
    One bench by ann, which bob annotated as two halves, and a dog that only bob annotated:

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
    measure = measure_for(settings.similarity, kinds_of(annotations))
    threshold, most = settings.threshold, settings.max_merge
    if isinstance(annotations, Sharded):
        known = check_comparable(annotations, settings.pairs)
        chosen = settings.part(VariationSettings, similarity=sent(measure))
        found = annotations.parts(partial(_shard_part, settings=chosen), "Variations")
        return _of_shards(known, measure.name, chosen, VariationPart.merged(found, annotations.starts))
    near = touching_pairs(annotations, measure, settings.pairs)
    parts = [
        search.table(rows, first) for rows, first, search in searches(annotations, measure, near, [threshold], most)
    ]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    side_start = run_starts(columns.pop("side_size"))
    return Variations(annotations, near, measure.name, threshold, most, side_start=side_start, **columns)


def _shard_part(annotations: Annotations, settings: VariationSettings) -> VariationPart:
    return VariationPart.of(variations(annotations, **settings.record()))


def _of_shards(known: Annotations, similarity: str, settings: VariationSettings, part: VariationPart) -> Variations:
    none = np.zeros(0, np.intp)
    made = Variations(
        annotations=known,
        pairs=Pairs(none, none, np.zeros(0), similarity, TOUCHING),
        similarity_name=similarity,
        threshold=settings.threshold,
        max_merge=settings.max_merge,
        **part.columns,
        side_start=run_starts(part.side_size),
        side_row=none,
    )
    object.__setattr__(made, "of_shards", part)
    return made


def touching_pairs(annotations: Annotations, measure: Similarity, pairs: Pairs | None) -> Pairs:
    """Return all pairs that touch, for annotations that can be compared."""
    check_comparable(annotations)
    near = pairs_from(annotations, measure, TOUCHING, pairs)
    return near if near.floor == TOUCHING else near.at_least(TOUCHING)


def searches(
    annotations: Annotations, measure: Similarity, pairs: Pairs, thresholds: Sequence[float], max_merge: int
) -> Iterator[tuple[NDArray[np.intp], int, Search]]:
    """Run the search of `variations` for blocks of images, at each threshold in turn.

    Yields the rows of the block's annotations, its first image, and the completed search.
    """
    least = min(thresholds) if len(thresholds) > 1 else None
    for rows, first, table, near in with_pairs(annotations, pairs, pairs.floor, _taken):
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
