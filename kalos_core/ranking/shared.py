"""Rankings that several truths share (Lampert et al., Table IV)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalos_core.options import checked
from kalos_core.ranking.ranks import Rankings


@dataclass(frozen=True, eq=False)
class SharedRanking:
    """A ranking, and all truths that give it.

    Parameters
    ----------
    truths : (T,) object
        Names.
    systems : (S,) object
        Ranked systems, best first; equal systems in the order of the rankings.
    ranks : (S,) float64
        Ranks of the systems; equal systems share their mean rank.

    Examples
    --------
    >>> SharedRanking(np.array(["ann"]), np.array(["net", "svm", "rf"]), np.array([1, 2.5, 2.5])).order
    'net > svm = rf'
    """

    truths: NDArray[np.object_]
    systems: NDArray[np.object_]
    ranks: NDArray[np.float64]

    @property
    def order(self) -> str:
        """Systems in one line, separated by ``>`` for better and ``=`` for equal."""
        signs = ["", *(" = " if same else " > " for same in self.ranks[1:] == self.ranks[:-1])]
        return "".join(f"{sign}{name}" for sign, name in zip(signs, self.systems, strict=True))


@checked
def shared_rankings(rankings: Rankings) -> tuple[SharedRanking, ...]:
    """Return the distinct rankings, each with the truths that give it.

    Parameters
    ----------
    rankings : Rankings

    Returns
    -------
    tuple of SharedRanking
        Sorted by number of truths, descending. Truths that rank nothing are left out.

    Examples
    --------
    >>> values = np.array([[0.9, 0.8], [0.7, 0.6], [0.5, 0.6], [np.nan, np.nan]])
    >>> names = np.array(["ann", "bob", "any", "none"]), np.array(["net", "svm"])
    >>> [(found.truths.tolist(), found.order) for found in shared_rankings(Rankings("AUC", *names, values))]
    [(['ann', 'bob'], 'net > svm'), (['any'], 'svm > net')]
    """
    code, ranks = rankings.ranking_of, rankings.ranks
    found = []
    for number in range(int(code.max(initial=-1)) + 1):
        members = np.flatnonzero(code == number)
        own = ranks[members[0]]
        order = np.argsort(own, kind="stable")[: int(np.isfinite(own).sum())]  # NaN is sorted last
        if len(order):
            found.append(SharedRanking(rankings.truths[members], rankings.systems[order], own[order]))
    return tuple(sorted(found, key=lambda each: -len(each.truths)))
