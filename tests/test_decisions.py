"""Decisions about units in dispute, worked out by hand, and laws."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalos_core import InputError, agreement
from kalos_core.annotations import Annotations
from kalos_core.decisions import DECISIONS, Decision, decided_against, disputes, resolve
from tests.strategies import tables

RATERS = ["ann", "bob", "cid"]


def scene():
    """Four objects on image 1, one each on images 2 and 3.

    id  rater  image  class  box
    1-3 all      1    cat    the same: agreed
    4   ann      1    cat    \\ another class
    5,6 others   1    dog    /
    7   ann      1    van    the whole
    8,9 bob      1    van    its parts
    10  cid      2    cat    alone; image 2 has three raters
    11  ann      3    dog    alone; bob was not assigned to image 3, cid has nothing
    """
    rows = [
        *[(1, name, "cat", (0, 0, 10, height)) for name, height in zip(RATERS, (10, 10, 7), strict=True)],
        (1, "ann", "cat", (100, 0, 10, 10)),
        (1, "bob", "dog", (100, 0, 10, 9)),
        (1, "cid", "dog", (100, 0, 10, 8)),
        (1, "ann", "van", (200, 0, 40, 10)),
        (1, "bob", "van", (200, 0, 22, 10)),
        (1, "bob", "van", (222, 0, 18, 10)),
        (2, "cid", "cat", (0, 0, 10, 10)),
        (3, "ann", "dog", (0, 0, 10, 10)),
    ]
    records = [
        {"image": image, "rater": rater, "category": name, "box": box, "id": number}
        for number, (image, rater, name, box) in enumerate(rows, 1)
    ]
    assigned = {1: RATERS, 2: RATERS, 3: ["ann", "cid"]}
    return agreement(Annotations.from_rows(records, raters=RATERS, assigned=assigned), bootstrap=0)


def found_in(result):
    """Return class, x, width, height, origin and sources of each annotation."""
    annotations = result.annotations
    names = annotations.categories[annotations.category].tolist()
    boxes = annotations.shapes["box"].xywh()[:, [0, 2, 3]].tolist()
    return list(zip(names, boxes, result.origin.tolist(), result.sources, strict=True))


AGREED = ("cat", [0, 10, 9], "agreed", (1, 2, 3))


def test_without_a_decision_the_majority_counts():
    found = found_in(resolve(scene()))
    assert AGREED in found
    assert ("dog", [100, 10, 9], "undecided", (4, 5, 6)) in found
    assert ("van", [200, 31, 10], "undecided", (7, 8)) in found  # ann and bob of three; the other part is only bob's
    assert ("dog", [0, 10, 10], "undecided", (11,)) in found  # one of two
    assert len(found) == 4  # neither the second part nor the cat of cid alone


def test_those_on_the_worst_image_come_first():
    result = scene()
    queue = disputes(result)
    assert [queue.labels(number) for number in range(len(queue))] == [[10], [11], [4, 5, 6], [7, 8], [9]]
    # images 2 and 3 have alpha 0, image 1 more; two disputes are of dogs (unit [4, 5, 6] by most), two of vans
    alphas = result.image_alpha
    assert alphas[1] == alphas[2] == 0 < alphas[0]
    assert queue.to_pandas().iloc[1].to_dict() == {
        "image": 3, "alpha": 0.0, "unit": queue.unit[1], "ann": "dog", "bob": "", "cid": "no object"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        (Decision((4,), "take", "ann"), [("cat", [100, 10, 10], "take", (4,))]),
        (Decision((5, 6), "take", "cid"), [("dog", [100, 10, 8], "take", (6,))]),
        (Decision((4, 5, 6), "consensus"), [("dog", [100, 10, 9], "consensus", (4, 5, 6))]),
        (Decision((4, 5, 6), "none"), []),
        (Decision((4, 5, 6), "both"), [("cat", [100, 10, 10], "both", (4,)), ("dog", [100, 10, 8.5], "both", (5, 6))]),
        (Decision((4, 5, 6), "guideline"), [("dog", [100, 10, 9], "undecided", (4, 5, 6))]),
        (Decision((4, 5, 6), "skip"), [("dog", [100, 10, 9], "undecided", (4, 5, 6))]),
    ],
)
def test_a_class_that_differs(decision, expected):
    assert [row for row in found_in(resolve(scene(), [decision])) if row[1][0] == 100] == expected


WHOLE, PARTS = [("van", [200, 40, 10], (7,))], [("van", [200, 22, 10], (8,)), ("van", [222, 18, 10], (9,))]


@pytest.mark.parametrize(
    ("decision", "expected"), [("whole", WHOLE), ("parts", PARTS), ("both", WHOLE + PARTS), ("none", [])]
)
def test_a_whole_and_its_parts(decision, expected):
    found = [row for row in found_in(resolve(scene(), [Decision((7, 8, 9), decision)])) if row[1][0] >= 200]
    assert sorted(found, key=lambda row: row[3]) == [(name, box, decision, ids) for name, box, ids in expected]


def test_undecided_units_can_be_dropped():
    """Only units with agreement and decided ones are left."""
    told = [Decision((4, 5, 6), "take", "bob", who="eva")]
    found = resolve(scene(), told, "drop")
    assert set(found.origin) == {"agreed", "take"}
    assert found.who[found.sources.index((5,))] == "eva"
    assert len(found.annotations) < len(resolve(scene(), told).annotations)
    with pytest.raises(InputError, match="undecided"):
        resolve(scene(), told, "all")


def test_a_rater_who_has_nothing_there_can_be_right():
    found = resolve(scene(), [Decision((10,), "take", "ann"), Decision((11,), "take", "ann")])
    assert 10 not in [source for sources in found.sources for source in sources]
    assert (11,) in found.sources


def test_the_latest_decision_of_a_unit_counts():
    first, second = Decision((4, 5, 6), "none"), Decision((4,), "take", "ann", "look at the ears")
    found = resolve(scene(), [first, second])
    row = found.sources.index((4,))
    assert (found.origin[row], found.note[row], found.decided) == ("take", "look at the ears", 1)
    assert resolve(scene(), [second, first]).sources.count((4,)) == 0
    undone = resolve(scene(), [first, Decision((5,), "skip")])
    assert undone.decided == 0
    assert (4, 5, 6) in undone.sources
    assert len(undone.open_units) == len(disputes(scene())) == 5


def test_who_needs_to_learn_what():
    told = [
        Decision((4, 5, 6), "take", "bob"),
        Decision((7, 8, 9), "parts"),
        Decision((10,), "take", "cid"),
        Decision((11,), "none"),
    ]
    found = decided_against(scene(), told)
    assert found["labels"][0] == [4, 5, 6]
    assert found["rate"].tolist() == (found["count"] / found["units"]).tolist()
    assert found.drop(columns=["rate", "labels"]).to_dict("records") == [
        # bob and ann have no cat on image 2, cid no van on image 1
        {"rater": "ann", "category": "cat", "decided": "dog", "count": 1, "units": 4},
        {"rater": "ann", "category": "dog", "decided": "no object", "count": 1, "units": 4},
        {"rater": "ann", "category": "no object", "decided": "cat", "count": 1, "units": 4},
        {"rater": "ann", "category": "van", "decided": "several objects", "count": 1, "units": 4},
        {"rater": "bob", "category": "no object", "decided": "cat", "count": 1, "units": 3},
        {"rater": "cid", "category": "no object", "decided": "van", "count": 1, "units": 4},
    ]


def test_who_has_drawn_the_parts_of_one_object():
    found = decided_against(scene(), [Decision((7, 8, 9), "whole")])
    rows = found[["rater", "category", "decided"]].values.tolist()
    assert rows == [["bob", "van", "one object"], ["cid", "no object", "van"]]


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        (("yes", (1,), None), "decision: expected one of"),
        (("none", (1,), "ann"), "rater: expected none, as the decision is 'none', got 'ann'"),
        (("none", (1, 11), None), "labels: expected annotations of one image, got 1, 11"),
        (("take", (1,), "eve"), "rater: expected one of 'ann', 'bob', 'cid', got 'eve'"),
        (("whole", (4, 5, 6), None), "decision: expected labels with one by a rater and several by another"),
    ],
)
def test_impossible_decisions(decision, message):
    name, labels, rater = decision
    with pytest.raises(InputError, match=message):
        resolve(scene(), [Decision(labels, name, rater)])


@given(tables(), st.data())
def test_laws(table, data):
    if len(table.raters) < 2 or not len(table.images):
        return
    result = agreement(replace(table, image_size=np.full((len(table.images), 2), 64.0)), bootstrap=0)
    queue, taken = disputes(result), []
    values = [{value for value in row if value != -2} for row in result.units.values.tolist()]
    assert sorted(queue.unit) == [unit for unit, row in enumerate(values) if len(row) > 1]
    for number in range(len(queue)):
        decision = data.draw(st.sampled_from(sorted(set(DECISIONS) - {"whole", "parts"})))
        rater = data.draw(st.sampled_from(table.raters.tolist())) if decision == "take" else None
        taken.append(Decision(tuple(queue.labels(number)), decision, rater))
    found = resolve(result, taken)
    open_ = [decision for decision in taken if decision.decision in ("skip", "guideline")]
    assert len(disputes(result, taken)) == len(found.open_units) == len(open_)
    assert found.decided == len(taken) - len(open_)
    used = [source for sources in found.sources for source in sources]
    assert len(set(used)) == len(used)  # no annotation twice
    agreed = np.isin(result.unit_of, np.setdiff1d(np.arange(len(result.units)), queue.unit))
    assert set(table.id[agreed].tolist()) <= set(used)
