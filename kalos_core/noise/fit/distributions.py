"""Estimate of every distribution of the noise model from observations, or the reason if there are too few."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core.arrays import divide, total
from kalos_core.display import number_of
from kalos_core.noise.fit.angles import fit_axial, fit_cardinal
from kalos_core.noise.fit.coupling import fit_coupling
from kalos_core.noise.fit.curves import (
    LineFit,
    fit_dispersion,
    fit_each,
    fit_logistic,
    fit_opposition,
    fit_poisson,
    poisson_log_likelihood,
    separable,
)
from kalos_core.noise.fit.observations import Observations, Shifts
from kalos_core.noise.fit.shifts import fit_shift, varied
from kalos_core.noise.parameters import (
    FORMS,
    Chance,
    Coupling,
    Enlargement,
    EventRate,
    Form,
    OwnClass,
    Parameters,
    RateForm,
    Shift,
    SizeCurve,
    rate_measure,
)

LEAST_ROWS = 30
"""Minimum number of observations (for a rate: occasions) of a fit; with fewer the model keeps its default."""

NEVER = -100.0
"""Logarithm of a number of events, or of odds, that represents 0 if none was observed."""

KAPPA = 0.2
"""½ ln(.088 / .059), the discrepancy of fragments that the paper prints (KαLOS §9.3.4)."""

MEASURES = ("translation", "width", "height")

CONSTANTS = {
    "unmatched.deletion": (Chance(0.5), "a fair coin (KαLOS §9.3.3): without a truth, missed and added look the same"),
    "topology.split": (Chance(0.5), "a fair coin: without a truth, split and merged look the same"),
    "topology.enlargement": (
        Enlargement(KAPPA),
        "½ ln(.088 / .059) (KαLOS §9.3.4); data determine only its sum with the shifts, which are fitted",
    ),
}
"""Distributions that raters without ground truth cannot determine, with the reason."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """Distribution fitted to data, or the reason why it could not be fitted.

    Parameters
    ----------
    distribution : Parameters or None
        None if there are too few data.
    rows : int
        Number of observations.
    reason : str
        Description of the observations; if `distribution` is None, the reason.
    interval : tuples (low, high)
        95 % interval of each parameter; empty if none is computed.
    """

    distribution: Parameters | None
    rows: int
    reason: str
    interval: tuple[tuple[float, float], ...] = ()


def estimate_distributions(
    seen: Observations, rate: RateForm = "auto", *, paper: bool = False, fragmented: SizeCurve | None = None
) -> dict[str, Estimate]:
    """Estimate each distribution that data determine; the others are in `CONSTANTS`.

    Parameters
    ----------
    seen : Observations
    rate : str
        ``"auto"`` or one of `FORMS`.
    paper : bool
        Fit only the families of the paper: changes that do not grow with a power of the area, and a rate without
        dispersion.
    fragmented : SizeCurve, optional
        Source of the slope of the probability of a split or merge, if too few were observed to fit it.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core.noise.fit.observations import observe
    >>> rows = [{"image": 1, "rater": name, "category": "cat", "box": [0, 0, 9, 9]} for name in ("ann", "bob")]
    >>> found = estimate_distributions(observe(Annotations.from_rows(rows, image_size={1: (64, 64)})))
    >>> found["localization.width"].reason
    'only 1 annotation matched with one of its class, 30 are needed'
    """
    found = dict([*_shift_distributions(seen, not paper), *_event_distributions(seen, rate, paper, fragmented)])
    return found | {"localization.coupling": _coupling(seen.correct, found, paper)}


def _shift_distributions(seen: Observations, grows: bool) -> Iterator[tuple[str, Estimate]]:
    for group, shifts, rows in (
        ("localization", seen.correct, "annotation matched with one of its class"),
        ("category", seen.wrong_class, "annotation matched with one of another class"),
    ):
        for part in MEASURES:
            yield f"{group}.{part}", _shift(shifts, part, rows, grows=grows)
        fit_angle = fit_cardinal if group == "localization" else fit_axial
        yield f"{group}.angle", _angle(shifts, fit_angle, rows)
    for rank, shifts, distance in (("first", seen.first, "translation"), ("second", seen.second, "distance")):
        rows = "larger fragment of a whole" if rank == "first" else "smaller fragment of a whole"
        yield f"topology.{rank}_{distance}", _shift(shifts, "translation", rows, grows=grows)
        for part in ("width", "height"):
            enlarged = KAPPA if rank == "first" else 0.0
            yield f"topology.{rank}_{part}", _shift(shifts, part, rows, enlarged, grows=grows)
    yield "topology.first_angle", _angle(seen.first, fit_cardinal, "larger fragment of a whole")


def _event_distributions(
    seen: Observations, form: RateForm, paper: bool, fragmented: SizeCurve | None
) -> Iterator[tuple[str, Estimate]]:
    matched = len(seen.category_a)
    yield "category.occurrence", _or_too_few(matched, "annotation matched one to one", lambda: occurrence(seen))
    pairs = len(seen.events)
    what, there = "image of two raters", int((seen.annotations_per_rater > 0).any(axis=1).sum())
    rate = _or_too_few(pairs, what, lambda: estimate_rate(seen, form, paper=paper))
    yield "unmatched.rate", rate
    yield "unmatched.added", _added(rate) if paper else _or_too_few(there, what, lambda: estimate_added(seen, form))
    yield "unmatched.own_class", _own_class(seen, paper)
    yield "unmatched.selection", _curve(seen.unmatched_area, seen.matched_area, "unmatched annotation", 1.0)
    yield "topology.susceptibility", _susceptibility(seen, fragmented)
    rows = len(seen.opposition)
    yield (
        "topology.opposition",
        _or_too_few(
            rows, "pair of fragments", lambda: Estimate(fit_opposition(seen.opposition), rows, "pairs of fragments")
        ),
    )


def _or_too_few(rows: int, what: str, fit: Callable[[], Estimate]) -> Estimate:
    if rows >= LEAST_ROWS:
        return fit()
    return Estimate(None, rows, f"only {number_of(rows, what)}, {LEAST_ROWS} are needed")


def _shift(shifts: Shifts, part: str, what: str, enlarged: float = 0.0, *, grows: bool) -> Estimate:
    """Fit the distribution of one measure; `enlarged` is added to the observed values of a fragment."""
    rows = len(shifts)
    return _or_too_few(
        rows,
        what,
        lambda: _of_shift(fit_shift(getattr(shifts, part) + enlarged, shifts.area, grows), rows, number_of(rows, what)),
    )


def _coupling(shifts: Shifts, found: Mapping[str, Estimate], paper: bool) -> Estimate:
    marginal = [found[f"localization.{part}"].distribution for part in MEASURES]
    if paper:
        return Estimate(Coupling(0.0), 0, "independent shifts and changes of size, as in the paper")
    one, two, three = (shift if isinstance(shift, Shift) else None for shift in marginal)
    if one is None or two is None or three is None:
        return Estimate(None, len(shifts), found["localization.translation"].reason)
    share, gain = fit_coupling(shifts, one, two, three)
    what = number_of(len(shifts), "annotation matched with one of its class")
    if gain <= 0:
        return Estimate(Coupling(0.0), len(shifts), f"{what}: independent fits better by AIC")
    return Estimate(Coupling(share), len(shifts), f"{what}: a common tail lowers AIC by {gain:,.0f}")


def _of_shift(found: Shift, rows: int, what: str) -> Estimate:
    grown = f", growing with area^{found.growth:.2f}, which fits better by AIC" if found.growth else ""
    return Estimate(found, rows, what + grown)


def _angle(shifts: Shifts, fit: Callable[[NDArray[np.float64]], Parameters], what: str) -> Estimate:
    rows = len(shifts.angles)
    return _or_too_few(rows, what, lambda: Estimate(fit(shifts.angles), rows, f"{number_of(rows, what)}, moved"))


def occurrence(seen: Observations) -> Estimate:
    """Estimate the share of annotations matched one to one whose classes differ, with Wilson's interval."""
    wrong, matched = int((seen.category_a != seen.category_b).sum()), len(seen.category_a)
    interval = scipy.stats.binomtest(wrong, matched).proportion_ci(method="wilson")
    ends = ((float(interval.low), float(interval.high)),)
    return Estimate(Chance(wrong / matched), matched, number_of(matched, "annotation matched one to one"), ends)


