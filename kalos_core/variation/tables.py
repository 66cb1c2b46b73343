"""Results of `variations`: findings, class confusions, and the view of each annotation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, object_array
from kalos_core.arrays import expand_runs, find_sorted, run_starts
from kalos_core.display import VARIATION_LABELS, number_of
from kalos_core.errors import InputError
from kalos_core.pairs import Pairs
from kalos_core.results import Result
from kalos_core.variation.rates import (
    ADDITIONAL,
    CORRECT,
    MERGED,
    MERGED_WRONG_CLASS,
    MISSING,
    VARIATION_TYPES,
    WRONG_CLASS,
    ByOthers,
    RaterRates,
    rater_rates,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Variations(Result):
    """F findings of `variations`.

    Figures: ``"types"``.

    Parameters
    ----------
    annotations : Annotations
    pairs : Pairs
        All pairs that touch.
    similarity_name : str
    threshold : float
    max_merge : int
    image, rater_a, rater_b : (F,) int
        Codes; rater_a comes first in the vocabulary and is treated as the reference.
    type_code : (F,) int8
        Index of the type in `VARIATION_TYPES`.
    similarity : (F,) float64
        Similarity of the two sides; a merged side is the union of its annotations. NaN for missing and additional.
    side_start : (2 F + 1,) int
        Start of the annotations of each side in `side_row`: side a of the first finding, its side b, side a of the
        second, and so on; the end is appended.
    side_row : (M,) int
        Rows of the annotations of all sides.

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

    _call = "variations(annotations)"
    _shows_table = False

    annotations: Annotations
    pairs: Pairs
    similarity_name: str
    threshold: float
    max_merge: int
    image: NDArray[np.intp]
    rater_a: NDArray[np.intp]
    rater_b: NDArray[np.intp]
    type_code: NDArray[np.int8]
    similarity: NDArray[np.float64]
    side_start: NDArray[np.intp]
    side_row: NDArray[np.intp]
    of_shards: VariationPart | None = field(default=None, init=False)

    def __len__(self) -> int:
        return len(self.image)

    def check_rows(self) -> None:
        """Check that the annotations of findings are available.

        Raises
        ------
        InputError
            If the findings are those of shards.
        """
        if self.of_shards is not None:
            raise InputError(
                "variations: expected the findings of one table, got those of shards; call "
                "variations(next(iter(shards)).read()) for a single shard"
            )

    @cached_property
    def by_others(self) -> ByOthers:
        """Findings of each annotation towards all others, and the objects that they form."""
        self.check_rows()
        return ByOthers.of(self)

    @property
    def type(self) -> NDArray[np.str_]:
        """(F,) one of `VARIATION_TYPES`; created at each access."""
        return np.array(VARIATION_TYPES)[self.type_code]

    @cached_property
    def rows_a(self) -> NDArray[np.object_]:
        """(F,) tuples of int: rows of the annotations on side a, empty if that rater has none."""
        return self._rows(0)

    @cached_property
    def rows_b(self) -> NDArray[np.object_]:
        """(F,) tuples of int: rows of the annotations on side b, empty if that rater has none."""
        return self._rows(1)

    def _rows(self, side: int) -> NDArray[np.object_]:
        self.check_rows()
        start, rows = self.side_start.tolist(), self.side_row.tolist()
        return object_array(tuple(rows[start[at] : start[at + 1]]) for at in range(side, 2 * len(self), 2))

    @property
    def side_sizes(self) -> NDArray[np.intp]:
        """(F, 2) number of annotations on each side."""
        return np.diff(self.side_start).reshape(-1, 2)

    @property
    def is_merged(self) -> NDArray[np.bool_]:
        """(F,) whether one annotation of one rater matches several of the other."""
        return np.isin(self.type_code, (MERGED, MERGED_WRONG_CLASS))

    @property
    def is_confused(self) -> NDArray[np.bool_]:
        """(F,) whether the two sides have different classes."""
        return np.isin(self.type_code, (WRONG_CLASS, MERGED_WRONG_CLASS))

    @property
    def confused_classes(self) -> NDArray[np.intp]:
        """(F', 2) classes of both sides, for the findings with different classes."""
        if self.of_shards is not None:
            return self.of_shards.confused_classes
        first = 2 * np.flatnonzero(self.is_confused)[:, None] + (0, 1)
        return np.asarray(self.annotations.category[self.side_row[self.side_start[first]]])

    def by_pair(self) -> NDArray[np.intp]:
        """Return (R, R, T) the number of findings by rater_a, rater_b and type."""
        shape = len(self.annotations.raters), len(self.annotations.raters), len(VARIATION_TYPES)
        key = (self.rater_a * shape[1] + self.rater_b) * shape[2] + self.type_code
        return np.bincount(key, minlength=int(np.prod(shape))).reshape(shape)

    def by_image(self) -> NDArray[np.intp]:
        """Return (I, T) the number of findings by image and type."""
        shape = len(self.annotations.images), len(VARIATION_TYPES)
        return np.bincount(self.image * shape[1] + self.type_code, minlength=int(np.prod(shape))).reshape(shape)

    @property
    def annotations_of_raters(self) -> NDArray[np.intp]:
        """(R,) number of annotations of each rater."""
        if self.of_shards is not None:
            return self.of_shards.annotations_of_raters
        return np.bincount(self.annotations.rater, minlength=len(self.annotations.raters))

    def counts(self) -> dict[str, int]:
        """Return the number of findings of each type."""
        return dict(zip(VARIATION_TYPES, self.by_pair().sum(axis=(0, 1)).tolist(), strict=True))

    def counts_by_rater(self) -> dict[str, dict[str, int]]:
        """Return the number of findings that each rater takes part in, by type in the view of that rater.

        Objects that only this rater annotated are `additional`; those that only the other annotated are `missing`.
        """
        pairs = self.by_pair()
        seen_by_a = np.arange(len(VARIATION_TYPES))
        seen_by_a[[MISSING, ADDITIONAL]] = ADDITIONAL, MISSING
        table = pairs.sum(axis=1)[:, seen_by_a] + pairs.sum(axis=0)
        return {
            str(name): dict(zip(VARIATION_TYPES, of_rater, strict=True))
            for name, of_rater in zip(self.annotations.raters, table.tolist(), strict=True)
        }

    def rates(self) -> dict[str, dict[str, float]]:
        """Return the rate of each rater's differences per 100 objects, by `RATES`; see `RaterRates` for the counts.

        Rates are comparable between raters with different numbers of images, and do not grow with the number of raters.

        Examples
        --------
        >>> from kalos_core import Annotations, variations
        >>> boxes = [("ann", 0), ("ann", 50), ("bob", 0)]
        >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [x, 0, 9, 9]} for r, x in boxes]
        >>> rates = variations(Annotations.from_rows(rows)).rates()
        >>> rates["ann"]["additional"], rates["bob"]["missing"]
        (50.0, 50.0)
        """
        return self.rater_rates.per_100

    @cached_property
    def rater_rates(self) -> RaterRates:
        """Numbers of objects for the rates: counts and totals."""
        return rater_rates(self) if self.of_shards is None else self.of_shards.rater_rates

    @property
    def headline(self) -> str:
        """Finding, in words."""
        counts = {VARIATION_LABELS[name]: count for name, count in self.counts().items() if count}
        types = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        return (
            f"{number_of(sum(counts.values()), 'finding')} at {self.similarity_name} ≥ {self.threshold:g}: "
            f"{types or 'none'}"
        )

    def _table(self) -> pd.DataFrame:
        import pandas as pd

        counts = self.counts()
        return pd.DataFrame({"type": list(counts), "findings": list(counts.values())})

    def members(
        self, first: int = 0, last: int | None = None
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Return every annotation of findings with each annotation on the other side: the finding and the two rows.

        The other row is -1 if the other side is empty. Covers the findings from `first` to before `last`.
        """
        self.check_rows()
        last = len(self) if last is None else last
        start = self.side_start[2 * first : 2 * last + 1]
        size = np.diff(start)
        side = np.repeat(np.arange(len(size)), size)
        opposite = side ^ 1
        entry, position = expand_runs(start[opposite], np.maximum(size[opposite], 1))
        is_there = size[opposite][entry] > 0
        other = np.where(is_there, self.side_row[np.where(is_there, position, 0)], -1)
        return first + side[entry] // 2, self.side_row[start[0] + entry], other

    def divided_with(self, rows: Sequence[int] | NDArray[np.intp]) -> NDArray[np.intp]:
        """Return some rows, and the rows of their wholes or parts in merged findings.

        Examples
        --------
        >>> from kalos_core import Annotations, variations
        >>> boxes = [("ann", [0, 0, 8, 4]), ("bob", [0, 0, 4, 4]), ("bob", [4, 0, 4, 4]), ("bob", [50, 0, 4, 4])]
        >>> rows = [{"image": 1, "rater": rater, "category": "cat", "box": box} for rater, box in boxes]
        >>> variations(Annotations.from_rows(rows), threshold=0.6).divided_with([1]).tolist()
        [0, 1, 2]
        """
        side = np.repeat(np.arange(2 * len(self)), np.diff(self.side_start))
        divided = self.is_merged[side // 2]
        finding, member = side[divided] // 2, self.side_row[divided]
        return np.union1d(rows, member[np.isin(finding, finding[np.isin(member, rows)])])

    @cached_property
    def merged(self) -> Merged:
        """Findings of types ``merged`` and ``merged_wrong_class``, each as a whole and its parts."""
        self.check_rows()
        table, finding = self.annotations, np.flatnonzero(self.is_merged)
        size, start = self.side_sizes[finding], self.side_start[2 * finding[:, None] + (0, 1)]
        every, parts = np.arange(len(finding)), np.argmax(size, axis=1)
        start_of_parts, count = start[every, parts], size[every, parts]
        whole, first = self.side_row[start[every, 1 - parts]], self.side_row[start_of_parts]
        part = self.side_row[expand_runs(start_of_parts, count)[1]]
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
            start=run_starts(count),
        )

    def split_by(self) -> dict[str, int]:
        """Count the annotations of others that each rater split into parts.

        Examples
        --------
        >>> from kalos_core import Annotations, variations
        >>> boxes = [("ann", [0, 0, 8, 4]), ("bob", [0, 0, 4, 4]), ("bob", [4, 0, 4, 4])]
        >>> rows = [{"image": 1, "rater": rater, "category": "cat", "box": box} for rater, box in boxes]
        >>> variations(Annotations.from_rows(rows), threshold=0.6).split_by()
        {'ann': 0, 'bob': 1}
        """
        return self._merging(whole=False)

    def merged_by(self) -> dict[str, int]:
        """Count the annotations of each rater that another splits into parts; the opposite of `split_by`."""
        return self._merging(whole=True)

    def _merging(self, whole: bool) -> dict[str, int]:
        """Count the merged findings in which each rater has the whole, or the parts."""
        finding, names = np.flatnonzero(self.is_merged), self.annotations.raters
        has_parts = np.argmax(self.side_sizes[finding], axis=1)
        rater = np.where(has_parts == whole, self.rater_a[finding], self.rater_b[finding])
        return dict(zip(map(str, names), np.bincount(rater, minlength=len(names)).tolist(), strict=True))

    def confusions(self) -> Confusions:
        """Return confused classes, from `wrong_class` and `merged_wrong_class` findings, most frequent first."""
        chosen = np.flatnonzero(self.is_confused)
        given = self.confused_classes
        sides = np.argsort(given, axis=1)
        pairs = np.take_along_axis(given, sides, axis=1)
        rater = np.take_along_axis(np.column_stack([self.rater_a[chosen], self.rater_b[chosen]]), sides, axis=1)
        distinct, inverse, count = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
        order = np.lexsort((distinct[:, 1], distinct[:, 0], -count))
        position = np.empty(len(order), np.intp)
        position[order] = np.arange(len(order))
        names, raters = self.annotations.categories, len(self.annotations.raters)
        cells = (2 * position[inverse.reshape(-1, 1)] + [0, 1]) * raters + rater
        by_rater = np.bincount(cells.ravel(), minlength=2 * len(order) * raters).reshape(len(order), 2, raters)
        return Confusions(
            category_a=names[distinct[order, 0]],
            category_b=names[distinct[order, 1]],
            count=count[order],
            findings=object_array(
                [tuple(map(int, chosen[position[inverse.reshape(-1)] == number])) for number in range(len(order))]
            ),
            by_rater=by_rater,
        )

    def of_annotations(self, rows: NDArray[np.intp] | None = None) -> AnnotationVariations:
        """Return the view of annotations (by default all) on all other raters assigned to their image."""
        rows = np.arange(len(self.annotations)) if rows is None else rows
        images = self.annotations.image[rows]
        ends = (images.min(), images.max() + 1) if len(images) else (0, 0)
        finding, row, other = self.members(*np.searchsorted(self.image, ends).tolist())
        by_row = np.argsort(rows)
        index = find_sorted(rows[by_row], row)
        order = np.flatnonzero(index >= 0)
        order = order[np.argsort(by_row[index[order]], kind="stable")]
        finding, other, owner = finding[order], other[order], by_row[index[order]]
        rank = np.where(self.type_code[finding] == MISSING, ADDITIONAL, self.type_code[finding])
        worst = np.full(len(rows), -1, np.intp)
        np.maximum.at(worst, owner, rank)
        least = np.full(len(rows), np.nan)
        np.fmin.at(least, owner, self.similarity[finding])
        names = np.array([*VARIATION_TYPES, ""])
        return AnnotationVariations(
            type=names[worst],
            similarity=least,
            start=np.searchsorted(owner, np.arange(len(rows) + 1)),
            finding=finding,
            other=other,
        )

    @cached_property
    def identical_share(self) -> float:
        """Share of correct findings with similarity exactly 1; a high share suggests that labels were copied."""
        correct = self.similarity[self.type_code == CORRECT]
        return float((correct == 1).mean()) if len(correct) else float("nan")

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per finding, with names and ids instead of codes and rows; no ids for shards."""
        raters = "rater_a:annotations.raters[rater_a] rater_b:annotations.raters[rater_b]"
        table = self._frame(f"image:annotations.images[image] {raters} type similarity")
        if self.of_shards is None:
            ids = self.annotations.id
            table["ids_a"] = [ids[list(rows)].tolist() for rows in self.rows_a]
            table["ids_b"] = [ids[list(rows)].tolist() for rows in self.rows_b]
        return table


OF_FINDINGS = ("image", "rater_a", "rater_b", "type_code", "similarity")
"""Fields of `Variations` with one entry per finding."""


@dataclass(frozen=True, eq=False)
class VariationPart:
    """Findings of a table without its annotations, as kept for shards.

    Parameters
    ----------
    columns : mapping
        The fields `OF_FINDINGS`.
    side_size : (2 F,) int
        Number of annotations on each side.
    annotations_of_raters : (R,) int
    confused_classes : (F', 2) int
    rater_rates : RaterRates
        As in `Variations`.
    """

    columns: dict[str, NDArray[Any]]
    side_size: NDArray[np.intp]
    annotations_of_raters: NDArray[np.intp]
    confused_classes: NDArray[np.intp]
    rater_rates: RaterRates

    @classmethod
    def of(cls, found: Variations) -> VariationPart:
        """Return the part of one table."""
        columns = {name: getattr(found, name) for name in OF_FINDINGS}
        sides = np.diff(found.side_start)
        return cls(columns, sides, found.annotations_of_raters, found.confused_classes, found.rater_rates)

    @classmethod
    def merged(cls, parts: Sequence[VariationPart], starts: NDArray[np.intp]) -> VariationPart:
        """Merge the parts of tables of different images; `starts` gives the first image of each."""
        columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in OF_FINDINGS}
        columns["image"] += np.repeat(starts[:-1], [len(part.columns["image"]) for part in parts])
        return cls(
            columns=columns,
            side_size=np.concatenate([part.side_size for part in parts]),
            annotations_of_raters=np.sum([part.annotations_of_raters for part in parts], axis=0),
            confused_classes=np.concatenate([part.confused_classes for part in parts]),
            rater_rates=RaterRates(
                parts[0].rater_rates.raters,
                np.sum([part.rater_rates.count for part in parts], axis=0),
                np.sum([part.rater_rates.of for part in parts], axis=0),
            ),
        )


