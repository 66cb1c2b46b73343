"""Labels of whole images: read in each form, loaded from tables, agreement as a run, and what a click leads to."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fiftyone as fo
import numpy as np
import pandas as pd
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError, LabelTable, label_agreement, majority_agreement, rater_accuracy
from kalos_core.nominal import cohen_matrix
from tests.fiftyone_bridge.quiz import (
    AGREEMENT,
    ANSWERS,
    DISPUTED,
    RATERS,
    SPA,
    label,
    quiz,
    quiz_in_one_field,
    sample,
    several,
    table_rows,
)
from tests.fiftyone_bridge.scenes import SCENES, documents, make_samples

Make = Callable[..., fo.Dataset]

VALUES = [[{"cat": 0, "dog": 1, "owl": 2, None: -2}[name] for name in row] for row in ANSWERS]


@pytest.fixture
def answered(make: Make) -> fo.Dataset:
    return make(quiz())


def compute(dataset: Any, key: str = "run", **options: Any) -> kf.Run:
    return kf.compute_label_agreement(dataset, key, **{"raters": RATERS, "bootstrap": 50, **options})


class TestReading:
    def test_a_field_for_each_rater(self, answered: fo.Dataset) -> None:
        table = kf.read_label_table(answered, raters=RATERS)
        assert table.values().tolist() == VALUES
        assert table.items.tolist() == answered.values("id")
        assert table.options() == ("cat", "dog", "owl")

    def test_one_field_with_a_rater_attribute(self, make: Make) -> None:
        dataset = make(quiz_in_one_field())
        table = kf.read_label_table(dataset, field="answers")
        assert (table.values().tolist(), table.raters.tolist()) == (VALUES, list(RATERS))
        part = kf.read_label_table(dataset, field="answers", raters=("cid", "ann"))
        assert part.values().tolist() == [[row[2], row[0]] for row in VALUES]

    def test_who_was_asked_and_chose_nothing(self, make: Make) -> None:
        samples = [
            sample(0, ann=several(["sky", "sea"]), bob=several([]), raters=["ann", "bob"]),
            sample(1, ann=several(["sky"]), raters=["ann", "bob"]),
            sample(2, ann=several(["sky"]), raters=["ann"]),
        ]
        dataset = make(samples)
        table = kf.read_label_table(dataset, raters=("ann", "bob"), groups=None)
        assert table.values("sky").tolist() == [[1, 0], [1, 0], [1, -2]]
        alone = kf.read_label_table(dataset, raters=("ann", "bob"), groups=None, assigned="labelled")
        assert alone.values("sky").tolist() == [[1, 0], [1, -2], [1, -2]]
        everybody = kf.read_label_table(dataset, raters=("ann", "bob"), groups=None, assigned="all")
        assert everybody.values("sky").tolist() == [[1, 0], [1, 0], [1, 0]]

    def test_limits(self, make: Make) -> None:
        dataset = make(
            [sample(0, ann=label("cat", confidence=0.9), bob=label("dog", confidence=0.2), cid=label("owl"))]
        )
        table = kf.read_label_table(dataset, raters=RATERS, min_confidence=0.5)
        assert table.values().tolist() == [[0, -2, 1]]
        table = kf.read_label_table(dataset, raters=RATERS, classes=("dog", "cat"), reference="bob")
        assert (table.values().tolist(), table.options()) == ([[1, -2]], ("dog", "cat"))

    @pytest.mark.parametrize(
        ("samples", "options", "message"),
        [
            ([sample(0, ann=label("cat"))], {"raters": ("ann", "eve")}, "or a rater, got 'eve' .label fields: ann"),
            ([sample(0, ann=label("cat"))], {}, "no stored raters of whole images"),
            ([sample(0, ann=fo.Classification())], {"raters": ("ann",)}, "0.jpg, field 'ann': expected a label, got"),
            ([sample(0, ann=label("cat"))], {"field": "ann"}, "expected Classifications, each label with its rater"),
            (
                [sample(0, all=several(["cat"]))],
                {"field": "all"},
                "expected an attribute that names each label's rater, got 'rater'",
            ),
            (
                [sample(0, all=several(["cat", "dog"], rater="ann"))],
                {"field": "all"},
                "expected one answer of a rater to an item, got 'ann' on",
            ),
            (
                [sample(0, ann=label("cat"), raters=["bob"])],
                {"raters": ("ann",)},
                "expected a rater whom the sample field 'raters' lists",
            ),
            (
                [sample(0, ann=label("cat"))],
                {"raters": ("ann",), "classes": ("cow",)},
                "classes: expected labels",
            ),
            ([sample(0, ann=label("cat"))], {"raters": ("ann",), "min_area": 3}, "have no area"),
            ([sample(0, ann=label("cat"), bob=None)], {"raters": ("ann", "ann")}, "every rater once, got 'ann' twice"),
        ],
    )
    def test_what_cannot_be_read_is_said(self, make: Make, samples: list, options: dict, message: str) -> None:
        with pytest.raises(InputError, match=message):
            kf.read_label_table(make(samples), **options)

    def test_a_second_answer_by_choice(self, make: Make) -> None:
        dataset = make([sample(0, all=several(["cat", "dog"], rater="ann"))])
        for on_repeat, expected in (("first", "cat"), ("last", "dog")):
            table = kf.read_label_table(dataset, field="all", on_repeat=on_repeat)
            assert table.options()[table.values()[0, 0]] == expected


class TestTheRun:
    def test_holds_what_the_library_computes(self, answered: fo.Dataset) -> None:
        run = compute(answered)
        table = LabelTable.from_rows(
            [
                {"item": number, "rater": rater, "label": name}
                for number, row in enumerate(ANSWERS)
                for rater, name in zip(RATERS, row, strict=True)
                if name
            ],
            concepts=["cat", "dog", "owl"],
        )
        own, (row,) = label_agreement(table, 50), run.diagnostics["questions"]
        assert row["spa"] == pytest.approx(SPA)
        for name in ("spa", "alpha", "fleiss", "free_marginal"):
            assert row[name] == pytest.approx(getattr(own, name)[0])
        np.testing.assert_allclose(row["interval"], own.free_marginal_interval[0])
        assert row["cohen"] == pytest.approx(np.nanmean(cohen_matrix(table.values())))
        assert row["bands"]["free_marginal"] == own.bands[0]
        majority = majority_agreement(table)
        assert run.diagnostics["concepts"]["all"] == pytest.approx(majority.concept_all.tolist())
        assert run.diagnostics["concepts"]["chosen"] == pytest.approx(majority.concept_chosen.tolist())
        assert run.diagnostics["accuracy"]["to_majority"] == pytest.approx(rater_accuracy(table).to_majority.tolist())
        assert run.figures["disputed"] == 3
        assert (run.figures["images"], run.figures["answers"], run.figures["breaches"]) == (6, 15, 0)
        assert json.loads(json.dumps(run.diagnostics)) == run.diagnostics

    def test_writes_two_fields(self, answered: fo.Dataset) -> None:
        before = documents(answered)
        compute(answered)
        agreement, disputed = answered.values(["run_agreement", "run_disputed"])
        assert agreement == [None if value is None else pytest.approx(value) for value in AGREEMENT]
        assert disputed == DISPUTED
        assert kf.load_figures(answered, "run").written == "'run_agreement' and 'run_disputed' on samples"
        kf.delete_run(answered, "run")
        assert documents(answered) == before
        assert not answered.has_field("run_agreement")

    def test_a_quorum_of_one_half_disputes_less(self, answered: fo.Dataset) -> None:
        compute(answered, quorum=0.5)
        assert answered.values("run_disputed") == [False, False, False, False, None, True]

    def test_is_loaded_renamed_and_knows_what_changed(self, answered: fo.Dataset) -> None:
        run = compute(answered, groups={"animal": ["cat", "dog", "owl"]})
        loaded = kf.load_run(answered, "run")
        assert loaded.result.agreement.alpha.tolist() == run.result.agreement.alpha.tolist()
        assert loaded.diagnostics == run.diagnostics
        assert loaded.stale == ()
        kf.rename_run(answered, "run", "other")
        assert answered.values("other_disputed") == DISPUTED
        first = answered.first()
        first.ann = label("dog")
        first.save()
        assert kf.stale_samples(answered, "other") == [first.id]
        assert kf.load_run(answered, "other").result.disputes.agreement[0] == pytest.approx(1 / 3)

    def test_works_on_a_view(self, answered: fo.Dataset) -> None:
        run = compute(answered[:3])
        assert run.figures["images"] == 3
        assert answered.values("run_disputed") == [False, True, False, None, None, None]

    def test_works_on_the_active_slice_of_groups(self, make: Make) -> None:
        samples = []
        for one in quiz():
            group = fo.Group()
            one["group"] = group.element("left")
            samples += [one, fo.Sample(one.filepath.replace(".jpg", "-right.jpg"), group=group.element("right"))]
        dataset = make(samples)
        view = dataset.select_group_slices("left")
        compute(view)
        assert view.values("run_disputed") == DISPUTED
        dataset.group_slice = "right"
        assert dataset.values("run_disputed") == [None] * 6
        assert kf.stale_samples(dataset, "run") == []
        kf.delete_run(dataset, "run")
        assert not dataset.has_field("run_disputed")

    def test_optional_labels_and_broken_groups(self, make: Make) -> None:
        dataset = make(
            [
                sample(0, ann=several(["in", "sun"]), bob=several(["in"])),
                sample(1, ann=several(["in", "out"]), bob=several(["out", "sun"])),
            ]
        )
        run = compute(dataset, raters=("ann", "bob"), groups={"place": ["in", "out"]})
        assert [row["question"] for row in run.diagnostics["questions"]] == ["place", "sun"]
        assert run.figures["breaches_by_rater"] == [{"rater": "ann", "answers": 1}]
        assert dataset.values("run_agreement") == [0.5, 0.0]

    def test_the_running_curve_is_by_time(self, make: Make) -> None:
        dataset = make([sample(number) for number in range(6)])
        kf.load_label_table(pd.DataFrame(table_rows()), dataset, time="time")
        run = kf.compute_label_agreement(dataset, "run", bootstrap=0)
        (curve,) = run.diagnostics["curves"]
        assert curve["time"][-1] == 52.0
        assert curve["spa"][-1] == pytest.approx(SPA)
        assert curve["narrow_from"] is None

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"raters": ("ann",)}, "at least two raters, got 1 .ann."),
            ({"weights": "heavy"}, "weights: expected one of 'annotations'"),
            ({"quorum": 0}, "quorum: expected a share above 0 and at most 1, got 0"),
            ({"width": -1}, "width: expected a number above 0, got -1"),
            ({"bootstrap": -1}, "bootstrap: expected a whole number"),
            ({"groups": {"a": "cat"}}, "groups: expected a list of labels for each name"),
            ({"groups": {"a": ["cat"], "b": ["cat"]}}, "every concept in one group at most"),
            ({"on_repeat": "any"}, "on_repeat: expected one of"),
            ({"colour": "red"}, "options: expected raters"),
        ],
    )
    def test_bad_input_leaves_nothing(self, answered: fo.Dataset, options: dict, message: str) -> None:
        before = documents(answered)
        with pytest.raises(InputError, match=message):
            compute(answered, **options)
        assert answered.list_runs() == []
        assert documents(answered) == before
        assert not answered.has_field("run_agreement")

    def test_raters_who_share_no_image(self, make: Make) -> None:
        dataset = make([sample(0, ann=label("cat")), sample(1, bob=label("cat"))])
        with pytest.raises(InputError, match="expected an image that two raters labelled, got none"):
            compute(dataset, raters=("ann", "bob"))

    def test_a_failure_while_writing_leaves_nothing(self, answered: fo.Dataset, monkeypatch: Any) -> None:
        def fail(*_: Any) -> None:
            raise RuntimeError("full")

        monkeypatch.setattr("kalos_core.fiftyone.analyses.labels.diagnostics_of", fail)
        before = documents(answered)
        with pytest.raises(RuntimeError, match="full"):
            compute(answered)
        assert documents(answered) == before
        assert answered.list_runs() == []


class TestViews:
    def test_samples_in_dispute(self, answered: fo.Dataset) -> None:
        compute(answered)
        ids = answered.values("id")
        assert kf.view_of_disputes(answered, "run").values("id") == [ids[5], ids[3], ids[1]]
        assert kf.view_of_disputes(answered, "run", question="label").values("id") == [ids[5], ids[3], ids[1]]
        assert kf.view_of_disputes(answered, "run", concept="owl").values("id") == [ids[5]]
        assert kf.view_of_label_agreement(answered, "run", 0, 0.5).values("id") == [ids[3], ids[5], ids[1]]
        assert kf.view_of_difference(answered, "run", "ann", "bob").values("id") == [ids[3], ids[5]]
        assert kf.view_of_difference(answered, "run", "cid", "majority").values("id") == [ids[1]]
        with pytest.raises(InputError, match="concept: expected one of 'cat', 'dog', 'owl', got 'cow'"):
            kf.view_of_disputes(answered, "run", concept="cow")

    def test_rows_of_images(self, answered: fo.Dataset) -> None:
        compute(answered)
        rows = kf.disputed_images(answered, "run")
        assert [(row.file, row.answers) for row in rows] == [
            ("5.jpg", "cat 1, dog 1, owl 1"),
            ("3.jpg", "cat 1, dog 1"),
            ("1.jpg", "cat 2, dog 1"),
        ]
        assert rows[2].agreement == pytest.approx(1 / 3)
        assert len(kf.disputed_images(answered, "run", 1)) == 1
        values = kf.label_image_values(answered, "run")
        np.testing.assert_allclose(values["agreement"], [np.nan if v is None else v for v in AGREEMENT])

    def test_other_runs_are_refused(self, make: Make) -> None:
        dataset = make(make_samples(SCENES))
        kf.compute_agreement(dataset, "objects", raters=("ann", "bob"))
        with pytest.raises(InputError, match="the labels runs, of which there are none yet"):
            kf.view_of_disputes(dataset, "objects")


class TestLoading:
    @pytest.fixture
    def empty(self, make: Make) -> fo.Dataset:
        return make([sample(number) for number in range(6)])

    def test_a_field_for_each_rater(self, empty: fo.Dataset, tmp_path: Path) -> None:
        path = tmp_path / "labels.csv"
        pd.DataFrame(table_rows()).to_csv(path, index=False)
        loaded = kf.load_label_table(path, empty, time="time")
        assert (loaded.fields, loaded.samples, loaded.answers) == ({name: name for name in RATERS}, 6, 15)
        assert empty.values("bob.label") == [row[1] for row in ANSWERS]
        assert empty.values("raters")[3] == ["ann", "bob"]
        assert empty.values("cid.answered_at")[:3] == [2.0, 12.0, 22.0]
        assert kf.image_rater_fields(empty) == {name: name for name in RATERS}
        assert kf.read_label_table(empty).values().tolist() == VALUES

    def test_one_field_for_a_crowd(self, empty: fo.Dataset) -> None:
        kf.load_label_table(pd.DataFrame(table_rows()), empty, field="crowd")
        assert kf.read_label_table(empty, field="crowd").values().tolist() == VALUES

    def test_optional_labels_and_silence(self, empty: fo.Dataset) -> None:
        ids = empty.values("id")
        rows = [
            {"item": ids[0], "rater": "a b", "label": ["sky", "sea"]},
            {"item": ids[0], "rater": "id", "label": []},
        ]
        loaded = kf.load_label_table(LabelTable.from_rows(rows, groups=None), empty)
        assert loaded.fields == {"a b": "a_b", "id": "rater_id"}
        assert len(empty.first().a_b.classifications) == 2
        assert empty.first().rater_id.classifications == []
        assert empty.last().rater_id is None
        table = kf.read_label_table(empty, groups=None)
        assert table.values("sea")[0].tolist() == [1, 0]

    def test_it_keeps_what_is_there(self, make: Make) -> None:
        dataset = make(make_samples(SCENES))
        kf.load_label_table(pd.DataFrame(table_rows()), dataset)
        assert dataset.values("raters")[5] == ["ann", "bob", "cid"]  # bob drew nothing there, and labelled the image
        assert kf.image_rater_fields(dataset) == {"ann": "rater_ann", "bob": "rater_bob", "cid": "cid"}

    @pytest.mark.parametrize(
        ("rows", "options", "message"),
        [
            ([("7.jpg", "ann", "cat")], {}, "item '7.jpg': expected the id or file name of a sample, got none"),
            (
                [("0.jpg", "ann", "cat"), ("0", "bob", "cat")],
                {},
                "each sample once, got that of '0.jpg' again",
            ),
            ([("0.jpg", "ann", "cat")] * 2, {}, "expected one answer of a rater to an item"),
            ([("0.jpg", "ann", "")], {}, "expected a label, got nothing"),
            ([("0.jpg", "ann", "cow")], {"concepts": ["cat"]}, "expected a label of the vocabulary, got 'cow'"),
            ([("0.jpg", "ann", "cat")], {"field": "id"}, "field: expected the name of a new field, such as 'rater_id'"),
        ],
    )
    def test_what_cannot_be_loaded_leaves_nothing(
        self, empty: fo.Dataset, rows: list, options: dict, message: str
    ) -> None:
        before, schema = documents(empty), set(empty.get_field_schema())
        with pytest.raises(InputError, match=message):
            kf.load_label_table(pd.DataFrame(rows, columns=["item", "rater", "label"]), empty, **options)
        assert (documents(empty), set(empty.get_field_schema())) == (before, schema)

    def test_a_failure_half_way_is_taken_back(self, empty: fo.Dataset, monkeypatch: Any) -> None:
        def fail(*_: Any) -> None:
            raise RuntimeError("full")

        monkeypatch.setattr("kalos_core.fiftyone.image_labels.loading.store_rater_fields", fail)
        schema, info = set(empty.get_field_schema()), dict(empty.info)
        with pytest.raises(RuntimeError, match="full"):
            kf.load_label_table(pd.DataFrame(table_rows()), empty)
        assert (set(empty.get_field_schema()), dict(empty.info)) == (schema, info)

    def test_raters_that_are_there_are_refused(self, empty: fo.Dataset) -> None:
        kf.load_label_table(pd.DataFrame(table_rows()), empty)
        with pytest.raises(InputError, match=r"already holds image labels of 'ann' \(field 'ann'\)"):
            kf.load_label_table(pd.DataFrame(table_rows()), empty)
        with pytest.raises(InputError, match="dataset: expected one that exists, got 'nowhere'"):
            kf.load_label_table(pd.DataFrame(table_rows()), "nowhere")
