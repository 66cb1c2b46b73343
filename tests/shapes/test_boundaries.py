"""Boundaries vs. SciPy's erosion, shapely's densified distances, and cases worked out by hand."""

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.ndimage import binary_erosion
from scipy.spatial.distance import cdist

from kalos_core.shapes import boundaries
from kalos_core.shapes.boundaries import Outline, around, border, borders, nearest, outline_distances, pixels_on

masks = arrays.arrays(bool, st.one_of(arrays.array_shapes(min_dims=2, max_dims=3, max_side=7)))
SQUARE = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]])


@given(masks)
def test_a_border_is_the_difference_to_an_erosion(mask):
    np.testing.assert_array_equal(border(mask), mask ^ binary_erosion(mask))
    np.testing.assert_array_equal(pixels_on(mask), np.argwhere(mask))


def test_a_border_by_hand():
    # a hole has its own border, and so does the edge of the image; pixels that touch at corners are not neighbours
    #####.    #####.
    #####.    # # #.
    ##.##. -> ##.##.
    #####.    # # #.
    #####.    #####.
    mask = np.zeros((5, 6), bool)
    mask[:, :5] = True
    mask[2, 2] = False
    expected = mask.copy()
    expected[[1, 1, 3, 3], [1, 3, 1, 3]] = False
    np.testing.assert_array_equal(border(mask), expected)


@given(masks, st.data())
def test_borders_within_a_part_are_those_of_the_whole(mask, data):
    other = data.draw(arrays.arrays(bool, mask.shape))
    ignore = data.draw(st.one_of(st.none(), arrays.arrays(bool, mask.shape)))
    part = around([mask, other])
    for each, found in zip((mask, other), borders([mask, other], ignore), strict=True):
        whole = np.zeros_like(mask)
        whole[part] = found
        np.testing.assert_array_equal(whole, border(each) & ~(np.zeros_like(mask) if ignore is None else ignore))


@pytest.mark.parametrize("way", [0, 10**9], ids=["tree", "distance transform"])
@given(st.data())
def test_the_nearest_pixel_is_that_of_all_distances(way, data):
    shape = data.draw(arrays.array_shapes(min_dims=2, max_dims=3, max_side=7))
    one, two, target = (np.argwhere(data.draw(arrays.arrays(bool, shape))) for _ in range(3))
    spacing = tuple(data.draw(st.lists(st.floats(0.1, 9), min_size=len(shape), max_size=len(shape))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boundaries, "PIXELS_A_QUERY", way)
        found = nearest([one, two], target, shape, spacing)
    for pixels, distance in zip((one, two), found, strict=True):
        expected = cdist(pixels * spacing, target * spacing).min(axis=1, initial=np.inf)
        np.testing.assert_allclose(distance, expected, rtol=1e-12)


def test_many_queries_are_answered_in_threads_too(monkeypatch):
    pixels, target = np.argwhere(np.ones((9, 9), bool)), np.array([[0, 0], [8, 8]])
    monkeypatch.setattr(boundaries, "IN_THREADS", 1)
    (found,) = nearest([pixels], target, (10**6, 10**6), (1.0, 1.0))
    np.testing.assert_array_equal(found, cdist(pixels, target).min(axis=1))


# ---- outlines ----

rings = st.tuples(st.integers(0, 10**6), st.integers(3, 12)).map(
    lambda drawn: np.random.default_rng(drawn[0]).uniform(0, 100, (drawn[1], 2))
)


@given(rings, rings)
def test_outlines_are_as_far_apart_as_shapely_finds_on_a_dense_grid(a, b):
    one, other = Outline.of([a]), Outline.of([b])
    first, second = shapely.linearrings(a), shapely.linearrings(b)
    found = max(one.furthest_from(other), other.furthest_from(one))
    step = 0.005  # shapely samples points on each edge, 200 of them here
    coarse = shapely.hausdorff_distance(first, second, densify=step)
    longest = max(np.hypot(*(np.roll(ring, -1, axis=0) - ring).T).max() for ring in (a, b))
    assert coarse - 1e-6 <= found <= coarse + step * longest
    points = np.random.default_rng(0).uniform(-20, 120, (50, 2))
    np.testing.assert_allclose(one.distances(points), shapely.distance(first, shapely.points(points)), atol=1e-9)
    steps = shapely.line_interpolate_point(first, (np.arange(10) + 0.5) / 10, normalized=True)
    np.testing.assert_allclose(one.places(10), shapely.get_coordinates(steps), atol=1e-6)
    assert one.length == pytest.approx(shapely.length(first))


def test_the_furthest_point_may_lie_within_an_edge():
    # the roof is furthest below its top: from (5, 0) on the floor, no corner, it is 5 / sqrt(2) to either slope
    flat, peak = np.array([[0.0, 0], [10, 0]]), np.array([[0.0, 0], [5, 5], [10, 0], [5, 5]])
    floor, roof = Outline.of([flat]), Outline.of([peak])
    assert floor.furthest_from(roof) == pytest.approx(5 / np.sqrt(2), abs=1e-7)
    assert roof.furthest_from(floor) == 5


def test_outlines_by_hand():
    # a square of side 2 within one of side 4: 1 from all points of the inner one, sqrt(2) from the outer corners
    inner, outer = Outline.of([SQUARE / 2 + 1]), Outline.of([SQUARE])
    to_outer, to_inner = outline_distances(inner, outer)
    assert to_outer == pytest.approx(1)
    assert len(to_inner) == pytest.approx(2 * len(to_outer), abs=1)
    assert inner.furthest_from(outer) == pytest.approx(1)
    assert outer.furthest_from(inner) == pytest.approx(np.sqrt(2))
    # of each side the middle half is 1 away, the two quarters at its ends sqrt(1 + t^2), whose mean over t is 1.147794
    quarter = (np.sqrt(2) + np.arcsinh(1)) / 2
    assert to_inner.mean() == pytest.approx((1 + quarter) / 2, abs=1e-6)


def test_an_outline_of_a_geometry_has_its_holes_and_parts():
    square = shapely.Polygon(SQUARE, [SQUARE / 4 + 1])
    both = shapely.MultiPolygon([square, shapely.Polygon(SQUARE + 10)])
    assert Outline.of_geometry(square).length == 16 + 4
    assert Outline.of_geometry(both).length == 16 + 4 + 16
    assert Outline.of_geometry(both, (2.0, 1.0)).length == 24 + 6 + 24
    assert Outline.of_geometry(shapely.Polygon()).length == 0
    np.testing.assert_allclose(Outline.of_geometry(square).distances(np.array([[1.5, 1.5]])), 0.5)


def test_equal_outlines_are_not_apart_however_many_edges_they_have():
    turn = np.linspace(0, 2 * np.pi, 500, endpoint=False)
    circle = 50 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    assert Outline.of([circle]).furthest_from(Outline.of([np.roll(circle, 7, axis=0)])) == pytest.approx(0, abs=1e-9)
    # regular polygons around one centre, one corner outside of the other
    assert Outline.of([circle]).furthest_from(Outline.of([circle * 1.2])) <= 10 + 1e-6
    assert Outline.of([circle * 1.2]).furthest_from(Outline.of([circle])) == pytest.approx(10, abs=1e-6)
