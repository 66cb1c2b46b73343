"""Raters without names: pairs within images only, no results of single raters, no outliers."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import f1_score

from kalos_core.errors import InputError
from kalos_core.pixels import LabelStack, MaskStack, PixelAccumulator, class_pixel_agreement, pixel_agreement

# image 1: 1 1 0 0 / 1 0 0 0             F1 of the pair 2/3
# image 2: 1 1 / 1 1 / 0 1               F1 1, 2/3, 2/3
IMAGES = [[[[1, 1, 0, 0]], [[1, 0, 0, 0]]], [[[1, 1]], [[1, 1]], [[0, 1]]]]


def test_a_hand_worked_study():
    found = pixel_agreement(IMAGES, raters_are_local=True)
    assert found.image_f1 == pytest.approx([2 / 3, (1 + 2 / 3 + 2 / 3) / 3])
    assert found.mean_f1 == pytest.approx((2 / 3 + 7 / 9) / 2)
    # min(n - A, A) / n: 0 1/2 0 0 and 1/3 0, of 6 pixels
    assert found.smyth_bound == pytest.approx((1 / 2 + 1 / 3) / 6)
    # of 2 + 2 marked pixels 1 + 2 by two; by three, of image 2, 1 of 2
    assert found.ratio.tolist() == [1, 3 / 4, 1 / 2]
    assert found.raters_per_image == (2, 3)


def test_there_is_no_number_of_a_single_rater_and_it_is_said():
    found = pixel_agreement(IMAGES, raters_are_local=True)
    assert (len(found.raters), found.f1.shape, found.linkage.shape) == (0, (0, 0), (0, 4))
    empty = (found.mean_difference, found.outliers, found.order, found.performance.kappa)
    assert [len(each) for each in empty] == [0] * 4
    assert "Raters have no names" in found.notes[0]
    assert pixel_agreement(IMAGES[:1]).notes == ()
    labels = [LabelStack.of(np.array(image), raters_are_local=True) for image in IMAGES]
    classes = class_pixel_agreement(labels, {1: "road", 2: "car"})
    assert classes.mean_f1 == pytest.approx(found.mean_f1)  # nobody marked a car
    assert classes.f1.shape == (0, 0)


def test_f1_is_that_of_a_loop_within_images():
    rng = np.random.default_rng(1)
    images = [rng.random((n, 6, 5)) < 0.4 for n in (4, 2, 6)]
    expected = [np.mean([f1_score(a.ravel(), b.ravel()) for a, b in combinations(image, 2)]) for image in images]
    found = pixel_agreement(images, raters_are_local=True)
    assert found.image_f1 == pytest.approx(expected)
    assert found.mean_f1 == pytest.approx(np.mean(expected))


def test_stacks_say_it_themselves_and_no_image_may_differ():
    stacks = [MaskStack.of(image, raters_are_local=True) for image in IMAGES]
    assert pixel_agreement(stacks).raters_are_local
    with pytest.raises(InputError, match="image None: expected raters of one name to be the same on every image"):
        pixel_agreement([IMAGES[0], stacks[0]])
    with pytest.raises(InputError, match="expected raters of one name"):
        pixel_agreement(stacks, raters_are_local=False)
    accumulator = PixelAccumulator(raters_are_local=True)
    for stack in stacks:
        accumulator.add(stack)
    assert accumulator.result().mean_f1 == pixel_agreement(stacks).mean_f1
    with pytest.raises(InputError, match="raters: expected at least two names"):
        PixelAccumulator([])
