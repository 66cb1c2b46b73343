"""The result of every estimate of a truth: a mask, how well each rater does, and what to know about it."""

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
    """A truth estimated from the masks of N raters.

    Table: one row a rater: sensitivity and specificity, and whether the estimate rests on them.

    Figures: ``"raters"``.

    Parameters
    ----------
    method : str
        Such as ``"vote 0.5"`` or ``"staple"``.
    mask : (H, W) bool
        Pixels estimated to be true; False where they are ignored.
    raters : (N,) object
    sensitivity, specificity : (N,) float64
        Of the true pixels the share each rater marked, of the others the share they left: with STAPLE its estimates,
        else counted. Always a number: a share of no pixel is 1, since nothing was missed, and `note` says so.
    kept : (N,) bool
        Raters the estimate rests on.
    iterations : int
        0 where the estimate is made in one step.
    converged : bool
    note : str
        What to know: that the truth is empty or full and why, that a share is of no pixel. "" where there is nothing.
    patterns : Patterns
        The votes.
    pattern_probability : (P,) float64, optional
        Of each pattern: the (weighted) share of votes, or STAPLE's probability.

    Examples
    --------
    >>> from kalos_core.consensus import vote
    >>> found = vote({"ann": [[0, 0]], "bob": [[0, 0]]}, 0.5)
    >>> found.mask.any().item(), found.sensitivity.tolist()
    (False, [1.0, 1.0])
    >>> found.note
    'nobody marked a pixel: the truth is empty; sensitivity is a share of no pixel and stands as 1'
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
        """(H, W) of each pixel; with LSML, which has none, 1 within the mask and 0 without."""
        if self.pattern_probability is None:
            return self.mask.astype(np.float64)
        return self.patterns.at_pixels(self.pattern_probability)

    @property
    def entropy(self) -> NDArray[np.float64]:
        """(H, W) bits in [0, 1] that are not known of each pixel, see `entropy_bits`; 0 where pixels are ignored.

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
        """Each rater against the mask, pixel by pixel; NaN where a share is of no pixel."""
        counts = self.patterns.counts_in(self.mask)
        return RaterPerformance(self.raters, confusions(self.patterns.votes, self.patterns.count, counts))

    @property
    def headline(self) -> str:
        """The finding, in words."""
        note = f"; {self.note}" if self.note else ""
        return f"Truth({self.method}: {int(self.mask.sum()):,} of {number_of(self.patterns.pixels, 'pixel')}{note})"


def entropy_bits(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """(P,) Shannon's entropy (1948, §6) of P distributions over K classes: bits from 0, one is certain, to log2 K.

    Parameters
    ----------
    probability : (P, K) float64
        Rows add up to 1.

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
    """A truth of the chosen patterns (P,), rater by rater counted unless `estimates` are given."""
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
    """(N,) sensitivity and specificity, from how many pixels (P,) of each pattern are true; 1 for a share of none."""
    nameless = np.empty(patterns.votes.shape[1], object)
    counts = RaterPerformance(nameless, confusions(patterns.votes, patterns.count, true))
    return np.nan_to_num(counts.sensitivity, nan=1.0), np.nan_to_num(counts.specificity, nan=1.0)


def notes_of(
    patterns: Patterns, true: int, why_empty: str, counted: bool, converged: bool, iterations: int
) -> list[str]:
    """What to know about a truth of so many pixels, the raters' shares of it counted or estimated."""
    notes = []
    if not patterns.pixels:
        notes.append("all pixels are ignored: there is nothing to estimate")
    elif not patterns.votes.any():
        notes.append("nobody marked a pixel: the truth is empty")
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
