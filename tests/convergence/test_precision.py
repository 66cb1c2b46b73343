"""Average precision of groups of detections: by hand, and by a loop over recall points."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalos_core.convergence import precision
from kalos_core.convergence.precision import average_precision


def by_loop(hits, counts, positives):
    """Return the best precision at each recall point or beyond, as in the definition."""
    points, found, taken = [], 0, 0
    for hit, counted in zip(hits, counts, strict=True):
        found, taken = found + (hit and counted), taken + counted
        if taken:
            points.append((found / positives, found / taken))
    return np.mean([max((p for r, p in points if r >= recall), default=0) for recall in np.linspace(0, 1, 101)])


def test_by_hand():
    # hit, miss, hit of two annotations: precision 1, 1/2, 2/3 at recall 1/2, 1/2, 1; miss, hit, hit of two: 2/3 all the
    # way; one of three annotations found: recall 1/3, that is the points 0 to .33; a miss that counts neither way
    group, positives = np.array([0, 0, 0, 1, 1, 1, 2, 3, 3]), np.array([2, 2, 3, 1, 2, 0])
    hit = np.array([[True, False, True, False, True, True, True, False, True]])
    counts = np.arange(9)[None] != 7
    expected = [(51 + 50 * 2 / 3) / 101, 2 / 3, 34 / 101, 1, 0, np.nan]
    np.testing.assert_allclose(average_precision(group, hit, counts, positives), [expected])
    none = average_precision(group[:0], np.zeros((2, 0), bool), None, np.array([3]))
    assert none.tolist() == [[0], [0]]


groups = st.lists(
    st.tuples(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=12), st.integers(0, 9)), min_size=1, max_size=5
)


@given(groups, st.booleans(), st.sampled_from([1, 16, 1 << 16]))
def test_equal_to_a_loop(drawn, all_count, at_once):
    group = np.repeat(np.arange(len(drawn)), [len(flags) for flags, _ in drawn])
    flags = np.array([flag for flags, _ in drawn for flag in flags], bool).reshape(-1, 2)
    hit = np.stack([flags[:, 0], flags[:, 0] & (np.arange(len(flags)) % 2 == 0)])
    counts = np.ones_like(hit) if all_count else np.stack([flags[:, 1]] * 2)
    # an annotation is matched at most once
    positives = np.array(
        [max(marks, (hit[0] & counts[0])[group == number].sum()) for number, (_, marks) in enumerate(drawn)]
    )
    with patch.multiple(precision, AT_ONCE=at_once, BATCHES_A_THREAD=1):  # blocks of groups, in threads
        found = average_precision(group, hit, None if all_count else counts, positives)
    expected = [
        [
            by_loop(hit[level][group == number], counts[level][group == number], marks) if marks else np.nan
            for number, marks in enumerate(positives)
        ]
        for level in range(2)
    ]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("most", [7, 1_000, 30_003])
def test_quotients_that_hardly_differ(most):
    """The maximum from each hit on, for precisions that are adjacent floats: identical to the last bit."""
    rng = np.random.default_rng(most)
    hit = np.diff(np.rint(np.arange(most + 1) * np.sqrt(0.5)) + rng.integers(0, 2, most + 1), prepend=0) > 0
    k, n = np.cumsum(hit), np.arange(1, len(hit) + 1)
    best = np.maximum.accumulate((k / n)[hit][::-1])[::-1]
    key, points, found = precision.precision_points(np.zeros(len(hit), int), hit[None], None, np.array([k[-1]]))
    recall = np.searchsorted(precision.RECALL, np.arange(k[-1] + 1) / k[-1], side="right")
    won = np.diff(np.concatenate([[0], recall[1:]]))
    assert not key.any()
    assert found.tolist() == best[won > 0].tolist()
    assert points.tolist() == won[won > 0].tolist()
