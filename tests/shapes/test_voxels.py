"""Voxels on a grid, and the cells inside of polygons."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from skimage.draw import polygon as skimage_polygon

from kalos_core import InputError
from kalos_core.arrays import run_starts
from kalos_core.shapes.voxels import Voxels, fill_polygons
from tests.similarity.shapes_3d import SCANS, random_volumes, volumes

GRID = (2, 3, 4)
points = st.tuples(st.integers(0, 9), st.integers(0, 9))


@given(st.lists(st.lists(points, min_size=1, max_size=9), max_size=5))
def test_filled_cells_equal_scikit_image(polygons):
    start = run_starts([len(vertices) for vertices in polygons])
    flat = np.array([vertex for vertices in polygons for vertex in vertices], np.intp).reshape(-1, 2)
    owner, row, column = fill_polygons(flat, start)
    for number, vertices in enumerate(polygons):
        expected = set(zip(*skimage_polygon(*np.transpose(vertices)), strict=True))
        here = owner == number
        assert sorted(zip(row[here], column[here], strict=True)) == sorted(expected)


sets = st.lists(st.sets(st.integers(0, 23), max_size=12), min_size=1, max_size=6)


def of_sets(cells):
    owner = np.array([number for number, members in enumerate(cells) for _ in members], np.intp)
    return Voxels.of_members(
        owner, np.array([cell for members in cells for cell in members], np.intp), len(cells), GRID
    )


@given(sets, sets)
def test_shared_cells_equal_those_of_sets(a, b):
    left, right = np.divmod(np.arange(len(a) * len(b)), len(b))
    expected = [len(a[i] & b[j]) for i, j in zip(left, right, strict=True)]
    assert of_sets(a).shared(left, of_sets(b), right).tolist() == expected


@given(sets)
def test_union_and_take_equal_those_of_sets(a):
    column, rows = of_sets(a), np.array([[0, len(a) - 1], [0, 0]])
    for made, expected in (
        (column.union(rows), [a[0] | a[-1], a[0]]),
        (column.take(rows[:, 1]), [a[-1], a[0]]),
    ):
        assert made.area().tolist() == [len(members) for members in expected]
        assert made.cell.tolist() == [cell for members in expected for cell in sorted(members)]


def test_bounds_are_those_of_the_cells():
    column = of_sets([{0, 23}, set(), {5, 6}])
    assert column.bounds.tolist() == [[0, 0, 0, 2, 3, 4], [0] * 6, [0, 1, 1, 1, 2, 3]]


@pytest.mark.parametrize("grid", [(128, 128, 128), (16, 64, 32)])
def test_volumes_on_a_grid_equal_whole_arrays(grid):
    column = random_volumes(np.random.default_rng(0), 10)
    made = column.voxels(grid)
    assert made is column.voxels(grid)
    for row in range(10):
        whole = np.zeros(grid, np.bool_)
        for g in range(column.annotation_start[row], column.annotation_start[row + 1]):
            x, y = (column.points[column.contour_start[g] : column.contour_start[g + 1]] / 8192).T
            cells = skimage_polygon(np.rint(y * (grid[1] - 1)), np.rint(x * (grid[2] - 1)))
            whole[round(column.z[g] / 22.5 * (grid[0] - 1))][cells] = True
        assert made.cell[made.start[row] : made.start[row + 1]].tolist() == np.flatnonzero(whole).tolist()


def test_a_scan_marked_in_one_slice_lies_in_the_first_plane():
    flat = type(SCANS)(SCANS.position, SCANS.start, SCANS.pixel_spacing, SCANS.size, np.array([[5.0, 5], [0, 4]]))
    column = volumes([[(2, [0, 0, 8191, 0, 0, 8191])]], scans=flat)
    assert column.voxels((4, 8, 8)).cell.max() < 64


def test_a_grid_needs_the_size_of_the_slices():
    unknown = type(SCANS)(SCANS.position, SCANS.start, SCANS.pixel_spacing, np.full((2, 2), np.nan), SCANS.span)
    with pytest.raises(InputError, match="expected the width and height of every image"):
        volumes([[(0, [0, 0, 4, 0, 4, 4])]], scans=unknown).voxels()
