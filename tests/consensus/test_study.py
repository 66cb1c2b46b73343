"""Truth of a study with outliers decided over all images: by hand, by a loop, and as in pixel agreement."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kalos_core.consensus import TRUTH_METHODS, class_truth, estimate_truth, estimate_truths, study_outliers, vote
from kalos_core.errors import InputError
from kalos_core.pixels import LabelStack, MaskStack, pixel_agreement

# On the first image, cid marks half as much as the others; on the second, far larger one, dan differs.
FIRST = {"ann": [[1, 1, 0]], "bob": [[1, 1, 0]], "cid": [[1, 0, 0]], "dan": [[1, 1, 0]]}
SECOND = {name: [[1] * 8 + [0] * 8] for name in ("ann", "bob", "cid")} | {"dan": [[0] * 8 + [1] * 8]}


def test_outliers_of_a_study_by_hand():
    # image 1 alone: F1 of cid with each other one 2 * 1 / 3 = 2/3, of all others 1. Mean 1 - F1: 1/9 1/9 1/3 1/9,
    # their mean 1/6, sd (ddof 1) sqrt((3 * (1/18)^2 + (1/6)^2) / 3) = 1/9: 1/3 > 1/6 + 1/9, an outlier
    alone = estimate_truth(FIRST, "excl-0.5")
    assert alone.raters[~alone.kept].tolist() == ["cid"]
    # both: ann bob 1; ann cid 2 * 9 / 19 = 18/19; ann dan 2 * 2 / 20 = 1/5; cid dan 2 * 1 / 19 = 2/19
    found = pixel_agreement([FIRST, SECOND])
    assert found.f1[0].tolist() == pytest.approx([1, 1, 18 / 19, 1 / 5])
    assert found.f1[2, 3] == pytest.approx(2 / 19)
    apart = [(1 / 19 + 4 / 5) / 3] * 2 + [(2 / 19 + 17 / 19) / 3, (4 / 5 * 2 + 17 / 19) / 3]
    assert found.mean_difference == pytest.approx(apart)
    assert apart[3] > np.mean(apart) + np.std(apart, ddof=1)
    assert study_outliers([FIRST, SECOND]) == ["dan"]
    truths = estimate_truths([FIRST, SECOND], "excl-0.5")
    assert [truth.raters[~truth.kept].tolist() for truth in truths] == [["dan"], ["dan"]]
    assert [truth.note for truth in truths] == ["", ""]


def test_the_vote_is_that_of_the_others():
    # without dan, the second pixel is marked by 2 of 3, and the third by none
    first, second = estimate_truths([FIRST, SECOND], "excl-0.5")
    assert first.mask.tolist() == [[True, True, False]]
    others = {name: mask for name, mask in SECOND.items() if name != "dan"}
    np.testing.assert_array_equal(second.mask, vote(others).mask)
    np.testing.assert_array_equal(estimate_truth(FIRST, "excl-0.5", study_outliers([FIRST, SECOND])).mask, first.mask)
    alone = estimate_truth({"dan": [[1, 0, 0]], "eve": [[1, 1, 0]]}, "excl-0.5", ["dan", "eve"])
    assert alone.note == "all raters of this image are outliers of the study: all of them vote"
    assert alone.kept.all()
    assert alone.mask.tolist() == [[True, True, False]]


@st.composite
def studies(draw):
    """Draw a few images of some of five raters each."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    images = []
    for _ in range(draw(st.integers(1, 4))):
        who = rng.permutation(5)[: draw(st.integers(2, 5))]
        base = rng.random((3, 5)) < 0.5
        images.append({f"r{one}": base ^ (rng.random((3, 5)) < 0.1 * one) for one in who})
    return images


