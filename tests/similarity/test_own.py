"""User-defined similarities: accepted everywhere, and always checked."""

import numpy as np
import pytest

from kalos_core import SIMILARITIES, Annotations, InputError, agreement, calibrate
from kalos_core import variations as find_variations
from kalos_core.pairs import compute_pairs
from kalos_core.similarity import register_similarity

BOXES = [("ann", 1, 0, 10), ("bob", 1, 30, 9), ("ann", 2, 0, 5), ("bob", 2, 0, 1)]


@pytest.fixture
def annotations():
    rows = [
        {"image": image, "rater": rater, "category": "cat", "box": [x, 0, 4, height]}
        for rater, image, x, height in BOXES
    ]
    return Annotations.from_rows(rows)


def heights(annotations, left, right):
    """Return the ratio of heights, wherever the boxes are: .9 in the first image, .2 in the second."""
    height = annotations.shapes["box"].xywh()[:, 3]
    return np.minimum(height[left], height[right]) / np.maximum(height[left], height[right])


def everything(annotations, function):
    yield lambda: compute_pairs(annotations, function, 0.0)
    yield lambda: agreement(annotations, function, bootstrap=0)
    yield lambda: find_variations(annotations, function)
    yield lambda: calibrate(annotations, [function])


def test_it_is_taken_everywhere(annotations):
    assert compute_pairs(annotations, heights, 0.0).similarity.tolist() == [0.9, 0.2]
    assert agreement(annotations, heights, bootstrap=0).unit_of.tolist() == [0, 0, 1, 2]
    assert find_variations(annotations, heights).type.tolist() == ["correct", "missing", "additional"]
    (separation,) = calibrate(annotations, [heights]).separations
    assert separation.name == "heights"
    np.testing.assert_allclose(np.sort(separation.observed), [0.1, 0.1, 0.8, 0.8])


def test_a_registered_one_has_a_name(annotations):
    register_similarity(heights)
    try:
        assert agreement(annotations, "heights", bootstrap=0).unit_of.tolist() == [0, 0, 1, 2]
        with pytest.raises(InputError, match="similarity: expected a new name, got 'heights', which is in use"):
            register_similarity(heights)
    finally:
        del SIMILARITIES["heights"]


WRONG = {
    "NaN": (lambda _, left, __: np.full(len(left), np.nan), "similarities from 0 to 1, got nan for the annotations"),
    "below zero": (lambda _, left, __: np.full(len(left), -0.1), "expected similarities from 0 to 1, got -0.1 for"),
    "more than a rounding error": (lambda _, left, __: np.full(len(left), 1 + 1e-6), "from 0 to 1, got 1.000001 for"),
    "one too many": (lambda _, left, __: np.ones(len(left) + 1), r"numbers of shape \(\d+,\), one a pair, got"),
    "one number": (lambda *_: 0.5, r"expected numbers of shape \(\d+,\), one a pair, got float64 of shape \(\)"),
    "texts": (lambda _, left, __: ["1"] * len(left), "one a pair, got <U1 of shape"),
    "lists of several lengths": (lambda *_: [[1.0], [1.0, 1.0]], "one a pair, got object of shape"),
}


@pytest.mark.parametrize(("function", "expected"), WRONG.values(), ids=WRONG)
def test_values_that_are_no_similarity_are_refused_everywhere(annotations, function, expected):
    for call in everything(annotations, function):
        with pytest.raises(InputError, match=expected):
            call()


def test_its_own_errors_pass_through(annotations):
    def broken(*_):
        raise ZeroDivisionError("mine")

    for call in everything(annotations, broken):
        with pytest.raises(ZeroDivisionError, match="mine"):
            call()
