"""Coordinates relative to the image, for each kind of shape, vs. plain arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from kalos_core import Annotations
from kalos_core.calibration.distances import Drawn, expected_distances
from kalos_core.calibration.relative import relative_column, resampled
from kalos_core.shapes import Masks
from kalos_core.shapes.raster import pixels_of
from kalos_core.similarity import get_similarity

SIZES = {1: (100, 50), 2: (40, 80)}


def table(shapes, sizes=SIZES):
    """Return one annotation per image, both by ann."""
    rows = [{"image": image, "rater": "ann", "category": "cat", **shape} for image, shape in shapes.items()]
    return Annotations.from_rows(rows, image_size=sizes)


def distances(annotations, name, coordinates="relative"):
    """Return the distance of each annotation to that of the other image."""
    other = Drawn(np.array([[1, 0]]), np.array([[0, 0]]))
    return expected_distances(annotations, get_similarity(name), other, coordinates).distance.tolist()


def test_boxes_by_hand():
    #  image 1: [20, 10, 30, 20] of 100 x 50 is [.2, .2, .3, .4]: area .12
    #  image 2: [8, 16, 20, 32] of 40 x 80 is  [.2, .2, .5, .4]: area .20; shared .12, union .20
    annotations = table({1: {"box": [20, 10, 30, 20]}, 2: {"box": [8, 16, 20, 32]}})
    np.testing.assert_allclose(distances(annotations, "box_iou"), [0.4, 0.4])
    # in pixels: shared 8 to 28 and 16 to 30 of x 20 to 28 = 8 by y 16 to 30 = 14: 112 of 600 + 640 - 112
    np.testing.assert_allclose(distances(annotations, "box_iou", "pixels"), [1 - 112 / 1128] * 2)


def test_polygons_are_scaled_with_what_they_enclose():
    #  a bow tie in image 1 is repaired to two triangles; each corner is divided by its image's size
    tie, square = [20, 10, 50, 30, 50, 10, 20, 30], [8, 16, 28, 16, 28, 48, 8, 48]
    annotations = table({1: {"polygon": [tie]}, 2: {"polygon": [square]}})
    column = annotations.shapes["polygon"]
    relative = relative_column(annotations, column)
    np.testing.assert_allclose(relative.area(), column.area() / [5000, 3200])
    np.testing.assert_allclose(relative.bounds(), [[0.2, 0.2, 0.5, 0.6], [0.2, 0.2, 0.7, 0.6]])
    # the triangles are half of the box: .06 of .12; shared with the square .06, union .20
    np.testing.assert_allclose(distances(annotations, "polygon_iou"), [1 - 0.06 / 0.20] * 2)
    assert shapely.is_valid(relative.geometries).all()
    assert column.area().tolist() == [300, 640]  # the table's own outlines are unchanged


def test_keypoints_of_oks_are_scaled_with_their_areas():
    sizes = {1: (100, 100), 2: (200, 200)}
    shapes = {n: {"box": [0, 0, 40 * n, 40 * n], "keypoints": [[10 * n, 20 * n], [30 * n, 5 * n]]} for n in (1, 2)}
    annotations = table(shapes, sizes)
    np.testing.assert_allclose(distances(annotations, "oks"), [0, 0], atol=1e-12)  # the same pose at twice the size
    assert min(distances(annotations, "oks", "pixels")) > 0.5


@pytest.mark.parametrize("name", ["pose", "centroid"])
def test_similarities_with_their_own_coordinates_are_not_converted(name):
    shapes = {n: {"keypoints": [[10 * n, 20 * n], [30, 5 * n]]} for n in (1, 2)}
    annotations = table(shapes)
    assert distances(annotations, name) == distances(annotations, name, "pixels")


@given(st.integers(1, 7), st.integers(1, 7), st.integers(1, 9), st.integers(1, 9), st.integers(0, 999))
def test_a_resampled_mask_is_the_pixel_in_the_middle_of_each_cell(width, height, columns, rows, seed):
    canvas = np.random.default_rng(seed).random((height, width)) < 0.5
    #  cell c of C has its middle at (c + .5) / C of the width: pixel floor of that times W, in whole numbers
    pixel = [
        ((2 * np.arange(cells) + 1) * pixels) // (2 * cells) for cells, pixels in ((rows, height), (columns, width))
    ]
    found = resampled(Masks.from_arrays([canvas]), columns, rows)
    np.testing.assert_array_equal(pixels_of(found, 0), canvas[np.ix_(*pixel)])
