"""Decisions about units in dispute: who decided what, what is next, and no decision is lost."""

import json
from collections import Counter
from contextlib import suppress
from functools import partial

import fiftyone as fo
import pytest
from fiftyone.core.odm import get_db_conn

import kalos_core.fiftyone as kf
from kalos_core import InputError, KalosError, read_coco, write_coco
from kalos_core.decisions import disputes
from kalos_core.fiftyone.dataset.document import read_info, update_info
from kalos_core.fiftyone.deciding import decide as module
from kalos_core.fiftyone.deciding import results
from kalos_core.fiftyone.deciding.decide import carry_decisions
from kalos_core.fiftyone.deciding.queue import QUEUED, queued_images, view_of_queue
from kalos_core.fiftyone.deciding.results import settle_hand_over
from kalos_core.fiftyone.runs.stored import count_changes
from kalos_core.fiftyone.runs.writers import writing_now
from tests.fiftyone_bridge.back_end import STUB, Stub
from tests.fiftyone_bridge.conftest import Make
from tests.fiftyone_bridge.scenes import (
    CAT,
    RATERS,
    THREE,
    Scene,
    crowded,
    documents,
    make_samples,
    raising,
    untouched,
)
from tests.tiers import first

FAR = [60, 60, 30, 30]
CAT_OR_DOG, ONLY_ANN, HALVES = 1, 2, 3
"""Scenes with units in dispute; the bench and its halves are three units."""

pytestmark = pytest.mark.filterwarnings("ignore::kalos_core.errors.KalosWarning")


@pytest.fixture(scope="module")
def analysed(make_once):
    """Return the six scenes with an agreement: five units in dispute."""
    dataset = make_once()
    kf.compute_agreement(dataset, "run", raters=RATERS, bootstrap=0)
    return dataset


@pytest.fixture
def dataset(analysed):
    """Return a copy for tests that decide."""
    return analysed.clone()


def of(make: Make, scenes: list[Scene], raters: tuple[str, ...] = RATERS) -> fo.Dataset:
    """Return other scenes, with an agreement."""
    dataset = make(make_samples(scenes))
    kf.compute_agreement(dataset, "run", raters=raters, bootstrap=0)
    return dataset


def take_back(dataset: fo.Dataset, scene: int, rater: str = "bob", left: slice = slice(0)) -> None:
    """Delete labels of a rater in a scene, by default all."""
    sample = dataset.skip(scene).first()
    sample[rater].detections = sample[rater].detections[left]
    sample.save()


def labels_of(dataset: fo.Dataset, scene: int) -> list[str]:
    """Return the ids of all labels of a scene, ann's first."""
    sample = dataset.skip(scene).first()
    return [label.id for name in RATERS if sample[name] is not None for label in sample[name].detections]


def scene_of(dataset: fo.Dataset, sample_id: str | None) -> int:
    return dataset.values("id").index(sample_id)


def counted(dataset: fo.Dataset) -> tuple[int, int, int, int]:
    found = kf.count_disputes(dataset, "run")
    return found.all, found.decided, found.waiting, found.open


