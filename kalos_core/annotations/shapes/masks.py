"""Conversion of masks: COCO run lengths, or arrays of pixels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.shapes.faults import ShapeFaults, Surroundings, as_numbers
from kalos_core.arrays import expand_runs, run_starts, total
from kalos_core.errors import repr_of
from kalos_core.shapes import Masks
from kalos_core.shapes.masks import count_pixels

FORMS = "a mask {'size': [h, w], 'counts': ...} or an array (h, w) of 0 and 1"

MOST_PIXELS = (1 << 32) - 1
"""Maximum number of pixels of a canvas; COCO's counts have 32 bits."""

LOWEST, MORE, MINUS, BITS = 48, 32, 16, 5
"""COCO's text encodes numbers as characters from "0" on: five bits each, lowest first; bit six means "continued"."""

MOST_LETTERS = 7
"""Maximum number of characters of one number; 35 bits suffice for any canvas and fit in 64 bits."""

LETTERS_AT_ONCE = 1 << 20
"""Characters decoded together, for few steps and little temporary memory."""


class _UnusableError(Exception):
    """Expected and actual value of a mask."""


def build_masks(given: list[Any], rows: NDArray[np.intp], surroundings: Surroundings, faults: ShapeFaults) -> Masks:
    """Build masks of the given rows; other rows have none.

    A mask is COCO's ``{"size": [height, width], "counts": ...}`` (compressed text or bytes, or a list of numbers), or
    an array (height, width) of booleans or of 0 and 1. A mask without pixels is valid and similar to nothing.
    """
    size = np.zeros((len(given), 2), np.intp)
    counts: dict[int, NDArray[Any]] = {}
    texts: dict[int, bytes] = {}
    image_size = surroundings.size
    for row in rows.tolist():
        try:
            canvas, content = _read(given[row])
            _check_canvas(canvas, image_size[row])
        except _UnusableError as unusable:
            faults.add(row, *unusable.args)
            continue
        size[row] = canvas
        if isinstance(content, bytes):
            texts[row] = content
        else:
            counts[row] = content
    counts.update(decode_counts(texts))
    filled = np.array(sorted(counts), dtype=np.intp)
    flat = np.concatenate([np.zeros(0, np.intp), *(counts[row] for row in filled.tolist())]).astype(np.int64)
    lengths = np.array([len(counts[row]) for row in filled.tolist()], dtype=np.intp)
    owner = np.repeat(np.arange(len(filled)), lengths)
    pixels = total(owner, flat, len(filled))
    wrong = (pixels != size[filled].prod(axis=1)) | (total(owner, flat < 0, len(filled)) > 0)
    malformed = np.setdiff1d(np.fromiter(texts, np.intp, len(texts)), filled)
    faults.add_all(
        np.sort(np.append(filled[wrong], malformed)),
        "counts of 0 or more that sum to height x width",
        lambda row: f"{_shortened(given[row]['counts'])} for {size[row, 1]} x {size[row, 0]}",
    )
    fine = np.flatnonzero(~wrong)
    kept = expand_runs(run_starts(lengths)[:-1][fine], lengths[fine])[1]
    runs = np.zeros(len(given), np.intp)
    runs[filled[fine]] = lengths[fine]
    size[runs == 0] = 0
    return Masks.from_counts(size, flat[kept], run_starts(runs))


def _read(mask: Any) -> tuple[tuple[int, int], NDArray[Any] | bytes]:
    """Width and height of the canvas, and run lengths as numbers or as text."""
    if not isinstance(mask, Mapping):
        pixels = _pixels(mask)
        if pixels is None:
            raise _UnusableError(FORMS, _shortened(mask))
        return (pixels.shape[1], pixels.shape[0]), count_pixels(pixels)
    size = _whole_numbers(mask.get("size"))
    if size is None or len(size) != 2 or size.min() < 1 or size.prod(dtype=np.float64) > MOST_PIXELS:
        raise _UnusableError("a mask with a size [height, width]", repr_of(mask.get("size")))
    height, width = size.tolist()
    counts = mask.get("counts")
    if isinstance(counts, (str, bytes)):
        # non-ASCII characters become "?", which is invalid in counts
        return (width, height), counts.encode("ascii", "replace") if isinstance(counts, str) else counts
    numbers = _whole_numbers(counts)
    if numbers is None:
        raise _UnusableError(FORMS, f"counts {_shortened(counts)}")
    return (width, height), numbers


