"""Conversion of boxes: x, y, width, height."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.shapes.decimals import read_lists
from kalos_core.annotations.shapes.faults import ShapeFaults, as_numbers, decoded
from kalos_core.errors import repr_of
from kalos_core.shapes import Boxes
from kalos_core.shapes.boxes import find_box_problems


def build_boxes(given: list[Any], rows: NDArray[np.intp], faults: ShapeFaults) -> Boxes:
    """Build boxes of the given rows, which may be raw JSON (`msgspec.Raw`); other rows are NaN (no box)."""
    boxes = np.ones((len(given), 4))
    numbers, length, _, clear = read_lists([given[row] for row in rows.tolist()], depth=1)
    clear[clear] = length == 4
    boxes[rows[clear]] = numbers[np.repeat(length == 4, length)].reshape(-1, 4)
    others = rows[~clear].tolist()
    shapes = [decoded(given[row]) for row in others]
    together = as_numbers(shapes)
    if together is not None and together.shape == (len(others), 4):
        boxes[others] = together
    else:  # one by one, to name the faulty ones
        for row, shape in zip(others, shapes, strict=True):
            box = as_numbers(shape)
            if box is None or box.shape != (4,):
                faults.add(row, "a box of four numbers x, y, width, height", repr_of(shape))
            else:
                boxes[row] = box
    for wrong, expected in list(find_box_problems(boxes)):
        faults.add_all(wrong, expected, lambda row: repr_of(decoded(given[row])))
        boxes[wrong] = np.nan  # infinities of opposite signs have no sum
    absent = np.ones(len(given), np.bool_)
    absent[rows] = False
    boxes[absent] = np.nan
    return Boxes.from_xywh(boxes)
