"""Vectorised parsing of JSON lists of numbers, such as outlines and boxes, without an object for each number.

Coordinates are short, for example "384.75". The eight bytes before the end of a number form a 64-bit integer, in which
the digits of all numbers are combined at once. An integer below 10**8 divided by a power of ten is one division of two
numbers that float64 represents exactly, so the result is the float64 nearest to the decimal. Longer numbers are left to
a parser.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

BYTES_AT_ONCE = 3 << 15
"""Bytes of text parsed at once, so that temporary arrays stay in the cache."""

LONGEST = 8
"""Maximum number of characters of a number that is parsed here."""

SPACE, QUOTE, MINUS, NINE, OPENING, CLOSING = b' "-9[]'

NUMBER = 13
"""Characters of numbers from the minus sign on in ASCII: "-./0123456789"; JSON has no "/" there."""

PADDING = b" " * (LONGEST - 1)


class Lists(NamedTuple):
    """Concatenated lists of numbers from N texts.

    Parameters
    ----------
    numbers : (M,) float64
    length : (G,) int
        Number of values in each list.
    lists : (N,) int
        Number of lists in each text.
    clear : (N,) bool
        False for texts with anything but lists of short decimals at the expected depth, or in a batch of mostly long
        numbers. None of their lists is included.
    """

    numbers: NDArray[np.float64]
    length: NDArray[np.intp]
    lists: NDArray[np.intp]
    clear: NDArray[np.bool_]


def read_lists(texts: Sequence[Any], depth: int) -> Lists:
    """Parse the lists of numbers in texts, one JSON list each, or a list of lists if `depth` is 2.

    Parameters
    ----------
    texts : sequence (N,) of msgspec.Raw
        Valid JSON without surrounding white space. Anything else is not clear.
    depth : int
        Nesting depth of the numbers.

    Examples
    --------
    >>> lists = read_lists([msgspec.Raw(b"[[1, -2.5], [3]]"), msgspec.Raw(b"[[1e5]]"), msgspec.Raw(b"[4]"), None], 2)
    >>> lists.numbers.tolist(), lists.length.tolist(), lists.lists.tolist(), lists.clear.tolist()
    ([1.0, -2.5, 3.0], [2, 1], [2, 0, 0, 0], [True, False, False, False])
    """
    raw = [text if type(text) is msgspec.Raw else b"" for text in texts]
    size = np.fromiter(map(len, raw), np.intp, len(raw)) + 1
    cuts = np.flatnonzero(np.diff(np.cumsum(size) // BYTES_AT_ONCE)) + 1
    parts: list[Lists] = []
    for first, last in pairwise([0, *cuts.tolist(), len(raw)]):
        go_on = not parts or parts[-1].clear.any()  # if all numbers of a part are long, so are the others
        parts.append(_read(raw[first:last], size[first:last], depth) if go_on else _unread(last - first))
    return Lists(*map(np.concatenate, zip(*parts, strict=True)))


def _read(texts: list[Any], size: NDArray[np.intp], depth: int) -> Lists:
    """Parse one batch; `size` is the length in bytes of each text and the space after it."""
    text = b" ".join([PADDING, *texts, b""])
    letters = np.frombuffer(text, np.uint8)
    end_of_text = LONGEST + size.cumsum()
    clear = letters[end_of_text - size] == OPENING
    at = np.flatnonzero(letters > NINE)  # brackets, and characters that do not belong to numbers
    opens, closes = letters[at] == OPENING, letters[at] == CLOSING
    if QUOTE in text or not ((opens | closes).all() and clear.all()):
        strange = np.append(at[~(opens | closes)], np.flatnonzero(letters == QUOTE))
        clear[end_of_text.searchsorted(strange, "right")] = False
        letters = letters.copy()
        letters[LONGEST:][np.repeat(~clear, size)] = SPACE  # its brackets may be inside strings
        at = np.flatnonzero(letters > NINE)
        opens = letters[at] == OPENING
    edges = _edges(letters - np.uint8(MINUS) < NUMBER)
    start, end = edges[::2], edges[1::2]
    if 2 * np.count_nonzero(end - start > LONGEST) > len(start):  # most need another parser, so leave all to it
        return _unread(len(texts))
    numbers, exact = _decimals(letters, start, end)
    level = np.where(opens, 1, -1).cumsum()
    before = np.append(edges.searchsorted(at, "right") // 2, len(start))
    inside = before[1:] - before[:-1]  # numbers up to the next bracket
    wrong = np.append(start[~exact], at[(level > depth) | ((inside > 0) & (level != depth))])
    if len(wrong):
        clear[end_of_text.searchsorted(wrong, "right")] = False
    lists = opens & (level == depth)
    owner, length = end_of_text.searchsorted(at[lists], "right"), inside[lists]
    if not clear.all():
        numbers = numbers[clear[end_of_text.searchsorted(start, "right")]]
        owner, length = owner[clear[owner]], length[clear[owner]]
    return Lists(numbers, length, np.bincount(owner, minlength=len(texts)), clear)


def _unread(texts: int) -> Lists:
    """Return the result if no text is clear."""
    return Lists(np.zeros(0), np.zeros(0, np.intp), np.zeros(texts, np.intp), np.zeros(texts, np.bool_))


def _edges(is_number: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Alternating starts and ends of numbers."""
    edges = np.flatnonzero(is_number[1:] != is_number[:-1])
    edges += 1
    return edges


