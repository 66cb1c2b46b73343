"""Volumes: enclosed regions, counts, and formats of sources."""

from dataclasses import replace

import numpy as np
import pytest
import shapely

from kalos_core import Annotations, InputError
from kalos_core.shapes.volumes import Scans
from tests.similarity.shapes_3d import random_volumes, volumes

SQUARE, HOLE = [0, 0, 4, 0, 4, 4, 0, 4], [1, 1, 3, 1, 3, 3, 1, 3]


def naive_sections(column, row):
    """Return slice -> region of one volume, contour by contour."""
    regions = {}
    for inclusion in (True, False):
        for g in range(column.annotation_start[row], column.annotation_start[row + 1]):
            points = column.points[column.contour_start[g] : column.contour_start[g + 1]]
            if column.inclusion[g] != inclusion or len(np.unique(points, axis=0)) < 3:
                continue
            shape = shapely.make_valid(shapely.Polygon(points))
            there = regions.get(column.slice[g], shapely.Polygon())
            regions[column.slice[g]] = there.union(shape) if inclusion else there.difference(shape)
    return {number: region for number, region in regions.items() if region.area > 0}


def test_volume_is_area_times_the_size_of_a_voxel():
    # slices of 16 and 16 - 4 square pixels; half a millimetre a pixel, slices 2.5 mm apart
    column = volumes([[(3, SQUARE), (4, SQUARE), (4, HOLE, False)]])
    assert column.area().tolist() == [28]
    assert column.volume().tolist() == [28 * 0.25 * 2.5]


def test_volume_is_in_voxels_where_a_spacing_is_unknown():
    assert volumes([[(0, SQUARE), (1, SQUARE)]], scan=1).volume().tolist() == [32]
    one_slice = Scans(np.array([7.0]), np.array([0, 1]), np.array([0.5]), np.full((1, 2), 9.0), np.full((1, 2), 7.0))
    assert volumes([[(0, SQUARE)]], scans=one_slice).volume().tolist() == [16]


@pytest.mark.parametrize(
    ("mark", "area"),
    [
        ([(0, SQUARE), (0, HOLE, False)], 12),
        ([(0, HOLE, False), (0, SQUARE)], 12),
        ([(0, SQUARE), (1, HOLE, False)], 16),  # a hole in nothing
        ([(0, HOLE), (0, SQUARE, False)], 0),  # all is hole
        ([(0, SQUARE), (0, [2, 0, 6, 0, 6, 4, 2, 4])], 24),  # two in one slice, whose overlap counts once
        ([(0, SQUARE), (0, [8, 0, 9, 0, 9, 1, 8, 1])], 17),
        ([(0, [0, 0, 4, 4, 4, 0, 0, 4])], 8),  # a bow tie, repaired
        ([(0, [0, 0, 2, 0, 4, 0, 4, 4, 2, 4, 0, 4, 0, 0])], 16),  # collinear points, closed
    ],
)
def test_areas_by_hand(mark, area):
    assert volumes([mark]).area().tolist() == [area]


def test_contours_of_fewer_than_three_points_enclose_nothing_and_are_counted():
    column = volumes([[(0, [1, 1])], [(0, [1, 1, 5, 5]), (1, SQUARE)], [(0, [1, 1, 5, 5, 1, 1])], []])
    assert column.flat_contours == 3
    assert column.area().tolist() == [0, 16, 0, 0]
    assert column.absent().tolist() == [False, False, False, True]
    np.testing.assert_array_equal(column.bounds()[1:3], [[0, 0, 4, 4], [np.nan] * 4])
    np.testing.assert_array_equal(column.outline_bounds()[1:], [[0, 0, 5, 5], [1, 1, 5, 5], [np.nan] * 4])


@pytest.mark.parametrize("seed", range(2))
def test_sections_equal_shapely_one_by_one(seed):
    column = random_volumes(np.random.default_rng(seed), 12)
    expected = [naive_sections(column, row) for row in range(12)]
    made = column.sections
    assert [sorted(regions) for regions in expected] == [
        sorted(made.slice[made.annotation == row].tolist()) for row in range(12)
    ]
    areas = [sum(region.area for region in regions.values()) for regions in expected]
    np.testing.assert_allclose(column.area(), areas, rtol=1e-12)


