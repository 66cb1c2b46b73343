"""Reading image-level labels in each form that data sets store."""

from functools import partial
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError, KalosWarning
from kalos_core.fiftyone.dataset.database import stream
from kalos_core.fiftyone.dataset.image_labels import read_image_labels
from kalos_core.fiftyone.dataset.selection import Selection
from tests.fiftyone_bridge.quiz import RATERS, VALUES, label, quiz, quiz_in_one_field, sample, several

BOTH = ("ann", "bob")


def test_a_field_for_each_rater(make, monkeypatch):
    dataset = make(quiz)
    for block in (1000, 2):
        monkeypatch.setattr("kalos_core.fiftyone.dataset.image_labels.stream", partial(stream, block=block))
        table = kf.read_label_table(dataset, raters=RATERS)
        assert table.values().tolist() == VALUES
        assert table.items.tolist() == dataset.values("id")
        assert table.options() == ("cat", "dog", "owl")


def test_one_field_with_a_rater_attribute(make):
    dataset = make(quiz_in_one_field)
    table = kf.read_label_table(dataset, field="answers")
    assert (table.values().tolist(), table.raters.tolist()) == (VALUES, list(RATERS))
    part = kf.read_label_table(dataset, field="answers", raters=("cid", "ann"))
    assert part.values().tolist() == [[row[2], row[0]] for row in VALUES]


def test_who_was_assigned_and_chose_nothing(make):
    dataset = make(
        [
            sample(0, ann=several(["sky", "sea"]), bob=several([]), raters=["ann", "bob"]),
            sample(1, ann=several(["sky"]), raters=["ann", "bob"]),
            sample(2, ann=several(["sky"]), raters=["ann"]),
        ]
    )

    def sky(assigned: str) -> Any:
        return kf.read_label_table(dataset, raters=BOTH, groups=None, assigned=assigned).values("sky").tolist()

    assert sky("auto") == [[1, 0], [1, 0], [1, -2]]
    assert sky("labelled") == [[1, 0], [1, -2], [1, -2]]
    assert sky("all") == [[1, 0], [1, 0], [1, 0]]
    dataset.delete_sample_field("raters")
    with pytest.warns(KalosWarning, match="samples: no field 'raters' lists the assigned raters"):
        assert sky("auto") == [[1, 0], [1, 0], [1, 0]]


def test_limits(make):
    answers = {"ann": label("cat", confidence=0.9), "bob": label("dog", confidence=0.2), "cid": label("owl")}
    dataset = make([sample(0, raters=list(RATERS), **answers)])
    table = kf.read_label_table(dataset, raters=RATERS, min_confidence=0.5)
    assert table.values().tolist() == [[0, -2, 1]]
    table = kf.read_label_table(dataset, raters=RATERS, classes=("dog", "cat"), reference="bob")
    assert (table.values().tolist(), table.options()) == ([[1, -2]], ("dog", "cat"))


@pytest.mark.parametrize("groups", ["label", None])
def test_a_digest_depends_on_no_other_image(make, groups):
    dataset, chosen = make(quiz), Selection(raters=RATERS)
    last = dataset.last()
    last.ann = label("ape", answered_at=3)
    last.save()

    def digests(samples: Any) -> list[int]:
        found: list[int] = read_image_labels(samples, chosen, groups, "first", again=True).hashes.tolist()
        return found

    whole = read_image_labels(dataset, chosen, groups, "first").hashes.tolist()
    assert [digests(dataset[number : number + 1]) for number in range(6)] == [[digest] for digest in whole]
    assert len(set(whole)) == 6
    for name, value in (("raters", []), *((rater, None) for rater in RATERS)):
        dataset.set_values(name, [value] * 6)
    assert len(set(digests(dataset))) == 1


CAT = [sample(0, ann=label("cat"))]
TWICE = [sample(0, all=several(["cat", "dog"], rater="ann"))]


@pytest.mark.parametrize(
    ("samples", "options", "message"),
    [
        (CAT, {"raters": ("ann", "eve")}, "or a field of Classification or Classifications, got 'eve'"),
        (CAT, {}, "no stored raters of image-level labels"),
        ([sample(0, ann=fo.Classification())], {"raters": ("ann",)}, "0.jpg, field 'ann': expected a label, got"),
        (
            [sample(0, all=several(["cat"]))],
            {"field": "all"},
            "that names each label's rater, got 'rater'",
        ),
        (TWICE, {"field": "all"}, "expected one answer of a rater to an item, got 'ann' on"),
        ([sample(0, ann=label("cat"), raters=["bob"])], {"raters": ("ann",)}, "whom the sample field 'raters' lists"),
        (CAT, {"raters": ("ann",), "min_area": 3}, "have no area"),
    ],
)
def test_unreadable_input(make, samples, options, message):
    with pytest.raises(InputError, match=message):
        kf.read_label_table(make(samples), **options)
