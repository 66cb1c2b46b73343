"""Calibration: compute which similarity separates signal from chance best, and from which threshold."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import check_comparable
from kalos_core.annotations import Annotations
from kalos_core.arrays import distinct_codes
from kalos_core.calibration.density import Sample, crossings, find_crossings, has_density, kolmogorov_smirnov, once_each
from kalos_core.calibration.distances import Nearest, draw_for_raters
from kalos_core.calibration.parts import SIZES, SOLIDS, Distances, DistancesTask, Look
from kalos_core.calibration.relative import Compared, Coordinates
from kalos_core.calibration.result import Calibration, Separation
from kalos_core.errors import InputError, check_iterable, listed, warn
from kalos_core.inference import intervals
from kalos_core.limits import check_replicates
from kalos_core.options import Option, Replicates, Seed, Settings, takes
from kalos_core.resampling import draws
from kalos_core.sharding import Sharded, kinds_of, known_of, parts_of, starts_of
from kalos_core.similarity import Rows, Similarity
from kalos_core.similarity.fitting import measure_for, sent
from kalos_core.similarity.table import SimilarityName

Named = SimilarityName | Similarity | Rows


def check_several(value: Any, name: str) -> Any:
    """Check one similarity or several, as a tuple; names are looked up when annotations are compared."""
    if value is None or isinstance(value, (str, Similarity)) or callable(value):
        return value
    return tuple(check_iterable(value, name, "the name of a similarity, or several"))


Similarities = Annotated[
    Named | Sequence[Named] | None,
    Option(
        "Similarities",
        "One or several similarities to calibrate; 'auto' takes that of the most exact shape that every annotation "
        "has.",
        type="one or several of: name in `SIMILARITIES`, `Similarity`, function",
        check=check_several,
    ),
]


@dataclass(frozen=True)
class CalibrationSettings(Settings):
    """Settings of `calibrate`."""

    similarities: Similarities = "auto"
    repeats: Annotated[
        int,
        Option("Draws of chance", "Number of random raters on other images, drawn for each image and rater.", low=1),
    ] = 1
    bootstrap: Replicates = 0
    seed: Seed = 0
    coordinates: Coordinates = "relative"


@takes(CalibrationSettings)
def calibrate(annotations: Annotations | Sharded[Annotations], settings: CalibrationSettings) -> Calibration:
    """Find the similarity that separates matches from chance best, and its threshold (KαLOS §3.3, §7.2, §11).

    Observed distances (1 - similarity) are from an annotation to the nearest annotation of each other rater on its
    image. Expected distances are to the nearest annotation of a rater on another image, drawn at random. The best
    similarity has the largest Kolmogorov-Smirnov statistic between the two. Its threshold is 1 - tau*, where tau* is
    the distance at which the density of expected distances overtakes that of observed ones.

    Parameters
    ----------
    annotations : Annotations, or shards of them
        References are drawn from all images, so each shard requires reading all others, one after the other: a few
        large shards are better than many.

    Returns
    -------
    Calibration
        Sorted by KS, largest first, then by name. `Separation.trusted` and `Separation.why` rate each tau*.

    Warns
    -----
    KalosWarning
        If the size of an image is unknown; boxes and polygons are then compared in pixels.

    Notes
    -----
    Boxes, polygons and the keypoints of `oks` are relative to their own image, as in the authors' code that produced
    the paper's numbers. Masks are resampled to one grid that spans every image. Centroids (over the diagonal of the
    target's image), poses and volumes (relative by definition), cuboids and user functions define their own
    coordinates. `Separation.coordinates` reports the coordinates used. The paper takes 100 replicates. The draws are
    the same for every similarity and every order of rows, images and raters.

    A rater who was assigned to an image and annotated nothing is at distance 1 from every annotation in it. A rater who
    was assigned to no class at all is excluded. Sizes are those of the target annotations only, against annotations of
    any size: small below 32^2 and large above 96^2 pixels of an image of 640 x 480, scaled to the area of the
    annotation's image.

    tau* is NaN in the following cases, with the reason in `Separation.reason` (the public `kalos` package returns 0.5):

    ======================================================  ==================================================
    distances                                               why
    ======================================================  ==================================================
    fewer than two observed or expected                     no density can be estimated
    all observed, or all expected, are equal                likewise
    the densities share their mode and do not cross         signal looks like chance
    ======================================================  ==================================================

    Raises
    ------
    InputError
        If there are fewer than two raters or two images, no similarity, an unknown one or one given twice, or unknown
        `coordinates`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = [
    ...     {"image": image, "rater": rater, "category": "cat", "box": [*place + rng.normal(0, 1, 2), 20, 20]}
    ...     for image in range(20)
    ...     for place in rng.uniform(5, 90, (3, 2))
    ...     for rater in ("ann", "bob")
    ... ]
    >>> annotations = Annotations.from_rows(rows, image_size={image: (120, 120) for image in range(20)})
    >>> found = calibrate(annotations, ["box_iou"])["box_iou"]
    >>> round(found.ks, 2), round(found.threshold, 2), len(found.observed), len(found.expected)
    (1.0, 0.52, 120, 120)
    """
    known, measures = known_of(annotations), _measures_of(settings, kinds_of(annotations))
    check_replicates(settings.repeats, len(known), "repeats", 1)
    check_replicates(settings.bootstrap, len(known.images))
    check_comparable(known)
    look = partial(Look.of, measures=list(map(sent, measures)), coordinates=settings.coordinates)
    seen = Look.merged(parts_of(annotations, look, "Coordinates"), settings.coordinates)
    _warn_of_sizes(known, seen.compared, settings.coordinates)
    image, rater = draw_for_raters(known, seen.present, settings.repeats, settings.seed)
    starts = starts_of(annotations, len(known.images))
    tasks = [
        DistancesTask(
            measures=list(map(sent, measures)),
            compared=seen.compared,
            grids=seen.grids,
            shards=tuple(annotations) if isinstance(annotations, Sharded) else (),
            starts=starts,
            number=number,
            image=image[:, first:last],
            rater=rater[:, first:last],
        )
        for number, (first, last) in enumerate(pairwise(starts.tolist()))
    ]
    parts = parts_of(annotations, tasks, "Distances")
    found = [
        _separation_of(Distances.merged(of_measure, starts), known.image_rank, measure.name, how, settings)
        for of_measure, measure, how in zip(zip(*parts, strict=True), measures, seen.compared, strict=True)
    ]
    return _best_first(found, settings)


def _measures_of(settings: CalibrationSettings, of: Annotations | Collection[str]) -> list[Similarity]:
    """Similarities to calibrate for annotations or kinds of shapes, each once."""
    chosen: Any = settings.similarities
    measures = [measure_for(similarity, of) for similarity in (chosen if isinstance(chosen, tuple) else [chosen])]
    names = [measure.name for measure in measures]
    if not names or len(set(names)) != len(names):
        raise InputError(f"similarities: expected one or more, each once, got {listed(names) or 'none'}")
    return measures


def _warn_of_sizes(annotations: Annotations, compared: Sequence[Compared], coordinates: Coordinates) -> None:
    """Warn if annotations of two images are compared in pixels without being requested."""
    if coordinates == "relative" and "pixels" in compared:
        unknown = np.asarray(np.isnan(annotations.image_size).any(axis=1))
        warn(
            f"coordinates: the sizes of {int(unknown.sum()):,} of {len(unknown):,} images are unknown "
            f"({listed(annotations.images[unknown])}), so annotations of two images are compared in pixels, not "
            'relative to their images; give the sizes, or pass coordinates="pixels"'
        )


def _best_first(found: list[Separation], settings: CalibrationSettings) -> Calibration:
    """Sort the separations into the result of `calibrate`."""
    found.sort(key=lambda one: (-one.ks if np.isfinite(one.ks) else np.inf, one.name))
    return Calibration(tuple(found), settings.repeats, settings.bootstrap, settings.seed, settings.coordinates)


@dataclass(frozen=True, eq=False)
class _Targets:
    """Distances of some target annotations, and the reason if there are none."""

    name: str
    observed: Sample
    expected: Sample
    why_none: str


def _separation_of(
    distances: Distances, rank: NDArray[np.intp], name: str, compared: Compared, settings: CalibrationSettings
) -> Separation:
    """Separation of one similarity, for all annotations and for each size; `rank` as in `Annotations.image_rank`."""
    # replicates do not depend on the order of images
    images, image = distinct_codes(rank[distances.image])
    size = distances.size
    chosen = {"all": np.ones(len(size), np.bool_), **{part: size == n for n, part in enumerate(SIZES)}}
    targets = [
        _Targets(
            part,
            _sample(distances.observed, image, kept),
            _sample(distances.expected, image, kept),
            _why_none(distances, part),
        )
        for part, kept in chosen.items()
    ]
    drawn = _bootstrap(targets, len(images), settings.bootstrap, settings.seed)
    whole, *strata = (
        _separation(name, part, len(images), compared, *replicates)
        for part, replicates in zip(targets, drawn, strict=True)
    )
    return replace(whole, strata={found.size: found for found in strata})


def _sample(nearest: Nearest, image: NDArray[np.intp], kept: NDArray[np.bool_]) -> Sample:
    """Distances of the selected targets (N,), with the image of each."""
    if kept.all():
        return Sample(nearest.distance, image[nearest.row])
    of_kept = kept[nearest.row]
    return Sample(nearest.distance[of_kept], image[nearest.row[of_kept]])


def _separation(
    name: str,
    targets: _Targets,
    images: int,
    compared: Compared,
    of_ks: NDArray[np.float64],
    of_tau: NDArray[np.float64],
) -> Separation:
    times = once_each(images)
    held = min(np.count_nonzero(np.bincount(each.image)) for each in (targets.observed, targets.expected))
    ks, ks_at = kolmogorov_smirnov(targets.observed, targets.expected, times)
    ((tau, crosses),) = find_crossings(targets.observed, targets.expected, times)
    return Separation(
        name=name,
        size=targets.name,
        observed=targets.observed.value,
        expected=targets.expected.value,
        ks=float(ks[0]),
        ks_at=float(ks_at[0]),
        tau=tau,
        reason=_reason(targets) if np.isnan(tau) else "",
        ks_interval=intervals(of_ks[:, None], held)[0],
        tau_interval=intervals(of_tau[:, None], held)[0],
        ks_replicates=of_ks,
        images=int(held),
        coordinates=compared,
        crosses=crosses,
    )


def _bootstrap(
    targets: list[_Targets], images: int, replicates: int, seed: int
) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """KS (B,) and tau* (B,) of each target set by replicate, all with the same draws; distances are not recomputed."""
    found: list[list[NDArray[np.float64]]] = [[np.zeros((2, 0))] for _ in targets]
    for times in draws(images, replicates, seed) if images else ():
        for part, values in zip(targets, found, strict=True):
            ks = kolmogorov_smirnov(part.observed, part.expected, times)[0]
            values.append(np.stack([ks, crossings(part.observed, part.expected, times)]))
    return [(of_ks, of_tau) for of_ks, of_tau in (np.concatenate(values, axis=1) for values in found)]


def _why_none(distances: Distances, name: str) -> str:
    """Return the reason why there may be no target annotation."""
    size = distances.size
    if not len(size):
        return "there are no annotations"
    if name == "all" or (size == SIZES.index(name)).any():
        return "no annotation has another rater assigned to its image"
    if distances.kind in SOLIDS:
        return f"shapes of kind {distances.kind!r} have no area in an image"
    return "the sizes of the images are unknown" if (size < 0).all() else f"there are no {name} annotations"


def _reason(targets: _Targets) -> str:
    """Return the reason why tau* is NaN."""
    for what, sample in (("observed", targets.observed), ("expected", targets.expected)):
        values = sample.value
        if not len(values):
            return targets.why_none
        if len(values) == 1:
            return f"there is only one {what} distance, which has no density"
        if not has_density(values):
            return f"all {len(values):,} {what} distances are {values[0]:.3g}, and have no density"
    return "the densities of observed and expected distances have the same mode and do not cross"
