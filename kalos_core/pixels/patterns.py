"""Patterns of votes on the pixels of a stack, with their counts, which suffice for most statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.pixels.stack import MaskStack

BLOCK = 1 << 18
"""Pairs of pixels counted at a time, so that temporary arrays stay in the processor's cache."""

TABLE_BITS = 16
"""Maximum number of raters for a table of all possible patterns; with more raters it has those that occur."""


@dataclass(frozen=True, eq=False)
class Patterns:
    """P patterns of N votes that occur in a stack.

    Parameters
    ----------
    votes : (P, N) bool
        Raters who marked a pixel with that pattern.
    count : (P,) int
        Number of pixels with that pattern, at least one; ignored pixels are not counted.
    slot : (P,) int
        Index of each pattern in a table of `slots` entries.
    slots : int
    slot_of_pixel : (H, W) unsigned int
    ignore : (H, W) bool, optional

    Examples
    --------
    >>> found = find_patterns(MaskStack.of([[[0, 0, 1]], [[0, 1, 1]]]))
    >>> found.votes.astype(int).tolist(), found.count.tolist()
    ([[0, 0], [0, 1], [1, 1]], [1, 1, 1])
    >>> found.at_pixels(np.array([0.0, 0.5, 1.0])).tolist()
    [[0.0, 0.5, 1.0]]
    """

    votes: NDArray[np.bool_]
    count: NDArray[np.intp]
    slot: NDArray[np.intp]
    slots: int
    slot_of_pixel: NDArray[np.unsignedinteger[Any]]
    ignore: NDArray[np.bool_] | None

    @property
    def pixels(self) -> int:
        """Number of pixels that are not ignored."""
        return int(self.count.sum())

    def at_pixels(self, values: NDArray[Any]) -> NDArray[Any]:
        """Map values (P,) of patterns to pixels (H, W), 0 or False where pixels are ignored."""
        table = np.zeros(self.slots, values.dtype)
        table[self.slot] = values
        found = np.take(table, self.slot_of_pixel)
        if self.ignore is not None:
            found[self.ignore] = 0
        return found

    def counts_in(self, region: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Count the pixels (P,) of each pattern within a region (H, W)."""
        inside = region if self.ignore is None else region & ~self.ignore
        return np.bincount(self.slot_of_pixel[inside], minlength=self.slots)[self.slot]


def find_patterns(stack: MaskStack) -> Patterns:
    """Find the patterns of votes of a stack, sorted with those of fewer or earlier raters first."""
    code = pixel_codes(stack.masks)
    raters = len(stack.raters)
    if raters > TABLE_BITS:
        codes, inverse = np.unique(code, return_inverse=True)
        slot_of_pixel = inverse.reshape(code.shape).astype(np.uint32)
        slots = len(codes)
    else:
        codes, slot_of_pixel, slots = np.arange(1 << raters, dtype=np.uint64), code, 1 << raters
    count = count_slots(slot_of_pixel.ravel(), slots)
    if stack.ignore is not None:
        count -= np.bincount(slot_of_pixel[stack.ignore], minlength=slots)
    slot = np.flatnonzero(count)
    bits = np.arange(raters, dtype=np.uint64)[::-1]
    votes = (codes[slot, None].astype(np.uint64) >> bits & np.uint64(1)).astype(np.bool_)
    return Patterns(votes, count[slot], slot, slots, slot_of_pixel, stack.ignore)


def pixel_codes(masks: NDArray[np.bool_]) -> NDArray[np.unsignedinteger[Any]]:
    """Encode the votes (N, H, W) on each pixel as bits (H, W) of the smallest number; the first rater's is the highest.

    Examples
    --------
    >>> codes = pixel_codes(np.array([[[True, False]], [[True, True]]]))
    >>> codes.tolist(), codes.dtype
    ([[3, 1]], dtype('uint8'))
    """
    kind = next(kind for kind in (np.uint8, np.uint16, np.uint32, np.uint64) if len(masks) <= 8 * kind().itemsize)
    code: NDArray[np.unsignedinteger[Any]] = masks[0].astype(kind)
    for mask in masks[1:]:
        code <<= kind(1)
        code |= mask.view(np.uint8)
    return code


def count_slots(slot: NDArray[np.unsignedinteger[Any]], slots: int) -> NDArray[np.intp]:
    """Count how often each number below `slots` occurs (slots,); bytes are counted in pairs, in half the time.

    Examples
    --------
    >>> count_slots(np.array([0, 2, 2], np.uint8), 4).tolist()
    [1, 0, 2, 0]
    """
    if slot.dtype != np.uint8:
        return np.bincount(slot, minlength=slots)
    even = len(slot) // 2 * 2
    pairs = slot[:even].view(np.uint16)
    table = np.zeros(1 << 16, np.intp)
    for begin in range(0, len(pairs), BLOCK):
        table += np.bincount(pairs[begin : begin + BLOCK], minlength=1 << 16)
    square = table.reshape(256, 256)
    count = square.sum(axis=0) + square.sum(axis=1)
    return np.asarray((count + np.bincount(slot[even:], minlength=256))[:slots])