class TestDecide:
    def test_it_is_of_the_whole_unit(self, dataset):
        cat, dog = labels_of(dataset, CAT_OR_DOG)
        made = kf.decide(dataset, "run", [dog], "take", "bob", "a tail", "eva")
        assert made.labels == (dog, cat)
        assert (made.decision, made.rater, made.note, made.who) == ("take", "bob", "a tail", "eva")
        assert kf.decisions(dataset, "run") == [made]
        assert dataset.values("run_disputes") == [0, 0, 1, 1, 0, 0]  # a whole and its parts count once
        assert counted(dataset) == (3, 1, 0, 2)

    def test_the_latest_counts_and_all_are_kept(self, dataset):
        labels = labels_of(dataset, ONLY_ANN)
        steps = [("take", "bob", 2), ("guideline", None, 2), ("none", None, 2), ("skip", None, 3)]
        for number, (decision, rater, open_) in enumerate(steps):
            made = kf.decide(dataset, "run", labels, decision, rater)
            assert kf.decisions(dataset, "run") == [made]
            assert [one.decision for one in kf.decisions(dataset, "run", history=True)] == [
                name for name, _, _ in steps[: number + 1]
            ]
            assert kf.count_disputes(dataset, "run").open == open_

    def test_a_question_to_the_guideline_is_neither_open_nor_decided(self, dataset):
        kf.decide(dataset, "run", labels_of(dataset, CAT_OR_DOG), "guideline", note="cat or dog?")
        assert counted(dataset) == (3, 0, 1, 2)
        queue = {kf.next_dispute(dataset, "run", after) for after in [None, *dataset.values("id")]}
        assert {scene_of(dataset, found) for found in queue} == {ONLY_ANN, HALVES}

    def test_a_whole_and_its_parts_are_decided_together(self, dataset):
        """All three units are decided if needed, for any of their labels."""
        whole, left, right = labels_of(dataset, HALVES)
        sample_id = dataset.skip(HALVES).first().id
        (unit,) = kf.disputed_units(dataset, "run", sample_id)
        assert unit.values == {"ann": ("bench",), "bob": ("bench", "bench")}
        assert (unit.units, set(unit.decisions)) == ((3, 4, 5), set(kf.DECISIONS))
        for decision in ("whole", "parts", "both", "none", "consensus"):
            named = [left] if decision in ("whole", "parts") else [left, whole]
            made = kf.decide(dataset, "run", named, decision)
            assert set(made.labels) == {whole, left, right}
            assert counted(dataset) == (3, 1, 0, 2)
            (unit,) = kf.disputed_units(dataset, "run", sample_id)
            assert (unit.decision, unit.state) == (made, "decided")

    def test_one_part_can_be_decided_alone_and_takes_the_other_decision_back(self, dataset):
        """As in `resolve`: a decision about the whole counts until one of its units is decided differently."""
        whole, left, right = labels_of(dataset, HALVES)
        kf.decide(dataset, "run", [whole, left, right], "whole")
        made = kf.decide(dataset, "run", [left], "none")
        assert made.labels == (left,)
        assert kf.decisions(dataset, "run") == [made]
        assert counted(dataset) == (3, 0, 0, 3)
        result = kf.load_run(dataset, "run").result
        assert len(disputes(result, kf.decisions(dataset, "run", history=True))) == 4

    @pytest.mark.parametrize(
        ("scenes", "decision", "rater", "message"),
        [
            ([CAT_OR_DOG, ONLY_ANN], "none", None, "labels of one sample that the run 'run' matched"),
            ([CAT_OR_DOG], "whole", None, "needs a whole of one rater"),
            ([CAT_OR_DOG], "take", "cid", "assigned to this unit, 'ann', 'bob', got 'cid'"),
            ([CAT_OR_DOG], "none", "ann", "expected none, as the decision"),
            ([4], "none", None, "at least one annotation"),
        ],
    )
    def test_labels_of_no_unit_are_refused(self, analysed, scenes, decision, rater, message):
        labels = [key for scene in scenes for key in labels_of(analysed, scene)]
        with untouched(analysed), pytest.raises(InputError, match=message):
            kf.decide(analysed, "run", labels, decision, rater)

    def test_adjacent_units_are_no_whole_and_its_parts(self, make):
        """One rater has one of them and another both, which alone is not sufficient."""
        dataset = of(make, [{"ann": [("cat", CAT), ("cat", FAR)], "bob": [("dog", CAT)]}])
        for decision in ("whole", "none"):
            with pytest.raises(InputError, match="of 2 units"):
                kf.decide(dataset, "run", labels_of(dataset, 0), decision)


def test_what_a_decision_reads_and_writes(dataset):
    """The data set before and after, and one sample, whose labels are read again after an edit only."""
    labels, stored = labels_of(dataset, CAT_OR_DOG), get_db_conn()
    sample = dataset.skip(CAT_OR_DOG).first()

    def asked(decision):
        stored.command("profile", 2)
        try:
            kf.decide(dataset, "run", labels, decision, sample_id=sample.id)
        finally:
            stored.command("profile", 0)
        found = stored["system.profile"].find({"ns": {"$regex": r"(datasets|runs|making|samples\.[0-9a-f]+)$"}})
        counts = Counter((entry["op"], entry["ns"].partition(".")[2].partition(".")[0]) for entry in found)
        stored.drop_collection("system.profile")
        return counts

    always = Counter({("query", "datasets"): 2, ("query", "samples"): 2, ("update", "samples"): 1})
    reading = Counter({("command", "samples"): 1})
    asked("none")
    assert asked("skip") == always
    (unit,) = kf.disputed_units(dataset, "run", sample.id)
    assert unit.values == {"ann": ("cat",), "bob": ("dog",)}
    sample["ann"].detections[0].label = "dog"
    sample.save()
    assert asked("none") == always + reading
    (unit,) = kf.disputed_units(dataset, "run", sample.id)
    assert unit.values == {"ann": ("dog",), "bob": ("dog",)}