@dataclass(frozen=True, eq=False, repr=False)
class Confusions(Result):
    """Pairs of confused classes: names, counts, and findings (rows of `Variations`).

    `by_rater` (C, 2, R) counts how often each rater gave the object the first class, and the second.

    Figures: ``"classes"``.
    """

    _call = "variations(annotations).confusions()"
    _columns = "category_a category_b count"

    category_a: NDArray[np.object_]
    category_b: NDArray[np.object_]
    count: NDArray[np.intp]
    findings: NDArray[np.object_]
    by_rater: NDArray[np.intp]

    @property
    def headline(self) -> str:
        """Finding, in words."""
        return (
            f"{number_of(len(self.count), 'pair')}  of confused classes, in "
            f"{number_of(int(self.count.sum()), 'finding')}"
        )

    def matrix(self, most: int) -> tuple[list[str], NDArray[np.float64]]:
        """Return the most often confused classes, and (K, K) the findings for every two; NaN if there are none.

        Examples
        --------
        >>> from kalos_core import Annotations, variations
        >>> given = [("ann", "cat"), ("bob", "dog")]
        >>> rows = [{"image": 1, "rater": rater, "category": name, "box": [0, 0, 9, 9]} for rater, name in given]
        >>> variations(Annotations.from_rows(rows)).confusions().matrix(2)
        (['cat', 'dog'], array([[nan,  1.],
               [ 1., nan]]))
        """
        totals = Counter[str]()
        for names in (self.category_a, self.category_b):
            for name, count in zip(names.tolist(), self.count.tolist(), strict=True):
                totals[name] += count
        place = {name: number for number, (name, _) in enumerate(totals.most_common(most))}
        found = np.full((len(place), len(place)), np.nan)
        for first, second, count in zip(self.category_a, self.category_b, self.count, strict=True):
            if first in place and second in place:
                found[place[first], place[second]] = found[place[second], place[first]] = count
        return list(place), found


