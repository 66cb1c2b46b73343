"""Reader of MATLAB files of level 5, for the types in data sets of labels: cells, structures and real arrays.

SciPy's reader is not used, as it crashes the process if a damaged file has a wrong number of cells or bytes.

References
----------
MathWorks, "MAT-File Level 5 File Format".
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.limits import check_unpacked, most_unpacked

HEADER = 128
"""Number of bytes before the first element; the last two indicate the byte order."""

MATRIX, COMPRESSED = 14, 15
CELL, STRUCTURE = 1, 2
NUMBERS = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
"""Class of an array -> data type of its values."""

STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
"""Type of an element -> data type in which its values are stored, which may be smaller than that of the array."""

DEEPEST = 10
"""Maximum depth of nested cells and structures."""


def read_variable(data: bytes, name: str, where: str) -> Any:
    """Return one variable of a MATLAB file; None if it does not exist or its type is not supported.

    A real array is returned as an array of its shape, a cell array as the list of its entries, and a structure as the
    list of its elements, each a dictionary of fields. Both lists are in MATLAB's order, with the first index fastest.

    Raises
    ------
    InputError
        If it unpacks to more than `KALOS_MOST_UNPACKED`; `where` names the file in the message.
    ValueError
        If the file is not of level 5, or damaged.
    """
    order = {b"IM": "<", b"MI": ">"}.get(data[126:HEADER])
    if order is None or data.startswith(b"MATLAB 7.3"):
        raise ValueError("a file that is not MATLAB level 5 (versions 5 to 7.2)")
    for kind, content in _elements(memoryview(data)[HEADER:], order):
        if kind == COMPRESSED:
            kind, content = next(_elements(_unpacked(content, where), order), (0, content))
        if kind == MATRIX:
            called, value = _variable(content, order, name, 0)
            if called == name:
                return value
    return None


def _unpacked(content: memoryview, where: str) -> memoryview:
    unpacking = zlib.decompressobj()
    data = unpacking.decompress(content, most_unpacked(len(content)) + 1)
    check_unpacked(len(data), len(content), where)
    if not unpacking.eof:
        raise ValueError("a packed element that ends too soon")
    return memoryview(data)


def _elements(content: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Yield type and bytes of each element."""
    at = 0
    while at < len(content):
        if len(content) - at < 8:
            raise ValueError("a file that ends within an element")
        kind, size = struct.unpack_from(f"{order}II", content, at)
        short = kind >> 16  # number of bytes, up to four, stored in place of the size
        start, end = (at + 4, at + 4 + short) if short else (at + 8, at + 8 + size)
        if short > 4 or end > len(content):
            raise ValueError("an element that is longer than its container")
        yield kind & 0xFFFF, content[start:end]
        at = end if kind == COMPRESSED else at + -(-(end - at) // 8) * 8


def _variable(content: memoryview, order: str, wanted: str | None, depth: int) -> tuple[str, Any]:
    """Return name and value of an array; the value is None if another array is wanted."""
    if depth > DEEPEST:
        raise ValueError(f"more than {DEEPEST} levels of cells and structures")
    if not len(content):  # an empty entry
        return "", np.empty((0, 0))
    parts = _elements(content, order)
    flags, shape, called = (_numbers(next(parts, (0, b"")), order) for _ in range(3))
    if not len(flags) or len(shape) < 2 or shape.min() < 0:
        raise ValueError("an array without class or shape")
    name, kind = called.astype(np.uint8).tobytes().decode("latin-1"), int(flags[0]) & 0xFF
    if wanted not in (None, name):
        return name, None
    size = math.prod(shape.tolist())
    if kind in NUMBERS:
        return name, _array(next(parts, (0, b"")), order, kind, shape.tolist(), size)
    if kind == CELL:
        return name, [_entry(parts, order, depth) for _ in range(size)]
    if kind == STRUCTURE:
        fields = _fields(parts, order)
        return name, [{field: _entry(parts, order, depth) for field in fields} for _ in range(size if fields else 0)]
    return name, None


def _entry(parts: Iterator[tuple[int, memoryview]], order: str, depth: int) -> Any:
    kind, content = next(parts, (0, memoryview(b"")))
    if kind != MATRIX:
        raise ValueError("fewer cells or fields than declared")
    return _variable(content, order, None, depth + 1)[1]


def _fields(parts: Iterator[tuple[int, memoryview]], order: str) -> list[str]:
    """Return the names of a structure's fields, stored with a fixed width."""
    width, names = _numbers(next(parts, (0, b"")), order), next(parts, (0, b""))[1]
    if len(width) != 1 or width[0] < 1:
        raise ValueError("a structure without the length of its fields' names")
    step = int(width[0])
    return [
        bytes(names[at : at + step]).split(b"\0")[0].decode("latin-1")
        for at in range(0, len(names) // step * step, step)
    ]


def _numbers(element: tuple[int, memoryview | bytes], order: str, kinds: str = "iu") -> NDArray[Any]:
    kind, content = element
    stored = np.dtype(order + STORED.get(kind, "V0"))
    if stored.kind not in kinds or len(content) % stored.itemsize:
        raise ValueError("an element of another type or length")
    return np.frombuffer(content, stored)


def _array(element: tuple[int, memoryview | bytes], order: str, kind: int, shape: list[int], size: int) -> NDArray[Any]:
    held = np.dtype(NUMBERS[kind])
    values = _numbers(element, order, "iuf" if held.kind == "f" else "iu")
    if len(values) != size:
        raise ValueError(f"an array of {size:,} values with {len(values):,} stored")
    return values.astype(held).reshape(shape, order="F")
