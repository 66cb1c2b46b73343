"""Raters vs. the truth of many images: two images by hand, and a loop over pixels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalos_core.consensus import CountedTruth, estimate_truth

RATERS = ["ann", "bob", "cid"]


def test_two_images_by_hand():
    """Pixels that any rater marked: 3 of 4, then none; cid is not assigned to the second image."""
    found = CountedTruth.nothing(RATERS, images=3)
    found.add(0, estimate_truth({"ann": [[1, 1, 0, 0]], "bob": [[0, 1, 1, 0]], "cid": [[0, 0, 0, 0]]}, "any"))
    found.add(2, estimate_truth({"ann": [[0, 0]], "bob": [[0, 0]]}, "any"))
    assert found.marked.tolist() == [3, -1, 0]
    assert (found.images, found.empty, found.pixels) == (2, 1, 3)
    assert found.seen.tolist() == found.kept.tolist() == [2, 2, 1]
    assert found.kept_share.tolist() == [1, 1, 1]
    assert found.performance.sensitivity.tolist() == pytest.approx([2 / 3, 2 / 3, 0])
    assert found.sensitivity.tolist() == pytest.approx([(2 / 3 + 1) / 2, (2 / 3 + 1) / 2, 0])  # of no pixel: 1
    assert found.performance.specificity.tolist() == found.specificity.tolist() == [1, 1, 1]


@given(st.lists(st.lists(st.tuples(*[st.booleans()] * 3), min_size=1, max_size=8), min_size=1, max_size=4))
def test_counts_are_those_of_a_loop_over_pixels(images):
    found = CountedTruth.nothing(RATERS, len(images))
    counts = {name: [[0, 0], [0, 0]] for name in RATERS}
    for number, pixels in enumerate(images):
        found.add(number, estimate_truth(dict(zip(RATERS, np.array(pixels).T[:, None], strict=True)), "0.5"))
        for votes in pixels:
            truth = 2 * sum(votes) >= len(votes)
            for name, vote in zip(RATERS, votes, strict=True):
                counts[name][vote][truth] += 1
    assert found.confusion.tolist() == list(counts.values())
    assert found.pixels == sum(2 * sum(votes) >= 3 for pixels in images for votes in pixels)


def test_raters_without_names_are_not_counted():
    found = CountedTruth.nothing([], images=1)
    found.add(0, estimate_truth({"1": [[1, 1]], "2": [[0, 1]]}, "any"))
    assert (found.pixels, found.confusion.shape) == (2, (0, 2, 2))
