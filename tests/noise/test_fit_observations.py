"""Observations of noise between raters, vs. hand-worked scenes and a naive evaluation of the variations."""

import math

import numpy as np
import pytest

from kalos_core import InputError, variations
from kalos_core.noise.fit.observations import observe
from tests.noise.models import by_raters

SIZE = (200, 100)
ANN = (1, "ann", "cat", [20, 20, 40, 20])


def test_a_shift_is_relative_to_the_image_and_free_of_sign():
    seen = observe(by_raters(ANN, (1, "bob", "cat", [30, 17, 32, 22])))
    # centres (40, 30) and (46, 28); sides 40 x 20 and 32 x 22, in an image of 200 x 100
    step = (6 / 200, -2 / 100)
    assert seen.correct.translation == pytest.approx([math.hypot(*step)])
    assert seen.correct.angle == pytest.approx([math.atan2(step[1], step[0])])
    assert seen.correct.width == pytest.approx([math.log(40 / 32)])
    assert seen.correct.height == pytest.approx([math.log(22 / 20)])
    assert seen.correct.area == pytest.approx([(0.2 * 0.2 + 0.16 * 0.22) / 2])
    assert (len(seen.wrong_class), seen.events.tolist(), seen.annotations_per_rater.tolist()) == (0, [[0, 0]], [[1, 1]])


def test_the_same_centre_has_no_direction_and_another_class_is_its_own_group():
    seen = observe(by_raters(ANN, (1, "bob", "cat", [19, 19, 42, 22])))
    assert np.isnan(seen.correct.angle).all()
    assert len(seen.correct.angles) == 0
    seen = observe(by_raters(ANN, (1, "bob", "dog", [20, 20, 40, 22])))
    assert (len(seen.correct), len(seen.wrong_class)) == (0, 1)
    assert seen.categories[[seen.category_a[0], seen.category_b[0]]].tolist() == ["cat", "dog"]


def test_events_count_each_raters_own_and_images_without_any():
    boxes = {"ann": [(0, 0, 10, 10), (50, 0, 10, 10)], "bob": [(100, 0, 20, 10), (0, 0, 10, 10), (150, 50, 20, 10)]}
    marks = [(1, rater, "cat", list(box)) for rater, own in boxes.items() for box in own]
    seen = observe(by_raters(*marks, images=[1, 2]))
    assert seen.events.tolist() == [[1, 2], [0, 0]]  # ann alone at 50; bob at 100 and 150
    assert seen.annotations_per_rater.tolist() == [[2, 3], [0, 0]]
    assert sorted(seen.unmatched_area) == pytest.approx([0.005, 0.01, 0.01])
    assert seen.matched_area == pytest.approx([0.005, 0.005])


def test_fragments_lie_around_their_whole():
    # ann: one bar of 100 x 20 at (20, 40); bob: its left 48 and its right 36 pixels
    bars = (("ann", [20, 40, 100, 20]), ("bob", [84, 40, 36, 20]), ("bob", [20, 40, 48, 22]))
    seen = observe(by_raters(*((1, rater, "bar", box) for rater, box in bars)))
    assert seen.parent_area == pytest.approx([0.1])
    assert sorted(seen.other_area) == pytest.approx([0.036, 0.0528])
    assert seen.first.area == seen.second.area == pytest.approx([0.1])
    assert seen.first.width == pytest.approx([math.log(100 / 48)])  # the larger one, wherever it is in the table
    assert seen.first.height == [0]  # larger than the whole: not smaller
    assert seen.second.width == pytest.approx([math.log(100 / 36)])
    assert seen.first.translation == pytest.approx([math.hypot(26 / 200, 1 / 100)])
    assert seen.second.translation == pytest.approx([32 / 200])
    assert seen.opposition == pytest.approx([1 - math.atan2(0.01, 0.13) / math.pi])
    assert (seen.events.tolist(), len(seen.unmatched_area), len(seen.matched_area)) == ([[0, 0]], 0, 3)


def test_pairs_are_all_of_the_raters_who_were_assigned():
    seen = observe(by_raters(*((1, r, "cat", [10 + x, 10, 20, 20]) for x, r in enumerate(["ann", "bob", "cy"]))))
    assert sorted(seen.correct.translation) == pytest.approx([1 / 200, 1 / 200, 2 / 200])
    assert (seen.events.tolist(), seen.annotations_per_rater.tolist()) == ([[0, 0]] * 3, [[1, 1]] * 3)
    marks = [(image, rater, "cat", [10, 10, 20, 20]) for image, rater in ((1, "ann"), (2, "bob"), (2, "ann"))]
    assert observe(by_raters(*marks, assigned={1: ["ann"], 2: ["ann", "bob"]})).events.tolist() == [[0, 0]]


def test_lvis_against_a_naive_reading(lvis, lvis_seen):
    seen, found = lvis_seen, variations(lvis, "box_iou", max_merge=2)
    corners = lvis.shapes["box"].corners
    naive = []
    for kind, rows_a, rows_b in zip(found.type, found.rows_a, found.rows_b, strict=True):
        if kind == "correct":
            width, height = lvis.image_size[lvis.image[rows_a[0]]]
            (left, top, right, bottom), (west, north, east, south) = corners[rows_a[0]], corners[rows_b[0]]
            across = ((west + east) - (left + right)) / 2 / width
            down = ((north + south) - (top + bottom)) / 2 / height
            naive.append((math.hypot(across, down), abs(math.log((east - west) / (right - left)))))
        assert kind != "merged" or {len(rows_a), len(rows_b)} == {1, 2}
    np.testing.assert_allclose(np.stack([seen.correct.translation, seen.correct.width], axis=1), naive, atol=1e-12)
    counts = found.counts()
    assert seen.events.sum() == counts["missing"] + counts["additional"] == len(seen.unmatched_area)
    assert seen.events.sum(axis=0).tolist() == [counts["missing"], counts["additional"]] == [337, 357]
    assert len(seen.events) == len(lvis.images)
    assert len(seen.parent_area) == counts["merged"] + counts["merged_wrong_class"] == len(seen.first)
    assert len(seen.parent_area) + len(seen.other_area) == len(lvis)


def test_input_without_information_is_refused():
    both = [(image, rater, "cat", [0, 0, 9, 9]) for image in ("a.jpg", "b.jpg") for rater in ("ann", "bob")]
    for annotations, message in (
        (by_raters(*both, image_size={"a.jpg": SIZE}), r"image_size: expected width .*, got none of 'b\.jpg'$"),
        (by_raters(images=[1], raters=["ann", "bob"]), "expected annotations with boxes, got no annotations"),
    ):
        with pytest.raises(InputError, match=message):
            observe(annotations)
