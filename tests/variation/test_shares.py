"""Variation types over thresholds, the equilibrium, and boundary quality."""

import numpy as np
import pytest

from kalos_core import Annotations, InputError, boundary_quality, variation_shares, variations
from kalos_core.variation import VARIATION_TYPES


def table(*overlaps):
    """Return one object per image; bob's box covers the given share of ann's."""
    rows = []
    for image, overlap in enumerate(overlaps):
        rows.append({"image": image, "rater": "ann", "category": "cat", "box": [0, 0, 10, 10]})
        rows.append({"image": image, "rater": "bob", "category": "cat", "box": [0, 0, 10, 10 * overlap]})
    return Annotations.from_rows(rows)


def test_by_hand():
    found = variation_shares(table(0.4, 0.6, 0.8), (0.9, 0.5, 0.7))
    assert found.threshold.tolist() == [0.5, 0.7, 0.9]
    assert found.matched.tolist() == [2, 1, 0]
    assert found.unmatched.tolist() == [2, 4, 6]
    # equal at .5, behind by 3 at .7: they meet at .5
    assert found.equilibrium == 0.5
    frame = found.to_pandas()
    assert len(frame) == 18
    assert frame.query("threshold == 0.7 and type == 'correct'")["share"].tolist() == [0.2]


@pytest.mark.parametrize(
    ("annotations", "thresholds", "reason"),
    [
        (table(0.9), (0.5, 0.75), "matched findings are never outnumbered, up to threshold 0.75"),
        (table(0.2), (0.5, 0.75), "unmatched findings outnumber matched ones at all thresholds from 0.5"),
        (Annotations.from_rows([], images=[1], raters=["ann", "bob"]), (0.5,), "there are no findings"),
    ],
)
def test_without_an_equilibrium_there_is_a_reason(annotations, thresholds, reason):
    found = variation_shares(annotations, thresholds)
    assert np.isnan(found.equilibrium)
    assert found.no_equilibrium == reason


@pytest.mark.parametrize(("similarity", "images"), [("box_iou", 200), ("polygon_iou", 60)])
def test_each_threshold_is_a_search_of_its_own(lvis, similarity, images):
    some = lvis.select(images=np.arange(len(lvis.images)) < images)
    found = variation_shares(some, (0.2, 0.5, 0.75), similarity)
    for counts, threshold in zip(found.counts, found.threshold, strict=True):
        expected = variations(some, similarity, threshold).counts()
        assert dict(zip(VARIATION_TYPES, counts.tolist(), strict=True)) == expected
    assert found.counts[:, VARIATION_TYPES.index("merged")].any()  # unions were compared
    np.testing.assert_allclose(found.shares.sum(axis=1), 1)


def test_the_equilibrium_of_lvis_is_near_the_papers(lvis):
    # KαLOS §9.2: about .75 for the whole of LVIS
    assert variation_shares(lvis, max_merge=2).equilibrium == pytest.approx(0.75, abs=0.06)


def test_boundary_quality_by_hand():
    found = boundary_quality(variations(table(1, 1, 0.9, 0.6, 0.5, 0.1)), bins=5)
    np.testing.assert_allclose(found.edges, [0, 0.1, 0.2, 0.3, 0.4, 0.5])
    assert found.counts.sum() == 5
    assert found.counts.tolist()[0] in (2, 3)  # .9 is a last bit next to the edge .1
    assert found.identical == 2
    assert found.median == pytest.approx(0.1)
    assert found.to_pandas()["count"].sum() == 5
    assert boundary_quality(variations(table(1), threshold=1.0), bins=2).counts.tolist() == [1, 0]
    nothing = boundary_quality(variations(table(0.1)), bins=2)
    assert np.isnan(nothing.median)
    assert nothing.counts.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: variation_shares(table(0.5), ()), "at least one similarity, got none"),
        (lambda: variation_shares(table(0.5), (0.5, 2)), "thresholds: expected a number above 0"),
        (lambda: variation_shares(table(0.5), (0, 0.5)), "expected a number above 0"),
        (lambda: boundary_quality(variations(table(0.1)), 0), "bins: expected a whole number from 1 to 10,000, got 0"),
    ],
)
def test_invalid_input_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
