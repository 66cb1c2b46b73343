"""Regions without names by hand, vs. scikit-learn, scikit-image and loops over regions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from skimage.metrics import variation_of_information
from sklearn.metrics import adjusted_rand_score

from kalos_core import LabelStack, region_agreement

maps = st.tuples(st.integers(1, 6), st.integers(1, 6)).flatmap(
    lambda size: st.tuples(*[arrays.arrays(np.int64, size, elements=st.integers(-2, 4))] * 3)
)


def covering(a, b):
    """Compute the covering of Arbeláez et al. 2011, §2.3, one way: each region of `a` by the best of `b`."""
    found = 0.0
    for number in np.unique(a):
        region = a == number
        others = [b == other for other in np.unique(b)]
        found += region.sum() * max((region & other).sum() / (region | other).sum() for other in others)
    return found / a.size


def expected(a, b):
    both = (covering(a, b) + covering(b, a)) / 2
    return [adjusted_rand_score(a.ravel(), b.ravel()), variation_of_information(a - a.min(), b - b.min()).sum(), both]


@given(maps)
def test_regions_are_compared_as_others_do(drawn):
    found = region_agreement([dict(zip("abc", drawn, strict=True))], bootstrap=0)
    pairs = [expected(drawn[0], drawn[1]), expected(drawn[0], drawn[2]), expected(drawn[1], drawn[2])]
    np.testing.assert_allclose(found.values, pairs, atol=1e-9)


def test_regions_by_hand():
    # six pixels: 3 and 3 of ann, 2, 2 and 2 of bob
    found = region_agreement([{"ann": [[1, 1, 1, 2, 2, 2]], "bob": [[1, 1, 2, 2, 3, 3]]}], bootstrap=0)
    # Pairs of pixels, 15: together in ann 6, in bob 3, in both 2; chance 6 * 3 / 15 = 1.2
    assert found.adjusted_rand.tolist() == pytest.approx([(2 - 1.2) / (4.5 - 1.2)])
    # H(bob | ann): in each of ann's regions shares 2/3 and 1/3; H(ann | bob): one of bob's three regions is halved
    given_ann = -(2 / 3 * math.log2(2 / 3) + 1 / 3 * math.log2(1 / 3))
    assert found.variation_of_information.tolist() == pytest.approx([given_ann + 1 / 3])
    # ann's regions by bob's: IoU 2/3 each; bob's by ann's: 2/3, 1/4, 2/3
    assert found.covering.tolist() == pytest.approx([(2 / 3 + (2 / 3 + 1 / 4 + 2 / 3) / 3) / 2])


def test_ignored_pixels_are_left_out():
    stack = LabelStack.of([[[1, 1, 2, 2, 9]], [[1, 2, 2, 2, 9]]], ignore=[[0, 1, 0, 0, 1]])
    alone = LabelStack.of([[[1, 2, 2]], [[1, 2, 2]]])
    np.testing.assert_array_equal(region_agreement([stack], bootstrap=0).values, region_agreement([alone]).values)
    nothing = region_agreement([LabelStack.of([[[1]], [[1]]], ignore=[[1]])], bootstrap=5)
    assert np.isnan(nothing.values).all()
    assert nothing.summary()["pairs"] == 0


def test_an_image_of_one_rater_is_left_out():
    found = region_agreement(lambda: iter([{"a": [[1]]}, {"a": [[1, 2]], "b": [[1, 1]]}]), bootstrap=0)
    assert (len(found.images), found.image.tolist(), found.values.tolist()) == (1, [0], [[0, 1, 0.5]])
    assert region_agreement([{"ann": [[4, 4]], "bob": [[0, 0]]}], bootstrap=0).values.tolist() == [[1, 0, 1]]
