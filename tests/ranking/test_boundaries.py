"""Berkeley evaluation: contours worked out by hand, and vs. SciPy's dense assignment."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from kalos_core.errors import InputError
from kalos_core.pixels import match_contours, thinned
from kalos_core.ranking import boundary_evaluation
from kalos_core.ranking.boundaries import assigned

SIZE = (30, 40)  # a diagonal of 50 pixels


def line(row, begin, end, value=1.0):
    canvas = np.zeros(SIZE)
    canvas[row, begin:end] = value
    return canvas


TRUTH = {"ann": line(10, 5, 35)}


def evaluated(scores, masks=TRUTH, thresholds=(0.5,), **options):
    return boundary_evaluation([({"edge": scores}, masks)], thresholds, **options)


def test_a_hand_worked_contour():
    # Truth: row 10, columns 5 to 34, 30 pixels. Detector: .8 two rows lower over 20 of the columns; .4 far away, 10
    # pixels. Tolerance .04 * 50 = 2 pixels. Thresholds .25 .5 .75:
    #   .75, .5: 20 found, all matched; recall 20/30; P 1, R 2/3, F 4/5
    #   .25: 30 found, 20 matched; P 2/3, R 2/3, F 2/3
    scores = line(12, 5, 25, 0.8) + line(25, 5, 15, 0.4)
    found = evaluated(scores, thresholds=3, tolerance=0.04)
    assert found.thresholds.tolist() == [0.25, 0.5, 0.75]
    assert found.found[0, 0].tolist() == [30, 20, 20]
    assert found.matched_found[0, 0].tolist() == found.matched_true[0, 0].tolist() == [20, 20, 20]
    assert found.precision[0] == pytest.approx([2 / 3, 1, 1])
    assert found.recall[0] == pytest.approx([2 / 3] * 3)
    assert found.f1[0] == pytest.approx([2 / 3, 4 / 5, 4 / 5])
    assert found.ods.tolist() == found.ois.tolist() == pytest.approx([4 / 5])
    assert found.ods_threshold.tolist() == [0.75]
    assert evaluated(scores, thresholds=3, tolerance=0.0399).ods.tolist() == [0]
    both = boundary_evaluation([({"edge": each}, TRUTH) for each in (scores, line(10, 5, 35, 0.3))], 3, tolerance=0.04)
    assert both.image_best[0].tolist() == pytest.approx([4 / 5, 1])


def test_matching_is_one_to_one():
    # two lines, one row below and one above the true one, are both in range: only one can be matched
    scores = line(9, 5, 35) + line(11, 5, 35)
    strict = evaluated(scores, tolerance=0.02)
    assert (strict.precision.item(), strict.recall.item()) == (0.5, 1)
    loose = evaluated(scores, tolerance=0.02, matching="near")
    other = match_contours(scores, TRUTH["ann"], 0.02)
    assert (loose.precision.item(), loose.recall.item()) == (other.precision, other.recall) == (1, 1)


def test_several_raters_by_hand():
    # ann marks row 10, bob row 20; the detector finds both, and a third line. P 2/3; R: all of both
    scores = sum(line(row, 5, 35) for row in (10, 20, 27))
    found = evaluated(scores, {**TRUTH, "bob": line(20, 5, 35)}, tolerance=0.02)
    assert (found.true.tolist(), found.found.item()) == ([60], 90)
    assert (found.precision.item(), found.recall.item()) == (pytest.approx(2 / 3), 1)
    # both mark the same line: it is found once, and true twice
    same = evaluated(line(10, 5, 35), {**TRUTH, "bob": TRUTH["ann"]})
    assert (same.matched_found.item(), same.matched_true.item(), same.true.item()) == (30, 60, 60)
    assert same.ods.item() == 1


def test_best_of_the_data_set_and_of_each_image():
    # image 1: the true line at .3, nothing else. Image 2: the true line at .9, a false one of equal length at .3.
    # At .2: found 30, 60; matched 30, 30: P 60/90, R 1, F 4/5. At .5: found 0, 30: P 1, R 1/2, F 2/3.
    # Each at its best: image 1 at .2, image 2 at .5: P 60/60, R 1, F 1
    maps = line(10, 5, 35, 0.3), line(10, 5, 35, 0.9) + line(20, 5, 35, 0.3)
    found = boundary_evaluation([({"edge": scores}, TRUTH) for scores in maps], [0.2, 0.5])
    assert found.f1[0] == pytest.approx([4 / 5, 2 / 3])
    assert (found.ods.item(), found.ods_threshold.item(), found.ois.item()) == (pytest.approx(4 / 5), 0.2, 1)
    assert found.image_threshold.tolist() == [[0.2, 0.5]]
    assert found.ranking.values.tolist() == [pytest.approx([4 / 5]), [1]]
    assert found.ranking.ranks.tolist() == [[1], [1]]
    assert found.by_detector()["ods"].tolist() == pytest.approx([4 / 5])
    assert len(found.to_pandas()) == 2


def dense(found, truths, distance):
    """Match pixels of the detector and of all raters by dense minimum-cost assignments, as in the benchmark."""
    own = np.argwhere(found)
    matched, of_raters = np.zeros(len(own), bool), 0
    for truth in truths:
        theirs = np.argwhere(truth)
        if len(own) and len(theirs):
            apart = cdist(own, theirs)
            cost = np.where(apart <= distance, apart, 1e6)  # leaving out a pixel costs more than any distance
            row, column = linear_sum_assignment(cost)
            good = cost[row, column] < 1e6
            matched[row[good]] = True
            of_raters += int(good.sum())
    return int(matched.sum()), of_raters


@given(st.integers(0, 10_000), st.integers(1, 4), st.sampled_from([0, 1, 1.5, 2.9]))
def test_counts_are_those_of_a_dense_assignment(seed, raters, distance):
    rng = np.random.default_rng(seed)
    shape = (12, 16)  # a diagonal of 20
    truths = [thinned(rng.random(shape) < 0.3) for _ in range(raters)]
    scores = rng.integers(0, 5, shape) / 4
    thresholds = [0.2, 0.45, 0.7, 0.95]
    result = evaluated(scores, np.array(truths), thresholds, tolerance=distance / 20, thin=False)
    for index, threshold in enumerate(thresholds):
        found = scores >= threshold
        of_detector, of_raters = dense(found, truths, distance)
        assert result.matched_true[0, 0, index] == of_raters
        if raters == 1:
            assert result.matched_found[0, 0, index] == of_detector
            continue
        # unmatched pixels are arbitrary if sums are equal, so use the union of our own assignments, each with as many
        # pixels as the dense one
        own = [assigned(np.argwhere(found), np.argwhere(truth), distance) for truth in truths]
        assert [each.sum() for each in own] == [dense(found, [truth], distance)[0] for truth in truths]
        assert result.matched_found[0, 0, index] == np.any(own, axis=0).sum()


@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 40), st.sampled_from([1, 7, 1000]))
def test_an_assignment_is_the_one_of_least_cost(seed, mine, others, batch):
    # points at random positions: no two assignments have equal sums, so the unmatched points are unique
    rng = np.random.default_rng(seed)
    own, theirs = rng.uniform(0, 20, (mine, 2)), rng.uniform(0, 20, (others, 2))
    apart = cdist(own, theirs)
    row, column = linear_sum_assignment(np.where(apart <= 3, apart, 1e6))
    expected = np.zeros(mine, bool)
    expected[row[apart[row, column] <= 3]] = True
    np.testing.assert_array_equal(assigned(own, theirs, 3, batch), expected)


def test_where_nothing_is_found_or_to_be_found():
    empty = np.zeros(SIZE)
    nothing_found = evaluated(empty)
    assert np.isnan(nothing_found.precision.item())
    assert (nothing_found.recall.item(), nothing_found.ods.item()) == (0, 0)
    nothing_true = evaluated(line(10, 5, 35), {"ann": empty})
    assert np.isnan(nothing_true.recall.item())
    assert (nothing_true.precision.item(), nothing_true.ods.item()) == (0, 0)
    neither = evaluated(empty, {"ann": empty, "bob": empty})
    assert np.isnan([neither.ods.item(), neither.ois.item(), neither.ods_threshold.item()]).all()


IMAGE = ({"edge": line(10, 5, 35)}, TRUTH)


@pytest.mark.parametrize(
    ("images", "options", "message"),
    [
        ([], {}, "images: expected at least one, got none"),
        ([IMAGE, ({"net": line(1, 2, 3)}, TRUTH)], {}, "image 2: expected score maps of detectors edge, got net"),
        ([({}, TRUTH)], {}, "image 1: expected score maps of detectors at least one, got none"),
        ([({"edge": [[1.0]]}, TRUTH)], {}, "image 1, scores of 'edge': expected the size of the masks"),
        ([({"edge": line(1, 2, 3, 7)}, TRUTH)], {}, "scores of 'edge': expected numbers from 0 to 1, got 1"),
        ([({"edge": line(1, 2, 3, np.nan)}, TRUTH)], {"thresholds": [1]}, "expected finite numbers, got 1 others"),
        ([IMAGE], {"thresholds": 0}, "thresholds: expected a number of at least 1, or the thresholds, got 0"),
        ([IMAGE], {"thresholds": [2, 1]}, "thresholds: expected finite numbers, ascending"),
        ([IMAGE], {"matching": "best"}, "matching: expected one of 'near', 'one_to_one', got 'best'"),
        ([IMAGE], {"tolerance": 2}, "tolerance: expected a number of at least 0 and below 1"),
    ],
)
def test_input_that_cannot_be_evaluated_is_refused(images, options, message):
    with pytest.raises(InputError, match=message):
        boundary_evaluation(images, **options)
