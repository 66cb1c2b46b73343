"""Views of findings: counts, confusions, and the view of each annotation."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given

from kalos_core import Annotations, variations
from kalos_core.variation import VARIATION_TYPES
from tests.strategies import tables

SERIOUSNESS = ["correct", "merged", "merged_wrong_class", "wrong_class", "additional"]


def table(*marks, raters=("ann", "bob", "cid"), **more):
    rows = [
        {"id": 10 + place, "image": "a.jpg", "rater": rater, "category": name, "box": [x, 0, width, 10]}
        for place, (rater, name, x, width) in enumerate(marks)
    ]
    return Annotations.from_rows(rows, images=["a.jpg"], raters=raters, **{"assigned": "all"} | more)


def example():
    #            0      50     90
    #  ann 10    cat
    #  bob 11    dog           12 emu
    #  cid 13    cat    14 cat
    return table(
        ("ann", "cat", 0, 20),
        ("bob", "dog", 0, 18),
        ("bob", "emu", 90, 10),
        ("cid", "cat", 0, 20),
        ("cid", "cat", 50, 9),
    )


def nonzero(counts):
    return {kind: count for kind, count in counts.items() if count}


def test_counts_and_rates_by_hand():
    found = variations(example())
    # ann-bob: wrong class, additional; ann-cid: correct, additional; bob-cid: wrong class, missing, additional
    assert list(found.counts()) == list(VARIATION_TYPES)
    assert nonzero(found.counts()) == {"correct": 1, "wrong_class": 2, "missing": 1, "additional": 3}
    seen = found.counts_by_rater()
    #  ann: wrong class with bob, correct with cid; misses bob's emu and cid's second cat
    assert nonzero(seen["ann"]) == {"correct": 1, "wrong_class": 1, "missing": 2}
    #  bob: alone with the emu towards both others; misses cid's second cat
    assert nonzero(seen["bob"]) == {"wrong_class": 2, "additional": 2, "missing": 1}
    #  cid: correct with ann, wrong class with bob; alone with the second cat; misses bob's emu
    assert nonzero(seen["cid"]) == {"correct": 1, "wrong_class": 1, "additional": 2, "missing": 1}
    # only bob differs from both others in a class; bob's emu and cid's second cat have no other rater
    rates = {name: nonzero(own) for name, own in found.rates().items()}
    assert rates == {"ann": {}, "bob": {"wrong_class": 50, "additional": 50}, "cid": {"additional": 50}}
    missing = {name: own["missing"] for name, own in found.rater_rates.counts.items()}
    assert missing == dict.fromkeys(("ann", "bob", "cid"), (0, 1))  # the object that all three have
    assert (len(found.merged), found.merged.parts.tolist(), len(found.merged.part)) == (0, [], 0)
    assert found.split_by() == found.merged_by() == {"ann": 0, "bob": 0, "cid": 0}


def test_the_most_serious_view_and_the_least_similarity_of_each_annotation():
    own = variations(example()).of_annotations()
    #                           ann's cat      bob's dog      bob's emu     cid's cat      cid's second
    assert own.type.tolist() == ["wrong_class", "wrong_class", "additional", "wrong_class", "additional"]
    np.testing.assert_array_equal(own.similarity, [0.9, 0.9, np.nan, 0.9, np.nan])
    assert [sorted(rows) for rows in own.matches] == [[1, 3], [0, 3], [], [0, 1], []]
    missed = variations(table(("ann", "cat", 0, 20), ("bob", "cat", 0, 18))).of_annotations()
    assert missed.type.tolist() == ["additional"] * 2  # by cid, even if another rater agrees
    assert (missed.similarity.tolist(), missed.matches.tolist()) == ([0.9] * 2, [(1,), (0,)])
    alone = variations(table(("ann", "cat", 0, 20), assigned={"a.jpg": ["ann"]})).of_annotations()
    assert (alone.type.tolist(), alone.matches.tolist()) == ([""], [()])
    assert np.isnan(alone.similarity).all()


def test_confusions_count_classes_taken_for_one_another_most_often_first():
    marks = [("ann", "cat", 0, 9), ("bob", "dog", 0, 9), ("ann", "dog", 20, 9), ("bob", "cat", 20, 9)]
    marks += [("ann", "emu", 40, 9), ("bob", "cat", 40, 9), ("ann", "cat", 60, 9), ("bob", "cat", 60, 9)]
    found = variations(table(*marks, raters=["ann", "bob"]))
    confused = found.confusions()
    assert confused.to_pandas().values.tolist() == [["cat", "dog", 2], ["cat", "emu", 1]]
    assert [sorted(found.rows_a[list(rows)].tolist()) for rows in confused.findings] == [[(0,), (2,)], [(4,)]]
    # ann and bob each said cat and dog once; of cat and emu ann said emu and bob said cat
    assert confused.by_rater.tolist() == [[[1, 1], [1, 1]], [[0, 1], [1, 0]]]


@given(tables())
def test_confusions_name_each_such_finding_once(annotations):
    found = variations(annotations, threshold=0.25)
    confused = found.confusions()
    wrong = np.isin(found.type, ["wrong_class", "merged_wrong_class"])
    assert sorted(row for rows in confused.findings for row in rows) == np.flatnonzero(wrong).tolist()
    assert confused.count.tolist() == sorted(map(len, confused.findings), reverse=True)
    rows_of = zip(confused.category_a, confused.category_b, confused.findings, confused.by_rater, strict=True)
    for first, second, rows, by_rater in rows_of:
        sides = [side[0] for row in rows for side in (found.rows_a[row], found.rows_b[row])]
        said = Counter((annotations.categories[annotations.category[side]], annotations.rater[side]) for side in sides)
        expected = [[said[name, rater] for rater in range(len(annotations.raters))] for name in (first, second)]
        assert by_rater.tolist() == expected


@pytest.mark.parametrize(("width", "share"), [(20, 1.0), (18, 0.0)])
def test_copies_are_counted(width, share):
    found = variations(table(("ann", "cat", 0, 20), ("bob", "cat", 0, width), raters=["ann", "bob"]))
    assert found.identical_share == share
    row = {"image": "a.jpg", "rater_a": "ann", "rater_b": "bob", "type": "correct"}
    row |= {"similarity": width / 20, "ids_a": [10], "ids_b": [11]}
    assert found.to_pandas().to_dict("records") == [row]


def test_a_rater_without_an_annotation_has_no_rates():
    rates = variations(table(("ann", "cat", 0, 9), raters=["ann", "bob"])).rates()
    assert rates["ann"]["additional"] == 100
    assert {name for name, rate in rates["bob"].items() if not np.isnan(rate)} == {"missing"}
    assert rates["bob"]["missing"] == 100


def parts():
    # ann |      10      |  the whole of bob's 11, 12 and 13, of which none reaches half of it
    # bob | 11 | 12 | 13 |
    # cid |      14      |  correct towards ann, and the whole of bob's parts, too
    places = [("bob", 0, 8), ("bob", 8, 6), ("bob", 14, 6), ("cid", 0, 20)]
    return table(("ann", "cat", 0, 20), *((rater, "cat", x, width) for rater, x, width in places))


def test_wholes_and_their_parts_by_hand():
    found = variations(parts())
    merged = found.merged
    assert merged.type.tolist() == ["merged", "merged"]
    assert [(merged.whole_rater[row], merged.whole[row]) for row in range(2)] == [("ann", 10), ("cid", 14)]
    assert (merged.parts_rater.tolist(), merged.parts_category.tolist()) == (["bob", "bob"], ["cat", "cat"])
    assert [merged.parts_of(row) for row in range(2)] == [[11, 12, 13], [11, 12, 13]]
    assert merged.members(1) == {"cid": [14], "bob": [11, 12, 13]}
    assert merged.to_pandas()[["number", "whole_rater", "parts"]].values.tolist() == [[0, "ann", 3], [1, "cid", 3]]
    assert found.split_by() == {"ann": 0, "bob": 2, "cid": 0}
    assert found.merged_by() == {"ann": 1, "bob": 0, "cid": 1}


@given(tables())
def test_wholes_and_their_parts_one_after_the_other(annotations):
    found = variations(annotations, threshold=0.2)
    names, ids, expected, split = annotations.raters, annotations.id, [], dict.fromkeys(annotations.raters, 0)
    for row, (own, other) in enumerate(zip(found.rows_a, found.rows_b, strict=True)):
        if len(own) > 1 or len(other) > 1:
            (whole,), several = (own, other) if len(own) == 1 else (other, own)
            rater = names[annotations.rater[several[0]]]
            split[rater] += 1
            expected.append((row, ids[whole], rater, [ids[part] for part in several]))
    merged = found.merged
    columns = zip(merged.finding, merged.whole, merged.parts_rater, strict=True)
    assert [(*line, merged.parts_of(place)) for place, line in enumerate(columns)] == expected
    assert found.split_by() == split
    assert found.merged_by() == {rater: merged.whole_rater.tolist().count(rater) for rater in names}
    order = [(-merged.parts[row], merged.similarity[row]) for row in merged.most_parts_first]
    assert order == sorted(order)
    assert merged.to_pandas()["number"].tolist() == merged.most_parts_first.tolist()
