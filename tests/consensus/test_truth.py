"""Estimated truth of pixels: hand-worked stacks, loops, and SimpleITK; every degenerate stack gives a result."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kalos_core.consensus import (
    TRUTH_METHODS,
    estimate_truth,
    lsml,
    simple,
    staple,
    vote,
    vote_any,
    vote_without_outliers,
)
from kalos_core.consensus._simple import dice
from kalos_core.errors import InputError
from kalos_core.pixels import MaskStack
from kalos_core.pixels.patterns import find_patterns
from tests.consensus import naive


def discs(raters, noise, seed=0, side=40):
    """Return a disc that each rater sees slightly differently, with specks."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:side, :side]
    masks = []
    for _ in range(raters):
        cx, cy, r = rng.normal([side / 2, side / 2, side / 4], 1)
        masks.append(((x - cx) ** 2 + (y - cy) ** 2 < r * r) ^ (rng.random((side, side)) < noise))
    return np.array(masks)


def test_votes_by_hand():
    # A = 0 1 2 3 4 of 4 raters
    stack = [[[0, 1, 1, 1, 1]], [[0, 0, 1, 1, 1]], [[0, 0, 0, 1, 1]], [[0, 0, 0, 0, 1]]]
    assert vote_any(stack).mask.tolist() == [[False, True, True, True, True]]
    assert vote(stack).mask.tolist() == [[False, False, True, True, True]]
    assert vote(stack, 0.75).mask.tolist() == [[False, False, False, True, True]]
    assert vote(stack, 1).mask.tolist() == [[False, False, False, False, True]]
    half = vote(stack)
    assert half.sensitivity.tolist() == [1, 1, 2 / 3, 1 / 3]
    assert half.specificity.tolist() == [0.5, 1, 1, 1]
    assert half.performance.ppv.tolist() == [0.75, 1, 1, 1]
    assert half.probability.tolist() == [[0, 0.25, 0.5, 0.75, 1]]


def test_any_share_of_whole_raters_is_that_many():
    for raters in (*range(2, 13), 29, 49):  # the shares of 29 and 49 are not exact in binary
        stack = (np.arange(raters)[:, None] < np.arange(raters + 1))[:, None]  # A = 0, 1, ..., N
        for enough in range(1, raters + 1):
            assert vote(stack, enough / raters).mask.sum() == raters + 1 - enough


def test_an_outlier_has_no_vote():
    same = [[1, 1, 0, 0, 0, 0]]
    # mean 1 - F1: (0 + 1/3 + 1) / 3 twice, (1/3 + 1/3 + 1) / 3, 1: mean .6111, sd .2620
    found = vote_without_outliers([same, same, [[1, 0, 0, 0, 0, 0]], [[0, 0, 1, 1, 1, 1]]])
    assert found.kept.tolist() == [True, True, True, False]
    assert found.mask.astype(int).tolist() == same
    two = [[[0, 1]], [[1, 0]]]
    assert vote_without_outliers(two).mask.tolist() == vote(two).mask.tolist()
    stack = {"ann": [[1, 1, 0]], "bob": [[1, 0, 0]], "cid": [[0, 0, 1]]}
    found = vote_without_outliers(stack, ["bob", "eve"])  # outliers of a study
    assert found.kept.tolist() == [True, False, True]
    assert found.mask.astype(int).tolist() == [[1, 1, 1]]
    with pytest.raises(InputError, match="outliers: expected not to list all raters ann, bob, cid"):
        vote_without_outliers(stack, stack)


@settings(max_examples=10)
@given(st.integers(2, 6), st.integers(0, 1000))
def test_staple_is_that_of_a_loop_over_pixels(raters, seed):
    masks = np.random.default_rng(seed).random((raters, 5, 8)) < np.linspace(0.2, 0.6, 8)
    masks[:, 0, 0], masks[:, 0, 1] = True, False
    for prior in (None, 0.3):
        found = staple(masks, prior, iterations=20)
        weight, confusion = naive.staple(masks.astype(int), 2, prior and (1 - prior, prior), found.iterations)
        np.testing.assert_allclose(found.probability.ravel(), weight[:, 1], atol=1e-12)
        np.testing.assert_allclose(found.sensitivity, confusion[:, 1, 1], atol=1e-12)
        np.testing.assert_allclose(found.specificity, confusion[:, 0, 0], atol=1e-12)


