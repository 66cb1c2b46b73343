"""Common heavy tail of the shift of an annotation and the changes of its size."""

from __future__ import annotations

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core.noise.fit.observations import Shifts
from kalos_core.noise.parameters import Shift

NODES, REACH = 80, 5.0
"""Quadrature over the common factor: number of nodes, and range in standard normal deviations."""

ROWS_AT_ONCE = 20_000


def fit_coupling(shifts: Shifts, translation: Shift, width: Shift, height: Shift) -> tuple[float, float]:
    """Fit the share of annotations whose three residuals have a common factor; return it and the reduction of AIC.

    Student's t is a normal residual divided by the root of a chi-squared factor: small factors make large residuals.
    With a common factor (the same quantile of its distribution for all three), an annotation that is far off is so in
    position, width and height. The three marginal distributions stay the same.

    Returns
    -------
    share : float in [0, 1]
    gain : float
        Negative if the additional parameter is not worth it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> shift = Shift(intercept=0.0, slope=0.0, nu=1.5, mu=0.0, sigma=1.0)
    >>> factor = np.sqrt(rng.chisquare(1.5, (1000, 1)) / 1.5)
    >>> sizes = np.abs(rng.standard_normal((1000, 3)) / factor)
    >>> area = np.full(1000, 0.01)
    >>> share, gain = fit_coupling(Shifts(area, sizes[:, 0], area, sizes[:, 1], sizes[:, 2]), shift, shift, shift)
    >>> share > 0.9, gain > 100
    (True, True)
    """
    parts = ((translation, shifts.translation), (width, shifts.width), (height, shifts.height))
    ratio = np.concatenate(
        [
            _log_ratio(
                [(shift, size[rows : rows + ROWS_AT_ONCE]) for shift, size in parts],
                shifts.area[rows : rows + ROWS_AT_ONCE],
            )
            for rows in range(0, len(shifts), ROWS_AT_ONCE)
        ]
    )
    joint = np.exp(np.minimum(ratio, 700.0))

    def misfit(share: float) -> float:
        return -float(np.log1p(share * (joint - 1)).sum())

    found = scipy.optimize.minimize_scalar(misfit, bounds=(0, 1), method="bounded", options={"xatol": 1e-4})
    return float(found.x), -2 * float(found.fun) - 2


def _log_ratio(parts: list[tuple[Shift, NDArray[np.float64]]], area: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (n,) ln of the ratio of the density of three sizes with a common factor to that without."""
    node, weight = np.polynomial.legendre.leggauss(NODES)
    normal = REACH * node
    quantile = scipy.stats.norm.cdf(normal)
    log_weight = np.log(REACH * weight) + scipy.stats.norm.logpdf(normal)
    given = np.zeros((len(area), NODES))
    apart = np.zeros(len(area))
    for shift, size in parts:
        spread = shift.sigma / np.sqrt(scipy.stats.chi2.ppf(quantile, shift.nu) / shift.nu)  # (NODES,)
        centre = (shift.trend(area) + shift.mu)[:, None]
        change = (size / shift.scale(area))[:, None]
        sides = [-(((sign * change - centre) / spread) ** 2) / 2 for sign in (1, -1)]
        given += np.logaddexp(*sides) - np.log(spread) - np.log(2 * np.pi) / 2 - np.log(shift.scale(area))[:, None]
        apart += shift.log_density(size, area)
    return np.asarray(scipy.special.logsumexp(given + log_weight, axis=1) - apart)
