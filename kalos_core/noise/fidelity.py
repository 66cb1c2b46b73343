"""Comparison of synthetic with real raters: do they differ from a reference in the same way? (KαLOS §9.4, open there).

The paper fits each distribution, but leaves open whether raters generated from all of them together resemble the data.
Here (reference, synthetic rater) is compared with (reference, other rater), quantity by quantity.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core._agreement import agreement
from kalos_core.annotations import Annotations, object_array
from kalos_core.arrays import divide, mean_of_defined
from kalos_core.convergence.interval import map_of_halves
from kalos_core.convergence.modified import SIZES
from kalos_core.diagnostics.parts import Part
from kalos_core.display import alpha_text, number_of, significant
from kalos_core.errors import InputError, listed, lookup
from kalos_core.inference import OUTSIDE, intervals
from kalos_core.noise.fit.observations import MOST_MERGED, THRESHOLD, observe, relative_boxes
from kalos_core.noise.generation import generate_raters
from kalos_core.noise.parameters import NoiseParameters
from kalos_core.noise.settings import GenerationSettings
from kalos_core.noise.sources import ConfusionClasses
from kalos_core.options import Option, Seed, Settings
from kalos_core.resampling import Cells, join_cells, resample
from kalos_core.resampling import draws as draws_of
from kalos_core.results import Result
from kalos_core.shapes import Boxes
from kalos_core.variation import Variations, variations

MOST_PAIRS = 50
"""Maximum number of pairs of raters that are compared; of more pairs a sample is drawn."""

REPLICATES = 1000
RESAMPLED_GAPS = 200
"""Number of resamples of images for the interval of a number, and for that of a Kolmogorov-Smirnov distance."""

LEAST_VALUES = 30
"""Minimum number of values to compare a distribution; with fewer its row is left out."""

COUNTED = ("correct", "merged", "merged_wrong_class", "wrong_class", "unmatched")
"""Findings of one pair of raters; missing and additional are both unmatched, since neither rater is ground truth."""

SIZED = ("unmatched_small", "unmatched_medium", "unmatched_large")
"""Unmatched annotations by the area of their box, in COCO's sizes."""

MOST_COUNTS = 2000
"""Number of draws of the counts of all images for the interval of their maximum."""

DECIMALS = 9
"""Decimals of the values that are compared; further decimals would separate copies by rounding errors."""

MOST_GAP = 95
"""Percentile of the distances between two resamples; distances up to it are consistent with the real data."""


@dataclass(frozen=True)
class FidelityRow:
    """One quantity of `Fidelity`: value of the real raters, of the synthetic ones, and interval of the real data.

    Examples
    --------
    >>> FidelityRow("alpha", real=0.69, synthetic=0.7, low=0.63, high=0.74, inside=True).inside
    True
    """

    quantity: str
    real: float
    synthetic: float
    low: float
    high: float
    inside: bool


