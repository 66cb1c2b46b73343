"""Maximum likelihood of `Shift`: the size of a change that follows a trend, with Student's t around it.

A change is observed without its sign, so the likelihood is that of the folded law, f(x) + f(-x). Least squares would
be drawn by the outliers that the law exists for, and would take the mean of a folded law for its centre.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats
from scipy.special import gammaln

from kalos_core.noise.parameters import Shift

NU_RANGE = (0.2, 200.0)
"""Degrees of freedom that are told apart: beyond the last, the law is as good as normal."""

NO_BETTER = 0.01
"""Of log likelihood: around 0 a folded law hardly tells one small trend from another, and none is the simplest."""

LEAST_SIGMA = 1e-6
"""Of the scale of the data: where most marks are copies, the likelihood has no other bound."""


@dataclass(frozen=True, eq=False)
class ShiftFit:
    """A fitted law of sizes of changes, and how likely it makes them.

    Parameters
    ----------
    intercept, slope : float
        Trend over the area; the centre of the residual is part of it.
    nu : float
        Degrees of freedom; infinite for the normal law.
    sigma : float
    log_likelihood : float
    """

    intercept: float
    slope: float
    nu: float
    sigma: float
    log_likelihood: float

    @property
    def aic(self) -> float:
        """Akaike's information criterion: the lower, the better."""
        return 2 * (4 if np.isfinite(self.nu) else 3) - 2 * self.log_likelihood

    def distribution(self, size: NDArray[np.float64], area: NDArray[np.float64]) -> NDArray[np.float64]:
        """Share of changes at most as large, at that area: uniform if the law holds."""
        centre = self.intercept + self.slope * area
        law = stats.t(self.nu) if np.isfinite(self.nu) else stats.norm()
        return np.asarray(law.cdf((size - centre) / self.sigma) - law.cdf((-size - centre) / self.sigma))


def fit_shift(size: NDArray[np.float64], area: NDArray[np.float64]) -> Shift:
    """The likeliest `Shift`, from sizes of changes (n,) and areas (n,).

    Only the sum of `intercept` and `mu` shows in data: `mu` is 0.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> area = rng.random(2000)
    >>> shift = fit_shift(np.abs(0.3 + 0.2 * area + 0.02 * rng.standard_t(4, 2000)), area)
    >>> round(shift.intercept, 2), round(shift.slope, 2), round(shift.sigma, 2)
    (0.3, 0.2, 0.02)
    """
    found = fit_student(size, area)
    return Shift(found.intercept, found.slope, found.nu, 0.0, found.sigma)


def fit_student(size: NDArray[np.float64], area: NDArray[np.float64]) -> ShiftFit:
    """The likeliest law with residuals of Student's t."""
    return _fit(size, area, heavy=True)


def fit_normal(size: NDArray[np.float64], area: NDArray[np.float64]) -> ShiftFit:
    """The likeliest law with normal residuals, for comparison."""
    return _fit(size, area, heavy=False)


def _fit(size: NDArray[np.float64], area: NDArray[np.float64], heavy: bool) -> ShiftFit:
    """Minimize over the centre at the mean area, its change over one standard deviation, ln sigma and ln nu."""
    unit = float(np.median(size)) or float(size.mean()) or 1.0
    scaled = size / unit
    middle, spread = float(area.mean()), float(area.std()) or 1.0
    place = (area - middle) / spread

    def misfit(parameters: NDArray[np.float64]) -> float:
        nu = float(np.exp(parameters[3])) if heavy else np.inf
        centre = parameters[0] + parameters[1] * place
        return -float(_log_folded(scaled, centre, float(np.exp(parameters[2])), nu).sum())

    bounds = [(None, None), (None, None), (np.log(LEAST_SIGMA), None)]
    if heavy:
        bounds.append((np.log(NU_RANGE[0]), np.log(NU_RANGE[1])))
    starts = _starts(scaled, place, heavy)
    best = min((optimize.minimize(misfit, start, bounds=bounds) for start in starts), key=lambda run: float(run.fun))
    plain = optimize.minimize(misfit, [0.0, 0.0, *starts[-1][2:]], bounds=[(0, 0), (0, 0), *bounds[2:]])
    if plain.fun <= best.fun + NO_BETTER:
        best = plain
    centre, slope, sigma = best.x[0] * unit, best.x[1] * unit / spread, float(np.exp(best.x[2])) * unit
    sign = -1.0 if centre < 0 else 1.0  # a trend and its mirror image fold to the same law
    return ShiftFit(
        intercept=float(sign * (centre - slope * middle)),
        slope=float(sign * slope),
        nu=float(np.exp(best.x[3])) if heavy else np.inf,
        sigma=sigma,
        log_likelihood=-float(best.fun) - len(size) * np.log(unit),
    )


def _starts(size: NDArray[np.float64], place: NDArray[np.float64], heavy: bool) -> list[list[float]]:
    """Around the median with its change by least squares, and around 0: where a folded law may have its two peaks."""
    slope = float(np.polyfit(place, size, 1)[0]) if np.ptp(place) > 0 else 0.0
    width = float(np.median(np.abs(size - np.median(size)))) or 1.0
    tail = [np.log(3.0)] if heavy else []
    return [[float(np.median(size)), slope, np.log(width), *tail], [0.01, 0.0, 0.0, *tail]]


def _log_folded(size: NDArray[np.float64], centre: NDArray[np.float64], sigma: float, nu: float) -> NDArray[np.float64]:
    """Log density of |centre + sigma · T|; written out, since scipy's checks take longer than the sum."""
    towards, away = ((side - centre) / sigma for side in (size, -size))
    if np.isfinite(nu):
        scale = gammaln((nu + 1) / 2) - gammaln(nu / 2) - np.log(nu * np.pi) / 2
        towards, away = (-(nu + 1) / 2 * np.log1p(step**2 / nu) for step in (towards, away))
    else:
        scale = -np.log(2 * np.pi) / 2
        towards, away = (-(step**2) / 2 for step in (towards, away))
    return np.asarray(np.logaddexp(towards, away) + scale - np.log(sigma))
