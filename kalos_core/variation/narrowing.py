"""Variations filtered by class, rater, images, or all of these, without a new search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.annotations.columns import positions
from kalos_core.arrays import expand_runs, run_starts
from kalos_core.display import number_of
from kalos_core.errors import index_of
from kalos_core.options import checked
from kalos_core.results import Result, part_text
from kalos_core.variation.rates import RaterRates, rater_rates
from kalos_core.variation.shares import BoundaryQuality, boundary_quality
from kalos_core.variation.tables import Confusions, Merged, Variations

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class NarrowedVariations(Result):
    """Findings of a part of a search for variations.

    Figures: ``"types"``.

    Parameters
    ----------
    category, rater : str, optional
        Filters: findings with an annotation of the class on either side, and in which the rater takes part.
    found : Variations
        The selected findings, with all annotations.
    images : (J,) int
        Codes of the selected images.
    of_everybody : Variations
        Findings of all raters, because the rates of one rater need those of the others.

    Examples
    --------
    >>> from kalos_core import Annotations, variations
    >>> given = [("ann", "cat", 0), ("bob", "dog", 0), ("bob", "dog", 50)]
    >>> rows = [{"image": 1, "rater": r, "category": c, "box": [x, 0, 9, 9]} for r, c, x in given]
    >>> part = narrowed_variations(variations(Annotations.from_rows(rows)), category="cat")
    >>> part.counts["wrong_class"], part.counts["additional"], part.own.tolist()
    (1, 0, [1, 0])
    """

    _call = "narrowed_variations(found)"

    category: str | None
    rater: str | None
    found: Variations
    images: NDArray[np.intp]
    of_everybody: Variations

    @property
    def headline(self) -> str:
        """Finding, in words."""
        part = part_text(self.category, self.rater)
        return f"{self.found.headline}{part}; on {number_of(len(self.images), 'image')}"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per finding, as `Variations.to_pandas`."""
        return self.found.to_pandas()

    def _table(self) -> pd.DataFrame:
        return self.found._table()

    @property
    def annotations(self) -> Annotations:
        """Annotations of all images and classes."""
        return self.found.annotations

    @property
    def counts(self) -> dict[str, int]:
        """Number of findings of each type."""
        return self.found.counts()

    @cached_property
    def by_rater(self) -> dict[str, dict[str, int]]:
        """`Variations.counts_by_rater` of the selected findings."""
        return self.found.counts_by_rater()

    @cached_property
    def own(self) -> NDArray[np.intp]:
        """(R,) number of annotations of each rater on these images, of the class if one is selected."""
        table = self.found.annotations
        there = np.zeros(len(table.images), np.bool_)
        there[self.images] = True
        rows = there[table.image]
        if self.category is not None:
            rows &= table.categories[table.category] == self.category
        return np.bincount(table.rater[rows], minlength=len(table.raters))

    @cached_property
    def least_similarity(self) -> NDArray[np.float64]:
        """(N,) smallest similarity of each annotation in the findings of all raters; infinite in none."""
        every = self.of_everybody
        least = np.full(len(every.annotations), np.inf)
        np.fmin.at(least, every.side_row, np.repeat(every.similarity, every.side_sizes.sum(axis=1)))
        return least

    @cached_property
    def confused(self) -> NDArray[np.intp]:
        """Selected findings whose sides have different classes."""
        return np.flatnonzero(self.found.is_confused)

    @cached_property
    def rater_rates(self) -> RaterRates:
        """Numbers of objects for the rates, on these images and of the class if one is selected."""
        table = self.found.annotations
        rows = None if self.category is None else table.categories[table.category] == self.category
        return rater_rates(self.of_everybody, rows)

    @property
    def rates(self) -> dict[str, dict[str, float]]:
        """Rate of each rater's differences per 100 objects, independent of the order of raters; NaN without objects."""
        return self.rater_rates.per_100

    @cached_property
    def confusions(self) -> Confusions:
        """`Variations.confusions` of the selected findings."""
        return self.found.confusions()

    @property
    def merged(self) -> Merged:
        """`Variations.merged` of the selected findings."""
        return self.found.merged

    @cached_property
    def boundary(self) -> BoundaryQuality:
        """`boundary_quality` of the selected findings."""
        return boundary_quality(self.found)

    @property
    def identical_share(self) -> float:
        """`Variations.identical_share` of the selected findings."""
        return self.found.identical_share


@checked
def narrowed_variations(
    found: Variations,
    category: str | None = None,
    rater: str | None = None,
    images: NDArray[np.intp] | list[int] | None = None,
) -> NarrowedVariations:
    """Select the findings with a class, of a rater, on some images, or all of these together.

    Parameters
    ----------
    found : Variations
    category, rater : str, optional
        Names in its annotations.
    images : (J,) int, optional
        Codes of images, without duplicates; all by default.

    Returns
    -------
    NarrowedVariations

    Raises
    ------
    InputError
        If the class or rater is unknown.

    Examples
    --------
    >>> from kalos_core import Annotations, variations
    >>> given = [(1, "ann"), (2, "ann"), (2, "bob")]
    >>> rows = [{"image": i, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for i, r in given]
    >>> part = narrowed_variations(variations(Annotations.from_rows(rows, assigned="all")), images=[0])
    >>> part.rates["ann"]["additional"], part.by_rater["bob"]["missing"], part.own.tolist()
    (100.0, 1, [1, 0])
    """
    table = found.annotations
    chosen = positions(images, len(table.images), "images")
    keep = np.ones(len(found), np.bool_)
    if images is not None:
        there = np.zeros(len(table.images), np.bool_)
        there[chosen] = True
        keep &= there[found.image]
    if category is not None:
        code = index_of(table.categories.tolist(), category, "category")
        side = np.repeat(np.arange(2 * len(found)), np.diff(found.side_start))
        with_class = np.zeros(len(found), np.bool_)
        with_class[side[table.category[found.side_row] == code] // 2] = True
        keep &= with_class
    part = found if keep.all() else _taken(found, np.flatnonzero(keep))
    of_rater = part
    if rater is not None:
        code = index_of(table.raters.tolist(), rater, "rater")
        of_rater = _taken(part, np.flatnonzero((part.rater_a == code) | (part.rater_b == code)))
    return NarrowedVariations(category, rater, of_rater, chosen, part)


def _taken(found: Variations, rows: NDArray[np.intp]) -> Variations:
    """Select findings (M,), in that order."""
    sides = (2 * rows[:, None] + (0, 1)).ravel()
    first, size = found.side_start[sides], np.diff(found.side_start)[sides]
    return replace(
        found,
        image=found.image[rows],
        rater_a=found.rater_a[rows],
        rater_b=found.rater_b[rows],
        type_code=found.type_code[rows],
        similarity=found.similarity[rows],
        side_start=run_starts(size),
        side_row=found.side_row[expand_runs(first, size)[1]],
    )