@dataclass(frozen=True, eq=False, repr=False)
class Fidelity(Result):
    """Comparison of (reference, synthetic rater) with (reference, other rater): Q rows.

    =========================  =====================================================================================
    quantity                   meaning
    =========================  =====================================================================================
    alpha, global_alpha        of two raters: mean over all images and pairs, and alpha of all units together
    alpha_deviation            standard deviation of the alphas of images
    images_of_one              share of images with an alpha of 1
    images_at_most_0           share of images with an alpha of 0 or less
    class_alpha                mean alpha of the classes
    classes_below_0            share of the classes with an alpha below 0
    modified_map               modified mAP, mean of both directions
    correct, merged, ...       findings of `variations` with fragments of two, over all pairs
    unmatched                  missing and additional
    unmatched_small, ...       the same by the area of the box, in COCO's sizes
    own_class                  share of unmatched annotations of a class that the other rater also has in the image
    unmatched_per_image        mean number of unmatched annotations per image and pair
    most_unmatched             largest number of unmatched annotations in an image
    ks_...                     Kolmogorov-Smirnov distance, 0 to 1, between synthetic and real values: number of
                               unmatched annotations per image; similarity, translation, angle, change of width and of
                               height of correct annotations; area of unmatched annotations
    =========================  =====================================================================================

    Figures: ``"quantities"``.

    Parameters
    ----------
    quantity : (Q,) str
    real : (Q,) float64
        Values of the real raters. For a distance: the mean distance between two resamples of their images.
    low, high : (Q,) float64
        95 % interval of the real data, from a bootstrap over images. For counts: the wider of that and Poisson's exact
        interval, since rare events vary too little between resamples. For `modified_map`: from halves of the images.
        For `most_unmatched`: from counts predicted for resampled images. For a distance: 0 and the 95 % quantile.
    by_draw : (D, Q) float64
        Values of each draw of synthetic raters.
    pairs, images : int
        Number of pairs of raters that were compared, and of images that any of them shares.

    Examples
    --------
    >>> found = Fidelity(
    ...     np.array(["alpha"]), np.array([0.7]), np.array([0.6]), np.array([0.8]), np.array([[0.75], [0.77]]), 1, 9
    ... )
    >>> found
    Fidelity of 2 draws (1 pair of raters, 9 images): 1 of 1 inside the interval of the real raters
    quantity  real  synthetic  low  high  inside
       alpha   0.7       0.76  0.6   0.8    True
    >>> found["alpha"].inside
    True
    """

    _call = "NoiseModel.default().fidelity(annotations)"
    _columns = "quantity real synthetic low high inside"

    quantity: NDArray[np.object_]
    real: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    by_draw: NDArray[np.float64]
    pairs: int
    images: int

    @cached_property
    def synthetic(self) -> NDArray[np.float64]:
        """(Q,) mean over the draws."""
        return np.asarray(self.by_draw.mean(axis=0))

    @property
    def inside(self) -> NDArray[np.bool_]:
        """(Q,) whether the synthetic value lies in the interval of the real data."""
        return (self.low <= self.synthetic) & (self.synthetic <= self.high)

    def __len__(self) -> int:
        return len(self.quantity)

    def __getitem__(self, quantity: str) -> FidelityRow:
        """Return the row of a quantity; an unknown one raises an error that lists the known ones."""
        index = lookup({str(name): at for at, name in enumerate(self.quantity)}, quantity, "quantity")
        real, synthetic, low, high = (float(c[index]) for c in (self.real, self.synthetic, self.low, self.high))
        return FidelityRow(quantity, real, synthetic, low, high, bool(self.inside[index]))

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return (
            f"Fidelity of {number_of(len(self.by_draw), 'draw')} ({number_of(self.pairs, 'pair of raters')}, "
            f"{number_of(self.images, 'image')}): "
            f"{int(self.inside.sum())} of {len(self)} inside the interval of the real raters"
        )


def plain(value: float) -> str:
    """Format a number with three decimals below 10, and three significant digits above.

    Examples
    --------
    >>> plain(0.7), plain(1398.0), plain(-0.083)
    ('0.700', '1,398', '−0.083')
    """
    return alpha_text(value, 3) if abs(value) < 10 else significant(value)


@dataclass(frozen=True)
class FidelitySettings(Settings):
    """Settings of the comparison of generated with real raters."""

    draws: Annotated[int, Option("Draws", "Number of times that all raters are generated.", low=1)] = 10
    seed: Seed = 0


def measure_fidelity(parameters: NoiseParameters, annotations: Annotations, settings: FidelitySettings) -> Fidelity:
    """Compare generated raters with the real ones; see `NoiseModel.fidelity`."""
    draws, seed = settings.draws, settings.seed
    relative_boxes(annotations)
    if len(annotations.raters) < 2:
        raise InputError(f"annotations: expected two raters to compare, got {listed(annotations.raters)}")
    table = replace(annotations, shapes={"box": Boxes(annotations.shapes["box"].bounds())})
    pairs = _pairs(table, seed)
    source = ConfusionClasses.of(table)
    real = _Measured.of(table, [table.select(images=images, raters=[a, b]) for a, b, images in pairs], pairs)
    annotating = set(np.unique(table.rater).tolist())
    gaps = _Gaps.of(real)
    by_draw = []
    for draw in range(draws):
        references = [_reference(a, b, (draw + number) % 2, annotating) for number, (a, b, _) in enumerate(pairs)]
        both = {
            code: _with_synthetic(parameters, table, code, _seed(seed, draw, code), source) for code in set(references)
        }
        tables = [both[code].select(images=images) for code, (_, _, images) in zip(references, pairs, strict=True)]
        by_draw.append(gaps.values(_Measured.of(table, tables, pairs)))
    low, high = gaps.ends(seed)
    values = np.array([*real.numbers.values(), *gaps.usual])
    known = np.isfinite(values)  # a share of the unmatched annotations is NaN if there are none
    return Fidelity(
        quantity=object_array([*real.numbers, *(f"ks_{name}" for name in gaps.names)])[known],
        real=values[known],
        low=low[known],
        high=high[known],
        by_draw=np.array(by_draw)[:, known],
        pairs=len(pairs),
        images=int(np.unique(np.concatenate([images for *_, images in pairs])).size),
    )


