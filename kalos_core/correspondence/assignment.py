"""Exact assignments: maximum number of pairs, then minimum cost, then first in a given order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def components(left: NDArray[np.intp], right: NDArray[np.intp], nodes: int) -> NDArray[np.intp]:
    """Return (nodes,) the connected component of each node, given edges (E,).

    Examples
    --------
    >>> components(np.array([0, 1]), np.array([1, 2]), 4).tolist()
    [0, 0, 0, 1]
    """
    from scipy import sparse  # slow to import, and needed here only
    from scipy.sparse.csgraph import connected_components

    graph = sparse.coo_array((np.ones(len(left), np.int8), (left, right)), shape=(nodes, nodes))
    return np.asarray(connected_components(graph, directed=False)[1], np.intp)


def best_assignment(left: NDArray[np.intp], right: NDArray[np.intp], cost: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Choose pairs so that every node is used at most once: as many as possible, at minimum cost, first in the order.

    The first pair that only one of two assignments contains decides their order. Ties depend only on the order in
    which pairs are given, so a strict order gives a unique result.

    Parameters
    ----------
    left, right : (E,) int
        The two nodes of each pair, numbered separately on each side; pairs in order of preference, without duplicates.
    cost : (E,) float64
        Ascending along the pairs. Sums are compared without rounding.

    Returns
    -------
    (E,) bool

    Examples
    --------
    Two pairs are better than one at any cost:

    >>> best_assignment(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([-0.9, -0.2, -0.1])).tolist()
    [False, True, True]

    Both assignments cost -1; the one with the first pair comes first:

    >>> best_assignment(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([-0.75, -0.5, -0.5, -0.25])).tolist()
    [True, False, False, True]
    """
    left, right = _numbered(left), _numbered(right)
    if (np.bincount(left) <= 1).all() and (np.bincount(right) <= 1).all():
        return np.ones(len(left), np.bool_)
    lefts, rights = int(left.max()) + 1, int(right.max()) + 1
    part = components(left, lefts + right, lefts + rights)
    thin = np.minimum(np.bincount(part[:lefts]), np.bincount(part[lefts:])) == 1
    part = part[left]
    # if one side has a single node, only one pair is possible: the first, which is the cheapest
    first = np.unique(part, return_index=True)[1]
    chosen = np.zeros(len(left), np.bool_)
    chosen[first[thin]] = True
    wide = np.flatnonzero(~thin[part])
    wide = wide[np.argsort(part[wide], kind="stable")]
    for pairs in np.split(wide, np.flatnonzero(np.diff(part[wide])) + 1) if len(wide) else []:
        chosen[pairs] = _solve(_numbered(left[pairs]), _numbered(right[pairs]), cost[pairs])
    return chosen


