"""Laws over the table `SIMILARITIES`, and each similarity against a second witness."""

from types import SimpleNamespace

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from pycocotools import mask as coco_mask

from kalos_core import SIMILARITIES, Annotations, InputError, Similarity
from kalos_core.shapes import Boxes, Polygons
from kalos_core.similarity import box_iou, check_threshold, get_similarity, polygon_iou
from tests.strategies import FORMS, ring, rings

every_similarity = pytest.mark.parametrize("measure", SIMILARITIES.values(), ids=SIMILARITIES)


def _random_boxes(rng, count, shift=0.0):
    return Boxes.from_xywh(np.column_stack([rng.random((count, 2)) * 60 + shift, rng.random((count, 2)) * 40 + 1]))


def _random_polygons(rng, count, shift=0.0):
    return Polygons.from_rings(
        [
            [ring(rng.integers(len(FORMS)), *(rng.random(2) * 60 + shift), *(rng.random(2) * 40 + 1), rng.integers(6))]
            for _ in range(count)
        ]
    )


KINDS = {
    "box": SimpleNamespace(
        random=_random_boxes,
        flat=lambda: Boxes(np.array([[1.0, 1, 5, 1], [0, 0, 8, 8]])),
        empty=lambda: Boxes.from_xywh([]),
    ),
    "polygon": SimpleNamespace(
        random=_random_polygons,
        flat=lambda: Polygons.from_rings([[[1, 1, 5, 1, 3, 1]], [[0, 0, 8, 0, 8, 8, 0, 8]]]),
        empty=lambda: Polygons.from_rings([]),
    ),
}
"""How to draw shapes of each kind: a new kind gets all laws by its entry here and its similarity's in the table."""


def every_pair(n, m):
    left, right = np.divmod(np.arange(n * m), m)
    return left, right


@every_similarity
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 9), (9, 1), (7, 12)])
def test_symmetric_to_the_last_bit(measure, seed, n, m):
    rng = np.random.default_rng(seed)
    a, b = KINDS[measure.kind].random(rng, n), KINDS[measure.kind].random(rng, m)
    left, right = every_pair(n, m)
    np.testing.assert_array_equal(
        measure.compare(a, left, b, right, 0.0),
        measure.compare(b, right, a, left, 0.0),
    )


@every_similarity
@pytest.mark.parametrize("seed", range(5))
def test_a_shape_and_itself_are_exactly_one(measure, seed):
    column = KINDS[measure.kind].random(np.random.default_rng(seed), 50)
    rows = np.arange(50)
    assert (column.area() > 0).all()
    assert (measure.compare(column, rows, column, rows, 0.0) == 1).all()


@every_similarity
@pytest.mark.parametrize("seed", range(5))
def test_never_below_zero_nor_above_one(measure, seed):
    column = KINDS[measure.kind].random(np.random.default_rng(seed), 40)
    values = measure.compare(column, *every_pair(40, 40)[:1], column, every_pair(40, 40)[1], 0.0)
    assert values.shape == (1600,)
    assert ((values >= 0) & (values <= 1)).all()
    assert (values == 0).any()
    assert ((values > 0) & (values < 1)).any()


@every_similarity
def test_no_pairs_give_no_values(measure):
    none = np.zeros(0, np.intp)
    full, empty = KINDS[measure.kind].flat(), KINDS[measure.kind].empty()
    for left in (full, empty):
        for right in (full, empty):
            assert measure.compare(left, none, right, none, 0.5).shape == (0,)


@every_similarity
def test_a_shape_without_area_is_like_nothing_not_even_itself(measure):
    column = KINDS[measure.kind].flat()
    left, right = every_pair(2, 2)
    assert measure.compare(column, left, column, right, 0.0).tolist() == [0, 0, 0, 1]