@pytest.mark.parametrize(("raters", "noise"), [(2, 0.05), (3, 0.1), (5, 0.02), (8, 0.2)])
def test_staple_is_that_of_simpleitk(peer_package, raters, noise):
    itk = peer_package("SimpleITK")
    masks = discs(raters, noise)
    tool = itk.STAPLEImageFilter()
    tool.SetForegroundValue(1)
    theirs = itk.GetArrayFromImage(tool.Execute([itk.GetImageFromArray(mask.astype(np.uint8)) for mask in masks]))
    found = staple(masks)
    np.testing.assert_allclose(found.probability, theirs, atol=1e-10)
    np.testing.assert_allclose(found.sensitivity, tool.GetSensitivity(), atol=1e-10)
    np.testing.assert_allclose(found.specificity, tool.GetSpecificity(), atol=1e-10)
    assert (found.mask == (theirs >= 0.5)).all()


def test_one_step_of_staple_by_hand():
    # one pixel by both, two by each alone, three by none: weights 1, .5, .5, 0 and prior 3 / 8
    found = staple([[[1, 1, 1, 0, 0, 0, 0, 0]], [[1, 0, 0, 1, 1, 0, 0, 0]]], iterations=1)
    assert found.sensitivity == pytest.approx([2 / 3, 2 / 3])
    assert found.specificity == pytest.approx([4 / 5, 4 / 5])
    # 3/8 * 4/9 vs. 5/8 * 1/25: a pixel marked by both is likely, which was not certain before
    assert found.probability[0, 0] == pytest.approx(20 / 23)
    assert "not settled after 1 iteration" in found.note


def test_simple_by_hand():
    # pixels 0..7; the majority of four is 1 1 1 1 0 0 0 0
    most, fewer, others = [[1, 1, 1, 1, 0, 0, 0, 0]], [[1, 1, 1, 0, 0, 0, 0, 0]], [[0, 0, 0, 0, 1, 1, 1, 1]]
    stack = [most, most, fewer, others]
    patterns = find_patterns(MaskStack.of(stack))
    assert dice(patterns, patterns.votes.mean(axis=1) >= 0.5).tolist() == pytest.approx([1, 1, 6 / 7, 0])
    # .714 - .481 = .233: the fourth is left out; then 1, 1, .857: .952 - .082 = .870: the third; then none
    found = simple(stack)
    assert found.kept.tolist() == [True, True, False, False]
    assert found.mask.astype(int).tolist() == most
    assert found.iterations == 3
    # with 1.2 standard deviations: .952 - .099 = .853 keeps the third
    assert simple(stack, alpha=1.2).kept.tolist() == [True, True, True, False]
    assert simple(discs(2, 0.05)).kept.all()


@given(st.integers(2, 7), st.integers(0, 1000), st.sampled_from([0.5, 1.0, 2.0]))
def test_simple_is_that_of_a_loop_over_pixels(raters, seed, alpha):
    masks = np.random.default_rng(seed).random((raters, 4, 5)) < np.linspace(0.1, 0.9, 5)
    truth, kept = naive.simple(masks.reshape(raters, -1).T.tolist(), alpha)
    found = simple(masks, alpha)
    assert set(np.flatnonzero(found.mask)) == truth
    assert np.flatnonzero(found.kept).tolist() == kept


def two_who_see_more():
    """Return two raters who find all of a mask plus one column; the others each miss one of its columns."""
    stack = np.zeros((5, 7, 9), bool)
    stack[:2, 2:5, 2:7] = True
    for rater in (2, 3, 4):
        stack[rater, 2:5, 2:6] = True
        stack[rater, 2:5, rater] = False
    stack[4, 0, :] = True
    return stack


