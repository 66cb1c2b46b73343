"""Straight line between alpha and modified mAP, fitted or published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.display import number_of
from kalos_core.errors import InputError, repr_of
from kalos_core.options import Option

SAME_ALPHA = 1e-9
"""Alphas closer than this are equal up to rounding; no line can be fitted to them."""


@dataclass(frozen=True, eq=False)
class Line:
    """mAP = slope * alpha + intercept.

    Parameters
    ----------
    slope, intercept : float
    correlation : float
        Pearson's rho of the fitted points.
    source : str
        Origin of the line, with the configuration of alpha it belongs to.
    residuals : (M,) float64
        mAP minus the line at the fitted points; empty for a published line.

    Examples
    --------
    >>> PUBLISHED_LINE.map_of(np.array([0.5])).round(3).tolist(), round(PUBLISHED_LINE.explained, 2)
    ([0.615], 0.85)
    """

    slope: float
    intercept: float
    correlation: float
    source: str
    residuals: NDArray[np.float64]

    @property
    def explained(self) -> float:
        """R², the share of explained variance."""
        return self.correlation**2

    def map_of(self, alpha: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mAP for alphas of any shape."""
        return self.slope * alpha + self.intercept

    def __str__(self) -> str:
        sign = "+" if self.intercept >= 0 else "-"
        source = f"; {self.source}" if self.source else ""
        return (
            f"mAP = {self.slope:.3f} α {sign} {abs(self.intercept):.3f} "
            f"(ρ = {self.correlation:.2f}, R² = {self.explained:.2f}{source})"
        )


def check_line(value: Any, name: str) -> Line | None:
    """Check a line, which may be None or a stored mapping without residuals.

    Raises
    ------
    InputError
        If the value is anything else.
    """
    if isinstance(value, Mapping) and value.keys() == {entry.name for entry in fields(Line)}:
        return Line(**{**value, "residuals": np.zeros(0)})
    if value is None or isinstance(value, Line):
        return value
    raise InputError(f"{name}: expected a Line, such as `fitted` of another result, got {repr_of(value)}")


GivenLine = Annotated[
    Line | None,
    Option(
        "Line from alpha to mAP",
        "Line fitted elsewhere (`fitted` of another result); by default the published one.",
        type="Line, optional",
        check=check_line,
    ),
]

PUBLISHED_LINE = Line(
    slope=0.836,
    intercept=0.197,
    correlation=0.92,
    source="label convergence Eq. 1: LVIS, COCO and Open Images, alpha of its App. B (S=shm, ψ_neg)",
    residuals=np.zeros(0),
)
"""Line of the paper; it belongs to the alpha of its Appendix B and to no other."""


Values = NDArray[np.float64]


def fit_line(alpha: Values | Mapping[str, Values], precision: Values | Mapping[str, Values], source: str = "") -> Line:
    """Fit a line by least squares to all pairs of alpha and mAP, without NaN (label convergence §4.2).

    Parameters
    ----------
    alpha, precision : floats of one shape, or mappings of data sets to such
        Pairs of several data sets are pooled, as the paper pools LVIS, COCO and Open Images. A data set with more
        pairs has more weight.
    source : str
        Origin of the line, with the configuration of alpha. The names of pooled data sets and their numbers of pairs
        are appended.

    Returns
    -------
    Line

    Raises
    ------
    InputError
        If fewer than three pairs are defined, all alphas are the same, or shapes or data sets differ.

    Examples
    --------
    >>> line = fit_line(np.array([0.0, 0.5, 1.0]), np.array([0.1, 0.5, 0.9]), "by hand")
    >>> round(line.slope, 6), round(line.intercept, 6), round(line.explained, 6)
    (0.8, 0.1, 1.0)

    Two data sets pooled:

    >>> alpha = {"LVIS": np.array([0.0, 0.5]), "COCO": np.array([0.5, 1.0])}
    >>> precision = {"LVIS": np.array([0.1, 0.4]), "COCO": np.array([0.6, 0.9])}
    >>> print(fit_line(alpha, precision))
    mAP = 0.800 α + 0.100 (ρ = 0.97, R² = 0.94; LVIS (2 pairs), COCO (2 pairs))
    """
    from scipy import stats  # slow to import, and needed here only

    if isinstance(alpha, Mapping) or isinstance(precision, Mapping):
        alpha, precision, names = _pooled(alpha, precision)
        source = f"{source}: {names}" if source else names
    alpha, precision = _floats(alpha, "alpha"), _floats(precision, "precision")
    if np.shape(alpha) != np.shape(precision):
        raise InputError(
            f"regression: expected as many alphas as mAPs, got shapes {np.shape(alpha)} and {np.shape(precision)}"
        )
    defined = np.isfinite(alpha) & np.isfinite(precision)
    x, y = alpha[defined], precision[defined]
    if len(x) < 3 or np.ptp(x) <= SAME_ALPHA:
        raise InputError(f"regression: expected at least 3 pairs with different alphas, got {len(x)}")
    fit = stats.linregress(x, y)
    return Line(
        slope=float(fit.slope),
        intercept=float(fit.intercept),
        correlation=float(fit.rvalue),
        source=source,
        residuals=y - (fit.slope * x + fit.intercept),
    )


def _floats(values: object, what: str) -> Values:
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        found = np.zeros(0)
    if not found.ndim or (found.size == 0 and np.size(np.asarray(values, dtype=object))):
        raise InputError(f"{what}: expected numbers, got {repr_of(values)}")
    return found


def _pooled(
    alpha: Values | Mapping[str, Values], precision: Values | Mapping[str, Values]
) -> tuple[Values, Values, str]:
    """Concatenate the pairs of several data sets, and name the data sets with their numbers of pairs."""
    if not (isinstance(alpha, Mapping) and isinstance(precision, Mapping) and alpha and set(alpha) == set(precision)):
        raise InputError("regression: expected alphas and mAPs of the same data sets, got others")
    sides = [
        [_floats(side[name], f"{what} of {name!r}") for name in alpha]
        for side, what in ((alpha, "alpha"), (precision, "precision"))
    ]
    for name, x, y in zip(alpha, *sides, strict=True):
        if x.shape != y.shape:
            raise InputError(f"regression: expected as many alphas as mAPs of {name!r}, got {x.shape} and {y.shape}")
    pairs = [int((np.isfinite(x) & np.isfinite(y)).sum()) for x, y in zip(*sides, strict=True)]
    names = ", ".join(f"{name} ({number_of(count, 'pair')})" for name, count in zip(alpha, pairs, strict=True))
    x, y = (np.concatenate([values.ravel() for values in side]) for side in sides)
    return x, y, names