def _seed(seed: int, draw: int, code: int) -> int:
    return int(np.random.SeedSequence([seed, draw, code]).generate_state(1)[0])


Pair = tuple[int, int, NDArray[np.intp]]
"""Two raters, and the images that both are assigned to."""


def _pairs(table: Annotations, seed: int) -> list[Pair]:
    """Return the pairs of raters who share images and annotated any of them; if there are too many, a sample."""
    annotated = np.zeros((len(table.images), len(table.raters)), np.bool_)
    annotated[table.image, table.rater] = True
    found = []
    for a, b in zip(*np.triu_indices(len(table.raters), 1), strict=True):
        images = np.flatnonzero(table.assigned_any_class[:, a] & table.assigned_any_class[:, b])
        if annotated[np.ix_(images, [a, b])].any():
            found.append((int(a), int(b), images))
    if not found:
        raise InputError("annotations: expected two raters who annotated the same image, got none")
    if len(found) > MOST_PAIRS:
        chosen = np.random.default_rng(seed).choice(len(found), MOST_PAIRS, replace=False)
        found = [found[index] for index in np.sort(chosen)]
    return found


def _reference(a: int, b: int, side: int, annotating: set[int]) -> int:
    """Return the rater of a pair on the given side, or the other one if that rater has no annotations."""
    return next(code for code in ((a, b), (b, a))[side] if code in annotating)


def _with_synthetic(
    parameters: NoiseParameters, table: Annotations, code: int, seed: int, source: ConfusionClasses
) -> Annotations:
    """Return a table of a rater and one generated from that rater."""
    name, other = str(table.raters[code]), "synthetic"
    while other == name:
        other += " rater"
    settings = GenerationSettings([other], seed=seed, reference=name, class_source=source)
    return generate_raters(parameters, table, settings).with_reference()


_Sample = tuple[NDArray[np.float64], NDArray[np.intp]]
"""Values, and their images."""


