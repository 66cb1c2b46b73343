"""Boxes as sources hold them: x, y, width, height."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.shapes.faults import ShapeFaults, as_numbers
from kalos_core.shapes import Boxes
from kalos_core.shapes.boxes import find_box_problems


def build_boxes(given: list[Any], rows: NDArray[np.intp], faults: ShapeFaults) -> Boxes:
    """Boxes of the given rows; NaN, which is no box, elsewhere."""
    boxes = np.ones((len(given), 4))
    together = as_numbers([given[row] for row in rows])
    if together is not None and together.shape == (len(rows), 4):
        boxes[rows] = together
    else:  # one by one, to name those that are wrong
        for row in rows:
            box = as_numbers(given[row])
            if box is None or box.shape != (4,):
                faults.add(row, "a box of four numbers x, y, width, height", repr(given[row]))
            else:
                boxes[row] = box
    for wrong, expected in list(find_box_problems(boxes)):
        faults.add_all(wrong, expected, lambda row: repr(given[row]))
        boxes[wrong] = np.nan  # infinities of both signs have no sum
    absent = np.ones(len(given), np.bool_)
    absent[rows] = False
    boxes[absent] = np.nan
    return Boxes.from_xywh(boxes)
