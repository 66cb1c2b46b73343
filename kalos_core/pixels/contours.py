"""Contour tasks: a pixel close enough to a boundary counts as on it, and a ground truth is thinned to one pixel."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.arrays import as_array, as_floats
from kalos_core.errors import InputError
from kalos_core.options import Option, checked
from kalos_core.pixels.stack import as_binary

TOLERANCE = 0.0075
"""Tolerance of the Berkeley benchmark, as a share of the image's diagonal, adopted by Lampert et al."""


@dataclass(frozen=True)
class ContourMatch:
    """Comparison of marked with true contours. Each share is None if its denominator is 0.

    Parameters
    ----------
    precision : float or None
        Share of the marked pixels that are near the ground truth.
    recall : float or None
        Share of the true pixels that are near a marked one.
    f1 : float or None
        Harmonic mean of both, 0 if no pixel is near.
    """

    precision: float | None
    recall: float | None
    f1: float | None


DiagonalShare = Annotated[
    float, Option("How far a contour may be off", "Tolerance as a share of the image's diagonal.", low=0, below=1)
]


@checked
def tolerance_in_pixels(size: tuple[int, ...], tolerance: DiagonalShare = TOLERANCE) -> float:
    """Return the maximum distance in pixels of a marked pixel from a contour, for an image of a height and a width.

    Examples
    --------
    >>> tolerance_in_pixels((300, 400))
    3.75
    """
    return tolerance * math.hypot(*as_floats(size, "size").ravel().tolist())


@checked
def near(mask: ArrayLike, distance: float) -> NDArray[np.bool_]:
    """Return which pixels (H, W) are within `distance`, between centres, of a pixel that is on; none for an empty mask.

    Examples
    --------
    >>> near([[1, 0, 0, 0]], 2).tolist()
    [[True, True, True, False]]
    """
    on = as_binary(as_array(mask, "mask"), "mask")
    if not on.any() or distance == 0:
        return on.copy()
    from scipy.ndimage import distance_transform_edt  # slow to import, and needed here only

    return np.asarray(distance_transform_edt(~on) <= distance)


@checked
def thinned(mask: ArrayLike) -> NDArray[np.bool_]:
    """Thin a ground truth to lines one pixel wide, keeping separate regions (Lampert et al., §IV-C; Zhang & Suen 1984).

    Examples
    --------
    >>> band = np.zeros((5, 9), bool)
    >>> band[1:4, 1:8] = True
    >>> thinned(band).sum(axis=0).max().item()
    1
    """
    from skimage import morphology  # slow to import, and needed here only

    skeletonize: Callable[[NDArray[np.bool_]], NDArray[np.bool_]] = morphology.skeletonize
    marked = as_binary(as_array(mask, "mask"), "mask")
    if marked.ndim != 2:
        raise InputError(f"mask: expected height x width, got shape {marked.shape}")
    return skeletonize(marked)


@checked
def match_contours(mask: ArrayLike, truth: ArrayLike, tolerance: float = TOLERANCE) -> ContourMatch:
    """Compare marked with true contours; a pixel counts as found if a pixel of the other mask is near.

    Parameters
    ----------
    mask, truth : (H, W) binary
        See `thinned`.
    tolerance : float
        Tolerance as a share of the image's diagonal.

    Examples
    --------
    >>> line = np.zeros((300, 400), bool)
    >>> line[100] = True
    >>> match_contours(np.roll(line, 3, axis=0), line), match_contours(np.roll(line, 4, axis=0), line).f1
    (ContourMatch(precision=1.0, recall=1.0, f1=1.0), 0.0)
    """
    found, true = as_binary(as_array(mask, "mask"), "mask"), as_binary(as_array(truth, "truth"), "truth")
    if found.shape != true.shape:
        raise InputError(f"mask: expected the size of the truth {true.shape}, got {found.shape}")
    reach = tolerance_in_pixels(true.shape, tolerance)
    precision = _share(found & near(true, reach), found)
    recall = _share(true & near(found, reach), true)
    if precision is None or recall is None:
        return ContourMatch(precision, recall, None)
    together = precision + recall
    return ContourMatch(precision, recall, 2 * precision * recall / together if together else 0.0)


def _share(part: NDArray[np.bool_], whole: NDArray[np.bool_]) -> float | None:
    pixels = int(whole.sum())
    return int(part.sum()) / pixels if pixels else None
