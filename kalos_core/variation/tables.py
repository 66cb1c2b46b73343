"""What `variations` returns: findings, class confusions, and each annotation's own view."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, object_array
from kalos_core.arrays import expand_runs
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
        count, annotated_a = len(VARIATION_TYPES), _lengths(self.rows_a) > 0
        single = np.isin(self._code, (MISSING, ADDITIONAL))
        table = np.zeros((len(self.annotations.raters), count), np.intp)
        for rater, annotated in ((self.rater_a, annotated_a), (self.rater_b, ~annotated_a)):
            seen = np.where(single, np.where(annotated, ADDITIONAL, MISSING), self._code)
            table += np.bincount(rater * count + seen, minlength=table.size).reshape(table.shape)
        return {
            str(name): dict(zip(VARIATION_TYPES, of_rater, strict=True))
            for name, of_rater in zip(self.annotations.raters, table.tolist(), strict=True)
        }

    def rates(self) -> dict[str, dict[str, float]]:
        """The findings of `counts_by_rater` for every 100 annotations of the rater's own; NaN without any.

        Raters who annotated more or fewer images can be compared so. With R raters an annotation is in R - 1 findings.

        Examples
        --------
        >>> from kalos_core import Annotations, variations
        >>> boxes = [("ann", 0), ("ann", 50), ("bob", 0)]
        >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [x, 0, 9, 9]} for r, x in boxes]
        >>> rates = variations(Annotations.from_rows(rows)).rates()
        >>> rates["ann"]["additional"], rates["bob"]["missing"]
        (50.0, 100.0)
        """
        own = np.bincount(self.annotations.rater, minlength=len(self.annotations.raters)).tolist()
        return {
            rater: {name: 100 * found / count if count else math.nan for name, found in counts.items()}
            for (rater, counts), count in zip(self.counts_by_rater().items(), own, strict=True)
        }

    @cached_property
    def _code(self) -> NDArray[np.intp]:
        """(F,) the index of each type in `VARIATION_TYPES`."""
        return np.select([self.type == name for name in VARIATION_TYPES], np.arange(len(VARIATION_TYPES)))

    @cached_property
    def members(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Of each annotation of each finding, and each annotation on its other side: the finding and the two rows.

        The other row is -1 where nothing is on the other side.
        """
        finding, own, other = (
            np.concatenate(columns)
            for columns in zip(_crossed(self.rows_a, self.rows_b), _crossed(self.rows_b, self.rows_a), strict=True)
        )
        order = np.argsort(finding, kind="stable")
        return finding[order], own[order], other[order]

    @cached_property
    def merged(self) -> Merged:
        """The findings of types ``merged`` and ``merged_wrong_class``, each as a whole and its parts."""
        table, finding = self.annotations, np.flatnonzero(np.isin(self._code, (MERGED, MERGED_WRONG_CLASS)))
        sides = [sorted((self.rows_a[row], self.rows_b[row]), key=len) for row in finding]
        whole = np.array([rows for (rows,), _ in sides], np.intp)
        first = np.array([rows[0] for _, rows in sides], np.intp)
        part = np.fromiter(chain.from_iterable(rows for _, rows in sides), np.intp)
        return Merged(
            finding=finding,
            type=self.type[finding],
            image=table.images[self.image[finding]],
            similarity=self.similarity[finding],
            whole_rater=table.raters[table.rater[whole]],
            whole_category=table.categories[table.category[whole]],
            whole=table.id[whole],
            parts_rater=table.raters[table.rater[first]],
            parts_category=table.categories[table.category[first]],
            part=table.id[part],
            start=np.append(0, np.cumsum([len(rows) for _, rows in sides], dtype=np.intp)),
        )

    def split_by(self) -> dict[str, int]:
        """How many annotations of others each rater split into parts.

        Examples
        --------
        >>> from kalos_core import Annotations, variations
        >>> boxes = [("ann", [0, 0, 8, 4]), ("bob", [0, 0, 4, 4]), ("bob", [4, 0, 4, 4])]
        >>> rows = [{"image": 1, "rater": rater, "category": "cat", "box": box} for rater, box in boxes]
        >>> variations(Annotations.from_rows(rows), threshold=0.6).split_by()
        {'ann': 0, 'bob': 1}
        """
        found = Counter(self.merged.parts_rater)
        return {str(rater): found[rater] for rater in self.annotations.raters}

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
        finding, row, other = self.members
        rank = np.where(self._code == MISSING, ADDITIONAL, self._code)
        worst = np.full(len(self.annotations), -1, np.intp)
        np.maximum.at(worst, row, rank[finding])
        least = np.full(len(self.annotations), np.nan)
        np.fmin.at(least, row, self.similarity[finding])
        there = other >= 0
        row, other = row[there], other[there]
        order = np.argsort(row, kind="stable")
        start = np.searchsorted(row[order], np.arange(len(self.annotations) + 1)).tolist()
        matches = other[order].tolist()
        names = np.array([*VARIATION_TYPES, ""])
        return AnnotationVariations(
            type=names[worst],
            similarity=least,
            matches=object_array(tuple(matches[begin:end]) for begin, end in pairwise(start)),
        )

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


