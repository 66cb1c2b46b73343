"""What calibration computes of each table: what can be compared, and distances; and how they are merged."""

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
"""Classes of size of COCO."""

SIZE_EDGES = (32.0**2 / (640 * 480), 96.0**2 / (640 * 480))
"""Shares of the image's area between them: COCO's areas in an image of 640 x 480 (KαLOS §9, §11)."""

SOLIDS = ("volume", "cuboid")
"""Kinds of shape that have no area in an image."""


@checked
def size_classes(annotations: Annotations, similarity: str | Similarity | Rows) -> NDArray[np.intp]:
    """(N,) index in `SIZES` of each annotation, by the shape that is compared; -1 where its image's size is unknown.

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
    An image of 640 x 480, and one of a quarter of its area:

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
    """What annotations of two images can be compared in: in pixels where relative coordinates are not known."""
    if not len(annotations):
        return coordinates
    kind, needs_size = relative_shape(measure.column(annotations))
    if not kind:
        return "own"
    sizes = annotations.image_size[annotations.image]
    return "pixels" if needs_size and np.isnan(sizes).any() else coordinates


@dataclass(frozen=True, eq=False)
class Look:
    """What there is to be compared, before anything is: who annotated, and of each similarity in what, and how large.

    Parameters
    ----------
    present : (I, R) bool
        Who annotated something in an image.
    compared : list of Compared
        What annotations of two images can be compared in.
    grids : list of (int, int)
        The grid that spans every image, of masks.
    """

    present: NDArray[np.bool_]
    compared: list[Compared]
    grids: list[tuple[int, int]]

    @classmethod
    def of(cls, annotations: Annotations, measures: Sequence[str | Similarity], coordinates: Coordinates) -> Look:
        """That of one table."""
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
        """That of all tables; one without annotations can be compared in the coordinates that were asked for."""
        compared = zip(*(part.compared for part in parts), strict=True)
        grids = zip(*(part.grids for part in parts), strict=True)
        return cls(
            present=np.concatenate([part.present for part in parts]),
            compared=[next((one for one in each if one != coordinates), coordinates) for each in compared],
            grids=[(max(width for width, _ in each), max(height for _, height in each)) for each in grids],
        )


@dataclass(frozen=True, eq=False)
class Distances:
    """What one similarity finds of N annotations.

    Parameters
    ----------
    observed, expected : Nearest
    image : (N,) int
        Code of each annotation's image.
    size : (N,) int
        As of `size_classes`.
    kind : str
        Of the shapes compared; "" without annotations.
    """

    observed: Nearest
    expected: Nearest
    image: NDArray[np.intp]
    size: NDArray[np.intp]
    kind: str

    @classmethod
    def of(cls, annotations: Annotations, measure: Similarity, expected: Nearest) -> Distances:
        """Those of one table, and the distances to annotations of other images."""
        kind = measure.kind_in(annotations) if len(annotations) else ""
        observed = observed_distances(annotations, measure)
        return cls(observed, expected, annotations.image, size_classes(annotations, measure), kind)

    @classmethod
    def merged(cls, parts: Sequence[Distances], starts: NDArray[np.intp]) -> Distances:
        """Those of all tables, as of one with rows in the order of images; `starts`: the first image of each."""
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
    """The distances of one table, to its own annotations and to those of other images, some of other shards.

    Parameters
    ----------
    measures : sequence of str or Similarity
    compared, grids : sequences
        As of `Look`, of all shards.
    shards : sequence of OneShard
        All of them; none where there is one table.
    starts : (S + 1,) int
        The first image of each, and how many there are.
    number : int
        Which of the shards it is.
    image, rater : (D, I, R) int
        References of the images of this shard: numbers of images among all, and raters; -1 where nothing is compared.
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
        """Distances by each similarity."""
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
        """The table with what it is compared with behind it, and (D, N) the images of these in it."""
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
