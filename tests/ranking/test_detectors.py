"""Pixel detectors with each reference: curves counted image by image, areas, correlations, bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import precision_recall_curve, roc_curve

from kalos_core import DetectorAccumulator, InputError
from kalos_core.consensus import staple
from kalos_core.pixels.stack import LabelStack, MaskStack
from kalos_core.ranking import curve_area, mean_precision, rank_over_classes
from tests.ranking.images import counted, random_images

SKEW = (0.1, 0.5)


def pooled(images, truth):
    """Return the scores and truth of all pixels that count, in order."""
    scores, positive = [], []
    for image in images:
        kept = ~image["ignore"]
        masks = np.stack(list(image["masks"].values()))
        share = masks.mean(axis=0)
        chosen = {"any": share > 0, "0.5": share >= 0.5, "0.75": share >= 0.75}
        mask = chosen[truth] if truth in chosen else image["masks"][truth]
        scores.append(image["scores"]["net"][kept])
        positive.append(mask[kept])
    return np.concatenate(scores), np.concatenate(positive)


@given(st.integers(0, 1000))
def test_curves_are_those_of_scikit_learn(seed):
    images = list(random_images(seed))
    result = counted(*images, levels=11)
    for row, truth in enumerate(result.truths):
        scores, positive = pooled(images, truth)
        if not positive.any():
            assert np.isnan(result.tpr[row]).all()
            continue
        fpr, tpr, thresholds = roc_curve(positive, scores, drop_intermediate=False)
        at = 10 - np.rint(10 * thresholds[1:]).astype(int)
        np.testing.assert_allclose(result.tpr[row, 0, at], tpr[1:])
        np.testing.assert_allclose(result.fpr[row, 0, at], fpr[1:])


def test_precision_at_the_data_sets_own_skew_is_that_of_scikit_learn():
    images = list(random_images(3))
    scores, positive = pooled(images, "0.5")
    result = counted(*images, skew=(positive.mean(), positive.mean()), levels=11)
    precision, _, thresholds = precision_recall_curve(positive, scores)
    at = 10 - np.rint(10 * thresholds).astype(int)
    row = result.truths.tolist().index("0.5")
    np.testing.assert_allclose(result.precision[row, 0, at], precision[:-1])


def test_by_hand():
    # scores  .9 .6 .4 .1      ann 1 1 0 0      bob 1 0 1 0
    image = {"scores": {"net": [[0.9, 0.6, 0.4, 0.1]]}, "masks": {"ann": [[1, 1, 0, 0]], "bob": [[1, 0, 1, 0]]}}
    result = counted(image, levels=11, methods=("any", "0.75"))
    assert result.truths.tolist() == ["ann", "bob", "any", "0.75"]
    bob = result.truths.tolist().index("bob")
    assert result.tpr[bob, 0].tolist() == [0, 0.5, 0.5, 0.5, 0.5, 0.5, 1, 1, 1, 1, 1]  # from 1.0 down to 0.0
    assert result.fpr[bob, 0].tolist() == [0, 0, 0, 0, 0.5, 0.5, 0.5, 0.5, 0.5, 1, 1]
    assert result.area[0, 0] == pytest.approx(1)
    # bob: sure up to recall 1/2, then from (.5, .5) to (1, .5) in rates
    expected = 0.5 + curve_area(np.array([0.5, 1.0]), np.array([0.5, 0.5]), SKEW) - 0.5 * mean_precision(0.5, 0.5, SKEW)
    assert result.area[bob, 0] == pytest.approx(expected)


def test_a_rater_counts_only_where_they_were_asked_and_an_estimate_where_two_were():
    first, second = random_images(9)
    del second["masks"]["r2"]
    result = counted(first, second)
    alone = counted({**first, "masks": {"r2": first["masks"]["r2"]}})
    assert result.images.tolist() == [2, 2, 1, 2, 2, 2]
    np.testing.assert_array_equal(result.tpr[2], alone.tpr[0])
    second["masks"] = {"r1": second["masks"]["r1"]}
    assert counted(first, second).images.tolist() == [1, 2, 1, 1, 1, 1]


def test_a_rater_who_marked_nothing_is_a_truth_all_the_same():
    image = {"scores": {"net": [[0.9, 0.1]]}, "masks": {"ann": [[1, 0]], "bob": None}}
    result = counted(image)
    assert result.fpr[1, 0, -1] == 1
    assert np.isnan(result.area[1]).all()
    assert "area under mean precision is undefined under bob: it marks no pixel" in result.ranking.undefined
    everything = counted({**image, "masks": {"ann": [[1, 1]]}})
    assert everything.ranking.undefined[0] == "area under mean precision is undefined under ann: it marks every pixel"


def test_every_method_is_a_truth():
    image = next(random_images(2))
    result = counted(image, methods=("any", "staple"))
    assert result.truths.tolist() == ["r0", "r1", "r2", "any", "staple"]
    stack = MaskStack.of(image["masks"], ignore=image["ignore"])
    again = counted({**image, "truths": {"given": staple(stack).mask}})
    np.testing.assert_array_equal(result.area[-1], again.area[-1])
    assert result.bounding.tolist() == ["any"]


def test_default_skew_is_of_all_raters_and_images():
    images = list(random_images(4))
    fractions = []
    for image in images:
        fractions += [mask[~image["ignore"]].mean() for mask in image["masks"].values()]
    low, high = np.mean(fractions) + 3 * np.std(fractions, ddof=1) * np.array([-1, 1])
    np.testing.assert_allclose(counted(*images, skew=None).skew, [max(low, 0), min(high, 1)])


def test_correlation_with_agreement():
    images = list(random_images(6))
    result = counted(*images)
    share = np.concatenate([np.stack(list(i["masks"].values())).mean(axis=0)[~i["ignore"]] for i in images])
    output = np.concatenate([i["scores"]["edge"][~i["ignore"]] for i in images])
    of_all, of_marked = stats.pearsonr(share, output), stats.pearsonr(share[share > 0], output[share > 0])
    assert (result.cci[1].r, result.cci[1].p) == pytest.approx((of_all.statistic, of_all.pvalue))
    assert result.cco[1].r == pytest.approx(of_marked.statistic)
    table = result.by_detector()
    assert (table["cci_p"][1], table["cco_p"][1]) == pytest.approx((of_all.pvalue, of_marked.pvalue))
    assert table["cci_minus_cco"][1] == pytest.approx(of_all.statistic - of_marked.statistic)
    # agreement 1 1/2 0, output 1 .5 0 in step: r = 1; of the marked pixels too few are left
    few = counted({"scores": {"net": [[1, 0.5, 0]]}, "masks": {"ann": [[1, 1, 0]], "bob": [[1, 0, 0]]}})
    assert few.cci[0].r == pytest.approx(1)
    assert (few.cco[0].r, few.cco[0].reason) == (None, "fewer than 3 pixels, namely 2")


def test_bounds_and_which_are_distinguishable():
    image = {"masks": {"ann": [[1, 1, 1, 0, 0, 0]], "bob": [[1, 1, 0, 0, 0, 0]]}}
    scores = {"best": [[0.9, 0.8, 0.7, 0.3, 0.2, 0.1]], "good": [[0.7, 0.9, 0.8, 0.3, 0.2, 0.1]], "bad": [[0.1] * 6]}
    result = counted({**image, "scores": scores}, methods=("any", "0.75"))
    area = dict(zip(result.truths, result.area, strict=True))
    np.testing.assert_array_equal(result.bounds, np.sort([area["any"], area["0.75"]], axis=0).T)
    assert result.distinguishable.tolist() == [[False, False, True], [False, False, True], [True, True, False]]
    # best and good are both perfect under any; under 0.75 good falls: bounds [1, 1] and [x, 1] share a point
    assert result.bounds[0].tolist() == [1, 1]
    assert result.overlap.diagonal().tolist() == [1, 1, 1]
    assert (result.overlap[0, 1], result.overlap[0, 2]) == (0, 0)


def test_overlap_by_hand():
    result = counted(next(random_images(0)))
    object.__setattr__(result, "area", np.array([[0.1, 0.2], [0.5, 0.6], [0.4, 0.4]]))
    object.__setattr__(result, "truths", np.array(["any", "0.75", "0.5"], object))
    assert result.bounds.tolist() == [[0.1, 0.5], [0.2, 0.6]]
    assert result.overlap[0, 1] == pytest.approx(0.3 / 0.5)


IMAGE = {"scores": {"net": [[0.5, 0.1]]}, "masks": {"ann": [[1, 0]], "bob": [[0, 1]]}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": {"net": [[np.nan, 0.1]]}}, "image 1, scores of 'net': .* 0 to 1, got 1 others, such as nan"),
        ({"scores": {"net": [[2, 0.1]]}}, "got 1 others, such as 2.0"),
        ({"scores": {"net": [[0.5]]}}, r"scores of 'net': expected the size of the masks \(1, 2\), got \(1, 1\)"),
        ({"scores": {}}, "expected score maps of detectors at least one, got none"),
        ({"masks": {"ann": [[1, 2]]}}, "mask of 'ann': expected 0 and 1"),
        ({"masks": {"ann": [[1, 0]], "bob": [[1]]}}, "masks: expected one size"),
        ({"masks": MaskStack.of(IMAGE["masks"], image="x.png"), "scores": {"net": [[7, 7]]}}, r"image x\.png, scores"),
        ({"ignore": [[1]]}, "ignore: expected the size of the masks"),
        ({"truths": {"STAPLE": [[1]]}}, "truth 'STAPLE': expected the size"),
        ({"truths": {"ann": [[1, 0]]}}, "image 1: expected truths of different names, got ann twice"),
        ({"masks": {"any": [[1, 0]]}}, "expected truths of different names, got any twice"),
    ],
)
def test_an_image_that_cannot_be_counted_is_refused(change, message):
    accumulator = DetectorAccumulator()
    with pytest.raises(InputError, match=message):
        accumulator.add(**{**IMAGE, **change})
    with pytest.raises(InputError, match="images: expected at least one, got none"):
        accumulator.result()


AS_TRUTH, AS_RATER = {**IMAGE, "truths": {"cid": [[1, 0]]}}, {**IMAGE, "masks": {"cid": [[1, 0]]}}
OTHER = {**IMAGE, "scores": {"edge": [[0.5, 0.1]]}}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: counted(AS_TRUTH, AS_RATER), "image 2: expected truths of different names, got cid twice"),
        (lambda: counted(AS_RATER, AS_TRUTH), "image 2: expected truths of different names, got cid twice"),
        (lambda: counted(IMAGE, OTHER), "image 2: expected score maps of detectors net, got edge"),
        (lambda: counted(levels=1), "levels: expected a whole number of at least 2"),
        (lambda: counted(score_range=(1, 0)), r"score_range: expected two numbers in order, got \(1, 0\)"),
        (lambda: counted(methods=("mean",)), "methods: expected one of .* got 'mean'"),
        (lambda: counted(tolerance=-1), "tolerance: expected a number of at least 0"),
        (lambda: counted(IMAGE, skew=(0.5, 0.1)), r"skew: .* got \(0.5, 0.1\)"),
        (
            lambda: counted({**IMAGE, "masks": {"ann": [[0, 0]]}}, skew=None),
            "truths: expected positives to derive a range of skew from",
        ),
        (
            lambda: rank_over_classes({"road": counted(IMAGE), "car": counted(OTHER)}),
            "by_class, 'car': expected the detectors net, got edge",
        ),
        (lambda: rank_over_classes({}), "by_class: expected at least one class"),
    ],
)
def test_unrankable_input_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_several_classes_count_alike_and_one_that_is_not_marked_does_not_count():
    labels = LabelStack.of({"ann": [[1, 2, 2, 0]], "bob": [[1, 1, 0, 0]]})
    maps = {
        1: {"net": [[0.9, 0.1, 0, 0]], "edge": [[0, 0.1, 0.9, 0.2]]},
        2: {"net": [[0.1, 0.2, 0.8, 0.3]], "edge": [[0, 0.9, 0.8, 0]]},
    }
    by_class = {
        f"class {value}": counted({"scores": scores, "masks": labels.of_class(value)}, methods=("any",))
        for value, scores in maps.items()
    }
    first, second = (found.area for found in by_class.values())
    result = rank_over_classes(by_class)
    assert result.truths.tolist() == ["ann", "bob", "any"]
    np.testing.assert_allclose(result.values[0], (first[0] + second[0]) / 2)
    np.testing.assert_allclose(result.values[1], first[1])  # bob marks nothing of class 2
    assert result.ranks[0].tolist() == [1, 2]
    assert result.undefined == ()


# ---- thresholds of agreement ----

AGREED = {"ann": [[1, 1, 1, 0, 0, 0]], "bob": [[1, 1, 0, 0, 0, 0]], "cid": [[1, 0, 0, 1, 0, 0]]}
SCORES = {"net": [[0.9, 0.8, 0.4, 0.3, 0.2, 0.1]], "edge": [[0.1, 0.9, 0.5, 0.4, 0.3, 0.2]]}


def test_thresholds_of_agreement_are_the_votes_of_that_share():
    result = counted({"scores": SCORES, "masks": AGREED}, methods=("any",), shares="all")
    assert result.truths[4:].tolist() == ["at least 1/3", "at least 2/3", "at least 3/3"]
    assert result.least_share[result.by_agreement].tolist() == [1 / 3, 2 / 3, 1]
    # A = 3 2 1 1 0 0
    given = {"1": [[1, 1, 1, 1, 0, 0]], "2": [[1, 1, 0, 0, 0, 0]], "3": [[1, 0, 0, 0, 0, 0]]}
    again = counted({"scores": SCORES, "masks": AGREED, "truths": given}, methods=())
    np.testing.assert_array_equal(result.area[[0, 1, 2, 4, 5, 6]], again.area)
    np.testing.assert_array_equal(result.area[3], result.area[4])  # any is at least 1/3
    assert result.area[4:, 0].tolist() == [1, 1, 1]
    # edge at 3/3: the one true pixel comes last of all, on a line from (0, 1) to (1, 1)
    assert result.area[6, 1] == pytest.approx(curve_area(np.array([0.0, 1.0]), np.array([1.0, 1.0]), SKEW))


# ---- outliers of the study, raters without names ----


def test_the_method_without_outliers_wants_those_of_the_study():
    images = list(random_images(12))
    with pytest.raises(InputError, match=r"outliers: expected the names that `study_outliers` finds.*image 2"):
        counted(*images, methods=("excl-0.5",))
    result = counted(*images, methods=("excl-0.5",), outliers=["r1"])
    truths = [np.mean([mask for name, mask in each["masks"].items() if name != "r1"], axis=0) >= 0.5 for each in images]
    given = [{**each, "truths": {"others": truth}} for each, truth in zip(images, truths, strict=True)]
    np.testing.assert_array_equal(result.area[-1], counted(*given, methods=()).area[-1])
    assert counted(images[0], methods=("excl-0.5",)).truths[-1] == "excl-0.5"  # the study has one image


def test_raters_without_names_are_no_truths():
    images = list(random_images(13))
    stacks = [MaskStack.of(each["masks"], ignore=each["ignore"], raters_are_local=True) for each in images]
    local = [{"scores": each["scores"], "masks": stack} for each, stack in zip(images, stacks, strict=True)]
    named, unnamed = counted(*images, skew=None), counted(*local, skew=None)
    assert unnamed.truths.tolist() == ["any", "0.5", "0.75"]
    np.testing.assert_allclose(unnamed.skew, named.skew)
    np.testing.assert_allclose(unnamed.area, named.area[3:])
    assert unnamed.notes == ("Raters have no names across images, so the bounds cannot be tested under single raters.",)
    with pytest.raises(InputError, match="image 2: expected raters that are local on all images or on none"):
        counted(images[0], local[1])
    with pytest.raises(InputError, match=r"methods, shares: expected a reference, .* got none"):
        counted(*local, methods=())
