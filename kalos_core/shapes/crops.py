"""Masks as crops: the pixels within an integer frame, the form in which formats store a mask with its box."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import expand_runs
from kalos_core.shapes.masks import Masks

ON_EDGE = 1e-6
"""Tolerance in pixels within which the edge of a box counts as aligned with the edge of a pixel."""


def crop_frames(corners: NDArray[np.float64], masks: Masks) -> NDArray[np.float64]:
    """Return (N, 4) integer frames at which to crop each mask.

    The frame is the box if it lies on pixel edges and contains the mask, else the bounds of the mask.

    Parameters
    ----------
    corners : (N, 4) float64
        Left, top, right and bottom of each box, in pixels.
    masks : (N,) Masks

    Examples
    --------
    >>> masks = Masks.from_arrays([[[0, 1, 1], [0, 0, 0]]] * 2)
    >>> crop_frames(np.array([[0.0, 0, 3, 2], [0.5, 0, 3, 2]]), masks).tolist()
    [[0.0, 0.0, 3.0, 2.0], [1.0, 0.0, 3.0, 1.0]]
    """
    whole, bounds, size = np.rint(corners), masks.bounds(), masks.size
    empty = np.isnan(bounds[:, 0])
    outside = (whole[:, :2] > bounds[:, :2]) | (whole[:, 2:] < bounds[:, 2:])  # false for NaN, an empty mask
    inside = (whole[:, :2] >= 0) & (whole[:, 2:] <= size)
    fits = np.asarray(np.hstack([np.abs(whole - corners) <= ON_EDGE, ~outside, inside]).all(axis=1))
    low = np.clip(np.floor(corners[:, :2]), 0, size - 1)
    around = np.hstack([low, np.clip(np.ceil(corners[:, 2:]), low + 1, size)])
    return np.where(fits[:, None], whole, np.where(empty[:, None], around, bounds))


def crops_of(masks: Masks, frames: NDArray[np.intp]) -> list[NDArray[np.bool_]]:
    """Return the pixels (height, width) of each mask within its frame, which must contain the whole mask.

    Parameters
    ----------
    masks : (N,) Masks
    frames : (N, 4) int
        Left, top, right and bottom.

    Examples
    --------
    >>> masks = Masks.from_arrays([[[0, 1, 1], [0, 0, 0]]])
    >>> [crop.astype(int).tolist() for crop in crops_of(masks, np.array([[1, 0, 3, 2]]))]
    [[[1, 1], [0, 0]]]
    """
    owner, column, top, bottom = masks.strips(np.arange(len(masks)))
    strip, row = expand_runs(top, bottom - top)
    start = np.searchsorted(owner[strip], np.arange(len(masks) + 1))
    crops = []
    for number, (left, upper, right, lower) in enumerate(frames.tolist()):
        pixels = slice(start[number], start[number + 1])
        crop = np.zeros((lower - upper, right - left), np.bool_)
        crop[row[pixels] - upper, column[strip[pixels]] - left] = True
        crops.append(crop)
    return crops
