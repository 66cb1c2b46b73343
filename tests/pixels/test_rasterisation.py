"""Polygons and masks of a table as stacks, vs. a loop over pixel centres."""

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from kalos_core import Annotations
from kalos_core.errors import InputError
from kalos_core.pixels import mask_stacks
from kalos_core.shapes import Polygons
from kalos_core.shapes.raster import pixels_of, rasterise
from tests.strategies import FORMS, ring

SIZE = np.array([[9, 8]])
OFF_GRID = np.array([0.237, 0.391])


@given(
    st.lists(
        st.builds(ring, st.integers(0, len(FORMS) - 1), *(st.integers(-2, 6),) * 2, *(st.integers(1, 5),) * 2),
        min_size=1,
        max_size=3,
    )
)
def test_pixels_are_those_whose_centres_lie_inside(rings):
    # shifted off the grid of centres and edges, so that no centre is on a boundary
    polygons = Polygons.from_rings([[np.reshape(one, (-1, 2)) + OFF_GRID for one in rings]])
    found = pixels_of(rasterise(polygons, SIZE), 0)
    x, y = np.meshgrid(np.arange(9) + 0.5, np.arange(8) + 0.5)
    assert found.tolist() == shapely.contains_xy(polygons.geometries[0], x, y).tolist()


def test_a_polygon_that_catches_no_centre_is_an_empty_mask():
    masks = rasterise(Polygons.from_rings([[[0, 0, 0.4, 0, 0.4, 0.4]], []]), np.repeat(SIZE, 2, axis=0))
    assert masks.area().tolist() == [0, 0]


def test_stacks_of_masks_by_class_and_by_who_is_assigned():
    given = [
        *(("a", "ann", "cat", [[1, 0, 0]]), ("a", "ann", "cat", [[0, 1, 0]])),
        *(("a", "bob", "dog", [[0, 0, 1]]), ("b", "bob", "cat", [[1, 1, 1]])),
    ]
    table = Annotations.from_rows(
        [{"image": image, "rater": rater, "category": name, "mask": mask} for image, rater, name, mask in given],
        raters=["ann", "bob", "cid"],
        assigned={"a": ["ann", "bob"], "b": ["bob", "cid"]},
        assigned_categories={"ann": ["cat"]},
    )
    found = {stack.image: stack for stack in mask_stacks(table)}
    assert found["a"].raters.tolist() == ["ann", "bob"]
    assert found["a"].masks.astype(int).tolist() == [[[1, 1, 0]], [[0, 0, 1]]]
    assert found["b"].raters.tolist() == ["bob", "cid"]
    assert found["b"].masks.astype(int).tolist() == [[[1, 1, 1]], [[0, 0, 0]]]
    (dogs, _) = mask_stacks(table, "dog")
    assert dogs.raters.tolist() == ["bob"]  # ann is not assigned to dogs


@pytest.mark.parametrize(
    ("shapes", "size", "category", "message"),
    [
        ([{"polygon": [[0, 0, 1, 0, 1, 1]]}], None, None, "expected its width"),
        ([{"box": [0, 0, 1, 1]}], None, "dog", "category: expected one of 'c'"),
        ([{"box": [0, 0, 1, 1]}], {1: (2, 2)}, None, "expected a polygon or a mask of .*, got neither for ids 1"),
        (
            [{"mask": [[1]]}, {"mask": [[1, 1]]}],
            None,
            None,
            r"height \[2, 1\] of .* got \[1, 1\] of annotation 1",
        ),
    ],
)
def test_unusable_input_is_refused(shapes, size, category, message):
    rows = [{"image": 1, "rater": rater, "category": "c", **shape} for rater, shape in zip("ab", shapes, strict=False)]
    with pytest.raises(InputError, match=message):
        list(mask_stacks(Annotations.from_rows(rows, image_size=size), category))


def test_masks_and_polygons_and_annotations_that_overlap():
    cat = {"image": 1, "category": "cat"}
    rows = [
        {**cat, "rater": "ann", "polygon": [[0, 0, 2, 0, 2, 1, 0, 1]]},
        {**cat, "rater": "bob", "mask": [[0, 0, 1, 1], [0, 0, 0, 1]]},
        {**cat, "rater": "ann", "polygon": [[1, 0, 3, 0, 3, 1, 1, 1]]},
    ]
    (stack,) = mask_stacks(Annotations.from_rows(rows, raters_are_local=True))  # the mask gives the size of the image
    assert stack.raters_are_local
    assert stack.masks.astype(int).tolist() == [[[1, 1, 1, 0], [0, 0, 0, 0]], [[0, 0, 1, 1], [0, 0, 0, 1]]]