class TestWithOthers:
    def test_a_decision_makes_no_run_stale_and_changes_no_label(self, dataset):
        before, made = documents(dataset), kf.load_run(dataset, "run").result
        kf.decide(dataset, "run", labels_of(dataset, HALVES), "whole")
        assert count_changes(dataset, "run") == 0
        assert kf.stale_samples(dataset, "run") == []
        assert kf.load_run(dataset, "run").result.alpha == made.alpha
        own = {"run_queue", "run_disputes", "run_decisions"}
        changed = {
            (key, name) for key, of in documents(dataset).items() for name in of if of[name] != before[key].get(name)
        }
        assert changed == {(dataset.skip(HALVES).first().id, name) for name in own}

    def test_another_user_decides_between_reading_and_writing(self, dataset, meanwhile):
        whole, left, _ = labels_of(dataset, HALVES)
        meanwhile(module, "_states", before=lambda: kf.decide(dataset, "run", [left], "none", who="ida"))
        kf.decide(dataset, "run", [whole], "none", who="eva")
        assert [made.who for made in kf.decisions(dataset, "run")] == ["ida", "eva"]
        assert counted(dataset) == (3, 0, 0, 3)

    def test_it_goes_with_the_run_and_follows_it(self, make):
        dataset = make()
        before, indexes = documents(dataset), dataset.list_indexes()
        kf.compute_agreement(dataset, "run", raters=RATERS, bootstrap=0)
        made = kf.decide(dataset, "run", labels_of(dataset, CAT_OR_DOG), "both")
        assert len(dataset.list_indexes()) == len(indexes) + 1
        kf.rename_run(dataset, "run", "other")
        assert kf.decisions(dataset, "other") == [made]
        assert kf.count_disputes(dataset, "other").open == 2
        assert len(dataset.list_indexes()) == len(indexes) + 1
        kf.delete_run(dataset, "other")
        assert documents(dataset) == before
        assert dataset.list_indexes() == indexes


class TestQueue:
    def test_the_least_agreement_first_then_the_id_and_around(self, analysed):
        """Alphas are -2/3, 0 and 0."""
        seen, after = [], None
        for _ in range(4):
            after = kf.next_dispute(analysed, "run", after)
            seen.append(scene_of(analysed, after))
        assert seen == [HALVES, CAT_OR_DOG, ONLY_ANN, HALVES]

    def test_of_a_class_and_of_a_rater(self, make):
        """Only bob has a dog; he is also alone where ann and cid see nothing."""
        scenes = [
            {"ann": [("cat", CAT)], "bob": [("dog", CAT)], "cid": [("cat", CAT)]},
            {"ann": [("cat", CAT)], "bob": [("cat", CAT), ("cow", FAR)], "cid": [("cat", CAT)]},
            {"ann": [("cow", CAT)], "bob": [("cow", CAT)], "cid": []},
        ]
        dataset = of(make, scenes, THREE)
        found = {
            (category, rater): kf.next_dispute(dataset, "run", category=category, rater=rater)
            for category, rater in [("dog", None), ("cow", "bob"), ("cow", "cid"), (None, "cid"), ("dog", "cid")]
        }
        assert [one and scene_of(dataset, one) for one in found.values()] == [0, 1, 2, 2, None]
        assert kf.next_dispute(dataset, "run", rater="ann") is None
        assert kf.next_dispute(dataset, "run", category="$cow") is None
        view = view_of_queue(dataset, "run", category="cow", rater="bob")
        assert [scene_of(dataset, key) for key in view.values("id")] == [1]
        assert view.values("bob.detections.label") == [["cow"]]
        assert view.values("ann.detections.label") == [[]]

    @pytest.mark.parametrize("seed", first(range(3)))
    def test_the_order_is_that_of_the_library(self, make, seed):
        """The order equals `disputes` of the whole agreement, image by image; ids increase with the images."""
        dataset = of(make, crowded(seed), THREE)
        result = kf.load_run(dataset, "run").result
        found = disputes(result)
        expected = list(dict.fromkeys(result.annotations.images[found.image].tolist()))
        walked = [kf.next_dispute(dataset, "run")]
        while (after := kf.next_dispute(dataset, "run", walked[-1])) != walked[0]:
            walked.append(after)
        assert walked == expected
        units = [unit for key in walked for of in kf.disputed_units(dataset, "run", str(key)) for unit in of.units]
        assert set(found.unit.tolist()) <= set(units)
        queue = {str(sample.id): [entry["unit"] for entry in sample["run_queue"]] for sample in dataset}
        assert [unit for key in walked for unit in queue[str(key)]] == found.unit.tolist()
        units = [of for key in walked for of in kf.disputed_units(dataset, "run", str(key))]
        assert counted(dataset) == (len(units), 0, 0, len(units))  # units decided together count once


