"""Every distribution of the noise model from what was observed, and the reason where too little was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core.noise.fit.angles import fit_axial, fit_cardinal
from kalos_core.noise.fit.curves import LineFit, fit_logistic, fit_opposition, fit_poisson, separable
from kalos_core.noise.fit.observations import Observations, Shifts
from kalos_core.noise.fit.shifts import fit_shift
from kalos_core.noise.parameters import Chance, Enlargement, EventRate, Parameters, SizeCurve

LEAST_ROWS = 30
"""Observations that a distribution is fitted to; with fewer the model keeps its default."""

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
"""Distributions that data of raters without a truth cannot determine, with the reason."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """A distribution fitted to data, or why it could not be.

    Parameters
    ----------
    distribution : Parameters or None
        None where there is too little data.
    rows : int
        Observations.
    reason : str
        What they are; where `distribution` is None, why.
    interval : tuples (low, high)
        95 % interval of each parameter; empty where none is computed.
    """

    distribution: Parameters | None
    rows: int
    reason: str
    interval: tuple[tuple[float, float], ...] = ()


def estimate_distributions(seen: Observations) -> dict[str, Estimate]:
    """An estimate of each distribution that data determine; `CONSTANTS` are the others.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core.noise.fit.observations import observe
    >>> rows = [{"image": 1, "rater": name, "category": "cat", "box": [0, 0, 9, 9]} for name in ("ann", "bob")]
    >>> found = estimate_distributions(observe(Annotations.from_rows(rows, image_size={1: (64, 64)})))
    >>> found["localization.width"].reason
    'only 1 annotation matched with one of its class, 30 are needed'
    """
    return dict([*_shift_distributions(seen), *_event_distributions(seen)])


def _shift_distributions(seen: Observations) -> Iterator[tuple[str, Estimate]]:
    for group, shifts, rows in (
        ("localization", seen.correct, "annotation matched with one of its class"),
        ("category", seen.wrong_class, "annotation matched with one of another class"),
    ):
        for part in MEASURES:
            yield f"{group}.{part}", _shift(shifts, part, rows)
        fit_angle = fit_cardinal if group == "localization" else fit_axial
        yield f"{group}.angle", _angle(shifts, fit_angle, rows)
    for rank, shifts, distance in (("first", seen.first, "translation"), ("second", seen.second, "distance")):
        rows = "larger fragment of a whole" if rank == "first" else "smaller fragment of a whole"
        yield f"topology.{rank}_{distance}", _shift(shifts, "translation", rows)
        for part in ("width", "height"):
            yield f"topology.{rank}_{part}", _shift(shifts, part, rows, KAPPA if rank == "first" else 0.0)
    yield "topology.first_angle", _angle(seen.first, fit_cardinal, "larger fragment of a whole")


def _event_distributions(seen: Observations) -> Iterator[tuple[str, Estimate]]:
    matched = len(seen.category_a)
    yield "category.occurrence", _or_too_few(matched, "annotation matched one to one", lambda: occurrence(seen))
    pairs, unmatched = len(seen.events), len(seen.unmatched_area)
    rate = _or_too_few(pairs, "image of two raters", lambda: _rate(seen))
    yield "unmatched.rate", rate if unmatched else Estimate(None, pairs, "no annotation is unmatched")
    yield "unmatched.selection", _curve(seen.unmatched_area, seen.matched_area, "unmatched annotation", 1.0)
    yield "topology.susceptibility", _curve(seen.parent_area, seen.other_area, "whole annotated as two", 0.5)
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
    return Estimate(None, rows, f"only {counted(rows, what)}, {LEAST_ROWS} are needed")


def counted(rows: int, what: str) -> str:
    """A number of things; the plural is that of the first word.

    Examples
    --------
    >>> counted(1, "annotation of a kind"), counted(1200, "larger fragment of a whole")
    ('1 annotation of a kind', '1,200 larger fragments of a whole')
    """
    if rows == 1:
        return f"1 {what}"
    noun = min((word for word in ("annotation", "fragment", "image", "whole", "pair") if word in what), key=what.index)
    return f"{rows:,} {what.replace(noun, noun + 's', 1)}"


def _shift(shifts: Shifts, part: str, what: str, enlarged: float = 0.0) -> Estimate:
    """The distribution of one measure; what a fragment is enlarged by comes on top of what is observed."""
    rows = len(shifts)
    return _or_too_few(
        rows,
        what,
        lambda: Estimate(fit_shift(getattr(shifts, part) + enlarged, shifts.area), rows, counted(rows, what)),
    )


def _angle(shifts: Shifts, fit: Callable[[NDArray[np.float64]], Parameters], what: str) -> Estimate:
    rows = len(shifts.angles)
    return _or_too_few(rows, what, lambda: Estimate(fit(shifts.angles), rows, f"{counted(rows, what)}, moved"))


def occurrence(seen: Observations) -> Estimate:
    """Share of classes that differ, of annotations matched one to one, with Wilson's interval."""
    wrong, matched = int((seen.category_a != seen.category_b).sum()), len(seen.category_a)
    interval = scipy.stats.binomtest(wrong, matched).proportion_ci(method="wilson")
    ends = ((float(interval.low), float(interval.high)),)
    return Estimate(Chance(wrong / matched), matched, counted(matched, "annotation matched one to one"), ends)


def _rate(seen: Observations) -> Estimate:
    rows = len(seen.events)
    if not np.ptp(seen.annotations_per_rater):
        return Estimate(None, rows, "all images hold the same number of annotations, which shows no trend")
    return _of_line(
        EventRate, fit_poisson(seen.events, seen.annotations_per_rater), rows, counted(rows, "image of two raters")
    )


def _curve(chosen: NDArray[np.float64], others: NDArray[np.float64], what: str, weight: float) -> Estimate:
    return _or_too_few(len(chosen), what, lambda: size_curve(chosen, others, what, weight))


def size_curve(chosen: NDArray[np.float64], others: NDArray[np.float64], what: str, weight: float) -> Estimate:
    """Chance of an annotation to be among the chosen ones, by its area; `weight` is that of each other annotation.

    Half for what happens once between two raters, to an annotation of one of them: the annotations of both are in
    the table, and a chance is meant for those of one, the reference.
    """
    if not len(others) or separable(chosen, others):
        return Estimate(None, len(chosen), "one area separates them from all other annotations, which fits no curve")
    group = np.arange(len(chosen) + len(others)) < len(chosen)
    found = fit_logistic(group, np.log(np.concatenate([chosen, others])), np.where(group, 1.0, weight))
    reason = f"{counted(len(chosen), what)} against {counted(len(others), 'other annotation')}"
    return _of_line(SizeCurve, found, len(chosen), reason)


def _of_line(kind: type[EventRate] | type[SizeCurve], found: LineFit, rows: int, reason: str) -> Estimate:
    (low, high), (lowest, highest) = found.interval.tolist()
    return Estimate(kind(found.intercept, found.slope), rows, reason, ((low, high), (lowest, highest)))
