"""`calibrate`: figures of real data, intervals against a plain loop, sizes, what comes back, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from kalos_core import Annotations, InputError, calibrate
from kalos_core.calibration import SIZES, size_classes
from kalos_core.calibration.distances import draw_references
from kalos_core.resampling import draws
from kalos_core.shapes import Boxes
from kalos_core.similarity import get_similarity
from tests.strategies import reordered, tables


def scene(images=12, seed=0, **more):
    """Two raters a pixel or so apart, three annotations an image."""
    rng = np.random.default_rng(seed)
    rows = [
        {"image": image, "rater": rater, "category": "cat", "box": [*place + rng.normal(0, 1.5, 2), 20, 20]}
        for image in range(images)
        for place in rng.uniform(10, 90, (3, 2))
        for rater in ("ann", "bob")
    ]
    return Annotations.from_rows(rows, **more)


# ---- a real data set ----


def test_numbers_of_lvis(lvis):
    found = [calibrate(lvis, ["box_iou", "polygon_iou"], seed=seed) for seed in range(6)]
    assert {result.best.name for result in found} == {"polygon_iou"}
    boxes, polygons = ([result[name] for result in found] for name in ("box_iou", "polygon_iou"))
    # annotations of two images are compared in pixels; the peer, relative to the images, has .818, .834 (see below)
    assert np.mean([one.ks for one in boxes]) == pytest.approx(0.827, abs=0.006)
    assert np.mean([one.ks for one in polygons]) == pytest.approx(0.838, abs=0.006)
    assert np.mean([one.tau for one in boxes]) == pytest.approx(0.717, abs=0.03)
    assert np.mean([one.tau for one in polygons]) == pytest.approx(0.735, abs=0.03)
    # what is observed is not drawn
    assert {one.observed.mean() for one in boxes} == {0.26230440090955554}
    assert len(boxes[0].observed) == len(boxes[0].expected) == 3521


def test_with_annotations_relative_to_their_images_the_numbers_are_the_peers(lvis):
    # the public `kalos` 0.8.0, seeds 0 to 11: KS .8171 +- .0022, tau* .686 +- .028
    size = lvis.image_size[lvis.image]
    relative = replace(
        lvis,
        shapes={"box": Boxes(lvis.shapes["box"].corners / np.tile(size, 2))},
        image_size=np.ones((len(lvis.images), 2)),
    )
    found = [calibrate(relative, "box_iou", seed=seed).best for seed in range(12)]
    assert np.mean([one.ks for one in found]) == pytest.approx(0.817, abs=0.004)
    assert np.mean([one.tau for one in found]) == pytest.approx(0.686, abs=0.03)
    np.testing.assert_allclose(found[0].observed, calibrate(lvis, "box_iou").best.observed, atol=1e-9)


def test_small_annotations_need_a_more_lenient_threshold(lvis):
    # KαLOS Table 5 says so of all of LVIS: tau* .976, .748, .488
    strata = calibrate(lvis, "box_iou", repeats=5).best.strata
    small, medium, large = (strata[name].tau for name in SIZES)
    assert small > medium > large
    assert small == pytest.approx(0.965, abs=0.02)


# ---- intervals ----


def test_intervals_equal_a_plain_loop():
    annotations = scene(images=10)
    found = calibrate(annotations, "box_iou", repeats=2, bootstrap=30, seed=3).best
    # one other rater everywhere: one observed distance an annotation, and two expected ones
    place = annotations.image_rank[annotations.image]
    ks = []
    for times in np.concatenate(list(draws(10, 30, 3))).astype(int):
        observed = np.repeat(found.observed, times[place])
        expected = np.repeat(found.expected, times[np.tile(place, 2)])
        ks.append(ks_2samp(observed, expected, alternative="greater", method="asymp").statistic)
    np.testing.assert_allclose(found.ks_interval, np.percentile(ks, [2.5, 97.5]), atol=1e-12)


def test_an_interval_of_tau_holds_tau_and_that_of_the_threshold_is_its_mirror():
    found = calibrate(scene(images=30), "box_iou", bootstrap=50).best
    low, high = found.tau_interval
    assert low <= found.tau <= high
    assert found.threshold == 1 - found.tau
    assert found.threshold_interval.tolist() == [1 - high, 1 - low]


def test_without_a_bootstrap_there_is_no_interval():
    found = calibrate(scene()).best
    assert np.isnan([found.ks_interval, found.tau_interval, found.threshold_interval]).all()


@given(annotations=tables(images=4), seed=st.integers(0, 99))
def test_nothing_depends_on_the_order_of_rows_images_or_raters(annotations, seed):
    if annotations.assigned_any_class.any(axis=1).sum() < 2:
        return
    first, second = (
        calibrate(table, ["box_iou", "polygon_iou"], bootstrap=5, seed=1)
        for table in (annotations, reordered(annotations, seed))
    )
    for one in first:
        other = second[one.name]
        assert (one.ks, one.ks_at, one.reason) == pytest.approx((other.ks, other.ks_at, other.reason), nan_ok=True)
        assert one.tau == pytest.approx(other.tau, abs=1e-9, nan_ok=True)
        np.testing.assert_allclose(one.ks_interval, other.ks_interval, atol=1e-12)
        assert sorted(one.expected) == sorted(other.expected)


# ---- sizes ----


def test_sizes_are_scaled_to_the_image():
    #  image of 640 x 480: small below 32 x 32, large above 96 x 96; of 320 x 240: half of each side
    sides = [31.9, 32.0, 96.0, 96.1]
    rows = [
        {"image": image, "rater": "ann", "category": "cat", "box": [0, 0, side * scale, side * scale]}
        for image, scale in (("large", 1.0), ("tiny", 0.5))
        for side in sides
    ]
    annotations = Annotations.from_rows(rows, image_size={"large": (640, 480), "tiny": (320, 240)})
    assert [SIZES[code] for code in size_classes(annotations, "box_iou")] == ["small", "medium", "medium", "large"] * 2


def test_a_stratum_is_of_targets_against_annotations_of_any_size():
    # ann's annotation is small, bob's is medium: both have a distance below 1
    rows = [
        {"image": image, "rater": rater, "category": "cat", "box": [0, 0, side, side]}
        for image in (1, 2)
        for rater, side in (("ann", 30), ("bob", 40))
    ]
    whole = calibrate(Annotations.from_rows(rows, image_size={1: (640, 480), 2: (640, 480)}), "box_iou").best
    distance = 1 - 900 / 1600
    assert whole.strata["small"].observed.tolist() == [distance] * 2
    assert whole.strata["medium"].observed.tolist() == [distance] * 2
    assert whole.strata["large"].reason == "there are no large annotations"
    assert sorted(whole.observed) == [distance] * 4


def test_strata_part_the_targets(lvis):
    whole = calibrate(lvis, "box_iou").best
    parts = np.concatenate([whole.strata[name].observed for name in SIZES])
    assert sorted(parts) == sorted(whole.observed)


def test_where_image_sizes_are_unknown_strata_say_so():
    strata = calibrate(scene(), "box_iou").best.strata
    assert [strata[name].reason for name in SIZES] == ["the sizes of the images are unknown"] * 3
    assert np.isnan([[one.ks, one.tau, one.threshold] for one in strata.values()]).all()


# ---- what comes back ----


def test_the_largest_ks_comes_first_and_each_is_found_by_its_name():
    def same_width(annotations, left, right):
        width = annotations.shapes["box"].xywh()[:, 2].round(6)
        return np.minimum(width[left], width[right]) / np.maximum(width[left], width[right])

    result = calibrate(scene(), [same_width, "box_iou"])
    assert [found.name for found in result] == ["box_iou", "same_width"]
    assert result.best is result["box_iou"]
    assert result.names == ["box_iou", "same_width"]
    assert repr(result).splitlines() == [repr(found) for found in result]  # a line each, not their arrays
    assert "same_width" in result and "polygon_iou" not in result  # noqa: PT018 - one question
    assert result["same_width"].ks == 0
    with pytest.raises(InputError, match="similarity: expected one of 'box_iou', 'same_width', got 'polygon_iou'"):
        result["polygon_iou"]


def test_a_table_has_a_row_for_each_similarity():
    result = calibrate(scene(), "box_iou", bootstrap=10)
    (row,) = result.to_pandas().to_dict("records")
    found = result.best
    assert (row["similarity"], row["ks"], row["tau"], row["threshold"]) == (
        found.name,
        found.ks,
        found.tau,
        found.threshold,
    )
    assert [row["tau_low"], row["tau_high"]] == found.tau_interval.tolist()
    assert (row["observed"], row["expected"]) == (len(found.observed), len(found.expected))
    assert result.strata_to_pandas()["size"].tolist() == list(SIZES)


def test_a_result_says_its_numbers():
    text = str(calibrate(scene(images=30), "box_iou", bootstrap=20))
    assert text.startswith("box_iou: KS = ")
    assert "τ* = " in text
    assert "no τ*: there are no annotations" in str(
        calibrate(Annotations.from_rows([], images=[1, 2], raters=["ann", "bob"]), "box_iou")
    )


def test_similarities_see_the_same_draws():
    def box_iou_again(annotations, left, right):
        boxes = annotations.shapes["box"]
        return get_similarity("box_iou").values(boxes, left, boxes, right)

    first, second = calibrate(scene(), ["box_iou", box_iou_again])
    assert first.expected.tolist() == second.expected.tolist()


def test_repeats_draw_more_expected_distances_and_leave_the_observed_ones():
    annotations = scene()
    once, thrice = calibrate(annotations).best, calibrate(annotations, repeats=3).best
    assert thrice.observed.tolist() == once.observed.tolist()
    assert len(thrice.expected) == 3 * len(once.expected)


# ---- undefined and refused ----


def test_chance_without_variance_has_no_tau():
    rows = [
        {"image": image, "rater": rater, "category": "cat", "box": [100 * image, 0, 20, 20 + shift]}
        for image in range(3)
        for rater, shift in (("ann", 0), ("bob", image))
    ]
    found = calibrate(Annotations.from_rows(rows), "box_iou").best
    assert (found.ks, found.expected.tolist()) == (1, [1] * 6)
    assert np.isnan([found.tau, found.threshold]).all()
    assert found.reason == "all 6 expected distances are 1, and have no density"


def test_annotations_without_another_rater_have_no_observed_distance():
    rows = [
        {"image": image, "rater": rater, "category": "cat", "box": [0, 0, 9, 9]}
        for image, rater in ((1, "ann"), (2, "bob"))
    ]
    sizes = {1: (640, 480), 2: (640, 480)}
    annotations = Annotations.from_rows(rows, assigned={1: ["ann"], 2: ["bob"]}, image_size=sizes)
    found = calibrate(annotations, "box_iou").best
    assert np.isnan([found.ks, found.ks_at, found.tau]).all()
    assert found.reason == found.strata["small"].reason == "no annotation has another rater assigned to its image"
    assert found.strata["large"].reason == "there are no large annotations"
    assert found.expected.tolist() == [0, 0]


def test_signal_like_chance_has_no_tau():
    rows = [
        {"image": image, "rater": rater, "category": "cat", "box": [0, 0, 20, height]}
        for image in (1, 2)
        for rater in ("ann", "bob")
        for height in (10, 20)
    ]

    def alike(annotations, left, right):
        large = annotations.shapes["box"].area() > 300
        return np.where(large[left] & large[right], 0.5, 0.25)

    found = calibrate(Annotations.from_rows(rows), alike).best
    assert sorted(found.observed) == sorted(found.expected)
    assert "same mode" in found.reason


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"similarities": []}, "similarities: expected one or more, each once, got none"),
        ({"similarities": ["box_iou", "box_iou"]}, "each once, got box_iou, box_iou"),
        ({"similarities": "iou"}, "similarity: expected one of"),
        ({"similarities": "polygon_iou"}, "compares shapes of kind 'polygon'"),
        ({"repeats": 0}, "repeats: expected a whole number of at least 1, got 0"),
        ({"bootstrap": -1}, "bootstrap: expected a whole number of at least 0, got -1"),
        ({"seed": 0.5}, "seed: expected a whole number"),
    ],
)
def test_what_cannot_be_done_is_reported(arguments, message):
    with pytest.raises(InputError, match=message):
        calibrate(scene(images=2), **arguments)


def test_one_image_is_refused_with_the_reason():
    with pytest.raises(InputError, match=r"what chance is .* at least two images with raters assigned, got 1"):
        calibrate(scene(images=1))


def test_one_rater_is_refused():
    rows = [{"image": image, "rater": "ann", "category": "cat", "box": [0, 0, 9, 9]} for image in (1, 2)]
    with pytest.raises(InputError, match="at least two raters, got 1"):
        calibrate(Annotations.from_rows(rows))


def test_draws_are_of_the_seed():
    annotations = scene()
    first, again, other = (draw_references(annotations, 1, seed).image.tolist() for seed in (0, 0, 1))
    assert first == again != other
