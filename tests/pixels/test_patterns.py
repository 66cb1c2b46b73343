"""Patterns of votes: equal counts and pixels for any number of raters, in blocks or at once."""

import numpy as np
import pytest

from kalos_core.pixels import MaskStack, patterns
from kalos_core.pixels.patterns import count_slots, find_patterns


@pytest.mark.parametrize("raters", [1, 8, 9, 16, 17, 33, 64])
def test_patterns_are_the_distinct_votes(raters):
    rng = np.random.default_rng(raters)
    few = rng.random((6, raters)) < 0.5
    chosen = rng.integers(0, 6, (5, 7))
    ignore = rng.random((5, 7)) < 0.2
    found = find_patterns(MaskStack.of(few[chosen].transpose(2, 0, 1), ignore=ignore))
    votes, count = np.unique(few[chosen[~ignore]], axis=0, return_counts=True)
    assert found.votes.tolist() == votes.tolist()
    assert found.count.tolist() == count.tolist()
    where = found.at_pixels(np.arange(1, len(votes) + 1))
    assert (where[ignore] == 0).all()
    assert (found.votes[where[~ignore] - 1] == few[chosen[~ignore]]).all()
    assert found.counts_in(chosen < 3).sum() == ((chosen < 3) & ~ignore).sum()


@pytest.mark.parametrize("size", [0, 1, 6, 7, 50])
def test_counts_of_bytes_in_blocks(size, monkeypatch):
    monkeypatch.setattr(patterns, "BLOCK", 3)
    slot = np.random.default_rng(size).integers(0, 32, size, np.uint8)
    assert count_slots(slot, 32).tolist() == np.bincount(slot, minlength=32).tolist()
