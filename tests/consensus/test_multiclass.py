"""STAPLE of several classes: by hand, vs. a loop over pixels, `staple` of two classes, and SimpleITK."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from kalos_core import InputError, LabelStack, MaskStack, staple
from kalos_core.consensus import staple_classes
from kalos_core.consensus.truth import entropy_bits
from tests.consensus import naive


def maps(seed, raters=4, kinds=3, size=(12, 15), wrong=0.25):
    """Return label maps of raters who see a truth in blocks, each with some wrong pixels."""
    rng = np.random.default_rng(seed)
    truth = np.kron(rng.integers(0, kinds, (size[0] // 3, size[1] // 3)), np.ones((3, 3), int))
    given_size = (raters, *truth.shape)
    return np.where(rng.random(given_size) < wrong, rng.integers(0, kinds, given_size), truth)


@settings(max_examples=12)
@given(st.integers(0, 1000), st.integers(2, 4), st.integers(2, 4))
def test_it_is_a_loop_over_pixels(seed, raters, kinds):
    labels = maps(seed, raters, kinds, (6, 9))
    assume(len(np.unique(labels)) == kinds)
    found = staple_classes(labels, {kind: f"class {kind}" for kind in range(kinds)}, iterations=7)
    weight, confusion = naive.staple(labels, kinds, None, found.iterations)
    np.testing.assert_allclose(found.confusion, confusion, atol=1e-10)
    for kind in range(kinds):
        np.testing.assert_allclose(found.probability_of(f"class {kind}").ravel(), weight[:, kind], atol=1e-10)


@pytest.mark.parametrize("seed", range(2))
def test_with_two_classes_it_is_staple(seed):
    labels = maps(seed, 5, 2)
    found, other = staple_classes(labels), staple(labels.astype(bool))
    np.testing.assert_allclose(found.sensitivity[:, 0], other.specificity, atol=1e-9)
    assert (found.iterations, found.converged) == (other.iterations, True)
    np.testing.assert_array_equal(staple_classes(MaskStack.of(labels.astype(bool))).labels, found.labels)
    one = found.truth_of("1")
    np.testing.assert_array_equal(one.mask, other.mask)
    for name in ("probability", "sensitivity", "specificity"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-6)
    np.testing.assert_array_equal(one.performance.confusion, other.performance.confusion)


@pytest.mark.parametrize(("seed", "kinds", "wrong"), [(0, 3, 0.2), (1, 4, 0.3), (2, 3, 0.1)])
def test_it_is_that_of_simpleitk(peer_package, seed, kinds, wrong):
    itk = peer_package("SimpleITK")
    labels = maps(seed, 5, kinds, (30, 30), wrong)
    tool = itk.MultiLabelSTAPLEImageFilter()
    tool.SetTerminationUpdateThreshold(1e-9)
    tool.SetMaximumNumberOfIterations(10_000)  # 2.5.5 and 2.5.6 do not end otherwise
    theirs = itk.GetArrayFromImage(tool.Execute([itk.GetImageFromArray(part.astype(np.uint8)) for part in labels]))
    found = staple_classes(labels)
    assert found.converged
    decided = ~found.tied
    np.testing.assert_array_equal(found.labels[decided], theirs[decided])
    for rater, confusion in enumerate(found.confusion):
        whole = np.reshape(tool.GetConfusionMatrix(rater), (-1, kinds))[:kinds]  # given x true; the last row: undecided
        np.testing.assert_allclose(confusion.T, whole, atol=1e-5)


def test_one_step_by_hand():
    # pixel 1: both say 0; 2: 0 and 1; 3: both say 2; 4: 1 and 2
    found = staple_classes([[[0, 0, 2, 1]], [[0, 1, 2, 2]]], iterations=1)
    # weights of 0: 1, 1/2; of 1: 1/2, 1/2; of 2: 1, 1/2. Where 0 is true (1.5) the first says 0 always
    assert found.confusion[0].tolist() == pytest.approx(np.array([[1, 0, 0], [1 / 2, 1 / 2, 0], [0, 1 / 3, 2 / 3]]))
    assert found.confusion[1].tolist() == pytest.approx(np.array([[2 / 3, 1 / 3, 0], [0, 1 / 2, 1 / 2], [0, 0, 1]]))
    assert found.prior.tolist() == [3 / 8, 2 / 8, 3 / 8]
    # pixel 2: 0 by 3/8 * 1 * 1/3, 1 by 2/8 * 1/2 * 1/2; 2 is impossible
    assert found.probability_of("background")[0, 1] == pytest.approx((1 / 8) / (1 / 8 + 1 / 16))
    assert found.probability_of("2")[0, 1] == 0
    assert not found.converged
    assert "not settled after 1 iteration" in found.headline


def test_ignored_pixels_count_for_nothing():
    labels = maps(4)
    ignore = np.zeros(labels.shape[1:], bool)
    ignore[:, 9:] = True
    found = staple_classes(LabelStack.of(labels, ignore=ignore))
    np.testing.assert_array_equal(found.confusion, staple_classes(labels[:, :, :9]).confusion)
    for of_ignored in (found.labels, found.tied, found.probability_of("1"), found.truth_of("1").mask, found.entropy):
        assert not of_ignored[:, 9:].any()
    assert found.truth_of("1").patterns.pixels == 12 * 9


def test_a_prior_decides_where_votes_do_not():
    maps_of_two = [[[1, 1, 2, 2, 1]], [[1, 1, 2, 2, 2]]]
    likely_one = staple_classes(maps_of_two, prior={1: 9, 2: 1}, iterations=1)
    likely_two = staple_classes(maps_of_two, prior={1: 1, 2: 9}, iterations=1)
    assert likely_one.prior.tolist() == [0.9, 0.1]
    assert (likely_one.labels[0, 4], likely_two.labels[0, 4]) == (1, 2)
    assert staple_classes(maps_of_two, iterations=1).tied.tolist() == [[False] * 4 + [True]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: staple_classes([[[0, 1]]]), "labels: expected those of at least 2 raters, got 1"),
        (lambda: staple_classes(5), "labels: expected raters x height x width"),
        (lambda: staple_classes([[[0.5]], [[1]]]), "expected whole numbers"),
        (lambda: staple_classes([[[0, 3]], [[0, 1]]], {1: "road"}), "expected 0 or the values of classes 1, got 3"),
        (lambda: staple_classes([[[0]], [[1]]], {1: "background"}), "expected a different name for each value"),
        (lambda: staple_classes([[[0]], [[1]]], prior={1: 0.5}), "prior: expected a share above 0 of each of the cl"),
        (lambda: staple_classes([[[0]], [[1]]], prior={0: 0, 1: 1}), "prior: expected a share above 0 of each"),
        (lambda: staple_classes([[[0]], [[1]]], iterations=0), "iterations: expected a whole number of at least 1"),
        (lambda: staple_classes([[[0]], [[1]]]).probability_of("car"), "name: expected one of 'background', '1'"),
        (lambda: staple_classes(LabelStack.of([[[1]], [[1]]], ignore=[[1]])), "expected a pixel that is not ignored"),
    ],
)
def test_unusable_input_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_one_class_against_all_others():
    """Compute the shares of posterior pixels in a loop."""
    labels = maps(4, 4, 3)
    found = staple_classes(labels, {0: "a", 1: "b", 2: "c"})
    wrong, true = np.zeros(4), np.zeros(4)
    for true_class in "ac":
        weight = found.probability_of(true_class)
        wrong += (weight * (labels == 1)).sum(axis=(1, 2))
        true += weight.sum()
    np.testing.assert_allclose(found.truth_of("b").specificity, 1 - wrong / true, atol=1e-6)
    with pytest.raises(InputError, match="name: expected one of 'a', 'b', 'c', got 'd'"):
        found.truth_of("d")


@given(arrays.arrays(float, (3, 4), elements=st.floats(0.0, 1.0)))
def test_entropy_is_that_of_scipy(drawn):
    assume((drawn.sum(axis=1) > 0.1).all())
    shares = drawn / drawn.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(entropy_bits(shares), scipy.stats.entropy(shares, base=2, axis=1), atol=1e-12)
    assert entropy_bits(np.array([[0.25, 0.25, 0.5]])).tolist() == [1.5]