@dataclass(frozen=True, eq=False, repr=False)
class Merged(Result):
    """M findings in which one annotation, the whole, matches several of another rater: P parts in total.

    Figures: ``"similarities"``.

    Parameters
    ----------
    finding : (M,) int
        Rows of `Variations`.
    type : (M,) str
        ``merged`` or ``merged_wrong_class``.
    image : (M,) object
    similarity : (M,) float64
        Similarity of the whole to the union of its parts.
    whole_rater, whole_category, whole : (M,) object
        Rater, class and id of the whole.
    parts_rater, parts_category : (M,) object
        Rater and class of the parts, which all have one class.
    part : (P,) object
        Ids of the parts, finding by finding.
    start : (M + 1,) int
        Start of the parts of each finding, with the end appended.

    Examples
    --------
    >>> from kalos_core import Annotations, variations
    >>> boxes = [("ann", [0, 0, 4, 4]), ("ann", [4, 0, 4, 4]), ("bob", [0, 0, 8, 4])]
    >>> rows = [{"image": 1, "rater": rater, "category": "cat", "box": box} for rater, box in boxes]
    >>> found = variations(Annotations.from_rows(rows), threshold=0.6).merged
    >>> found.whole_rater.tolist(), found.parts_rater.tolist(), found.parts.tolist(), found.parts_of(0)
    (['bob'], ['ann'], [2], [1, 2])
    """

    _call = "variations(annotations).merged"

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
        """(M,) number of parts of each whole."""
        return np.diff(self.start)

    def parts_of(self, row: int) -> list[Any]:
        """Return the ids of the parts of one finding."""
        ids: list[Any] = self.part[self.start[row] : self.start[row + 1]].tolist()
        return ids

    def members(self, row: int) -> dict[str, list[Any]]:
        """Return rater -> ids of the annotations of one finding: the whole, then its parts."""
        return {self.whole_rater[row]: [self.whole[row]], self.parts_rater[row]: self.parts_of(row)}

    @property
    def most_parts_first(self) -> NDArray[np.intp]:
        """(M,) rows by descending number of parts, then ascending similarity."""
        return np.lexsort((self.similarity, -self.parts))

    @property
    def headline(self) -> str:
        """Finding, in words."""
        return f"{number_of(len(self.finding), 'annotation that is', 'annotations that are')} several of another rater"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per finding, in the order of `most_parts_first`; ``number`` is its row, ``parts`` a count."""
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
    """View of each of N annotations on the other raters.

    Parameters
    ----------
    type : (N,) str
        Most serious type over all other raters (additional > wrong_class > merged_wrong_class > merged > correct);
        "" if no other rater was assigned.
    similarity : (N,) float64
        Lowest similarity to a partner; NaN without partners.
    start : (N + 1,) int
        Start of the entries of each annotation in `finding` and `other`, with the end appended.
    finding, other : (E,) int
        Rows of the findings of an annotation, and of its partner there (-1 if none); one entry per partner.
    """

    type: NDArray[np.str_]
    similarity: NDArray[np.float64]
    start: NDArray[np.intp]
    finding: NDArray[np.intp]
    other: NDArray[np.intp]

    @property
    def matches(self) -> NDArray[np.object_]:
        """(N,) tuples of int: rows of all partners."""
        partners = self.other.tolist()
        return object_array(
            tuple(row for row in partners[begin:end] if row >= 0) for begin, end in pairwise(self.start.tolist())
        )