@settings(max_examples=12)
@given(studies())
def test_outliers_of_a_study_are_those_of_a_loop_over_pixels(images):
    names = sorted({name for image in images for name in image})
    means = []
    for a in names:
        scores = []
        for b in set(names) - {a}:
            both = [np.stack([image[a], image[b]]) for image in images if a in image and b in image]
            if both:
                marked = sum(pair.sum() for pair in both)
                scores.append(1 - 2 * sum(pair.all(axis=0).sum() for pair in both) / marked if marked else 0.0)
        means.append(np.mean(scores) if scores else np.nan)
    known = np.array(means)[np.isfinite(means)]
    limit = known.mean() + known.std(ddof=1) + 1e-12 if len(known) > 2 else np.inf
    expected = {name for name, mean in zip(names, means, strict=True) if mean > limit}
    assert set(study_outliers(images)) == expected
    found = pixel_agreement(images, names)
    assert set(found.raters[found.outliers]) == expected
    for image, truth in zip(images, estimate_truths(images, "excl-0.5"), strict=True):
        kept = [mask for name, mask in image.items() if name not in expected] or list(image.values())
        np.testing.assert_array_equal(truth.mask, np.mean(kept, axis=0) >= 0.5)


def test_images_come_as_a_list_a_generator_or_a_function():
    wanted = [truth.mask.tolist() for truth in estimate_truths([FIRST, SECOND], "excl-0.5")]
    for stacks in ((each for each in (FIRST, SECOND)), lambda: iter([FIRST, SECOND])):
        assert [truth.mask.tolist() for truth in estimate_truths(stacks, "excl-0.5")] == wanted
    assert len(estimate_truths(FIRST)) == len(estimate_truths(np.ones((2, 3, 4), bool))) == 1
    for method in set(TRUTH_METHODS) - {"excl-0.5"}:  # image by image
        images = np.random.default_rng(3).random((2, 4, 6, 8)) < 0.6
        for image, truth in zip(images, estimate_truths(list(images), method), strict=True):
            np.testing.assert_array_equal(truth.mask, estimate_truth(image, method).mask)


def test_raters_without_names_are_no_outliers_of_a_study():
    stacks = [MaskStack.of(image, raters_are_local=True) for image in (FIRST, SECOND)]
    for truths in (estimate_truths(stacks, "excl-0.5"), estimate_truths([FIRST, SECOND], "excl-0.5", True)):
        assert [truth.raters[~truth.kept].tolist() for truth in truths] == [["cid"], ["dan"]]
        assert truths[0].note == "raters have no names: outliers are decided within the image"
    with pytest.raises(
        InputError, match="image 1: expected raters who are the same on every image, got raters that are local"
    ):
        study_outliers(stacks)


def test_outliers_of_classes():
    first, second = (
        LabelStack.of({name: 2 * np.array(mask) for name, mask in image.items()}) for image in (FIRST, SECOND)
    )
    outliers = {"car": study_outliers(stack.of_class(2) for stack in (first, second))}
    found = class_truth(first, {2: "car"}, "excl-0.5", outliers)
    assert found.by_class["car"].raters[~found.by_class["car"].kept].tolist() == ["dan"]
    with pytest.raises(InputError, match="outliers: expected those of the classes car, got road"):
        class_truth(first, {2: "car"}, "excl-0.5", {"road": []})


@pytest.mark.parametrize(
    ("images", "message"),
    [
        ([], "stacks: expected at least one image, got none"),
        ([FIRST, {"ann": [[1]]}], "image 2: masks: expected those of at least 2 raters, got 1"),
        ([FIRST, {"ann": [[3]], "bob": [[1]]}], "image 2: mask of 'ann': expected 0 and 1"),
        ([MaskStack.of([[[1]]], image="x.png")], "image 'x.png': masks: expected those of at least 2"),
    ],
)
def test_input_without_an_estimate_is_refused(images, message):
    with pytest.raises(InputError, match=message):
        estimate_truths(images)
    with pytest.raises(InputError, match="method: expected one of"):
        estimate_truths([FIRST], "mean")
