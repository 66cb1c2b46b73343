"""Rates at which each rater misses, adds, merges, splits or misclassifies objects; per object, not per pair."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import short
from kalos_core.display import count_text, number_of
from kalos_core.errors import InputError, repr_of
from kalos_core.options import checked

VARIATION_TYPES = (
    "correct",
    "merged",
    "merged_wrong_class",
    "wrong_class",
    "missing",
    "additional",
)
"""Variation types, from harmless to serious in the view of an annotation; `missing` never applies to one."""

CORRECT, MERGED, MERGED_WRONG_CLASS, WRONG_CLASS, MISSING, ADDITIONAL = range(6)

RATES = (*VARIATION_TYPES, "merges", "splits")
"""Names of rates: variation types in the view of a rater, and the two sides of merged findings."""

MERGES, SPLITS = len(VARIATION_TYPES), len(VARIATION_TYPES) + 1

HABITS = {
    "missing": ("misses", "object"),
    "additional": ("alone draws", "own label"),
    "wrong_class": ("gives another class to", "own label"),
    "merges": ("draws several objects as one in", "own label"),
    "splits": ("draws one object as several in", "own label"),
}
"""Rates that can be a habit -> phrase for the rater's behaviour, and its object."""

FEWEST = 3
"""Minimum number of objects for a habit."""

CHANCE = 0.05
"""False discovery rate of habits."""


class _Compared(Protocol):
    """Interface of findings, as in `Variations`."""

    @property
    def annotations(self) -> Annotations: ...

    @property
    def rater_a(self) -> NDArray[np.intp]: ...

    @property
    def rater_b(self) -> NDArray[np.intp]: ...

    @property
    def type_code(self) -> NDArray[np.int8]: ...

    @property
    def side_start(self) -> NDArray[np.intp]: ...

    @property
    def by_others(self) -> ByOthers: ...

    @property
    def side_row(self) -> NDArray[np.intp]: ...


@dataclass(frozen=True, eq=False)
class RaterRates:
    """Counts of each rater's objects, and totals, for each rate.

    An annotation counts if it is of the type towards most of the raters it is compared with; as additional, if no
    other rater has the object. An object counts as missing if most of the others have it, each as one annotation, and
    this rater has no part of it.

    Parameters
    ----------
    raters : (R,) str
    count, of : (R, 8) int
        Columns as in `RATES`. For ``missing``, ``of`` counts objects that most of the others have; otherwise, the
        rater's annotations that were compared with those of any other rater.

    Examples
    --------
    >>> RaterRates(np.array(["ann"], object), np.full((1, 8), 17), np.full((1, 8), 70)).counts["ann"]["missing"]
    (17, 70)
    """

    raters: NDArray[np.object_]
    count: NDArray[np.intp]
    of: NDArray[np.intp]

    @property
    def counts(self) -> dict[str, dict[str, tuple[int, int]]]:
        """Rater -> name of the rate -> count and total."""
        pairs = np.stack([self.count, self.of], axis=-1).tolist()
        return {
            str(name): {rate: (count, of) for rate, (count, of) in zip(RATES, row, strict=True)}
            for name, row in zip(self.raters, pairs, strict=True)
        }

    @property
    def per_100(self) -> dict[str, dict[str, float]]:
        """Rater -> name of the rate -> rate per 100 objects; NaN without objects."""
        return {
            rater: {rate: 100 * count / of if of else math.nan for rate, (count, of) in row.items()}
            for rater, row in self.counts.items()
        }

    def habits(self) -> list[Habit]:
        """Return rates that are higher than those of the other raters together, by descending number of objects.

        Uses Fisher's exact test, one-sided, at a false discovery rate of one in twenty (Benjamini & Hochberg 1995). The
        test treats all objects as independent, even those of one image.

        Examples
        --------
        >>> count, of = np.zeros((2, 3, 8), int)
        >>> of += 70
        >>> count[:, MISSING] = 17, 2, 1
        >>> [habit.text() for habit in RaterRates(np.array(["ann", "bob", "cid"], object), count, of).habits()]
        ['ann misses 17 of 70 objects; the others 3 of 140']
        """
        names = [name for name in HABITS if len(self.raters) > 2 or name in ("missing", "merges")]
        columns = [RATES.index(name) for name in names]  # with two raters, one's missing is the other's additional
        count, of = self.count[:, columns], self.of[:, columns]
        others, others_of = count.sum(axis=0) - count, of.sum(axis=0) - of
        p = np.nan_to_num(scipy.stats.hypergeom.sf(count - 1, of + others_of, count + others, of), nan=1)  # no objects
        adjusted = np.reshape(scipy.stats.false_discovery_control(p, axis=None), p.shape)
        stands_out = (adjusted <= CHANCE) & (count >= FEWEST)
        beyond = count * others_of - others * of
        found = sorted(zip(*np.nonzero(stands_out), strict=True), key=lambda at: -count[at])
        return [
            Habit(str(self.raters[at[0]]), names[at[1]], *map(int, (count[at], of[at], others[at], others_of[at])))
            for at in found
            if beyond[at] > 0
        ]


