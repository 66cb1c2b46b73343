"""LSML: smooth ground truth as a level set driven by the votes of raters and by its curvature."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.consensus.truth import Truth, counted_shares, notes_of
from kalos_core.errors import check_number, check_whole
from kalos_core.options import checked
from kalos_core.pixels.patterns import Patterns, find_patterns
from kalos_core.pixels.stack import Masks3D, as_stack

WIDTH = 1.5
"""Width of the smoothed delta function in pixels: how far from the boundary forces act."""

STEP = 0.5
"""Maximum movement of the boundary in one iteration, in pixels."""

STILL = 50
"""Iterations without a change of the mask after which it counts as settled."""

REACH = 16.0
"""Distance in pixels from the initial boundary beyond which 1,000 iterations change no pixel (small delta)."""


@checked
def lsml(masks: Masks3D, iterations: int = 1000, smoothness: float = 1.0) -> Truth:
    """Level-set maximum likelihood (Li et al. 2012), starting from the majority.

    Implemented from the description in Lampert et al. Two steps alternate: count each rater's sensitivity p and
    specificity q from the mask, and move the level-set function phi by

        delta(phi) [sum_n D_n ln(p_n / (1 - q_n)) + (1 - D_n) ln((1 - p_n) / q_n) + smoothness * curvature]

    where D_n are the votes. phi starts as the signed distance to the majority's boundary, and moves at most half a
    pixel in an iteration. Half a pixel is added to either side of the counts, so that no logarithm is infinite.

    The result depends on the start, as the paper states for the method: pixels more than 16 pixels from the majority's
    boundary do not change. If the majority is empty or the whole image, it is returned unchanged.

    Parameters
    ----------
    masks : MaskStack or (N, H, W)
    iterations : int
        Maximum number of iterations; stops earlier if the mask stays the same for 50.
    smoothness : float, at least 0
        Weight nu of the curvature.

    Returns
    -------
    Truth

    Examples
    --------
    >>> stack = np.zeros((3, 12, 12), bool)
    >>> stack[0, 3:9, 3:9] = stack[1, 3:9, 3:9] = stack[2, 4:8, 4:8] = True
    >>> lsml(stack).mask.sum().item() >= 16
    True
    """
    number = check_number(smoothness, "smoothness", 0)
    most = check_whole(iterations, "iterations", least=1)
    stack = as_stack(masks)
    patterns = find_patterns(stack)
    majority = patterns.at_pixels(patterns.votes.mean(axis=1) >= 0.5)
    mask, taken, settled = _evolve(majority, patterns, most, number)
    true = patterns.counts_in(mask)
    sensitivity, specificity = counted_shares(patterns, true)
    return Truth(
        method="lsml",
        mask=mask,
        raters=stack.raters,
        sensitivity=sensitivity,
        specificity=specificity,
        kept=np.ones(len(stack.raters), np.bool_),
        iterations=taken,
        converged=settled,
        note="; ".join(
            notes_of(patterns, int(true.sum()), "no pixel has enough votes to begin with", True, settled, taken)
        ),
        patterns=patterns,
    )


def _evolve(
    begin: NDArray[np.bool_], patterns: Patterns, iterations: int, smoothness: float
) -> tuple[NDArray[np.bool_], int, bool]:
    """Return the final mask, the number of iterations, and whether it settled."""
    if not begin.any() or begin.all():
        return begin, 0, True
    free = np.ones(begin.shape, np.bool_) if patterns.ignore is None else ~patterns.ignore
    distance = signed_distance(begin)
    moving = np.flatnonzero(np.abs(distance) <= REACH)  # more distant pixels cannot change
    slot, counts = patterns.slot_of_pixel.ravel()[moving], free.ravel()[moving]
    phi = np.pad(distance, 1, mode="edge")
    row, column = np.divmod(moving, begin.shape[1])
    at = (row + 1) * phi.shape[1] + column + 1
    value = distance.ravel()[moving]
    resting = patterns.counts_in(begin) - _counts(patterns, slot[(value > 0) & counts])
    taken, still = 0, 0
    while taken < iterations and still < STILL:
        taken += 1
        inside = value > 0
        table = np.zeros(patterns.slots, np.float32)
        table[patterns.slot] = pattern_force(patterns, resting + _counts(patterns, slot[inside & counts]))
        force = table[slot] * counts
        if smoothness:
            force += np.float32(smoothness) * curvature(phi, at)
        force *= WIDTH / np.pi / (WIDTH * WIDTH + value * value)
        largest = np.abs(force).max()
        if largest > 0:
            value = value + force * np.float32(STEP / largest)
        phi.ravel()[at] = value
        _repeat_edges(phi)
        still = still + 1 if np.array_equal(value > 0, inside) else 0
    mask = begin.copy()
    mask.ravel()[moving] = (value > 0) & counts
    return mask, taken, still >= STILL


def _counts(patterns: Patterns, slot: NDArray[np.unsignedinteger[Any]]) -> NDArray[np.intp]:
    """(P,) number of the given pixels that have each pattern."""
    return np.bincount(slot, minlength=patterns.slots)[patterns.slot]


def _repeat_edges(phi: NDArray[np.float32]) -> None:
    phi[0], phi[-1] = phi[1], phi[-2]
    phi[:, 0], phi[:, -1] = phi[:, 1], phi[:, -2]


def signed_distance(mask: NDArray[np.bool_]) -> NDArray[np.float32]:
    """(H, W) signed distance to the boundary in pixels, positive inside; the boundary runs between pixels.

    Examples
    --------
    >>> signed_distance(np.array([[False, False, True, True]])).tolist()
    [[-1.5, -0.5, 0.5, 1.5]]
    """
    from scipy.ndimage import distance_transform_edt  # slow to import, and needed here only

    inside, outside = distance_transform_edt(mask), distance_transform_edt(~mask)
    return np.ascontiguousarray(inside - outside - np.where(mask, 0.5, -0.5), dtype=np.float32)


def pattern_force(patterns: Patterns, true: NDArray[np.intp]) -> NDArray[np.float64]:
    """(P,) log-likelihood ratio of each pattern, from the raters' votes on the `true` (P,) and the other pixels.

    Examples
    --------
    >>> from kalos_core.pixels.stack import MaskStack
    >>> patterns = find_patterns(MaskStack.of([[[0, 0, 1, 1]], [[0, 0, 1, 1]]]))
    >>> pattern_force(patterns, np.array([0, 2])).round(2).tolist()  # 2 ln((.5 / 3) / (2.5 / 3)), and its opposite
    [-3.22, 3.22]
    """
    votes, false = patterns.votes, patterns.count - true
    sensitivity = (true @ votes + 0.5) / (true.sum() + 1)
    specificity = (false @ ~votes + 0.5) / (false.sum() + 1)
    if_marked = np.log(sensitivity / (1 - specificity))
    if_left = np.log((1 - sensitivity) / specificity)
    return np.asarray(np.where(votes, if_marked, if_left).sum(axis=1))


def curvature(phi: NDArray[np.float32], at: NDArray[np.intp]) -> NDArray[np.float32]:
    """(M,) curvature div(grad phi / |grad phi|) at flat indices; negative where the inside is convex.

    Examples
    --------
    >>> y, x = np.mgrid[-9:10, -9:10]
    >>> phi = (8 - np.hypot(x, y)).astype(np.float32)
    >>> round(curvature(phi, np.array([9 * 19 + 14])).item(), 1)  # -1 / radius
    -0.2
    """
    p, row = phi.ravel(), phi.shape[1]
    middle, left, right, above, below = p[at], p[at - 1], p[at + 1], p[at - row], p[at + row]
    x, y = (right - left) / 2, (below - above) / 2
    xx, yy = right - 2 * middle + left, below - 2 * middle + above
    xy = (p[at + row + 1] - p[at + row - 1] - p[at - row + 1] + p[at - row - 1]) / 4
    steep = x * x + y * y
    bend = xx * y * y - 2 * x * y * xy + yy * x * x
    # a pixel grid cannot represent a curvature above 1 / pixel
    return np.asarray(np.clip(bend / np.maximum(steep, np.float32(1e-6)) ** np.float32(1.5), -1, 1))
