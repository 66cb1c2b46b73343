"""Area shared by two regions, from their edges."""

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from kalos_core.shapes.edges import Edges
from kalos_core.shapes.regions import corners, enclose
from tests.strategies import rings


def regions(shapes):
    """Return valid regions; the second ring of each is a hole."""
    made = [[shapely.make_valid(shapely.Polygon(np.reshape(flat, (-1, 2)))) for flat in parts] for parts in shapes]
    return np.array([parts[0].difference(shapely.union_all(parts[1:])) for parts in made], dtype=object)


def test_by_hand():
    #  a square with a hole, and a triangle below its diagonal: half of the square, and half of the hole is missing
    square = shapely.Polygon([(0, 0), (4, 0), (4, 4), (0, 4)], [[(1, 1), (3, 1), (3, 3), (1, 3)]])
    made = Edges.of(np.array([square, shapely.Polygon([(0, 0), (4, 0), (4, 4)]), shapely.Polygon()], dtype=object))
    rows = np.array([0, 0, 1, 2])
    assert made.shared_area(rows, made, np.array([0, 1, 1, 0])).tolist() == [12, 6, 8, 0]
    assert made.shared_area(rows[:0], made, rows[:0]).shape == (0,)


@given(st.lists(st.lists(rings(), min_size=1, max_size=3), min_size=1, max_size=6))
def test_equals_shapely(shapes):
    made = regions(shapes)
    left, right = np.divmod(np.arange(len(made) ** 2), len(made))
    edges = Edges.of(made)
    expected = shapely.area(shapely.intersection(made[left], made[right]))
    np.testing.assert_allclose(edges.shared_area(left, edges, right), expected, atol=1e-12)


@pytest.mark.parametrize("far", [0.0, 1e5])
def test_equals_shapely_on_rugged_outlines(far, monkeypatch):
    rng = np.random.default_rng(0)
    angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    star = np.stack([np.cos(angle), np.sin(angle)], 1) * (rng.random((20, 60, 1)) * 9 + 1)
    made = shapely.polygons(star + rng.random((20, 1, 2)) * 9 + far)
    left, right = np.divmod(np.arange(400), 20)
    edges = Edges.of(made)
    expected = shapely.area(shapely.intersection(made[left], made[right]))
    whole = edges.shared_area(left, edges, right)
    np.testing.assert_allclose(whole, expected, atol=1e-10 + far * 1e-13)
    monkeypatch.setattr("kalos_core.shapes.edges.BLOCK", 100)
    np.testing.assert_array_equal(edges.shared_area(left, edges, right), whole)


@given(st.lists(rings(), min_size=1, max_size=4))
def test_points_on_the_way_change_nothing(shapes):
    outlines = [np.reshape(flat, (-1, 2)) for flat in shapes]
    halved = [np.stack([ring, (ring + np.roll(ring, -1, axis=0)) / 2], 1).reshape(-1, 2) for ring in outlines]
    points, start = np.concatenate(halved), np.cumsum([0, *map(len, halved)])
    kept = corners(points, start)
    assert not kept[1::2][np.repeat([len(ring) > 3 for ring in outlines], [len(ring) for ring in outlines])].any()
    left = np.concatenate([[0], np.cumsum(np.add.reduceat(kept, start[:-1]))])
    expected, made = enclose(points, start)[0], enclose(points[kept], left)[0]
    assert shapely.equals(expected, made).all()