class TestUnits:
    def test_answers_of_each_rater_and_possible_decisions(self, analysed):
        (unit,) = kf.disputed_units(analysed, "run", analysed.skip(ONLY_ANN).first().id)
        assert unit.values == {"ann": ("cat",), "bob": ()}
        assert set(unit.labels) == set(labels_of(analysed, ONLY_ANN))
        assert set(kf.DECISIONS) - set(unit.decisions) == {"whole", "parts"}
        assert (unit.decision, unit.state) == (None, "open")

    def test_labels_that_were_deleted_leave_their_unit(self, dataset):
        take_back(dataset, ONLY_ANN, "ann")
        (unit,) = kf.disputed_units(dataset, "run", dataset.skip(ONLY_ANN).first().id)
        assert (unit.labels, unit.decisions, unit.state) == ((), (), "open")


def test_a_view_of_each_state(dataset):
    kf.decide(dataset, "run", labels_of(dataset, CAT_OR_DOG), "guideline")
    kf.decide(dataset, "run", labels_of(dataset, HALVES)[:1], "none")
    shown = {
        state: [
            (scene_of(dataset, sample.id), [len(sample[name].detections) for name in RATERS])
            for sample in view_of_queue(dataset, "run", state=state)
        ]
        for state in QUEUED
    }
    assert shown == {
        "open": [(HALVES, [0, 2]), (ONLY_ANN, [1, 0])],
        "waiting": [(CAT_OR_DOG, [1, 1])],
        "decided": [(HALVES, [1, 0])],
    }


class TestCarried:
    def test_to_a_run_with_the_same_units(self, dataset):
        told = [kf.decide(dataset, "run", labels_of(dataset, HALVES), name) for name in ("whole", "parts")]
        kf.compute_agreement(dataset, "again", raters=RATERS, bootstrap=0)
        found = carry_decisions(dataset, "run", "again")
        assert (found.carried, found.left) == ((told[1],), ())
        assert kf.decisions(dataset, "again", history=True) == told
        assert kf.count_disputes(dataset, "again") == kf.count_disputes(dataset, "run")
        carry_decisions(dataset, "run", "again")
        assert kf.decisions(dataset, "again", history=True) == told

    def test_a_changed_unit_is_skipped_and_restores_nothing_older(self, dataset):
        """At a threshold of .45, the bench and its left half are one unit, and a label of another sample is deleted."""
        _, left, right = labels_of(dataset, HALVES)
        alone = kf.decide(dataset, "run", [right], "none")
        split = kf.decide(dataset, "run", [left], "none")
        gone = kf.decide(dataset, "run", labels_of(dataset, CAT_OR_DOG), "consensus")
        kept = kf.decide(dataset, "run", labels_of(dataset, ONLY_ANN), "none")
        take_back(dataset, CAT_OR_DOG)
        kf.compute_agreement(dataset, "again", raters=RATERS, threshold=0.45, bootstrap=0)
        found = carry_decisions(dataset, "run", "again")
        assert {one.labels for one in found.carried} == {alone.labels, kept.labels}
        assert {one.labels for one in found.left} == {split.labels, gone.labels}
        assert {one.labels for one in kf.decisions(dataset, "again")} == {alone.labels, kept.labels}
        assert len(kf.decisions(dataset, "run")) == 4

    def test_an_analysis_made_again_keeps_them(self, make):
        dataset = make()
        kf.analyse(dataset, "first", kinds=["agreement", "variations"], raters=RATERS)
        made = kf.decide(dataset, "first", labels_of(dataset, CAT_OR_DOG), "none")
        again = kf.update_analysis(dataset, "first")
        assert kf.decisions(dataset, again.key) == [made]
        assert kf.next_dispute(dataset, again.key) == dataset.skip(HALVES).first().id