@dataclass(frozen=True, eq=False)
class _Measured:
    """Statistics of pairs of raters; image codes are those of the whole table.

    Parameters
    ----------
    cells, class_cells : Cells
        Cells of one statistic, and of one per class, for each pair and image.
    counts : mapping name -> (I,) int
        Counts over all pairs: findings by `COUNTED`, unmatched annotations by `SIZED`, and those of an `own_class`.
    pairs_on : (I,) int
        Number of pairs that share each image.
    maps : list of float and (H,) float64
        Modified mAP of each pair, and of halves of its images.
    samples : mapping name -> values (n,) and their images (n,)
    rank : (I,) int
        See `Annotations.image_rank`.
    """

    cells: Cells
    class_cells: Cells
    counts: dict[str, NDArray[np.intp]]
    pairs_on: NDArray[np.intp]
    maps: list[tuple[float, NDArray[np.float64]]]
    samples: dict[str, _Sample]
    rank: NDArray[np.intp]

    @classmethod
    def of(cls, table: Annotations, tables: list[Annotations], pairs: list[Pair]) -> _Measured:
        images = len(table.images)
        counts = {name: np.zeros(images, np.intp) for name in (*COUNTED, *SIZED, "own_class")}
        pairs_on = np.zeros(images, np.intp)
        cells, class_cells, maps, samples = [], [], [], []
        for two, (_, _, shared) in zip(tables, pairs, strict=True):
            part = Part.of(agreement(two, "box_iou", bootstrap=0))
            of_classes, _, codes = part.class_cells()
            cells.append(replace(part.cells(), image=shared[part.cells().image]))
            class_cells.append(
                replace(of_classes, statistic=codes[of_classes.statistic], image=shared[of_classes.image])
            )
            found = variations(two, "box_iou", threshold=THRESHOLD, max_merge=MOST_MERGED)
            for name, image in _counted(two, found).items():
                counts[name][shared] += np.bincount(image, minlength=len(shared))
            pairs_on[shared] += 1
            maps.append(map_of_halves(two, "box_iou"))
            samples.append(_samples(two, found, shared))
        joined = {
            name: (
                np.concatenate([part[name][0] for part in samples]),
                np.concatenate([part[name][1] for part in samples]),
            )
            for name in samples[0]
        }
        return cls(join_cells(cells), join_cells(class_cells), counts, pairs_on, maps, joined, table.image_rank)

    @cached_property
    def numbers(self) -> dict[str, float]:
        """Quantities that are numbers, not distances between distributions."""
        classes, once = len(np.unique(self.class_cells.statistic)), np.ones((1, len(self.images)))
        return {
            "alpha": self.cells.mean(1)[0],
            "global_alpha": self.cells.whole(1)[0],
            **{name: values[0] for name, values in self._of_images(once).items()},
            **_of_classes(self._by_class().mean(classes)[None]),
            "modified_map": float(mean_of_defined(np.array([whole for whole, _ in self.maps]))),
            **{name: float(count.sum()) for name, count in self.counts.items() if name != "own_class"},
            **{name: values[0] for name, values in self._ratios(once).items()},
            "most_unmatched": float(self.counts["unmatched"].max(initial=0)),
        }

    def intervals(self, seed: int) -> dict[str, NDArray[np.float64]]:
        """Return intervals (2,) of `numbers` by name.

        Classes with few images are missing from some replicates, which biases these in one direction. They are
        therefore centred on the estimate.
        """
        on, classes = self.images, len(np.unique(self.class_cells.statistic))
        times = np.concatenate(list(draws_of(len(on), REPLICATES, seed))).astype(np.float64)
        drawn = resample(self.cells, 1, REPLICATES, seed, self.rank)
        of_classes = resample(self._by_class(), classes, REPLICATES, seed, self.rank).mean
        replicates = {
            "alpha": drawn.mean[:, 0],
            "global_alpha": drawn.whole[:, 0],
            **self._of_images(times),
            **{name: values - values.mean() + self.numbers[name] for name, values in _of_classes(of_classes).items()},
            **self._ratios(times),
        }
        found = {name: intervals(values[:, None], len(on))[0] for name, values in replicates.items()}
        for name, count in self.counts.items():
            if name != "own_class":
                resampled, exact = (
                    intervals((times @ count[on])[:, None], len(on))[0],
                    poisson_interval(count.sum()[None])[0],
                )
                found[name] = np.array([np.fmin(resampled, exact)[0], np.fmax(resampled, exact)[1]])
        for name, ends in found.items():
            ends[np.isnan(ends)] = self.numbers[name]  # constant over all replicates
        return found | {"modified_map": self._map_interval(), "most_unmatched": self._most_interval(seed)}

    def _of_images(self, times: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Compute how image alphas vary, in draws (B, J) of the images."""
        weight, value = times[:, self._place[self.cells.image]], self.cells.value
        known = np.isfinite(value)
        weight, value = weight[:, known], value[known]
        count = weight.sum(axis=1)
        mean, square = divide(weight @ value, count), divide(weight @ value**2, count)
        return {
            "alpha_deviation": np.sqrt(np.maximum(square - mean**2, 0)),
            "images_of_one": divide(weight @ (value == 1), count),
            "images_at_most_0": divide(weight @ (value <= 0), count),
        }

    def _ratios(self, times: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Compute ratios to the number of unmatched annotations and of images, in draws (B, J) of the images."""
        on = self.images
        unmatched = times @ self.counts["unmatched"][on]
        return {
            "own_class": divide(times @ self.counts["own_class"][on], unmatched),
            "unmatched_per_image": divide(unmatched, times @ self.pairs_on[on]),
        }

    def _by_class(self) -> Cells:
        """Return the cells of classes with renumbered statistics."""
        return replace(self.class_cells, statistic=np.unique(self.class_cells.statistic, return_inverse=True)[1])

    def _map_interval(self) -> NDArray[np.float64]:
        """Compute the interval (2,) of mAP from the spread between halves of the images (delete-d jackknife)."""
        deviations = [halves.std(ddof=1) if len(halves) > 1 else np.nan for _, halves in self.maps]
        reach = scipy.stats.t.ppf(0.975, max(len(self.images) - 1, 1)) * mean_of_defined(np.array(deviations))
        return np.array(self.numbers["modified_map"] + reach * np.array([-1, 1]))

    def _most_interval(self, seed: int) -> NDArray[np.float64]:
        """Compute the interval (2,) of the largest count of an image, which resampled images alone cannot exceed.

        The count of each image predicts that of another such image (Poisson distribution with Jeffreys' prior).
        """
        rng, count = np.random.default_rng(seed), self.counts["unmatched"][self.images]
        some = count[rng.integers(0, len(count), (MOST_COUNTS, len(count)))]
        drawn = rng.poisson(np.where(some > 0, rng.gamma(some + 0.5), 0.0)).max(axis=1)
        return np.asarray(np.quantile(drawn, [OUTSIDE / 2, 1 - OUTSIDE / 2]))

    @cached_property
    def images(self) -> NDArray[np.intp]:
        """(J,) images that any pair shares, sorted by id."""
        on = np.flatnonzero(self.pairs_on)
        return on[np.argsort(self.rank[on])]

    @cached_property
    def _place(self) -> NDArray[np.intp]:
        """(I,) position of each image in `images`."""
        place = np.zeros(len(self.pairs_on), np.intp)
        place[self.images] = np.arange(len(self.images))
        return place


def _of_classes(alphas: NDArray[np.float64]) -> dict[str, Any]:
    """Summarize class alphas (B, C), NaN where undefined; numbers if B is 1, else arrays (B,)."""
    defined = np.isfinite(alphas).sum(axis=1)
    mean = divide(np.nansum(alphas, axis=1), defined)
    below = divide((alphas < 0).sum(axis=1), defined)
    return {"class_alpha": mean if len(mean) > 1 else mean[0], "classes_below_0": below if len(below) > 1 else below[0]}


def _counted(two: Annotations, found: Variations) -> dict[str, NDArray[np.intp]]:
    """Return the images of findings by `COUNTED`, of unmatched annotations by `SIZED`, and of `own_class`."""
    alone = np.isin(found.type, ("missing", "additional"))
    kinds = np.where(alone, "unmatched", found.type)
    rows = np.array([(*found.rows_a[at], *found.rows_b[at])[0] for at in np.flatnonzero(alone)], np.intp)
    area = two.shapes["box"].area()[rows]
    given = {*zip(two.image.tolist(), two.rater.tolist(), two.category.tolist(), strict=True)}
    image, rater, category = two.image[rows], two.rater[rows], two.category[rows]
    own = [key in given for key in zip(image.tolist(), (1 - rater).tolist(), category.tolist(), strict=True)]
    sizes = {name: SIZES[name.removeprefix("unmatched_")] for name in SIZED}
    return {
        **{kind: found.image[kinds == kind] for kind in COUNTED},
        **{name: image[(low <= area) & (area < high)] for name, (low, high) in sizes.items()},
        "own_class": image[np.array(own, np.bool_)],
    }


def _samples(two: Annotations, found: Variations, shared: NDArray[np.intp]) -> dict[str, _Sample]:
    """Return the values of each distribution to compare, and their images."""
    seen = observe(two, found)
    correct = shared[found.image[found.type == "correct"]]
    turned = ~np.isnan(seen.correct.angle)
    alone = np.isin(found.type, ("missing", "additional"))
    unmatched = np.bincount(found.image[alone], minlength=len(shared)).astype(np.float64)
    # missing ones first, then additional ones, in the order of `observe`
    sides = [shared[found.image[found.type == kind]] for kind in ("missing", "additional")]
    samples = {
        "unmatched_per_image": (unmatched, shared),
        "similarity": (found.similarity[found.type == "correct"], correct),
        "translation": (seen.correct.translation, correct),
        "angle": (np.mod(seen.correct.angle[turned], 2 * np.pi), correct[turned]),
        "width": (seen.correct.width, correct),
        "height": (seen.correct.height, correct),
        "unmatched_area": (seen.unmatched_area, np.concatenate(sides)),
    }
    return {name: (values.round(DECIMALS), images) for name, (values, images) in samples.items()}


def poisson_interval(count: NDArray[np.intp]) -> NDArray[np.float64]:
    """Compute exact 95 % intervals (n, 2) of the expected number behind counts (Garwood 1936).

    Examples
    --------
    >>> poisson_interval(np.array([0, 9])).round(3).tolist()
    [[0.0, 3.689], [4.115, 17.085]]
    """
    low, high = OUTSIDE / 2, 1 - OUTSIDE / 2
    below = np.where(count > 0, scipy.stats.chi2.ppf(low, 2 * np.maximum(count, 1)) / 2, 0.0)
    return np.stack([below, scipy.stats.chi2.ppf(high, 2 * count + 2) / 2], axis=1)


@dataclass(frozen=True, eq=False)
class _Gaps:
    """Distances of distributions from the real ones, and distances between resamples of the real images."""

    real: _Measured
    names: list[str]

    @classmethod
    def of(cls, real: _Measured) -> _Gaps:
        kept = [name for name, (values, _) in real.samples.items() if len(values) >= LEAST_VALUES]
        return cls(real, kept)

    def values(self, other: _Measured) -> NDArray[np.float64]:
        """Return the numbers and distances of one draw of synthetic raters."""
        gaps = [gap(self.real.samples[name][0], other.samples[name][0]) for name in self.names]
        return np.array([*other.numbers.values(), *gaps])

    @cached_property
    def resampled(self) -> NDArray[np.float64]:
        """(B, G) distances between two resamples of the images."""
        images, index = self.real.images, self.real._place
        one, other = (
            np.concatenate(list(draws_of(len(images), RESAMPLED_GAPS, seed))).astype(np.float64) for seed in (1, 2)
        )
        columns = []
        for name in self.names:
            values, image = self.real.samples[name]
            order = np.argsort(values, kind="stable")
            last = np.append(np.flatnonzero(np.diff(values[order])), len(values) - 1)
            column = index[image[order]]
            shares = [_cumulated(times[:, column])[:, last] for times in (one, other)]
            columns.append(np.abs(shares[0] - shares[1]).max(axis=1))
        return np.stack(columns, axis=1) if columns else np.zeros((RESAMPLED_GAPS, 0))

    @property
    def usual(self) -> NDArray[np.float64]:
        """(G,) means of `resampled`."""
        return np.asarray(np.nanmean(self.resampled, axis=0))

    def ends(self, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the lower and upper end (Q,) of the interval of each quantity."""
        found = self.real.intervals(seed)
        ends = np.array([found[name] for name in self.real.numbers])
        most = np.nanpercentile(self.resampled, MOST_GAP, axis=0) if self.names else np.zeros(0)
        return np.concatenate([ends[:, 0], np.zeros(len(self.names))]), np.concatenate([ends[:, 1], most])


def _cumulated(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the cumulative shares (B, n) of the weight."""
    sums = np.cumsum(weight, axis=1)
    with np.errstate(invalid="ignore"):  # 0 / 0: a resample without any value
        return np.asarray(sums / sums[:, -1:])


def gap(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Compute the Kolmogorov-Smirnov distance between two samples; 1 if one of them is empty.

    Examples
    --------
    >>> gap(np.array([1.0, 2.0]), np.array([2.0, 3.0, 4.0])), gap(np.array([1.0]), np.array([]))
    (0.6666666666666667, 1.0)
    """
    if not len(one) or not len(other):
        return 1.0
    return float(scipy.stats.ks_2samp(one, other, method="asymp").statistic)
