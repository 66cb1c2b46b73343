"""Conversion of cuboids: location, dimensions and rotation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.shapes.faults import ShapeFaults, Surroundings, as_numbers
from kalos_core.errors import repr_of
from kalos_core.shapes import Cuboids
from kalos_core.shapes.boxes import LARGEST

FIELDS = ("location", "dimensions", "rotation")


def build_cuboids(
    given: list[Any],
    rows: NDArray[np.intp],
    surroundings: Surroundings,  # noqa: ARG001 - all builders have this signature
    faults: ShapeFaults,
) -> Cuboids:
    """Build cuboids of the given rows, mappings of `FIELDS` to three numbers, or nine numbers; other rows are NaN."""
    read = {int(row): _nine(given[row]) for row in rows}
    strange = [row for row, numbers in read.items() if numbers is None]
    faults.add_all(
        strange, "a cuboid of three numbers each for location, dimensions, rotation", lambda row: repr_of(given[row])
    )
    cuboids = np.full((len(given), 9), np.nan)
    for row, numbers in read.items():
        if numbers is not None:
            cuboids[row] = numbers
    sound = np.setdiff1d(rows, strange)
    finite = (np.abs(cuboids[sound]) <= LARGEST).all(axis=1)  # NaN fails the comparison
    faults.add_all(sound[~finite], f"a cuboid of finite numbers up to {LARGEST:.0e}", lambda row: repr_of(given[row]))
    flat = finite & (cuboids[sound, 3:6] <= 0).any(axis=1)
    faults.add_all(
        sound[flat], "a cuboid of positive dimensions", lambda row: f"dimensions {cuboids[row, 3:6].tolist()}"
    )
    return Cuboids.from_rows(cuboids)


def _nine(value: object) -> NDArray[np.float64] | None:
    """(9,) numbers of a mapping or a list; None if it is neither. A missing rotation is zero."""
    if isinstance(value, Mapping):
        parts = [as_numbers(value.get(name, (0, 0, 0) if name == "rotation" else None)) for name in FIELDS]
        return None if any(part is None or part.shape != (3,) for part in parts) else np.concatenate(parts)  # type: ignore[arg-type]
    numbers = as_numbers(value)
    return None if numbers is None or numbers.shape not in {(9,), (3, 3)} else numbers.reshape(9)
