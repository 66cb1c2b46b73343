import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from kalos_core import InputError, sparse_agreement
from kalos_core.chance import counts as counting
from kalos_core.sparse import WEIGHTS, agreement_variance, ratio_interval, tally
from tests.expanded import expanded

HAND = [[3, 0, 0], [2, 1, 0], [1, 1, 0], [0, 0, 1]]
"""P = 1, 1/3, 0, undefined; n = 3, 3, 2, 1."""

EXPECTED = {
    "flat": (1 + 1 / 3 + 0) / 3,
    "annotations": (3 + 3 / 3 + 0) / 8,
    "annotations_m1": (2 + 2 / 3 + 0) / 5,
    "edges": (3 + 3 / 3 + 0) / 7,
    "inv_var": (3 + 3 / 3 + 0) / 7,
}

tables = st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=8)


def naive(counts, weigh):
    """Compute agreement from every ordered pair of annotations of every item."""
    above = below = 0.0
    for row in counts:
        labels = [c for c, times in enumerate(row) for _ in range(times)]
        if len(labels) < 2:
            continue
        pairs = list(itertools.permutations(labels, 2))
        agreement = sum(a == b for a, b in pairs) / len(pairs)
        above += weigh(len(labels)) * agreement
        below += weigh(len(labels))
    return above / below if below else math.nan


@pytest.mark.parametrize("weights", EXPECTED)
def test_hand_worked_case(weights):
    result = sparse_agreement(HAND, weights)
    assert result.value == pytest.approx(EXPECTED[weights])
    assert result.item_agreement == pytest.approx([1, 1 / 3, 0, math.nan], nan_ok=True)
    assert result.weights[3] == 0
    assert (result.usable_items, result.usable) == (3, 0.75)
    assert np.isnan(result.interval).all()  # of three items
    assert result.to_pandas()["annotations"].tolist() == [3, 3, 2, 1]
    thrice = sparse_agreement(HAND * 3, weights)
    assert thrice.value == pytest.approx(result.value)
    assert thrice.interval[0] < thrice.value < thrice.interval[1]


@given(tables)
def test_every_pair_by_hand_says_the_same(counts):
    weigh = {"flat": lambda _: 1, "annotations": lambda n: n, "annotations_m1": lambda n: n - 1}
    weigh["edges"] = weigh["inv_var"] = lambda n: n * (n - 1) / 2
    for name, of in weigh.items():
        found = sparse_agreement(
            sparse.csr_array(np.array(counts)), name, bootstrap=0
        )  # dense counts may look like labels
        assert found.value == pytest.approx(naive(counts, of), nan_ok=True)


def enumerated_variance(annotations, share):
    """Return mean and variance of agreement over all labellings, each with its probability."""
    first = second = 0.0
    for labels in itertools.product(range(len(share)), repeat=annotations):
        probability = math.prod(share[label] for label in labels)
        pairs = list(itertools.combinations(labels, 2))
        agreement = sum(a == b for a, b in pairs) / len(pairs)
        first += probability * agreement
        second += probability * agreement**2
    return second - first**2


SHARES = [[0.5, 0.5], [0.7, 0.3], [0.2, 0.3, 0.5], [1 / 3] * 3, [0.25] * 4, [0.9, 0.1, 0.0]]


def test_closed_form_of_the_variance_by_enumeration():
    for annotations, share in itertools.product([2, 3, 4, 5], SHARES):
        expected = enumerated_variance(annotations, share)
        assert agreement_variance([annotations], share)[0] == pytest.approx(expected, abs=1e-12)
    counts = [[2, 1], [1, 1], [4, 0]]
    pooled = sparse_agreement(counts, "inv_var_class")
    assert pooled.value == sparse_agreement(counts, "inv_var_class", class_share=[7 / 9, 2 / 9]).value
    weights = [1 / enumerated_variance(n, [7 / 9, 2 / 9]) for n in (3, 2, 4)]
    assert pooled.value == pytest.approx(np.dot(weights, [1 / 3, 0, 1]) / sum(weights))
    equal = sparse_agreement(counts, "inv_var_class", class_share=[0.5, 0.5])
    assert equal.value == pytest.approx(sparse_agreement(counts, "edges").value)
    assert set(WEIGHTS) == {*EXPECTED, "inv_var_class"}


