"""Regions in dispute: by hand, vs. scikit-image, and by testing every square that fits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from skimage.measure import label, regionprops

from kalos_core import LabelStack, MaskStack
from kalos_core.pixels import disputed_regions, regions_in_dispute
from kalos_core.reliability import NO_OBJECT, NOT_ASSIGNED

masks = arrays.arrays(bool, st.tuples(st.integers(2, 4), st.integers(1, 9), st.integers(1, 9)))


def rows(*text):
    """Return pixels from a drawing: a dot is background."""
    return [[int(pixel) if pixel != "." else 0 for pixel in line] for line in text]


def test_regions_by_hand():
    """An object that cid missed, with a corner that only ann has, and a thin rim next to an object of all.

    Ann and bob gave the 3 x 3 pixels of the first (bob without the corner); of the second, ann has one column more.
    """
    ann = rows("111.....", "111.2222", "111.2222")
    bob = rows("11......", "111..222", "111..222")
    cid = rows("........", ".....222", ".....222")
    given = {"ann": ann, "bob": bob, "cid": cid}
    found = disputed_regions([LabelStack.of(given, image="a.png")], {1: "cat", 2: "dog"}, min_area=1, min_width=1)
    assert found.area.tolist() == [9, 2]
    assert found.box.tolist() == [[0, 0, 3, 3], [4, 1, 1, 2]]
    assert found.values.tolist() == [[0, 0, NO_OBJECT], [1, NO_OBJECT, NO_OBJECT]]
    np.testing.assert_allclose(found.share, [[1, 8 / 9, 1], [1, 1, 1]])
    assert found.to_pandas().values[1].tolist() == ["a.png", 2, 4, 1, 1, 2, "dog", "nothing", "nothing"]
    assert found.headline == "2 regions in dispute on 1 of 1 image; the largest has 9 pixels"
    wide = disputed_regions([LabelStack.of(given)], {1: "cat", 2: "dog"}, min_area=1, min_width=2)
    assert wide.area.tolist() == [9]  # no square of two pixels fits into the rim
    assert not len(disputed_regions([LabelStack.of(given)], {1: "cat", 2: "dog"}, min_area=10, min_width=1))


@pytest.mark.parametrize(
    ("masks", "given", "has_sides"),
    [
        # one class for another is one region
        ({"cat": {"ann": [[1, 1]], "bob": [[0, 0]]}, "dog": {"ann": [[0, 0]], "bob": [[1, 1]]}}, ["cat", "dog"], True),
        # a rater who was not assigned to a class is on no side
        ({"cat": {"ann": [[1]], "bob": [[0]]}, "dog": {"ann": [[0]], "bob": [[0]], "cid": [[0]]}}, ["cat", None], True),
        # raters who each have a part are on one side; half of a region is sufficient
        ({"cat": {"ann": [[1, 0, 0]], "bob": [[0, 1, 0]], "cid": [[0, 0, 1]]}}, [None, None, None], False),
        ({"cat": {"ann": [[1, 0]], "bob": [[0, 1]], "cid": [[0, 0]]}}, ["cat", "cat", None], True),
    ],
)
def test_answers_of_each_rater(masks, given, has_sides):
    (region,) = regions_in_dispute({name: MaskStack.of(of_class) for name, of_class in masks.items()}, 1, 1)
    assert list(region.given.values()) == given
    assert region.has_sides == has_sides


def test_ignored_pixels_are_in_no_dispute():
    stack = MaskStack.of({"ann": [[1, 1, 1]], "bob": [[0, 0, 0]]}, ignore=[[0, 1, 0]])
    assert [region.area for region in regions_in_dispute({"cat": stack}, 1, 1)] == [1, 1]


def test_raters_of_other_images_were_not_assigned():
    found = disputed_regions([{"ann": [[1]], "bob": [[0]]}, {"cid": [[0]], "ann": [[1]]}, {"ann": [[1]]}], None, 1, 1)
    assert found.values.tolist() == [[0, NO_OBJECT, NOT_ASSIGNED], [0, NOT_ASSIGNED, NO_OBJECT]]
    assert np.isnan(found.share).tolist() == [[False, False, True], [False, True, False]]
    assert found.image.tolist() == [0, 1]
    assert len(found.images) == 2


@given(masks)
def test_regions_are_those_of_scikit_image(drawn):
    found = regions_in_dispute({"cat": MaskStack.of(drawn)}, 1, 1)
    expected = regionprops(label(drawn.any(axis=0) & ~drawn.all(axis=0), connectivity=2))
    boxes = [(x, y, across, down) for x, y, across, down in (each.box for each in found)]
    ends = [(y, x, y + down, x + across) for x, y, across, down in boxes]
    areas = [each.area for each in found]
    assert sorted((each.area, each.bbox) for each in expected) == sorted(zip(areas, ends, strict=True))
    assert areas == sorted(areas, reverse=True)


@given(masks, st.integers(1, 4))
def test_pixels_that_squares_cover_count(drawn, width):
    disputed = drawn.any(axis=0) & ~drawn.all(axis=0)
    covered = np.zeros_like(disputed)
    for top in range(disputed.shape[0] - width + 1):
        for left in range(disputed.shape[1] - width + 1):
            square = slice(top, top + width), slice(left, left + width)
            covered[square] |= disputed[square].all()
    pixels = np.zeros_like(disputed)
    for region in regions_in_dispute({"cat": MaskStack.of(drawn)}, 1, width):
        x, y, across, down = region.box
        pixels[y : y + down, x : x + across] |= region.mask
    np.testing.assert_array_equal(pixels, covered)
