"""Laws over the table `SIMILARITIES`; boxes and polygons vs. another implementation (other kinds: separate files)."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from kalos_core import SIMILARITIES, Annotations, InputError
from kalos_core._agreement import AgreementSettings
from kalos_core.shapes import Boxes, Keypoints, Masks, Polygons
from kalos_core.similarity import (
    box_giou,
    box_iou,
    centroid_box,
    get_similarity,
    polygon_giou,
    polygon_iou,
)
from kalos_core.similarity.centroids import Centroids
from kalos_core.similarity.keypoints import ScaledPoses
from kalos_core.similarity.masks import rasterise
from tests.similarity import shapes_3d
from tests.similarity.shapes_2d import IMAGE_SIZE, every_pair, random_boxes, random_masks, random_polygons, random_poses
from tests.strategies import rings


def _poses(*points):
    """Return poses of two keypoints; if the second is None, it is not labelled."""
    given = np.array([[one, (np.nan, np.nan) if other is None else other] for one, other in points], float)
    given = given.reshape(-1, 2, 2)
    return Keypoints(given, ~np.isnan(given[..., 0]), np.full((len(given), 2), IMAGE_SIZE), np.ones(len(given), bool))


def _pixels(*rows):
    return Masks.from_arrays([np.array(rows_of_one, bool) for rows_of_one in rows])


KINDS = {
    "box": SimpleNamespace(
        random=random_boxes,
        flat=lambda: Boxes(np.array([[1.0, 1, 5, 1], [0, 0, 8, 8]])),
        empty=lambda: Boxes.from_xywh([]),
    ),
    "polygon": SimpleNamespace(
        random=random_polygons,
        flat=lambda: Polygons.from_rings([[[1, 1, 5, 1, 3, 1]], [[0, 0, 8, 0, 8, 8, 0, 8]]]),
        empty=lambda: Polygons.from_rings([]),
    ),
    "mask": SimpleNamespace(
        random=random_masks,
        flat=lambda: _pixels([[0, 0], [0, 0]], [[1, 1], [1, 1]]),
        empty=lambda: _pixels(),
    ),
    "keypoints": SimpleNamespace(
        random=random_poses,
        flat=lambda: _poses(((5, 5), None), ((0, 0), (8, 8))),
        empty=lambda: _poses(),
    ),
    **shapes_3d.KINDS,
}
"""Kind -> random shapes. `flat`: two shapes, the first without area."""


@dataclass(frozen=True)
class Laws:
    """Further laws of a similarity; symmetry, range, floors and bounds hold for all."""

    kind: str = ""
    """Kind for tests, if not its own kind."""
    column: object = staticmethod(lambda column, _: column)
    """Column to compare instead of the shapes, in an image `scale` times as large."""
    one_on_itself: bool = True
    """False: only for shapes without dents."""
    reaches_zero: bool = True
    """For shapes with an area."""
    area: bool = True
    """A shape without area has similarity 0."""
    moves: bool = True
    """Translation of all shapes changes nothing."""
    scales: bool = True
    """Scaling of the image changes nothing."""


def _centroids(column, scale):
    return Centroids(column, np.full(len(column), IMAGE_SIZE * scale))


EXCEPTIONS = {
    "box_giou": Laws(reaches_zero=False),
    "polygon_giou": Laws(one_on_itself=False, reaches_zero=False),
    "polygon_raster_iou": Laws(column=lambda column, scale: rasterise(column, np.full((len(column), 2), 128 * scale)),
                               one_on_itself=False, moves=False, scales=False),
    "centroid": Laws("polygon", _centroids, reaches_zero=False),
    "pose": Laws(area=False, reaches_zero=False),
    "oks": Laws(column=lambda column, _: ScaledPoses(column, column.area(), np.full(column.points.shape[1], 0.2)),
                reaches_zero=False),
    "volume_iou_128": Laws(column=lambda column, _: SIMILARITIES["volume_iou_128"].prepare(None, column),
                           moves=False, scales=False, area=False, reaches_zero=False),
}  # fmt: skip
"""Similarity -> the laws that hold for it, if not all do."""

LAWS = {name: EXCEPTIONS.get(name, Laws()) for name in SIMILARITIES}

every_similarity = pytest.mark.parametrize("name", LAWS)


def those(law):
    return pytest.mark.parametrize("name", [name for name, laws in LAWS.items() if getattr(laws, law)])


def kind_of(name):
    return KINDS[LAWS[name].kind or SIMILARITIES[name].kind]


def compare(name, left, left_rows, right, right_rows, floor=0.0, scale=1):
    """Return the similarities for two columns of shapes."""
    prepared = (LAWS[name].column(column, scale) for column in (left, right))
    left, right = prepared
    return SIMILARITIES[name].values(left, left_rows, right, right_rows, floor)


def test_every_similarity_is_in_the_table_under_its_name():
    assert list(SIMILARITIES) == [measure.name for measure in SIMILARITIES.values()]
    assert set(EXCEPTIONS) <= set(SIMILARITIES)


@every_similarity
def test_symmetric_to_the_last_bit(name):
    for seed, (n, m) in enumerate([(1, 1), (1, 9), (9, 1), (7, 12), (12, 7), (9, 9)]):
        rng = np.random.default_rng(seed)
        a, b = kind_of(name).random(rng, n), kind_of(name).random(rng, m)
        left, right = every_pair(n, m)
        np.testing.assert_array_equal(compare(name, a, left, b, right), compare(name, b, right, a, left))


@those("one_on_itself")
@pytest.mark.parametrize("seed", range(2))
def test_a_shape_and_itself_are_exactly_one(name, seed):
    column = kind_of(name).random(np.random.default_rng(seed), 50)
    rows = np.arange(50)
    assert (column.area() > 0).all()
    assert (compare(name, column, rows, column, rows) == 1).all()


@every_similarity
@pytest.mark.parametrize("seed", range(2))
def test_never_below_zero_nor_above_one(name, seed):
    column = kind_of(name).random(np.random.default_rng(seed), 40)
    left, right = every_pair(40, 40)
    values = compare(name, column, left, column, right)
    assert values.shape == (1600,)
    assert ((values >= 0) & (values <= 1)).all()
    assert (values == 0).any() or not LAWS[name].reaches_zero
    assert ((values > 0) & (values < 1)).any()


@every_similarity
def test_no_pairs_give_no_values(name):
    none = np.zeros(0, np.intp)
    full, empty = kind_of(name).flat(), kind_of(name).empty()
    for left in (full, empty):
        for right in (full, empty):
            assert compare(name, left, none, right, none, 0.5).shape == (0,)


@those("area")
def test_a_shape_without_area_is_like_nothing_not_even_itself(name):
    column = kind_of(name).flat()
    left, right = every_pair(2, 2)
    assert compare(name, column, left, column, right).tolist() == [0, 0, 0, 1]


@those("moves")
def test_moving_both_changes_nothing(name):
    values = []
    for shift in (0.0, 4096.0 if name != "mask_iou" else 211.0):
        column = kind_of(name).random(np.random.default_rng(1), 20, shift)
        left, right = every_pair(20, 20)
        values.append(compare(name, column, left, column, right))
    np.testing.assert_allclose(*values, atol=1e-9)


@those("scales")
def test_enlarging_the_image_changes_nothing(name):
    values = []
    for scale in (1, 3):
        column = kind_of(name).random(np.random.default_rng(1), 20, scale=scale)
        left, right = every_pair(20, 20)
        values.append(compare(name, column, left, column, right, scale=scale))
    np.testing.assert_allclose(*values, atol=1e-9)


@every_similarity
def test_a_floor_only_removes_values_below_it(name):
    column = kind_of(name).random(np.random.default_rng(2), 40)
    left, right = every_pair(40, 40)
    every = compare(name, column, left, column, right)
    for floor in (1e-9, 0.25, 0.5, 0.9, 1.0):
        some = compare(name, column, left, column, right, floor)
        np.testing.assert_array_equal(every[every >= floor], some[every >= floor])
        assert (some[every < floor] <= every[every < floor]).all()


@pytest.mark.parametrize("name", [name for name, measure in SIMILARITIES.items() if measure.bound])
@pytest.mark.parametrize("seed", range(3))
def test_no_similarity_exceeds_its_bound(name, seed):
    shapes = kind_of(name).random(np.random.default_rng(seed), 60)
    column = LAWS[name].column(shapes, 1)
    left, right = every_pair(60, 60)
    bound = SIMILARITIES[name].bound(column, left, column, right)
    assert (bound >= compare(name, shapes, left, shapes, right)).all()
    assert (bound < 0.5).any()  # the bound is useful


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


def test_box_giou_by_hand():
    # two unit squares 1 apart: nothing shared, 2 of the 3 around them filled: GIoU = 0 - 1/3, (1 - 1/3) / 2 = 1/3;
    # one half over the other: 1/3 shared of 1.5, all of 1.5 filled: (1 + 1/3) / 2; corner to corner: 2 of 4 filled
    boxes = Boxes.from_xywh([[0, 0, 1, 1], [2, 0, 1, 1], [0.5, 0, 1, 1], [1, 1, 1, 1]])
    values = box_giou(boxes, np.zeros(4, int), boxes, np.arange(4))
    np.testing.assert_allclose(values, [1, 1 / 3, 2 / 3, 1 / 4], atol=1e-15)


def giou_of(a, b, around):
    union = a.union(b).area
    return (1 + a.intersection(b).area / union - (around.area - union) / around.area) / 2


@given(st.lists(cells, min_size=1, max_size=4), st.lists(cells, min_size=1, max_size=5))
def test_box_giou_equals_shapely_one_by_one(left, right):
    rows = every_pair(len(left), len(right))
    expected = []
    for i, j in zip(*rows, strict=True):
        a, b = (shapely.box(x, y, x + w, y + h) for x, y, w, h in (left[i], right[j]))
        expected.append(giou_of(a, b, shapely.box(*a.union(b).bounds)))
    values = box_giou(Boxes.from_xywh(left), rows[0], Boxes.from_xywh(right), rows[1])
    np.testing.assert_allclose(values, expected, atol=1e-12)


def test_polygon_giou_by_hand():
    #  +--+        an L fills 3 of the 3.5 of its hull: (1 + 1 - 1/7) / 2 to itself;
    #  |  |        the square 1 right of a unit square: 2 of 3 filled
    #  |  +--+
    #  +-----+
    steps, square, other = [0, 0, 2, 0, 2, 1, 1, 1, 1, 2, 0, 2], [0, 0, 1, 0, 1, 1, 0, 1], [2, 0, 3, 0, 3, 1, 2, 1]
    polygons = Polygons.from_rings([[steps], [square], [other]])
    values = polygon_giou(polygons, np.array([0, 1, 1]), polygons, np.array([0, 1, 2]))
    np.testing.assert_allclose(values, [13 / 14, 1, 1 / 3], atol=1e-15)


@given(st.lists(st.lists(rings(), min_size=1, max_size=3), min_size=1, max_size=6))
def test_polygon_giou_equals_shapely_one_by_one(shapes):
    column = Polygons.from_rings(shapes)
    left, right = every_pair(len(shapes), len(shapes))
    parts = zip(column.geometries[left], column.geometries[right], strict=True)
    expected = [giou_of(a, b, shapely.unary_union([a, b]).convex_hull) for a, b in parts]
    np.testing.assert_allclose(polygon_giou(column, left, column, right), expected, atol=1e-12)


def test_a_convex_polygon_and_itself_are_exactly_one_by_giou():
    rng = np.random.default_rng(0)
    for _ in range(20):
        hull = shapely.MultiPoint(rng.random((12, 2)) * 100).convex_hull
        points = shapely.get_coordinates(hull)[:-1]
        column = Polygons.from_rings([[points], [np.roll(points, 2, axis=0)], [points[::-1]]])
        left, right = every_pair(3, 3)
        assert (polygon_giou(column, left, column, right) == 1).all()


def test_centroid_box_by_hand():
    # centres 5 apart, both diagonals 10; of two of one area the longer diagonal; of two areas that of the larger box
    boxes = Boxes.from_xywh([[0, 0, 6, 8], [3, 4, 6, 8], [0, 0, 48, 1], [-2, -1, 10, 10]])
    values = centroid_box(boxes, np.zeros(3, int), boxes, np.array([1, 2, 3]))
    expected = [0.5, 1 - np.hypot(21, 3.5) / np.hypot(48, 1), 1]
    np.testing.assert_allclose(values, expected, atol=1e-15)


def test_centroids_of_boxes_as_the_authors_package_has_them(peer_package):
    theirs = peer_package("kalos.iaa.similarity_functions")
    boxes = random_boxes(np.random.default_rng(0), 12)
    left, right = every_pair(12, 12)
    marks = [{"bbox": box} for box in boxes.xywh().tolist()]
    expected = [theirs.centroid_similarity(marks[i], marks[j]) for i, j in zip(left, right, strict=True)]
    np.testing.assert_allclose(centroid_box(boxes, left, boxes, right), expected, atol=1e-9)


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


def test_a_copied_polygon_is_exactly_one_wherever_its_outline_begins():
    rng = np.random.default_rng(0)
    for _ in range(20):
        points = rng.random((rng.integers(3, 12), 2)) * 100
        drawn = [points, np.roll(points, 1, axis=0), points[::-1], np.roll(points[::-1], 2, axis=0)]
        column = Polygons.from_rings([[flat] for flat in drawn])
        left, right = every_pair(4, 4)
        assert (polygon_iou(column, left, column, right) == 1).all()


def test_threads_change_nothing(monkeypatch):
    column = random_polygons(np.random.default_rng(0), 30)
    left, right = every_pair(30, 30)
    alone = polygon_iou(column, left, column, right)
    monkeypatch.setattr("kalos_core.similarity.polygons.PAIRS_A_THREAD", 1)
    np.testing.assert_array_equal(polygon_iou(column, left, column, right), alone)


@pytest.mark.parametrize("name", ["iou", None, ["box_iou"]])
def test_an_unknown_similarity_lists_the_known_ones(name):
    with pytest.raises(InputError, match=r"similarity: expected one of 'box_.*', .*'polygon_iou'.*, got"):
        get_similarity(name)


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan"), "0.5", None, True, [0.5], 10**400, 1 + 0j])
def test_a_threshold_is_a_number_from_zero_to_one(threshold):
    with pytest.raises(InputError, match="threshold: expected a number from 0 to 1, got"):
        AgreementSettings(threshold=threshold)
    given = [AgreementSettings(threshold=one).threshold for one in (0, 1, 0.5, np.float32(0.5), np.int64(1))]
    assert [type(one) for one in given] == [float] * 5


def test_annotations_without_a_polygon_are_counted_and_named():
    rows = [{"id": i, "image": 1, "rater": "ann", "category": "cat", "box": [0, 0, 4, 4]} for i in range(1, 8)]
    with pytest.raises(InputError, match=r"polygon_iou compares shapes of kind 'polygon': expected .*, got box"):
        get_similarity("polygon_iou").column(Annotations.from_rows(rows))
    rows.append({"id": 8, "image": 1, "rater": "ann", "category": "cat", "polygon": [[0, 0, 4, 0, 4, 4]]})
    with pytest.raises(InputError, match=r"got 7 of 8 annotations without \(ids 1, 2, 3, 4, 5 and 2 more\)"):
        get_similarity("polygon_iou").column(Annotations.from_rows(rows))