@every_similarity
def test_moving_both_changes_nothing(measure):
    values = []
    for shift in (0.0, 4096.0):
        column = KINDS[measure.kind].random(np.random.default_rng(1), 20, shift)
        left, right = every_pair(20, 20)
        values.append(measure.compare(column, left, column, right, 0.0))
    np.testing.assert_allclose(*values, atol=1e-9)


@every_similarity
@pytest.mark.parametrize("floor", [1e-9, 0.25, 0.5, 0.9, 1.0])
def test_a_floor_only_silences_what_is_below_it(measure, floor):
    column = KINDS[measure.kind].random(np.random.default_rng(2), 40)
    left, right = every_pair(40, 40)
    every, some = (measure.compare(column, left, column, right, least) for least in (0.0, floor))
    np.testing.assert_array_equal(every[every >= floor], some[every >= floor])
    assert (some[every < floor] <= every[every < floor]).all()


def test_box_iou_by_hand():
    #  0 1 2 3
    #  +---+
    #  | +-|-+   two squares of 4 share 1x2: 2 / (4 + 4 - 2)
    #  +---+ |
    #    +---+   (drawn one lower for clarity)
    boxes = Boxes.from_xywh([[0, 0, 2, 2], [1, 0, 2, 2], [2, 0, 2, 2], [0, 0, 4, 4]])
    rows = np.zeros(3, int)
    assert box_iou(boxes, rows, boxes, np.array([1, 2, 3])).tolist() == [2 / 6, 0, 4 / 16]


cells = st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 8), st.integers(1, 8))


@given(st.lists(cells, min_size=1, max_size=4), st.lists(cells, min_size=1, max_size=5))
def test_box_iou_counts_pixels(left, right):
    def pixels(x, y, width, height):
        return {(x + i, y + j) for i in range(width) for j in range(height)}

    rows = every_pair(len(left), len(right))
    expected = [
        len(pixels(*left[a]) & pixels(*right[b])) / len(pixels(*left[a]) | pixels(*right[b]))
        for a, b in zip(*rows, strict=True)
    ]
    assert box_iou(Boxes.from_xywh(left), rows[0], Boxes.from_xywh(right), rows[1]).tolist() == expected


@pytest.mark.parametrize("seed", range(3))
def test_box_iou_equals_pycocotools(seed):
    rng = np.random.default_rng(seed)
    a, b = _random_boxes(rng, 30), _random_boxes(rng, 20)
    theirs = coco_mask.iou(a.xywh(), b.xywh(), [0] * 20)
    left, right = every_pair(30, 20)
    np.testing.assert_allclose(box_iou(a, left, b, right).reshape(30, 20), theirs, atol=1e-12)


def test_polygon_iou_by_hand():
    #  0   2
    #  +---+ 0
    #  |  /|     the triangle is half of the square;
    #  | / |     two such triangles share a quarter of it: 1 / (2 + 2 - 1)
    #  |/  |
    #  +---+ 2
    square, triangle, other = [0, 0, 2, 0, 2, 2, 0, 2], [0, 0, 2, 0, 0, 2], [0, 0, 2, 0, 2, 2]
    polygons = Polygons.from_rings([[square], [triangle], [other]])
    values = polygon_iou(polygons, np.array([0, 1, 1]), polygons, np.array([1, 2, 1]))
    assert values.tolist() == [0.5, 1 / 3, 1]


