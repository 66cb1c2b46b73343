"""Search behind `variations`: five steps over whole arrays, each on annotations left free by the previous steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import expand_runs, run_starts, take_down, total
from kalos_core.correspondence import neg_cost, rank_rows, strict_order
from kalos_core.pairs import Pairs
from kalos_core.shapes import ShapeColumn
from kalos_core.similarity import ROUNDING, Similarity
from kalos_core.variation.rates import ADDITIONAL, MISSING, VARIATION_TYPES


@dataclass(frozen=True, eq=False)
class _Found:
    """C findings of one step: rows of the own side (C, a) and of the other side (C, b), and the two raters."""

    type: NDArray[np.int8]
    similarity: NDArray[np.float64]
    own: NDArray[np.intp]
    other: NDArray[np.intp]
    own_rater: NDArray[np.intp]
    other_rater: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class _Groups:
    """G groups of annotations of one rater and class that overlap one annotation of another rater, the *single*."""

    single: NDArray[np.intp]
    """(G,) row of the single."""
    child: NDArray[np.intp]
    """Rows of the children, group by group."""
    start: NDArray[np.intp]
    """(G + 1,) first child of each group, with the end appended."""
    share: NDArray[np.float64]
    """Upper bound on the share of the single's area that each child adds to a merge; 1 if unknown."""

    def most(self, count: int) -> NDArray[np.float64]:
        """Return (G,) the sum of the `count` largest shares of each group."""
        group = np.repeat(np.arange(len(self.single)), np.diff(self.start))
        order = np.lexsort((-self.share, group))
        index = np.arange(len(order)) - self.start[:-1][group]
        return total(group, np.where(index < count, self.share[order], 0.0), len(self.single))

    def couples(self, least: float, max_merge: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return every two children of a group that may become a merge with at least that similarity.

        Returns (C,) the group, and (C, 2) the rows.
        """
        hopeful = self.most(max_merge) * (1 + ROUNDING) >= least
        size = np.diff(self.start)
        group = np.repeat(np.arange(len(size)), size)
        index = np.flatnonzero(hopeful[group])
        first, second = expand_runs(index + 1, self.start[1:][group[index]] - index - 1)
        first = index[first]
        bound = self.share[first] + self.share[second] + self.most(max_merge - 2)[group[first]]
        kept = bound * (1 + ROUNDING) >= least
        first, second = first[kept], second[kept]
        return group[first], np.stack([self.child[first], self.child[second]], axis=1)

    def others(self, group: NDArray[np.intp], members: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return every further child of the group of candidates (C, m): (E,) candidate and (E,) row."""
        candidate, index = expand_runs(self.start[group], np.diff(self.start)[group])
        row = self.child[index]
        fresh = (members[candidate] != row[:, None]).all(axis=1)
        return candidate[fresh], row[fresh]


class Ground:
    """Data shared by searches of the same annotations at any threshold.

    Parameters
    ----------
    annotations : Annotations
    measure : Similarity
    pairs : Pairs
        All pairs that touch.
    least : float, optional
        Smallest threshold, for searches at several thresholds; results are cached for all of them.
    """

    def __init__(self, annotations: Annotations, measure: Similarity, pairs: Pairs, least: float | None = None) -> None:
        self.annotations = annotations
        self.measure = measure
        self.pairs = pairs
        self.least = least
        self.raters = len(annotations.raters)
        self.same_class = annotations.category[pairs.left] == annotations.category[pairs.right]
        self.left_side = self.side(pairs.left, pairs.right)
        self.right_side = self.side(pairs.right, pairs.left)
        self._unions: dict[bytes, float] = {}

    def side(self, row: NDArray[np.intp], towards: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the sides of annotations towards the raters of other annotations."""
        return row * self.raters + self.annotations.rater[towards]

    @cached_property
    def assigned_sides(self) -> NDArray[np.bool_]:
        """(N * R + 1,) whether the other rater may have annotated that image and class; the last entry is padding."""
        annotations = self.annotations
        assigned = annotations.assigned[annotations.image]
        if annotations.assigned_categories is not None:
            assigned &= annotations.assigned_categories[:, annotations.category].T
        assigned[np.arange(len(annotations)), annotations.rater] = False
        sides: NDArray[np.bool_] = np.append(assigned.ravel(), False)
        return sides

    @cached_property
    def touching(self) -> NDArray[np.bool_]:
        """(P,) whether the bounds of two annotations overlap; needed because GIoU is positive for any two."""
        if not len(self.pairs):  # an empty table has no shapes
            return np.zeros(0, np.bool_)
        bounds = self.annotations.shapes[self.pairs.kind].bounds()
        a, b = bounds[self.pairs.left], bounds[self.pairs.right]
        shared = np.minimum(a[:, 2:], b[:, 2:]) > np.maximum(a[:, :2], b[:, :2])
        return np.asarray(shared.all(axis=1))

    def in_order(self, chosen: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return the pairs of a mask (P,) in the strict order, most similar first."""
        if self.least is not None:
            return self._order[chosen[self._order]]
        rows = np.flatnonzero(chosen)
        return np.asarray(rows[strict_order(self.annotations, self.pairs.keep(chosen), neg_cost)])

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        """All pairs that any search can match, in the strict order."""
        chosen = self.pairs.similarity >= (self.least or 0.0)
        return np.asarray(np.flatnonzero(chosen)[strict_order(self.annotations, self.pairs.keep(chosen), neg_cost)])

    def rank(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return (N,) a rank, valid for the given rows, that does not depend on the order of the input."""
        return self._rank_of(np.unique(rows)) if self.least is None else self._every_rank

    @cached_property
    def _every_rank(self) -> NDArray[np.intp]:
        """Rank of all annotations that touch others."""
        pairs = self.pairs.keep(self.touching)
        return self._rank_of(np.unique(np.concatenate([pairs.left, pairs.right])))

    def _rank_of(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        rank = np.zeros(len(self.annotations), np.intp)
        rank[rows] = rank_rows(self.annotations, rows, self.pairs.kind)
        return rank

    def union_similarity(self, single: NDArray[np.intp], members: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return (C,) the similarity of annotations to unions of others (C, m); unions are cached across thresholds."""
        if self.least is None or self.pairs.kind == "box":
            return self._compare(single, members)
        keys = [line.tobytes() for line in np.concatenate([single[:, None], members], axis=1)]
        fresh = np.array([at for at, key in enumerate(keys) if key not in self._unions], np.intp)
        if len(fresh):
            values = self._compare(single[fresh], members[fresh]).tolist()
            self._unions.update(zip((keys[at] for at in fresh.tolist()), values, strict=True))
        return np.array([self._unions[key] for key in keys], np.float64)

    def _compare(self, single: NDArray[np.intp], members: NDArray[np.intp]) -> NDArray[np.float64]:
        return self.measure.values(self.column.union(members), np.arange(len(members)), self.column, single)

    @cached_property
    def column(self) -> ShapeColumn:
        """Shapes that are compared."""
        column: ShapeColumn = self.measure.column(self.annotations)
        return column


class Search:
    """State of one search: annotations that are still free, and findings.

    An annotation towards one other rater is a *side*, numbered row * R + other rater. In an image with three raters,
    an annotation has two sides, and each is used once.
    """

    def __init__(self, ground: Ground, threshold: float) -> None:
        self.ground = ground
        self.annotations = ground.annotations
        self.measure = ground.measure
        self.pairs = ground.pairs
        self.raters = ground.raters
        self.threshold = threshold
        self.free = ground.assigned_sides.copy()
        self.found: list[_Found] = []

    def _open(self, same_class: bool) -> NDArray[np.bool_]:
        same: NDArray[np.bool_] = np.equal(self.ground.same_class, same_class)
        return same & self.free[self.ground.left_side] & self.free[self.ground.right_side]

    def match(self, *, same_class: bool, found: int) -> None:
        """Match single annotations (steps 1 and 3)."""
        order = self.ground.in_order(self._open(same_class) & (self.pairs.similarity >= self.threshold))
        left, right = self.pairs.left[order], self.pairs.right[order]
        taken = self._take(np.stack([self.ground.left_side[order], self.ground.right_side[order]], axis=1))
        self._note(found, self.pairs.similarity[order][taken], left[taken, None], right[taken, None])

    def merge(self, *, same_class: bool, found: int, max_merge: int) -> None:
        """Match single annotations with unions of several of one class, which all overlap them (steps 2 and 4)."""
        if max_merge < 2 or not self.measure.merges:
            return
        groups = self._groups(self._open(same_class))
        group, members = groups.couples(self.threshold, max_merge)
        grown = []
        while len(group):
            single = groups.single[group]
            similarity = self.ground.union_similarity(single, members)
            enough = similarity >= self.threshold
            grown.append((single[enough], members[enough], similarity[enough]))
            if members.shape[1] == max_merge:
                break
            if members.shape[1] == 2:
                seeds = self._best_couples(group, members, similarity)
                group, members, similarity = group[seeds], members[seeds], similarity[seeds]
            group, members = self._extend(groups, group, members, similarity)
        for single, members, similarity in self._best(grown):
            self._note(found, similarity, single[:, None], members)

    def _groups(self, open_: NDArray[np.bool_]) -> _Groups:
        open_ &= self.ground.touching
        left, right = self.pairs.left[open_], self.pairs.right[open_]
        single, child = np.concatenate([left, right]), np.concatenate([right, left])
        share = self._share(single, child, np.tile(self.pairs.similarity[open_], 2))
        side, category = self.ground.side(single, child), self.annotations.category[child]
        order = np.lexsort((category, side))
        side, category = side[order], category[order]
        fresh = np.ones(len(side), np.bool_)
        fresh[1:] = (side[1:] != side[:-1]) | (category[1:] != category[:-1])
        start = np.flatnonzero(fresh)
        return _Groups(
            single=single[order][start], child=child[order], start=np.append(start, len(child)), share=share[order]
        )

    def _share(
        self, single: NDArray[np.intp], child: NDArray[np.intp], similarity: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return (M,) the share of the single's area that a child covers; unions cover at most their sum."""
        if not self.measure.additive or not len(single):
            return np.ones(len(single))
        area = self.ground.column.area()
        shared = similarity * (area[single] + area[child]) / (1 + similarity)
        return np.asarray(shared / area[single])

    def _best_couples(
        self, group: NDArray[np.intp], members: NDArray[np.intp], similarity: NDArray[np.float64]
    ) -> NDArray[np.intp]:
        """Return the positions of the couples that are the best of their group for either child; only these grow."""
        rank = self.ground.rank(members)[members]
        index = np.tile(np.arange(len(group)), 2)
        child, partner = members.T.ravel(), rank[:, ::-1].T.ravel()
        order = np.lexsort((partner, -similarity[index], child, group[index]))
        run = np.stack([group[index], child], axis=1)[order]
        first = np.ones(len(order), np.bool_)
        first[1:] = (run[1:] != run[:-1]).any(axis=1)
        return np.unique(index[order[first]])

    def _extend(
        self,
        groups: _Groups,
        group: NDArray[np.intp],
        members: NDArray[np.intp],
        similarity: NDArray[np.float64],
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Extend each candidate by the child that raises its similarity most, or at least does not lower it.

        Candidates whose similarity every child would lower are dropped; sets reached in several ways are kept once.
        """
        parent, extra = groups.others(group, members)
        grown = np.concatenate([members[parent], extra[:, None]], axis=1)
        raised = self.ground.union_similarity(groups.single[group[parent]], grown)
        better = np.flatnonzero(raised >= similarity[parent])
        rank = self.ground.rank(extra[better])
        order = better[np.lexsort((rank[extra[better]], -raised[better], parent[better]))]
        best = order[np.unique(parent[order], return_index=True)[1]]
        sets = np.concatenate([group[parent[best], None], np.sort(grown[best], axis=1)], axis=1)
        distinct = np.unique(sets, axis=0)
        return distinct[:, 0], distinct[:, 1:]

    def _best(
        self, grown: list[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]]
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]]:
        """Yield merges by similarity and then size, if all their sides are still free; one entry per size."""
        if not sum(len(single) for single, _, _ in grown):
            return
        most = grown[-1][1].shape[1]
        absent = len(self.annotations)  # padding of shorter rows
        single = np.concatenate([single for single, _, _ in grown])
        members = np.concatenate(
            [np.pad(rows, ((0, 0), (0, most - rows.shape[1])), constant_values=absent) for _, rows, _ in grown]
        )
        similarity = np.concatenate([values for _, _, values in grown])
        rank = np.append(self.ground.rank(np.append(single, members[members < absent])), -1)
        size = (members < absent).sum(axis=1)
        order = np.lexsort((*np.sort(rank[members], axis=1).T, rank[single], -size, -similarity))
        single, members, similarity, size = single[order], members[order], similarity[order], size[order]
        sides = members * self.raters + self.annotations.rater[single][:, None]
        sides[members == absent] = len(self.free) - 1
        taken = self._take(np.concatenate([self.ground.side(single, members[:, 0])[:, None], sides], axis=1))
        for count in np.unique(size[taken]):
            chosen = taken[size[taken] == count]
            yield single[chosen], members[chosen, :count], similarity[chosen]

    def _take(self, lines: NDArray[np.intp]) -> NDArray[np.intp]:
        """Take candidates (C, M sides) in order, each only if all its sides are free; return their positions."""
        # padding repeats the first side of its row, so that it has no effect
        lines = np.where(lines == len(self.free) - 1, lines[:, :1], lines)
        image = np.append(np.repeat(self.annotations.image, self.raters), 0)
        return take_down(lines, self.free, image)

    def _note(
        self,
        found: int,
        similarity: NDArray[np.float64],
        own: NDArray[np.intp],
        other: NDArray[np.intp],
    ) -> None:
        raters = self.annotations.rater
        kind = np.full(len(own), found, np.int8)
        self.found.append(_Found(kind, similarity, own, other, raters[own[:, 0]], raters[other[:, 0]]))

    def leave_rest(self) -> None:
        """Add the sides that are still free, for raters who are assigned to the class (step 5)."""
        side = np.flatnonzero(self.free[:-1] & self.annotations.assigned_per_annotation.ravel())
        row, other_rater = side // self.raters, side % self.raters
        own_rater = self.annotations.rater[row]
        kind = np.where(own_rater < other_rater, MISSING, ADDITIONAL).astype(np.int8)
        nothing = np.zeros((len(row), 0), np.intp)
        self.found.append(_Found(kind, np.full(len(row), np.nan), row[:, None], nothing, own_rater, other_rater))

    def counts(self) -> NDArray[np.intp]:
        """Return (T,) the number of findings of each type in `VARIATION_TYPES`."""
        return np.bincount(np.concatenate([found.type for found in self.found]), minlength=len(VARIATION_TYPES))

    def table(self, rows: NDArray[np.intp], first: int) -> dict[str, NDArray[Any]]:
        """Return all findings in order as columns of `Variations`, with the earlier rater of each pair on side a.

        `rows` gives the row of each annotation, and `first` the code of the first image, in the whole table.
        `side_size` is the number of annotations on each side.
        """
        kind = np.concatenate([found.type for found in self.found])
        similarity = np.concatenate([found.similarity for found in self.found])
        own_rater = np.concatenate([found.own_rater for found in self.found])
        other_rater = np.concatenate([found.other_rater for found in self.found])
        lead = np.concatenate([found.own[:, 0] for found in self.found])
        image = self.annotations.image[lead]
        rater_a, rater_b = np.minimum(own_rater, other_rater), np.maximum(own_rater, other_rater)
        order = np.lexsort((lead, -similarity, kind, rater_b, rater_a, image))
        flat = np.concatenate([np.concatenate([found.own, found.other], axis=1).ravel() for found in self.found])
        size = np.concatenate(
            [np.tile((found.own.shape[1], found.other.shape[1]), (len(found.own), 1)) for found in self.found]
        )
        begin = run_starts(size.ravel())[:-1].reshape(-1, 2)
        swapped = own_rater > other_rater
        begin[swapped], size[swapped] = begin[swapped, ::-1], size[swapped, ::-1]
        size = size[order].ravel()
        return {
            "image": first + image[order],
            "rater_a": rater_a[order],
            "rater_b": rater_b[order],
            "type_code": kind[order],
            "similarity": similarity[order],
            "side_size": size,
            "side_row": rows[flat[expand_runs(begin[order].ravel(), size)[1]]],
        }
