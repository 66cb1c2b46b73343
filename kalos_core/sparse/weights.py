"""Weights of items: the six weights of sparse agreement, and the variance that two of them are based on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.arrays import as_floats
from kalos_core.chance import Tally
from kalos_core.errors import InputError, lookup, repr_of
from kalos_core.options import Option, checked

SHARE_TOLERANCE = 1e-9
"""Tolerance of the sum of class shares around 1."""

Weights = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
"""(U,) annotations of usable items and (C,) class shares -> (U,) weights; only their ratios matter."""


@checked
def agreement_variance(annotations: ArrayLike, class_share: ArrayLike) -> NDArray[np.float64]:
    """Compute the variance of the agreement of an item whose n annotations are drawn from class shares p.

    The sums over all counts in the paper's Eq. 20-22 (some are misprinted) have a closed form. Agreement is the mean
    over N = n (n - 1) / 2 pairs of indicators "both in the same class", each with expectation S2 = sum p_c². Two pairs
    that share no annotation are independent; two pairs that share one are both 1 with probability S3 = sum p_c³. There
    are n (n - 1) (n - 2) ordered pairs of pairs that share an annotation, so

        var P = [S2 - S2² + 2 (n - 2) (S3 - S2²)] / N = [(6 - 4 n) S2² + 4 (n - 2) S3 + 2 S2] / (n (n - 1)).

    For C equal shares, S2 = 1 / C and S3 = S2², the middle term is zero, and var P = (C - 1) / (C² N): the inverse is
    proportional to N, the number of edges, for every C. So ``inv_var`` *is* ``edges``, which the paper observes in its
    §6.1 and leaves open.

    Parameters
    ----------
    annotations : (U,) int, at least 2
    class_share : (C,) float

    Returns
    -------
    (U,) float64

    Examples
    --------
    Two annotations are both heads, both tails, or different: the variance of a fair coin.

    >>> agreement_variance([2, 3], [0.5, 0.5]).round(4).tolist()
    [0.25, 0.0833]
    """
    n, p = as_floats(annotations, "annotations"), as_floats(class_share, "class_share")
    s2, s3 = (p**2).sum(), (p**3).sum()
    return np.asarray(((6 - 4 * n) * s2**2 + 4 * (n - 2) * s3 + 2 * s2) / (n * (n - 1)))


def _inverse_variance(annotations: NDArray[np.float64], class_share: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / agreement_variance(annotations, class_share)


ItemWeight = Literal["flat", "annotations", "annotations_m1", "edges", "inv_var", "inv_var_class"]
"""Names in `WEIGHTS`."""

WEIGHTS: dict[ItemWeight, Weights] = {
    "flat": lambda n, _: np.ones_like(n),
    "annotations": lambda n, _: n,
    "annotations_m1": lambda n, _: n - 1,
    "edges": lambda n, _: n * (n - 1) / 2,
    "inv_var": lambda n, p: _inverse_variance(n, np.full(len(p), 1 / len(p))),
    "inv_var_class": _inverse_variance,
}
"""Name -> weights of items (§5.1, §5.2). The paper recommends ``annotations_m1``; ``inv_var`` equals ``edges``."""

WeightName = Annotated[
    ItemWeight,
    Option(
        "Weights of items",
        "Weights of items in the sparse probability of agreement.",
        choices={
            "annotations_m1": "annotations minus one, as the paper recommends",
            "flat": "equal weights",
            "annotations": "annotations, as in alpha",
            "edges": "pairs of annotations",
            "inv_var": "inverse variance for equal class shares, equal to the pairs of annotations",
            "inv_var_class": "inverse variance for the given or observed class shares",
        },
        known=WEIGHTS,
        type="name in `WEIGHTS`",
    ),
]

NEED_VARIANCE = ("inv_var", "inv_var_class")


def item_weights(found: Tally, weights: str, class_share: ArrayLike | None) -> NDArray[np.float64]:
    """Return (I,) the weight of every item; 0 for items with fewer than two annotations.

    Raises
    ------
    InputError
        If the weights are unknown, class shares are not valid, or inverse variances are requested although there is
        only one class, so that no two annotations can disagree.
    """
    weigh = lookup(WEIGHTS, weights, "weights")
    share = _class_share(found, class_share)
    if weights in NEED_VARIANCE and len(found.annotations):
        shares = share if weights == "inv_var_class" else np.ones(found.categories)
        if (shares > 0).sum() < 2:
            raise InputError(
                f"weights: expected at least two classes that occur for {repr_of(weights)}, got {(shares > 0).sum()}"
            )
    made = np.zeros(found.items)
    made[found.usable] = weigh(found.annotations[found.usable].astype(np.float64), share)
    return made


def _class_share(found: Tally, given: ArrayLike | None) -> NDArray[np.float64]:
    if given is None:
        return np.asarray(found.category_totals / max(found.category_totals.sum(), 1))
    share = as_floats(given, "class_share")
    if share.shape != (found.categories,):
        raise InputError(f"class_share: expected shape ({found.categories},), got {share.shape}")
    if not ((share >= 0).all() and abs(share.sum() - 1) <= SHARE_TOLERANCE):
        raise InputError(f"class_share: expected shares of at least 0 that sum to 1, got {share.tolist()}")
    return share
