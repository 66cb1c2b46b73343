"""Whether synthetic raters differ from their reference as real raters differ from one another (KαLOS §9.4, open there).

The paper fits each distribution, and leaves open whether what is generated from all of them together looks like the
data. Here (reference, synthetic rater) is compared with (reference, other rater), number by number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core._agreement import agreement
from kalos_core.annotations import Annotations, object_array
from kalos_core.display import alpha_text, number_of, significant
from kalos_core.errors import InputError, listed, lookup
from kalos_core.noise.fit.observations import MOST_MERGED, THRESHOLD, observe, relative_boxes
from kalos_core.noise.generation import generate_raters
from kalos_core.noise.parameters import NoiseParameters
from kalos_core.noise.settings import GenerationSettings
from kalos_core.noise.sources import ConfusionClasses
from kalos_core.options import Option, Seed, Settings
from kalos_core.reliability import image_coincidences
from kalos_core.resampling import INTERVAL, Cells, intervals, join_cells, resample
from kalos_core.resampling import draws as draws_of
from kalos_core.results import Result
from kalos_core.shapes import Boxes
from kalos_core.variation import Variations, variations

MOST_PAIRS = 50
"""Pairs of raters that are compared; of more, so many are sampled."""

REPLICATES = 1000
RESAMPLED_GAPS = 200
"""Resamples of images behind the interval of a number, and of a Kolmogorov-Smirnov distance."""

LEAST_VALUES = 30
"""Values that a distribution is compared of; with fewer its row is left out."""

COUNTED = ("correct", "merged", "merged_wrong_class", "wrong_class", "unmatched")
"""Findings of one pair of raters; missing and additional are both unmatched, since neither rater is the truth."""

NUMBERS = ("alpha", "global_alpha", *COUNTED, "unmatched_per_image")
"""The quantities that are numbers, not distances of distributions."""

DECIMALS = 9
"""Of the values that are compared: beyond is rounding, by which copies would be far from copies."""

MOST_GAP = 95
"""Percentile of the distances of two samples up to which a distance is one of the real data."""


@dataclass(frozen=True)
class FidelityRow:
    """One quantity of `Fidelity`: of the real raters, of the synthetic ones, and the interval of the real.

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
    """How (reference, synthetic rater) compares with (reference, other rater): Q rows.

    =========================  =====================================================================================
    quantity                   what it is
    =========================  =====================================================================================
    alpha, global_alpha        of two raters: the mean over all images and pairs, and that of all their units
    correct, merged, ...       findings of `variations` with fragments of two, over all pairs
    unmatched                  missing and additional
    unmatched_per_image        their mean
    ks_...                     Kolmogorov-Smirnov distance, 0 to 1, of the synthetic values from the real ones: number
                               of unmatched annotations of an image, similarity, translation, angle, change of width
                               and of height of correct annotations, area of unmatched ones
    =========================  =====================================================================================

    Figures: ``"quantities"``.

    Parameters
    ----------
    quantity : (Q,) str
    real : (Q,) float64
        Of the real raters. Of a distance, the mean of what two samples of their images have from one another.
    low, high : (Q,) float64
        95 % interval of the real data: percentile bootstrap over images; of counts the wider of that and Poisson's
        exact interval, since few events resample too alike. Of a distance 0, and the 95 % quantile.
    by_draw : (D, Q) float64
        Of each draw of synthetic raters.
    pairs, images : int
        Pairs of raters that were compared, and images that any of them shares.

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
        """The row of a quantity; an unknown one is an error that lists those there are."""
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
    """Three decimals below 10, three digits above.

    Examples
    --------
    >>> plain(0.7), plain(1398.0), plain(-0.083)
    ('0.700', '1,398', '−0.083')
    """
    return alpha_text(value, 3) if abs(value) < 10 else significant(value)


@dataclass(frozen=True)
class FidelitySettings(Settings):
    """How generated raters are compared with the real ones."""

    draws: Annotated[int, Option("Draws", "How often all raters are generated.", low=1)] = 10
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
    return Fidelity(
        quantity=object_array([*NUMBERS, *(f"ks_{name}" for name in gaps.names)]),
        real=np.concatenate([real.numbers, gaps.usual]),
        low=low,
        high=high,
        by_draw=np.array(by_draw),
        pairs=len(pairs),
        images=int(np.unique(np.concatenate([images for *_, images in pairs])).size),
    )


def _seed(seed: int, draw: int, code: int) -> int:
    return int(np.random.SeedSequence([seed, draw, code]).generate_state(1)[0])


Pair = tuple[int, int, NDArray[np.intp]]
"""Two raters, and the images that both are assigned to."""


def _pairs(table: Annotations, seed: int) -> list[Pair]:
    """The pairs of raters who share an image and of whom one has annotated any; of too many a sample."""
    annotating = np.bincount(table.rater, minlength=len(table.raters)) > 0
    found = []
    for a, b in zip(*np.triu_indices(len(table.raters), 1), strict=True):
        images = np.flatnonzero(table.assigned_any_class[:, a] & table.assigned_any_class[:, b])
        if len(images) and (annotating[a] or annotating[b]):
            found.append((int(a), int(b), images))
    if not found:
        raise InputError("annotations: expected two raters who are assigned to the same image, got none")
    if len(found) > MOST_PAIRS:
        chosen = np.random.default_rng(seed).choice(len(found), MOST_PAIRS, replace=False)
        found = [found[index] for index in np.sort(chosen)]
    return found


def _reference(a: int, b: int, side: int, annotating: set[int]) -> int:
    """Each rater of a pair in turn, unless one has nothing to generate from."""
    return next(code for code in ((a, b), (b, a))[side] if code in annotating)


def _with_synthetic(
    parameters: NoiseParameters, table: Annotations, code: int, seed: int, source: ConfusionClasses
) -> Annotations:
    """A rater and one generated from them."""
    name, other = str(table.raters[code]), "synthetic"
    while other == name:
        other += " rater"
    settings = GenerationSettings([other], seed=seed, reference=name, class_source=source)
    return generate_raters(parameters, table, settings).with_reference()


_Sample = tuple[NDArray[np.float64], NDArray[np.intp]]
"""Values, and their images."""


@dataclass(frozen=True, eq=False)
class _Measured:
    """What pairs of raters show; images are those of the whole table.

    Parameters
    ----------
    cells : Cells
        One statistic, with a cell for each pair and image.
    counts : (5, I) int
        Of `COUNTED`, over all pairs.
    pairs_on : (I,) int
        Pairs that share each image.
    samples : mapping name -> values (n,) and their images (n,)
    rank : (I,) int
        See `Annotations.image_rank`.
    """

    cells: Cells
    counts: NDArray[np.intp]
    pairs_on: NDArray[np.intp]
    samples: dict[str, _Sample]
    rank: NDArray[np.intp]

    @classmethod
    def of(cls, table: Annotations, tables: list[Annotations], pairs: list[Pair]) -> _Measured:
        images = len(table.images)
        counts, pairs_on = np.zeros((len(COUNTED), images), np.intp), np.zeros(images, np.intp)
        cells, samples = [], []
        for two, (_, _, shared) in zip(tables, pairs, strict=True):
            sums = image_coincidences(two, agreement(two, "box_iou", bootstrap=0).units)[0]
            cells.append(Cells.of(np.zeros(len(shared), np.intp), shared, sums))
            found = variations(two, "box_iou", threshold=THRESHOLD, max_merge=MOST_MERGED)
            kinds = np.where(np.isin(found.type, ("missing", "additional")), "unmatched", found.type)
            for row, kind in enumerate(COUNTED):
                counts[row, shared] += np.bincount(found.image[kinds == kind], minlength=len(shared))
            pairs_on[shared] += 1
            samples.append(_samples(two, found, shared))
        joined = {
            name: (
                np.concatenate([part[name][0] for part in samples]),
                np.concatenate([part[name][1] for part in samples]),
            )
            for name in samples[0]
        }
        return cls(join_cells(cells), counts, pairs_on, joined, table.image_rank)

    @property
    def numbers(self) -> NDArray[np.float64]:
        """Of `NUMBERS`."""
        totals = self.counts.sum(axis=1)
        return np.array([self.cells.mean(1)[0], self.cells.whole(1)[0], *totals, totals[-1] / self.pairs_on.sum()])

    def intervals(self, seed: int) -> NDArray[np.float64]:
        """(N, 2) of `NUMBERS`."""
        drawn = resample(self.cells, 1, REPLICATES, seed, self.rank)
        alphas = intervals(np.concatenate([drawn.mean, drawn.whole], axis=1))
        on = self.images
        times = np.concatenate(list(draws_of(len(on), REPLICATES, seed)))
        per_image = intervals((times @ self.counts[-1, on] / (times @ self.pairs_on[on]))[:, None])
        resampled, exact = intervals(times @ self.counts[:, on].T), poisson_interval(self.counts.sum(axis=1))
        wider = np.stack([np.minimum(resampled, exact)[:, 0], np.maximum(resampled, exact)[:, 1]], axis=1)
        return np.concatenate([alphas, wider, per_image])

    @property
    def images(self) -> NDArray[np.intp]:
        """(J,) the images that any pair shares, in the order of their ids."""
        on = np.flatnonzero(self.pairs_on)
        return on[np.argsort(self.rank[on])]


def _samples(two: Annotations, found: Variations, shared: NDArray[np.intp]) -> dict[str, _Sample]:
    """Values of each distribution that is compared, and their images."""
    seen = observe(two, found)
    correct = shared[found.image[found.type == "correct"]]
    turned = ~np.isnan(seen.correct.angle)
    alone = np.isin(found.type, ("missing", "additional"))
    unmatched = np.bincount(found.image[alone], minlength=len(shared)).astype(np.float64)
    # first the missing, then the additional ones: as `observe` gathers them
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
    """(n, 2) exact 95 % intervals of the expected number behind counts (Garwood 1936).

    Examples
    --------
    >>> poisson_interval(np.array([0, 9])).round(3).tolist()
    [[0.0, 3.689], [4.115, 17.085]]
    """
    low, high = (end / 100 for end in INTERVAL)
    below = np.where(count > 0, scipy.stats.chi2.ppf(low, 2 * np.maximum(count, 1)) / 2, 0.0)
    return np.stack([below, scipy.stats.chi2.ppf(high, 2 * count + 2) / 2], axis=1)


@dataclass(frozen=True, eq=False)
class _Gaps:
    """Distances of distributions from the real ones, and what two samples of the real images have from one another."""

    real: _Measured
    names: list[str]

    @classmethod
    def of(cls, real: _Measured) -> _Gaps:
        kept = [name for name, (values, _) in real.samples.items() if len(values) >= LEAST_VALUES]
        return cls(real, kept)

    def values(self, other: _Measured) -> NDArray[np.float64]:
        """Numbers and distances of one draw of synthetic raters."""
        gaps = [gap(self.real.samples[name][0], other.samples[name][0]) for name in self.names]
        return np.concatenate([other.numbers, gaps])

    @cached_property
    def resampled(self) -> NDArray[np.float64]:
        """(B, G) distances of two resamples of the images."""
        images = self.real.images
        index = np.zeros(len(self.real.pairs_on), np.intp)
        index[images] = np.arange(len(images))
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
        """(G,) their means."""
        return np.asarray(np.nanmean(self.resampled, axis=0))

    def ends(self, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(Q,) least and largest value of each quantity."""
        ends = self.real.intervals(seed)
        most = np.nanpercentile(self.resampled, MOST_GAP, axis=0) if self.names else np.zeros(0)
        return np.concatenate([ends[:, 0], np.zeros(len(self.names))]), np.concatenate([ends[:, 1], most])


def _cumulated(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """(B, n) shares of the weight up to each value."""
    sums = np.cumsum(weight, axis=1)
    with np.errstate(invalid="ignore"):  # 0 / 0: a resample without any value
        return np.asarray(sums / sums[:, -1:])


def gap(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Kolmogorov-Smirnov distance of two samples; 1 if one of them is empty.

    Examples
    --------
    >>> gap(np.array([1.0, 2.0]), np.array([2.0, 3.0, 4.0])), gap(np.array([1.0]), np.array([]))
    (0.6666666666666667, 1.0)
    """
    if not len(one) or not len(other):
        return 1.0
    return float(scipy.stats.ks_2samp(one, other, method="asymp").statistic)
