"""Filtered agreement: a class by hand and as in class difficulty; a rater's pairs one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from kalos_core import InputError, agreement, class_difficulty
from kalos_core.diagnostics import narrowed
from tests.diagnostics.naive import marks

RATERS = ("ann", "bob", "cid")
GIVEN = [("ann", "cat", 0), ("bob", "cat", 0), ("cid", "dog", 0), ("ann", "dog", 50), ("bob", "dog", 50)]
GIVEN += [("ann", "cat", 0, 2), ("bob", "cat", 0, 2)]


@pytest.fixture(scope="module")
def result():
    return agreement(marks(*GIVEN, raters=RATERS, images=(1, 2)), bootstrap=20)


def test_a_class_is_that_of_class_difficulty():
    given = [(*mark[:3], 3 * copy + len(mark) // 4) for copy in range(4) for mark in GIVEN]
    given += [(rater, "cat", 0, image) for rater in RATERS for image in range(2, 12, 3)]  # where all agree
    result = agreement(marks(*given, raters=RATERS, images=range(12)), bootstrap=50)
    whole = class_difficulty(result)
    assert np.isfinite(whole.alpha_interval[0]).all()
    for row, name in enumerate(whole.category):
        found = narrowed(result, category=name)
        assert (found.alpha, found.units) == (whole.alpha[row], whole.units[row])
        np.testing.assert_array_equal(found.alpha_interval, whole.alpha_interval[row])


def test_the_pairs_of_a_rater_by_hand(result):
    """Image 1: dog-cat, dog-cat, nothing-dog, nothing-dog: all differ; n = 8, D_e = (64 - 4 - 16 - 4) / 56 = 5 / 7.

    Image 2: nothing-cat twice: n = 4, D_e = 8 / 12.
    """
    found = narrowed(result, rater="cid")
    assert found.image_alpha == pytest.approx([1 - 7 / 5, 1 - 12 / 8])
    assert (found.images, found.units) == (2, 6)
    assert found.by_rater.alpha[2] == found.alpha
    assert found.by_rater is narrowed(found.sums).by_rater  # computed once for all parts of the same sums


def test_the_pairs_of_a_class_by_hand(result):
    """Dog: ann and bob agree once; cid and each of them differ twice: dog-cat and nothing-dog, n = 4, D_e = 10 / 12."""
    found = narrowed(result, category="dog").collaboration
    assert found.alpha[0, 1] == 1
    assert found.alpha[0, 2] == found.alpha[1, 2] == pytest.approx(1 - 12 / 10)
    assert found.images.tolist() == [[2, 1, 1], [1, 2, 1], [1, 1, 2]]


@pytest.mark.parametrize(("part", "said"), [({"category": "owl"}, "category: expected"), ({"rater": "eve"}, "rater: ")])
def test_unknown_names(result, part, said):
    with pytest.raises(InputError, match=said):
        narrowed(result, **part)


def test_some_images_by_hand(result):
    """Image 2: ann and bob agree, cid has nothing: n = 3, o_cat = 1, D_o = 2 / 3, D_e = (9 - 5) / 6."""
    found = narrowed(result, images=[1])
    assert found.alpha == pytest.approx(0)
    assert found.collaboration.alpha[0, 1] == 1
    assert found.collaboration.alpha[0, 2] == found.collaboration.alpha[1, 2] == pytest.approx(0)
    assert found.vitality.vitality.tolist() == pytest.approx([0, 0, -1])
    assert found.class_difficulty.category.tolist() == ["cat"]
