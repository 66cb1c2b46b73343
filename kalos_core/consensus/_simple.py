"""SIMPLE: vote weighted by agreement with the estimate, without raters who agree poorly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.consensus.truth import Truth, truth_of_patterns
from kalos_core.errors import check_number
from kalos_core.options import checked
from kalos_core.pixels.patterns import Patterns, find_patterns
from kalos_core.pixels.stack import Masks3D, as_stack

ROUNDING = 1e-12
ROUNDS = 100


@checked
def simple(masks: Masks3D, alpha: float = 1.0) -> Truth:
    """Estimate a ground truth by SIMPLE: selective and iterative performance level estimation (Langerak et al. 2010).

    Implemented from the description in Lampert et al. The estimate starts as the majority. Each iteration

    * weights each rater by their Dice with the estimate,
    * removes raters whose Dice is below the mean minus `alpha` standard deviations (ddof 1) of the remaining raters,
    * sets the estimate to the pixels marked by at least half of the weights,

    until neither changes. With two raters, both are kept. If all weights are 0 because no rater overlaps with the
    estimate, the ground truth is empty and `note` says why.

    Parameters
    ----------
    masks : MaskStack or (N, H, W)
    alpha : float, at least 0

    Returns
    -------
    Truth
        `kept` marks the raters who were not removed.

    Examples
    --------
    >>> stack = {"ann": [[0, 1, 1, 1]], "bob": [[0, 1, 1, 1]], "cid": [[0, 0, 1, 1]], "dan": [[1, 0, 0, 0]]}
    >>> found = simple(stack)
    >>> found.mask.astype(int).tolist(), found.raters[found.kept].tolist()
    ([[0, 1, 1, 1]], ['ann', 'bob'])
    """
    number = check_number(alpha, "alpha", 0)
    stack = as_stack(masks)
    patterns = find_patterns(stack)
    kept = np.ones(len(stack.raters), np.bool_)
    share = patterns.votes.mean(axis=1)
    chosen = share >= 0.5
    settled, iteration = False, 0
    while not settled and iteration < ROUNDS:
        iteration += 1
        fit = dice(patterns, chosen)
        kept_before, chosen_before = kept, chosen
        kept = kept & (fit >= _least(fit[kept], number))
        share = _weighted_share(patterns.votes, np.where(kept, fit, 0))
        chosen = share >= 0.5 - ROUNDING
        settled = bool((kept == kept_before).all() and (chosen == chosen_before).all())
    return truth_of_patterns(
        "simple",
        stack.raters,
        patterns,
        chosen,
        share,
        kept=kept,
        iterations=iteration,
        converged=settled,
        why_empty="no rater overlaps with the estimate",
    )


def dice(patterns: Patterns, chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(N,) Dice of each rater with the chosen patterns (P,); 1 if both are empty.

    Examples
    --------
    >>> from kalos_core.pixels.stack import MaskStack
    >>> patterns = find_patterns(MaskStack.of([[[0, 1, 1]], [[0, 0, 1]]]))
    >>> dice(patterns, patterns.votes[:, 0]).round(2).tolist()
    [1.0, 0.67]
    """
    true = patterns.count * chosen
    pixels = patterns.count @ patterns.votes + true.sum()
    shared = 2 * (true @ patterns.votes)
    return np.asarray(np.divide(shared, pixels, out=np.ones(len(pixels)), where=pixels > 0))


def _least(fit: NDArray[np.float64], alpha: float) -> float:
    """Return the Dice below which a rater is removed."""
    if len(fit) < 2:
        return 0.0
    return float(fit.mean() - alpha * fit.std(ddof=1) - ROUNDING)


def _weighted_share(votes: NDArray[np.bool_], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    whole = weight.sum()
    return votes @ weight / whole if whole else np.zeros(len(votes))
