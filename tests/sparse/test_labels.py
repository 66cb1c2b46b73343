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
    encode_values,
    fleiss_kappa,
    free_marginal_kappa,
    gwet_ac1,
    label_counts,
    majority_vote,
    nominal_alpha,
    observed_agreement,
)
from kalos_core.sparse import sparse_agreement, tally
from kalos_core.sparse.labels import _alpha_of_counts, _alpha_of_labels

OF_COUNTS = [
    fleiss_kappa, gwet_ac1, free_marginal_kappa, sparse_agreement, alpha_of_counts, observed_agreement, majority_vote,
]  # fmt: skip


def labels(items, raters, categories, agree, seed=0):
    """Raters who know the truth of an item with a probability, and else guess."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, categories, (items, 1))
    return np.where(rng.random((items, raters)) < agree, truth, rng.integers(0, categories, (items, raters)))


def some_counts(items, categories, agree, least, most, seed):
    rng = np.random.default_rng(seed)
    number = rng.integers(least, most + 1, items)
    answers = [labels(1, n, categories, agree, rng)[0] for n in number]
    return np.stack([np.bincount(row, minlength=categories) for row in answers])


@pytest.mark.parametrize("of_counts", OF_COUNTS)
def test_labels_are_refused_with_the_right_call(of_counts):
    values = labels(50_000, 3, 5, 0.83)
    assert nominal_alpha(values) == pytest.approx(0.69, abs=0.01)
    message = r"got what looks like labels, .* rows sum to 0 to 12, .* go to nominal_alpha\(labels\), .* label_counts"
    with pytest.raises(InputError, match=message):
        of_counts(values)
    of_counts(label_counts(values))  # the right call


@pytest.mark.parametrize("raters", [2, 3, 5])
@pytest.mark.parametrize("categories", [2, 3, 7])
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("items", [60, 300])
def test_labels_of_raters_who_agree_are_recognised(raters, categories, first, items):
    values = labels(items, raters, categories, 0.9) + first
    with pytest.raises(InputError, match="looks like labels"):
        tally(values)


@pytest.mark.parametrize(("least", "most"), [(2, 2), (2, 10), (0, 6), (0, 2), (1, 5), (2, 20)])
@pytest.mark.parametrize("categories", [2, 3, 6])
@pytest.mark.parametrize("agree", [0, 0.3, 0.7, 1])
def test_counts_are_never_refused(least, most, categories, agree):
    for seed in range(12):
        for items in (4, 8, 20, 60):
            tally(some_counts(items, categories, agree, least, most, seed))


def test_negative_codes_and_names_are_refused_with_the_right_call():
    for value in (-1, -2):
        with pytest.raises(InputError, match=rf"got {value} for item 0, category 1; labels, items x raters, go to"):
            fleiss_kappa([[0, value], [1, 1]])
    with pytest.raises(InputError, match=r"got -3 for item 0, category 1$"):
        fleiss_kappa([[0, -3], [1, 1]])
    with pytest.raises(InputError, match=r"got <U3 of shape \(2, 2\); labels, items x raters, go to nominal_alpha"):
        fleiss_kappa([["cat", "dog"], ["cat", "cat"]])


def test_counts_that_look_like_labels_can_be_passed_all_the_same():
    values = labels(100, 3, 4, 0.9)
    assert tally(scipy.sparse.csr_array(values)).annotations.tolist() == values.sum(axis=1).tolist()


@settings(max_examples=50)
@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=2, max_size=9))
def test_both_alphas_are_those_of_their_functions(rows):
    table = np.array(rows)
    for found, expected in (
        (_alpha_of_counts(table, table.sum(axis=1)), alpha_of_counts(scipy.sparse.csr_array(table))),
        (_alpha_of_labels(table), nominal_alpha(table)),
    ):
        # where all is of one category they are 1, and here nothing
        assert found == pytest.approx(expected, nan_ok=True) or (np.isnan(found) and expected == 1)


@settings(max_examples=50)
@given(st.lists(st.lists(st.sampled_from([-2, -1, 0, 1, 3]), min_size=3, max_size=3), min_size=1, max_size=9))
def test_counts_of_labels(rows):
    counts = label_counts(rows).toarray()
    used = sorted({value for row in rows for value in row} - {-2})
    assert counts.tolist() == [[row.count(value) for value in used] for row in rows]
    if used:
        assert alpha_of_counts(label_counts(rows)) == pytest.approx(nominal_alpha(rows), nan_ok=True)


def test_counts_of_names():
    assert label_counts([["cat", None], ["dog", "cat"]]).toarray().tolist() == [[1, 0], [1, 1]]
    assert encode_values([["cat", None], ["dog", "cat"]]).tolist() == [[0, -2], [1, 0]]


@pytest.mark.parametrize("coefficient", [nominal_alpha, conger_kappa])
def test_a_turned_table_is_refused(coefficient):
    values = labels(500, 3, 5, 0.83)
    assert 0.6 < coefficient(values) < 0.8
    with pytest.raises(InputError, match=r"got 3 items of 500 raters with an alpha of -?0.0\d; .* pass values.T"):
        coefficient(values.T)
    with pytest.raises(InputError, match=r"pass values\.T"):
        coefficient(np.where(np.random.default_rng(0).random(values.shape) < 0.2, -2, values).T)


@pytest.mark.parametrize("agree", [0, 0.3, 0.7, 1])
@pytest.mark.parametrize("items", [2, 3, 5, 30])
def test_few_items_of_many_raters_are_not_refused(items, agree):
    for seed in range(40):
        for raters in (20, 60):
            nominal_alpha(labels(items, raters, 4, agree, seed))
