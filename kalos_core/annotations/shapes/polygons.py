"""Polygons as sources hold them: lists of rings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.shapes.faults import ShapeFaults, Surroundings, as_numbers
from kalos_core.shapes import Polygons
from kalos_core.shapes.boxes import LARGEST


def build_polygons(
    given: list[Any],
    rows: NDArray[np.intp],
    surroundings: Surroundings,  # noqa: ARG001 - every builder is given them
    faults: ShapeFaults,
) -> Polygons:
    """Polygons of the given rows, each a list of rings x1, y1, x2, y2, ... or of lists of (x, y); none elsewhere."""
    rings: list[list[NDArray[np.float64]]] = [[] for _ in given]
    for row in rows:
        parts = [_ring(ring) for ring in given[row]] if isinstance(given[row], Iterable) else [None]
        read = [ring for ring in parts if ring is not None]
        shortest = min((_corner_count(ring) for ring in read if len(ring) < 4), default=3)  # longer ones have 3 anyway
        if len(read) < len(parts):
            faults.add(row, "rings of numbers x1, y1, x2, y2, ...", repr(given[row]))
        elif shortest < 3:
            faults.add(row, "rings of at least 3 points", f"a ring of {shortest}")
        else:
            rings[row] = read
    polygons = Polygons.from_rings(rings)
    wrong = ~(np.abs(polygons.points) <= LARGEST).all(axis=1)  # NaN is not
    if wrong.any():
        row_of_point = np.repeat(np.arange(len(rings)), [sum(map(len, parts)) for parts in rings])
        faults.add_all(
            np.unique(row_of_point[wrong]),
            f"finite coordinates up to {LARGEST:.0e}",
            lambda row: repr(given[row]),
        )
    return polygons


def _ring(value: object) -> NDArray[np.float64] | None:
    """(V, 2) vertices of x1, y1, x2, y2, ... or of a list of (x, y); None if it is neither."""
    numbers = as_numbers(value)
    if numbers is None or not ((numbers.ndim == 1 and len(numbers) % 2 == 0) or numbers.shape[1:] == (2,)):
        return None
    return numbers.reshape(-1, 2)


def _corner_count(ring: NDArray[np.float64]) -> int:
    """Points of a ring, the first not counted again where the ring is closed by repeating it."""
    return len(ring) - int(len(ring) > 1 and bool((ring[0] == ring[-1]).all()))
