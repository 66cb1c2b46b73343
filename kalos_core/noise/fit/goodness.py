"""Tests of fit: does each distribution describe the observations? With the hypotheses of the paper (KαLOS §9.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import ArrayLike, NDArray

from kalos_core.arrays import as_floats
from kalos_core.display import number_of
from kalos_core.errors import InputError
from kalos_core.noise.fit.angles import TestResult, angle_models, kuiper, rayleigh
from kalos_core.noise.fit.distributions import LEAST_ROWS, MEASURES, rate_fits
from kalos_core.noise.fit.observations import Observations, Shifts
from kalos_core.noise.fit.permutation import independence, mantel
from kalos_core.noise.fit.shifts import ShiftFit, fit_normal, fit_student, varied
from kalos_core.noise.parameters import EventRate, Opposition
from kalos_core.options import Option
from kalos_core.results import Result

PERMUTATIONS = 999


class _Line(NamedTuple):
    distribution: str
    test: str
    model: str
    statistic: float
    p_value: float
    rows: int
    note: str


@dataclass(frozen=True, eq=False, repr=False)
class FitTests(Result):
    """Tests of fit of a noise model: T rows.

    Figures: ``"tests"``.

    Parameters
    ----------
    distribution : (T,) str
        Distribution that the test concerns.
    test : (T,) str
        Such as ``"KS"``, the largest distance between distribution functions, 0 to 1, and ``"AIC"``, Akaike's
        criterion, where only differences count and a lower value fits better.
    model : (T,) str
        Tested distribution, or null hypothesis.
    statistic, p_value : (T,) float64
        NaN if there is none. The p-value of KS is too large, since the parameters are fitted to the same data.
    rows : (T,) int
        Number of observations.
    note : (T,) str
        How to read the result, or why the test is not applicable.

    Examples
    --------
    >>> from kalos_core import Annotations, NoiseModel
    >>> rows = [{"image": 1, "rater": name, "category": "cat", "box": [0, 0, 9, 9]} for name in ("ann", "bob")]
    >>> table = NoiseModel.fit(Annotations.from_rows(rows, image_size={1: (64, 64)})).tests().to_pandas()
    >>> table.loc[0, ["distribution", "note"]].tolist()
    ['localization.translation', 'not applicable: fewer than 30 observations']
    """

    _call = "NoiseModel.fit(annotations).tests()"

    distribution: NDArray[np.object_]
    test: NDArray[np.object_]
    model: NDArray[np.object_]
    statistic: NDArray[np.float64]
    p_value: NDArray[np.float64]
    rows: NDArray[np.intp]
    note: NDArray[np.object_]

    def __len__(self) -> int:
        return len(self.distribution)

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return f"{number_of(len(self.test), 'test')} of the fit of a noise model"


Permutations = Annotated[int, Option("Permutations", "Number of permutations for a p-value.", low=1)]


def goodness_of_fit(
    seen: Observations,
    opposition: Opposition,
    rate: EventRate,
    similarity: ArrayLike | None,
    permutations: int,
    seed: int,
) -> FitTests:
    """Run all tests of the distributions fitted to these observations; see `NoiseModel.tests`."""
    alike = class_similarity(similarity, len(seen.categories))
    rng = np.random.default_rng(seed)
    lines = [
        *_of_shifts(seen),
        *_of_angles("localization.angle", seen.correct.angles),
        *_of_angles("category.angle", seen.wrong_class.angles),
        *_of_rates(seen, rate, permutations, np.random.default_rng(seed)),
        *_of_areas("unmatched.selection", seen.unmatched_area, seen.matched_area, "unmatched", "matched"),
        *_of_areas("topology.susceptibility", seen.parent_area, seen.other_area, "whole annotated as two", "other"),
        *_of_opposition(seen, opposition),
        *_of_classes(seen, alike, permutations, rng),
    ]
    return _together(lines)


def rate_of_fit(seen: Observations, rate: EventRate, permutations: int, seed: int) -> FitTests:
    """Run only the tests of the rate of unmatched annotations; see `NoiseModel.rate_tests`."""
    return _together([*_of_rates(seen, rate, permutations, np.random.default_rng(seed))])


def _together(lines: list[_Line]) -> FitTests:
    kinds = (object, object, object, np.float64, np.float64, np.intp, object)
    columns = zip(zip(*lines, strict=True), kinds, strict=True)
    return FitTests(*(np.array(column, dtype=kind) for column, kind in columns))


def class_similarity(similarity: ArrayLike | None, classes: int) -> NDArray[np.float64] | None:
    """Check the similarity of classes (K, K) and return it as an array."""
    if similarity is None:
        return None
    matrix = as_floats(similarity, "similarity")
    if matrix.shape != (classes, classes):
        raise InputError(f"similarity: expected finite numbers ({classes}, {classes}), got shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise InputError("similarity: expected finite numbers, got NaN or infinity")
    return matrix


def _line(distribution: str, test: str, model: str, found: Any, rows: int, note: str) -> _Line:
    """Build the row of a result with a statistic and a p-value (of scipy or `TestResult`), or of None."""
    if found is None:
        return _Line(distribution, test, model, np.nan, np.nan, rows, note)
    p_value = found.p_value if isinstance(found, TestResult) else found.pvalue
    return _Line(distribution, test, model, float(found.statistic), float(p_value), rows, note)


def _too_few(distribution: str, rows: int) -> _Line:
    return _line(distribution, "none", "", None, rows, f"not applicable: fewer than {LEAST_ROWS} observations")


def _of_shifts(seen: Observations) -> Iterator[_Line]:
    named: list[tuple[str, Shifts, str]] = [
        (f"{group}.{part}", shifts, part)
        for group, shifts in (("localization", seen.correct), ("category", seen.wrong_class))
        for part in MEASURES
    ]
    for rank, shifts, distance in (("first", seen.first, "translation"), ("second", seen.second, "distance")):
        named.append((f"topology.{rank}_{distance}", shifts, "translation"))
        named += [(f"topology.{rank}_{part}", shifts, part) for part in ("width", "height")]
    for distribution, shifts, part in named:
        size = getattr(shifts, part)
        if len(size) < LEAST_ROWS:
            yield _too_few(distribution, len(size))
        else:
            yield from _of_sizes(distribution, size, shifts.area)


def _of_sizes(distribution: str, size: NDArray[np.float64], area: NDArray[np.float64]) -> Iterator[_Line]:
    fits = {"Student t": fit_student(size, area), "normal": fit_normal(size, area)}
    for name, found in fits.items():
        gap = ks_of_shift(found, size, area)
        yield _line(distribution, "KS", name, gap, len(size), "0: the distribution describes the residuals")
    best = min(fits, key=lambda name: fits[name].aic)
    for name, found in fits.items():
        yield _Line(distribution, "AIC", name, found.aic, np.nan, len(size), "fits better" if name == best else "")
    if varied(area):
        line = scipy.stats.linregress(area, size)
        note = "slope of least squares over the area"
        yield _Line(distribution, "trend", "no trend", float(line.slope), float(line.pvalue), len(size), note)


def ks_of_shift(found: ShiftFit, size: NDArray[np.float64], area: NDArray[np.float64]) -> TestResult:
    """Kolmogorov-Smirnov test of the residuals: their cumulative shares are uniform if the distribution holds."""
    result = scipy.stats.kstest(found.cumulative(size, area), "uniform")
    return TestResult(float(result.statistic), float(result.pvalue))


def _of_angles(distribution: str, angles: NDArray[np.float64]) -> Iterator[_Line]:
    if len(angles) < LEAST_ROWS:
        yield _too_few(distribution, len(angles))
        return
    for name, test in (("Rayleigh", rayleigh), ("Kuiper", kuiper)):
        result = test(angles)
        note = "no preferred direction" if name == "Rayleigh" else "all directions equally frequent"
        yield _line(distribution, name, "uniform", result, len(angles), f"null hypothesis: {note}")
    models = angle_models(angles)
    best = min(models, key=lambda found: found.aic)
    for found in models:
        yield _Line(
            distribution, "AIC", found.name, found.aic, np.nan, len(angles), "fits best" if found is best else ""
        )


def _of_areas(
    distribution: str, chosen: NDArray[np.float64], others: NDArray[np.float64], name: str, other: str
) -> Iterator[_Line]:
    rows = len(chosen) + len(others)
    if not len(chosen) or not len(others):
        note = f"not applicable: no {name} annotation"
        yield _line(distribution, "Mann-Whitney U", "same areas", None, rows, note)
        return
    result = scipy.stats.mannwhitneyu(chosen, others, alternative="two-sided")
    share = float(result.statistic) / (len(chosen) * len(others))
    note = f"an annotation ({name}) is larger than one ({other}) with probability {share:.3f}"
    yield _line(distribution, "Mann-Whitney U", "same areas", result, rows, note)


def _of_rates(seen: Observations, rate: EventRate, draws: int, rng: np.random.Generator) -> Iterator[_Line]:
    """Test the unmatched annotations of both raters of an image: Pearson's chi-squared / df, compared with draws.

    Each form is tested with a Poisson distribution. If the rate of the model is over-dispersed, it is tested as well.
    """
    name = "unmatched.rate"
    paper = rate.empty is None
    fits = rate_fits(seen, paper=paper)
    if not fits:
        yield _line(name, "none", "", None, len(seen.events), "not applicable: no trend over annotations")
        return
    best = min(fits, key=lambda fit: fit.aic)
    for fit in fits:
        note = "fits better" if fit is best else ""
        yield _Line(name, "AIC", fit.form, fit.aic, np.nan, len(fit.count), note)
    models: list[tuple[str, EventRate, int]] = [
        (fit.form, EventRate(fit.line.intercept, fit.line.slope, fit.form), 2) for fit in fits
    ]
    if rate.whole_dispersion > 0:
        models.append((f"{rate.form}, over-dispersed", replace(rate, empty=None), 3))
    own, events = seen.class_annotations, seen.class_events
    if paper:
        own, events = seen.annotations_per_rater, seen.events
    some = (own > 0).all(axis=1)
    count = events[some].sum(axis=1)
    for model, candidate, parameters in models:
        expected = candidate.expected(own[some]).sum(axis=1)
        result = pearson(count, expected, candidate.whole_dispersion, parameters, draws, rng)
        verdict = "0.05 or more: the counts are consistent with this distribution"
        yield _line(name, "Pearson chi-squared / df", model, result, len(count), verdict)


def pearson(
    count: NDArray[np.intp],
    expected: NDArray[np.float64],
    dispersion: float,
    parameters: int,
    draws: int,
    rng: np.random.Generator,
) -> TestResult:
    """Test whether counts (n,) scatter around their expected numbers as they should: Pearson's chi-squared / df.

    If few counts are expected, its distribution is not chi-squared. The p-value is the share of draws from the model
    that scatter at least as much; the counts themselves are one of them.

    Parameters
    ----------
    count, expected : (n,)
    dispersion : float
        0 for a Poisson distribution; otherwise the variance is expected + dispersion · expected².
    parameters : int
        Number of fitted parameters.
    draws : int
    rng : Generator

    Examples
    --------
    >>> found = pearson(np.array([0, 8, 0, 8]), np.full(4, 4.0), 0.0, 2, 99, np.random.default_rng(0))
    >>> found.statistic, found.p_value < 0.05  # four times 4² / 4, over two degrees of freedom
    (8.0, True)
    """
    free = max(len(count) - parameters, 1)
    variance = expected + dispersion * expected**2

    def scatter(drawn: NDArray[np.intp]) -> NDArray[np.float64]:
        return np.asarray(((drawn - expected) ** 2 / variance).sum(axis=-1) / free)

    observed = float(scatter(count))
    size = (draws, len(expected))
    factor = rng.gamma(1 / dispersion, dispersion, size) if dispersion > 0 else np.ones(size)
    larger = int((scatter(rng.poisson(factor * expected)) >= observed * (1 - 1e-12)).sum())
    return TestResult(observed, (larger + 1) / (draws + 1))


def _of_opposition(seen: Observations, distribution: Opposition) -> Iterator[_Line]:
    rows = len(seen.opposition)
    if not rows:
        yield _line("topology.opposition", "KS", "Beta", None, 0, "not applicable: no pair of fragments")
        return
    result = scipy.stats.kstest(seen.opposition, scipy.stats.beta(distribution.alpha, distribution.beta).cdf)
    note = f"alpha {distribution.alpha:.3g}, beta {distribution.beta:.3g}"
    yield _line("topology.opposition", "KS", "Beta", result, rows, note)


def _of_classes(
    seen: Observations, similarity: NDArray[np.float64] | None, permutations: int, rng: np.random.Generator
) -> Iterator[_Line]:
    distribution = "category.occurrence"
    wrong = seen.category_a != seen.category_b
    first, second = seen.category_a[wrong], seen.category_b[wrong]
    found = independence(first, second, permutations, rng)
    note = "not applicable: fewer than 2 confusions" if found is None else number_of(permutations, "permutation")
    yield _line(distribution, "chi-squared, permuted", "independent classes", found, len(first), note)
    if similarity is None:
        result, note = None, "not applicable: no similarity of classes given, such as that of embeddings"
    else:
        result = mantel(confusion_matrix(first, second, len(seen.categories)), similarity, permutations, rng)
        note = f"{number_of(permutations, 'permutation')}; correlation with the similarity of classes"
        if result is None:
            note = "not applicable: fewer than 3 confused classes, or all counts or similarities the same"
    yield _line(distribution, "Mantel", "unrelated to similarity", result, len(first), note)


def confusion_matrix(first: NDArray[np.intp], second: NDArray[np.intp], classes: int) -> NDArray[np.intp]:
    """Count how often each two classes were confused (K, K); symmetric, since neither rater is the ground truth.

    Examples
    --------
    >>> confusion_matrix(np.array([0, 1]), np.array([1, 2]), 3).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """
    count = np.zeros((classes, classes), np.intp)
    np.add.at(count, (first, second), 1)
    return count + count.T
