"""Maximum likelihood of `Shift`: the size of a change that follows a trend, with Student's t around it.

A change is observed without its sign, so the likelihood is that of the folded distribution, f(x) + f(-x). Least squares
would follow the outliers that the distribution exists for, and take the mean of a folded distribution for its centre.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core.noise.parameters import Shift

NU_RANGE = (0.2, 200.0)
"""Range of the degrees of freedom: beyond the last, the distribution is as good as normal."""

NO_BETTER = 0.01
"""Of log likelihood: around 0 a folded distribution hardly separates small trends, and none is the simplest."""

CLOSE: dict[str, Any] = {"method": "L-BFGS-B", "options": {"ftol": 1e-13, "gtol": 1e-7, "maxiter": 1000}}
"""How a search goes, and where it ends."""

GROWTHS = (-1.0, 1.0)
"""Powers of the area between which the likeliest is sought."""

LEAST_RANGE = 0.2
"""Of the logarithm of the areas: within less, they say nothing of how changes differ at others."""

LEAST_SIGMA = 1e-6
"""Of the scale of the data: where most annotations are copies, the likelihood has no other bound."""

MOST_SIGMA = 1e6
"""Of the largest of the data: no likely scale is larger, and a search that strays ends there."""

STILL = 1e-12
"""Scale of changes where none was seen: of an image, far below what counts as moved."""


@dataclass(frozen=True, eq=False)
class ShiftFit:
    """A fitted distribution of sizes of changes, and how likely it makes them.

    Parameters
    ----------
    intercept, slope : float
        Trend over the area; the centre of the residual is part of it.
    nu : float
        Degrees of freedom; infinite for the normal distribution.
    sigma : float
    log_likelihood : float
    growth : float
        With which power of the area all grows; None where it was not fitted.
    """

    intercept: float
    slope: float
    nu: float
    sigma: float
    log_likelihood: float
    growth: float | None = None

    @property
    def aic(self) -> float:
        """Akaike's information criterion: the lower, the better."""
        return 2 * (3 + bool(np.isfinite(self.nu)) + (self.growth is not None)) - 2 * self.log_likelihood

    def scale(self, area: NDArray[np.float64]) -> NDArray[np.float64]:
        """What everything is multiplied with, at that area."""
        return np.asarray(area ** (self.growth or 0.0))

    def density(self, size: NDArray[np.float64], area: NDArray[np.float64]) -> NDArray[np.float64]:
        """Density of changes at that area, either sign of what was folded counted."""
        centre = self.intercept + self.slope * area
        distribution = scipy.stats.t(self.nu) if np.isfinite(self.nu) else scipy.stats.norm()
        scale = self.scale(area)
        size = size / scale
        sides = distribution.pdf((size - centre) / self.sigma) + distribution.pdf((-size - centre) / self.sigma)
        return np.asarray(sides / self.sigma / scale)

    def cumulative(self, size: NDArray[np.float64], area: NDArray[np.float64]) -> NDArray[np.float64]:
        """Share of changes at most as large, at that area: uniform if the distribution holds."""
        centre = self.intercept + self.slope * area
        distribution = scipy.stats.t(self.nu) if np.isfinite(self.nu) else scipy.stats.norm()
        size = size / self.scale(area)
        return np.asarray(
            distribution.cdf((size - centre) / self.sigma) - distribution.cdf((-size - centre) / self.sigma)
        )


def fit_shift(size: NDArray[np.float64], area: NDArray[np.float64], grows: bool = False) -> Shift:
    """The likeliest `Shift`, from sizes of changes (n,) and areas (n,).

    Only the sum of `intercept` and `mu` shows in data: `mu` is 0. With `grows`, changes may grow with a power of the
    area, where that fits better by AIC. Areas that are not `varied` show no trend: slope and growth are 0.

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
    """Whether areas differ by more than `LEAST_RANGE`: else a trend over them runs away at any other.

    Examples
    --------
    >>> varied(np.array([0.1, 0.3])), varied(np.array([0.1, 0.1 + 1e-17])), varied(np.zeros(3))
    (True, False, False)
    """
    return bool(area.max() > area.min() * np.exp(LEAST_RANGE))


def fit_growing(size: NDArray[np.float64], area: NDArray[np.float64], steady: ShiftFit | None = None) -> ShiftFit:
    """The likeliest distribution with residuals of Student's t, all growing with a power of the area.

    The search starts from the fit without growth, `steady` if that is known, and from one with the growth of the
    logarithm of the size, and changes all five parameters at once.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> area = np.exp(rng.uniform(-7, -1, 5000))
    >>> found = fit_growing(np.abs(0.02 * rng.standard_t(4, 5000)) * area**0.5, area)
    >>> round(found.growth, 1), round(found.sigma, 2)
    (0.5, 0.02)
    """
    middle = float(np.exp(np.log(area).mean()))  # areas around 1, so that growth does not stand for the scale, too
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
    unit_of_one = unit * middle**-growth  # back to areas as they are
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
    """The likeliest distribution with residuals of Student's t."""
    return fit_tails(size, area, None)


def fit_normal(size: NDArray[np.float64], area: NDArray[np.float64]) -> ShiftFit:
    """The likeliest distribution with normal residuals, for comparison."""
    return fit_tails(size, area, np.inf)


def fit_tails(size: NDArray[np.float64], area: NDArray[np.float64], nu: float | None) -> ShiftFit:
    """The likeliest distribution with given degrees of freedom; None: these too are estimated.

    Over the centre at the mean area, its change over one standard deviation, ln sigma and ln nu.
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
    """Of the logarithm of the scale, for sizes in units of their spread."""
    return float(np.log(LEAST_SIGMA)), float(np.log(MOST_SIGMA * max(1.0, scaled.max())))


def _spread(size: NDArray[np.float64]) -> float:
    """What sizes are measured in: their median distance from the median, or whatever of its kind is not 0."""
    return float(np.median(np.abs(size - np.median(size)))) or float(np.median(size)) or float(size.mean()) or 1.0


def _starts(size: NDArray[np.float64], index: NDArray[np.float64], tails: bool) -> list[list[float]]:
    """Around the median, with a change by least squares or none, and around 0: where the likelihood may have a top."""
    slope = float(np.polyfit(index, size, 1)[0]) if np.ptp(index) > 0 else 0.0
    tail = [np.log(3.0)] if tails else []
    middle = float(np.median(size))
    return [[middle, slope, 0.0, *tail], [middle, 0.0, 0.0, *tail], [0.01, 0.0, 1.0, *tail]]


def _log_folded(
    size: NDArray[np.float64], centre: NDArray[np.float64], log_sigma: float, nu: float
) -> tuple[float, NDArray[np.float64], float, float]:
    """Log likelihood of |centre + sigma · T|, and its slopes: of each centre (n,), of ln sigma and of ln nu.

    Written out, since a search over numerical slopes does not reach the top.
    """
    sigma = np.exp(log_sigma)
    step = np.stack([size - centre, -size - centre]) / sigma  # (2, n): either sign that was folded away
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
    """(n,) how the log likelihood of `_log_folded` changes with each size."""
    sigma = np.exp(log_sigma)
    step = np.stack([size - centre, -size - centre]) / sigma
    square = step**2
    sides = -(nu + 1) / 2 * np.log1p(square / nu)
    share = np.exp(sides - np.logaddexp(*sides))
    pull = share * (nu + 1) / (nu + square) * step / sigma
    return np.asarray(pull[1] - pull[0])
