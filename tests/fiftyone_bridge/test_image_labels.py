"""Image-level labels: read in each form, loaded from tables, agreement as a run, and what a click leads to."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import fiftyone as fo
import numpy as np
import pandas as pd
import pytest

import kalos_core.fiftyone as kf
from kalos_core import (
    InputError,
    KalosWarning,
    LabelTable,
    dawid_skene,
    label_agreement,
    majority_agreement,
    nominal_alpha,
    rater_accuracy,
)
from kalos_core.fiftyone.dataset.database import stream
from kalos_core.fiftyone.dataset.image_labels import read_image_labels
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.runs.records import plain
from kalos_core.figures import skill_title
from kalos_core.nominal import SKILL_MODELS, cohen_matrix, merge_raters
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


def compute(dataset: Any, key: str = "run", **options: Any) -> Any:
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

    def test_who_was_assigned_and_chose_nothing(self, make: Make) -> None:
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
            [
                sample(
                    0,
                    raters=list(RATERS),
                    ann=label("cat", confidence=0.9),
                    bob=label("dog", confidence=0.2),
                    cid=label("owl"),
                )
            ]
        )
        table = kf.read_label_table(dataset, raters=RATERS, min_confidence=0.5)
        assert table.values().tolist() == [[0, -2, 1]]
        table = kf.read_label_table(dataset, raters=RATERS, classes=("dog", "cat"), reference="bob")
        assert (table.values().tolist(), table.options()) == ([[1, -2]], ("dog", "cat"))

    def test_without_a_list_everybody_is_assigned_and_the_user_is_told(self, make: Make) -> None:
        dataset = make([sample(0, ann=several(["sky"]), bob=several(["sky"])), sample(1, ann=several(["sky"]))])
        with pytest.warns(KalosWarning, match="no sample field 'raters' says who was assigned"):
            table = kf.read_label_table(dataset, raters=("ann", "bob"), groups=None)
        assert table.values("sky").tolist() == [[1, 1], [1, 0]]
        labelled = kf.read_label_table(dataset, raters=("ann", "bob"), groups=None, assigned="labelled")
        assert labelled.values("sky").tolist() == [[1, 1], [1, -2]]

    @pytest.mark.parametrize("groups", ["label", None])
    def test_a_digest_depends_on_no_other_image(self, make: Make, groups: Any) -> None:
        dataset = make(quiz())
        last = dataset.last()
        last.ann = label("ape", answered_at=3)
        last.save()
        chosen = Selection(raters=RATERS)
        whole = read_image_labels(dataset, chosen, groups, "first").hashes.tolist()
        for number in range(6):
            one = read_image_labels(dataset[number : number + 1], chosen, groups, "first", again=True)
            assert one.hashes.tolist() == [whole[number]]
        assert len(set(whole)) == 6
        dataset.set_values("raters", [[]] * 6)
        for name in RATERS:
            dataset.set_values(name, [None] * 6)
        assert len(set(read_image_labels(dataset, chosen, groups, "first", again=True).hashes)) == 1

    def test_blocks_are_read_as_one(self, make: Make, monkeypatch: Any) -> None:
        dataset = make(quiz())
        whole = kf.read_label_table(dataset, raters=RATERS)
        monkeypatch.setattr("kalos_core.fiftyone.dataset.image_labels.stream", partial(stream, block=2))
        assert kf.read_label_table(dataset, raters=RATERS).values().tolist() == whole.values().tolist()

    @pytest.mark.parametrize(
        ("samples", "options", "message"),
        [
            (
                [sample(0, ann=label("cat"))],
                {"raters": ("ann", "eve")},
                "or a field of Classification or Classifications, got 'eve'",
            ),
            ([sample(0, ann=label("cat"))], {}, "no stored raters of image-level labels"),
            ([sample(0, ann=fo.Classification())], {"raters": ("ann",)}, "0.jpg, field 'ann': expected a label, got"),
            (
                [sample(0, ann=label("cat"))],
                {"field": "ann"},
                "expected labels with a rater each, in a list, got 'ann'",
            ),
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
                "classes: expected classes",
            ),
            ([sample(0, ann=label("cat"))], {"raters": ("ann",), "min_area": 3}, "have no area"),
            ([sample(0, ann=label("cat"), bob=None)], {"raters": ("ann", "ann")}, "every rater once, got 'ann' twice"),
        ],
    )
    def test_what_cannot_be_read_is_said(self, make: Make, samples: list, options: dict, message: str) -> None:
        with pytest.raises(InputError, match=message):
            kf.read_label_table(make(samples), **options)

    def test_a_second_answer(self, make: Make) -> None:
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
        own, found = label_agreement(table, 50), run.details.agreement
        assert found.spa[0] == pytest.approx(SPA)
        for name in ("spa", "alpha", "fleiss", "free_marginal", "free_marginal_interval"):
            np.testing.assert_allclose(getattr(found, name), getattr(own, name))
        assert found.cohen[0] == pytest.approx(np.nanmean(cohen_matrix(table.values())))
        assert found.bands[0] == own.bands[0]
        majority = majority_agreement(table)
        assert run.details.majority.concept_all == pytest.approx(majority.concept_all)
        assert run.details.majority.concept_chosen == pytest.approx(majority.concept_chosen)
        assert run.details.accuracy.to_majority == pytest.approx(rater_accuracy(table).to_majority)
        assert run.metrics["disputed"] == 3
        assert (run.metrics["images"], run.metrics["answers"], run.metrics["breaches"]) == (6, 15, 0)
        assert json.loads(json.dumps(plain(run.details))) == plain(kf.load_details(answered, "run").details)

    def test_writes_fields_of_samples(self, answered: fo.Dataset) -> None:
        before = documents(answered)
        compute(answered)
        agreement, disputed = answered.values(["run_agreement", "run_disputed"])
        assert agreement == [None if value is None else pytest.approx(value) for value in AGREEMENT]
        assert disputed == DISPUTED
        assert answered.values("run_questions") == [["label"] if flag else [] for flag in DISPUTED]
        assert answered.values("run_concepts")[3:] == [["cat", "dog"], [], ["cat", "dog", "owl"]]
        assert answered.values("run_majority.label") == ["cat", "cat", "dog", None, "dog", None]
        assert answered.values("run_majority.confidence") == [1.0, pytest.approx(2 / 3), 1.0, None, 1.0, None]
        assert answered.values("run_accuracy") == pytest.approx([1.0, 5 / 9, 1.0, 1 / 3, None, 1 / 3])
        assert "run_majority" not in kf.label_fields(answered, kf.IMAGE_LABELS)
        assert answered.values("run_tied") == [[], [], [], ["cat", "dog"], [], ["cat", "dog", "owl"]]
        written = kf.load_metrics(answered, "run").written
        assert written.startswith("'run_agreement' and 'run_disputed' on samples")
        kf.delete_run(answered, "run")
        assert documents(answered) == before
        assert not answered.has_field("run_agreement")

    def test_without_a_list_numbers_of_exclusive_labels_are_the_same_but_for_answers_without_a_label(
        self, answered: fo.Dataset
    ) -> None:
        listed = compute(answered)
        answered.delete_sample_field("raters")
        with pytest.warns(KalosWarning, match="who was assigned"):
            run = compute(answered, "everybody")
        changed = {name for name in run.metrics if run.metrics[name] != listed.metrics[name]}
        assert changed == {"answers", "breaches", "breaches_by_rater"}
        assert (run.metrics["answers"], run.metrics["breaches"]) == (18, 3)
        details = replace(run.details, agreement=replace(run.details.agreement, breaches=0))
        assert plain(details) == plain(listed.details)
        labelled = compute(answered, "labelled", assigned="labelled")
        assert labelled.metrics == listed.metrics

    def test_groups_are_suggested_and_the_majority_holds_several_labels(self, make: Make) -> None:
        dataset = make(_days())
        run = compute(dataset, raters=("ann", "bob", "cid"), groups="suggested", bootstrap=0)
        assert run.settings["groups"] == [{"name": "day / night", "labels": ["day", "night"]}]
        assert run.details.agreement.question.tolist() == ["day / night", "sun"]
        names = dataset.values("run_majority.classifications.label")
        shares = dataset.values("run_majority.classifications.confidence")
        assert (names[0], shares[0]) == (["day", "sun"], [1.0, pytest.approx(2 / 3)])
        assert (names[1], dataset.values("run_tied")[1]) == (["night"], [])
        view = kf.view_of_difference(dataset, "run", "bob", "majority")
        assert view.values("id") == dataset.values("id")[::2]  # bob never sees the sun
        first = dataset.first()
        first.ann = several(["night"])
        first.save()
        loaded = kf.load_run(dataset, "run").result
        assert loaded.table.questions == ("day / night", "sun")  # the groups are those of the run
        assert loaded.table.values("day / night")[0].tolist() == [1, 0, 0]

    @pytest.mark.parametrize("stored", ["fields", "attribute"])
    def test_accuracy_to_known_truth(self, make: Make, stored: str) -> None:
        truth = ["cat", "cat", "dog", "cat", "dog", "ape"]
        samples = quiz() if stored == "fields" else quiz_in_one_field()
        for one, name in zip(samples, truth, strict=True):
            if stored == "fields":
                one["gold"] = label(name)
            else:
                one.answers.classifications.append(label(name, rater="gold"))
        dataset = make(samples)
        how = {"raters": RATERS} if stored == "fields" else {"raters": None, "field": "answers"}
        run = compute(dataset, reference="gold", **how)
        right = [sum(row[rater] == name for row, name in zip(ANSWERS, truth, strict=True)) for rater in range(3)]
        given = [sum(row[rater] is not None for row in ANSWERS) for rater in range(3)]
        assert run.details.accuracy.to_reference.tolist() == [a / b for a, b in zip(right, given, strict=True)]
        assert run.details.accuracy.raters.tolist() == list(RATERS)
        assert run.details.agreement.spa[0] == pytest.approx(SPA)  # which the truth does not enter
        assert dataset.values("run_to_reference") == pytest.approx([1, 2 / 3 + 2 / 4 / 3, 1, 3 / 4, 1, 2 / 4])
        assert kf.view_of_difference(dataset, "run", "ann", "gold").values("id") == [dataset.values("id")[5]]
        loaded = kf.load_run(dataset, "run")
        assert loaded.stale == ()
        np.testing.assert_array_equal(loaded.result.accuracy.to_reference, run.details.accuracy.to_reference)
        assert kf.disputed_images(dataset, "run")[0].answers == "cat 1, dog 1, owl 1"
        if stored == "fields":
            dataset.set_values("gold.label", ["dog"] * 6)
            assert len(kf.stale_samples(dataset, "run")) == 4

    def test_the_options_are_the_classes_that_the_data_set_names(self, answered: fo.Dataset) -> None:
        assert compute(answered, "seen").details.agreement.options.tolist() == [3]
        answered.default_classes = ["ape", "cat", "dog", "owl"]
        run = compute(answered, "named")
        assert run.details.agreement.options.tolist() == [4]
        observed = np.mean([value for value in AGREEMENT if value is not None])
        assert run.details.agreement.free_marginal[0] == pytest.approx((observed - 1 / 4) / (1 - 1 / 4))
        answered.classes = {"ann": ["cat", "dog", "owl"], "bob": ["bee"]}
        assert compute(answered, "fields").details.agreement.options.tolist() == [4]
        answered.default_classes = ["car"]
        answered.classes = {}
        assert compute(answered, "others").details.agreement.options.tolist() == [3]

    def test_teams_and_rejected_answers(self, answered: fo.Dataset) -> None:
        teams = {"experts": ["ann"], "crowd": ["bob", "cid"]}
        run = compute(answered, teams=teams, least_accuracy=0.7)
        assert run.details.rejection.rejected_raters == ("cid",)  # as most on two of three images, and a tie
        assert (run.metrics["raters"], run.metrics["rejected"]) == (["ann", "bob"], 4)
        # of the crowd bob is left, who answers three of five images as ann does
        assert run.details.teams.agreement[0] == pytest.approx([np.nan, np.nan, 3 / 5, 3 / 5, np.nan], nan_ok=True)
        assert [row.answers for row in kf.disputed_images(answered, "run")] == ["cat 1, dog 1"] * 2
        np.testing.assert_array_equal(kf.load_run(answered, "run").result.table.values(), run.result.table.values())
        with pytest.raises(InputError, match="teams: expected at least one rater in each, got none in 'crowd'"):
            compute(answered, "none", teams={"experts": ["ann"], "crowd": ["cid"]}, least_accuracy=0.7)
        with pytest.raises(InputError, match="teams: expected names with their raters, got 'ann'"):
            compute(answered, "none", teams="ann")

    def test_a_quorum_of_one_half_disputes_less(self, answered: fo.Dataset) -> None:
        compute(answered, quorum=0.5)
        assert answered.values("run_disputed") == [False, False, False, False, None, True]

    def test_is_loaded_renamed_and_knows_what_changed(self, answered: fo.Dataset) -> None:
        run = compute(answered, groups={"animal": ["cat", "dog", "owl"]})
        loaded = kf.load_run(answered, "run")
        assert loaded.result.agreement.alpha.tolist() == run.result.agreement.alpha.tolist()
        assert plain(loaded.details) == plain(run.details)
        assert loaded.stale == ()
        kf.rename_run(answered, "run", "other")
        assert answered.values("other_disputed") == DISPUTED
        first = answered.first()
        first.ann = label("dog")
        first.save()
        assert kf.stale_samples(answered, "other") == [first.id]
        assert kf.load_run(answered, "other").result.disputes.agreement[0] == pytest.approx(1 / 3)

    @pytest.mark.parametrize("options", [{}, {"groups": None}, {"groups": {"pet": ["cat", "dog"]}}])
    def test_what_changed_is_all_that_is_read_again(
        self, answered: fo.Dataset, options: dict, monkeypatch: Any
    ) -> None:
        compute(answered, **options)
        ids = answered.values("id")
        changed = answered[ids[3]]
        changed["cid"], changed["raters"] = label("ape"), list(RATERS)
        changed.save()
        answered.delete_samples([ids[5]])
        answered.add_sample(sample(6, ann=label("cat"), bob=label("dog"), raters=["ann", "bob"]))
        read: list[int] = []

        def counted(view: Any, *rest: Any) -> Any:
            read.append(len(view))
            return stream(view, *rest)

        monkeypatch.setattr("kalos_core.fiftyone.dataset.image_labels.stream", counted)
        loaded = kf.load_run(answered, "run")
        assert read == [2]
        assert loaded.stale == (ids[3], answered.last().id, ids[5])
        fresh = compute(answered, "fresh", **options).result
        assert loaded.result.table.items.tolist() == fresh.table.items.tolist()
        assert loaded.result.table.concepts.tolist() == fresh.table.concepts.tolist()
        for name in vars(fresh.agreement):
            np.testing.assert_array_equal(getattr(loaded.result.agreement, name), getattr(fresh.agreement, name))
        np.testing.assert_array_equal(loaded.result.disputes.agreement, fresh.disputes.agreement)

    def test_all_labels_may_go(self, answered: fo.Dataset) -> None:
        compute(answered)
        answered.delete_samples(answered.values("id")[1:])
        first = answered.first()
        first.ann = first.bob = first.cid = None
        first.save()
        assert len(kf.stale_samples(answered, "run")) == 6

    def test_works_on_a_view(self, answered: fo.Dataset) -> None:
        run = compute(answered[:3])
        assert run.metrics["images"] == 3
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
                sample(0, ann=several(["in", "sun"]), bob=several(["in"]), raters=["ann", "bob"]),
                sample(1, ann=several(["in", "out"]), bob=several(["out", "sun"]), raters=["ann", "bob"]),
            ]
        )
        run = compute(dataset, raters=("ann", "bob"), groups={"place": ["in", "out"]})
        assert run.details.agreement.question.tolist() == ["place", "sun"]
        assert run.metrics["breaches_by_rater"] == [{"rater": "ann", "answers": 1}]
        assert dataset.values("run_agreement") == [0.5, 0.0]

    def test_the_running_curve_is_by_time(self, make: Make) -> None:
        dataset = make([sample(number) for number in range(6)])
        kf.load_label_table(pd.DataFrame(table_rows()), dataset, time="time")
        run = kf.compute_label_agreement(dataset, "run", bootstrap=0)
        (curve,) = run.details.curves
        assert curve.curve.time[-1] == 52.0
        assert curve.curve.spa[-1] == pytest.approx(SPA)
        assert curve.curve.narrow_from(0.1) is None

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"raters": ("ann",)}, "at least two raters to compare, got 1 .ann."),
            ({"weights": "heavy"}, "weights: expected one of 'annotations'"),
            ({"quorum": 0}, "quorum: expected a share above 0 and at most 1, got 0"),
            ({"width": -1}, "width: expected a number above 0, got -1"),
            ({"bootstrap": -1}, "bootstrap: expected a whole number"),
            ({"groups": {"a": "cat"}}, "groups: expected a list of labels for each name"),
            ({"groups": {"a": ["cat"], "b": ["cat"]}}, "every concept in one group at most"),
            ({"on_repeat": "any"}, "on_repeat: expected one of"),
            ({"colour": "red"}, "unknown argument colour: expected one of raters"),
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
        dataset = make([sample(0, ann=label("cat"), raters=["ann"]), sample(1, bob=label("cat"), raters=["bob"])])
        with pytest.raises(InputError, match="expected an image that two raters labelled, got none"):
            compute(dataset, raters=("ann", "bob"))

    def test_a_failure_while_writing_leaves_nothing(self, answered: fo.Dataset, monkeypatch: Any) -> None:
        def fail(*_: Any) -> None:
            raise RuntimeError("full")

        monkeypatch.setattr("kalos_core.fiftyone.kinds.image_labels.compute.label_details", fail)
        before = documents(answered)
        with pytest.raises(RuntimeError, match="full"):
            compute(answered)
        assert documents(answered) == before
        assert answered.list_runs() == []


class TestWhoIsRight:
    @pytest.mark.parametrize("model", SKILL_MODELS)
    def test_labels_and_skills_are_those_of_the_library(self, answered: fo.Dataset, model: str) -> None:
        before = documents(answered)
        run = compute(answered, truth=model)
        table = kf.read_label_table(answered, raters=RATERS)
        own = dawid_skene(table, model=model)
        assert answered.values("run_truth.label") == own.labels.tolist()
        sure = [value if name else None for name, value in zip(own.labels, own.confidence, strict=True)]
        assert answered.values("run_truth.confidence") == pytest.approx(sure)
        assert answered.values("run_confidence") == pytest.approx(own.confidence.tolist())
        (truth,) = run.details.truth
        np.testing.assert_allclose(truth.skill, own.skill)
        np.testing.assert_allclose(truth.skill_interval, own.skill_interval)
        np.testing.assert_allclose(truth.confusion, own.confusion)
        assert truth.overturned == own.overturned
        expected = {"question": "label", "sure": pytest.approx(own.confidence.mean()), "tied": int(own.tied.sum())}
        assert run.metrics["truth"] == [expected]
        assert "run_truth" not in kf.label_fields(answered, kf.IMAGE_LABELS)
        assert run.written.endswith("'run_truth'")
        loaded = kf.load_run(answered, "run").result.truth[0]
        np.testing.assert_allclose(loaded.probability, own.probability)
        assert kf.KINDS["image_labels"].again(run)["truth"] == model
        kf.delete_run(answered, "run")
        assert documents(answered) == before
        assert not {"run_truth", "run_confidence"} & set(answered.get_field_schema())

    def test_the_majority_weighted_by_skill_by_hand(self, make: Make) -> None:
        """Ann and bob give the majority in 3 of 3 answers, cid in 2: the second image is a cat with weight 2 of 8/3."""
        dataset = make([sample(n, raters=list(RATERS), **_named(row)) for n, row in enumerate(HALF_SURE)])
        run = compute(dataset, truth="weighted")
        assert run.details.truth[0].skill.tolist() == [1, 1, pytest.approx(2 / 3)]
        assert dataset.values("run_truth.label") == ["cat", "cat", "dog"]
        assert dataset.values("run_confidence") == pytest.approx([1, 2 / (2 + 2 / 3), 1])
        ids = dataset.values("id")
        assert kf.view_least_sure_first(dataset, "run").values("id")[0] == ids[1]
        assert kf.view_of_difference(dataset, "run", "cid", "truth").values("id") == [ids[1]]
        assert len(kf.view_of_difference(dataset, "run", "ann", "truth")) == 0

    def test_of_several_questions_each_has_its_label(self, make: Make) -> None:
        """Day and night exclude each other; of the sun only its presence is a label, and its absence is as sure."""
        dataset = make([*_days(), sample(12, raters=[])])
        run = compute(dataset, raters=RATERS, groups={"time": ["day", "night"]}, truth="confusion", bootstrap=0)
        table = kf.read_label_table(dataset, raters=RATERS, groups={"time": ["day", "night"]})
        time, sun = (dawid_skene(table, question) for question in ("time", "sun"))
        assert [truth.question for truth in run.details.truth] == ["time", "sun"]
        names = dataset.values("run_truth.classifications.label")
        for number in range(12):
            there = ["sun"] * (sun.labels[number] == "chosen")
            assert names[number] == [time.labels[number], *there]
        assert {len(entry) for entry in names[:12]} == {1, 2}
        assert (names[12], dataset.values("run_truth")[12]) == (None, None)  # nobody answered
        least = np.minimum(time.confidence, sun.confidence)[:12]
        assert dataset.values("run_confidence") == [*map(pytest.approx, least), None]
        assert len(kf.view_least_sure_first(dataset, "run")) == 12

    def test_what_cannot_be(self, answered: fo.Dataset) -> None:
        with pytest.raises(InputError, match="truth: expected one of 'confusion', 'one_coin', 'weighted', got 'glad'"):
            compute(answered, truth="glad")
        assert answered.list_runs() == []
        run = compute(answered)
        assert (run.details.truth, run.metrics["truth"]) == ([], [])
        assert not answered.has_field("run_truth")
        with pytest.raises(InputError, match=r"made with truth=\.\.\., got 'run', which estimated nothing"):
            kf.view_least_sure_first(answered, "run")
        with pytest.raises(InputError, match="names among ann, bob, cid, majority, got 'truth'"):
            kf.view_of_difference(answered, "run", "ann", "truth")

    def test_figures_of_a_question_and_a_rater(self, answered: fo.Dataset) -> None:
        run = compute(answered, truth="confusion")
        parts = kf.figures_of(run, question="label", rater="cid")
        assert parts["skill"].title == skill_title(list(RATERS), run.details.truth[0].skill)
        assert parts["confusion"].title.startswith("cid ")
        assert not {"skill", "confusion"} & set(kf.figures_of(run, question="none"))


HALF_SURE = [["cat", "cat", "cat"], ["cat", "cat", "dog"], ["dog", "dog", "dog"]]


def _named(answers: list[str]) -> dict[str, fo.Classification]:
    return {name: label(answer) for name, answer in zip(RATERS, answers, strict=True)}


class TestViews:
    def test_samples_in_dispute(self, answered: fo.Dataset) -> None:
        compute(answered)
        ids = answered.values("id")
        for asked in ({}, {"question": "label"}):
            found = kf.view_of_disputes(answered, "run", **asked).values("id")
            assert (set(found), found[2]) == ({ids[5], ids[3], ids[1]}, ids[1])  # the least agreed first
        assert kf.view_of_disputes(answered, "run", concept="owl").values("id") == [ids[5]]
        assert kf.view_of_difference(answered, "run", "ann", "bob").values("id") == [ids[3], ids[5]]
        assert kf.view_of_difference(answered, "run", "cid", "majority").values("id") == [ids[1]]
        with pytest.raises(InputError, match="concept: expected one of 'cat', 'dog', 'owl', got 'cow'"):
            kf.view_of_disputes(answered, "run", concept="cow")
        with pytest.raises(InputError, match="question: expected one of 'label', got 'place'"):
            kf.view_of_disputes(answered, "run", question="place")
        with pytest.raises(InputError, match="raters: expected names among ann, bob, cid, majority, got 'eve'"):
            kf.view_of_difference(answered, "run", "ann", "eve")

    @pytest.mark.parametrize("assigned", ["auto", "all", "labelled"])
    @pytest.mark.parametrize("groups", ["label", None, {"group": ["$a", "b"]}])
    @pytest.mark.parametrize("stored", ["single", "several", "attribute"])
    def test_differences_are_those_of_the_table(self, make: Make, stored: str, groups: Any, assigned: str) -> None:
        dataset = make(_random(stored, exclusive=groups is not None))
        storage = {"raters": RATERS} if stored != "attribute" else {"raters": None, "field": "answers"}
        options = {"groups": groups, "assigned": assigned, "min_confidence": 0.2, **storage}
        run = compute(dataset, bootstrap=0, **options)
        table, ids = run.result.table, dataset.values("id")
        by_name = {name: table.select(raters=[name]) for name in RATERS} | {"majority": merge_raters(table)}
        broken = set(table.items[table.item[run.result.breaches.answer]]) if isinstance(groups, dict) else set()
        for one, other in combinations(by_name, 2):
            values = [
                np.stack([by_name[name].values(question)[:, 0] for question in table.questions])
                for name in (one, other)
            ]
            differ = ((values[0] != values[1]) & (values[0] >= 0) & (values[1] >= 0)).any(axis=0)
            found = set(kf.view_of_difference(dataset, "run", one, other).values("id"))
            assert found - broken == set(np.array(ids)[differ]) - broken  # of broken groups sets are compared
        assert len(broken) < len(ids) - 10

    def test_a_view_stays_small(self, make: Make) -> None:
        dataset = make([sample(n, ann=label("cat"), bob=label("$dog"), raters=["ann", "bob"]) for n in range(2000)])
        names = [f"class {number:03}" for number in range(100)]
        dataset.default_classes = names
        compute(dataset, raters=("ann", "bob"), bootstrap=0, classes=["cat", "$dog", *names])
        for view in (
            kf.view_of_disputes(dataset, "run"),
            kf.view_of_disputes(dataset, "run", question="label"),
            kf.view_of_disputes(dataset, "run", concept="$dog"),
            kf.view_of_difference(dataset, "run", "ann", "bob"),
        ):
            assert len(view) == 2000
            assert len(json.dumps(view._serialize())) < 10_000
        assert len(kf.view_of_difference(dataset, "run", "ann", "majority")) == 0  # it is open everywhere

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
        answered.delete_samples(answered.values("id")[5:])
        assert [row.file for row in kf.disputed_images(answered, "run")] == ["3.jpg", "1.jpg"]

    def test_other_runs_are_refused(self, make: Make) -> None:
        dataset = make(make_samples(SCENES))
        kf.compute_agreement(dataset, "objects", raters=("ann", "bob"))
        with pytest.raises(InputError, match="the image_labels runs, of which there are none yet"):
            kf.view_of_disputes(dataset, "objects")


class TestFigures:
    def test_each_says_what_it_shows(self, answered: fo.Dataset) -> None:
        compute(answered)
        run = kf.load_details(answered, "run")
        parts = kf.figures_of(run, images=kf.disputed_images(answered, "run"))
        assert set(parts) == {"kappas", "concepts", "accuracy", "images", "curve", "cohen", "independence"}
        assert all(part.figure is not None for part in parts.values())
        assert parts["kappas"].title.startswith("Raters may agree no better than by chance: kappa 0.20\xa0[")
        assert parts["cohen"].title.startswith("On label, bob and cid agree least beyond chance (Cohen's κ 0.20;")
        assert set(kf.figures_of(run, question="none")) == {"kappas", "concepts", "accuracy"}
        assert kf.figures_of(run, images=[])["images"].title.endswith("no image is in dispute")


def _days() -> list[fo.Sample]:
    """Twelve images, by turns day and night; two of three raters see the sun by day."""
    chosen = {"ann": ["day", "sun"], "bob": ["day"], "cid": ["day", "sun"]}
    return [
        sample(n, raters=list(RATERS), **{r: several(["night"] if n % 2 else of) for r, of in chosen.items()})
        for n in range(12)
    ]


def _random(stored: str, exclusive: bool) -> list[fo.Sample]:
    """Sixty images, each labelled by some of the raters."""
    rng = np.random.default_rng(0)

    def one(name: str, rater: str) -> fo.Classification:
        return label(name, confidence=float(rng.random()), rater=rater)

    samples = []
    for number in range(60):
        assigned = [name for name in RATERS if rng.random() < 0.8]
        chosen = {
            rater: [one(str(rng.choice(["$a", "b"])), rater)]
            + [one("c", rater)] * (not exclusive and rng.random() < 0.4)
            for rater in assigned
            if exclusive or rng.random() < 0.8
        }
        fields: dict[str, Any] = {rater: labels[0] for rater, labels in chosen.items()}
        if stored == "several":
            fields = {rater: fo.Classifications(classifications=labels) for rater, labels in chosen.items()}
        if stored == "attribute":
            every = [entry for labels in chosen.values() for entry in labels]
            fields = {"answers": fo.Classifications(classifications=every)}
        samples.append(sample(number, raters=assigned, **fields))
    return samples


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
        assert kf.rater_fields(empty, kf.IMAGE_LABELS) == {name: name for name in RATERS}
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
        assert dataset.values("raters")[5] == [
            "ann",
            "bob",
            "cid",
        ]  # bob annotated nothing, and labelled it
        assert kf.rater_fields(dataset, kf.IMAGE_LABELS) == {"ann": "rater_ann", "bob": "rater_bob", "cid": "cid"}

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

        monkeypatch.setattr("kalos_core.fiftyone.importing.image_labels.store_raters", fail)
        schema, info = set(empty.get_field_schema()), dict(empty.info)
        with pytest.raises(RuntimeError, match="full"):
            kf.load_label_table(pd.DataFrame(table_rows()), empty)
        assert (set(empty.get_field_schema()), dict(empty.info)) == (schema, info)

    def test_raters_that_are_there_are_refused(self, empty: fo.Dataset) -> None:
        kf.load_label_table(pd.DataFrame(table_rows()), empty)
        with pytest.raises(InputError, match=r"already holds image-level labels of 'ann' \(field 'ann'\)"):
            kf.load_label_table(pd.DataFrame(table_rows()), empty)
        with pytest.raises(InputError, match="dataset: expected one that exists, got 'nowhere'"):
            kf.load_label_table(pd.DataFrame(table_rows()), "nowhere")


@pytest.mark.parametrize("order", [["dog", "owl", "cat"], {"label": ["dog", "owl", "cat"]}])
def test_a_run_keeps_the_metric_of_alpha(answered: fo.Dataset, order: Any) -> None:
    place = {"dog": 0, "owl": 1, "cat": 2, None: -2}
    expected = nominal_alpha([[place[name] for name in row] for row in ANSWERS], "ordinal")
    nominal = nominal_alpha(VALUES)
    metric = "ordinal" if isinstance(order, list) else {"label": "ordinal"}
    run = compute(answered, metric=metric, order=order)
    assert run.details.agreement.alpha == pytest.approx([expected])
    assert expected != pytest.approx(nominal)
    loaded = kf.load_run(answered, "run")
    assert loaded.details.agreement.metric.tolist() == ["ordinal"]
    assert loaded.result.agreement.alpha == pytest.approx([expected])
    (graded,) = loaded.details.grades
    assert (graded.question, graded.weighted.alpha) == ("label", pytest.approx(expected))
    assert graded.weighted.codes.size == 0
    assert loaded.result.grades[0].to_pandas().equals(graded.to_pandas())
    again = kf.KINDS["image_labels"].again(run)
    assert (again["metric"], again["order"]) == (metric, order)


def test_a_run_of_an_earlier_version_is_nominal(answered: fo.Dataset) -> None:
    run = compute(answered)
    settings = {name: value for name, value in run.settings.items() if name not in ("metric", "order")}
    again = kf.KINDS["image_labels"].again(replace(run, settings=settings))
    assert (again["metric"], again["order"]) == ("nominal", None)


def test_a_metric_that_labels_do_not_fit_stores_nothing(answered: fo.Dataset) -> None:
    with pytest.raises(InputError, match="order="):
        compute(answered, metric="ordinal")
    assert kf.list_runs(answered) == []
