"""Loading tables of image-level labels into a data set."""

import pandas as pd
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError, LabelTable
from kalos_core.fiftyone.dataset.raters import IMAGE_LABELS
from tests.fiftyone_bridge.quiz import ANSWERS, RATERS, VALUES, sample, table_rows
from tests.fiftyone_bridge.scenes import raising, untouched

TABLE = pd.DataFrame(table_rows())


@pytest.fixture
def empty(make):
    return make([sample(number) for number in range(6)])


def test_a_field_for_each_rater(empty, tmp_path):
    path = tmp_path / "labels.csv"
    TABLE.to_csv(path, index=False)
    loaded = kf.load_label_table(path, empty, time="time")
    assert (loaded.fields, loaded.samples, loaded.answers) == ({name: name for name in RATERS}, 6, 15)
    assert empty.values("bob.label") == [row[1] for row in ANSWERS]
    assert empty.values("raters")[3] == ["ann", "bob"]
    assert empty.values("cid.answered_at")[:3] == [2.0, 12.0, 22.0]
    assert kf.rater_fields(empty, IMAGE_LABELS) == {name: name for name in RATERS}
    assert kf.read_label_table(empty).values().tolist() == VALUES
    for dataset, message in ((empty, r"already holds image-level labels of 'ann' \(field 'ann'\)"), ("no", "exists")):
        with pytest.raises(InputError, match=message):
            kf.load_label_table(path, dataset)


def test_one_field_for_a_crowd(empty):
    kf.load_label_table(TABLE, empty, field="crowd")
    assert kf.read_label_table(empty, field="crowd").values().tolist() == VALUES


def test_several_labels_or_none_of_a_rater(empty):
    first = empty.first().id
    rows = [
        {"item": first, "rater": "a b", "label": ["sky", "sea"]},
        {"item": first, "rater": "id", "label": []},
    ]
    loaded = kf.load_label_table(LabelTable.from_rows(rows, groups=None), empty)
    assert loaded.fields == {"a b": "a_b", "id": "rater_id"}
    assert len(empty.first().a_b.classifications) == 2
    assert empty.first().rater_id.classifications == []
    assert empty.last().rater_id is None
    assert kf.read_label_table(empty, groups=None).values("sea")[0].tolist() == [1, 0]


def test_it_keeps_what_is_there(dataset):
    kf.load_label_table(TABLE, dataset)
    assert dataset.values("raters")[5] == ["ann", "bob", "cid"]  # bob labelled the image and annotated nothing
    assert kf.rater_fields(dataset, IMAGE_LABELS) == {"ann": "rater_ann", "bob": "rater_bob", "cid": "cid"}


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([("7.jpg", "ann", "cat")], {}, "item '7.jpg': expected the id or file name of a sample, got none"),
        ([("0.jpg", "ann", "cat"), ("0", "bob", "cat")], {}, "each sample once, got that of '0.jpg' again"),
        ([("0.jpg", "ann", "cat")], {"field": "id"}, "field: expected the name of a new field, such as 'rater_id'"),
    ],
)
def test_files_that_cannot_be_loaded(empty, rows, options, message):
    with untouched(empty), pytest.raises(InputError, match=message):
        kf.load_label_table(pd.DataFrame(rows, columns=["item", "rater", "label"]), empty, **options)


def test_a_failure_half_way_is_taken_back(empty, monkeypatch):
    monkeypatch.setattr("kalos_core.fiftyone.importing.image_labels.store_raters", raising(RuntimeError("full")))
    schema, info = set(empty.get_field_schema()), dict(empty.info)
    with pytest.raises(RuntimeError, match="full"):
        kf.load_label_table(TABLE, empty)
    assert (set(empty.get_field_schema()), dict(empty.info)) == (schema, info)