@given(st.lists(st.lists(rings(), min_size=1, max_size=3), min_size=1, max_size=6))
def test_polygon_iou_equals_shapely_one_by_one(shapes):
    column = Polygons.from_rings(shapes)
    alone = [shapely.unary_union([shapely.make_valid(shapely.Polygon(np.reshape(flat, (-1, 2)))) for flat in parts])
             for parts in shapes]  # fmt: skip
    left, right = every_pair(len(shapes), len(shapes))
    expected = [
        alone[a].intersection(alone[b]).area / alone[a].union(alone[b]).area for a, b in zip(left, right, strict=True)
    ]
    np.testing.assert_allclose(polygon_iou(column, left, column, right), expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_polygon_iou_is_near_what_pixels_say(seed):
    # whole vertices, so that the two rasters of 10 pixels a unit are off by no more than their outlines
    rng = np.random.default_rng(seed)
    flat = [ring(form, *rng.integers(0, 20, 2), *rng.integers(15, 30, 2)) for form in (0, 1, 2, 0, 1, 2)]
    masks = [coco_mask.merge(coco_mask.frPyObjects([[10 * v for v in points]], 500, 500)) for points in flat]
    column = Polygons.from_rings([[points] for points in flat])
    left, right = every_pair(6, 6)
    expected = coco_mask.iou(masks, masks, [0] * 6).ravel()
    np.testing.assert_allclose(polygon_iou(column, left, column, right), expected, atol=0.02)


@pytest.mark.parametrize("seed", range(20))
def test_a_copied_polygon_is_exactly_one_wherever_its_outline_begins(seed):
    rng = np.random.default_rng(seed)
    points = rng.random((rng.integers(3, 12), 2)) * 100
    drawn = [points, np.roll(points, 1, axis=0), points[::-1], np.roll(points[::-1], 2, axis=0)]
    column = Polygons.from_rings([[flat] for flat in drawn])
    left, right = every_pair(4, 4)
    assert (polygon_iou(column, left, column, right) == 1).all()


@pytest.mark.parametrize("seed", range(5))
def test_threads_change_nothing(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    column = _random_polygons(rng, 30)
    left, right = every_pair(30, 30)
    values = []
    for worth in (1, 10**9):
        monkeypatch.setattr("kalos_core.similarity.polygons.PAIRS_WORTH_A_THREAD", worth)
        values.append(polygon_iou(column, left, column, right))
    np.testing.assert_array_equal(*values)


@pytest.mark.parametrize("name", ["iou", "", None, 3, ["box_iou"]])
def test_an_unknown_similarity_lists_the_known_ones(name):
    with pytest.raises(InputError, match=r"similarity: expected one of 'box_iou', .*'polygon_iou'.*, got"):
        get_similarity(name)


def test_a_similarity_of_ones_own_is_taken_as_it_is():
    mine = Similarity("mine", "box", "always one", lambda _a, rows, _b, _r, _f: np.ones(len(rows)))
    assert get_similarity(mine) is mine


def test_the_table_is_keyed_by_its_entries_names():
    assert all(key == measure.name for key, measure in SIMILARITIES.items())


@pytest.mark.parametrize(
    "threshold", [-0.1, 1.1, float("nan"), float("inf"), "0.5", None, True, [0.5], 10**400, 1 + 0j]
)
def test_a_threshold_is_a_number_from_zero_to_one(threshold):
    with pytest.raises(InputError, match="threshold: expected a similarity from 0 to 1, got"):
        check_threshold(threshold)


@pytest.mark.parametrize("threshold", [0, 1, 0.5, np.float32(0.5), np.int64(1)])
def test_thresholds_of_any_number_type_are_floats(threshold):
    assert type(check_threshold(threshold)) is float


def test_a_shape_kind_that_is_not_there_is_said():
    rows = [{"image": 1, "rater": "ann", "category": "cat", "box": [0, 0, 4, 4]}]
    with pytest.raises(InputError, match="polygon_iou compares shapes of kind 'polygon'; the annotations have: box"):
        get_similarity("polygon_iou").column(Annotations.from_rows(rows))


def test_annotations_without_a_polygon_are_counted_and_named():
    rows = [{"id": i, "image": 1, "rater": "ann", "category": "cat", "box": [0, 0, 4, 4]} for i in range(1, 8)]
    rows.append({"id": 8, "image": 1, "rater": "ann", "category": "cat", "polygon": [[0, 0, 4, 0, 4, 4]]})
    with pytest.raises(InputError, match=r"7 of 8 annotations have none \(ids 1, 2, 3, 4, 5 and 2 more\)"):
        get_similarity("polygon_iou").column(Annotations.from_rows(rows))
