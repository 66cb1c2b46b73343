import threading

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from kalos_core.shapes import Polygons
from tests.strategies import ring, rings

SQUARE = [0, 0, 4, 0, 4, 4, 0, 4]
BOW_TIE = [0, 0, 4, 4, 4, 0, 0, 4]
LINE = [0, 0, 4, 4, 8, 8]


def one_by_one(parts):
    """Return the same shape, one ring at a time with shapely's own constructors."""
    enclosed = []
    for flat in parts:
        shape = shapely.make_valid(shapely.Polygon(np.reshape(flat, (-1, 2))))
        pieces = getattr(shape, "geoms", [shape])
        enclosed += [piece for piece in pieces if isinstance(piece, (shapely.Polygon, shapely.MultiPolygon))]
    return shapely.unary_union(enclosed)


@pytest.mark.parametrize(
    ("rings", "area", "bounds"),
    [
        ([SQUARE], 16, [0, 0, 4, 4]),
        ([SQUARE, [10, 0, 12, 0, 12, 2, 10, 2]], 20, [0, 0, 12, 4]),  # two parts
        ([SQUARE, [2, 0, 6, 0, 6, 4, 2, 4]], 24, [0, 0, 6, 4]),  # overlapping parts count once
        ([BOW_TIE], 8, [0, 0, 4, 4]),  # two triangles of 4
        ([SQUARE, BOW_TIE], 16, [0, 0, 4, 4]),
        ([[*SQUARE, 0, 0]], 16, [0, 0, 4, 4]),  # closed by repeating the first point
        ([SQUARE[::-1]], 16, [0, 0, 4, 4]),  # read backwards: y, x of the same square
    ],
)
def test_area_and_bounds_by_hand(rings, area, bounds):
    column = Polygons.from_rings([rings])
    assert column.area().tolist() == [area]
    assert column.bounds().tolist() == [bounds]


def test_a_keyhole_becomes_a_hole():
    # +-----+   the ring runs in through a slit of no width, around the hole, and out again:
    # | +-+ |   36 of the square less 4 of the hole
    # | +-+ |
    # +--|--+
    keyhole = [0, 0, 6, 0, 6, 6, 2, 6, 2, 4, 4, 4, 4, 2, 2, 2, 2, 6, 0, 6]
    assert Polygons.from_rings([[keyhole]]).area().tolist() == [32]


@pytest.mark.parametrize("flat", [LINE, [1, 1, 1, 1, 1, 1, 1, 1], [0, 0, 4, 0, 0, 0, 4, 0]])
def test_a_ring_without_area_encloses_nothing(flat):
    column = Polygons.from_rings([[flat], [flat, SQUARE]])
    assert column.area().tolist() == [0, 16]
    assert np.isnan(column.bounds()[0]).all()
    assert np.isfinite(column.outline_bounds()).all()


@given(st.lists(st.lists(rings(), min_size=1, max_size=3), max_size=5))
def test_all_at_once_equals_one_by_one(shapes):
    column = Polygons.from_rings(shapes)
    alone = [one_by_one(parts) for parts in shapes]
    np.testing.assert_allclose(column.area(), [shape.area for shape in alone], rtol=1e-12)
    np.testing.assert_array_equal(column.bounds(), np.reshape([shape.bounds for shape in alone], (-1, 4)))
    assert shapely.is_valid(column.geometries).all()


@given(st.lists(st.lists(rings(), max_size=3), min_size=1, max_size=6), st.data())
def test_take_equals_building_from_those_rows(shapes, data):
    rows = np.array(data.draw(st.lists(st.integers(0, len(shapes) - 1), max_size=8)), dtype=np.intp)
    column = Polygons.from_rings(shapes)
    fresh = Polygons.from_rings([shapes[row] for row in rows])
    if data.draw(st.booleans()):
        column.area()  # geometries are passed on once they exist
    taken = column.take(rows)
    np.testing.assert_array_equal(taken.points, fresh.points)
    np.testing.assert_array_equal(taken.ring_start, fresh.ring_start)
    np.testing.assert_array_equal(taken.part_start, fresh.part_start)
    np.testing.assert_array_equal(taken.area(), fresh.area())


def test_absent_polygons_keep_their_position():
    column = Polygons.from_rings([[], [SQUARE], [], [BOW_TIE, SQUARE]])
    assert column.absent().tolist() == [True, False, True, False]
    assert column.area().tolist() == [0, 16, 0, 16]
    assert [len(column.rings(row)) for row in range(4)] == [0, 1, 0, 2]
    drawn = column.outline_bounds()
    assert np.isnan(drawn[[0, 2]]).all()
    assert drawn[[1, 3]].tolist() == [[0, 0, 4, 4]] * 2


def test_no_polygons_have_every_shape():
    empty = Polygons.from_rings([])
    assert (empty.bounds().shape, empty.area().shape, empty.outline_bounds().shape) == ((0, 4), (0,), (0, 4))
    assert len(empty.take(np.zeros(0, int))) == 0
    assert len(empty.union(np.zeros((0, 2), int))) == 0
    assert all(len(key) == 0 for key in empty.tie_keys(np.zeros(0, int)))


def test_union_joins_parts_and_counts_the_overlap_once():
    column = Polygons.from_rings([[SQUARE], [[2, 0, 6, 0, 6, 4, 2, 4]], [[20, 0, 21, 0, 21, 1, 20, 1]], [LINE]])
    joined = column.union(np.array([[0, 1], [0, 2], [1, 1], [0, 3], [3, 3]]))
    assert joined.area().tolist() == [24, 17, 16, 16, 0]
    assert [len(joined.rings(row)) for row in range(5)] == [1, 2, 1, 1, 0]


def test_repairs_are_counted_by_ring():
    assert Polygons.from_rings([[SQUARE, BOW_TIE], [BOW_TIE]]).repaired == 2


def test_threads_join_parts_and_leave_warnings_alone(monkeypatch):
    """`shapely.is_valid` disables and enables warnings for all threads."""
    parts = [[SQUARE, BOW_TIE], [BOW_TIE], [], [LINE], [SQUARE, [2, 0, 6, 0, 6, 4, 2, 4]]]
    expected = Polygons.from_rings(parts * 3).geometries
    seen, is_valid = [], shapely.is_valid
    monkeypatch.setattr(shapely, "is_valid", lambda shapes: seen.append(threading.current_thread()) or is_valid(shapes))
    monkeypatch.setattr("kalos_core.shapes.polygons.POLYGONS_A_THREAD", 1)
    assert shapely.equals_exact(Polygons.from_rings(parts * 3).geometries, expected).all()
    assert seen == [threading.main_thread()]


@given(st.integers(0, 3), st.integers(0, 5), st.booleans())
def test_tie_keys_see_the_outline_and_not_how_it_was_drawn(form, start, backwards):
    column = Polygons.from_rings(
        [[ring(form, 1, 2, 4, 6)], [ring(form, 1, 2, 4, 6, start, backwards)], [ring(form, 1, 2, 4, 8)]]
    )
    bounds_area_outline = np.stack(column.tie_keys(np.arange(3)), axis=1)
    np.testing.assert_array_equal(bounds_area_outline[0], bounds_area_outline[1])
    assert (bounds_area_outline[0] != bounds_area_outline[2]).any()