@pytest.mark.parametrize(("masks", "smoothness"), [(two_who_see_more(), 0.0), (discs(4, 0.05, 1, 14), 2.0)])
def test_lsml_is_that_of_a_loop_over_the_whole_grid(masks, smoothness):
    expected = naive.lsml(masks.tolist(), 12, smoothness)
    assert vote(masks).mask.tolist() != expected
    assert lsml(masks, iterations=12, smoothness=smoothness).mask.tolist() == expected
    turned = lsml(masks.transpose(0, 2, 1), iterations=12, smoothness=smoothness)
    assert turned.mask.T.tolist() == expected
    assert not lsml(masks, iterations=2, smoothness=smoothness).converged


def test_lsml_without_curvature_follows_the_likelihood():
    # raters who miss much say little by not marking: two of five are enough for the further column
    stack = two_who_see_more()
    found = lsml(stack, smoothness=0)
    assert not vote(stack).mask[2:5, 6].any()
    assert found.mask[2:5, 2:7].all()
    assert found.mask.sum() == 15


EMPTY, FULL = np.zeros((3, 4, 4), bool), np.ones((3, 4, 4), bool)
APART = np.eye(3, dtype=bool)[:, :, None]  # each rater marks a separate pixel
HALVES = np.array([[[1, 1, 0, 0]], [[0, 0, 1, 1]]], bool)


@pytest.mark.parametrize("method", TRUTH_METHODS)
def test_every_degenerate_stack_has_an_answer(method):
    for stack in (EMPTY, FULL, EMPTY[:2], FULL[:2], APART, HALVES):
        found = estimate_truth(stack, method)
        assert np.isfinite([*found.sensitivity, *found.specificity, *found.probability.ravel()]).all()
        if not stack.any():
            assert not found.mask.any()
            assert found.sensitivity.tolist() == [1.0] * len(stack)
            assert found.note.startswith("no rater marked a pixel: the truth is empty")
        elif stack.all():
            assert found.mask.all()
            assert found.specificity.tolist() == [1.0] * len(stack)
            assert found.note.startswith("everybody marked every pixel")
        elif not found.mask.any():
            assert "the truth is empty, though raters marked pixels" in found.note


def test_disjoint_raters_by_hand():
    # two halves by two raters: p = q = 1/2 fits, so all pixels stay at the prior 1/2: at least as likely as not
    found = staple(HALVES)
    assert found.probability.tolist() == [[0.5] * 4]
    assert found.mask.all()
    assert "the truth is the whole image, though raters left pixels" in found.note
    assert not vote(APART).mask.any()
    assert "no pixel has enough votes: the truth is empty" in vote(APART).note


def test_ignored_pixels_count_for_nothing():
    masks = discs(4, 0.1)
    ignore = np.zeros(masks.shape[1:], bool)
    ignore[25:] = True
    for method in ("0.5", "staple", "simple", "excl-0.5"):
        whole = estimate_truth(MaskStack.of(masks, ignore=ignore), method)
        part = estimate_truth(masks[:, :25], method)
        assert not whole.mask[25:].any()
        np.testing.assert_array_equal(whole.mask[:25], part.mask)
        np.testing.assert_array_equal(whole.sensitivity, part.sensitivity)
    for method in TRUTH_METHODS:
        found = estimate_truth(MaskStack.of(masks, ignore=np.ones_like(ignore)), method)
        assert "all pixels are ignored" in found.note


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: vote([[[0, 1]]]), "at least 2 raters, got 1"),
        (lambda: vote(EMPTY, 0), "share: expected a number above 0 and at most 1"),
        (lambda: staple(EMPTY, prior=1), "prior: expected a number above 0 and below 1"),
        (lambda: staple(EMPTY, iterations=0), "iterations: expected a whole number of at least 1"),
        (lambda: simple(EMPTY, alpha=-1), "alpha: expected a number of at least 0"),
        (lambda: lsml(EMPTY, smoothness=float("nan")), "smoothness: expected a number of at least 0"),
        (lambda: lsml(EMPTY, iterations=-1), "iterations"),
        (lambda: staple([[[0, 2]], [[0, 1]]]), "expected 0 and 1, or 0 and 255"),
        (lambda: estimate_truth(EMPTY, "mean"), "method: expected one of '0.5', '0.75', 'any', 'excl-0.5'"),
    ],
)
def test_unusable_input_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
