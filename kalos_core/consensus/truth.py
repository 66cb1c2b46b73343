"""Result of ground-truth estimation: a mask, the performance of each rater, and notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kalos_core.display import number_of
from kalos_core.pixels.patterns import Patterns
from kalos_core.pixels.performance import RaterPerformance, confusions
from kalos_core.results import Result

ROUNDING = 1e-9
"""Probabilities that differ by less are equal."""


@dataclass(frozen=True, eq=False, repr=False)
class Truth(Result):
    """Ground truth estimated from the masks of N raters.

    Table: one row for each rater: sensitivity, specificity, and whether the estimate is based on them.

    Figures: ``"raters"``.

    Parameters
    ----------
    method : str
        Such as ``"vote 0.5"`` or ``"staple"``.
    mask : (H, W) bool
        Pixels estimated to be true; False for ignored pixels.
    raters : (N,) object
    sensitivity, specificity : (N,) float64
        Share of the true pixels that each rater marked, and of the others that they left. Estimated by STAPLE,
        otherwise counted. Never NaN: a share of zero pixels is 1, since nothing was missed, and `note` says so.
    kept : (N,) bool
        Raters the estimate is based on.
    iterations : int
        0 if the estimate is made in one step.
    converged : bool
    note : str
        Notes: why the ground truth is empty or full, or that a share is of zero pixels. "" if there are none.
    patterns : Patterns
        Vote patterns.
    pattern_probability : (P,) float64, optional
        Value of each pattern: the (weighted) share of votes, or STAPLE's probability.

    Examples
    --------
    >>> from kalos_core.consensus import vote
    >>> found = vote({"ann": [[0, 0]], "bob": [[0, 0]]}, 0.5)
    >>> found.mask.any().item(), found.sensitivity.tolist()
    (False, [1.0, 1.0])
    >>> found.note
    'no rater marked a pixel: the truth is empty; sensitivity is a share of no pixel and stands as 1'
    """

    _call = "estimate_truth(masks)"
    _columns = "rater:raters sensitivity specificity kept"

    method: str
    mask: NDArray[np.bool_]
    raters: NDArray[np.object_]
    sensitivity: NDArray[np.float64]
    specificity: NDArray[np.float64]
    kept: NDArray[np.bool_]
    iterations: int
    converged: bool
    note: str
    patterns: Patterns
    pattern_probability: NDArray[np.float64] | None = None

    @cached_property
    def probability(self) -> NDArray[np.float64]:
        """(H, W) probability of each pixel; with LSML, which has none, 1 inside the mask and 0 outside."""
        if self.pattern_probability is None:
            return self.mask.astype(np.float64)
        return self.patterns.at_pixels(self.pattern_probability)

    @property
    def entropy(self) -> NDArray[np.float64]:
        """(H, W) entropy of each pixel in bits, from 0 to 1, see `entropy_bits`; 0 for ignored pixels.

        Examples
        --------
        >>> from kalos_core.consensus import vote
        >>> vote({"ann": [[0, 0, 1]], "bob": [[0, 1, 1]]}).entropy.tolist()
        [[0.0, 1.0, 0.0]]
        """
        if self.pattern_probability is None:
            return np.zeros(self.mask.shape)
        likely = self.pattern_probability
        return self.patterns.at_pixels(entropy_bits(np.stack([likely, 1 - likely], axis=1)))

    @cached_property
    def performance(self) -> RaterPerformance:
        """Confusion of each rater with the mask, pixel by pixel; NaN for a share of zero pixels."""
        counts = self.patterns.counts_in(self.mask)
        return RaterPerformance(self.raters, confusions(self.patterns.votes, self.patterns.count, counts))

    @property
    def headline(self) -> str:
        """Summary of the result in one line."""
        note = f"; {self.note}" if self.note else ""
        return f"Truth({self.method}: {int(self.mask.sum()):,} of {number_of(self.patterns.pixels, 'pixel')}{note})"


def entropy_bits(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """(P,) Shannon entropy (1948, §6) of P distributions over K classes in bits, from 0 (certain) to log2 K.

    Parameters
    ----------
    probability : (P, K) float64
        Rows sum to 1.

    Examples
    --------
    >>> entropy_bits(np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]])).round(4).tolist()
    [1.0, 0.8113, 0.0]
    """
    with np.errstate(divide="ignore"):
        bits = np.where(probability > 0, np.log2(probability), 0.0)
    return np.asarray(np.maximum(-(probability * bits).sum(axis=1), 0.0))  # no -0.0


def truth_of_patterns(
    method: str,
    raters: NDArray[np.object_],
    patterns: Patterns,
    chosen: NDArray[np.bool_],
    probability: NDArray[np.float64],
    *,
    kept: NDArray[np.bool_] | None = None,
    iterations: int = 0,
    converged: bool = True,
    estimates: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
    why_empty: str = "no pixel has enough votes",
    notes: Sequence[str] = (),
) -> Truth:
    """Build the `Truth` of the chosen patterns (P,); performance is counted unless `estimates` are given."""
    true = patterns.count * chosen
    sensitivity, specificity = estimates or counted_shares(patterns, true)
    own = notes_of(patterns, int(true.sum()), why_empty, estimates is None, converged, iterations)
    return Truth(
        method=method,
        mask=patterns.at_pixels(chosen),
        raters=raters,
        sensitivity=sensitivity,
        specificity=specificity,
        kept=np.ones(len(raters), np.bool_) if kept is None else kept,
        iterations=iterations,
        converged=converged,
        note="; ".join([*notes, *own]),
        patterns=patterns,
        pattern_probability=probability,
    )


def counted_shares(patterns: Patterns, true: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(N,) sensitivity and specificity from the number of true pixels (P,) of each pattern; 1 for zero pixels."""
    nameless = np.empty(patterns.votes.shape[1], object)
    counts = RaterPerformance(nameless, confusions(patterns.votes, patterns.count, true))
    return np.nan_to_num(counts.sensitivity, nan=1.0), np.nan_to_num(counts.specificity, nan=1.0)


def notes_of(
    patterns: Patterns, true: int, why_empty: str, counted: bool, converged: bool, iterations: int
) -> list[str]:
    """Return notes on a ground truth with a number of pixels, with shares either counted or estimated."""
    notes = []
    if not patterns.pixels:
        notes.append("all pixels are ignored: there is nothing to estimate")
    elif not patterns.votes.any():
        notes.append("no rater marked a pixel: the truth is empty")
    elif patterns.votes.all():
        notes.append("everybody marked every pixel: the truth is the whole image")
    elif not true:
        notes.append(f"{why_empty}: the truth is empty, though raters marked pixels")
    elif true == patterns.pixels:
        notes.append("the truth is the whole image, though raters left pixels")
    if not true and (counted or not patterns.votes.any()):
        notes.append("sensitivity is a share of no pixel and stands as 1")
    if true == patterns.pixels and (counted or patterns.votes.all()):
        notes.append("specificity is a share of no pixel and stands as 1")
    if not converged:
        notes.append(f"not settled after {number_of(iterations, 'iteration')}")
    return notes
