"""Calibration over shards: what is compared with what is drawn once for all images, each shard looks up its share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import check_comparable
from kalos_core.annotations import Annotations, object_array
from kalos_core.calibration import Calibration
from kalos_core.calibration.compute import (
    CalibrationSettings,
    Distances,
    best_first,
    compared_in,
    in_coordinates,
    measures_of,
    separation_of,
    warn_of_sizes,
)
from kalos_core.calibration.distances import Drawn, Nearest, draw_for_raters, expected_distances
from kalos_core.calibration.relative import Compared, Coordinates, canvas_of
from kalos_core.distributed.shards import Shards, open_shards
from kalos_core.distributed.work import Workers, over_shards
from kalos_core.options import takes
from kalos_core.shapes import Masks
from kalos_core.shapes.joining import join_columns
from kalos_core.similarity import Similarity


@dataclass(frozen=True, eq=False)
class Look:
    """What a shard has to be compared: who annotated (I, R), and of each similarity in what, and the grid of masks."""

    present: NDArray[np.bool_]
    compared: list[Compared]
    grids: list[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class LookTask:
    """What a plan of the references asks of the table of a shard."""

    measures: Sequence[Similarity]
    coordinates: Coordinates

    def __call__(self, annotations: Annotations) -> Look:
        """Nothing is compared yet."""
        present = np.zeros(annotations.assigned.shape, np.bool_)
        present[annotations.image, annotations.rater] = True
        columns = [measure.column(annotations) if len(annotations) else None for measure in self.measures]
        return Look(
            present=present,
            compared=[compared_in(annotations, measure, self.coordinates) for measure in self.measures],
            grids=[canvas_of(column) if isinstance(column, Masks) else (1, 1) for column in columns],
        )


@dataclass(frozen=True, eq=False)
class DistancesTask:
    """What calibration asks of the table of a shard; it reads from the others what its annotations are compared with.

    Parameters
    ----------
    measures : sequence of Similarity
    compared, grids : sequences
        Of each, as of `Look`, for all shards.
    shards : Shards
    number : int
        Which of the shards it is.
    image, rater : (D, I, R) int
        References of the images of this shard: numbers of images among all, and raters; -1 where nothing is compared.
    """

    measures: Sequence[Similarity]
    compared: Sequence[Compared]
    grids: Sequence[tuple[int, int]]
    shards: Shards
    number: int
    image: NDArray[np.intp]
    rater: NDArray[np.intp]

    def __call__(self, annotations: Annotations) -> list[Distances]:
        """Of each similarity."""
        image = self.image[:, annotations.image, annotations.rater]
        rater = self.rater[:, annotations.image, annotations.rater]
        table, code = self._with_references(annotations, image, rater)
        references = Drawn(code, rater)
        found = []
        for measure, how, grid in zip(self.measures, self.compared, self.grids, strict=True):
            expected = expected_distances(table, measure, references, in_coordinates(how), grid)
            found.append(Distances.of(annotations, measure, expected))
        return found

    def _with_references(
        self, annotations: Annotations, image: NDArray[np.intp], rater: NDArray[np.intp]
    ) -> tuple[Annotations, NDArray[np.intp]]:
        """The table with what it is compared with behind it, and (D, N) the images of these in it."""
        raters = len(annotations.raters)
        own = self.shards.files[self.number]
        outside = (image < own.first_image) | (image >= own.first_image + own.images)
        wanted = np.unique(image[outside] * raters + rater[outside])
        images = np.unique(wanted // raters)
        parts: list[Annotations] = []
        sizes = [annotations.image_size]
        codes = [annotations.image]
        for shard in self.shards:
            first, last = shard.files.first_image, shard.files.first_image + shard.files.images
            begin, end = np.searchsorted(images, (first, last)).tolist()
            if begin == end:
                continue
            other = shard.read()
            rows = np.flatnonzero(np.isin((other.image + first) * raters + other.rater, wanted))
            taken = other.select(rows=rows)
            parts.append(taken)
            sizes.append(other.image_size[images[begin:end] - first])
            codes.append(len(annotations.images) + np.searchsorted(images, taken.image + first))
        size = np.concatenate(sizes)
        tables = [annotations, *parts]
        rows_in_all = sum(len(part) for part in tables)
        kinds = dict.fromkeys(kind for part in tables for kind in part.shapes)
        table = Annotations(
            image=np.concatenate(codes),
            rater=np.concatenate([part.rater for part in tables]),
            category=np.zeros(rows_in_all, np.intp),
            id=np.arange(rows_in_all),
            shapes={kind: join_columns(kind, [part.shapes.get(kind, len(part)) for part in tables]) for kind in kinds},
            images=object_array(range(len(size))),
            files=object_array([""] * len(size)),
            raters=annotations.raters,
            categories=object_array(["any"]),
            image_size=size,
            assigned=np.ones((len(size), raters), np.bool_),
        )
        return table, np.where(
            outside, len(annotations.images) + np.searchsorted(images, image), image - own.first_image
        )


@dataclass(frozen=True)
class CalibrationOverShards(CalibrationSettings, Workers):
    """What `calibrate` of shards takes."""


@takes(CalibrationOverShards)
def calibrate(folder: str | os.PathLike[str] | Shards, settings: CalibrationOverShards) -> Calibration:
    """As `kalos_core.calibrate`, of a folder of shards.

    Which rater of which other image each annotation is compared with is drawn once for the whole data set. These lie in
    all shards, so that a worker reads every shard once for each of its own: few large shards are better than many.

    Parameters
    ----------
    folder, client, progress
        As of `kalos_core.distributed.agreement`.

    Returns
    -------
    Calibration

    Warns
    -----
    KalosWarning
        As `kalos_core.calibrate`.

    Raises
    ------
    InputError
        As `kalos_core.calibrate`; naming the file of a shard that cannot be used.

    Examples
    --------
    >>> from kalos_core.distributed import write_shards
    >>> rng = np.random.default_rng(0)
    >>> rows = [
    ...     {"image": image, "rater": rater, "category": "cat", "box": [*place + rng.normal(0, 1, 2), 20, 20]}
    ...     for image in range(20)
    ...     for place in rng.uniform(5, 90, (3, 2))
    ...     for rater in ("ann", "bob")
    ... ]
    >>> annotations = Annotations.from_rows(rows, image_size={image: (120, 120) for image in range(20)})
    >>> found = calibrate(write_shards(annotations, "chance", images_per_shard=8))["box_iou"]
    >>> round(found.ks, 2), round(found.threshold, 2), len(found.observed), len(found.expected)
    (1.0, 0.52, 120, 120)
    """
    shards, coordinates = open_shards(folder), settings.coordinates
    measures = measures_of(settings, shards.vocabulary.complete)
    known, told = shards.without_annotations(), (settings.client, settings.progress)
    check_comparable(known)
    looks = over_shards(shards, LookTask(measures, coordinates), *told, "What is compared")
    present = np.concatenate([look.present for look in looks])
    image, rater = draw_for_raters(known, present, settings.repeats, settings.seed)
    compared = [_in_all([look.compared[at] for look in looks], coordinates) for at in range(len(measures))]
    grids = [_grid([look.grids[at] for look in looks]) for at in range(len(measures))]
    warn_of_sizes(known, compared, coordinates)
    tasks = []
    for number, files in enumerate(shards.files):
        own = slice(files.first_image, files.first_image + files.images)
        tasks.append(DistancesTask(measures, compared, grids, shards, number, image[:, own], rater[:, own]))
    parts = over_shards(shards, tasks, *told, "Distances")
    found = []
    for at, (measure, how) in enumerate(zip(measures, compared, strict=True)):
        distances = _joined(shards, [part[at] for part in parts], settings.repeats)
        found.append(separation_of(distances, known.image_rank, measure.name, how, settings))
    return best_first(found, settings)


def _in_all(compared: Sequence[Compared], coordinates: Coordinates) -> Compared:
    """What annotations of all shards can be compared in; one without any can be compared in what was asked for."""
    others = [one for one in compared if one != coordinates]
    return others[0] if others else coordinates


def _grid(grids: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return max(width for width, _ in grids), max(height for _, height in grids)


def _joined(shards: Shards, parts: Sequence[Distances], repeats: int) -> Distances:
    """The distances of all shards, as of one table with rows in the order of images."""
    before = np.cumsum([0, *(len(part.size) for part in parts)])
    observed = Nearest(
        np.concatenate([part.observed.distance for part in parts]),
        np.concatenate([part.observed.row + start for part, start in zip(parts, before, strict=False)]),
    )
    expected = np.concatenate([part.expected.distance.reshape(repeats, -1) for part in parts], axis=1)
    return Distances(
        observed=observed,
        expected=Nearest(expected.ravel(), np.tile(np.arange(before[-1]), repeats)),
        image=np.concatenate([part.image + files.first_image for part, files in zip(parts, shards.files, strict=True)]),
        size=np.concatenate([part.size for part in parts]),
        kind=next((part.kind for part in parts if part.kind), ""),
    )