WORD = np.uint64
ZEROS, NO_DIGIT = WORD(0x3030303030303030), WORD(0x1010101010101010)

KEPT = np.array([0, *((1 << 64) - (1 << 8 * (LONGEST - n)) for n in range(1, LONGEST + 1))], WORD)
"""Masks of the last characters of a word, by length of the number."""

SCALE = 10.0 ** (LONGEST - np.arange(65) // 8)
"""Divisors by the number of bits before the decimal point, which is removed; 64 bits without a point."""

STEPS = (
    (1 + (10 << 8), 8, 0x00FF00FF00FF00FF),
    (1 + (100 << 16), 16, 0x0000FFFF0000FFFF),
    (1 + (10_000 << 32), 32, 0x00000000FFFFFFFF),
)
"""Steps that combine digits into numbers of two, four and eight digits: multiplier, shift and mask."""


def _decimals(
    letters: NDArray[np.uint8], start: NDArray[np.intp], end: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """(M,) numbers at ``letters[start:end]``, preceded by `LONGEST` characters, and (M,) whether they are exact.

    Examples
    --------
    >>> letters = np.frombuffer(b"        -20.75 123456789", np.uint8)
    >>> numbers, exact = _decimals(letters, np.array([8, 15]), np.array([14, 24]))
    >>> numbers[0], exact.tolist()
    (np.float64(-20.75), [True, False])
    """
    negative = letters[start] == MINUS
    length = end - start
    length -= negative
    words = np.ndarray(len(letters) - 7, "<u8", letters, strides=(1,))[end - LONGEST]
    words ^= ZEROS  # digits become 0 to 9
    words &= KEPT.take(length, mode="clip")
    before = words & NO_DIGIT
    before >>= WORD(4)
    before -= WORD(1)  # all bits before the point, or all bits without a point
    scale = SCALE.take(np.bitwise_count(before))
    moved = words >> WORD(8)
    words ^= moved
    words &= before
    words ^= moved  # closes the gap left by the point
    for worth, bits, kept in STEPS:
        words *= WORD(worth)
        words >>= WORD(bits)
        words &= WORD(kept)
    numbers = words / scale
    np.negative(numbers, out=numbers, where=negative)
    return numbers, (length <= LONGEST) & ~(negative & (numbers == 0))  # "-0" is 0, but "-0.0" is not
