"""Boundary distances by hand, vs. all distances of all pixels, and the numbers of MONAI's own tests."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.ndimage import binary_erosion
from scipy.spatial.distance import cdist

from kalos_core import boundary_distance

SQUARE = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]])
RIGHT, ASIDE = np.array([3.0, 0.0]), np.array([3.0, 1.0])


def test_a_contour_by_hand():
    #  a .......  b .......
    #    .###...    .#####.
    #    .###...    .#####.
    #    .###...    .#####.
    #    .......    .......
    a, b = np.zeros((2, 5, 7), np.uint8)
    a[1:4, 1:4] = b[1:4, 1:6] = 255
    found = boundary_distance(a, b.tolist())
    assert boundary_distance(a, b, 2).average == 2 * found.average
    # Boundary of a: all but its middle (2, 2). Boundary of b: all but (2, 2), (2, 3), (2, 4).
    # a to b: (2, 3) lies within b, 1 from (1, 3); the other seven are on b's boundary.
    assert sorted(found.to_b.tolist()) == [0] * 7 + [1]
    # b to a: columns 1 to 3 are on a's boundary (7 pixels), column 4 is 1 from column 3, column 5 is 2 from it.
    assert sorted(found.to_a.tolist()) == [0] * 7 + [1] * 2 + [2] * 3
    assert found.hausdorff == 2
    # 95 % of 0..7 is 6.65: 0.65 between 0 and 1; of 0..11 it is 10.45: 2
    assert found.hausdorff95 == 2
    assert found.to_pandas()["hausdorff95"].tolist() == pytest.approx([0.65, 2, 2])
    assert found.average == (1 + 2 * 1 + 3 * 2) / 20
    assert [found.surface_dice(tolerance) for tolerance in (0, 0.99, 1, 2)] == [14 / 20, 14 / 20, 17 / 20, 1]


def test_the_edge_of_the_image_is_a_boundary():
    whole = np.ones((5, 8), bool)
    found = boundary_distance(whole, whole)
    assert len(found.to_a) == 5 * 8 - 3 * 6
    assert found.hausdorff == 0
    # 480 x 640 pixels, from column 50 and from column 60 on: the numbers of MONAI's own test
    a, b = np.zeros((2, 480, 640), bool)
    a[:, 50:], b[:, 60:] = True, True
    found = boundary_distance(a, b)
    assert found.surface_dice(0) == pytest.approx(1 - (478 + 480 + 9 * 2) / (480 * 4 + 588 * 2 + 578 * 2))
    assert found.surface_dice(10) == 1
    found = boundary_distance(a, b, spacing=(0.85, 1.2))
    assert found.surface_dice(11.9) < found.surface_dice(12) == 1


def brute_force(a, b, spacing):
    """Compute all distances of all pixels, with the boundary by SciPy's erosion, as in the definitions."""
    one, other = (np.argwhere(mask ^ binary_erosion(mask)) * spacing for mask in (a, b))
    apart = cdist(one, other)
    return apart.min(axis=1), apart.min(axis=0)


@given(st.data())
def test_distances_are_those_of_all_pixels(data):
    shape = data.draw(arrays.array_shapes(min_dims=2, max_dims=3, min_side=2, max_side=7))
    a, b = (data.draw(arrays.arrays(bool, shape)) for _ in range(2))
    spacing = data.draw(st.lists(st.floats(0.1, 9), min_size=len(shape), max_size=len(shape)))
    tolerance = data.draw(st.floats(0, 9))
    found = boundary_distance(a, b, spacing)
    other = boundary_distance(b, a, spacing)
    names = ("hausdorff", "hausdorff95", "average")
    if not (a.any() and b.any()):
        expected = math.inf if a.any() or b.any() else math.nan
        assert [getattr(found, name) for name in names] == pytest.approx([expected] * 3, nan_ok=True)
        assert found.surface_dice(tolerance) == pytest.approx(0 if a.any() or b.any() else math.nan, nan_ok=True)
        return
    to_b, to_a = brute_force(a, b, spacing)
    pooled = np.concatenate([to_b, to_a])
    expected = [pooled.max(), max(np.percentile(to_b, 95), np.percentile(to_a, 95)), pooled.mean()]
    assert [getattr(found, name) for name in names] == pytest.approx(expected, rel=1e-9)
    assert [getattr(other, name) for name in names] == pytest.approx(expected, rel=1e-9)
    if np.abs(pooled - tolerance).min() > 1e-6:
        assert found.surface_dice(tolerance) == pytest.approx((pooled <= tolerance).mean())


