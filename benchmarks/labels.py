"""Image-level labels: alpha against `krippendorff` on the same values; coefficients of many categories by counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.tables import Measured, Row, Table
from benchmarks.timing import Subject, alternate, peak_memory
from kalos_core import fleiss_kappa, majority_vote, nominal_alpha, sparse_agreement
from kalos_core.nominal import alpha_of_counts, free_marginal_kappa

ITEMS = 100_000
RATERS = 5
CATEGORIES, MANY_CATEGORIES = 80, 1203

AT_LEAST = 1000.0
"""How many times faster than `krippendorff` alpha is to be."""

SAME = 1e-9
SLOW_ROUNDS = 1
"""Rounds of what takes `krippendorff` many seconds."""

MOST_SECONDS, MOST_MEMORY = 0.2, 200e6
"""What a coefficient of `MANY_CATEGORIES` may take, beyond its input."""

OF_COUNTS: dict[str, Callable[[Any], Any]] = {
    "sparse agreement, no bootstrap": lambda counts: sparse_agreement(counts, bootstrap=0),
    "sparse agreement, 1,000 replicates": sparse_agreement,
    "alpha": alpha_of_counts,
    "Fleiss": fleiss_kappa,
    "free-marginal": free_marginal_kappa,
    "majority": majority_vote,
}


def values(items: int, categories: int, seed: int = 0) -> np.ndarray:
    """(I, R) labels of raters who give the true one in seven of ten cases."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, categories, (items, 1))
    guesses = rng.integers(0, categories, (items, RATERS))
    return np.where(rng.random((items, RATERS)) < 0.7, truth, guesses)


def against_krippendorff(repeats: int, items: int = ITEMS) -> Table:
    """Nominal alpha of the same values, both in one process."""
    import krippendorff

    labels = values(items, CATEGORIES)
    turned = np.ascontiguousarray(labels.T)

    def theirs(_: None) -> float:
        return float(krippendorff.alpha(reliability_data=turned, level_of_measurement="nominal"))

    ours, peer = alternate([Subject(lambda _: nominal_alpha(labels)), Subject(theirs)], min(repeats, SLOW_ROUNDS))
    difference = abs(ours.answer - peer.answer)
    verdict = "same alpha" if difference <= SAME else "NOT THE SAME WORK: other alpha"
    return Table(
        f"nominal alpha, {items:,} items x {CATEGORIES} categories x {RATERS} raters",
        (Row("alpha of values", ours.took, peer.took, AT_LEAST),),
        other="krippendorff",
        notes=(f"{verdict} ({ours.answer:.6f}), difference {difference:.1e}",),
    )


def many_categories(repeats: int, items: int = ITEMS) -> list[Table]:
    """Time and memory of every coefficient of counts, dense and sparse."""
    labels = values(items, MANY_CATEGORIES)
    dense = np.zeros((items, MANY_CATEGORIES), np.int64)
    np.add.at(dense, (np.repeat(np.arange(items), RATERS), labels.ravel()), 1)
    times, memory = [], []
    for kind, counts in (("dense", dense), ("sparse", sparse.csr_array(dense))):
        for name, work in OF_COUNTS.items():
            subject = Subject(work, lambda counts=counts: counts)
            (outcome,) = alternate([subject], repeats)
            times.append(Row(f"{name}, {kind}", outcome.took, Measured((MOST_SECONDS,)), 1.0))
            memory.append(Row(f"{name}, {kind}", peak_memory(subject), Measured((MOST_MEMORY,), "B"), 1.0))
    what = f"{items:,} items x {MANY_CATEGORIES:,} categories"
    return [
        Table(f"coefficients of counts, {what}: time", tuple(times), "here", "allowed", speedup=False),
        Table(f"coefficients of counts, {what}: memory", tuple(memory), "here", "allowed", speedup=False),
    ]
