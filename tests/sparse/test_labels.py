"""Labels given where counts are meant, and tables that are turned, are recognised; counts are not."""

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from kalos_core import InputError
from kalos_core.nominal import (
    alpha_of_counts,
    conger_kappa,
    fleiss_kappa,
    free_marginal_kappa,
    gwet_ac1,
    label_counts,
    majority_vote,
    nominal_alpha,
    observed_agreement,
)
from kalos_core.sparse import sparse_agreement, tally
from kalos_core.sparse.labels import counts_likelihood, labels_likelihood

OF_COUNTS = [
    fleiss_kappa, gwet_ac1, free_marginal_kappa, sparse_agreement, alpha_of_counts, observed_agreement, majority_vote,
]  # fmt: skip


def labels(items, raters, categories, agree, seed=0):
    """Raters who know the truth of an item with a probability, and else guess."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, categories, (items, 1))
    return np.where(rng.random((items, raters)) < agree, truth, rng.integers(0, categories, (items, raters)))


@pytest.mark.parametrize("of_counts", OF_COUNTS)
def test_labels_are_refused_with_the_right_call(of_counts):
    values = labels(50_000, 3, 5, 0.83)
    message = r"got what looks like labels, .* rows sum to 0 to 12, .* go to nominal_alpha\(labels\), .* label_counts"
    with pytest.raises(InputError, match=message):
        of_counts(values)
    of_counts(label_counts(values))  # the right call
    tally(scipy.sparse.csr_array(values))  # a sparse array holds counts


# Published tables that could be taken for counts: Fleiss' diagnoses as codes (1971; as counts its rows have 7 to 30
# raters) and the anxiety ratings of the R package irr.
DIAGNOSES = """444444 222555 233335 555555 222444 113333 333355 113334 114444 555555 144444 124444 222333 144444 224445
    333335 111455 111112 224444 133555 555555 244444 224555 114444 144445 222224 111155 224444 133333 555555"""
ANXIETY = "332 361 344 464 523 542 221 346 531 231 221 632 133 533 221 221 113 233 432 342"


def codes(text):
    return np.array([[int(code) for code in row] for row in text.split()])


def birds(seed):
    """0 and 1 of 39 raters who are right in 63 %, and say 1 more or less often."""
    rng = np.random.default_rng(seed)
    truth, habit = rng.random((108, 1)) < 0.44, rng.normal(0, 1, 39)
    return (rng.normal(0, 1, (108, 39)) + 0.7 * truth - 0.35 + habit > 0).astype(int)


def test_the_example_of_krippendorff_is_refused_when_turned():
    raters = [".....34121133.3", "1.213343.......", "..21344.21133.4"]
    values = [[None if letter == "." else int(letter) for letter in rater] for rater in raters]
    with pytest.raises(InputError, match=r"got 3 items of 15 raters with an alpha of -0.06; .* 0.69: pass values.T"):
        nominal_alpha(values)
    assert nominal_alpha(list(zip(*values, strict=True))) == pytest.approx(0.691, abs=5e-4)


def test_likelihoods_by_hand():
    # one item, labels 1 and 1: of one category only, which the shares leave no doubt of
    assert labels_likelihood(np.array([[1, 1]])) == pytest.approx(0)
    # two items, 1 and 2, of one rater: 1/2 that the first is 1, then (1/2) / (1 + 1) that the second is 2
    assert labels_likelihood(np.array([[1], [2]])) == pytest.approx(np.log(1 / 8))
    # rows of 2 and of 3 raters, half each, all of one category
    assert counts_likelihood(np.array([[2, 0], [3, 0]])) == pytest.approx(np.log(1 / 4))
    # every item (1, 1): 2 orders of two draws of 1/2
    assert counts_likelihood(np.array([[1, 1]] * 4)) == pytest.approx(4 * np.log(1 / 2), abs=0.05)


def test_the_likelihood_of_labels_against_a_sum_over_the_values_of_each_item():
    values = np.array([[0, 0, 1], [2, 2, 2], [1, 1, 0]])
    share, number = np.array([3, 3, 3]) / 9, 9
    integrated = np.log(np.prod([0.5 * 1.5 * 2.5] * 3) / np.prod(np.arange(number) + 1.5))
    best = 0.0
    for knowing in (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97):
        rows = [
            sum(share[t] * np.prod([knowing * (x == t) + (1 - knowing) * share[x] for x in row]) for t in range(3))
            for row in values
        ]
        best = max(best, np.prod(rows))
    assert labels_likelihood(values) == pytest.approx(integrated + np.log(best) - number * np.log(1 / 3))


def test_negative_codes_and_names_are_refused_with_the_right_call():
    for value in (-1, -2):
        with pytest.raises(InputError, match=rf"got {value} for item 0, category 1; labels, items x raters, go to"):
            fleiss_kappa([[0, value], [1, 1]])
    with pytest.raises(InputError, match=r"got -3 for item 0, category 1$"):
        fleiss_kappa([[0, -3], [1, 1]])
    with pytest.raises(InputError, match=r"got <U3 of shape \(2, 2\); labels, items x raters, go to nominal_alpha"):
        fleiss_kappa([["cat", "dog"], ["cat", "cat"]])


@settings(max_examples=50)
@given(st.lists(st.lists(st.sampled_from([-2, -1, 0, 1, 3]), min_size=3, max_size=3), min_size=1, max_size=9))
def test_counts_of_labels(rows):
    counts = label_counts(rows).toarray()
    used = sorted({value for row in rows for value in row} - {-2})
    assert counts.tolist() == [[row.count(value) for value in used] for row in rows]
    if used:
        assert alpha_of_counts(label_counts(rows)) == pytest.approx(nominal_alpha(rows), nan_ok=True)
    assert label_counts([["cat", None], ["dog", "cat"]]).toarray().tolist() == [[1, 0], [1, 1]]


@pytest.mark.parametrize("coefficient", [nominal_alpha, conger_kappa])
def test_a_turned_table_is_refused(coefficient):
    values = labels(500, 3, 5, 0.83)
    assert 0.6 < coefficient(values) < 0.8
    with pytest.raises(InputError, match=r"got 3 items of 500 raters with an alpha of -?0.0\d; .* pass values.T"):
        coefficient(values.T)
    with pytest.raises(InputError, match=r"pass values\.T"):
        coefficient(np.where(np.random.default_rng(0).random(values.shape) < 0.2, -2, values).T)
