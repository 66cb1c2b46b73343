"""Units of annotations, and the solvers that create them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.correspondence.agglomerative import ahc
from kalos_core.correspondence.best_first import greedy
from kalos_core.correspondence.costs import COSTS, Cost, CostName
from kalos_core.correspondence.multigraph import mgm, mgm_is_installed
from kalos_core.correspondence.sequential import shm, shm_by_name
from kalos_core.errors import lookup
from kalos_core.options import Option, checked
from kalos_core.pairs import Pairs, with_pairs

Solver = Callable[[Annotations, Pairs, Cost], NDArray[np.intp]]
"""``solver(annotations, candidates, cost)`` -> (N,) any label per cluster."""

SOLVERS: dict[SolverName, Solver] = {"greedy": greedy, "shm": shm, "shm_by_name": shm_by_name, "ahc": ahc, "mgm": mgm}
"""Name -> solver; the App's drop-downs and the tests of all solvers read this table."""


SolverName = Annotated[
    Literal["greedy", "shm", "shm_by_name", "ahc", "mgm"],
    Option(
        "Solver",
        "How to group pairs into units, so that a unit holds the annotations of one object.",
        choices={
            "greedy": "most similar pairs first, as in the paper",
            "shm": "one rater after another, most overlap first, with as many partners as possible",
            "shm_by_name": "as shm, with raters in the order of names, as in the authors' code: units depend on names",
            "ahc": "every two annotations of a unit reach the threshold",
            "mgm": "best sum over all pairs of units; slower, needs an optional library",
        },
        known=SOLVERS,
    ),
]


def usable_solvers() -> list[SolverName]:
    """Return the names in `SOLVERS` that work here: all, except `mgm` if its optional library is not installed.

    Examples
    --------
    >>> usable_solvers()[:3]
    ['greedy', 'shm', 'shm_by_name']
    """
    return [name for name in SOLVERS if name != "mgm" or mgm_is_installed()]


@checked
def correspond(
    annotations: Annotations,
    pairs: Pairs,
    threshold: float = 0.5,
    solver: SolverName = "greedy",
    cost: CostName = "soft",
) -> NDArray[np.intp]:
    """Compute the unit of every annotation; a unit holds annotations of the same object, at most one of each rater.

    Parameters
    ----------
    annotations : Annotations
    pairs : Pairs
        Pairs computed with a floor of `threshold` or lower.
    threshold : float in [0, 1]
        Pairs with a lower similarity never correspond.
    solver : name in `SOLVERS`
    cost : name in `COSTS`

    Returns
    -------
    (N,) int
        Units 0 to U - 1, numbered by image and first annotation; an annotation without partners is a unit of its own.

    Raises
    ------
    InputError
        If a name is unknown, the threshold is below the floor of the pairs, or the library for `mgm` is missing.

    Examples
    --------
    >>> from kalos_core.pairs import compute_pairs
    >>> rows = [
    ...     {"image": 1, "rater": r, "category": "cat", "box": [x, 0, 10, 10]}
    ...     for r, x in [("ann", 0), ("bob", 2.5), ("cid", 5), ("ann", 50)]
    ... ]
    >>> annotations = Annotations.from_rows(rows)
    >>> pairs = compute_pairs(annotations)
    >>> correspond(annotations, pairs).tolist()
    [0, 0, 0, 1]
    >>> correspond(annotations, pairs, solver="ahc").tolist()  # ann and cid overlap too little
    [0, 0, 1, 2]
    """
    solve = lookup(SOLVERS, solver, "solver")
    cost_function = lookup(COSTS, cost, "cost")
    unit_of, units = np.empty(len(annotations), np.intp), 0
    for rows, _, table, near in with_pairs(annotations, pairs, threshold):
        label = solve(table, near, cost_function)
        _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
        number = np.empty(len(first), np.intp)
        number[np.lexsort((first, table.image[first]))] = units + np.arange(len(first))
        unit_of[rows] = number[inverse]
        units += len(first)
    return unit_of