def ball(radius, centre, spacing=(1, 1, 1)):
    axes = np.ix_(*(np.arange(99) * step - middle for step, middle in zip(spacing, centre, strict=True)))
    return sum(axis**2 for axis in axes) <= radius**2


UNEQUAL = (0.85, 1.2, 0.9)


@pytest.mark.parametrize(
    ("one", "other", "spacing", "expected"),
    [
        ((20, (20, 20, 20)), (20, (19, 19, 19)), None, {"hausdorff": 1.7320508075688772}),
        ((33, (19, 33, 22)), (33, (20, 33, 22)), None, {"hausdorff": 1, "average": 0.350217}),
        ((20, (20, 33, 22)), (40, (20, 33, 22)), None, {"hausdorff95": 20.09975124224178, "average": 15.117741}),
        ((20, (20, 20, 20)), (20, (19, 19, 19)), UNEQUAL, {"hausdorff": 2.2671568}),
        ((15, (20, 33, 22)), (30, (20, 33, 22)), UNEQUAL, {"hausdorff": 15.62594}),
        ((33, (42, 45, 52)), (33, (43, 45, 52)), UNEQUAL, {"average": 0.4951}),
    ],
)
def test_balls_are_as_far_apart_as_in_the_tests_of_monai(one, other, spacing, expected):
    """Volumes of 99 x 99 x 99, some cut by the edge (MONAI 1.6, tests/metrics: Hausdorff and surface distance)."""
    axes = spacing or (1, 1, 1)
    found = boundary_distance(ball(*one, axes), ball(*other, axes), axes)
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value, rel=1e-5)


def test_a_tolerance_holds_however_it_is_rounded():
    a, b = [[1, 0, 0, 0]], [[0, 0, 0, 1]]
    assert boundary_distance(a, b, 0.1).to_a.item() > 0.3  # 3 * 0.1 is 0.30000000000000004
    assert boundary_distance(a, b, 0.1).surface_dice(0.3) == 1


# ---- polygons ----


def test_polygons_by_hand():
    # 3 to the right. Of a, the left side is 3 away; from above and below it goes from 3 to 0; the right side lies
    # within b, as far from its upper or lower side as from its corner: 0 to 3 to 0 at 3 from b's left and right, so
    # that it is min(y, 10 - y) up to 3
    found = boundary_distance(SQUARE, SQUARE + RIGHT)
    assert found.hausdorff == pytest.approx(3)
    assert found.length.tolist() == [40, 40]
    mean = (10 * 3 + 2 * 3 * 1.5 + 2 * 3 * 1.5 + 4 * 3) / 40
    assert found.average == pytest.approx(mean, abs=1e-3)
    assert found.surface_dice(1) == pytest.approx((2 * 1 + 14 + 2 * 1) / 40, abs=1e-3)
    assert found.hausdorff95 == pytest.approx(3)
    # far away and small
    assert boundary_distance(SQUARE + 1e6, SQUARE + 1e6 + RIGHT).average == pytest.approx(found.average)
    assert boundary_distance(SQUARE * 1e-20, (SQUARE + RIGHT) * 1e-20).average == pytest.approx(found.average * 1e-20)


def test_a_spacing_of_polygons_is_of_x_and_then_y():
    assert boundary_distance(SQUARE, SQUARE + RIGHT, spacing=(2, 1)).hausdorff == pytest.approx(6)


def test_nothing_is_no_boundary():
    nothing, something = np.zeros((0, 2)), SQUARE
    assert boundary_distance(nothing, something).average == math.inf
    assert boundary_distance(something, nothing).surface_dice(5) == 0
    assert math.isnan(boundary_distance([], []).hausdorff)