@dataclass(frozen=True, eq=False)
class RateFit:
    """Rate of one form, fitted to the annotations of either rater that the other lacks.

    Parameters
    ----------
    form : str
        One of `FORMS`.
    line : LineFit
    count, expected : (n,) int and float64
        Observed and expected counts, for each image, pair and side.
    """

    form: Form
    line: LineFit
    count: NDArray[np.intp]
    expected: NDArray[np.float64]

    @property
    def aic(self) -> float:
        """Akaike's information criterion, for two parameters and a Poisson distribution."""
        return 4 - 2 * poisson_log_likelihood(self.count, self.expected)

    @property
    def pearson(self) -> float:
        """Pearson's chi-squared per degree of freedom: 1 for a Poisson distribution."""
        return float(((self.count - self.expected) ** 2 / self.expected).sum() / max(len(self.count) - 2, 1))


def rate_fits(seen: Observations, *, paper: bool = False, added: bool = False) -> list[RateFit]:
    """Fit the rates of all `FORMS` to the same rows: one for each image, pair of raters, class and rater of the pair.

    Rows without annotations of the rater are left out, since none can be unmatched. The paper counts them, and counts
    images whatever their classes; ``"each"`` is not one of its forms. With `added`, the counts are of annotations that
    the other rater has and this one lacks, of a class that this one has.

    The list is empty if the rows show no trend: all have the same number of annotations, or all unmatched annotations
    are where it is largest or smallest, so that the steepest trend fits best. See `constant_rate`.
    """
    count, measure = _rate_rows(seen, paper, added)
    with_events = np.unique(measure[count > 0])
    if not len(with_events) or (len(with_events) == 1 and with_events[0] in (measure.min(), measure.max())):
        return []
    forms = [form for form in FORMS if form != "each" or not paper]
    lines = {
        form: fit_each(count, measure) if form == "each" else fit_poisson(count, rate_measure(form, measure))
        for form in forms
    }
    return [
        RateFit(form, line, count, EventRate(line.intercept, line.slope, form).expected(measure))
        for form, line in lines.items()
    ]