@dataclass(frozen=True)
class Habit:
    """Behaviour that a rater shows more often than the others.

    Parameters
    ----------
    rater : str
    rate : str
        Name in `HABITS`.
    count, of : int
        Count and total, in objects or own labels.
    others, others_of : int
        The same for all other raters together.

    Examples
    --------
    >>> Habit("ann", "missing", 17, 70, 3, 140).text("bottle")
    'ann misses 17 of 70 objects, mostly bottle; the others 3 of 140'
    """

    rater: str
    rate: str
    count: int
    of: int
    others: int
    others_of: int

    def text(self, mostly: str = "") -> str:
        """Return the habit as a sentence, with the class of most of the objects, if given."""
        does, what = HABITS[self.rate]
        of_class = f", mostly {mostly}" if mostly else ""
        return (
            f"{self.rater} {does} {count_text(self.count)} of {number_of(self.of, what)}{of_class}; the others "
            f"{count_text(self.others)} of {count_text(self.others_of)}"
        )


@checked
def rater_rates(found: _Compared, rows: NDArray[np.bool_] | None = None) -> RaterRates:
    """Count each rater's objects by their type towards the others.

    Parameters
    ----------
    found : Variations
        All findings of the annotations.
    rows : (N,) bool, optional
        Annotations to count, such as those of a class; an object counts if any of its annotations does.

    Examples
    --------
    Four raters: ann and bob annotate both objects as two, cid annotates both as one, and dan annotates only one.

    >>> from kalos_core import Annotations, variations
    >>> two, one = ([0, 0, 4, 4], [4, 0, 4, 4]), ([0, 0, 8, 4],)
    >>> drawn = {"ann": two, "bob": two, "cid": one, "dan": two[:1]}
    >>> given = [{"image": 1, "rater": r, "category": "cat", "box": b} for r, boxes in drawn.items() for b in boxes]
    >>> found = rater_rates(variations(Annotations.from_rows(given), threshold=0.6)).counts
    >>> found["dan"]["missing"], found["cid"]["merges"], found["ann"]["splits"], found["ann"]["additional"]
    ((1, 2), (1, 1), (0, 2), (0, 2))
    """
    if not hasattr(found, "annotations"):
        raise InputError(f"found: expected variations, the result of variations(annotations), got {repr_of(found)}")
    table = found.annotations
    counted = np.ones(len(table), np.bool_) if rows is None else rows
    seen = found.by_others
    own = counted & seen.compared
    count, of = np.zeros((2, len(table.raters), len(RATES)), np.intp)
    np.add.at(count, table.rater[own], seen.so[own].astype(np.intp))
    of[:] = np.bincount(table.rater[own], minlength=len(table.raters))[:, None]
    for rater in range(len(table.raters)):
        object_of, there, has = seen.objects(rater)
        wanted = np.zeros(len(there), np.bool_)
        wanted[object_of[counted & (table.rater != rater)]] = True
        count[rater, MISSING], of[rater, MISSING] = (there & wanted & ~has).sum(), (there & wanted).sum()
    return RaterRates(table.raters, count, of)


def rows_counted(found: _Compared, rater: int) -> dict[str, NDArray[np.intp]]:
    """Return name in `RATES` -> rows of the annotations that count; for `missing`, one annotation by others per object.

    Examples
    --------
    >>> from kalos_core import Annotations, variations
    >>> given = [{"image": 1, "rater": r, "category": "cat", "box": [x, 0, 9, 9]} for r, x in [("a", 0), ("b", 50)]]
    >>> rows = rows_counted(variations(Annotations.from_rows(given)), 0)
    >>> rows["missing"].tolist(), rows["additional"].tolist()
    ([1], [0])
    """
    rater_of, seen = found.annotations.rater, found.by_others
    own = seen.compared & (rater_of == rater)
    rows = {name: np.flatnonzero(own & seen.so[:, column]) for column, name in enumerate(RATES)}
    object_of, there, has = seen.objects(rater)
    others = np.flatnonzero(rater_of != rater)
    number, first = np.unique(object_of[others], return_index=True)
    return rows | {"missing": others[first[(there & ~has)[number]]]}