def test_inverse_variance_is_edges_for_every_number_of_classes():
    n = np.arange(2, 30)
    for classes in (2, 3, 7, 1203):
        inverse = 1 / agreement_variance(n, np.full(classes, 1 / classes))
        assert inverse == pytest.approx(n * (n - 1) / 2 * classes**2 / (classes - 1))


def test_dense_and_sparse_counts_are_the_same(monkeypatch):
    expected = sparse_agreement(HAND * 3)
    for make in (sparse.csr_array, sparse.coo_array, sparse.csc_matrix, np.array):
        result = sparse_agreement(make(HAND * 3))
        assert (result.value, result.interval.tolist()) == (expected.value, expected.interval.tolist())
    twice = sparse.csr_array((np.array([1, 2]), np.array([0, 0]), np.array([0, 2])), shape=(1, 2))
    assert tally(twice).count.tolist() == [3]  # entries stored twice are added up
    assert twice.nnz == 2
    counts = np.random.default_rng(0).poisson(0.2, (2000, 7))
    one = tally(counts)
    monkeypatch.setattr(counting, "WORTH_THREADS", 0)
    several = tally(counts)
    assert one.item.tolist() == several.item.tolist()
    assert one.category.tolist() == several.category.tolist()
    assert (one.count == counts[one.item, one.category]).all()


def test_the_interval_is_that_of_items_sampled_with_replacement():
    rng = np.random.default_rng(1)
    agreement, weight = rng.integers(0, 4, 200) / 3, rng.integers(1, 4, 200).astype(float)
    resampled = rng.integers(0, 200, (4000, 200))
    ratios = (agreement * weight)[resampled].sum(axis=1) / weight[resampled].sum(axis=1)
    interval = ratio_interval(agreement * weight, weight, 4000, seed=0)
    assert interval == pytest.approx(expanded(ratios, 200), abs=0.006)
    counts = rng.multinomial(4, [0.5, 0.3, 0.2], 50)
    first, again, other = (sparse_agreement(counts, seed=seed).interval.tolist() for seed in (3, 3, 4))
    assert first == again != other
    assert np.isnan(sparse_agreement(counts, bootstrap=0).interval).all()


def test_empty_and_unusable_input_has_an_answer():
    for counts in (np.zeros((0, 3), int), [[0, 0]], [[1, 0], [0, 1]]):
        result = sparse_agreement(counts)
        assert math.isnan(result.value)
        assert np.isnan(result.interval).all()
        assert result.usable_items == 0
    assert math.isnan(sparse_agreement(np.zeros((0, 3), int)).usable)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"counts": [[1, -1]]}, "counts: expected whole numbers of at least 0, got -1 for item 0, category 1"),
        ({"counts": [[1, 0.5]]}, "got 0.5 for item 0"),
        ({"counts": [1, 2]}, "items x categories"),
        ({"counts": HAND, "weights": "heavy"}, "weights: expected one of 'annotations'"),
        ({"counts": [[2], [3]], "weights": "inv_var"}, "at least two classes"),
        ({"counts": [[2, 0], [3, 0]], "weights": "inv_var_class"}, "at least two classes"),
        ({"counts": [[1], [1, 2]]}, "counts: .* rows of unequal length"),
        ({"counts": [[10**9, 1]]}, "counts: expected whole numbers of at most 100,000,000, got 1000000000"),
        ({"counts": HAND, "class_share": "equal"}, "class_share: expected numbers, got 'equal'"),
        ({"counts": HAND, "class_share": [0.5, 0.5]}, r"class_share: expected shape \(3,\)"),
        ({"counts": HAND, "class_share": [0.5, 0.5, 0.5]}, "sum to 1"),
        ({"counts": HAND, "bootstrap": -1}, "bootstrap"),
    ],
)
def test_unusable_input_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        sparse_agreement(**arguments)
