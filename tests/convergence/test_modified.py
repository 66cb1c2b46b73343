"""Modified mAP: by hand, and equal to pycocotools to 1e-12."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kalos_core import Annotations, InputError, modified_map
from kalos_core.convergence import SIZES, THRESHOLDS
from kalos_core.pairs import compute_pairs
from kalos_core.similarity import box_iou
from kalos_core.similarity.masks import rasterise
from tests.convergence.coco import coco_precision
from tests.strategies import reordered, tables
from tests.tiers import first

MEASURES = {"box": "box_iou", "polygon": "polygon_raster_iou", "mask": "mask_iou"}
COARSE = (0.25, 0.5, 0.75, 1.0)
SAME = {"rtol": 0, "atol": 1e-12}


def boxes(*marks, **more):
    """Return annotations given as (image, rater, class, x, width), all with height 10."""
    rows = [
        {"id": place, "image": image, "rater": rater, "category": name, "box": [x, 0, width, 10]}
        for place, (image, rater, name, x, width) in enumerate(marks)
    ]
    return Annotations.from_rows(rows, **more)


def in_pixels(annotations):
    """Return the same table with image sizes, and polygons as masks."""
    size = np.full((len(annotations.images), 2), 16.0)
    shapes = dict(annotations.shapes)
    if len(annotations):
        shapes["mask"] = rasterise(shapes["polygon"], np.full((len(annotations), 2), 16))
    return replace(annotations, image_size=size, shapes=shapes)


def check(annotations, kind="box", thresholds=COARSE, size="all"):
    """Compare every direction and every class with pycocotools."""
    result = modified_map(annotations, MEASURES[kind], thresholds, size=size)
    raters = len(annotations.raters)
    expected = np.full((len(thresholds), raters, raters), np.nan)
    limits = (SIZES[size][0], min(SIZES[size][1], 1e10))
    for truth, found in permutations(range(raters), 2):
        classes = coco_precision(annotations, truth, found, thresholds, kind, limits)
        there = np.isfinite(classes).all(axis=0)
        expected[:, truth, found] = classes[:, there].mean(axis=1) if there.any() else np.nan
        own = (result.class_truth == truth) & (result.class_found == found)
        assert result.class_category[own].tolist() == np.flatnonzero(there).tolist()
        np.testing.assert_allclose(result.class_precision[:, own], classes[:, there], **SAME)
    np.testing.assert_allclose(result.directions, expected, **SAME)
    return result


def test_by_hand():
    # ann and bob have one cat, bob also a dog: a class that only the detections have does not count
    marks = boxes((1, "ann", "cat", 0, 10), (1, "bob", "cat", 0, 10), (1, "bob", "dog", 50, 10))
    result = check(marks)
    assert result.directions[0].round(3).tolist()[0][1] == 1.0
    assert result.directions[0, 1, 0] == 0.5
    assert result.classes().to_numpy().tolist() == [["cat", 1.0], ["dog", 0.0]]
    # image 1: ann has cats at 0 and 50, bob one at 0 that covers 7 of 10: IoU .7
    annotations = boxes((1, "ann", "cat", 0, 10), (1, "ann", "cat", 50, 10), (1, "bob", "cat", 0, 7))
    result = modified_map(annotations, thresholds=(0.5, 0.7, 0.75))
    # ann as truth: precision 1 up to recall 1/2, 51 of 101 points; bob as truth: ann's first box hits, AP 1
    np.testing.assert_allclose(result.directions[:, 0, 1], [51 / 101, 51 / 101, 0])
    np.testing.assert_allclose(result.directions[:, 1, 0], [1, 1, 0])
    np.testing.assert_allclose(result.per_threshold, [76 / 101, 76 / 101, 0])
    assert result.mean == pytest.approx(2 * 76 / 303)
    assert result.images.tolist() == [[1, 1], [1, 1]]


def a_comparable(annotations):
    """Return whether an annotation is on an image and of a class that its rater and another are assigned to."""
    assigned = annotations.assigned_per_annotation
    own = assigned[np.arange(len(annotations)), annotations.rater]
    return bool((own & (assigned.sum(axis=1) > 1)).any())


@pytest.mark.parametrize("kind", MEASURES)
@settings(max_examples=10)
@given(tables(raters=3, limits=True, exclusions=True).filter(a_comparable))
def test_equal_to_pycocotools_where_many_overlaps_are_the_same(kind, annotations):
    check(in_pixels(annotations), kind)


@settings(max_examples=20)
@given(tables(raters=2, everyone=True, marks=20, categories=1, images=2).filter(a_comparable), st.integers(0, 99))
def test_images_are_walked_by_their_numbers(annotations, seed):
    numbers = np.random.default_rng(seed).permutation(len(annotations.images))
    check(replace(annotations, images=np.array(numbers.tolist(), dtype=object)))


@pytest.mark.parametrize(("kind", "size"), [("box", "small"), ("box", "medium"), ("polygon", "large"), ("box", "all")])
def test_sizes_of_coco_and_of_crowd_regions(size, kind):
    rng = np.random.default_rng(3)
    sides = np.array([31, 32, 33, 95, 96, 97, 60])
    rows = []
    for place in range(90):
        x, y = rng.integers(0, 3, 2) * 100
        for rater in ("ann", "bob"):
            width, height = rng.choice(sides, 2)
            ring = [x, y, x + width, y, x + width, y + height, x, y + height]
            rows.append({"image": place % 4, "rater": rater, "category": "ab"[place % 2], "polygon": [ring]})
    annotations = Annotations.from_rows(rows, image_size=dict.fromkeys(range(4), (400, 400)))
    assert 0 < check(annotations, kind, (0.3, 0.6), size).mean < 1
    chosen = rng.random(len(annotations)) < 0.15
    crowded = replace(annotations.select(rows=~chosen), crowd_regions=annotations.select(rows=chosen))
    result = check(crowded, kind, (0.3, 0.6), size)
    without = modified_map(replace(crowded, crowd_regions=None), MEASURES[kind], (0.3, 0.6), size=size)
    assert result.mean != without.mean or size == "large"  # none of the large regions contains a detection


def test_at_most_a_thousand_detections_of_an_image_and_class():
    # ann's one annotation is the 1,000th or the 1,001st of bob's
    for before, expected in ((999, 1 / 1000), (1000, 0.0)):
        marks = [(1, "bob", "cat", 20 * place, 10) for place in range(1, before + 1)]
        annotations = boxes((1, "ann", "cat", 0, 10), *marks, (1, "bob", "cat", 0, 10))
        assert check(annotations).directions[0, 0, 1] == pytest.approx(expected)


def test_threshold_one_finds_equal_shapes():
    annotations = boxes((1, "ann", "cat", 0.1, 0.2), (1, "bob", "cat", 0.1, 0.2), (1, "bob", "cat", 5, 1))
    assert check(annotations, thresholds=(1.0,)).mean == pytest.approx((1 + 1 / 2) / 2, abs=1e-2)


def test_images_of_one_rater_and_empty_images_do_not_count():
    marks = [(1, "ann", "cat", 0, 10), (1, "bob", "cat", 0, 8), (2, "ann", "cat", 0, 10)]
    asked = {1: ["ann", "bob"], 2: ["ann"], 3: ["ann", "bob"]}
    result = check(boxes(*marks, images=[1, 2, 3], assigned=asked))
    assert result.per_threshold.tolist() == [1, 1, 1, 0]
    assert result.images.tolist() == [[3, 2], [2, 2]]


def test_lvis_boxes(lvis):
    # formulas: pycocotools, mean of both directions
    published = [0.81142, 0.79052, 0.76746, 0.74981, 0.73006, 0.70473, 0.66092, 0.59579, 0.50795, 0.28819]
    result = modified_map(lvis, "box_iou")
    np.testing.assert_allclose(result.per_threshold, published, atol=5e-6)
    assert result.mean == pytest.approx(0.66068, abs=5e-6)


@pytest.mark.parametrize("kind", first(["box", "polygon"]))
def test_part_of_lvis(lvis, kind):
    part = lvis.select(images=np.arange(25))
    used = np.unique(part.category)  # pycocotools iterates over every class of every image
    part = replace(part, category=np.searchsorted(used, part.category), categories=part.categories[used])
    assert 0.6 < check(part, kind, THRESHOLDS).mean < 0.8


def test_lvis_polygons_drawn_in_pixels(lvis):
    assert modified_map(lvis, "polygon_raster_iou").mean == pytest.approx(0.6199119529864457, abs=1e-12)


@given(tables(raters=3, limits=True, exclusions=True).filter(a_comparable), st.integers(0, 99))
def test_joint_depends_on_no_order(annotations, seed):
    ours, other = (
        modified_map(table, thresholds=COARSE, ties="joint") for table in (annotations, reordered(annotations, seed))
    )
    place = [other.raters.tolist().index(name) for name in ours.raters]
    np.testing.assert_allclose(ours.directions, other.directions[:, place][:, :, place], **SAME)


def test_joint_by_hand():
    # bob's three of which one hits ann's one: precision 1/3 up to recall 1; ann's one hits one of bob's three
    annotations = boxes(
        (1, "bob", "cat", 50, 9), (1, "bob", "cat", 70, 9), (1, "bob", "cat", 0, 9), (1, "ann", "cat", 0, 10)
    )
    result = modified_map(annotations, ties="joint", thresholds=(0.5, 0.95))
    bob, ann = 0, 1
    np.testing.assert_allclose(result.directions[:, ann, bob], [1 / 3, 0])
    np.testing.assert_allclose(result.directions[:, bob, ann], [34 / 101, 0])


def joint_by_loop(annotations, truth, found, threshold):
    """Compute mean precision up to each recall over the classes of the ground truth, with pairs by similarity."""
    boxes_of, aps = annotations.shapes["box"], []
    for name in np.unique(annotations.category[annotations.rater == truth]):
        own, other = (np.flatnonzero((annotations.rater == r) & (annotations.category == name)) for r in (truth, found))
        pairs = sorted(
            (
                (float(box_iou(boxes_of, np.array([a]), boxes_of, np.array([b]))[0]), a, b)
                for a in own.tolist()
                for b in other.tolist()
                if annotations.image[a] == annotations.image[b]
            ),
            reverse=True,
        )
        free, hits = set(own.tolist()) | set(other.tolist()), 0
        for similarity, a, b in pairs:
            if similarity > 0 and {a, b} <= free:
                free -= {a, b}
                hits += similarity >= threshold
        recall = hits / len(own)
        aps.append(np.mean([hits / len(other) if hits and r <= recall else 0 for r in np.linspace(0, 1, 101)]))
    return np.mean(aps)


@pytest.mark.parametrize("seed", range(3))
def test_joint_equal_to_a_loop(seed):
    rng = np.random.default_rng(seed)
    rows = [
        {"image": image, "rater": "ab"[place % 2], "category": "cd"[code], "box": [*(12 * xy), *(10 * wh + 4)]}
        for place in range(50)
        for image, code, xy, wh in [(int(rng.integers(3)), int(rng.integers(2)), rng.random(2), rng.random(2))]
    ]
    annotations = Annotations.from_rows(rows)
    # pairs below the floor cannot displace one above it, so the lowest threshold changes nothing
    result = modified_map(annotations, thresholds=(0.1, 0.3, 0.5), ties="joint")
    for level, threshold in enumerate(result.thresholds):
        for truth, found in ((0, 1), (1, 0)):
            expected = joint_by_loop(annotations, truth, found, threshold)
            assert result.directions[level, truth, found] == pytest.approx(expected, abs=1e-12)


def test_shuffle_is_the_mean_over_orders():
    # ann has one annotation, bob a hit and a miss: 1 if the hit comes first, 1/2 otherwise; bob as truth: always 51/101
    annotations = boxes((1, "ann", "cat", 0, 10), (1, "bob", "cat", 50, 9), (1, "bob", "cat", 0, 9))
    result = modified_map(annotations, thresholds=(0.5,), ties="shuffle", orders=400, seed=1)
    possible = {round((value + 51 / 101) / 2, 9) for value in (0.5, 1)}
    assert {round(value, 9) for value in result.orders} == possible
    assert result.directions[0, 0, 1] == pytest.approx(0.75, abs=0.05)
    assert result.mean == pytest.approx(result.orders.mean())
    again, other = (
        modified_map(annotations, thresholds=(0.5,), ties="shuffle", orders=400, seed=seed).orders for seed in (1, 2)
    )
    np.testing.assert_array_equal(again, result.orders)
    assert (other != again).any()


def test_three_raters_say_that_there_is_no_one_number():
    asked = {1: ["ann", "bob"], 2: ["bob", "cid"]}
    marks = [(1, "ann", "cat", 0, 10), (1, "bob", "cat", 0, 8), (2, "bob", "cat", 0, 8), (2, "cid", "cat", 0, 8)]
    result = modified_map(boxes(*marks, assigned=asked), thresholds=(0.5, 0.9))
    np.testing.assert_array_equal(result.mean, [[np.nan, 0.5, np.nan], [0.5, np.nan, 1.0], [np.nan, 1.0, np.nan]])
    assert str(result) == (
        "mmAP(box_iou, ties=coco, size=all) from 0.500 to 1.000, mean 0.750, over every ordered pair of 3 raters, "
        "thresholds 0.5 to 0.9"
    )
    table = result.to_pandas()
    assert len(table) == 8
    assert table.query("ground_truth == 'bob' and detections == 'cid'")["map"].tolist() == [1, 1]


def test_pairs_are_reused():
    annotations = boxes((1, "ann", "cat", 0, 10), (1, "bob", "cat", 0, 8))
    pairs = compute_pairs(annotations, floor=0.1)
    assert modified_map(annotations, pairs=pairs).mean == modified_map(annotations).mean
    with pytest.raises(InputError, match="expected pairs of 'box_giou', got 'box_iou'"):
        modified_map(annotations, "box_giou", pairs=pairs)
    with pytest.raises(InputError, match=r"expected at least 0\.1, from which these pairs"):
        modified_map(annotations, thresholds=(0.05,), pairs=pairs)


def strangers(common_image=False):
    """Return two raters without a common image, or with one but without a common class."""
    marks = [(0, "ann", "cat", 0, 9), (0 if common_image else 1, "bob", "dog", 0, 9)]
    asked = None if common_image else {0: ["ann"], 1: ["bob"]}
    return boxes(*marks, assigned=asked, assigned_categories={"ann": ["cat"], "bob": ["dog"]})


FINE = boxes((1, "ann", "cat", 0, 10), (1, "bob", "cat", 0, 8))


@pytest.mark.parametrize(
    ("annotations", "arguments", "message"),
    [
        (boxes((1, "ann", "cat", 0, 9)), {}, "at least two raters, got 1"),
        (strangers(), {}, "expected an image that two raters were assigned to, got none"),
        (strangers(common_image=True), {}, "got no class in common"),
        (Annotations.from_rows([], images=[1], raters=["ann", "bob"]), {}, "got none to compare"),
        (FINE, {"size": "large"}, "annotations of size 'large' on images of two raters, got none"),
        (FINE, {"ties": "random"}, "ties: expected one of 'coco', 'joint', 'shuffle', got 'random'"),
        (FINE, {"thresholds": ()}, "at least one, got"),
        (FINE, {"thresholds": (0.0, 0.5)}, "thresholds: expected a number above 0"),
        (FINE, {"ties": "shuffle", "orders": 0}, "orders: expected a whole number of at least 1"),
        (FINE, {"similarity": "polygon_iou"}, "compares shapes of kind 'polygon'"),
    ],
)
def test_undefined_results_are_reported(annotations, arguments, message):
    with pytest.raises(InputError, match=message):
        modified_map(annotations, **arguments)