@dataclass(frozen=True, eq=False)
class ByOthers:
    """How the findings of N annotations compare each with the other raters, and their objects, C of them.

    An object is a set of annotations joined by one-to-one findings. For the rate of misses of one rater, objects are
    those of the others. Almost all of these are the same with and without one rater (`is_firm`), so that one pass over
    the findings serves all R raters.

    Parameters
    ----------
    rater_of : (N,) int
    so : (N, 8) bool
        Whether an annotation is of a type towards most others (additional: all).
    compared : (N,) bool
        Whether it is in any finding.
    object_of : (N,) int
    drawn, known : (C, R) bool
        Whether a rater has an annotation of the object; or, in `known`, has none but was compared.
    only : (C, R) int
        How many raters are known only as they were compared with this one.
    asked, has : (C, R) bool
        Whether the rater was compared with an annotation of the object by others, and has it.
    is_firm : (C,) bool
        Whether the rest of the object stays joined without any one of its raters.
    loose : _Sides
        Findings of the other objects.
    """

    rater_of: NDArray[np.intp]
    so: NDArray[np.bool_]
    compared: NDArray[np.bool_]
    object_of: NDArray[np.intp]
    drawn: NDArray[np.bool_]
    known: NDArray[np.bool_]
    only: NDArray[np.intp]
    asked: NDArray[np.bool_]
    has: NDArray[np.bool_]
    is_firm: NDArray[np.bool_]
    loose: _Sides

    @classmethod
    def of(cls, found: _Compared) -> ByOthers:
        """Return what one pass over the findings shows."""
        rater_of, raters, sides = found.annotations.rater, len(found.annotations.raters), _Sides.of(found)
        so, compared = _towards_most(sides, len(rater_of))
        joined = sides.part(sides.partner >= 0)
        count, object_of = _joined(joined, len(rater_of))
        drawn, asked, has, several = np.zeros((4, count, raters), np.bool_)
        drawn[object_of, rater_of] = True
        cell, of_row = object_of[sides.row] * raters + sides.towards, rater_of[sides.row]
        asked.ravel()[cell] = True
        has.ravel()[cell[sides.kind != ADDITIONAL]] = True
        by = np.zeros((count, raters), np.int32)
        by.ravel()[cell] = of_row
        several.ravel()[cell[by.ravel()[cell] != of_row]] = True
        of_object, _ = np.nonzero(alone := asked & ~several & ~drawn)
        only = short(np.bincount(of_object * raters + by[alone], minlength=count * raters)).reshape(count, raters)
        is_firm = _firm(joined, object_of, count)
        loose = sides.part(~is_firm[object_of[sides.row]])
        return cls(rater_of, so, compared, object_of, drawn, drawn | asked, only, asked, has, is_firm, loose)

    def objects(self, rater: int) -> tuple[NDArray[np.intp], NDArray[np.bool_], NDArray[np.bool_]]:
        """Return (N,) the object of each annotation, and per object whether most others have it, and this rater has.

        Objects are those of the other raters; those that fall apart without this rater follow the others.
        """
        drawn, known = (of.sum(axis=1) - of[:, rater] for of in (self.drawn, self.known))
        there = self.asked[:, rater] & (2 * drawn > known - self.only[:, rater])
        apart = ~self.is_firm & self.drawn[:, rater]
        rows = np.flatnonzero(apart[self.object_of])
        if not len(rows):
            return self.object_of, there, self.has[:, rater]
        object_of, place = self.object_of.copy(), np.zeros(len(self.object_of), np.intp)
        place[rows] = np.arange(len(rows))
        sides = self.loose.part(apart[self.object_of[self.loose.row]])
        sides = replace(sides, row=place[sides.row], partner=np.where(sides.partner < 0, -1, place[sides.partner]))
        own, own_there, own_has = _objects(sides, self.rater_of[rows], rater)
        object_of[rows] = len(there) + own
        return object_of, np.append(there & ~apart, own_there), np.append(self.has[:, rater], own_has)


