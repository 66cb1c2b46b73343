"""LSML: a smooth truth as the level set of a function that moves by what raters say and by its curvature."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.consensus.truth import Truth, counted_shares, note_of
from kalos_core.errors import InputError, as_number, check_whole
from kalos_core.pixels.patterns import Patterns, find_patterns
from kalos_core.pixels.stack import Masks3D, as_stack

WIDTH = 1.5
"""Pixels: how far from the boundary it feels the forces, as the width of a smoothed delta function."""

STEP = 0.5
"""Pixels that the boundary moves in one iteration, at most."""

STILL = 50
"""Iterations without a change of the mask after which it has settled."""

MARGIN = 8
"""Pixels around all marks that are looked at."""


def lsml(masks: Masks3D, iterations: int = 1000, smoothness: float = 1.0) -> Truth:
    """Level-set maximum likelihood (Li et al. 2012), from the majority on.

    Our reading of Lampert et al.'s description. In turns, each rater's sensitivity p and specificity q are counted
    within and without the mask, and the level-set function phi moves by

        delta(phi) [sum_n D_n ln(p_n / (1 - q_n)) + (1 - D_n) ln((1 - p_n) / q_n) + smoothness * curvature]

    with D_n the votes. phi begins as the signed distance to the majority's boundary, and moves at most half a pixel in
    an iteration. Shares are counted with half a pixel added to either side, so that no logarithm is infinite. The
    result depends on where it begins, as the paper says of the method: a mark far from the majority's mask hardly
    moves anything. Where the majority is empty or the whole image there is no boundary to move, and it stays.

    Parameters
    ----------
    masks : MaskStack or (N, H, W)
    iterations : int
        At most; it ends earlier where the mask stays the same for 50.
    smoothness : float, at least 0
        Weight of the curvature, nu.

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
    number = as_number(smoothness)
    if number is None or not 0 <= number < float("inf"):
        raise InputError(f"smoothness: expected a number of at least 0, got {smoothness!r}")
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
        note=note_of(patterns, int(true.sum()), "no pixel has enough votes to begin with", True, settled, taken),
        patterns=patterns,
    )


def _evolve(
    begin: NDArray[np.bool_], patterns: Patterns, iterations: int, smoothness: float
) -> tuple[NDArray[np.bool_], int, bool]:
    """The mask at the end, how many iterations it took, and whether it settled."""
    mask = begin.copy()
    if not begin.any() or begin.all():
        return mask, 0, True
    window = _window(patterns)
    phi = _signed_distance(begin)[window]
    slots = patterns.slot_of_pixel[window]
    free = np.ones(phi.shape, np.bool_) if patterns.ignore is None else ~patterns.ignore[window]
    still = 0
    for iteration in range(1, iterations + 1):
        inside = phi > 0
        true = np.bincount(slots[inside & free], minlength=patterns.slots)[patterns.slot]
        speed = _pattern_force(patterns, true)
        table = np.zeros(patterns.slots, np.float32)
        table[patterns.slot] = speed
        force = np.where(free, table[slots], np.float32(0))
        if smoothness:
            force += np.float32(smoothness) * curvature(phi)
        force *= WIDTH / np.pi / (WIDTH * WIDTH + phi * phi)
        largest = np.abs(force).max()
        if largest == 0:
            return _written(mask, phi, window, free), iteration, True
        phi += force * np.float32(STEP / largest)
        still = still + 1 if np.array_equal(phi > 0, inside) else 0
        if still >= STILL:
            return _written(mask, phi, window, free), iteration, True
    return _written(mask, phi, window, free), iterations, False


def _written(
    mask: NDArray[np.bool_], phi: NDArray[np.float32], window: tuple[slice, slice], free: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    mask[window] = (phi > 0) & free
    return mask


def _window(patterns: Patterns) -> tuple[slice, slice]:
    """Where anybody marked anything, with a margin: beyond it every force pushes outwards."""
    marked = patterns.at_pixels(np.asarray(patterns.votes.any(axis=1)))
    rows, columns = (np.flatnonzero(marked.any(axis=axis)) for axis in (1, 0))
    return (
        slice(max(rows[0] - MARGIN, 0), rows[-1] + MARGIN + 1),
        slice(max(columns[0] - MARGIN, 0), columns[-1] + MARGIN + 1),
    )


def _signed_distance(mask: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Distance to the boundary in pixels, positive inside; the boundary runs between pixels."""
    from scipy.ndimage import distance_transform_edt  # slow to import, and needed here only

    inside, outside = distance_transform_edt(mask), distance_transform_edt(~mask)
    return np.asarray(inside - outside - np.where(mask, 0.5, -0.5), dtype=np.float32)


def _pattern_force(patterns: Patterns, true: NDArray[np.intp]) -> NDArray[np.float64]:
    """(P,) log-likelihood ratio of being true, by the raters' shares within and without the mask."""
    votes, false = patterns.votes, patterns.count - true
    sensitivity = (true @ votes + 0.5) / (true.sum() + 1)
    specificity = (false @ ~votes + 0.5) / (false.sum() + 1)
    if_marked = np.log(sensitivity / (1 - specificity))
    if_left = np.log((1 - sensitivity) / specificity)
    return np.asarray(np.where(votes, if_marked, if_left).sum(axis=1))


def curvature(phi: NDArray[np.float32]) -> NDArray[np.float32]:
    """(H, W) div(grad phi / |grad phi|): negative where the inside of phi bulges, which shrinks it.

    Examples
    --------
    >>> y, x = np.mgrid[-9:10, -9:10]
    >>> round(curvature((8 - np.hypot(x, y)).astype(np.float32))[9, 14].item(), 1)  # -1 / radius
    -0.2
    """
    p = np.pad(phi, 1, mode="edge")
    x, y = (p[1:-1, 2:] - p[1:-1, :-2]) / 2, (p[2:, 1:-1] - p[:-2, 1:-1]) / 2
    xx = p[1:-1, 2:] - 2 * phi + p[1:-1, :-2]
    yy = p[2:, 1:-1] - 2 * phi + p[:-2, 1:-1]
    xy = (p[2:, 2:] - p[2:, :-2] - p[:-2, 2:] + p[:-2, :-2]) / 4
    steep = x * x + y * y
    bend = xx * y * y - 2 * x * y * xy + yy * x * x
    # no grid holds a curvature above 1 / pixel
    return np.clip(bend / np.maximum(steep, np.float32(1e-6)) ** np.float32(1.5), -1, 1)