def _rate_rows(seen: Observations, paper: bool, added: bool = False) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the numbers of unmatched and of all annotations in each informative row; see `rate_fits`."""
    if paper:
        return seen.events.ravel(), seen.annotations_per_rater.ravel().astype(np.float64)
    events = seen.class_events[:, ::-1] if added else seen.class_events
    count, own = events.ravel(), seen.class_annotations.ravel()
    return count[own > 0], own[own > 0].astype(np.float64)


def estimate_rate(seen: Observations, form: RateForm, *, paper: bool = False) -> Estimate:
    """Estimate the rate of unmatched annotations, in the given form or in the one with the lowest AIC.

    A trend that AIC does not support is dropped. If the numbers of annotations hardly vary, such a trend is due to
    chance and diverges at other numbers. The form of the paper always keeps its trend.
    """
    rows = len(seen.events)
    fits = {fit.form: fit for fit in rate_fits(seen, paper=paper)}
    if not fits:
        return constant_rate(seen, "exponential" if form == "auto" else form, paper=paper)
    best = min(fits.values(), key=lambda fit: fit.aic)
    fit = best if form == "auto" else fits[form]
    count, _ = _rate_rows(seen, paper)
    if not paper and fit.aic >= 2 - 2 * poisson_log_likelihood(count, np.full(len(count), count.mean())):
        flat = constant_rate(seen, fit.form)
        if flat.distribution is not None:
            return flat
    aics = ", ".join(f"{name} {found.aic:,.0f}" for name, found in fits.items())
    reason = f"{number_of(rows, 'image of two raters')}, {fit.form}: AIC {aics}" + (
        "" if form == "auto" else "; as asked"
    )
    line = fit.line if paper else fit.line.widened(max(1.0, fit.pearson) ** 0.5)
    ends = tuple((float(low), float(high)) for low, high in line.interval)
    found = EventRate(line.intercept, line.slope, fit.form)
    if not paper:
        found, gain = with_dispersion(seen, replace(found, empty=_on_empty(seen)))
        if gain:
            reason += f"; over-dispersed, which lowers AIC by {gain:,.0f}"
    return Estimate(found, rows, reason, ends)


def constant_rate(seen: Observations, form: Form, *, paper: bool = False) -> Estimate:
    """Estimate the rate of unmatched annotations without a trend: their mean number, 0 if there are none.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core.noise.fit.observations import observe
    >>> rows = [
    ...     {"image": image, "rater": name, "category": "cat", "box": [0, 0, 9, 9]}
    ...     for image in range(100)
    ...     for name in ("ann", "bob")
    ... ]
    >>> same = observe(Annotations.from_rows(rows, image_size={image: (64, 64) for image in range(100)}))
    >>> found = constant_rate(same, "exponential")
    >>> found.distribution.expected([1, 10]).round(9).tolist(), found.reason
    ([0.0, 0.0], 'no annotation is unmatched on 100 images of two raters: 0, at most 0.018 an image and rater (95 %)')
    """
    count, _ = _rate_rows(seen, paper)
    rows = int((seen.annotations_per_rater > 0).any(axis=1).sum())
    images = number_of(rows, "image of two raters")
    if rows < LEAST_ROWS:
        return Estimate(None, rows, f"only {images} with any annotation, {LEAST_ROWS} are needed")
    if not count.any():
        most = -np.log(0.025) / len(count)  # Poisson's exact interval
        reason = f"no annotation is unmatched on {images}: 0, at most {most:.2g} an image and rater (95 %)"
        return Estimate(replace(_flat(NEVER, form), empty=None if paper else 0.0), rows, reason)
    reason = (
        f"{number_of(int(count.sum()), 'unmatched annotation')} on {images}, which show no trend over the number of "
        "annotations: their mean"
    )
    found = _flat(float(np.log(count.mean())), form)
    if not paper:
        found, _ = with_dispersion(seen, replace(found, empty=_on_empty(seen)))
    return Estimate(found, rows, reason)


def _flat(logarithm: float, form: Form) -> EventRate:
    """Return a rate that does not depend on the number of annotations."""
    return EventRate(logarithm, NEVER if form == "each" else 0.0, form)


def with_dispersion(seen: Observations, rate: EventRate) -> tuple[EventRate, float]:
    """Add the variances of the factors that both raters of a pair share; return the rate and the reduction of AIC.

    The total variance is that of maximum likelihood over classes and raters, and 0 unless it lowers AIC. The variance
    of the image is the common variation of two classes of one image: the sum of the products of their Pearson
    residuals, divided by that of the products of the roots of their expected numbers.
    """
    own = seen.class_annotations
    count, expected = np.where(own > 0, seen.class_events, 0), np.where(own > 0, rate.expected(own), 0.0)
    some = expected > 0
    if not some.any():
        return rate, 0.0
    whole, gain = fit_dispersion(own[some], count[some], expected[some])
    root = np.sqrt(expected.sum(axis=1))
    residual = np.nan_to_num(divide(count.sum(axis=1) - root**2, root))
    together, usual = (_of_two(seen.class_image, each) for each in (residual, root))
    of_image = max(together / usual, 0.0) if usual > 0 else 0.0
    of_class = (1 + whole) / (1 + of_image) - 1 if gain > 0 else 0.0
    return replace(rate, dispersion=of_image, class_dispersion=max(of_class, 0.0)), max(gain, 0.0)


def _of_two(image: NDArray[np.intp], value: NDArray[np.float64]) -> float:
    """Sum the products of the values of all pairs of classes within an image."""
    return float((total(image, value, int(image.max()) + 1) ** 2).sum() - (value**2).sum()) / 2


def estimate_added(seen: Observations, form: RateForm) -> Estimate:
    """Estimate the rate of another rater's annotations that one lacks, by the number of that class that one has."""
    fits = {fit.form: fit for fit in rate_fits(seen, added=True)}
    count, _ = _rate_rows(seen, paper=False, added=True)
    if not fits:
        mean = float(np.log(count.mean())) if count.any() else NEVER
        flat = _flat(mean, "exponential" if form == "auto" else form)
        return Estimate(flat, len(count), "no trend over the number of annotations: their mean")
    fit = min(fits.values(), key=lambda fit: fit.aic) if form == "auto" else fits[form]
    line = fit.line.widened(max(1.0, fit.pearson) ** 0.5)
    ends = tuple((float(low), float(high)) for low, high in line.interval)
    reason = f"{number_of(len(count), 'class of an image and rater', 'classes of an image and rater')}, {fit.form}"
    return Estimate(EventRate(line.intercept, line.slope, fit.form), len(count), reason, ends)


