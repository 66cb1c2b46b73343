"""Pixel agreement: hand-worked stacks, naive loops, and other libraries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.metrics import cohen_kappa_score, f1_score

from kalos_core.pixels import (
    LabelStack,
    MaskStack,
    class_pixel_agreement,
    pixel_agreement,
    rater_count_map,
)
from kalos_core.pixels.agreement import outliers

# 2 x 4 pixels:  ann 1 1 0 0   bob 1 1 1 0   cid 0 1 0 0
#                    0 0 0 0       0 0 0 0       1 0 0 0
STACK = {
    "ann": [[1, 1, 0, 0], [0, 0, 0, 0]],
    "bob": [[1, 1, 1, 0], [0, 0, 0, 0]],
    "cid": [[0, 1, 0, 0], [1, 0, 0, 0]],
}


@st.composite
def stacks(draw):
    """Draw small stacks with or without ignored pixels."""
    raters, height, width = draw(st.integers(2, 5)), draw(st.integers(1, 4)), draw(st.integers(1, 5))
    masks, ignore = draw(arrays.arrays(bool, (raters, height, width))), draw(arrays.arrays(bool, (height, width)))
    ignore[0, 0] = False
    return MaskStack.of(masks, ignore=ignore if draw(st.booleans()) else None)


def test_a_hand_worked_stack():
    found = pixel_agreement([MaskStack.of(STACK, image="a.png")])
    # A = 2 3 1 0 / 1 0 0 0: min(3 - A, A) = 1 0 1 0 / 1 0 0 0
    assert rater_count_map(STACK).tolist() == [[2, 3, 1, 0], [1, 0, 0, 0]]
    assert found.smyth_bound == pytest.approx(3 / (8 * 3))
    assert found.ratio.tolist() == [1.0, 2 / 4, 1 / 4]
    # both: ann bob 2, ann cid 1, bob cid 1; marked 2, 3, 2
    np.testing.assert_allclose(found.f1, [[1, 4 / 5, 2 / 4], [4 / 5, 1, 2 / 5], [2 / 4, 2 / 5, 1]])
    assert found.mean_difference == pytest.approx([(1 / 5 + 1 / 2) / 2, (1 / 5 + 3 / 5) / 2, (1 / 2 + 3 / 5) / 2])
    assert found.image_bound.tolist() == [found.smyth_bound]
    assert found.image_f1 == pytest.approx([(0.8 + 0.5 + 0.4) / 3])
    assert found.image_marked.tolist() == [4]
    assert not found.within_limit
    assert found.to_pandas()["image"].tolist() == ["a.png"]
    for one in (STACK, MaskStack.of(STACK), MaskStack.of(STACK).masks):
        assert pixel_agreement(one).smyth_bound == found.smyth_bound
    # ann and bob meet at .2; then cid: sqrt((2 * .5² + 2 * .6² - .2²) / 3), by Lance and Williams
    assert found.linkage[:, 2] == pytest.approx([0.2, np.sqrt((2 * 0.5**2 + 2 * 0.6**2 - 0.2**2) / 3)])
    assert sorted(found.order.tolist()) == [0, 1, 2]
    # the consensus of 2 of 3: 1 1 0 0 / 0 0 0 0
    table = found.performance
    assert table.to_pandas()["rater"].tolist() == ["ann", "bob", "cid"]
    assert table.sensitivity.tolist() == [1, 1, 0.5]
    assert table.specificity == pytest.approx([1, 5 / 6, 5 / 6])
    assert table.ppv == pytest.approx([1, 2 / 3, 1 / 2])
    assert table.npv == pytest.approx([1, 1, 5 / 6])
    assert table.kappa[0] == 1


@settings(max_examples=10)
@given(stacks())
def test_metrics_are_those_of_a_loop_over_pixels(stack):
    found = pixel_agreement([stack])
    used = np.ones(stack.masks.shape[1:], bool) if stack.ignore is None else ~stack.ignore
    votes = [[int(mask[y, x]) for mask in stack.masks] for y, x in np.argwhere(used)]
    n = len(stack.raters)
    assert found.smyth_bound == pytest.approx(sum(min(n - sum(v), sum(v)) for v in votes) / n / len(votes))
    marked = [v for v in votes if sum(v)]
    for level, ratio in enumerate(found.ratio, start=1):
        expected = np.mean([sum(v) >= level for v in marked]) if marked else np.nan
        assert ratio == pytest.approx(expected, nan_ok=True)
    consensus = [int(sum(v) / n >= 0.5) for v in votes]
    for i in range(n):
        mine = [v[i] for v in votes]
        expected = cohen_kappa_score(mine, consensus) if len(set(mine + consensus)) > 1 else 1.0
        assert found.performance.kappa[i] == pytest.approx(expected)
        for j in range(n):
            other = [v[j] for v in votes]
            assert found.f1[i, j] == pytest.approx(f1_score(mine, other, zero_division=1.0))


@given(stacks(), st.integers(0, 99))
def test_neither_the_order_of_raters_nor_of_images_matters(stack, seed):
    order = np.random.default_rng(seed).permutation(len(stack.raters))
    turned = MaskStack(stack.masks[order], stack.raters[order], stack.ignore)
    names = stack.raters.tolist()
    other = {name: [[index % 2, 1]] for index, name in enumerate(names)}
    one, two = pixel_agreement([stack, other], names), pixel_agreement([other, turned], names)
    assert one.smyth_bound == two.smyth_bound
    np.testing.assert_array_equal(one.f1, two.f1)
    np.testing.assert_array_equal(one.performance.confusion, two.performance.confusion)


def test_many_images_are_one_large_image():
    rng = np.random.default_rng(1)
    parts = [rng.random((4, 6, 7)) < 0.4 for _ in range(3)]
    image_pixels = [rng.integers(0, 256, (6, 7, 3), np.uint8) for _ in range(3)]
    separate = pixel_agreement([MaskStack.of(p, image_pixels=i) for p, i in zip(parts, image_pixels, strict=True)])
    whole = pixel_agreement([MaskStack.of(np.concatenate(parts, axis=1), image_pixels=np.concatenate(image_pixels))])
    assert separate.smyth_bound == whole.smyth_bound
    np.testing.assert_array_equal(separate.f1, whole.f1)
    one, other = ({each.name: each.r for each in found.correlations} for found in (separate, whole))
    for name in ("red", "green", "blue", "intensity"):  # contrast differs at the border between images
        assert one[name] == pytest.approx(other[name])


def test_outliers_are_the_papers():
    # Fissure (§IV-B): 13 raters, mean .5765, sd .0459; A1 .6716, A4 .6321, A11 .6287 fall outside
    others = np.full(10, (13 * 0.5765 - 0.6716 - 0.6321 - 0.6287) / 10)
    found = outliers(np.concatenate([[0.6716, 0.6321, 0.6287], others]))
    assert found.tolist() == [True] * 3 + [False] * 10
    assert not outliers(np.full(5, 0.3)).any()
    assert not outliers(np.array([0.1, 0.9])).any()  # two raters


def test_not_assigned_is_not_the_same_as_nothing_marked():
    masks = {"ann": [[1, 0]], "bob": [[1, 0]]}
    names = ["ann", "bob", "cid"]
    absent = pixel_agreement([masks], names)
    silent = pixel_agreement([masks | {"cid": None}], names)
    assert absent.smyth_bound == 0
    assert silent.smyth_bound == pytest.approx(1 / 6)
    assert np.isnan(absent.f1[0, 2])
    assert silent.f1[0, 2] == 0
    assert np.isnan(absent.ratio[2])  # no image can have three raters
    assert absent.linkage.shape == (2, 4)


def test_an_image_of_one_rater_is_left_out_and_counted():
    found = pixel_agreement([{"ann": [[1, 0]], "bob": [[1, 1]]}, {"ann": [[1]]}], ["ann", "bob"])
    assert (found.alone, len(found.images), found.sums.pixels) == (1, 1, 2)


def test_classes_are_averaged():
    stack = LabelStack.of({"ann": [[1, 2, 2, 0]], "bob": [[1, 1, 2, 0]]})
    found = class_pixel_agreement([stack], {1: "road", 2: "car", 3: "sky"})
    one = pixel_agreement([{"ann": [[1, 0, 0, 0]], "bob": [[1, 1, 0, 0]]}])
    two = pixel_agreement([{"ann": [[0, 1, 1, 0]], "bob": [[0, 0, 1, 0]]}])
    assert found.smyth_bound == pytest.approx((one.smyth_bound + two.smyth_bound + 0) / 3)
    assert found.f1[0, 1] == pytest.approx((one.f1[0, 1] + two.f1[0, 1]) / 2)  # nobody marked sky
    assert found.performance["ppv"] == pytest.approx((one.performance.ppv + two.performance.ppv) / 2)
    assert found.to_pandas()["class"].tolist() == ["road", "car", "sky"]


def test_an_image_of_several_classes_has_their_mean():
    """F1 of road is 1 and 2/3; of car 2/3 on the first image and 1, for no pixels, on the second."""
    maps, classes = (
        [{"ann": [[1, 2, 2, 0]], "bob": [[1, 2, 0, 0]]}, {"ann": [[1, 0]], "bob": [[1, 1]]}],
        {1: "road", 2: "car"},
    )
    found = class_pixel_agreement([LabelStack.of(masks, image=n) for n, masks in enumerate(maps)], classes)
    assert found.images.tolist() == [0, 1]
    assert found.image_f1.tolist() == pytest.approx([(1 + 2 / 3) / 2, (2 / 3 + 1) / 2])
    for bound, masks in zip(found.image_bound, maps, strict=True):
        assert bound == pytest.approx(class_pixel_agreement([masks], classes).smyth_bound)


def test_an_ignored_value_is_no_unknown_class():
    class_pixel_agreement([LabelStack.of({"ann": [[1, 9]], "bob": [[1, 1]]}, ignore=[[0, 1]])], {1: "road"})
