"""Polygons as sources hold them: lists of rings."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from functools import partial
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.shapes.decimals import read_lists
from kalos_core.annotations.shapes.faults import ShapeFaults, Surroundings, as_numbers, decoded
from kalos_core.arrays import expand_runs, run_starts
from kalos_core.errors import repr_of
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
    polygons, unclear = _short(given, rows)
    for read in (_flatten, partial(_one_by_one, faults=faults)):
        if len(unclear):
            more, left = read(given, unclear)
            order = np.arange(len(given))
            order[unclear] += len(given)
            polygons = _after(polygons, more).take(order) if len(unclear) < len(rows) else more
            unclear = left
    points = polygons.points
    if not (points.min(initial=0) >= -LARGEST and points.max(initial=0) <= LARGEST):  # NaN is not
        wrong = ~(np.abs(points) <= LARGEST).all(axis=1)
        row_of_point = np.repeat(np.arange(len(given)), np.diff(polygons.ring_start[polygons.part_start]))
        faults.add_all(
            np.unique(row_of_point[wrong]),
            f"finite coordinates up to {LARGEST:.0e}",
            lambda row: repr_of(decoded(given[row])),
        )
    return polygons


def _after(first: Polygons, second: Polygons) -> Polygons:
    return Polygons(
        np.concatenate([first.points, second.points]),
        np.append(first.ring_start, second.ring_start[1:] + first.ring_start[-1]),
        np.append(first.part_start, second.part_start[1:] + first.part_start[-1]),
    )


def _short(given: list[Any], rows: NDArray[np.intp]) -> tuple[Polygons, NDArray[np.intp]]:
    """The polygons that are JSON still, of short decimals, and the rows that hold anything else."""
    read = read_lists([given[row] for row in rows.tolist()], depth=2)
    parts = np.zeros(len(given), np.intp)
    parts[rows] = read.lists
    polygons, unclear = _sound(read.numbers, read.length, parts)
    return polygons, np.union1d(rows[~read.clear], unclear)


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
    taken = np.frombuffer(flat, np.float64) if flat else np.zeros(0)
    polygons, odd = _sound(taken, np.array(lengths, np.intp), np.array(parts, np.intp))
    return polygons, np.union1d(np.array(unclear, np.intp), odd)


def _one_by_one(given: list[Any], rows: NDArray[np.intp], faults: ShapeFaults) -> tuple[Polygons, NDArray[np.intp]]:
    """The polygons of rows that may hold anything; none is left."""
    rings: list[list[NDArray[np.float64]]] = [[]] * len(given)
    for row in rows.tolist():
        rings[row] = _read_rings(row, decoded(given[row]), faults)
    return Polygons.from_rings(rings), rows[:0]


def _sound(
    numbers: NDArray[np.float64], length: NDArray[np.intp], parts: NDArray[np.intp]
) -> tuple[Polygons, NDArray[np.intp]]:
    """The polygons of rings back to back, so many for each row, and the rows of unclear ones, which have none there."""
    unclear = _unclear(numbers, length)
    rows = np.unique(np.repeat(np.arange(len(parts)), parts)[unclear])
    if len(rows):
        kept = ~np.isin(np.repeat(np.arange(len(parts)), parts), rows)
        numbers, length = numbers[np.repeat(kept, length)], length[kept]
        parts[rows] = 0
    return Polygons(numbers.reshape(-1, 2), run_starts(length // 2), run_starts(parts)), rows


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
    some = some[np.isin(numbers[start[some]], (0, 1))]
    ring, at = expand_runs(start[some], length[some])
    unclear[some] |= np.bincount(ring, (numbers[at] != 0) & (numbers[at] != 1), len(some)) == 0
    return unclear


def _read_rings(row: int, shape: Any, faults: ShapeFaults) -> list[NDArray[np.float64]]:
    """The rings of one annotation, each (V, 2), in whatever form they are; none if they are faulty."""
    parts = [_ring(ring) for ring in shape] if isinstance(shape, Iterable) else [None]
    read = [ring for ring in parts if ring is not None]
    shortest = min((_corner_count(ring) for ring in read if len(ring) < 4), default=3)  # longer ones have 3 anyway
    if len(read) < len(parts):
        faults.add(row, "rings of numbers x1, y1, x2, y2, ...", repr_of(shape))
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
