import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalos_core.shapes import Boxes
from kalos_core.shapes.boxes import LARGEST, find_box_problems

numbers = st.floats(-1000, 1000, allow_subnormal=False)
sides = st.floats(0.001, 1000)
boxes = st.lists(st.tuples(numbers, numbers, sides, sides), max_size=6)


def test_corners_area_and_bounds_of_a_box_by_hand():
    #     10        40
    # 20  +---------+
    #     |  30x40  |
    # 60  +---------+
    column = Boxes.from_xywh([[10, 20, 30, 40]])
    assert column.corners.tolist() == [[10, 20, 40, 60]]
    assert column.bounds().tolist() == [[10, 20, 40, 60]]
    assert column.area().tolist() == [1200]
    empty = Boxes.from_xywh([])
    shapes = (empty.bounds().shape, empty.area().shape, empty.union(np.zeros((0, 2), int)).corners.shape)
    assert shapes == ((0, 4), (0,), (0, 4))


@given(boxes)
def test_xywh_goes_in_and_comes_out(rows):
    column = Boxes.from_xywh(rows)
    assert len(column) == len(rows)
    np.testing.assert_allclose(column.xywh(), np.reshape(rows, (-1, 4)), rtol=1e-9, atol=1e-9)


def test_union_is_the_enclosing_box():
    # +-+          +--------+
    # +-+          |        |
    #       +-+ -> |        |
    #       +-+    +--------+
    column = Boxes.from_xywh([[0, 0, 2, 2], [6, 4, 2, 2], [1, 1, 1, 9]])
    assert column.union(np.array([[0, 1], [2, 2]])).corners.tolist() == [[0, 0, 8, 6], [1, 1, 2, 10]]
    assert column.union(np.array([[0, 1, 2]])).corners.tolist() == [[0, 0, 8, 10]]
    assert column.take(np.array([1, 0, 1])).corners.tolist() == [[6, 4, 8, 6], [0, 0, 2, 2], [6, 4, 8, 6]]
    keys = column.tie_keys(np.array([1, 2, 0]))  # in the order of corners
    assert np.lexsort(keys[::-1]).tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("box", "expected"),
    [
        ([0, 0, 0, 5], "positive"),
        ([0, 0, 5, -1], "positive"),
        ([1e9, 0, 1e-9, 5], "positive"),  # lost in rounding: 1e9 + 1e-9 is 1e9
        ([np.nan, 0, 1, 1], "finite"),
        ([0, 0, np.inf, 1], "finite"),
        ([0, 0, 2 * LARGEST, 1], "finite"),
        ([0, 9e307, 1, 9e307], "finite"),  # the far corner overflows
    ],
)
def test_invalid_boxes_are_found_once(box, expected):
    found = [(rows.tolist(), text) for rows, text in find_box_problems(np.array([[0, 0, 1, 1], box]))]
    assert [rows for rows, text in found if expected in text] == [[1]]
    assert [rows for rows, text in found if expected not in text] == [[]]
