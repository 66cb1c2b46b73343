"""Distances of single tables, and their merging for calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.annotations.joining import join
from kalos_core.arrays import run_starts
from kalos_core.calibration.distances import Drawn, Nearest, expected_distances, observed_distances
from kalos_core.calibration.relative import Compared, Coordinates, canvas_of, relative_shape
from kalos_core.options import checked
from kalos_core.shapes import Masks
from kalos_core.sharding import OneShard
from kalos_core.similarity import Rows, Similarity, get_similarity

SIZES = ("small", "medium", "large")
"""COCO size classes."""

SIZE_EDGES = (32.0**2 / (640 * 480), 96.0**2 / (640 * 480))
"""Limits between the sizes as shares of the image area: COCO's areas in an image of 640 x 480 (KαLOS §9, §11)."""

SOLIDS = ("volume", "cuboid")
"""Kinds of shape without an area in an image."""


@checked
def size_classes(annotations: Annotations, similarity: str | Similarity | Rows) -> NDArray[np.intp]:
    """(N,) index in `SIZES` of each annotation, by the compared shape; -1 if its image's size is unknown.

    Parameters
    ----------
    annotations : Annotations
    similarity : as for `calibrate`

    Returns
    -------
    (N,) int
        All -1 for shapes without an area in an image (volumes, cuboids).

    Examples
    --------
    One image of 640 x 480, and one with a quarter of its area:

    >>> rows = [
    ...     {"image": image, "rater": "ann", "category": "cat", "box": [0, 0, side, side]}
    ...     for image, side in [("whole", 31), ("whole", 32), ("quarter", 32), ("quarter", 49), ("?", 9)]
    ... ]
    >>> annotations = Annotations.from_rows(rows, image_size={"whole": (640, 480), "quarter": (320, 240)})
    >>> size_classes(annotations, "box_iou").tolist()
    [0, 1, 1, 2, -1]
    """
    unknown = np.full(len(annotations), -1, np.intp)
    if not len(annotations):
        return unknown
    kind = get_similarity(similarity).kind_in(annotations)
    if kind in SOLIDS:
        return unknown
    share = annotations.shapes[kind].area() / annotations.image_size.prod(axis=1)[annotations.image]
    small, large = SIZE_EDGES
    return np.where(np.isnan(share), unknown, np.where(share < small, 0, np.where(share <= large, 1, 2)))


def _compared_in(annotations: Annotations, measure: Similarity, coordinates: Coordinates) -> Compared:
    """Coordinates for comparing annotations of two images; pixels if relative coordinates are unknown."""
    if not len(annotations):
        return coordinates
    kind, needs_size = relative_shape(measure.column(annotations))
    if not kind:
        return "own"
    sizes = annotations.image_size[annotations.image]
    return "pixels" if needs_size and np.isnan(sizes).any() else coordinates


@dataclass(frozen=True, eq=False)
class Look:
    """Summary of tables before comparison: who annotated, and coordinates and grids for each similarity.

    Parameters
    ----------
    present : (I, R) bool
        Whether each rater annotated something on each image.
    compared : list of Compared
        Coordinates for comparing annotations of two images.
    grids : list of (int, int)
        Grid for masks that spans every image.
    """

    present: NDArray[np.bool_]
    compared: list[Compared]
    grids: list[tuple[int, int]]

    @classmethod
    def of(cls, annotations: Annotations, measures: Sequence[str | Similarity], coordinates: Coordinates) -> Look:
        """Summarise one table."""
        known = list(map(get_similarity, measures))
        present = np.zeros(annotations.assigned.shape, np.bool_)
        present[annotations.image, annotations.rater] = True
        columns = [measure.column(annotations) if len(annotations) else None for measure in known]
        return cls(
            present=present,
            compared=[_compared_in(annotations, measure, coordinates) for measure in known],
            grids=[canvas_of(column) if isinstance(column, Masks) else (1, 1) for column in columns],
        )

    @classmethod
    def merged(cls, parts: Sequence[Look], coordinates: Coordinates) -> Look:
        """Merge the summaries of all tables; a table without annotations accepts any coordinates."""
        compared = zip(*(part.compared for part in parts), strict=True)
        grids = zip(*(part.grids for part in parts), strict=True)
        return cls(
            present=np.concatenate([part.present for part in parts]),
            compared=[next((one for one in each if one != coordinates), coordinates) for each in compared],
            grids=[(max(width for width, _ in each), max(height for _, height in each)) for each in grids],
        )