class TestResolved:
    def test_a_field_with_where_each_label_is_from(self, dataset):
        cat, dog = labels_of(dataset, CAT_OR_DOG)
        kf.decide(dataset, "run", [cat], "take", "bob", "a tail", "eva")
        kf.decide(dataset, "run", labels_of(dataset, HALVES), "whole")
        before = documents(dataset)
        run = kf.resolved(dataset, "run", "gold")
        assert dataset.values("gold.detections.label") == [["cat"], ["dog"], ["cat"], ["bench"], [], ["cat"]]
        assert dataset.values("gold.detections.gold") == [
            ["agreed"], ["take"], ["undecided"], ["whole"], [], ["agreed"],
        ]  # fmt: skip
        (label,) = dataset.skip(CAT_OR_DOG).first()["gold"].detections
        assert (label["gold_match"], label["gold_raters"]) == ([dog], ["bob"])
        assert (label["gold_note"], label["gold_who"]) == ("a tail", "eva")
        assert label.bounding_box == pytest.approx([0.1, 0.1, 0.4, 0.4])
        assert run.metrics == {
            "labels": 5, "origins": {"agreed": 2, "take": 1, "undecided": 1, "whole": 1}, "decided": 4, "open": 1,
            "left_out": 0,
        }  # fmt: skip
        assert kf.rater_fields(dataset) == {} or "gold" not in kf.rater_fields(dataset).values()
        kf.delete_run(dataset, "gold")
        assert documents(dataset) == before

    def test_it_is_a_run(self, dataset):
        made = kf.resolved(dataset, "run", "gold", undecided="drop")
        assert set(made.metrics["origins"]) == {"agreed"}
        assert kf.list_runs(dataset, "resolved") == ["gold"]
        loaded = kf.load_run(dataset, "gold")
        assert loaded.result.fields() == made.result.fields()
        assert loaded.result.annotations.shapes["box"].xywh().tolist() == [[10, 10, 40, 40]] * 2
        with pytest.raises(InputError, match="can be renamed"):
            kf.rename_run(dataset, "gold", "silver")
        for name, message in {"gold": "run key", "ann": "field"}.items():
            with pytest.raises(InputError, match=message):
                kf.resolved(dataset, "run", name)

    def test_it_is_written_as_coco_with_its_provenance(self, dataset, tmp_path):
        kf.decide(dataset, "run", labels_of(dataset, CAT_OR_DOG), "take", "bob", "a tail", "eva")
        result = kf.resolved(dataset, "run", "gold").result
        path = write_coco(result.annotations, tmp_path / "gold.json", result.fields())
        (dog,) = (one for one in json.loads(path.read_text())["annotations"] if one["origin"] == "take")
        assert (dog["note"], dog["decided_by"], dog["sources"]) == ("a tail", "eva", labels_of(dataset, CAT_OR_DOG)[1:])
        assert len(read_coco(path)) == len(result.annotations)

    def test_decisions_about_other_units_are_left_out_and_said(self, dataset):
        kf.decide(dataset, "run", labels_of(dataset, CAT_OR_DOG), "none")
        take_back(dataset, CAT_OR_DOG)
        run = kf.resolved(dataset, "run", "gold")
        assert (run.metrics["left_out"], run.metrics["decided"]) == (1, 0)

    def test_images_of_unknown_size(self, make):
        samples = make_samples(crowded(0, 3))
        for sample in samples:
            sample.metadata = None
        dataset = make(samples)
        kf.compute_agreement(dataset, "run", raters=THREE, bootstrap=0)
        kf.resolved(dataset, "run", "gold")
        boxes = [box for of in dataset.values("gold.detections.bounding_box") for box in of]
        assert boxes
        assert all(0 <= value <= 1 for box in boxes for value in box)


