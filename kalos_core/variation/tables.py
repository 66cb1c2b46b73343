"""What `variations` returns: findings, class confusions, and each annotation's own view."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, object_array
from kalos_core.pairs import Pairs

if TYPE_CHECKING:
    import pandas as pd

VARIATION_TYPES = (
    "correct",
    "merged",
    "merged_wrong_class",
    "wrong_class",
    "missing",
    "additional",
)
"""The variation types, from harmless to serious as a label's own view ranks them; `missing` is never on a label."""

CORRECT, MERGED, MERGED_WRONG_CLASS, WRONG_CLASS, MISSING, ADDITIONAL = range(6)


@dataclass(frozen=True, eq=False)
class Variations:
    """The findings of `variations`: F rows.

    Parameters
    ----------
    annotations : Annotations
    pairs : Pairs
        All pairs that touch.
    similarity_name : str
    threshold : float
    max_merge : int
    image, rater_a, rater_b : (F,) int
        Codes; rater_a comes before rater_b in the vocabulary and is read as the reference.
    type : (F,) str
        One of `VARIATION_TYPES`.
    similarity : (F,) float64
        Of the two sides, a merged side taken as the union of its annotations; NaN for missing and additional.
    rows_a, rows_b : (F,) tuples of int
        Rows of the annotations of either side, empty where that rater has none.

    Examples
    --------
    >>> from kalos_core import Annotations, variations
    >>> rows = [{"image": 1, "rater": r, "category": c, "box": [0, 0, 9, 9]} for r, c in [("a", "cat"), ("b", "dog")]]
    >>> found = variations(Annotations.from_rows(rows))
    >>> {name: count for name, count in found.counts().items() if count}
    {'wrong_class': 1}
    >>> found.confusions().to_pandas().values.tolist()
    [['cat', 'dog', 1]]
    """

    annotations: Annotations
    pairs: Pairs
    similarity_name: str
    threshold: float
    max_merge: int
    image: NDArray[np.intp]
    rater_a: NDArray[np.intp]
    rater_b: NDArray[np.intp]
    type: NDArray[np.str_]
    similarity: NDArray[np.float64]
    rows_a: NDArray[np.object_]
    rows_b: NDArray[np.object_]

    def __len__(self) -> int:
        return len(self.image)

    def counts(self) -> dict[str, int]:
        """How many findings there are of each type."""
        return {name: int((self.type == name).sum()) for name in VARIATION_TYPES}

    def counts_by_rater(self) -> dict[str, dict[str, int]]:
        """The findings each rater takes part in, by type as seen from that rater.

        What only this rater annotated is `additional`, what only the other annotated is `missing`.
        """
        annotated_a = np.array([bool(rows) for rows in self.rows_a], dtype=np.bool_)
        single = np.isin(self.type, ("missing", "additional"))
        views = []
        for rater, annotated in ((self.rater_a, annotated_a), (self.rater_b, ~annotated_a)):
            views.append((rater, np.where(single, np.where(annotated, "additional", "missing"), self.type)))
        return {
            str(name): {
                kind: sum(int(((rater == code) & (seen == kind)).sum()) for rater, seen in views)
                for kind in VARIATION_TYPES
            }
            for code, name in enumerate(self.annotations.raters)
        }

    def confusions(self) -> Confusions:
        """Which classes were taken for which, in `wrong_class` and `merged_wrong_class` findings; most often first."""
        chosen = np.flatnonzero(np.isin(self.type, ("wrong_class", "merged_wrong_class")))
        pairs = np.array(
            [sorted((self._category(self.rows_a[f]), self._category(self.rows_b[f]))) for f in chosen],
            dtype=np.intp,
        ).reshape(-1, 2)
        distinct, inverse, count = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
        order = np.lexsort((distinct[:, 1], distinct[:, 0], -count))
        position = np.empty(len(order), np.intp)
        position[order] = np.arange(len(order))
        names = self.annotations.categories
        return Confusions(
            category_a=names[distinct[order, 0]],
            category_b=names[distinct[order, 1]],
            count=count[order],
            findings=object_array(
                [tuple(map(int, chosen[position[inverse.reshape(-1)] == number])) for number in range(len(order))]
            ),
        )

    def _category(self, rows: tuple[int, ...]) -> int:
        return int(self.annotations.category[rows[0]])

    def of_annotations(self) -> AnnotationVariations:
        """Each annotation's own view over all other raters assigned to its image."""
        n = len(self.annotations)
        worst = np.full(n, -1, np.intp)
        least = np.full(n, np.nan)
        matches: list[list[int]] = [[] for _ in range(n)]
        seriousness = {name: rank for rank, name in enumerate(VARIATION_TYPES)}
        for name, similarity, rows_a, rows_b in zip(self.type, self.similarity, self.rows_a, self.rows_b, strict=True):
            rank = ADDITIONAL if name == "missing" else seriousness[str(name)]
            for own, other in ((rows_a, rows_b), (rows_b, rows_a)):
                for row in own:
                    worst[row] = max(worst[row], rank)
                    least[row] = np.fmin(least[row], similarity)
                    matches[row].extend(other)
        names = np.array([*VARIATION_TYPES, ""])
        return AnnotationVariations(type=names[worst], similarity=least, matches=object_array(map(tuple, matches)))

    @cached_property
    def identical_share(self) -> float:
        """Share of correct findings with similarity exactly 1: many of them mean that labels were copied."""
        correct = self.similarity[self.type == "correct"]
        return float((correct == 1).mean()) if len(correct) else float("nan")

    def to_pandas(self) -> pd.DataFrame:
        """One row a finding, with names and ids instead of codes and rows."""
        import pandas as pd

        ids = self.annotations.id
        return pd.DataFrame(
            {
                "image": self.annotations.images[self.image],
                "rater_a": self.annotations.raters[self.rater_a],
                "rater_b": self.annotations.raters[self.rater_b],
                "type": self.type,
                "similarity": self.similarity,
                "ids_a": [ids[list(rows)].tolist() for rows in self.rows_a],
                "ids_b": [ids[list(rows)].tolist() for rows in self.rows_b],
            }
        )


@dataclass(frozen=True, eq=False)
class Confusions:
    """Pairs of classes taken for one another: names, how often, and which findings (rows of `Variations`)."""

    category_a: NDArray[np.object_]
    category_b: NDArray[np.object_]
    count: NDArray[np.intp]
    findings: NDArray[np.object_]

    def to_pandas(self) -> pd.DataFrame:
        """One row a pair of classes."""
        import pandas as pd

        return pd.DataFrame({"category_a": self.category_a, "category_b": self.category_b, "count": self.count})


@dataclass(frozen=True, eq=False)
class AnnotationVariations:
    """What each of N annotations looks like from its own side.

    Parameters
    ----------
    type : (N,) str
        The most serious over all other raters (additional > wrong_class > merged_wrong_class > merged > correct);
        "" where nobody else was assigned.
    similarity : (N,) float64
        The least similarity to a partner; NaN without any.
    matches : (N,) tuples of int
        Rows of all partners.
    """

    type: NDArray[np.str_]
    similarity: NDArray[np.float64]
    matches: NDArray[np.object_]
