"""Conversion of polygons: lists of rings."""

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
    surroundings: Surroundings,  # noqa: ARG001 - all builders have this signature
    faults: ShapeFaults,
) -> Polygons:
    """Build polygons of the given rows, lists of rings x1, y1, x2, y2, ... or of lists of (x, y); other rows have none.

    Such a list may be raw JSON (`msgspec.Raw`).
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
    if not (points.min(initial=0) >= -LARGEST and points.max(initial=0) <= LARGEST):  # NaN fails the comparison
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
    """Parse raw JSON polygons of short decimals; return them and the rows with anything else."""
    read = read_lists([given[row] for row in rows.tolist()], depth=2)
    parts = np.zeros(len(given), np.intp)
    parts[rows] = read.lists
    polygons, unclear = _sound(read.numbers, read.length, parts)
    return polygons, np.union1d(rows[~read.clear], unclear)


def _flatten(given: list[Any], rows: NDArray[np.intp]) -> tuple[Polygons, NDArray[np.intp]]:
    """Parse rings x1, y1, x2, y2, ... into one array; return the polygons and the rows with anything else."""
    flat, lengths = array("d"), array("q")
    put, decode = flat.fromlist, RINGS.decode
    parts = [0] * len(given)
    unclear = []
    for row in rows.tolist():
        shape, numbers, rings = given[row], len(flat), len(lengths)
        try:  # one by one, so that few numbers are Python objects at a time
            if type(shape) is msgspec.Raw:
                shape = decode(shape)
            for ring in shape if type(shape) is list else [shape]:  # iterators are left unconsumed
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
    """Parse the polygons of rows one by one, in any form; no rows remain."""
    rings: list[list[NDArray[np.float64]]] = [[]] * len(given)
    for row in rows.tolist():
        rings[row] = _read_rings(row, decoded(given[row]), faults)
    return Polygons.from_rings(rings), rows[:0]


def _sound(
    numbers: NDArray[np.float64], length: NDArray[np.intp], parts: NDArray[np.intp]
) -> tuple[Polygons, NDArray[np.intp]]:
    """Build polygons from concatenated rings, `parts` per row; return them and the rows with unclear rings."""
    unclear = _unclear(numbers, length)
    rows = np.unique(np.repeat(np.arange(len(parts)), parts)[unclear])
    if len(rows):
        kept = ~np.isin(np.repeat(np.arange(len(parts)), parts), rows)
        numbers, length = numbers[np.repeat(kept, length)], length[kept]
        parts[rows] = 0
    return Polygons(numbers.reshape(-1, 2), run_starts(length // 2), run_starts(parts)), rows


def _unclear(numbers: NDArray[np.float64], length: NDArray[np.intp]) -> NDArray[np.bool_]:
    """(G,) whether a ring has odd length, fewer than three corners, or only values 0 and 1.

    Booleans are numbers in an array of numbers, so rings of 0 and 1 need another check.
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
    """Read the rings of one annotation, each (V, 2), in any form; empty if they are faulty."""
    parts = [_ring(ring) for ring in shape] if isinstance(shape, Iterable) else [None]
    read = [ring for ring in parts if ring is not None]
    shortest = min((_corner_count(ring) for ring in read if len(ring) < 4), default=3)  # others have at least 3
    if len(read) < len(parts):
        faults.add(row, "rings of numbers x1, y1, x2, y2, ...", repr_of(shape))
    elif shortest < 3:
        faults.add(row, "rings of at least 3 points", f"a ring of {shortest}")
    else:
        return read
    return []


def _ring(value: object) -> NDArray[np.float64] | None:
    """(V, 2) vertices from x1, y1, x2, y2, ... or a list of (x, y); None if it is neither."""
    numbers = as_numbers(value)
    if numbers is None or not ((numbers.ndim == 1 and len(numbers) % 2 == 0) or numbers.shape[1:] == (2,)):
        return None
    return numbers.reshape(-1, 2)


def _corner_count(ring: NDArray[np.float64]) -> int:
    """Count the corners of a ring, not counting a repeated first point that closes it."""
    return len(ring) - int(len(ring) > 1 and bool((ring[0] == ring[-1]).all()))