def _added(rate: Estimate) -> Estimate:
    """Use the rate of missed and added annotations together for the added ones, as in the paper."""
    return replace(rate, reason=f"not used: the rate is of missed and added; {rate.reason}")


def _own_class(seen: Observations, paper: bool) -> Estimate:
    """Estimate the share of added annotations whose class the reference rater has in the image."""
    if paper:
        return Estimate(OwnClass(), 0, "a class that is confused with one of the image, as in the paper")
    added, own = seen.class_events[:, ::-1], seen.class_annotations
    some = seen.annotations_per_rater[seen.class_image] > 0  # raters with annotations in the image, on either side
    of_own, of_any = int(added[own > 0].sum()), int(added[some].sum())
    lost = (own > 0) & (seen.class_events == own)  # all annotations of the class are missed
    stayed = int((lost & (own[:, ::-1] > 0)).sum())
    what = "unmatched annotation in addition to others of the image"

    def shares() -> Estimate:
        found = OwnClass(of_own / of_any, stayed / lost.sum() if lost.any() else 1.0)
        return Estimate(
            found,
            of_any,
            f"{number_of(of_any, what)}; {number_of(int(lost.sum()), 'class')} missed entirely in an image",
        )

    return _or_too_few(of_any, what, shares)


def _on_empty(seen: Observations) -> float:
    """Return the mean number of annotations of the other rater on images where exactly one of a pair has none."""
    own = seen.annotations_per_rater
    alone = (own == 0).sum(axis=1) == 1
    return float(own[alone].sum() / alone.sum()) if alone.any() else 0.0


