"""Pixel-wise performance of raters against a ground truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.arrays import as_array, divide
from kalos_core.chance import cohen_of_sums
from kalos_core.display import number_of
from kalos_core.errors import InputError
from kalos_core.options import checked
from kalos_core.pixels.patterns import find_patterns
from kalos_core.pixels.stack import Masks3D, as_binary, as_stack
from kalos_core.results import Result

if TYPE_CHECKING:
    import pandas as pd

SHARES = {"sensitivity": "sensitivity", "specificity": "specificity", "ppv": "PPV", "npv": "NPV", "kappa": "κ"}
"""Metrics of each rater in `RaterPerformance` (Lampert et al., Table II), and their labels."""


@dataclass(frozen=True, eq=False, repr=False)
class RaterPerformance(Result):
    """Performance of the mask of each rater against a ground truth (Lampert et al., Table II).

    A share is NaN if its denominator is 0, such as the sensitivity for an empty ground truth.

    Figures: ``"raters"``.

    Parameters
    ----------
    raters : (R,) object
    confusion : (R, 2, 2) int64
        Number of pixels by vote of the rater and by ground truth: 0 nothing, 1 marked.

    Examples
    --------
    >>> found = rater_performance({"ann": [[1, 1, 0, 0]], "bob": [[1, 0, 0, 0]]}, truth=[[1, 0, 0, 0]])
    >>> found.sensitivity.tolist(), found.ppv.tolist(), found.kappa.tolist()
    ([1.0, 1.0], [0.5, 1.0], [0.5, 1.0])
    """

    _call = "rater_performance(masks, mask)"

    raters: NDArray[np.object_]
    confusion: NDArray[np.int64]

    @property
    def sensitivity(self) -> NDArray[np.float64]:
        """(R,) share of the true pixels that the rater marked."""
        return divide(self.confusion[:, 1, 1], self.confusion[:, :, 1].sum(axis=1))

    @property
    def specificity(self) -> NDArray[np.float64]:
        """(R,) share of the other pixels that the rater did not mark."""
        return divide(self.confusion[:, 0, 0], self.confusion[:, :, 0].sum(axis=1))

    @property
    def ppv(self) -> NDArray[np.float64]:
        """(R,) share of the pixels marked by the rater that are true."""
        return divide(self.confusion[:, 1, 1], self.confusion[:, 1].sum(axis=1))

    @property
    def npv(self) -> NDArray[np.float64]:
        """(R,) share of the pixels not marked by the rater that are not true."""
        return divide(self.confusion[:, 0, 0], self.confusion[:, 0].sum(axis=1))

    @property
    def kappa(self) -> NDArray[np.float64]:
        """(R,) Cohen's kappa of rater and truth; 1 if both have the same single value, NaN without pixels."""
        counts = self.confusion.astype(np.float64)
        same, products = np.trace(counts, axis1=1, axis2=2), (counts.sum(axis=2) * counts.sum(axis=1)).sum(axis=1)
        return cohen_of_sums(counts.sum(axis=(1, 2)), same, products, if_none_expected=1.0)

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return f"{number_of(len(self.raters), 'rater')} against a reference, pixel by pixel"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per rater."""
        return self._frame(" ".join(["rater:raters", *SHARES]))


@checked
def rater_performance(masks: Masks3D, truth: ArrayLike) -> RaterPerformance:
    """Compare each rater of a stack with a ground-truth mask.

    Parameters
    ----------
    masks : MaskStack or (N, H, W)
    truth : (H, W) binary

    Returns
    -------
    RaterPerformance

    Raises
    ------
    InputError
        For a truth of another size, and for the reasons of `MaskStack.of`.

    Examples
    --------
    >>> rater_performance([[[1, 1, 0, 0]]], truth=[[1, 0, 0, 0]]).specificity.round(2).tolist()
    [0.67]
    """
    stack = as_stack(masks, least=1)
    mask = as_binary(as_array(truth, "truth"), "truth")
    if mask.shape != stack.masks.shape[1:]:
        raise InputError(f"truth: expected the size of the masks {stack.masks.shape[1:]}, got {mask.shape}")
    patterns = find_patterns(stack)
    true = patterns.counts_in(mask)
    return RaterPerformance(stack.raters, confusions(patterns.votes, patterns.count, true))


def confusions(votes: NDArray[np.bool_], count: NDArray[np.intp], true: NDArray[np.intp]) -> NDArray[np.int64]:
    """Count pixels by vote and truth (N, 2, 2), from patterns (P, N), their pixels (P,), and the true ones of these.

    Examples
    --------
    >>> confusions(np.array([[False], [True]]), np.array([5, 3]), np.array([1, 3])).tolist()
    [[[4, 1], [0, 3]]]
    """
    marked = votes.T.astype(np.int64)
    table = np.empty((votes.shape[1], 2, 2), np.int64)
    table[:, 1, 1], table[:, 1, 0] = marked @ true, marked @ (count - true)
    table[:, 0, 1], table[:, 0, 0] = (1 - marked) @ true, (1 - marked) @ (count - true)
    return table
