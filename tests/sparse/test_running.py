import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from kalos_core import InputError, sparse_agreement
from kalos_core.nominal import alpha_of_counts
from kalos_core.sparse import RunningAgreement, running_agreement, tally
from kalos_core.sparse.estimate import estimate

streams = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), min_size=1, max_size=40)


def counts_of(items, categories):
    counts = np.zeros((max(items) + 1, 3), int)
    np.add.at(counts, (np.array(items), np.array(categories)), 1)
    return counts


@given(streams, st.integers(1, 10), st.sampled_from(["flat", "annotations", "annotations_m1", "edges", "inv_var"]))
def test_every_step_is_what_counting_from_scratch_gives(stream, points, weights):
    items, categories = zip(*stream, strict=True)
    curve = running_agreement(items, categories, weights=weights, points=points, bootstrap=0)
    for step, arrived in enumerate(curve.annotations):
        counts = tally(csr_array(counts_of(items[:arrived], categories[:arrived])))
        assert curve.spa[step] == pytest.approx(estimate(counts, weights, None, 0, 0).value, nan_ok=True)
        assert curve.alpha[step] == pytest.approx(alpha_of_counts(counts), nan_ok=True)
        assert curve.usable_items[step] == counts.usable.sum()


def test_replicates_too_are_those_from_scratch_and_batches_do_not_matter():
    rng = np.random.default_rng(0)
    items, categories = rng.integers(0, 30, 200), rng.integers(0, 4, 200)
    at_once, in_parts = RunningAgreement(bootstrap=50, seed=1), RunningAgreement(bootstrap=50, seed=1)
    at_once.add(items, categories)
    for part in np.array_split(np.arange(200), 9):
        in_parts.add(items[part], categories[part])
    whole, last = at_once.curve(), in_parts.curve()
    assert whole.spa_interval[0] == pytest.approx(last.spa_interval[-1], abs=1e-12)
    assert whole.alpha_interval[0] == pytest.approx(last.alpha_interval[-1], abs=1e-12)


def test_intervals_are_those_of_the_bootstrap_over_items():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 400)
    items = np.repeat(np.arange(400), 4)
    categories = np.where(rng.random(1600) < 0.7, truth[items], rng.integers(0, 3, 1600))
    curve = running_agreement(items, categories, points=1, bootstrap=2000)
    expected = sparse_agreement(counts_of(items.tolist(), categories.tolist()), bootstrap=2000).interval
    assert curve.spa_interval[0] == pytest.approx(expected, abs=0.006)
    low, high = curve.alpha_interval[0]
    assert low < curve.alpha[0] < high


def test_there_is_no_interval_of_fewer_than_eight_items():
    curve = running_agreement(np.repeat(np.arange(8), 2), ["x", "x", "x", "y"] * 4, points=8)
    assert curve.usable_items.tolist() == list(range(1, 9))
    for ends in (curve.spa_interval, curve.alpha_interval):
        assert np.isfinite(ends).all(axis=1).tolist() == [False] * 7 + [True]


def test_time_decides_the_order():
    items, categories, time = [0, 1, 0, 1], ["x", "x", "y", "x"], [1, 4, 2, 3]
    curve = running_agreement(items, categories, time=time, points=4, bootstrap=0)
    assert curve.spa == pytest.approx([np.nan, 0, 0, 0.5], nan_ok=True)
    assert curve.time.tolist() == [1, 2, 3, 4]
    assert curve.to_pandas()["annotations"].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: running_agreement([1, 2], [1]), "categories: expected one for each of 2 items, got 1"),
        (lambda: RunningAgreement().add([1, 2], [1]), "categories: expected one for each"),
        (lambda: running_agreement([1], [1], time=[1, 2]), "time: expected 1 numbers"),
        (lambda: running_agreement([1], [1], time=[np.nan]), "1 unknown"),
        (lambda: running_agreement([1], [1], time=["noon"]), "time: expected numbers, got"),
        (lambda: running_agreement([1, 1], ["x", None]), "categories: expected one for each .* nothing in 1: 1"),
        (lambda: running_agreement([1, np.nan], ["x", "x"]), "items: expected one for each annotation"),
        (lambda: running_agreement([[1], [1]], ["x", "x"]), "items: expected names or numbers, got unhashable"),
        (lambda: running_agreement([1], [1], weights="inv_var_class"), "inv_var_class"),
        (lambda: running_agreement([1], [1], weights="heavy"), "weights: expected one of"),
        (lambda: running_agreement([1], [1], points=0), "points"),
        (lambda: running_agreement([1], [1]).narrow_from(0), "width: expected a number above 0"),
        (lambda: running_agreement([1], [1]).narrow_from(0.1, of="kappa"), "of: expected one of 'alpha', 'spa'"),
    ],
)
def test_unusable_input_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