@dataclass(frozen=True, eq=False)
class Distances:
    """Distances of N annotations by one similarity.

    Parameters
    ----------
    observed, expected : Nearest
    image : (N,) int
        Code of each annotation's image.
    size : (N,) int
        See `size_classes`.
    kind : str
        Kind of the shapes compared; "" without annotations.
    """

    observed: Nearest
    expected: Nearest
    image: NDArray[np.intp]
    size: NDArray[np.intp]
    kind: str

    @classmethod
    def of(cls, annotations: Annotations, measure: Similarity, expected: Nearest) -> Distances:
        """Compute the distances of one table, given those to annotations of other images."""
        kind = measure.kind_in(annotations) if len(annotations) else ""
        observed = observed_distances(annotations, measure)
        return cls(observed, expected, annotations.image, size_classes(annotations, measure), kind)

    @classmethod
    def merged(cls, parts: Sequence[Distances], starts: NDArray[np.intp]) -> Distances:
        """Merge distances as if from one table with rows in image order; `starts` is the first image of each table."""
        if len(parts) == 1:
            return parts[0]
        before = run_starts([len(part.size) for part in parts])
        repeats = [part.expected.distance.reshape(-1, len(part.size)) for part in parts if len(part.size)]
        expected = np.concatenate(repeats, axis=1) if repeats else np.zeros((1, 0))
        observed = Nearest(
            np.concatenate([part.observed.distance for part in parts]),
            np.concatenate([part.observed.row + start for part, start in zip(parts, before, strict=False)]),
        )
        return cls(
            observed=observed,
            expected=Nearest(expected.ravel(), np.tile(np.arange(before[-1]), len(expected))),
            image=np.concatenate([part.image + start for part, start in zip(parts, starts, strict=False)]),
            size=np.concatenate([part.size for part in parts]),
            kind=next((part.kind for part in parts if part.kind), ""),
        )


@dataclass(frozen=True, eq=False)
class DistancesTask:
    """Task for the distances of one table to its own annotations and to those of other images, also of other shards.

    Parameters
    ----------
    measures : sequence of str or Similarity
    compared, grids : sequences
        See `Look`; for all shards.
    shards : sequence of OneShard
        All shards; empty if there is one table.
    starts : (S + 1,) int
        Index of the first image of each shard, and the total number of images.
    number : int
        Index of this shard.
    image, rater : (D, I, R) int
        References of the images of this shard: global image numbers, and raters; -1 if nothing is compared.
    """

    measures: Sequence[str | Similarity]
    compared: Sequence[Compared]
    grids: Sequence[tuple[int, int]]
    shards: Sequence[OneShard[Annotations]]
    starts: NDArray[np.intp]
    number: int
    image: NDArray[np.intp]
    rater: NDArray[np.intp]

    def __call__(self, annotations: Annotations) -> list[Distances]:
        """Return the distances for each similarity."""
        image = self.image[:, annotations.image, annotations.rater]
        rater = self.rater[:, annotations.image, annotations.rater]
        table, code = self._with_references(annotations, image, rater) if self.shards else (annotations, image)
        references = Drawn(code, rater)
        found = []
        for measure, how, grid in zip(map(get_similarity, self.measures), self.compared, self.grids, strict=True):
            coordinates: Coordinates = "pixels" if how == "pixels" else "relative"
            expected = expected_distances(table, measure, references, coordinates, grid)
            found.append(Distances.of(annotations, measure, expected))
        return found

    def _with_references(
        self, annotations: Annotations, image: NDArray[np.intp], rater: NDArray[np.intp]
    ) -> tuple[Annotations, NDArray[np.intp]]:
        """Append the annotations that the table is compared with; also return (D, N) image codes of the references."""
        raters = len(annotations.raters)
        own, end = self.starts[self.number : self.number + 2]
        outside = (image < own) | (image >= end)
        wanted = np.unique(image[outside] * raters + rater[outside])
        images = np.unique(wanted // raters)
        tables = [annotations]
        for shard, (first, last) in zip(self.shards, pairwise(self.starts.tolist()), strict=True):
            here = images[(images >= first) & (images < last)]
            if len(here):
                other = shard.read()
                rows = np.flatnonzero(np.isin((other.image + first) * raters + other.rater, wanted))
                tables.append(other.select(rows=rows, images=here - first))
        code = np.where(outside, len(annotations.images) + np.searchsorted(images, image), image - own)
        return join(tables), code
