"""IoU of cuboids: by hand, by formula and by random points; the bridge's tests compare with FiftyOne's own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from kalos_core.shapes import Cuboids
from kalos_core.similarity.cuboids import cuboid_iou
from tests.similarity.shapes_3d import random_cuboids


def iou(*rows):
    """Return the IoU of the first cuboid and each of the others."""
    column = Cuboids.from_rows([[*row, *[0] * (9 - len(row))] for row in rows])
    others = np.arange(1, len(rows))
    return cuboid_iou(column, np.zeros(len(others), np.intp), column, others).tolist()


def test_along_the_axes_by_hand():
    cube = [0, 0, 0, 2, 2, 2]
    moved, inside, around = [1, 1, 1, 2, 2, 2], [0.5, 0.5, 0.5, 1, 1, 1], [0, 0, 0, 4, 4, 4]
    beside, far = [2, 0, 0, 2, 2, 2], [9, 9, 9, 1, 1, 1]
    assert iou(cube, moved, inside, around, beside, far) == pytest.approx([1 / 15, 1 / 8, 1 / 8, 0, 0], abs=1e-15)


@pytest.mark.parametrize("axis", range(3))
def test_a_cube_turned_by_an_eighth_shares_an_octagonal_prism(axis):
    octagon = 2 * (2**0.5 - 1)  # of two unit squares, one rotated by 45 degrees
    turned = [0, 0, 0, 1, 1, 1, *(np.pi / 4 * (np.arange(3) == axis))]
    assert iou([0, 0, 0, 1, 1, 1], turned) == pytest.approx([octagon / (2 - octagon)], rel=1e-12)


def test_a_cube_on_its_corner():
    # the planes across its diagonal cut a unit cube in a regular hexagon of area 3/4 * sqrt(3): a slab of thickness t
    # around the middle holds that area times t, less what the hexagon loses on the way, which is of the order of t ** 3
    z, x = np.array([1, 1, 1]) / 3**0.5, np.array([1, -1, 0]) / 2**0.5
    turn = Rotation.from_matrix(np.stack([x, np.cross(z, x), z], axis=1)).as_euler("XYZ")
    thin = 1e-3
    shared = 0.75 * 3**0.5 * thin
    value = iou([0, 0, 0, 1, 1, 1], [0, 0, 0, 3, 3, thin, *turn])[0]
    assert value == pytest.approx(shared / (1 + 9 * thin - shared), rel=1e-5)


numbers = st.integers(0, 4)
blocks = st.tuples(numbers, numbers, numbers, st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))


def shared_by_axes(a, b):
    low, high = np.maximum(a[:3] - a[3:] / 2, b[:3] - b[3:] / 2), np.minimum(a[:3] + a[3:] / 2, b[:3] + b[3:] / 2)
    shared = np.maximum(high - low, 0).prod()
    return shared / (a[3:].prod() + b[3:].prod() - shared)


@given(blocks, blocks, st.integers(0, 50))
def test_turning_and_moving_both_changes_nothing(a, b, seed):
    a, b = np.array(a, float), np.array(b, float)
    expected = shared_by_axes(a, b)
    assert iou(a, b) == pytest.approx([expected], abs=1e-14)
    rng = np.random.default_rng(seed)
    turn = Rotation.random(random_state=rng)
    angles = turn.as_euler("XYZ")
    moved = [[*(turn.apply(row[:3]) + 1000), *row[3:], *angles] for row in (a, b)]
    assert iou(*moved) == pytest.approx([expected], abs=1e-10)


@given(blocks, blocks)
def test_other_numbers_for_the_same_cuboid_change_nothing(a, b):
    a, b = np.array(a, float), np.array(b, float)
    quarter = [*b[:3], b[4], b[3], b[5], 0, 0, np.pi / 2]  # width and length exchanged, and rotated back
    whole = [*b, 2 * np.pi, 0, 0]
    assert iou(a, quarter, whole) == pytest.approx([shared_by_axes(a, b)] * 2, abs=1e-12)


@given(blocks, blocks, st.sampled_from([1e-13, 1e-11, 1e-9, 1e-7, 1e-6, 1e-5]))
def test_faces_that_are_all_but_parallel_do_no_harm(a, b, tilt):
    a, b = np.array(a, float), np.array(b, float)
    assert iou(a, [*b, tilt, -tilt / 2, tilt / 3]) == pytest.approx([shared_by_axes(a, b)], abs=10 * tilt + 1e-6)


def test_is_near_what_random_points_say():
    rng = np.random.default_rng(0)
    column = random_cuboids(rng, 6)
    points = rng.random((400_000, 3)) * 16 - 4
    inside = [
        (np.abs((points - where) @ axes) <= size / 2).all(axis=1)
        for where, size, axes in zip(column.location, column.dimensions, column.axes, strict=True)
    ]
    left, right = np.triu_indices(6, 1)
    expected = [(inside[a] & inside[b]).sum() / (inside[a] | inside[b]).sum() for a, b in zip(left, right, strict=True)]
    np.testing.assert_allclose(cuboid_iou(column, left, column, right), expected, atol=0.03)


def test_blocks_change_nothing(monkeypatch):
    column = random_cuboids(np.random.default_rng(0), 12)
    left, right = np.divmod(np.arange(144), 12)
    whole = cuboid_iou(column, left, column, right)
    monkeypatch.setattr("kalos_core.similarity.cuboids.PAIRS_AT_ONCE", 7)
    np.testing.assert_array_equal(cuboid_iou(column, left, column, right), whole)
