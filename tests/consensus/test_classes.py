"""Ground truth of label maps, by hand, and equal to that of each class alone."""

import numpy as np
import pytest

from kalos_core.consensus import class_truth, estimate_truth
from kalos_core.errors import InputError
from kalos_core.pixels import LabelStack

CLASSES = {3: "road", 7: "car"}


def test_majority_by_hand_with_a_tie():
    # pixel 0: no rater; 1: road by all; 2: two road, two car; 3: three car; 4: one road, one car
    stack = LabelStack.of(np.array([[[0, 3, 3, 7, 3]], [[0, 3, 3, 7, 7]], [[0, 3, 7, 7, 0]], [[0, 3, 7, 0, 0]]]))
    found = class_truth(stack, CLASSES, "0.5")
    assert found.labels.tolist() == [[0, 3, 3, 7, 0]]
    assert found.tied.tolist() == [[False, False, True, False, False]]


def test_each_class_is_estimated_alone():
    rng = np.random.default_rng(0)
    labels = np.where(rng.random((4, 9, 9)) < 0.8, rng.choice([0, 3, 7], (9, 9)), 3)
    found = class_truth(LabelStack.of(labels), CLASSES)
    for value, name in CLASSES.items():
        alone = estimate_truth(labels == value, "staple")
        np.testing.assert_array_equal(found.by_class[name].mask, alone.mask)
        assert (found.labels == value)[alone.mask & ~found.by_class[({*CLASSES.values()} - {name}).pop()].mask].all()


@pytest.mark.parametrize(
    ("classes", "method", "message"),
    [
        ({3: "road"}, "staple", "expected 0 or the values of classes 3, got 7"),
        ({0: "none"}, "staple", "expected values other than 0"),
        ({}, "staple", "expected at least one value and its name"),
        ({3: "road", 7: "road"}, "staple", "expected a different name for each value"),
        (CLASSES, "mean", "method: expected one of"),
    ],
)
def test_unusable_input_is_refused(classes, method, message):
    with pytest.raises(InputError, match=message):
        class_truth({"ann": [[3, 7]], "bob": [[3, 7]]}, classes, method)