@pytest.mark.parametrize("made", [False, True])
def test_take_gives_the_same_volumes_in_another_order(made):
    column, same = (random_volumes(np.random.default_rng(1), 9) for _ in range(2))
    area, bounds = same.area(), same.bounds()
    if made:
        column.area()
    rows = np.array([4, 0, 8, 4])
    taken = column.take(rows)
    np.testing.assert_array_equal(taken.area(), area[rows])
    np.testing.assert_array_equal(taken.bounds(), bounds[rows])
    np.testing.assert_array_equal(taken.z, np.concatenate([column.z[column.annotation == row] for row in rows]))
    assert len(column.take(np.array([], np.intp))) == 0


def test_union_is_the_union_slice_by_slice():
    column = random_volumes(np.random.default_rng(0), 8)
    rows = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 7]])
    joined = column.union(rows)
    for line, members in enumerate(rows):
        parts = [naive_sections(column, row) for row in members]
        for number in set().union(*parts):
            expected = shapely.union_all([regions[number] for regions in parts if number in regions])
            here = (joined.sections.annotation == line) & (joined.sections.slice == number)
            assert shapely.area(joined.sections.geometry[here][0]) == pytest.approx(expected.area, rel=1e-12)
    again = replace(joined)  # from its contours alone, which give the same sections
    np.testing.assert_allclose(again.area(), joined.area(), rtol=1e-9)


def test_ties_are_told_apart_by_outlines_and_slices():
    column = volumes([[(0, SQUARE)], [(1, SQUARE)], [(0, [*SQUARE[2:], *SQUARE[:2]])], [(0, [*SQUARE, 0, 2])]])
    keys = np.array(column.tie_keys(np.arange(4)))
    assert (keys[:, 0] == keys[:, 2]).all()  # another start vertex
    assert (keys[:, 0] == keys[:, 3]).all()  # a collinear point
    assert (keys[:, 0] != keys[:, 1]).any()
    assert [len(key) for key in column.tie_keys(np.array([], np.intp))] == [0] * 6


def one_mark(volume, **where):
    given = {"slice_positions": {1: [4, 0, 2]}, "image_size": {1: (9, 9)}, **where}
    row = {"image": 1, "rater": "ann", "category": "nodule", "volume": volume}
    return Annotations.from_rows([row], **given).shapes["volume"]


POINTS = np.reshape(SQUARE, (-1, 2)).tolist()


def test_rows_are_read():
    contours = [
        {"z": 2, "points": POINTS},
        {"z": 4.001, "points": POINTS},
        {"z": 2, "points": [[1, 1]], "inclusion": 0},
    ]
    column = one_mark(contours, pixel_spacing={1: 0.5})
    assert column.slice.tolist() == [1, 2, 1]
    assert column.inclusion.tolist() == [True, True, False]
    assert column.volume().tolist() == [32 * 0.25 * 2]
    assert column.scans.span.tolist() == [[2, 4.001]]


@pytest.mark.parametrize(
    ("volume", "where", "message"),
    [
        ([{"z": 3, "points": POINTS}], {}, "lie in a slice .*, got one at z = 3, the nearest slice being at [24]"),
        ([{"z": float("nan"), "points": POINTS}], {}, "lie in a slice of their scan, got one at z = nan"),
        ([{"z": 2, "points": POINTS}], {"slice_positions": None}, "known slice positions .* got none"),
        ([{"z": 2, "points": POINTS}], {"slice_positions": {}}, "known slice positions .* got none"),
        ([{"z": 2, "points": [[0, 0], [10, 0], [1, 1]]}], {}, r"inside of .*, got a point at \[10.0, 0.0\] in 9 x 9"),
        ([{"z": 2, "points": [[0, 0], [-1, 0], [1, 1]]}], {}, "inside of their slice"),
        ([{"z": 2, "points": [[0, 0], [float("inf"), 0], [1, 1]]}], {}, r"finite coordinates, got a point at \[inf, 0"),
        (
            [{"z": 2, "points": POINTS}],
            {"pixel_spacing": {1: 0}},
            "pixel_spacing: expected positive mm per pixel",
        ),
        *(
            (volume, {}, "expected contours")
            for volume in (
                *([{"z": 2, "points": []}], [{"z": "2", "points": POINTS}], [{"points": POINTS}]),
                *([{"z": 2, "points": SQUARE}], [{"z": 2, "points": POINTS, "inclusion": "no"}]),
                *([POINTS], {"z": 2, "points": POINTS}, 7),
            )
        ),
    ],
)
def test_invalid_volumes_are_named(volume, where, message):
    with pytest.raises(InputError, match=message):
        one_mark(volume, **where)


def test_lidc(lidc):
    column = lidc.shapes["volume"]
    assert (len(column), len(column.z), column.flat_contours, (~column.inclusion).sum()) == (959, 5214, 7, 126)
    assert (column.area() > 0).all()
