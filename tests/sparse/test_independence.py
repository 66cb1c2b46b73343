"""Test of dependence of agreement on the number of annotations: by hand, by simulation, and the warning."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.sparse import csr_array

from kalos_core import Annotations, KalosWarning, agreement
from kalos_core.sparse import check_independence, sparse_agreement, tally, unit_agreement
from kalos_core.sparse.independence import independence_of


def counts_of(number, share, rng):
    """Return counts of two classes; each item has a number of annotations and a share of the first class."""
    first = rng.binomial(number, share)
    return np.stack([first, number - first], axis=1)


def test_by_hand():
    # n 2, 2, 3, 3 with P 0, 1, 1, 1: mean ranks 1.5 and 3.5, P less its mean -3/4, 1/4, 1/4, 1/4
    result = check_independence([[1, 1], [2, 0], [3, 0], [0, 3]])
    assert result.rho == pytest.approx(1 / math.sqrt(3))  # sum of products 2, over sqrt(4 * 3/4)
    # all four positions of the 0 are equally far from equal ranks: two on either side
    assert (result.p, result.permutations) == (1, 1000)
    assert (result.annotations.tolist(), result.agreement.tolist(), result.items.tolist()) == ([2, 3], [0.5, 1], [2, 2])
    assert result.deviation.tolist() == pytest.approx([math.sqrt(0.5), 0])
    assert not result.doubtful


@pytest.mark.parametrize("counts", [[[2, 0], [1, 1]], [[2, 0], [3, 0]], [[1, 0]], np.zeros((0, 2), int)])
def test_nothing_varies(counts):
    result = check_independence(counts)
    assert np.isnan([result.rho, result.p]).all()
    assert not result.doubtful
    assert "nothing to test" in repr(result)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12))
def test_rho_is_the_correlation_of_the_rank_with_agreement(rows):
    found = tally(csr_array(np.array(rows)))  # dense counts may look like labels
    n, p = found.annotations[found.usable], found.item_agreement[found.usable]
    rho = check_independence(found, permutations=5).rho
    if len(n) < 2 or np.ptp(n) == 0 or np.ptp(p) == 0:
        assert np.isnan(rho)
    else:
        assert rho == pytest.approx(np.corrcoef(stats.rankdata(n), p)[0, 1])


def test_items_that_represent_several():
    rng = np.random.default_rng(0)
    counts = counts_of(rng.choice([2, 3, 5], 300), 0.8, rng)
    kinds, times = np.unique(counts, axis=0, return_counts=True)
    found, few = tally(counts), tally(kinds)
    alone = independence_of(found.annotations, found.item_agreement, found.times, permutations=5)
    together = independence_of(few.annotations, few.item_agreement, times, permutations=5)
    for name in ("rho", "items", "agreement", "deviation"):
        np.testing.assert_allclose(getattr(together, name), getattr(alone, name))


def test_the_warning_says_what_equal_weights_give():
    # few annotations of hard items, many of easy ones; and the complete data
    rng = np.random.default_rng(0)
    whole = counts_of(np.full(300, 8), np.repeat([0.55, 0.95], 150), rng)
    number = np.repeat([2, 8], 150)
    part = np.stack([rng.multivariate_hypergeometric(row, n) for row, n in zip(whole, number, strict=True)])
    expected = sparse_agreement(whole, bootstrap=0).value
    message = r"raters agree more on items with more annotations \(rho 0\.\d\d, p 0\.001\).*'annotations_m1'.* 0\.\d{3}"
    with pytest.warns(KalosWarning, match=message) as got:
        result = sparse_agreement(part, bootstrap=0)
    assert got[0].filename == __file__
    assert f"it is {result.value:.3f}, with equal weights (weights='flat') {result.flat:.3f}" in str(got[0].message)
    assert result.value > expected + 0.1  # 2 annotations on hard items and 8 on easy ones: far too high
    assert result.flat == pytest.approx(expected, abs=0.04)
    assert result.flat == pytest.approx(sparse_agreement(part, "flat", bootstrap=0).value)  # without a warning
    assert result.independence.doubtful
    assert "depends on" in repr(result.independence)
    with pytest.warns(KalosWarning, match="raters agree less on items with more"):
        sparse_agreement(np.concatenate([part[:150] * 4, np.minimum(part[150:], 2)]), bootstrap=0)


def test_units_have_it_too():
    rows = [{"image": i, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for i in (1, 2) for r in "abc"[: i + 1]]
    result = unit_agreement(agreement(Annotations.from_rows(rows, assigned="drew"), bootstrap=0))
    assert result.independence.annotations.tolist() == [2, 3]
    assert result.independence.to_pandas()["agreement"].tolist() == [1, 1]