def _curve(chosen: NDArray[np.float64], others: NDArray[np.float64], what: str, weight: float) -> Estimate:
    return _or_too_few(len(chosen), what, lambda: size_curve(chosen, others, what, weight))


def _susceptibility(seen: Observations, fragmented: SizeCurve | None) -> Estimate:
    """Estimate the probability of a split or merge by area; if few, only its level, with the slope of `fragmented`."""
    wholes, others = seen.parent_area, seen.other_area
    found = _curve(wholes, others, "whole annotated as two", 0.5)
    rows = len(wholes) + len(others)
    if found.distribution is not None or fragmented is None or rows < 2 * LEAST_ROWS or not len(others):
        return found
    what = number_of(rows, "annotation")
    if not len(wholes):
        return Estimate(SizeCurve(NEVER, 0.0), rows, f"none of {what} is annotated as two: never")
    slope, area = fragmented.slope, np.log(np.concatenate([wholes, others]))
    weight = np.where(np.arange(rows) < len(wholes), 1.0, 0.5)

    def surplus(intercept: float) -> float:
        return float((weight * scipy.special.expit(intercept + slope * area)).sum()) - len(wholes)

    middle = float(slope * area.mean())
    intercept = float(scipy.optimize.brentq(surplus, NEVER - middle, -NEVER - middle))
    reason = (
        f"{number_of(len(wholes), 'whole annotated as two')} of {what}; with the slope over the area of the default"
    )
    return Estimate(SizeCurve(intercept, slope), rows, reason)


def size_curve(chosen: NDArray[np.float64], others: NDArray[np.float64], what: str, weight: float) -> Estimate:
    """Fit the probability that an annotation is chosen, by its area; `weight` is that of each other annotation.

    The weight is one half for events between two raters that concern an annotation of one of them. The table holds the
    annotations of both, but the probability refers to those of one, the reference.
    """
    if not varied(np.concatenate([chosen, others])):
        return Estimate(None, len(chosen), "all annotations have the same area: no curve can be fitted")
    if not len(others) or separable(chosen, others):
        return Estimate(None, len(chosen), "one area separates them from all other annotations: no curve can be fitted")
    group = np.arange(len(chosen) + len(others)) < len(chosen)
    found = fit_logistic(group, np.log(np.concatenate([chosen, others])), np.where(group, 1.0, weight))
    reason = f"{number_of(len(chosen), what)} against {number_of(len(others), 'other annotation')}"
    return _of_line(SizeCurve, found, len(chosen), reason)


def _of_line(kind: type[SizeCurve], found: LineFit, rows: int, reason: str) -> Estimate:
    (low, high), (lowest, highest) = found.interval.tolist()
    return Estimate(kind(found.intercept, found.slope), rows, reason, ((low, high), (lowest, highest)))
