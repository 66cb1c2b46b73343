"""Polygons as sources hold them: lists of rings."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.shapes.faults import ShapeFaults, Surroundings, as_numbers
from kalos_core.arrays import run_starts
from kalos_core.shapes import Polygons
from kalos_core.shapes.boxes import LARGEST

RINGS = msgspec.json.Decoder(list[list[float]])


def build_polygons(
    given: list[Any],
    rows: NDArray[np.intp],
    surroundings: Surroundings,  # noqa: ARG001 - every builder is given them
    faults: ShapeFaults,
) -> Polygons:
    """Polygons of the given rows, each a list of rings x1, y1, x2, y2, ... or of lists of (x, y); none elsewhere.

    Such a list may still be JSON, as `msgspec.Raw`.
    """
    polygons, unclear = _flatten(given, rows)
    if len(unclear):
        read = Polygons.from_rings([_read_rings(row, _decoded(given[row]), faults) for row in unclear.tolist()])
        order = np.arange(len(given))
        order[unclear] = len(given) + np.arange(len(unclear))
        polygons = _after(polygons, read).take(order)
    if not (np.abs(polygons.points) <= LARGEST).all():  # NaN is not
        wrong = ~(np.abs(polygons.points) <= LARGEST).all(axis=1)
        row_of_point = np.repeat(np.arange(len(given)), np.diff(polygons.ring_start[polygons.part_start]))
        faults.add_all(
            np.unique(row_of_point[wrong]),
            f"finite coordinates up to {LARGEST:.0e}",
            lambda row: repr(_decoded(given[row])),
        )
    return polygons


def _decoded(shape: Any) -> Any:
    return json.loads(bytes(shape)) if isinstance(shape, msgspec.Raw) else shape


def _after(first: Polygons, second: Polygons) -> Polygons:
    return Polygons(
        np.concatenate([first.points, second.points]),
        np.append(first.ring_start, second.ring_start[1:] + first.ring_start[-1]),
        np.append(first.part_start, second.part_start[1:] + first.part_start[-1]),
    )


def _flatten(given: list[Any], rows: NDArray[np.intp]) -> tuple[Polygons, NDArray[np.intp]]:
    """All rings x1, y1, x2, y2, ... back to back, and the rows that hold anything else, which have none there."""
    flat, lengths = array("d"), array("q")
    put, decode = flat.fromlist, RINGS.decode
    parts = [0] * len(given)
    unclear = []
    for row in rows.tolist():
        shape, numbers, rings = given[row], len(flat), len(lengths)
        try:  # one after the other, so that few numbers are objects at a time
            if type(shape) is msgspec.Raw:
                shape = decode(shape)
            for ring in shape if type(shape) is list else [shape]:  # what can be gone through once is left alone
                put(ring)
                lengths.append(len(ring))
        except (TypeError, OverflowError, msgspec.ValidationError):
            unclear.append(row)
            del flat[numbers:], lengths[rings:]
        else:
            parts[row] = len(lengths) - rings
    points = np.frombuffer(flat, np.float64) if flat else np.zeros(0)
    length = np.array(lengths, dtype=np.intp)
    odd = _unclear(points, length)
    if odd.any():
        owner = np.repeat(np.arange(len(given)), parts)
        unclear = sorted({*unclear, *owner[odd].tolist()})
        kept = ~np.isin(owner, unclear)
        points, length = points[np.repeat(kept, length)], length[kept]
        for row in unclear:
            parts[row] = 0
    return Polygons(points.reshape(-1, 2), run_starts(length // 2), run_starts(parts)), np.array(unclear, np.intp)


def _unclear(numbers: NDArray[np.float64], length: NDArray[np.intp]) -> NDArray[np.bool_]:
    """(G,) True for rings that are odd, have fewer than three corners, or hold nothing but 0 and 1.

    For an array of numbers truth values are numbers too.
    """
    unclear = np.asarray((length % 2 != 0) | (length < 6))
    start = run_starts(length)[:-1]
    triangles = np.flatnonzero(length == 6)
    first = start[triangles]
    unclear[triangles] = (numbers[first] == numbers[first + 4]) & (numbers[first + 1] == numbers[first + 5])
    some = np.flatnonzero(length)
    if len(some):
        unclear[some] |= np.logical_and.reduceat((numbers == 0) | (numbers == 1), start[some])
    return unclear


def _read_rings(row: int, shape: Any, faults: ShapeFaults) -> list[NDArray[np.float64]]:
    """The rings of one annotation, each (V, 2), in whatever form they are; none if they are faulty."""
    parts = [_ring(ring) for ring in shape] if isinstance(shape, Iterable) else [None]
    read = [ring for ring in parts if ring is not None]
    shortest = min((_corner_count(ring) for ring in read if len(ring) < 4), default=3)  # longer ones have 3 anyway
    if len(read) < len(parts):
        faults.add(row, "rings of numbers x1, y1, x2, y2, ...", repr(shape))
    elif shortest < 3:
        faults.add(row, "rings of at least 3 points", f"a ring of {shortest}")
    else:
        return read
    return []


def _ring(value: object) -> NDArray[np.float64] | None:
    """(V, 2) vertices of x1, y1, x2, y2, ... or of a list of (x, y); None if it is neither."""
    numbers = as_numbers(value)
    if numbers is None or not ((numbers.ndim == 1 and len(numbers) % 2 == 0) or numbers.shape[1:] == (2,)):
        return None
    return numbers.reshape(-1, 2)


def _corner_count(ring: NDArray[np.float64]) -> int:
    """Points of a ring, the first not counted again where the ring is closed by repeating it."""
    return len(ring) - int(len(ring) > 1 and bool((ring[0] == ring[-1]).all()))
