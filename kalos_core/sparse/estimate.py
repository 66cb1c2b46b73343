"""Sparse agreement of counts, with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.arrays import total
from kalos_core.chance import Counts, Tally, tally
from kalos_core.display import number_of, with_interval
from kalos_core.errors import InputError, warn
from kalos_core.inference import intervals
from kalos_core.options import Option, Replicates, Seed, Settings, checked, takes
from kalos_core.resampling import draws_of_kinds
from kalos_core.results import Result
from kalos_core.sparse.independence import Independence, independence_of, is_doubtful
from kalos_core.sparse.weights import WeightName, item_weights

DEPENDENT = (
    "raters agree {how} on items with more annotations (rho {rho:.2f}, p {p:.2g}), but sparse agreement assumes that "
    "which labels are missing does not depend on that: with the weights {weighting!r}, which favour these items, it "
    "is {value:.3f}, with equal weights (weights='flat') {flat:.3f}"
)


@dataclass(frozen=True, eq=False, repr=False)
class SparseAgreement(Result):
    """Result of `sparse_agreement`.

    Table: one row per item.

    Figures: ``"items"``.

    Parameters
    ----------
    value : float
        Probability that two annotations of an item agree, in [0, 1]; NaN if no item has two.
    interval : (2,) float64
        95 % bootstrap interval over usable items; NaN without a bootstrap.
    item_agreement : (I,) float64
        Agreement on each item; NaN with fewer than two annotations.
    weights : (I,) float64
        Weight of each item; 0 with fewer than two annotations.
    annotations : (I,) int
        Number of annotations of each item.
    times : (I,) int
        Number of items that each of the I stands for: one, unless a `Tally` of several was given.
    weighting : str
        Name of the weights.

    Examples
    --------
    >>> result = sparse_agreement([[2, 0], [1, 1], [1, 0]])
    >>> result.value, result.usable_items, round(result.usable, 3)
    (0.5, 2, 0.667)
    """

    _call = "sparse_agreement(counts)"
    _columns = "annotations agreement:item_agreement weight:weights"

    value: float
    interval: NDArray[np.float64]
    item_agreement: NDArray[np.float64]
    weights: NDArray[np.float64]
    annotations: NDArray[np.int64]
    times: NDArray[np.int64]
    weighting: str

    @property
    def flat(self) -> float:
        """Value with equal weights, which favour no item (see `independence`); NaN if no item has two annotations."""
        usable = self.annotations >= 2
        times = self.times[usable]
        return math.fsum(self.item_agreement[usable] * times) / int(times.sum()) if usable.any() else math.nan

    @cached_property
    def independence(self) -> Independence:
        """Whether agreement depends on the number of annotations, which would bias `value` (`check_independence`)."""
        return independence_of(self.annotations, self.item_agreement, self.times)

    @property
    def usable_items(self) -> int:
        """Number of items with at least two annotations."""
        return int(self.times[self.annotations >= 2].sum())

    @property
    def usable(self) -> float:
        """Share of items with at least two annotations; NaN without items."""
        return self.usable_items / int(self.times.sum()) if len(self.times) else math.nan

    @property
    def headline(self) -> str:
        """Finding, in words."""
        found = with_interval(self.value, self.interval)
        return f"Sparse agreement {found} over {number_of(len(self.item_agreement), 'item')}, weights {self.weighting}"


@dataclass(frozen=True)
class SparseSettings(Settings):
    """Settings of sparse agreement; its intervals resample usable items with their weights."""

    weights: WeightName = "annotations_m1"
    class_share: Annotated[
        ArrayLike | None,
        Option(
            "Class shares",
            "Class shares for the weights 'inv_var_class'; by default those of all annotations.",
            type="(C,) float, optional",
            check=lambda given, _: given,
        ),
    ] = None
    bootstrap: Replicates = 1000
    seed: Seed = 0


@takes(SparseSettings)
def sparse_agreement(counts: Counts, settings: SparseSettings) -> SparseAgreement:
    """Compute the sparse probability of agreement: that two raters of an item agree, if not all labelled all items.

    SPA = sum k_i P_i / sum k_i with P_i = sum_c n_ic (n_ic - 1) / (n_i (n_i - 1)) (Nørregaard & Derczynski, Eq. 7). It
    is an unbiased estimate of the agreement of complete data if missing labels do not depend on how well raters agree
    on an item (§4.3). `SparseAgreement.independence` tests that; `SparseAgreement.flat` is the value with equal
    weights, which favour no item. SPA is not corrected for chance. Items with fewer than two annotations have no
    agreement and do not count under any weights.

    Parameters
    ----------
    counts : (I, C) whole numbers, dense or `scipy.sparse`
        Number of raters that put each item into each category. The weights ``"inv_var"`` equal ``"edges"`` for every
        number of classes (`agreement_variance` has the derivation).

    Returns
    -------
    SparseAgreement

    Warns
    -----
    KalosWarning
        If agreement depends on the number of annotations, unless weights are ``"flat"``.

    Raises
    ------
    InputError
        If counts are not valid, weights are unknown, or inverse variances are requested for one class.

    Examples
    --------
    Three of three agree; two of three agree; an item of one rater does not count: (2 · 1 + 2 · 1/3) / 4.

    >>> result = sparse_agreement([[3, 0], [2, 1], [0, 1]])
    >>> round(result.value, 4), result.weights.tolist()
    (0.6667, [2.0, 2.0, 0.0])
    >>> sparse_agreement([[0, 1]]).value
    nan
    """
    weights = settings.weights
    result = estimate(tally(counts), weights, settings.class_share, settings.bootstrap, settings.seed)
    if weights != "flat" and is_doubtful(result.annotations, result.item_agreement, result.times):
        found = result.independence
        warn(
            DEPENDENT.format(
                how="more" if found.rho > 0 else "less",
                rho=found.rho,
                p=found.p,
                value=result.value,
                weighting=weights,
                flat=result.flat,
            )
        )
    return result


def estimate(found: Tally, weights: str, class_share: ArrayLike | None, bootstrap: int, seed: int) -> SparseAgreement:
    """Compute `sparse_agreement` of a tally, without checking its assumption."""
    made = item_weights(found, weights, class_share)
    usable = found.usable
    weighted, weight, times = (made * found.item_agreement)[usable], made[usable], found.times[usable]
    return SparseAgreement(
        value=math.fsum(weighted * times) / math.fsum(weight * times) if usable.any() else math.nan,
        interval=ratio_interval(weighted, weight, bootstrap, seed, times),
        item_agreement=found.item_agreement,
        weights=made,
        annotations=found.annotations,
        times=found.times,
        weighting=weights,
    )


@checked
def ratio_interval(
    numerator: NDArray[np.float64],
    denominator: NDArray[np.float64],
    replicates: int,
    seed: int,
    times: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Compute the 95 % bootstrap interval (2,) of sum of numerators / sum of denominators over items (M,).

    Items are sampled with replacement. Each of the M may stand for several items, as given by `times` (M,). Items with
    equal numerator and denominator are of one *kind*: how often each kind is drawn is multinomial, and many items have
    few kinds.

    Examples
    --------
    >>> ratio_interval(np.array([1.0, 0.0] * 4), np.ones(8), replicates=1000, seed=0).tolist()
    [0.125, 0.875]
    """
    if numerator.ndim != 1 or numerator.shape != denominator.shape:
        raise InputError(f"denominator: expected one number an item, got shapes {numerator.shape}, {denominator.shape}")
    if not replicates or not len(numerator):
        return np.full(2, np.nan)
    each = np.ones(len(numerator)) if times is None else times
    kinds, index = np.unique(numerator + 1j * denominator, return_inverse=True)  # a pair as one sortable number
    drawn = draws_of_kinds(total(index, each, len(kinds)), replicates, seed)
    ratios = [(often @ kinds.real) / (often @ kinds.imag) for often in drawn]
    return np.asarray(intervals(np.concatenate(ratios)[:, None], int(each[denominator > 0].sum()))[0])
