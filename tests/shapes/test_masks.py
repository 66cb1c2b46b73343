import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from pycocotools import mask as coco_mask

from kalos_core.shapes import Masks

canvases = arrays.arrays(bool, st.tuples(st.integers(1, 7), st.integers(1, 7)))


def test_runs_go_down_the_columns_by_hand():
    #  . # #
    #  # # .   down: 01 11 10 -> one run of four from pixel 1
    masks = Masks.from_arrays([[[0, 1, 1], [1, 1, 0]]])
    assert (masks.size.tolist(), masks.first.tolist(), masks.length.tolist()) == ([[3, 2]], [1], [4])
    assert masks.area().tolist() == [4]
    empty = Masks.from_arrays([])
    assert (empty.bounds().shape, empty.area().shape, len(empty.union(np.zeros((0, 2), int)))) == ((0, 4), (0,), 0)
    assert [key.shape for key in empty.tie_keys(np.zeros(0, int))] == [(0,)] * 8
    assert masks.bounds().tolist() == masks.outline_bounds().tolist() == [[0, 0, 3, 2]]


@given(st.lists(canvases, min_size=1, max_size=5))
def test_area_bounds_and_run_lengths_are_those_of_pycocotools(drawn):
    masks = Masks.from_arrays(drawn)
    order = list(reversed(range(len(drawn))))
    taken = masks.take(np.array(order))
    assert [taken.rle(row) for row in range(len(drawn))] == [masks.rle(row) for row in order]
    np.testing.assert_array_equal(taken.bounds(), masks.bounds()[order])
    for row, canvas in enumerate(drawn):
        code = coco_mask.encode(np.asfortranarray(canvas.astype(np.uint8)))
        assert masks.rle(row) == {"size": list(canvas.shape), "counts": code["counts"].decode()}
        assert masks.area()[row] == coco_mask.area(code)
        if canvas.any():
            x, y, width, height = coco_mask.toBbox(code)
            assert masks.bounds()[row].tolist() == [x, y, x + width, y + height]
        else:
            assert np.isnan(masks.bounds()[row]).all()


@given(st.lists(canvases, min_size=2, max_size=6))
def test_union_covers_the_pixels_of_any_rater(drawn):
    high, wide = np.max([canvas.shape for canvas in drawn], axis=0)
    together = np.zeros((high, wide), bool)
    for canvas in drawn:
        together[: canvas.shape[0], : canvas.shape[1]] |= canvas
    joined = Masks.from_arrays(drawn).union(np.arange(len(drawn))[None])
    assert joined.rle(0) == Masks.from_arrays([together]).rle(0)


@given(canvases)
def test_strips_cover_the_pixels(canvas):
    _, column, top, bottom = Masks.from_arrays([canvas]).strips(np.array([0]))
    drawn = np.zeros_like(canvas)
    for x, low, high in zip(column, top, bottom, strict=True):
        assert not drawn[low:high, x].any()
        drawn[low:high, x] = True
    np.testing.assert_array_equal(drawn, canvas)


def test_a_mask_without_a_pixel_is_there_and_one_that_is_not_drawn_is_absent():
    counts = np.array([4, 1, 3])
    masks = Masks.from_counts(np.array([[2, 2], [0, 0], [2, 2]]), counts, np.array([0, 1, 1, 3]))
    assert masks.absent().tolist() == [False, True, False]
    assert masks.area().tolist() == [0, 0, 3]


def test_counts_may_hold_nothing_between_two_runs():
    masks = Masks.from_counts(np.array([[2, 2]]), np.array([0, 1, 0, 2, 1]), np.array([0, 5]))
    assert (masks.first.tolist(), masks.length.tolist()) == ([0], [3])


def test_tie_keys_tell_masks_apart_by_their_pixels_alone():
    rng = np.random.default_rng(0)
    drawn = rng.random((12, 2, 2)) < 0.5
    keys = np.stack(Masks.from_arrays(drawn).tie_keys(np.arange(12)), axis=1)
    for i in range(12):
        for j in range(12):
            assert (keys[i] == keys[j]).all() == (drawn[i] == drawn[j]).all()
