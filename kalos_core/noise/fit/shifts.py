"""Maximum likelihood of `Shift`: the size of a change that follows a trend, with Student t residuals.

The sign of a change is not observed, so the likelihood is that of the folded distribution, f(x) + f(-x). Least squares
would follow the outliers that the distribution models, and take the mean of a folded distribution for its centre.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core.noise.parameters import Shift

NU_RANGE = (0.2, 200.0)
"""Range of the degrees of freedom; at its upper end the distribution is practically normal."""

NO_BETTER = 0.01
"""Gain of log likelihood up to which a trend is dropped: near 0 a folded distribution hardly shows small trends."""

CLOSE: dict[str, Any] = {"method": "L-BFGS-B", "options": {"ftol": 1e-13, "gtol": 1e-7, "maxiter": 1000}}
"""Method of the search, and its tolerances."""

GROWTHS = (-1.0, 1.0)
"""Range of the power of the area."""

LEAST_RANGE = 0.2
"""Minimum range of the logarithm of the areas; a smaller range does not determine a trend."""

LEAST_SIGMA = 1e-6
"""Minimum scale, relative to the data; without it the likelihood is unbounded if most annotations are copies."""

MOST_SIGMA = 1e6
"""Maximum scale, relative to the largest value; no likely scale exceeds it, so it stops a diverging search."""

STILL = 1e-12
"""Scale of changes if none was observed, as a share of the image; far below the tolerance of equal positions."""


@dataclass(frozen=True, eq=False)
class ShiftFit:
    """Fitted distribution of the sizes of changes, and its log likelihood.

    Parameters
    ----------
    intercept, slope : float
        Trend over the area; the centre of the residual is part of it.
    nu : float
        Degrees of freedom; infinite for the normal distribution.
    sigma : float
    log_likelihood : float
    growth : float
        Power of the area that all changes grow with; None if it was not fitted.
    """

    intercept: float
    slope: float
    nu: float
    sigma: float
    log_likelihood: float
    growth: float | None = None

    @property
    def aic(self) -> float:
        """Akaike's information criterion; lower is better."""
        return 2 * (3 + bool(np.isfinite(self.nu)) + (self.growth is not None)) - 2 * self.log_likelihood

    def scale(self, area: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the factor of all changes at the given areas."""
        return np.asarray(area ** (self.growth or 0.0))

    def density(self, size: NDArray[np.float64], area: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the density of changes at the given areas, summed over both signs."""
        centre = self.intercept + self.slope * area
        distribution = scipy.stats.t(self.nu) if np.isfinite(self.nu) else scipy.stats.norm()
        scale = self.scale(area)
        size = size / scale
        sides = distribution.pdf((size - centre) / self.sigma) + distribution.pdf((-size - centre) / self.sigma)
        return np.asarray(sides / self.sigma / scale)

    def cumulative(self, size: NDArray[np.float64], area: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the share of changes at most as large, at the given areas; uniform if the distribution holds."""
        centre = self.intercept + self.slope * area
        distribution = scipy.stats.t(self.nu) if np.isfinite(self.nu) else scipy.stats.norm()
        size = size / self.scale(area)
        return np.asarray(
            distribution.cdf((size - centre) / self.sigma) - distribution.cdf((-size - centre) / self.sigma)
        )


def fit_shift(size: NDArray[np.float64], area: NDArray[np.float64], grows: bool = False) -> Shift:
    """Fit a `Shift` to sizes of changes (n,) and areas (n,) by maximum likelihood.

    Data determine only the sum of `intercept` and `mu`, so `mu` is 0. With `grows`, changes may grow with a power of
    the area if that lowers AIC. If the areas are not `varied`, slope and growth are 0.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> area = rng.random(2000)
    >>> shift = fit_shift(np.abs(0.3 + 0.2 * area + 0.02 * rng.standard_t(4, 2000)), area)
    >>> round(shift.intercept, 2), round(shift.slope, 2), round(shift.sigma, 2)
    (0.3, 0.2, 0.02)
    """
    found = fit_student(size, area)
    if not size.any():
        return Shift(0.0, 0.0, NU_RANGE[1], 0.0, STILL)
    if grows and varied(area):
        found = min(found, fit_growing(size, area, found), key=lambda fit: fit.aic)
    return Shift(found.intercept, found.slope, found.nu, 0.0, found.sigma, found.growth or 0.0)


def varied(area: NDArray[np.float64]) -> bool:
    """Check whether areas differ by more than `LEAST_RANGE`; otherwise a trend would diverge at other areas.

    Examples
    --------
    >>> varied(np.array([0.1, 0.3])), varied(np.array([0.1, 0.1 + 1e-17])), varied(np.zeros(3))
    (True, False, False)
    """
    return bool(area.max() > area.min() * np.exp(LEAST_RANGE))


def fit_growing(size: NDArray[np.float64], area: NDArray[np.float64], steady: ShiftFit | None = None) -> ShiftFit:
    """Fit a distribution with Student t residuals in which all changes grow with a power of the area.

    The search changes all five parameters at once. It starts from the fit without growth (`steady`, if given), and from
    one with the growth of the logarithm of the size.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> area = np.exp(rng.uniform(-7, -1, 5000))
    >>> found = fit_growing(np.abs(0.02 * rng.standard_t(4, 5000)) * area**0.5, area)
    >>> round(found.growth, 1), round(found.sigma, 2)
    (0.5, 0.02)
    """
    middle = float(np.exp(np.log(area).mean()))  # centre areas at 1, to separate growth from scale
    logarithm = np.log(area / middle)
    positive = size > 0
    some = positive.any() and np.ptp(logarithm[positive]) > 0
    trend = np.polyfit(logarithm[positive], np.log(size[positive]), 1)[0] if some else 0.0
    first = float(np.clip(trend, *GROWTHS))
    unit = _spread(size)
    centre, spread = float(area.mean()), float(area.std())
    index = (area - centre) / spread

    def misfit(parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        at, slope, log_sigma, log_nu, growth = parameters
        scaled = size / unit * np.exp(-growth * logarithm)
        line = at + slope * index
        value, of_centre, of_sigma, of_nu = _log_folded(scaled, line, log_sigma, float(np.exp(log_nu)))
        of_size = _slope_of_size(scaled, line, log_sigma, float(np.exp(log_nu)))
        of_growth = -float((of_size * scaled * logarithm).sum() + logarithm.sum())
        slopes = [of_centre.sum(), (of_centre * index).sum(), of_sigma, of_nu, of_growth]
        return -(value - growth * float(logarithm.sum())), -np.array(slopes)

    bounds = [(None, None), (None, None), _bounds_of_sigma(size / unit), tuple(np.log(NU_RANGE)), GROWTHS]
    runs = []
    for growth in (0.0, first):
        scaled = size * np.exp(-growth * logarithm)
        known = steady if growth == 0 and steady is not None else fit_student(scaled, area)
        start = [
            (known.intercept + known.slope * centre) / unit,
            known.slope * spread / unit,
            np.log(known.sigma / unit),
            np.log(known.nu),
            growth,
        ]
        runs.append(scipy.optimize.minimize(misfit, start, jac=True, bounds=bounds, **CLOSE))
    best = min(runs, key=lambda run: float(run.fun))
    at, slope, log_sigma, log_nu, growth = best.x.tolist()
    unit_of_one = unit * middle**-growth  # back to the original areas
    sign = -1.0 if at < 0 else 1.0
    return ShiftFit(
        intercept=float(sign * (at - slope * centre / spread) * unit_of_one),
        slope=float(sign * slope / spread * unit_of_one),
        nu=float(np.exp(log_nu)),
        sigma=float(np.exp(log_sigma)) * unit_of_one,
        log_likelihood=-float(best.fun) - len(size) * float(np.log(unit)),
        growth=growth,
    )


def fit_student(size: NDArray[np.float64], area: NDArray[np.float64]) -> ShiftFit:
    """Fit a distribution with Student t residuals."""
    return fit_tails(size, area, None)


def fit_normal(size: NDArray[np.float64], area: NDArray[np.float64]) -> ShiftFit:
    """Fit a distribution with normal residuals, for comparison."""
    return fit_tails(size, area, np.inf)


def fit_tails(size: NDArray[np.float64], area: NDArray[np.float64], nu: float | None) -> ShiftFit:
    """Fit a distribution with given degrees of freedom; if None, they are estimated as well.

    The search is over the centre at the mean area, its change over one standard deviation, ln sigma and ln nu.
    """
    unit = _spread(size)
    scaled = size / unit
    middle, spread = (float(area.mean()), float(area.std())) if varied(area) else (0.0, 1.0)
    index = (area - middle) / spread if varied(area) else np.zeros_like(area)

    def misfit(parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        tails = float(np.exp(parameters[3])) if nu is None else nu
        value, of_centre, *others = _log_folded(scaled, parameters[0] + parameters[1] * index, parameters[2], tails)
        slopes = [of_centre.sum(), (of_centre * index).sum(), *others]
        return -value, -np.array(slopes[: len(parameters)])

    def search(start: list[float], centred: bool) -> Any:
        most = 0.0 if centred else np.inf
        bounds = [
            (-most, most),
            (-most, most),
            _bounds_of_sigma(scaled),
            (np.log(NU_RANGE[0]), np.log(NU_RANGE[1])),
        ]
        return scipy.optimize.minimize(misfit, start, jac=True, bounds=bounds[: len(start)], **CLOSE)

    starts = _starts(scaled, index, nu is None)
    best = min((search(start, False) for start in starts), key=lambda run: float(run.fun))
    plain = search([0.0, 0.0, *starts[-1][2:]], True)
    if plain.fun <= best.fun + NO_BETTER:
        best = plain
    centre, slope, sigma = best.x[0] * unit, best.x[1] * unit / spread, float(np.exp(best.x[2])) * unit
    sign = -1.0 if centre < 0 else 1.0  # a trend and its mirror image fold to the same distribution
    return ShiftFit(
        intercept=float(sign * (centre - slope * middle)),
        slope=float(sign * slope),
        nu=float(np.exp(best.x[3])) if nu is None else nu,
        sigma=sigma,
        log_likelihood=-float(best.fun) - len(size) * float(np.log(unit)),
    )


def _bounds_of_sigma(scaled: NDArray[np.float64]) -> tuple[float, float]:
    """Return the bounds of the logarithm of the scale, for sizes in units of their spread."""
    return float(np.log(LEAST_SIGMA)), float(np.log(MOST_SIGMA * max(1.0, scaled.max())))


def _spread(size: NDArray[np.float64]) -> float:
    """Return the unit of sizes: the median absolute deviation or, if that is 0, the median, the mean, or 1."""
    return float(np.median(np.abs(size - np.median(size)))) or float(np.median(size)) or float(size.mean()) or 1.0


def _starts(size: NDArray[np.float64], index: NDArray[np.float64], tails: bool) -> list[list[float]]:
    """Return start values: around the median, with a least-squares slope or none, and around 0."""
    slope = float(np.polyfit(index, size, 1)[0]) if np.ptp(index) > 0 else 0.0
    tail = [np.log(3.0)] if tails else []
    middle = float(np.median(size))
    return [[middle, slope, 0.0, *tail], [middle, 0.0, 0.0, *tail], [0.01, 0.0, 1.0, *tail]]


def _log_folded(
    size: NDArray[np.float64], centre: NDArray[np.float64], log_sigma: float, nu: float
) -> tuple[float, NDArray[np.float64], float, float]:
    """Compute the log likelihood of |centre + sigma · T|, and its slopes for each centre (n,), ln sigma and ln nu.

    The slopes are analytic, since a search with numerical slopes does not reach the maximum.
    """
    sigma = np.exp(log_sigma)
    step = np.stack([size - centre, -size - centre]) / sigma  # (2, n): both signs
    square = step**2
    if np.isfinite(nu):
        scale = scipy.special.gammaln((nu + 1) / 2) - scipy.special.gammaln(nu / 2) - np.log(nu * np.pi) / 2
        tail = np.log1p(square / nu)
        sides, pull = -(nu + 1) / 2 * tail, (nu + 1) / (nu + square)
    else:
        scale = -np.log(2 * np.pi) / 2
        tail, sides, pull = np.zeros_like(square), -square / 2, np.ones_like(square)
    both = np.logaddexp(*sides)
    share = np.exp(sides - both)
    of_nu = 0.0
    if np.isfinite(nu):
        of_scale = (scipy.special.digamma((nu + 1) / 2) - scipy.special.digamma(nu / 2) - 1 / nu) / 2
        of_nu = float(nu * (share * (of_scale - tail / 2 + pull * square / (2 * nu))).sum())
    value = float((both + scale - log_sigma).sum())
    of_sigma = float((share * (pull * square - 1)).sum())
    return value, np.asarray((share * pull * step).sum(axis=0) / sigma), of_sigma, of_nu


def _slope_of_size(
    size: NDArray[np.float64], centre: NDArray[np.float64], log_sigma: float, nu: float
) -> NDArray[np.float64]:
    """Return the slopes (n,) of the log likelihood of `_log_folded` with each size."""
    sigma = np.exp(log_sigma)
    step = np.stack([size - centre, -size - centre]) / sigma
    square = step**2
    sides = -(nu + 1) / 2 * np.log1p(square / nu)
    share = np.exp(sides - np.logaddexp(*sides))
    pull = share * (nu + 1) / (nu + square) * step / sigma
    return np.asarray(pull[1] - pull[0])