def _numbered(nodes: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.unique(nodes, return_inverse=True)[1].reshape(-1)


def _solve(left: NDArray[np.intp], right: NDArray[np.intp], cost: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Solve `best_assignment` for one component, with a square table of costs.

    Costs are converted to whole numbers of any length. A table holds as many of their leading binary digits as leave
    room for sums in 64 bits. Further rounds add the remaining digits to the reduced costs of the round before.
    """
    size = int(max(left.max(), right.max())) + 1
    amounts = _whole(cost)
    most = max(amounts)
    room = 60 - 2 * size.bit_length()
    after = max(0, most.bit_length() - room)  # digits left for later rounds
    # an unmatched node costs more than all pairs together, so the number of pairs comes first
    table = np.full((size, size), ((most >> after) + 1) * size + 1, np.int64)
    table[left, right] = [amount >> after for amount in amounts]
    column_of, left_over = _hungarian(table)
    while after:
        digits = min(room, after)
        after -= digits
        # the remaining digits of an assignment sum to less than `size` units of the digits so far,
        # so larger reduced costs cannot be part of an optimum
        table = np.minimum(left_over, size + 1) << digits
        table[left, right] += np.array([(amount >> after) & ((1 << digits) - 1) for amount in amounts], np.int64)
        column_of, left_over = _hungarian(table)
    tight = left_over == 0  # optimal assignments use these entries only
    if tight.sum() > size:
        _prefer(tight, column_of, left, right)
    chosen: NDArray[np.bool_] = column_of[left] == right
    return chosen


def _whole(cost: NDArray[np.float64]) -> list[int]:
    """Return costs minus the lowest cost, as exact whole multiples of one unit.

    Examples
    --------
    >>> _whole(np.array([-1.0, -0.75, 0.125]))
    [0, 2, 9]
    """
    ratios = [value.as_integer_ratio() for value in cost.tolist()]
    unit = max(below for _, below in ratios)  # denominators are powers of two
    amounts = [above * (unit // below) for above, below in ratios]
    least = min(amounts)
    return [amount - least for amount in amounts]


def _hungarian(table: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return the column of each row in a minimum-cost assignment of a square table, and the table of reduced costs.

    Adds rows along shortest paths (Kuhn 1955, Jonker and Volgenant 1987), in whole numbers without rounding. Reduced
    costs are never negative, and 0 at every entry of every optimal assignment.
    """
    size = len(table)
    rows = np.arange(size)
    row_price, column_price = np.zeros(size, np.int64), np.zeros(size, np.int64)
    column_of, row_of = np.full(size, -1), np.full(size, -1)
    far = np.iinfo(np.int64).max
    for new in rows:
        distance, via = np.full(size, far), np.full(size, -1)
        open_ = np.ones(size, np.bool_)
        row, travelled = new, np.int64(0)
        while True:
            through = table[row] - column_price + (travelled - row_price[row])
            nearer = open_ & (through < distance)
            distance[nearer] = through[nearer]
            via[nearer] = row
            column = np.argmin(np.where(open_, distance, far))
            travelled = distance[column]
            open_[column] = False
            if row_of[column] < 0:
                break
            row = row_of[column]
        closed = np.flatnonzero(~open_)
        gain = travelled - distance[closed]
        column_price[closed] -= gain
        passed = row_of[closed]
        row_price[passed[passed >= 0]] += gain[passed >= 0]
        row_price[new] += travelled
        while True:
            row = via[column]
            row_of[column] = row
            column_of[row], column = column, column_of[row]
            if row == new:
                break
    return column_of, table - row_price[:, None] - column_price


def _prefer(
    tight: NDArray[np.bool_], column_of: NDArray[np.intp], left: NDArray[np.intp], right: NDArray[np.intp]
) -> None:
    """Replace an optimal assignment, in place, by the first: keep each pair, in order, that some optimum contains."""
    row_of = np.argsort(column_of)
    open_ = np.ones(len(tight), np.bool_)  # columns that are not fixed yet
    for row, column in zip(left.tolist(), right.tolist(), strict=True):
        if not tight[row, column] or not open_[column] or not open_[column_of[row]]:
            continue
        open_[column] = False
        if column_of[row] == column or _rotate(tight, open_, column_of, row_of, row, column):
            continue
        open_[column] = True


def _rotate(
    tight: NDArray[np.bool_],
    open_: NDArray[np.bool_],
    column_of: NDArray[np.intp],
    row_of: NDArray[np.intp],
    row: int,
    column: int,
) -> bool:
    """Assign `column` to `row` if the displaced rows can move, over open columns, to the one that `row` leaves."""
    start, goal = row_of[column], column_of[row]
    via = np.full(len(tight), -1)
    unseen = open_.copy()
    waiting = [start]
    while waiting and unseen[goal]:
        mover = waiting.pop()
        reached = np.flatnonzero(tight[mover] & unseen)
        via[reached] = mover
        unseen[reached] = False
        waiting.extend(row_of[reached])
    if unseen[goal]:
        return False
    free = goal
    while free != column:
        mover = via[free]
        row_of[free] = mover
        column_of[mover], free = free, column_of[mover]
    column_of[row], row_of[column] = column, row
    return True
