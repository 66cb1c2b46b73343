"""Sizes of units, and their dependence on the kind of solver."""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from kalos_core.pairs import Pairs

MANY_OPEN, MANY_CUT = 0.1, 0.1
"""Smallest shares for which the note says that other kinds of solvers give clearly different units."""


@dataclass(frozen=True)
class UnitSizes:
    """Sizes of the units of an agreement, and how much they depend on the solver.

    With two raters, all solvers agree except in a few conflicts. With more, annotations of one object may be joined
    although some pairs do not reach the threshold (``greedy``, which requires one pair, and ``shm``). They may also be
    kept apart because of one such pair (``ahc``, which requires all). With more raters per image, a unit has more
    pairs, and the results differ more.

    Parameters
    ----------
    annotations_per_unit : float
        Mean number of annotations in a unit; NaN without units.
    raters_per_unit : float
        Mean number of raters assigned to a unit.
    open_share : float in [0, 1]
        Share of annotations with a partner that are in units with two members that do not reach the threshold.
    cut_share : float in [0, 1]
        Share of pairs at the threshold whose annotations are in two units that do not contain the other annotation's
        rater.

    Examples
    --------
    Three boxes in a row, where the outer two do not reach .5; greedy joins all three.

    >>> from kalos_core import Annotations, agreement
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [x, 0, 10, 10]} for r, x in zip("abc", (0, 3, 6))]
    >>> table = Annotations.from_rows(rows)
    >>> sizes = agreement(table).unit_sizes
    >>> sizes.annotations_per_unit, sizes.open_share, sizes.cut_share
    (3.0, 1.0, 0.0)
    >>> agreement(table, solver="ahc").unit_sizes.cut_share
    0.5
    """

    annotations_per_unit: float
    raters_per_unit: float
    open_share: float
    cut_share: float

    @property
    def note(self) -> str:
        """Explanation of why other kinds of solvers give clearly different units; "" if they do not.

        Examples
        --------
        >>> UnitSizes(3.0, 3.0, 1.0, 0.0).note[:84]
        'units depend on the solver: a unit has 3.0 annotations of 3.0 raters on average, and'
        >>> UnitSizes(1.9, 2.0, 0.0, 0.02).note
        ''
        """
        if self.open_share < MANY_OPEN and self.cut_share < MANY_CUT:
            return ""
        start = (
            f"units depend on the solver: a unit has {self.annotations_per_unit:.1f} annotations of "
            f"{self.raters_per_unit:.1f} raters on average, and "
        )
        if self.open_share >= MANY_OPEN:
            return start + (
                f"{self.open_share:.0%} of the annotations with a partner are in units with a pair below the threshold."
                " 'ahc' requires every pair to reach it, so it splits these units and gives a lower alpha"
            )
        return start + (
            f"{self.cut_share:.0%} of the pairs that reach the threshold connect two units without a common rater. "
            "'greedy' requires only one such pair, so it joins them and gives a higher alpha"
        )


@dataclass(frozen=True)
class UnitCounts:
    """Counts that `UnitSizes` is computed from; they can be added over tables of different images.

    Parameters
    ----------
    units, annotations : int
    raters : int
        Sum over units of the number of assigned raters.
    open, partnered : int
        Annotations in units with two members that do not reach the threshold, and in units of two or more.
    cut, pairs : int
        Pairs across two units that could be joined, and all pairs.

    Examples
    --------
    >>> one = UnitCounts(units=2, annotations=4, raters=4, open=0, partnered=4, cut=0, pairs=2)
    >>> (one + one).sizes
    UnitSizes(annotations_per_unit=2.0, raters_per_unit=2.0, open_share=0.0, cut_share=0.0)
    """

    units: int
    annotations: int
    raters: int
    open: int
    partnered: int
    cut: int
    pairs: int

    @classmethod
    def of(
        cls, pairs: Pairs, unit_of: NDArray[np.intp], raters: NDArray[np.intp], rater: NDArray[np.intp]
    ) -> UnitCounts:
        """Count from the units (N,) and raters (N,) of annotations and the pairs at the threshold.

        `raters` (U,) is the number of raters assigned to each unit.
        """
        size = np.bincount(unit_of, minlength=len(raters))
        left, right = unit_of[pairs.left], unit_of[pairs.right]
        linked = np.bincount(left[left == right], minlength=len(size))
        open_ = linked < size * (size - 1) // 2
        partnered = size >= 2
        cut = left != right
        if cut.any():  # not if one unit already contains the other annotation's rater, which prevents the join
            own = np.unique(unit_of * (rater.max(initial=0) + 1) + rater)
            for unit, other in ((left, pairs.right), (right, pairs.left)):
                key = unit * (rater.max(initial=0) + 1) + rater[other]
                cut &= own[np.minimum(np.searchsorted(own, key), len(own) - 1)] != key
        return cls(
            units=len(size),
            annotations=len(unit_of),
            raters=int(raters.sum()),
            open=int(size[open_ & partnered].sum()),
            partnered=int(size[partnered].sum()),
            cut=int(cut.sum()),
            pairs=len(cut),
        )

    def __add__(self, other: UnitCounts) -> UnitCounts:
        return UnitCounts(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    @property
    def sizes(self) -> UnitSizes:
        """Means and shares."""
        return UnitSizes(
            annotations_per_unit=self.annotations / self.units if self.units else float("nan"),
            raters_per_unit=self.raters / self.units if self.units else float("nan"),
            open_share=self.open / max(self.partnered, 1),
            cut_share=self.cut / max(self.pairs, 1),
        )
