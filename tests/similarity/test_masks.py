"""`mask_iou`: by hand, pixel by pixel, and vs. pycocotools."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from pycocotools import mask as coco_mask

from kalos_core import Annotations, agreement
from kalos_core.shapes import Masks
from kalos_core.similarity import mask_iou
from tests.similarity.shapes_2d import every_pair


def test_by_hand():
    #  ##.   .##   ...   two of two pixels share one: 1 / 3; nothing is like nothing
    masks = Masks.from_arrays([[[1, 1, 0]], [[0, 1, 1]], [[0, 0, 0]], [[0, 0, 1]]])
    left, right = np.array([0, 0, 0, 2, 1]), np.array([0, 1, 3, 2, 3])
    assert mask_iou(masks, left, masks, right).tolist() == [1, 1 / 3, 0, 0, 1 / 2]


any_canvas = arrays.arrays(bool, st.tuples(st.integers(1, 6), st.integers(1, 6)))


@given(st.lists(any_canvas, min_size=1, max_size=5), st.lists(any_canvas, min_size=1, max_size=4))
def test_pixel_by_pixel_on_canvases_of_any_size(first, second):
    def pixels(canvas):
        return set(zip(*(place.tolist() for place in np.nonzero(canvas)), strict=True))

    left, right = every_pair(len(first), len(second))
    expected = []
    for i, j in zip(left, right, strict=True):
        a, b = pixels(first[i]), pixels(second[j])
        expected.append(len(a & b) / len(a | b) if a and b else 0)
    columns = Masks.from_arrays(first), Masks.from_arrays(second)
    assert mask_iou(columns[0], left, columns[1], right).tolist() == expected


def test_equal_to_pycocotools(monkeypatch):
    rng = np.random.default_rng(0)
    drawn = rng.random((40, 30, 20)) < rng.choice([0.1, 0.5, 0.9, 1.0], (40, 1, 1))
    codes = [coco_mask.encode(np.asfortranarray(canvas.astype(np.uint8))) for canvas in drawn]
    expected = coco_mask.iou(codes, codes, [0] * 40).ravel()
    masks = Masks.from_arrays(drawn)
    left, right = every_pair(40, 40)
    assert mask_iou(masks, left, masks, right).tolist() == expected.tolist()
    monkeypatch.setattr("kalos_core.similarity.masks.RUNS_AT_ONCE", 50)
    assert mask_iou(masks, left, masks, right).tolist() == expected.tolist()


def test_agreement_of_masks_end_to_end_by_hand():
    # One unit of both (IoU 3/4, one class) and one of ann alone. Values: cat cat, dog nothing.
    # n_cat = 2, n_dog = 1, n_none = 1, n = 4; observed 2 of 4 values agree; expected (2*1) / (4*3) = 1/6:
    # alpha = 1 - (1 - 1/2) / (1 - 1/6) = 0.4
    full, most, other = [[1, 1, 0], [1, 1, 0]], [[1, 1, 0], [1, 0, 0]], [[0, 0, 1], [0, 0, 1]]
    marks = [("ann", "cat", full), ("bob", "cat", most), ("ann", "dog", other)]
    rows = [{"image": 1, "rater": rater, "category": name, "mask": mask} for rater, name, mask in marks]
    result = agreement(Annotations.from_rows(rows), "mask_iou", bootstrap=0)
    assert result.unit_of.tolist() == [0, 0, 1]
    assert result.alpha == pytest.approx(0.4)