class TestResults:
    def test_the_training_list(self, dataset):
        cat, dog = labels_of(dataset, CAT_OR_DOG)
        kf.decide(dataset, "run", [cat], "take", "bob")
        kf.decide(dataset, "run", labels_of(dataset, ONLY_ANN), "consensus")
        assert kf.training_list(dataset, "run").to_dict("records") == [
            {"rater": "ann", "category": "cat", "decided": "dog", "count": 1, "units": 2, "rate": 0.5,
             "labels": [cat, dog]},
            {"rater": "bob", "category": "no object", "decided": "cat", "count": 1, "units": 2, "rate": 0.5,
             "labels": labels_of(dataset, ONLY_ANN)},
        ]  # fmt: skip

    def test_the_questions_to_the_guideline(self, dataset):
        assert "None" in kf.guideline_questions(dataset, "run")
        kf.decide(dataset, "run", labels_of(dataset, CAT_OR_DOG), "guideline", note="<b>a *tail*?</b>", who="eva")
        kf.decide(dataset, "run", labels_of(dataset, ONLY_ANN), "guideline")
        kf.decide(dataset, "run", labels_of(dataset, HALVES), "whole")
        lines, ids = kf.guideline_questions(dataset, "run").splitlines(), dataset.values("id")
        assert lines[4:7] == ["- no note", "  - ann: cat; bob: no object", f"  - 2.jpg, sample {ids[ONLY_ANN]}"]
        assert lines[10:12] == [r"- \<b\>a \*tail\*?\</b\> (eva)", "  - ann: cat; bob: dog"]

    def test_tags(self, dataset):
        kf.decide(dataset, "run", labels_of(dataset, CAT_OR_DOG), "none")
        for _ in range(2):
            assert kf.tag_disputes(dataset, "run", "$look") == 2
        assert [scene_of(dataset, key) for key in dataset.match_tags("$look").values("id")] == [ONLY_ANN, HALVES]
        assert dataset.values("ann.detections.tags") == [[[]], [[]], [["$look"]], [["$look"]], [], [[]]]
        assert dataset.last()["bob"] is None  # unassigned raters stay unassigned
        assert count_changes(dataset, "run") == 0
        assert kf.tag_disputes(dataset, "run", "all", open_only=False) == 3


class TestHandedOver:
    """Handover to a back end that FiftyOne's configuration names by its class."""

    @pytest.fixture
    def dataset(self, analysed, monkeypatch):
        monkeypatch.setitem(fo.annotation_config.backends, "stub", STUB)
        return analysed.clone()

    @staticmethod
    def hand_over(dataset: fo.Dataset, name: str = "arbiter", **options: object) -> None:
        kf.hand_over(dataset, "run", name, backend="stub", **options)

    def test_the_open_cases_go_to_annotate(self, dataset):
        kf.decide(dataset, "run", labels_of(dataset, CAT_OR_DOG), "none")
        before = dataset.values("ann.detections.label")
        self.hand_over(dataset)
        assert [scene_of(dataset, key) for key in Stub.given["ids"]] == [HALVES, ONLY_ANN]
        (about,) = Stub.given["schema"].values()
        assert (list(Stub.given["schema"]), about["type"]) == (["arbiter"], "detections")
        assert set(about["classes"]) == {"bench", "cat", "dog"}
        assert dataset.list_annotation_runs() == ["arbiter"]
        assert dataset.values("ann.detections.label") == before
        assert "handing_over" not in read_info(dataset)
        with pytest.raises(InputError, match="field"):
            self.hand_over(dataset, "other", field="ann")

    def test_a_failure_leaves_nothing(self, dataset, monkeypatch):
        before = _stored()
        for owner, name, fails, error, message in (
            (Stub, "upload_annotations", raising(EOFError()), InputError, "the samples: no login is configured"),
            (Stub, "upload_annotations", raising(OSError("no route")), InputError, "the samples: OSError: no route"),
            (results, "server", lambda: "the one before", KalosError, "the database was restarted meanwhile"),
        ):
            with monkeypatch.context() as failing:
                failing.setattr(owner, name, fails)
                with pytest.raises(error, match=message):
                    self.hand_over(dataset)
            assert (_stored(), dataset.list_annotation_runs()) == (before, [])
            assert not dataset.has_field("arbiter")
            assert "handing_over" not in read_info(dataset)

    @pytest.mark.parametrize("stores", [False, True])
    def test_leftovers_of_a_dead_process_are_removed_by_the_next_one(self, dataset, stores):
        """FiftyOne stores a run before its results; results that were stored earlier are in no list."""
        self.hand_over(dataset)
        stored = get_db_conn()
        if not stores:
            record = {"_id": dataset._doc.annotation_runs["arbiter"].id}
            stored.runs.update_one(record, {"$unset": {"results": ""}})
            dataset.reload()
        before = _stored()
        with writing_now() as writer:
            update_info(dataset, handing_over={"key": "arbiter", "writer": dict(writer)})
            stored.runs.insert_one({"_dataset_id": dataset._doc.id, "key": "arbiter"})
            stored["fs.files"].insert_one({})
            settle_hand_over(dataset)
            assert dataset.list_annotation_runs() == ["arbiter"]  # its process is running
        self.hand_over(dataset, "other")
        assert dataset.list_annotation_runs() == [*["arbiter"] * stores, "other"]
        assert "handing_over" not in read_info(dataset)
        runs, files = before
        assert _stored() == (runs + stores, files + 1)


