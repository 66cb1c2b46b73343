"""Raters who grade higher or lower than the others, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.annotations import object_array
from kalos_core.arrays import as_floats, divide
from kalos_core.display import number_of, with_interval
from kalos_core.errors import InputError
from kalos_core.inference import clear_of_chance, intervals
from kalos_core.limits import check_replicates
from kalos_core.options import checked
from kalos_core.resampling import Draws
from kalos_core.results import Result
from kalos_core.text import plain

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class GradeDirection(Result):
    """Difference of the grades of each of R raters from those of the others, on the items that both graded.

    Table: one row per rater. Figures: ``"raters"``.

    Parameters
    ----------
    question : str
        "" if the grades are of one question.
    raters : (R,) object
    difference : (R,) float64
        Mean over items of the rater's grade minus the mean grade of the others; negative is lower, NaN without items.
    interval : (R, 2) float64
        95 % bootstrap interval over items; NaN without one.
    items : (R,) int
        Number of items that the rater and another graded.

    Examples
    --------
    >>> found = grade_direction([[1, 2, 3], [2, 3, 5]] * 20, raters=["ann", "bob", "cora"])
    >>> found.difference.tolist(), found.text(2).replace(chr(160), " ")
    ([-1.75, -0.25, 2.0], 'cora grades higher by 2.00 [1.82, 2.15] than the others, on 40 images')
    """

    _call = "grade_direction(grades)"
    _columns = "rater:raters difference interval items"

    question: str
    raters: NDArray[np.object_]
    difference: NDArray[np.float64]
    interval: NDArray[np.float64]
    items: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.raters)

    @property
    def clear(self) -> list[int]:
        """Raters whose direction is more than chance (`clear_of_chance`), largest difference first."""
        found = np.flatnonzero(clear_of_chance(self.difference, self.interval, self.items))
        return found[np.argsort(-np.abs(self.difference[found]), kind="stable")].tolist()  # type: ignore[no-any-return]

    def text(self, rater: int) -> str:
        """Describe a rater's direction, such as "cora grades lower by 0.40 than the others, on 40 images"."""
        value, ends = float(self.difference[rater]), self.interval[rater]
        way, ends = ("lower", -ends[::-1]) if value < 0 else ("higher", ends)
        by, images = with_interval(abs(value), ends, 2), number_of(int(self.items[rater]), "image")
        of = f" ({plain(self.question)})" if self.question else ""
        return f"{plain(self.raters[rater])} grades {way} by {by} than the others, on {images}{of}"

    @property
    def headline(self) -> str:
        """The finding, in words."""
        clear = self.clear
        return self.text(clear[0]) if clear else "No rater grades clearly higher or lower than the others"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per rater."""
        return self._frame(self._columns)


@checked
def grade_direction(
    grades: ArrayLike,
    raters: Sequence[str] | None = None,
    question: str = "",
    *,
    bootstrap: int = 1000,
    seed: int = 0,
) -> GradeDirection:
    """Compute the mean signed difference of each rater from the others, over the items that both graded.

    Parameters
    ----------
    grades : (I, R) float
        NaN where a rater gave no grade.
    raters : (R,) str, optional
        Names; by default their numbers.
    question : str
        Question that the grades answer.
    bootstrap, seed : int
        Number of replicates for the intervals, 0 for none; and their seed.

    Examples
    --------
    >>> grades = [[1, 1, 0], [2, 2, 1], [3, 3, 3], [1, np.nan, np.nan]]
    >>> found = grade_direction(grades, raters=["ann", "bob", "cora"], bootstrap=0)
    >>> found.difference.round(3).tolist(), found.items.tolist()
    ([0.333, 0.333, -0.667], [3, 3, 3])
    """
    values = as_floats(grades, "grades")
    if values.ndim != 2 or (raters is not None and len(raters) != values.shape[1]):
        raise InputError(f"grades: expected a column for each rater, got an array of shape {values.shape}")
    check_replicates(bootstrap, len(values))
    there = np.isfinite(values)
    given, count = np.where(there, values, 0.0), there.sum(axis=1, keepdims=True)
    others = divide(given.sum(axis=1, keepdims=True) - given, count - there)
    compared = there & (count > 1)
    apart = np.where(compared, given - others, 0.0)
    items = compared.sum(axis=0)
    used = np.flatnonzero(compared.any(axis=1))
    drawn = [np.zeros((0, values.shape[1]))]
    for times in Draws(used, bootstrap, seed):
        weights = times.astype(np.float64)
        drawn.append(divide(weights @ apart[used], weights @ compared[used].astype(np.float64)))
    names = [str(number) for number in range(values.shape[1])] if raters is None else list(raters)
    return GradeDirection(
        question=question,
        raters=object_array(names),
        difference=divide(apart.sum(axis=0), items),
        interval=intervals(np.concatenate(drawn), items),
        items=items,
    )
