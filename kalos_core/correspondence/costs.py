"""Costs of joining a pair: the table COSTS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from kalos_core.options import Option, checked

Cost = Callable[[NDArray[np.float64], NDArray[np.bool_]], NDArray[np.float64]]
"""``cost(similarity, same_class)`` -> (P,) costs; lower costs are joined first."""


@checked
def soft_cost(similarity: NDArray[np.float64], same_class: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Compute the class-aware cost psi_soft: -s - 1 if the classes agree, else -s (KαLOS Eq. 6).

    Examples
    --------
    >>> soft_cost(np.array([0.5, 0.5]), np.array([True, False])).tolist()
    [-1.5, -0.5]
    """
    return -similarity - same_class


@checked
def neg_cost(
    similarity: NDArray[np.float64],
    same_class: NDArray[np.bool_],  # noqa: ARG001 - the interface of costs has both
) -> NDArray[np.float64]:
    """Compute the class-blind cost psi_neg: -s.

    KαLOS Eq. 21 prints -d = -(1 - s), which would prefer the worst overlap; its text says the opposite, which we
    follow.

    Examples
    --------
    >>> neg_cost(np.array([0.5]), np.array([True])).tolist()
    [-0.5]
    """
    return -similarity


COSTS: dict[CostName, Cost] = {"soft": soft_cost, "neg": neg_cost}
"""Name -> cost; names are accepted by `agreement` and the solvers."""

CostName = Annotated[
    Literal["soft", "neg"],
    Option(
        "Cost of a pair",
        "Which candidate pairs to join first.",
        choices={"soft": "pairs of the same class first, as in the paper", "neg": "most similar pairs first"},
        known=COSTS,
    ),
]