def _stored() -> tuple[int, int]:
    """Count the runs and files in the database."""
    stored = get_db_conn()
    return stored.runs.count_documents({}), stored["fs.files"].count_documents({})


class TestEdited:
    @pytest.mark.parametrize("field", ["run_queue", "run_decisions"])
    @pytest.mark.parametrize("value", [5, "x", [1], [{"labels": 1}], {"a": 1}])
    def test_the_fields_of_a_run(self, dataset, field, value):
        """A message names the sample and the field."""
        kf.decide(dataset, "run", labels_of(dataset, CAT_OR_DOG), "none")
        sample = kf.next_dispute(dataset, "run")
        stored = get_db_conn()[dataset._sample_collection_name]
        stored.update_many({}, {"$set": {field: value}})
        with pytest.raises(InputError, match=f"sample {sample}: the field '{field}' was changed since the run 'run'"):
            kf.disputed_units(dataset, "run", sample)
        for act in (kf.training_list, kf.decisions, kf.count_disputes, lambda *run: kf.tag_disputes(*run, "look")):
            with suppress(InputError):
                act(dataset, "run")
        kf.delete_run(dataset, "run")
        assert field not in dataset.get_field_schema()

    @pytest.mark.parametrize(("path", "value"), [("label", 5), ("confidence", "high")])
    def test_labels(self, dataset, path, value):
        stored = get_db_conn()[dataset._sample_collection_name]
        stored.update_many({}, {"$set": {f"ann.detections.$[].{path}": value}})
        with pytest.raises(InputError, match=f"expected a (str|int) in 'ann.detections.{path}', got {value!r}"):
            kf.load_run(dataset, "run")

    def test_the_list_of_raters(self, dataset):
        get_db_conn()[dataset._sample_collection_name].update_many({}, {"$set": {"raters": 5}})
        assert [found.seen_by_all for found in kf.found_raters(dataset)] == [0]
        with pytest.raises(InputError, match="expected 'raters' to list names on every sample, got 5"):
            kf.read_annotations(dataset, raters=RATERS)

    def test_tags_that_are_no_list_become_one(self, dataset):
        stored = get_db_conn()[dataset._sample_collection_name]
        stored.update_many({}, {"$set": {"ann.detections.$[].tags": "mine"}})
        kf.tag_disputes(dataset, "run", "look")
        assert ["mine", "look"] in [label["tags"] for sample in stored.find() for label in sample["ann"]["detections"]]

    def test_the_paths_of_files(self, dataset):
        for value in (5, None, ["a.jpg"]):
            get_db_conn()[dataset._sample_collection_name].update_many({}, {"$set": {"filepath": value}})
            for read in (kf.worst_images, partial(queued_images, count=5)):
                with pytest.raises(InputError, match="expected a str in 'filepath', got"):
                    list(read(dataset, "run"))
