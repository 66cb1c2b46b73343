"""Assignments that are exact: the most pairs, then the least cost, then the first in a given order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def components(left: NDArray[np.intp], right: NDArray[np.intp], nodes: int) -> NDArray[np.intp]:
    """Edges (E,) between `nodes` nodes -> (nodes,) which connected component each node is in.

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
    """Choose pairs so that every node is used at most once: the most pairs, at the least cost, first in the order.

    The order of two assignments is that of the first pair that only one of them holds. Nothing but the order in which
    the pairs are given decides between equals, so a caller who gives them in a strict order gets one answer.

    Parameters
    ----------
    left, right : (E,) int
        The two nodes of each pair, numbered on either side by itself; pairs in order of preference, each once.
    cost : (E,) float64
        Ascending along the pairs. Sums are compared as if there were no rounding.

    Returns
    -------
    (E,) bool

    Examples
    --------
    Two pairs before one, whatever it costs:

    >>> best_assignment(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([-0.9, -0.2, -0.1])).tolist()
    [False, True, True]

    Both assignments cost -1, the one with the first pair comes first:

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
    # where one side is a single node, one pair is all there can be: the first, which is the cheapest
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
    """`best_assignment` of one component, over the square table of costs.

    Costs become whole numbers of any length, of which a table takes as many binary digits as leave its sums room in 64
    bits. If there are more, they follow in further rounds, each on what the prices of the round before leave of a cost.
    """
    size = int(max(left.max(), right.max())) + 1
    amounts = _whole(cost)
    most = max(amounts)
    room = 60 - 2 * size.bit_length()
    after = max(0, most.bit_length() - room)  # digits that do not fit yet
    # a node that stays alone outweighs all costs: so the most pairs come first
    table = np.full((size, size), ((most >> after) + 1) * size + 1, np.int64)
    table[left, right] = [amount >> after for amount in amounts]
    column_of, left_over = _hungarian(table)
    while after:
        digits = min(room, after)
        after -= digits
        # the rest of an assignment's cost is less than `size` in the digits before: what is left over there, and more
        # than that, is out of the question
        table = np.minimum(left_over, size + 1) << digits
        table[left, right] += np.array([(amount >> after) & ((1 << digits) - 1) for amount in amounts], np.int64)
        column_of, left_over = _hungarian(table)
    tight = left_over == 0  # the best assignments are those of nothing else
    if tight.sum() > size:
        _prefer(tight, column_of, left, right)
    chosen: NDArray[np.bool_] = column_of[left] == right
    return chosen


def _whole(cost: NDArray[np.float64]) -> list[int]:
    """Costs above the least, as whole multiples of one unit that fits them all exactly.

    Examples
    --------
    >>> _whole(np.array([-1.0, -0.75, 0.125]))
    [0, 2, 9]
    """
    ratios = [value.as_integer_ratio() for value in cost.tolist()]
    unit = max(below for _, below in ratios)  # all are powers of two
    amounts = [above * (unit // below) for above, below in ratios]
    least = min(amounts)
    return [amount - least for amount in amounts]


def _hungarian(table: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """The column of each row at the least sum of a square table, and the table less the prices of rows and columns.

    Row by row along a shortest path (Kuhn 1955, Jonker and Volgenant 1987), in whole numbers, so nothing is rounded.
    What is left over is never negative, and 0 at every entry of every best assignment.
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
    """Turn one optimum, in place, into the first: down the list, keep each pair that some optimum can still hold."""
    row_of = np.argsort(column_of)
    open_ = np.ones(len(tight), np.bool_)  # columns not settled yet
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
    """Give `row` the `column` if those who lose theirs can move on, over open columns, to the one it leaves."""
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