def _joined(links: _Sides, annotations: int) -> tuple[int, NDArray[np.intp]]:
    """Return the number of objects, and (N,) the object of each annotation, from one-to-one findings."""
    ones, shape = np.ones(len(links.row), np.int8), (annotations, annotations)
    graph = scipy.sparse.csr_array((ones, (links.row, links.partner)), shape=shape)
    count, object_of = scipy.sparse.csgraph.connected_components(graph, directed=False)
    return count, np.asarray(object_of, dtype=np.intp)


def _firm(links: _Sides, object_of: NDArray[np.intp], count: int) -> NDArray[np.bool_]:
    """Return (C,) whether an object surely stays joined without any one of its raters.

    An annotation is joined to at most one of each rater, so it loses at most one of its links. Any two that keep links
    to at least half of the rest are joined, or have a neighbour in common; any other needs two links to such ones.
    """
    degree, size = np.bincount(links.row, minlength=len(object_of)), np.bincount(object_of, minlength=count)
    is_core = 2 * (degree - 1) >= size[object_of] - 2
    to_core = np.bincount(links.row[is_core[links.partner]], minlength=len(object_of))
    weak = ~is_core & (to_core < 2) & (size[object_of] > 1)
    return np.asarray(np.bincount(object_of[weak], minlength=count) == 0)


def _towards_most(sides: _Sides, annotations: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return (N, 8) whether annotations are of a type towards most others (additional: all), and (N,) if compared."""
    cell = sides.row * len(RATES) + sides.kind
    seen = np.bincount(cell, minlength=annotations * len(RATES)).reshape(annotations, len(RATES))
    seen[:, MERGES] = np.bincount(sides.row[sides.is_whole], minlength=annotations)
    seen[:, SPLITS] = np.bincount(sides.row[sides.is_part], minlength=annotations)
    compared = np.bincount(sides.row, minlength=annotations)
    so = 2 * seen > compared[:, None]
    so[:, ADDITIONAL] = (seen[:, ADDITIONAL] == compared) & (compared > 0)
    return so, compared > 0


@dataclass(frozen=True, eq=False)
class _Sides:
    """Annotation in each of its findings: `row`, and `partner` if the finding is one-to-one."""

    row: NDArray[np.intp]
    partner: NDArray[np.intp]
    towards: NDArray[np.intp]
    kind: NDArray[np.intp]
    is_whole: NDArray[np.bool_]
    is_part: NDArray[np.bool_]

    @classmethod
    def of(cls, found: _Compared) -> _Sides:
        side = np.repeat(np.arange(2 * len(found.rater_a)), np.diff(found.side_start))
        finding, row, sizes = side // 2, found.side_row, np.diff(found.side_start)
        opposite = side ^ 1
        kind = found.type_code[finding].astype(np.intp)
        kind = np.where(sizes[opposite] == 0, ADDITIONAL, kind)
        is_merged = np.isin(found.type_code, (MERGED, MERGED_WRONG_CLASS))[finding]
        one_to_one = (sizes[side] == 1) & (sizes[opposite] == 1)
        start = found.side_start[opposite]
        partner = np.where(one_to_one, row[np.where(one_to_one, start, 0)], -1)
        towards = np.where(side % 2, found.rater_a[finding], found.rater_b[finding])
        return cls(row, partner, towards, kind, is_merged & (sizes[side] == 1), is_merged & (sizes[side] > 1))

    def part(self, chosen: NDArray[np.bool_]) -> _Sides:
        """Return the chosen ones."""
        return _Sides(**{name: values[chosen] for name, values in vars(self).items()})


def _objects(
    sides: _Sides, rater_of: NDArray[np.intp], rater: int
) -> tuple[NDArray[np.intp], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return (N,) the object of each annotation, and per object whether most others have it, and this rater has."""
    other = rater_of[sides.row] != rater
    lead = other & (sides.towards != rater)
    number, object_of = _joined(sides.part(lead & (sides.partner >= 0)), len(rater_of))
    raters = int(max(rater_of.max(initial=-1), sides.towards.max(initial=-1))) + 1
    drawn, known = np.zeros((2, number, raters), np.bool_)
    others = rater_of != rater
    drawn[object_of[others], rater_of[others]] = True
    known |= drawn
    known[object_of[sides.row[lead]], sides.towards[lead]] = True
    most = 2 * drawn.sum(axis=1) > known.sum(axis=1)
    asked, has = np.zeros((2, number), np.bool_)
    here = other & (sides.towards == rater)
    asked[object_of[sides.row[here]]] = True
    has[object_of[sides.row[here & (sides.kind != ADDITIONAL)]]] = True
    return object_of, np.asarray(most & asked, dtype=np.bool_), has
