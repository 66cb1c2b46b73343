"""Detectors on pixels under each truth: curves counted image by image, areas, correlations, bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import precision_recall_curve, roc_curve

from kalos_core import DetectorAccumulator, InputError, rank_over_classes
from kalos_core.consensus import staple, vote
from kalos_core.pixels.stack import LabelStack, MaskStack
from kalos_core.ranking import curve_area, mean_precision

SKEW = (0.1, 0.5)


def counted(*images, skew=SKEW, **arguments):
    accumulator = DetectorAccumulator(**{"bootstrap": 0, **arguments})
    for image in images:
        accumulator.add(**image)
    return accumulator.result(skew)


def random_images(seed, images=2, raters=3, levels=11):
    """Images of other sizes each, with ties, all raters assigned."""
    rng = np.random.default_rng(seed)
    for index in range(images):
        size = (4 + index, 5)
        yield {
            "scores": {name: rng.integers(0, levels, size) / (levels - 1) for name in ("net", "edge")},
            "masks": {f"r{rater}": rng.random(size) < 0.4 for rater in range(raters)},
            "ignore": rng.random(size) < 0.1,
        }


def pooled(images, truth):
    """Scores and truth of all pixels that count, one after the other."""
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


@settings(max_examples=15)
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


def test_images_are_counted_one_by_one():
    images = list(random_images(7, images=3))
    parts_of = {key: [image[key] for image in images] for key in images[0]}
    wide = {
        key: {name: np.concatenate([part[name].ravel() for part in parts_of[key]])[None] for name in images[0][key]}
        for key in ("scores", "masks")
    }
    wide["ignore"] = np.concatenate([part.ravel() for part in parts_of["ignore"]])[None]
    whole, parts = counted(wide), counted(*images)
    np.testing.assert_array_equal(whole.tpr, parts.tpr)
    np.testing.assert_array_equal(whole.area, parts.area)
    np.testing.assert_allclose([c.r for c in whole.cci], [c.r for c in parts.cci])


def test_the_order_of_images_and_detectors_changes_nothing():
    images = list(random_images(8, images=3))
    turned = [{**image, "scores": dict(reversed(image["scores"].items()))} for image in images[::-1]]
    straight, back = counted(*images), counted(*turned)
    np.testing.assert_array_equal(straight.area, back.area[:, ::-1])


def test_a_rater_counts_only_where_they_were_asked():
    first, second = random_images(9)
    del second["masks"]["r2"]
    result = counted(first, second)
    alone = counted({**first, "masks": {"r2": first["masks"]["r2"]}})
    row = result.truths.tolist().index("r2")
    assert result.images[row] == 1
    np.testing.assert_array_equal(result.tpr[row], alone.tpr[0])


def test_a_rater_who_marked_nothing_is_a_truth_all_the_same():
    image = {"scores": {"net": [[0.9, 0.1]]}, "masks": {"ann": [[1, 0]], "bob": None}}
    result = counted(image)
    assert result.fpr[1, 0, -1] == 1
    assert np.isnan(result.area[1]).all()
    assert "area under mean precision is undefined under bob: it marks no pixel" in result.ranking.undefined
    everything = counted({**image, "masks": {"ann": [[1, 1]]}})
    assert everything.ranking.undefined[0] == "area under mean precision is undefined under ann: it marks every pixel"


def test_an_image_of_one_rater_counts_under_no_estimate():
    first, second = random_images(9)
    second["masks"] = {"r1": second["masks"]["r1"]}
    result = counted(first, second)
    assert dict(zip(result.truths, result.images, strict=True)) == {"r0": 1, "r1": 2, "r2": 1} | dict.fromkeys(
        ("any", "0.5", "0.75"), 1
    )


def test_every_method_is_a_truth():
    image = next(random_images(2))
    result = counted(image, methods=("any", "staple"))
    assert result.truths.tolist() == ["r0", "r1", "r2", "any", "staple"]
    stack = MaskStack.of(image["masks"], ignore=image["ignore"])
    again = counted({**image, "truths": {"given": staple(stack).mask}})
    np.testing.assert_array_equal(result.area[-1], again.area[-1])
    assert result.bounding.tolist() == ["any"]


def test_further_truths():
    image = next(random_images(2))
    result = counted({**image, "truths": {"STAPLE": image["masks"]["r1"]}})
    assert result.truths[-1] == "STAPLE"
    np.testing.assert_array_equal(result.area[-1], result.area[1])


def test_scores_are_rounded_to_levels():
    masks = {"ann": [[1, 0, 1, 0]]}
    bytes_ = {"scores": {"net": np.array([[255, 254, 1, 0]], np.uint8)}, "masks": masks}
    exact = counted(bytes_, levels=256, score_range=(0, 255))
    assert exact.thresholds[[0, 1, -1]].tolist() == [255, 254, 0]
    assert exact.tpr[0, 0, [0, 1, 253, 254]].tolist() == [0.5, 0.5, 0.5, 1]
    two = counted({"scores": {"net": [[0.9, 0.6, 0.4, 0.1]]}, "masks": masks}, levels=2)
    assert two.tpr[0, 0].tolist() == [0.5, 1]


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
    marked = share > 0
    assert result.cci[1].r == pytest.approx(stats.pearsonr(share, output).statistic)
    assert result.cci[1].p == pytest.approx(stats.pearsonr(share, output).pvalue)
    assert result.cco[1].r == pytest.approx(stats.pearsonr(share[marked], output[marked]).statistic)


def test_correlation_by_hand():
    # agreement 1 1/2 0, output 1 .5 0 in step: r = 1; of the marked pixels too few are left
    image = {"scores": {"net": [[1, 0.5, 0]]}, "masks": {"ann": [[1, 1, 0]], "bob": [[1, 0, 0]]}}
    result = counted(image)
    assert result.cci[0].r == pytest.approx(1)
    assert (result.cco[0].r, result.cco[0].reason) == (None, "fewer than 3 pixels, namely 2")


def test_a_constant_map_has_an_area_and_no_correlation():
    image = next(random_images(1))
    image["scores"]["net"] = np.full((4, 5), 0.3)
    result = counted(image)
    assert result.area[0, 0] == pytest.approx(sum(SKEW) / 2)  # everything is found at once
    assert result.cci[0].r is None
    assert result.cci[0].reason == "net is the same on all pixels"
    assert np.isnan(result.by_detector()["cci"][0])


def test_bounds_and_which_are_distinguishable():
    image = {"masks": {"ann": [[1, 1, 1, 0, 0, 0]], "bob": [[1, 1, 0, 0, 0, 0]]}}
    scores = {"best": [[0.9, 0.8, 0.7, 0.3, 0.2, 0.1]], "good": [[0.7, 0.9, 0.8, 0.3, 0.2, 0.1]], "bad": [[0.1] * 6]}
    result = counted({**image, "scores": scores}, methods=("any", "0.75"))
    area = dict(zip(result.truths, result.area, strict=True))
    expected = np.sort([area["any"], area["0.75"]], axis=0).T
    np.testing.assert_array_equal(result.bounds, expected)
    assert result.distinguishable.tolist() == [[False, False, True], [False, False, True], [True, True, False]]
    # best and good are both perfect under any; under 0.75 good falls: bounds [1, 1] and [x, 1] share a point
    assert result.bounds[0].tolist() == [1, 1]
    assert result.overlap.diagonal().tolist() == [1, 1, 1]
    assert (result.overlap[0, 1], result.overlap[0, 2]) == (0, 0)


def test_raters_outside_the_bounds():
    # both mark what the other leaves: any is all that net finds, .75 nothing, and a single rater is half of it
    image = {"masks": {"ann": [[1, 0, 0, 0]], "bob": [[0, 1, 0, 0]]}, "scores": {"net": [[0.9, 0.8, 0.2, 0.1]]}}
    result = counted(image)
    assert result.bounds.tolist() == [[1, 1]]  # any and .5 are the same; .75 marks nothing
    assert result.area[0, 0] == 1
    assert result.area[1, 0] < 1
    assert result.raters_outside.tolist() == [1]


def test_overlap_by_hand():
    result = counted(next(random_images(0)))
    object.__setattr__(result, "area", np.array([[0.1, 0.2], [0.5, 0.6], [0.4, 0.4]]))
    object.__setattr__(result, "truths", np.array(["any", "0.75", "0.5"], object))
    assert result.bounds.tolist() == [[0.1, 0.5], [0.2, 0.6]]
    assert result.overlap[0, 1] == pytest.approx(0.3 / 0.5)


def test_tables():
    result = counted(*random_images(5))
    intervals = ["area_low", "area_high", "rank_low", "rank_high", "best_share"]
    assert result.to_pandas().columns.tolist() == ["truth", "detector", "area", "rank", *intervals, "images"]
    assert result.by_detector()["detector"].tolist() == ["net", "edge"]
    curves = result.curves()
    first = curves[(curves["truth"] == "r0") & (curves["detector"] == "net")]
    assert len(first) <= 11  # as many points as there are scores
    assert first.iloc[-1][["tpr", "fpr"]].tolist() == [1, 1]


IMAGE = {"scores": {"net": [[0.5, 0.1]]}, "masks": {"ann": [[1, 0]], "bob": [[0, 1]]}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"scores": {"net": [[np.nan, 0.1]]}},
            "image 1, scores of 'net': expected numbers from 0 to 1, got 1 others, such as nan",
        ),
        ({"scores": {"net": [[2, 0.1]]}}, "got 1 others, such as 2.0"),
        (
            {"scores": {"net": [[0.5]]}},
            r"image 1, scores of 'net': expected the size of the masks \(1, 2\), got \(1, 1\)",
        ),
        ({"scores": {}}, "expected score maps of detectors at least one, got none"),
        ({"masks": {"ann": [[1, 2]]}}, "mask of 'ann': expected 0 and 1"),
        ({"masks": {"ann": [[1, 0]], "bob": [[1]]}}, "masks: expected one size"),
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


def test_the_image_is_named():
    stack = MaskStack.of(IMAGE["masks"], image="x.png")
    with pytest.raises(InputError, match=r"image x\.png, scores of 'net'"):
        DetectorAccumulator().add({"net": [[7, 7]]}, stack)


def test_a_truth_is_not_called_as_a_rater_of_another_image():
    as_truth, as_rater = {**IMAGE, "truths": {"cid": [[1, 0]]}}, {**IMAGE, "masks": {"cid": [[1, 0]]}}
    for first, second in ((as_truth, as_rater), (as_rater, as_truth)):
        accumulator = DetectorAccumulator()
        accumulator.add(**first)
        with pytest.raises(InputError, match="image 2: expected truths of different names, got cid twice"):
            accumulator.add(**second)


def test_nan_where_it_is_ignored_is_no_matter():
    ignored = {**IMAGE, "scores": {"net": [[0.5, np.nan]]}, "ignore": [[0, 1]]}
    assert counted(ignored).images.tolist() == [1] * 5


def test_every_image_needs_every_detector():
    accumulator = DetectorAccumulator()
    accumulator.add(**IMAGE)
    with pytest.raises(InputError, match="image 2: expected score maps of detectors net, got edge"):
        accumulator.add(**{**IMAGE, "scores": {"edge": [[0.5, 0.1]]}})
    assert accumulator.result().images.max() == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"levels": 1}, "levels: expected a whole number of at least 2"),
        ({"score_range": (1, 0)}, r"score_range: expected two numbers in order, got \(1, 0\)"),
        ({"score_range": (0, np.nan)}, "score_range: expected two numbers in order"),
        ({"methods": ("mean",)}, "methods: expected one of .* got 'mean'"),
        ({"tolerance": -1}, "tolerance: expected a share of the diagonal from 0"),
    ],
)
def test_arguments_that_are_none_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        DetectorAccumulator(**arguments)


def test_a_ranking_that_cannot_be_made_is_refused():
    with pytest.raises(InputError, match="images: expected at least one, got none"):
        DetectorAccumulator().result()
    accumulator = DetectorAccumulator()
    accumulator.add(**{**IMAGE, "masks": {"ann": [[0, 0]]}})
    with pytest.raises(InputError, match="truths: expected positives to derive a range of skew from"):
        accumulator.result()
    with pytest.raises(InputError, match=r"skew: .* got \(0.5, 0.1\)"):
        accumulator.result((0.5, 0.1))


def test_several_classes_count_alike_and_one_that_is_not_marked_does_not_count():
    labels = LabelStack.of({"ann": [[1, 2, 2, 0]], "bob": [[1, 1, 0, 0]]})
    maps = {
        1: {"net": [[0.9, 0.1, 0, 0]], "edge": [[0, 0.1, 0.9, 0.2]]},
        2: {"net": [[0.1, 0.2, 0.8, 0.3]], "edge": [[0, 0.9, 0.8, 0]]},
    }
    by_class = {}
    for value, scores in maps.items():
        accumulator = DetectorAccumulator(methods=("any",))
        accumulator.add(scores, labels.of_class(value))
        by_class[f"class {value}"] = accumulator.result((0.1, 0.5))
    first, second = (found.area for found in by_class.values())
    result = rank_over_classes(by_class)
    assert result.truths.tolist() == ["ann", "bob", "any"]
    np.testing.assert_allclose(result.values[0], (first[0] + second[0]) / 2)
    np.testing.assert_allclose(result.values[1], first[1])  # bob marks nothing of class 2
    assert result.ranks[0].tolist() == [1, 2]
    assert result.undefined == ()


def test_classes_that_are_not_ranked_alike_are_refused():
    one, other = counted(IMAGE), counted({**IMAGE, "scores": {"edge": [[0.5, 0.1]]}})
    with pytest.raises(InputError, match="by_class, 'car': expected the detectors net, got edge"):
        rank_over_classes({"road": one, "car": other})
    with pytest.raises(InputError, match="by_class: expected at least one class"):
        rank_over_classes({})


# ---- thresholds of agreement ----

AGREED = {"ann": [[1, 1, 1, 0, 0, 0]], "bob": [[1, 1, 0, 0, 0, 0]], "cid": [[1, 0, 0, 1, 0, 0]]}
SCORES = {"net": [[0.9, 0.8, 0.4, 0.3, 0.2, 0.1]], "edge": [[0.1, 0.9, 0.5, 0.4, 0.3, 0.2]]}


def test_thresholds_of_agreement_are_the_votes_of_that_share():
    result = counted({"scores": SCORES, "masks": AGREED}, methods=(), shares="all")
    assert result.truths[3:].tolist() == ["at least 1/3", "at least 2/3", "at least 3/3"]
    assert result.least_share[result.by_agreement].tolist() == [1 / 3, 2 / 3, 1]
    # A = 3 2 1 1 0 0
    given = {"1": [[1, 1, 1, 1, 0, 0]], "2": [[1, 1, 0, 0, 0, 0]], "3": [[1, 0, 0, 0, 0, 0]]}
    again = counted({"scores": SCORES, "masks": AGREED, "truths": given}, methods=())
    np.testing.assert_array_equal(result.area, again.area)
    assert result.area[3:, 0].tolist() == [1, 1, 1]
    # edge at 3/3: the one true pixel comes last of all, on a line from (0, 1) to (1, 1)
    assert result.area[5, 1] == pytest.approx(curve_area(np.array([0.0, 1.0]), np.array([1.0, 1.0]), SKEW))


def test_thresholds_of_agreement_by_another_implementation():
    images = list(random_images(11, images=3))
    result = counted(*images, methods=("any",), shares="all")
    votes = [dict(enumerate(vote(MaskStack.of(each["masks"]), k / 3).mask for k in (1, 2, 3))) for each in images]
    given = [
        {**each, "truths": {str(k): mask for k, mask in own.items()}} for each, own in zip(images, votes, strict=True)
    ]
    again = counted(*given, methods=())
    np.testing.assert_array_equal(result.area[-3:], again.area[-3:])
    np.testing.assert_array_equal(result.area[3], result.area[4])  # any is at least 1/3


def test_images_of_other_numbers_of_raters_want_shares_as_numbers():
    first, second = random_images(9)
    del second["masks"]["r2"]
    with pytest.raises(InputError, match=r"image 2: expected 3 raters as on the images before, .* got 2; give shares"):
        counted(first, second, shares="all")
    result = counted(first, second, methods=(), shares=(0.4, 1))
    assert result.truths.tolist()[-2:] == ["at least 0.4", "at least 1"]
    assert result.images.tolist()[-2:] == [2, 2]
    assert result.by_agreement.tolist() == [3, 4]
    assert len(counted(first).by_agreement) == 0


# ---- outliers of the study, raters without names ----


def test_the_method_without_outliers_wants_those_of_the_study():
    images = list(random_images(12))
    with pytest.raises(InputError, match=r"outliers: expected the names that `study_outliers` finds.*image 2"):
        counted(*images, methods=("excl-0.5",))
    result = counted(*images, methods=("excl-0.5",), outliers=["r1"])
    truths = [np.mean([mask for name, mask in each["masks"].items() if name != "r1"], axis=0) >= 0.5 for each in images]
    given = [{**each, "truths": {"others": truth}} for each, truth in zip(images, truths, strict=True)]
    np.testing.assert_array_equal(result.area[-1], counted(*given, methods=()).area[-1])
    assert counted(images[0], methods=("excl-0.5",)).truths[-1] == "excl-0.5"  # one image is the whole study


def test_raters_without_names_are_no_truths():
    images = list(random_images(13))
    stacks = [MaskStack.of(each["masks"], ignore=each["ignore"], raters_are_local=True) for each in images]
    local = [{"scores": each["scores"], "masks": stack} for each, stack in zip(images, stacks, strict=True)]
    named, unnamed = counted(*images, skew=None), counted(*local, skew=None)
    assert unnamed.truths.tolist() == ["any", "0.5", "0.75"]
    np.testing.assert_allclose(unnamed.skew, named.skew)
    np.testing.assert_allclose(unnamed.area, named.area[3:])
    assert unnamed.notes == ("Raters have no names over the images: no area under a single rater tests the bounds.",)
    with pytest.raises(InputError, match="image 2: expected raters that are local on all images or on none"):
        counted(images[0], local[1])
    with pytest.raises(InputError, match="methods, shares: expected a truth, got none"):
        counted(*local, methods=())


# ---- significance, and areas outside the bounds ----


def test_significance_of_correlations_in_the_table():
    images = list(random_images(6))
    table = counted(*images).by_detector()
    share = np.concatenate([np.stack(list(i["masks"].values())).mean(axis=0)[~i["ignore"]] for i in images])
    output = np.concatenate([i["scores"]["edge"][~i["ignore"]] for i in images])
    of_all, of_marked = stats.pearsonr(share, output), stats.pearsonr(share[share > 0], output[share > 0])
    assert table["cci_p"][1] == pytest.approx(of_all.pvalue)
    assert table["cco_p"][1] == pytest.approx(of_marked.pvalue)
    assert table["cci_minus_cco"][1] == pytest.approx(of_all.statistic - of_marked.statistic)


def test_areas_outside_the_bounds_are_counted_of_all():
    image = {"masks": {"ann": [[1, 0, 0, 0]], "bob": [[0, 1, 0, 0]]}, "scores": {"net": [[0.9, 0.8, 0.2, 0.1]]}}
    result = counted(image)  # bounds [1, 1]; the area under bob is below
    assert (result.raters_outside.tolist(), result.raters_compared.tolist()) == ([1], [2])
    assert result.notes[0].startswith("1 of 2 areas under single raters lies outside the bounds: ")
    everybody = counted({**image, "masks": {"ann": [[1, 0, 0, 0]], "bob": [[1, 0, 0, 0]], "cid": None}})
    assert everybody.raters_compared.tolist() == [2]  # under cid, who marks nothing, there is no area
    assert everybody.notes == ()