def _check_canvas(canvas: tuple[int, int], image_size: NDArray[np.float64]) -> None:
    if ((image_size != canvas) & ~np.isnan(image_size)).any():
        width, height = (f"{side:g}" for side in image_size)
        raise _UnusableError(f"a mask of its image's size {height} x {width}", f"{canvas[1]} x {canvas[0]}")


def _pixels(value: Any) -> NDArray[np.bool_] | None:
    """Convert to booleans (height, width) with at least one pixel; None if impossible."""
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        return None
    if array.ndim != 2 or not array.size:
        return None
    if array.dtype == np.bool_:
        return array
    if array.dtype.kind not in "iuf" or not ((array == 0) | (array == 1)).all():
        return None
    return np.asarray(array == 1)


def _whole_numbers(value: object) -> NDArray[np.int64] | None:
    """Convert to integers (M,); None if impossible."""
    numbers = as_numbers(value)
    if numbers is None or numbers.ndim != 1:
        return None
    whole = (np.abs(numbers) <= MOST_PIXELS) & (numbers == np.round(numbers))
    return numbers.astype(np.int64) if whole.all() else None


def _shortened(value: object) -> str:
    return f"{value.dtype} of shape {value.shape}" if isinstance(value, np.ndarray) else repr_of(value)


def decode_counts(texts: dict[int, bytes]) -> dict[int, NDArray[np.int64]]:
    """Decode each row's text to run lengths, as in pycocotools; rows with invalid text are left out.

    Examples
    --------
    >>> {row: counts.tolist() for row, counts in decode_counts({0: b"231", 1: b" "}).items()}
    {0: [2, 3, 1]}
    """
    counts: dict[int, NDArray[np.int64]] = {}
    waiting: dict[int, bytes] = {}
    letters = 0
    for row, text in texts.items():
        if text and letters + len(text) > LETTERS_AT_ONCE:
            counts.update(_decode_together(waiting))
            waiting, letters = {}, 0
        if text:
            waiting[row] = text
            letters += len(text)
    return counts | _decode_together(waiting)


def _decode_together(texts: dict[int, bytes]) -> dict[int, NDArray[np.int64]]:
    """Decode non-empty texts as `decode_counts`, vectorised over the characters of all."""
    if not texts:
        return {}
    letters = np.frombuffer(b"".join(texts.values()), np.uint8).astype(np.int64) - LOWEST
    lengths = np.array([len(text) for text in texts.values()], dtype=np.intp)
    text_of_letter = np.repeat(np.arange(len(texts)), lengths)
    last = np.flatnonzero((letters & MORE) == 0)  # last character of each number
    first = np.append(0, last[:-1] + 1)[: len(last)]
    long = last - first >= MOST_LETTERS
    unreadable = (letters[np.cumsum(lengths) - 1] & MORE) != 0  # unterminated number
    unreadable[text_of_letter[(letters < 0) | (letters >= 2 * MORE)]] = True
    unreadable[text_of_letter[np.append(first[long], last[long])]] = True
    if unreadable.any():
        readable = [row for row, bad in zip(texts, unreadable.tolist(), strict=True) if not bad]
        return _decode_together({row: texts[row] for row in readable})
    position = np.arange(len(letters)) - np.repeat(first, last - first + 1)
    numbers = np.add.reduceat((letters & (MORE - 1)) << (BITS * position), first)
    numbers -= ((letters[last] & MINUS) != 0).astype(np.int64) << (BITS * (last - first + 1))
    start = run_starts(np.bincount(text_of_letter[first], minlength=len(texts)))
    return dict(zip(texts, np.split(_undo_differences(numbers, start), start[1:-1]), strict=True))


def _undo_differences(numbers: NDArray[np.int64], start: NDArray[np.intp]) -> NDArray[np.int64]:
    """Undo the difference coding of texts that begin at `start`: from the fourth number on, minus the second last.

    Counts at odd positions are therefore running sums, and so are those at even positions except the first.
    """
    count = np.diff(start)
    position = np.arange(len(numbers)) - np.repeat(start[:-1], count)
    counts = numbers.copy()
    for chain in (position % 2 == 1, (position % 2 == 0) & (position > 0)):
        sums = np.cumsum(np.where(chain, numbers, 0))
        before = np.append(0, sums)[start[:-1]]
        counts[chain] = (sums - np.repeat(before, count))[chain]
    return counts
