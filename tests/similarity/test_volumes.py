"""IoU of volumes: by hand, by naive loops, and vs. the peer on real scans."""

from dataclasses import replace

import numpy as np
import pytest
import shapely
from skimage.draw import polygon as skimage_polygon

from kalos_core import Annotations, InputError, agreement
from kalos_core.pairs import compute_pairs
from kalos_core.similarity import volume_grid_iou, volume_iou
from kalos_core.similarity.volumes import volume_bound
from tests.similarity.shapes_2d import every_pair
from tests.similarity.shapes_3d import random_volumes, volumes

SQUARE, HALF, HOLE = [0, 0, 4, 0, 4, 4, 0, 4], [0, 0, 4, 0, 4, 2, 0, 2], [1, 1, 3, 1, 3, 3, 1, 3]


def test_by_hand():
    #  slice 0  slice 1
    #  16       16        the whole
    #  8                  half of one slice: 8 / 32
    #  12       16        a hole of 4 in one slice: 28 / 32; with the half it shares 6: 6 / (28 + 8 - 6)
    #           16 (2)    the next slice only: nothing
    column = volumes(
        [[(0, SQUARE), (1, SQUARE)], [(0, HALF)], [(0, SQUARE), (0, HOLE, False), (1, SQUARE)], [(2, SQUARE)]]
    )
    values = volume_iou(column, np.array([0, 0, 1, 0, 3]), column, np.array([1, 2, 2, 3, 3]))
    assert values.tolist() == [8 / 32, 28 / 32, 6 / 30, 0, 1]


def test_a_union_is_compared_as_one():
    column = volumes([[(0, HALF)], [(0, [0, 2, 4, 2, 4, 4, 0, 4]), (1, SQUARE)], [(0, SQUARE), (1, SQUARE)]])
    joined = column.union(np.array([[0, 1]]))
    assert volume_iou(joined, np.array([0]), column, np.array([2])).tolist() == [1]


def test_equals_shapely_slice_by_slice():
    column = random_volumes(np.random.default_rng(0), 15)
    made = column.sections
    regions = [
        dict(zip(made.slice[made.annotation == row].tolist(), made.geometry[made.annotation == row], strict=True))
        for row in range(15)
    ]
    expected = []
    for a, b in zip(*every_pair(15, 15), strict=True):
        shared = sum(regions[a][z].intersection(regions[b][z]).area for z in regions[a].keys() & regions[b].keys())
        both = sum(shapely.area(region) for row in (a, b) for region in regions[row].values())
        expected.append(shared / (both - shared))
    left, right = every_pair(15, 15)
    np.testing.assert_allclose(volume_iou(column, left, column, right), expected, atol=1e-12)


def test_copies_are_exactly_one_wherever_an_outline_begins():
    rng = np.random.default_rng(0)
    points = rng.random((9, 2)) * 100
    drawn = [points, np.roll(points, 1, axis=0), points[::-1], np.roll(points[::-1], 2, axis=0)]
    column = volumes([[(0, outline), (3, outline + 7)] for outline in drawn])
    left, right = every_pair(4, 4)
    assert (volume_iou(column, left, column, right) == 1).all()


def test_annotations_of_two_scans_are_compared_in_relative_coordinates():
    # a quarter of the width and height, in the lowest slices of either scan; and the same in the highest
    def mark(width, height, slices):
        return [(number, [0, 0, width / 4, 0, width / 4, height / 4, 0, height / 4]) for number in slices]

    column = volumes(
        [mark(8192, 8192, [0]), mark(64, 32, [0]), mark(64, 32, [4]), mark(8192, 8192, [9])], scan=[0, 1, 1, 0]
    )
    values = volume_iou(column, np.array([0, 0, 3, 3]), column, np.array([1, 2, 2, 1]))
    assert values.tolist() == [1, 0, 1, 0]
    assert (volume_bound(column, np.array([0, 0, 3, 3]), column, np.array([1, 2, 2, 1])) >= values).all()
    np.testing.assert_array_equal(values, volume_iou(column, np.array([1, 2, 2, 1]), column, np.array([0, 0, 3, 3])))


@pytest.mark.parametrize("grid", [(128, 128, 128), (8, 512, 256)])
def test_the_grid_equals_whole_arrays(grid):
    column = random_volumes(np.random.default_rng(3), 8)
    column = replace(column, points=column.points * 70)  # larger than the scan, so that something is left on the grid
    whole = np.zeros((8, *grid), np.bool_)
    for g, row in enumerate(column.annotation):
        x, y = (column.points[column.contour_start[g] : column.contour_start[g + 1]] / 8192).T
        cells = skimage_polygon(np.rint(y * (grid[1] - 1)), np.rint(x * (grid[2] - 1)))
        whole[row][round(column.z[g] / 22.5 * (grid[0] - 1))][cells] = True
    left, right = every_pair(8, 8)
    expected = [(whole[a] & whole[b]).sum() / (whole[a] | whole[b]).sum() for a, b in zip(left, right, strict=True)]
    measure = volume_grid_iou(grid)
    voxels = measure.prepare(None, column)
    assert measure.values(voxels, left, voxels, right).tolist() == expected
    assert (np.array(expected) > 0).sum() > 8


@pytest.mark.parametrize("grid", [(128, 128), (1, 128, 128), (128, 128, 12.5), (128, True, 128)])
def test_a_grid_is_three_whole_numbers(grid):
    with pytest.raises(InputError, match="grid: expected"):
        volume_grid_iou(grid)


def test_lidc_as_the_peer_counts_it(lidc):
    # `kalos` 0.8.0, 3D_IoU_similarity, greedy, category_lenient, .5: mean and global alpha of these 120 scans
    result = agreement(lidc, "volume_iou_128", bootstrap=0)
    assert result.alpha == pytest.approx(0.39594995471144934, abs=1e-12)
    assert result.global_alpha == pytest.approx(0.2857306747573907, abs=1e-12)


def test_lidc_slice_by_slice(lidc):
    # cells of the grid are four pixels wide, and count if an outline crosses them: small nodules grow, and overlap more
    exact, grid = (compute_pairs(lidc, name, 0.0) for name in ("volume_iou", "volume_iou_128"))
    some = exact.similarity > 0
    assert some.sum() == 1123
    more = (grid.similarity - exact.similarity)[some]
    assert more.mean() == pytest.approx(0.056, abs=1e-3)
    volume = lidc.shapes["volume"].volume()
    smaller = np.minimum(volume[exact.left], volume[exact.right])[some]
    small = smaller < np.median(smaller)
    assert more[small].mean() > 1.5 * more[~small].mean()
    result = agreement(lidc, "volume_iou", bootstrap=0)
    assert result.alpha == pytest.approx(0.36566, abs=1e-5)
    assert result.global_alpha == pytest.approx(0.26336, abs=1e-5)


def test_nodules_above_one_another_are_not_compared_by_their_bounds():
    square = [[0, 0], [4, 0], [4, 4], [0, 4]]
    nodules = Annotations.from_rows(
        [
            {"image": "scan", "rater": rater, "category": "nodule", "volume": [{"z": z, "points": square}]}
            for rater, z in (("ann", 0), ("bob", 9))
        ],
        slice_positions={"scan": [0, 9]},
    )
    named = r"box_iou compares shapes of kind 'box': expected .*, got volume .volume_iou, volume_iou_128."
    with pytest.raises(InputError, match=named):
        agreement(nodules, "box_iou", bootstrap=0)
    assert agreement(nodules, "volume_iou", bootstrap=0).alpha < 0
