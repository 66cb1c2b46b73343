"""Cuboids: FiftyOne's convention, and formats of sources."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kalos_core import Annotations, InputError
from kalos_core.shapes import Cuboids
from tests.similarity.shapes_3d import random_cuboids


def test_axes_turn_about_z_then_y_then_x():
    column = random_cuboids(np.random.default_rng(0), 60)
    np.testing.assert_allclose(column.axes, Rotation.from_euler("XYZ", column.rotation).as_matrix(), atol=1e-12)


def test_by_hand():
    # a plank of 4 x 2 x 1 along x; rotated by 90 degrees about z, it is along y
    column = Cuboids.from_rows([[10, 20, 30, 4, 2, 1, 0, 0, 0], [10, 20, 30, 4, 2, 1, 0, 0, np.pi / 2]])
    assert column.volume().tolist() == column.area().tolist() == [8, 8]
    np.testing.assert_allclose(column.extent(), [[8, 19, 29.5, 12, 21, 30.5], [9, 18, 29.5, 11, 22, 30.5]], atol=1e-12)
    np.testing.assert_allclose(column.union(np.array([[0, 1]])).rows(), [[10, 20, 30, 4, 4, 1, 0, 0, 0]], atol=1e-12)
    assert np.isnan(column.bounds()).all()
    assert np.isnan(column.outline_bounds()).all()


def test_take_absent_and_ties():
    column = Cuboids.from_rows([[0, 0, 0, 1, 1, 1, 0, 0, 0], [np.nan] * 9])
    assert column.absent().tolist() == [False, True]
    assert column.take(np.array([1, 0])).absent().tolist() == [True, False]
    assert [key.tolist() for key in column.tie_keys(np.array([0]))] == [[0]] * 3 + [[1]] * 3 + [[0]] * 3
    assert len(Cuboids.from_rows([])) == 0


def one_mark(cuboid):
    return Annotations.from_rows([{"image": 1, "rater": "ann", "category": "car", "cuboid": cuboid}])


@pytest.mark.parametrize(
    "cuboid",
    [
        {"location": [1, 2, -3], "dimensions": [4, 5, 6], "rotation": [0, 0, 0]},
        {"location": (1, 2, -3), "dimensions": np.array([4.0, 5, 6])},
        [1, 2, -3, 4, 5, 6, 0, 0, 0],
        [[1, 2, -3], [4, 5, 6], [0, 0, 0]],
    ],
)
def test_rows_are_read(cuboid):
    made = one_mark(cuboid)
    assert list(made.shapes) == ["cuboid"]  # a scene has no box in an image
    assert made.shapes["cuboid"].rows().tolist() == [[1, 2, -3, 4, 5, 6, 0, 0, 0]]


@pytest.mark.parametrize(
    ("cuboid", "message"),
    [
        ([0, 0, 0, 1, 0, 1, 0, 0, 0], r"positive dimensions, got dimensions \[1.0, 0.0, 1.0\]"),
        ([float("nan")] * 9, "finite numbers"),
        ([0, 0, 0, 1, 1, 1, 0, 0, float("inf")], "finite numbers"),
        ([0, 0, 0, 1, 1, 1], "three numbers each for location, dimensions, rotation"),
        ({"location": [0, 0, 0]}, "three numbers each"),
        ({"location": [0, 0], "dimensions": [1, 1, 1]}, "three numbers each"),
        ("cuboid", "three numbers each"),
    ],
)
def test_invalid_cuboids_are_named(cuboid, message):
    with pytest.raises(InputError, match=message):
        one_mark(cuboid)
