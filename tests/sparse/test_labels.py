"""Labels passed as counts, and transposed tables, are recognised; counts are not mistaken for these."""

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

OF_COUNTS = [
    fleiss_kappa, gwet_ac1, free_marginal_kappa, sparse_agreement, alpha_of_counts, observed_agreement, majority_vote,
]  # fmt: skip


def labels(items, raters, categories, agree, seed=0):
    """Return raters who know the truth of an item with a probability, and guess otherwise."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, categories, (items, 1))
    return np.where(rng.random((items, raters)) < agree, truth, rng.integers(0, categories, (items, raters)))


@pytest.mark.parametrize("of_counts", OF_COUNTS)
def test_labels_are_refused_with_the_right_call(of_counts):
    values = labels(50_000, 3, 5, 0.83)
    message = (
        r"got values that look like labels, .* rows sum to 0 to 12, .* to nominal_alpha\(labels\), .* label_counts"
    )
    with pytest.raises(InputError, match=message):
        of_counts(values)
    of_counts(label_counts(values))  # the right call
    tally(scipy.sparse.csr_array(values))  # sparse arrays hold counts


def test_the_example_of_krippendorff_is_refused_when_turned():
    raters = [".....34121133.3", "1.213343.......", "..21344.21133.4"]
    values = [[None if letter == "." else int(letter) for letter in rater] for rater in raters]
    with pytest.raises(InputError, match=r"got 3 items of 15 raters with an alpha of -0.06; .* 0.69: pass values.T"):
        nominal_alpha(values)
    assert nominal_alpha(list(zip(*values, strict=True))) == pytest.approx(0.691, abs=5e-4)


def test_negative_codes_and_names_are_refused_with_the_right_call():
    for value in (-1, -2):
        with pytest.raises(InputError, match=rf"got {value} for item 0, category 1; pass labels, items x raters, to"):
            fleiss_kappa([[0, value], [1, 1]])
    with pytest.raises(InputError, match=r"got -3 for item 0, category 1$"):
        fleiss_kappa([[0, -3], [1, 1]])
    with pytest.raises(InputError, match=r"got <U3 of shape \(2, 2\); pass labels, items x raters, to nominal_alpha"):
        fleiss_kappa([["cat", "dog"], ["cat", "cat"]])


@settings(max_examples=50)
@given(st.lists(st.lists(st.sampled_from([-2, -1, 0, 1, 3]), min_size=3, max_size=3), min_size=1, max_size=9))
def test_counts_of_labels(rows):
    counts = label_counts(rows).toarray()
    used = sorted({value for row in rows for value in row} - {-2})
    assert counts.tolist() == [[row.count(value) for value in used] for row in rows]
    if used:
        assert alpha_of_counts(label_counts(rows)) == pytest.approx(nominal_alpha(rows), nan_ok=True)
    # columns are ascending; text mixed with numbers is in order of first occurrence
    assert label_counts([["dog", None], ["cat", "dog"]]).toarray().tolist() == [[0, 1], [1, 1]]
    assert label_counts(np.array([["dog", 1], [1, None]], object)).toarray().tolist() == [[1, 1], [0, 1]]


@pytest.mark.parametrize("coefficient", [nominal_alpha, conger_kappa])
def test_a_turned_table_is_refused(coefficient):
    values = labels(500, 3, 5, 0.83)
    assert 0.6 < coefficient(values) < 0.8
    with pytest.raises(InputError, match=r"got 3 items of 500 raters with an alpha of -?0.0\d; .* pass values.T"):
        coefficient(values.T)
    with pytest.raises(InputError, match=r"pass values\.T"):
        coefficient(np.where(np.random.default_rng(0).random(values.shape) < 0.2, -2, values).T)


def test_counts_and_tables_of_few_items_are_not_refused():
    rng = np.random.default_rng(0)
    for seed in range(100):
        raters, classes, known = rng.integers(0, 20, 40), int(rng.integers(2, 8)), rng.random((40, 1))
        tally(rng.multinomial(raters, known * np.eye(classes)[rng.integers(0, classes, 40)] + (1 - known) / classes))
        nominal_alpha(labels(5, 20, 4, rng.random(), seed))