def _lengths(rows: NDArray[np.object_]) -> NDArray[np.intp]:
    return np.fromiter(map(len, rows), np.intp, len(rows))


def _crossed(
    own: NDArray[np.object_], other: NDArray[np.object_]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Every row of one side with every row of the other, -1 where it has none: finding, own row, other row."""
    owns, others = _lengths(own), _lengths(other)
    rows, theirs = (np.fromiter(chain.from_iterable(side), np.intp) for side in (own, other))
    theirs = np.append(theirs, -1)
    first = np.where(others > 0, np.cumsum(others) - others, len(theirs) - 1)
    finding = np.repeat(np.arange(len(own)), owns)
    times = np.maximum(others, 1)[finding]
    return np.repeat(finding, times), np.repeat(rows, times), theirs[expand_runs(first[finding], times)[1]]


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
class Merged:
    """M findings of one annotation, the whole, that several of another rater match together: P parts in all.

    Parameters
    ----------
    finding : (M,) int
        Rows of `Variations`.
    type : (M,) str
        ``merged`` or ``merged_wrong_class``.
    image : (M,) object
    similarity : (M,) float64
        Of the whole to the union of its parts.
    whole_rater, whole_category, whole : (M,) object
        Of the one annotation; `whole` is its id.
    parts_rater, parts_category : (M,) object
        Of the several, which are all of one class.
    part : (P,) object
        Their ids, finding after finding.
    start : (M + 1,) int
        Where the parts of a finding begin.

    Examples
    --------
    >>> from kalos_core import Annotations, variations
    >>> boxes = [("ann", [0, 0, 4, 4]), ("ann", [4, 0, 4, 4]), ("bob", [0, 0, 8, 4])]
    >>> rows = [{"image": 1, "rater": rater, "category": "cat", "box": box} for rater, box in boxes]
    >>> found = variations(Annotations.from_rows(rows), threshold=0.6).merged
    >>> found.whole_rater.tolist(), found.parts_rater.tolist(), found.parts.tolist(), found.parts_of(0)
    (['bob'], ['ann'], [2], [1, 2])
    """

    finding: NDArray[np.intp]
    type: NDArray[np.str_]
    image: NDArray[np.object_]
    similarity: NDArray[np.float64]
    whole_rater: NDArray[np.object_]
    whole_category: NDArray[np.object_]
    whole: NDArray[np.object_]
    parts_rater: NDArray[np.object_]
    parts_category: NDArray[np.object_]
    part: NDArray[np.object_]
    start: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.finding)

    @property
    def parts(self) -> NDArray[np.intp]:
        """(M,) how many parts each whole has."""
        return np.diff(self.start)

    def parts_of(self, row: int) -> list[Any]:
        """Ids of the parts of one of them."""
        ids: list[Any] = self.part[self.start[row] : self.start[row + 1]].tolist()
        return ids

    def members(self, row: int) -> dict[str, list[Any]]:
        """Rater -> ids of the annotations of one of them: the whole, then its parts."""
        return {self.whole_rater[row]: [self.whole[row]], self.parts_rater[row]: self.parts_of(row)}

    @property
    def most_parts_first(self) -> NDArray[np.intp]:
        """(M,) rows in their order: the most parts first, of as many the least similar first."""
        return np.lexsort((self.similarity, -self.parts))

    def to_pandas(self) -> pd.DataFrame:
        """One row each, in the order of `most_parts_first`: ``number`` is its row here, ``parts`` how many."""
        import pandas as pd

        names = (
            "type",
            "image",
            "similarity",
            "whole_rater",
            "whole_category",
            "parts_rater",
            "parts_category",
            "parts",
        )
        columns = {name: getattr(self, name) for name in names}
        return pd.DataFrame({"number": np.arange(len(self)), **columns}).iloc[self.most_parts_first]


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
