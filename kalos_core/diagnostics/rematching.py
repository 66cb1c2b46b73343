"""Rematching of many groups of raters at once, from existing similarities.

Every group and image becomes a separate image of one table, in which only the raters of the group are assigned. A
single call of the solver then matches all groups. The table refers to annotations by row number; shapes and
similarities are neither copied nor recomputed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, AgreementSettings, compared
from kalos_core.annotations import Annotations, object_array
from kalos_core.arrays import expand_runs, run_starts
from kalos_core.correspondence import correspond
from kalos_core.errors import InputError
from kalos_core.pairs import Pairs, compute_pairs
from kalos_core.reliability import build_units, image_coincidences
from kalos_core.resampling import Cells, join_cells, join_images
from kalos_core.shapes.borrowed import Borrowed
from kalos_core.similarity import Similarity, get_similarity
from kalos_core.similarity.fitting import sent

LARGEST_BLOCK = 1 << 18
"""Entries of the largest temporary table. Images are rematched in blocks of about this size, to stay in cache."""


def taking_part(annotations: Annotations) -> NDArray[np.bool_]:
    """(I, R) True if a rater is assigned to an image, or annotated something there nonetheless (`excluded`)."""
    part = annotations.assigned_any_class.copy()
    part[annotations.image, annotations.rater] = True
    return part


def rematch(agreement: Agreement, groups: NDArray[np.bool_], images: NDArray[np.bool_] | None = None) -> Cells:
    """Match only the raters of each group, with the agreement's own configuration.

    Parameters
    ----------
    agreement : Agreement
    groups : (G, R) bool
        Whether each rater is in each group.
    images : (G, I) bool, optional
        Whether an image is needed for a group; by default all are.

    Returns
    -------
    Cells
        Statistic g is group g. An image is included if it is needed and at least two raters of the group take part.
        With an agreement of shards, each shard is matched where it is read.

    Examples
    --------
    >>> from kalos_core import Annotations, agreement
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, h]} for r, h in zip("abc", (9, 9, 1))]
    >>> result = agreement(Annotations.from_rows(rows))
    >>> cells = rematch(result, np.array([[True, True, False], [True, False, True]]))
    >>> cells.statistic.tolist(), cells.image.tolist(), cells.value.tolist()
    ([0, 1], [0, 0], [1.0, -0.5])
    """
    of_shards = agreement.of_shards
    if of_shards is None:
        return _rematched(agreement.annotations, agreement.pairs, agreement.configuration, groups, images)
    wanted = np.ones((len(groups), len(agreement.image_alpha)), np.bool_) if images is None else images
    shards, settings = of_shards.shards, agreement.configuration
    tasks = [
        partial(_of_shard, measure=sent(of_shards.measure), settings=settings, groups=groups, images=wanted[:, own])
        for own in map(slice, shards.starts[:-1], shards.starts[1:])
    ]
    return join_images(shards.parts(tasks, "Matching again"), shards.starts)


def _of_shard(
    annotations: Annotations,
    measure: str | Similarity,
    settings: AgreementSettings,
    groups: NDArray[np.bool_],
    images: NDArray[np.bool_],
) -> Cells:
    pairs = compute_pairs(annotations, get_similarity(measure), settings.threshold)
    return _rematched(compared(annotations, settings.empty), pairs, settings, groups, images)


def _rematched(
    annotations: Annotations,
    pairs: Pairs,
    settings: AgreementSettings,
    groups: NDArray[np.bool_],
    images: NDArray[np.bool_] | None,
) -> Cells:
    enough = groups.astype(np.float32) @ taking_part(annotations).T.astype(np.float32) >= 2
    image, statistic = np.nonzero((enough if images is None else enough & images).T)
    source = _Source(annotations, pairs, settings, groups)
    parts = [source.match(statistic[start:stop], image[start:stop]) for start, stop in source.blocks(statistic, image)]
    return join_cells(parts)


class _Source:
    """Annotations and their pairs, sorted for selection by image, rater and group."""

    def __init__(
        self, annotations: Annotations, pairs: Pairs, settings: AgreementSettings, groups: NDArray[np.bool_]
    ) -> None:
        self.annotations = annotations
        self.configuration = settings
        self.groups = groups
        images, raters = self.annotations.assigned.shape
        home = self.annotations.image * raters + self.annotations.rater
        self.order = np.argsort(home, kind="stable")
        self.counts = np.bincount(home, minlength=images * raters).reshape(images, raters)
        self.first = run_starts(self.counts.ravel())[:-1].reshape(images, raters)
        self.rank = np.empty(len(home), np.intp)  # position among the annotations of the same rater and image
        self.rank[self.order] = np.arange(len(home)) - self.first.ravel()[home[self.order]]
        near = pairs.at_least(settings.threshold)
        image_of_pair = self.annotations.image[near.left]
        by_image = np.argsort(image_of_pair, kind="stable")
        self.pairs = Pairs(
            near.left[by_image], near.right[by_image], near.similarity[by_image], near.name, near.floor, near.kind
        )
        self.exclusion_starts = np.searchsorted(self.annotations.excluded[:, 0], np.arange(images + 1))
        self.pair_starts = np.searchsorted(image_of_pair[by_image], np.arange(images + 1))

    def blocks(self, statistic: NDArray[np.intp], image: NDArray[np.intp]) -> list[tuple[int, int]]:
        """Slices of the cells (M,), sorted by image, each of whole images; a single empty one if there are no cells."""
        if not len(image):
            return [(0, 0)]
        ends = np.append(np.flatnonzero(np.diff(image)) + 1, len(image))
        rows = (self.groups.astype(np.float64) @ self.counts.T)[statistic, image]
        pairs = np.diff(self.pair_starts)[image[ends - 1]] * np.diff(self._groups_of_two[0]).max()
        work = np.cumsum(self.groups.shape[1] * (1 + rows))[ends - 1] + np.cumsum(len(self.groups) + pairs)
        stops = ends[np.append(np.diff(work // LARGEST_BLOCK) > 0, True)].tolist()
        return list(zip([0, *stops[:-1]], stops, strict=True))

    def match(self, statistic: NDArray[np.intp], image: NDArray[np.intp]) -> Cells:
        """Match all groups of some images in one call and return their cells (M,)."""
        members = self.groups[statistic]
        counts = np.where(members, self.counts[image], 0)
        owner, position = expand_runs(self.first[image].ravel(), counts.ravel())
        rows = self.order[position]
        starts = run_starts(counts.ravel())[:-1].reshape(counts.shape)
        table = self._table(statistic, image, owner // members.shape[1], rows)
        pairs = self._pairs(statistic, image, starts)
        settings = self.configuration
        unit_of = correspond(table, pairs, settings.threshold, settings.solver, settings.cost)
        sums, _ = image_coincidences(table, build_units(table, unit_of))
        return Cells.of(statistic, image, sums)

    def _table(
        self, statistic: NDArray[np.intp], image: NDArray[np.intp], cell: NDArray[np.intp], rows: NDArray[np.intp]
    ) -> Annotations:
        """Table with each cell as a separate image; the annotations at `rows` belong to the images `cell`."""
        given = self.annotations
        names = object_array(range(len(image)))
        fields = given.taken(N=rows, I=image) | {
            "image": cell,
            "shapes": {kind: Borrowed(column, rows) for kind, column in given.shapes.items()},
            "images": names,
            "files": names,
            "assigned": given.assigned[image] & self.groups[statistic],
            "excluded": self._excluded(statistic, image),
            "attributes": {},
        }
        return replace(given, **fields)

    def _excluded(self, statistic: NDArray[np.intp], image: NDArray[np.intp]) -> NDArray[np.intp]:
        """Exclusions on the cells' images, for the raters of their groups."""
        starts = self.exclusion_starts
        cell, position = expand_runs(starts[image], np.diff(starts)[image])
        excluded = np.stack([cell, *self.annotations.excluded[position, 1:].T], axis=1)
        return np.asarray(excluded[self.groups[statistic[cell], excluded[:, 1]]])

    def _pairs(self, statistic: NDArray[np.intp], image: NDArray[np.intp], starts: NDArray[np.intp]) -> Pairs:
        """Pairs of all cells, as rows of their table; `starts` (M, R): first annotation of each rater."""
        if not len(image):
            return self.pairs.keep(np.zeros(len(self.pairs), np.bool_))
        begin, end = self.pair_starts[image[0]], self.pair_starts[image[-1] + 1]
        left, right = self.pairs.left[begin:end], self.pairs.right[begin:end]
        similarity = self.pairs.similarity[begin:end]
        cell_of = np.full((image[-1] - image[0] + 1, len(self.groups)), -1, np.intp)
        cell_of[image - image[0], statistic] = np.arange(len(image))
        raters = len(self.annotations.raters)
        key = self.annotations.rater[left] * raters + self.annotations.rater[right]
        first, groups = self._groups_of_two
        pair, position = expand_runs(first[key], np.diff(first)[key])
        cell = cell_of[(self.annotations.image[left] - image[0])[pair], groups[position]]
        pair, cell = pair[cell >= 0], cell[cell >= 0]
        left, right = (
            starts[cell, self.annotations.rater[side[pair]]] + self.rank[side[pair]] for side in (left, right)
        )
        return Pairs(left, right, similarity[pair], self.pairs.name, self.pairs.floor, self.pairs.kind)

    @cached_property
    def _groups_of_two(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """(R * R + 1,) starts of the groups with raters a and b, at index a * R + b, and the concatenated groups."""
        raters = self.groups.shape[1]
        group, member = np.nonzero(self.groups)
        size = self.groups.sum(axis=1)
        entry, other = expand_runs(run_starts(size)[group], size[group])
        key = member[entry] * raters + member[other]
        order = np.argsort(key, kind="stable")
        return np.searchsorted(key[order], np.arange(raters**2 + 1)), group[entry][order]


def refuse_local_raters(annotations: Annotations, what: str) -> None:
    """Raise `InputError` if raters are local to their image, since `what` would mix different people."""
    if annotations.raters_are_local:
        raise InputError(
            f"{what}: expected raters who are the same person on every image, got raters that are local to their "
            "image (raters_are_local), as the reading sessions of LIDC: a number per rater would mix different people"
        )
