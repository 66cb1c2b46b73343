from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalos_core import SIMILARITIES, Annotations, InputError, KalosWarning
from kalos_core.pairs import Pairs, compute_pairs
from kalos_core.similarity import Similarity
from tests.strategies import SIMILARITIES_OF_TABLES, tables


def as_set(annotations, pairs):
    """Return pairs by the ids of their annotations, independent of order."""
    ids = annotations.id
    return {
        (frozenset((ids[left], ids[right])), value)
        for left, right, value in zip(pairs.left, pairs.right, pairs.similarity.tolist(), strict=True)
    }


@given(tables(), st.sampled_from([0.0, 0.3, 1.0]))
def test_every_two_annotations_of_one_image_and_two_raters_once(annotations, floor):
    of_others = [
        (a, b)
        for a, b in combinations(range(len(annotations)), 2)
        if annotations.image[a] == annotations.image[b] and annotations.rater[a] != annotations.rater[b]
    ]
    for similarity in SIMILARITIES_OF_TABLES:
        measure, expected = SIMILARITIES[similarity], set()
        for a, b in of_others:
            column = annotations.shapes[measure.kind]
            value = float(measure.compare(column, np.array([a]), column, np.array([b]), 0.0)[0])
            if value >= floor:
                expected.add((frozenset((annotations.id[a], annotations.id[b])), value))
        pairs = compute_pairs(annotations, similarity, floor)
        assert len(pairs) == len(expected), similarity
        assert as_set(annotations, pairs) == expected, similarity


@given(tables(marks=25), st.sampled_from([1, 2, 7, 64]))
def test_the_size_of_a_block_changes_nothing(annotations, block):
    whole = compute_pairs(annotations, floor=0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kalos_core.arrays.BLOCK", block)
        parts = compute_pairs(annotations, floor=0.0)
    np.testing.assert_array_equal(whole.left, parts.left)
    np.testing.assert_array_equal(whole.right, parts.right)
    np.testing.assert_array_equal(whole.similarity, parts.similarity)


@given(tables(), st.floats(0, 1), st.floats(0, 1))
def test_pairs_from_a_lower_floor_serve_every_higher_threshold(annotations, first, second):
    floor, threshold = sorted((first, second))
    cut = compute_pairs(annotations, floor=floor).at_least(threshold)
    assert as_set(annotations, cut) == as_set(annotations, compute_pairs(annotations, floor=threshold))
    assert cut.floor == threshold


def test_a_pair_exactly_at_the_floor_is_a_pair():
    # 10x10 vs. 10x5 inside it: 50 / 100
    rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 10, h]} for r, h in [("ann", 10), ("bob", 5)]]
    annotations = Annotations.from_rows(rows)
    assert compute_pairs(annotations, floor=0.5).similarity.tolist() == [0.5]
    assert compute_pairs(annotations, floor=0.1).at_least(0.5).similarity.tolist() == [0.5]


def test_a_floor_is_a_similarity():
    for floor in ("0.5", float("nan"), -1):
        with pytest.raises(InputError, match="floor: expected a number"):
            compute_pairs(Annotations.from_rows([]), floor=floor)


def test_pairs_remember_what_kind_of_shape_was_compared():
    mine = Similarity("mine", "polygon", "always one", lambda _a, rows, _b, _r, _f: np.ones(len(rows)))
    pairs = compute_pairs(Annotations.from_rows([]), mine)
    assert (pairs.name, pairs.kind, pairs.at_least(0.9).kind) == ("mine", "polygon", "polygon")
    none = np.zeros(0, np.intp)
    assert Pairs(none, none, np.zeros(0), "polygon_iou", 0.5).kind == "polygon"


def test_many_candidates_of_an_image_are_said_before_they_are_matched(monkeypatch):
    monkeypatch.setattr("kalos_core.pairs.MANY_CANDIDATES", 8)
    boxes = {"a.jpg": 3, "b.jpg": 2}
    rows = [
        {"image": image, "rater": rater, "category": "cat", "box": [0, 0, 10, 10 if rater == "ann" else 8]}
        for image, count in boxes.items()
        for rater in ("ann", "bob")
        for _ in range(count)
    ]
    annotations = Annotations.from_rows(rows)
    expected = r"9 candidates \(box_iou of at least 0.5\) among the 6 annotations of image 'a.jpg': each million"
    with pytest.warns(KalosWarning, match=expected):
        assert len(compute_pairs(annotations)) == 13
