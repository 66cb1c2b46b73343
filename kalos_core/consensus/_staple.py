"""STAPLE: joint estimation of ground truth and rater performance by expectation-maximisation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalos_core.consensus.truth import Truth, truth_of_patterns
from kalos_core.errors import check_number, check_whole
from kalos_core.options import checked
from kalos_core.pixels.patterns import find_patterns
from kalos_core.pixels.stack import Masks3D, as_stack

SETTLED = 1e-7
"""Convergence tolerance: largest change of a sensitivity or specificity between iterations, as in ITK."""

ITERATIONS = 10_000


@dataclass(frozen=True, eq=False)
class Expectation:
    """Result of expectation-maximisation. P patterns, N raters.

    Parameters
    ----------
    probability : (P,) float64
        Probability that a pixel with the pattern is true.
    sensitivity, specificity : (N,) float64
    iterations : int
    converged : bool
    """

    probability: NDArray[np.float64]
    sensitivity: NDArray[np.float64]
    specificity: NDArray[np.float64]
    iterations: int
    converged: bool


@checked
def staple(masks: Masks3D, prior: float | None = None, iterations: int = ITERATIONS) -> Truth:
    """Simultaneous truth and performance level estimation (Warfield, Zou & Wells 2004).

    All pixels take part, including those that all or no raters marked. A pixel matters only through its votes, so the
    estimation runs on the few distinct vote patterns and their counts. The numbers equal those computed pixel by pixel.

    Parameters
    ----------
    masks : MaskStack or (N, H, W)
    prior : float in (0, 1), optional
        Prior probability that a pixel is true; by default the share of votes that mark a pixel, as in ITK.
    iterations : int
        Maximum number of iterations.

    Returns
    -------
    Truth
        `mask` has the pixels with a probability of at least one half. `sensitivity` and `specificity` are estimates.
        If raters never overlap, all probabilities may stay below one half. The ground truth is then empty, and `note`
        says why.

    Examples
    --------
    >>> found = staple([[[0, 0, 0, 1, 1, 1]], [[0, 0, 0, 1, 1, 1]], [[0, 0, 1, 1, 1, 0]]])
    >>> found.mask.astype(int).tolist(), found.sensitivity.round(2).tolist()
    ([[0, 0, 0, 1, 1, 1]], [1.0, 1.0, 0.67])
    """
    stack = as_stack(masks)
    patterns = find_patterns(stack)
    found = expectation_maximisation(
        patterns.votes,
        patterns.count,
        None if prior is None else check_number(prior, "prior", above=0, below=1),
        check_whole(iterations, "iterations", least=1),
    )
    return truth_of_patterns(
        "staple",
        stack.raters,
        patterns,
        found.probability >= 0.5,
        found.probability,
        iterations=found.iterations,
        converged=found.converged,
        estimates=(found.sensitivity, found.specificity),
        why_empty="no pixel reaches a probability of one half",
    )


def expectation_maximisation(
    votes: NDArray[np.bool_], count: NDArray[np.intp], prior: float | None = None, iterations: int = ITERATIONS
) -> Expectation:
    """Run STAPLE on vote patterns.

    Parameters
    ----------
    votes : (P, N) bool
    count : (P,) int
        Number of pixels with each pattern.
    prior, iterations
        As in `staple`.

    Examples
    --------
    >>> votes = np.array([[False, False], [True, True]])
    >>> expectation_maximisation(votes, np.array([9, 1])).probability.round(6).tolist()
    [0.0, 1.0]
    """
    marked, left = votes.astype(np.float64), (~votes).astype(np.float64)
    probability = votes.mean(axis=1)
    pixels = count.sum()
    before = float(count @ probability / pixels) if prior is None and pixels else prior or 0.0
    sensitivity, specificity = np.ones(votes.shape[1]), np.ones(votes.shape[1])
    for iteration in range(1, iterations + 1):
        true, false = count * probability, count * (1 - probability)
        previous = sensitivity, specificity
        sensitivity = _share(true @ marked, true.sum(), sensitivity)
        specificity = _share(false @ left, false.sum(), specificity)
        probability = _probability(votes, before, sensitivity, specificity, probability)
        change = max(np.abs(sensitivity - previous[0]).max(), np.abs(specificity - previous[1]).max())
        if iteration > 1 and change <= SETTLED:
            return Expectation(probability, sensitivity, specificity, iteration, True)
    return Expectation(probability, sensitivity, specificity, iterations, False)


def _share(part: NDArray[np.float64], whole: float, otherwise: NDArray[np.float64]) -> NDArray[np.float64]:
    """Quotients in [0, 1]; `otherwise` if the whole is 0."""
    return np.minimum(part / whole, 1.0) if whole > 0 else otherwise


def _probability(
    votes: NDArray[np.bool_],
    prior: float,
    sensitivity: NDArray[np.float64],
    specificity: NDArray[np.float64],
    otherwise: NDArray[np.float64],
) -> NDArray[np.float64]:
    """(P,) probability that a pixel is true given the votes; unchanged if both explanations are impossible."""
    with np.errstate(divide="ignore", over="ignore"):  # log 0 is an impossible explanation, with infinite odds
        if_true = np.log(prior) + np.log(np.where(votes, sensitivity, 1 - sensitivity)).sum(axis=1)
        if_false = np.log1p(-prior) + np.log(np.where(votes, 1 - specificity, specificity)).sum(axis=1)
        possible = np.maximum(if_true, if_false) > -np.inf
        behind = np.where(possible, if_false, 0) - np.where(possible, if_true, 0)
        return np.where(possible, 1 / (1 + np.exp(behind)), otherwise)
