"""Faults of source shapes by row, and checks shared by all kinds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence, Sized
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from kalos_core.errors import Problems


@dataclass
class ShapeFaults:
    """Collector of rows whose shape cannot be used, so that they can be rejected or left out.

    Parameters
    ----------
    problems : Problems
        Receives each fault.
    describe : callable
        Row -> name of its record.
    """

    problems: Problems
    describe: Callable[[int], str]
    rows: set[int] = field(default_factory=set)

    def add(self, row: int, expected: str, actual: object) -> None:
        """Add the fault of one row."""
        self.rows.add(int(row))
        self.problems.add(self.describe(row), expected, actual)

    def add_all(self, rows: Iterable[int], expected: str, actual: Callable[[int], object]) -> None:
        """Add a fault for several rows; actual values are computed only for the rows that are shown."""
        wrong = [int(row) for row in rows]
        self.rows.update(wrong)
        self.problems.add_all(wrong, self.describe, expected, actual)


@dataclass(frozen=True)
class Surroundings:
    """Images of the annotations, for shapes that cannot be interpreted without them.

    Parameters
    ----------
    image : (N,) int
        Code of each annotation's image; -1 if unknown.
    category : (N,) int
        Code of each annotation's class; -1 if unknown.
    image_size : (I, 2) float64
        Width and height in pixels; NaN if unknown.
    slice_positions : sequence of I arrays, optional
        Positions of the slices of each scan along the third axis, in mm; None for an image that is no scan.
    pixel_spacing : (I,) float64, optional
        Pixel spacing of each scan in mm; NaN if unknown.
    """

    image: NDArray[np.intp]
    category: NDArray[np.intp]
    image_size: NDArray[np.float64]
    slice_positions: Sequence[NDArray[np.float64] | None] | None = None
    pixel_spacing: NDArray[np.float64] | None = None

    @property
    def size(self) -> NDArray[np.float64]:
        """(N, 2) width and height of each annotation's image; NaN if unknown."""
        known = self.image >= 0
        size = np.full((len(self.image), 2), np.nan)
        size[known] = self.image_size[self.image[known]]
        return size


def are_given(shapes: list[Any]) -> NDArray[np.bool_]:
    """(N,) whether a shape is given; False for None and for an empty list, as in COCO files."""
    kinds = set(map(type, shapes))
    if kinds == {type(None)}:
        return np.zeros(len(shapes), np.bool_)
    if kinds <= {list, dict, msgspec.Raw, type(None)}:
        return np.fromiter(map(bool, shapes), np.bool_, len(shapes))
    given = [shape is not None and not (isinstance(shape, Sized) and len(shape) == 0) for shape in shapes]
    return np.array(given, np.bool_)


def decoded(shape: Any) -> Any:
    """Decode raw JSON; other values are returned unchanged.

    Examples
    --------
    >>> decoded(msgspec.Raw(b"[0, 1e999]")), decoded([0])
    ([0, inf], [0])
    """
    if not isinstance(shape, msgspec.Raw):
        return shape
    try:
        return msgspec.json.decode(shape)
    except msgspec.MsgspecError:
        return json.loads(bytes(shape), parse_int=_whole)  # numbers of any length and size


def _whole(digits: str) -> float:
    """Integer, or infinity if Python refuses so many digits."""
    try:
        return int(digits)
    except ValueError:
        return float(digits)


def as_numbers(value: object) -> NDArray[np.float64] | None:
    """Convert to an array of numbers; None if it contains anything else, such as text or None."""
    try:
        array = np.asarray(value)
        if array.dtype == object:  # integers beyond 64 bits are numbers too
            numbers = all(isinstance(entry, (int, float)) and not isinstance(entry, bool) for entry in array.flat)
            return array.astype(np.float64) if numbers else None
        return array.astype(np.float64) if array.dtype.kind in "iuf" else None
    except (TypeError, ValueError, OverflowError):
        return None
