"""Image-level labels in dispute: queued with their run, decided like units, and resolved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError, read_long_labels
from kalos_core.fiftyone.dataset.raters import IMAGE_LABELS
from kalos_core.fiftyone.deciding import decide as module
from kalos_core.fiftyone.deciding.decide import DecidedMeanwhile, carry_decisions, decide_as_seen
from kalos_core.fiftyone.deciding.queue import DisputeCount, queued_images, view_of_queue, view_of_units
from kalos_core.fiftyone.deciding.shown import shown_sample
from kalos_core.fiftyone.runs.stored import count_changes
from tests.fiftyone_bridge.back_end import STUB, Stub
from tests.fiftyone_bridge.conftest import Make
from tests.fiftyone_bridge.quiz import RATERS, label, quiz, sample, several
from tests.fiftyone_bridge.scenes import documents, untouched

SECOND, HALVED, APART = 1, 3, 5
"""Images of the quiz in dispute: cat, cat, dog; cat, dog; cat, dog, owl."""


@pytest.fixture
def dataset(make: Make) -> fo.Dataset:
    """Return the quiz with a run."""
    return computed(make(quiz))


def computed(dataset: fo.Dataset, **options: Any) -> fo.Dataset:
    kf.compute_label_agreement(dataset, "run", **{"raters": RATERS, "bootstrap": 0, **options})
    return dataset


def ids(dataset: fo.Dataset, *numbers: int) -> list[str]:
    found = dataset.values("id")
    return [found[number] for number in numbers]


def unit(dataset: fo.Dataset, number: int, place: int = 0) -> Any:
    return kf.disputed_units(dataset, "run", *ids(dataset, number))[place]


def decided(dataset: fo.Dataset, number: int, decision: str, rater: str | None = None, **more: Any) -> Any:
    return kf.decide(dataset, "run", unit(dataset, number).labels, decision, rater, **more)


class TestQueue:
    def test_the_images_in_dispute_the_least_agreed_first(self, dataset):
        view = kf.view_of_disputes(dataset, "run")
        queue = [image.sample_id for image in queued_images(dataset, "run", 9)]
        assert queue == view.values("id") == ids(dataset, HALVED, APART, SECOND)
        assert dataset.values("run_disputes") == [0, 1, 0, 1, 0, 1]
        assert kf.count_disputes(dataset, "run") == DisputeCount(3, 0, 0, 3)
        after = kf.next_dispute(dataset, "run")
        assert (after, kf.next_dispute(dataset, "run", after)) == tuple(ids(dataset, HALVED, APART))
        assert kf.next_dispute(dataset, "run", category="owl") == ids(dataset, APART)[0]
        assert kf.next_dispute(dataset, "run", after, rater="cid") == ids(dataset, APART)[0]

    def test_answers_and_raters_who_differ_from_the_majority(self, dataset):
        second, halved = unit(dataset, SECOND), unit(dataset, HALVED)
        assert second.values == {"ann": ("cat",), "bob": ("cat",), "cid": ("dog",)}
        assert (second.against, second.question) == (("cid",), "label")
        assert second.said == {"ann": "with the majority", "bob": "with the majority", "cid": "most gave cat"}
        assert halved.values == {"ann": ("cat",), "bob": ("dog",)}  # cid is not assigned
        assert halved.against == ("ann", "bob")
        assert second.decisions == tuple(kf.LABEL_DECISIONS)
        with pytest.raises(InputError, match="not part of the run"):
            kf.disputed_units(dataset, "run", "0" * 24)

    def test_the_quorum_says_what_is_in_dispute(self, make):
        dataset = computed(make(quiz), quorum=0.6)
        assert kf.count_disputes(dataset, "run").all == dataset.values("run_disputed").count(True) == 2

    def test_grades_say_by_how_much_and_in_which_direction(self, make):
        answers = [("1", "1", "4"), ("2", "2", "2"), ("3", "3", "3")]
        dataset = computed(make([sample(n, **_named(row)) for n, row in enumerate(answers)]), assigned="all")
        (found,) = kf.disputed_units(dataset, "run", *ids(dataset, 0))
        assert found.said == {
            "ann": "with the majority; 1.50 lower than the others",
            "bob": "with the majority; 1.50 lower than the others",
            "cid": "most gave 1; 3.00 higher than the others",
        }

    def test_several_questions_of_an_image_are_decided_one_by_one(self, make):
        """Day and night exclude each other; the sun does not: its presence is a separate question."""
        rows = [{"ann": ["day", "sun"], "bob": ["night"], "cid": ["day"]}, {"ann": ["day"], "bob": ["day"], "cid": []}]
        dataset = make([sample(n, **{name: several(of) for name, of in row.items()}) for n, row in enumerate(rows)])
        computed(dataset, groups={"time": ["day", "night"]}, assigned="all")
        time, sun = kf.disputed_units(dataset, "run", *ids(dataset, 0))
        assert (time.question, sun.question) == ("time", "sun")
        assert sun.values == {"ann": ("sun",), "bob": (), "cid": ()}
        assert sun.decisions == ("take", "guideline", "skip")
        assert sun.said["ann"] == "most gave no label"
        kf.decide(dataset, "run", sun.labels, "take", "bob")
        assert kf.count_disputes(dataset, "run") == DisputeCount(2, 1, 0, 1)
        kf.decide(dataset, "run", time.labels, "label", category="night")
        kf.resolved(dataset, "run", "gold")
        assert dataset.values("gold.classifications.label") == [["night"], ["day"]]
        table = kf.training_list(dataset, "run")[["rater", "category", "decided", "count"]]
        assert sorted(table.values.tolist()) == [
            ["ann", "day", "night", 1], ["ann", "sun", "no label", 1], ["cid", "day", "night", 1]
        ]  # fmt: skip
        for one, decision, category in ((time, "label", "sun"), (sun, "label", "sun"), (sun, "none", None)):
            with pytest.raises(InputError, match="expected one of"):
                kf.decide(dataset, "run", one.labels, decision, category=category)


def _named(answers: tuple[str, ...]) -> dict[str, Any]:
    return {name: label(answer) for name, answer in zip(RATERS, answers, strict=True)}


class TestDecide:
    def test_decisions_are_counted_and_can_be_taken_back(self, dataset):
        made = decided(dataset, SECOND, "take", "cid", note="a tail", who="eva")
        assert kf.decisions(dataset, "run") == [made]
        assert (made.labels, made.rater) == (unit(dataset, SECOND).labels, "cid")
        assert unit(dataset, SECOND).state == "decided"
        decided(dataset, HALVED, "guideline", note="cat or dog?")
        assert kf.count_disputes(dataset, "run") == DisputeCount(3, 1, 1, 1)
        assert "- cat or dog?\n  - ann: cat; bob: dog" in kf.guideline_questions(dataset, "run")
        decided(dataset, SECOND, "skip")
        assert kf.count_disputes(dataset, "run") == DisputeCount(3, 0, 1, 2)
        assert len(kf.decisions(dataset, "run", history=True)) == 3

    def test_a_label_that_no_rater_gave(self, dataset):
        made = decided(dataset, SECOND, "label", category="owl")
        assert (made.category, kf.decisions(dataset, "run")) == ("owl", [made])
        table = kf.training_list(dataset, "run")[["rater", "category", "decided"]]
        assert table.values.tolist() == [["ann", "cat", "owl"], ["bob", "cat", "owl"], ["cid", "dog", "owl"]]

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"decision": "both"}, "decision: expected one of 'take', 'label', 'none', 'guideline', 'skip'"),
            ({"decision": "label"}, "category: expected the label that is right"),
            ({"decision": "label", "category": "bee"}, "category: expected one of 'cat', 'dog', 'owl', got 'bee'"),
            ({"decision": "none", "category": "cat"}, "category: expected none"),
            ({"decision": "take", "rater": "cid"}, "rater: expected one who was assigned to this unit, 'ann', 'bob'"),
        ],
    )
    def test_invalid_input_is_refused(self, dataset, given, message):
        with untouched(dataset), pytest.raises(InputError, match=message):
            kf.decide(dataset, "run", unit(dataset, HALVED).labels, **given)
        with pytest.raises(InputError, match="ids of labels that the run 'run' matched"):
            kf.decide(dataset, "run", ["1" * 24], "none")

    def test_it_costs_one_small_write_and_makes_no_run_stale(self, dataset):
        before = documents(dataset)
        decided(dataset, APART, "take", "bob")
        own = {"run_queue", "run_disputes", "run_decisions"}
        changed = {
            (key, name) for key, of in documents(dataset).items() for name in of if of[name] != before[key].get(name)
        }
        assert changed == {(*ids(dataset, APART), name) for name in own}
        assert count_changes(dataset, "run") == 0
        assert kf.load_run(dataset, "run").stale == ()

    def test_two_people_at_once(self, dataset, meanwhile: Callable[..., None]):
        labels, (image,) = unit(dataset, SECOND).labels, ids(dataset, SECOND)
        meanwhile(module, "_states", before=lambda: decided(dataset, SECOND, "none", who="ida"))
        kf.decide(dataset, "run", labels, "take", "ann", who="eva")
        assert [made.who for made in kf.decisions(dataset, "run", history=True)] == ["ida", "eva"]
        asked = kf.decisions(dataset, "run")[0]
        with pytest.raises(DecidedMeanwhile):
            decide_as_seen(dataset, "run", image, type(asked)(labels, "take", "cid"), None)

    def test_a_view_of_each_state_holds_whole_images(self, dataset):
        made = decided(dataset, SECOND, "take", "cid")
        assert view_of_queue(dataset, "run").values("id") == ids(dataset, HALVED, APART)
        decided_view = view_of_queue(dataset, "run", state="decided")
        assert decided_view.values("id") == view_of_units(dataset, "run", made.labels).values("id")
        assert decided_view.first().cid.label == "dog"

    def test_open_disputes_are_tagged_and_handed_over(self, dataset, monkeypatch):
        decided(dataset, SECOND, "none")
        assert kf.tag_disputes(dataset, "run", "look") == 2
        assert dataset.match_tags("look").values("id") == ids(dataset, HALVED, APART)
        monkeypatch.setitem(fo.annotation_config.backends, "stub", STUB)
        kf.hand_over(dataset, "run", "arbiter", backend="stub")
        assert Stub.given["ids"] == ids(dataset, HALVED, APART)
        (about,) = Stub.given["schema"].values()
        assert (about["type"], list(about["classes"])) == ("classification", ["cat", "dog", "owl"])

    def test_a_sample_is_shown_without_its_labels_being_read(self, dataset):
        (image,) = ids(dataset, SECOND)
        shown = shown_sample(dataset, "run", image)
        assert (shown.size, shown.outlines, shown.report.alpha) == ((100, 100), {}, pytest.approx(1 / 3))
        assert [cell.category for cell in shown.report.cells[0]] == ["cat", "cat", "dog"]

    def test_decisions_follow_the_answers_of_the_run_made_again(self, dataset):
        kept, lost = decided(dataset, SECOND, "take", "cid"), decided(dataset, APART, "none")
        last = dataset.last()
        last["cid"] = label("cat")
        last.save()
        again = kf.update_analysis(dataset, "run")
        key = again.runs["image_labels"].key
        assert [one.labels for one in kf.decisions(dataset, key)] == [kept.labels]
        assert [one.labels for one in carry_decisions(dataset, "run", key).left] == [lost.labels]

    def test_it_goes_with_the_run(self, make):
        dataset = make(quiz)
        before, indexes = documents(dataset), dataset.list_indexes()
        computed(dataset)
        made = decided(dataset, SECOND, "none")
        assert len(dataset.list_indexes()) == len(indexes) + 1
        kf.rename_run(dataset, "run", "other")
        assert kf.decisions(dataset, "other") == [made]
        kf.delete_run(dataset, "other")
        assert documents(dataset) == before
        assert dataset.list_indexes() == indexes


class TestResolved:
    def test_agreed_decided_and_open_units(self, dataset, tmp_path):
        decided(dataset, HALVED, "take", "bob", note="a tail", who="eva")
        decided(dataset, APART, "label", category="owl")
        run = kf.resolved(dataset, "run", "gold")
        assert dataset.values("gold.label") == ["cat", "cat", "dog", "dog", "dog", "owl"]
        origins = ["agreed", "undecided", "agreed", "take", "agreed", "label"]
        assert dataset.values("gold.gold") == origins
        assert dataset.values("gold.gold_raters")[HALVED:] == [["bob"], ["ann"], ["cid"]]
        assert (dataset.values("gold.gold_note")[HALVED], dataset.values("gold.gold_who")[HALVED]) == ("a tail", "eva")
        assert {name: run.metrics[name] for name in ("labels", "decided", "open", "left_out")} == {
            "labels": 6, "decided": 2, "open": 1, "left_out": 0
        }  # fmt: skip
        assert kf.load_run(dataset, "gold").result.to_pandas().equals(run.result.to_pandas())
        table = read_long_labels(kf.export_resolved(dataset, "run", tmp_path / "gold.csv", undecided="drop"))
        assert table.items.tolist() == ["0.jpg", "2.jpg", "3.jpg", "4.jpg", "5.jpg"]
        assert [table.concepts[code] for code in table.concept] == ["cat", "dog", "dog", "dog", "owl"]
        kf.delete_run(dataset, "gold")
        assert not dataset.has_field("gold")

    def test_raters_and_classifiers_are_compared_with_it(self, dataset):
        """Compare with any reference, or use it as one truth of a ranking; it does not count as a rater."""
        decided(dataset, SECOND, "take", "cid")
        decided(dataset, HALVED, "take", "ann")
        kf.resolved(dataset, "run", "gold", undecided="drop")
        run = kf.compute_label_agreement(dataset, "against", raters=RATERS, reference="gold", bootstrap=0)
        assert run.details.accuracy.to_reference.tolist() == [4 / 5, 2 / 4, 1.0]
        ranked = kf.rank_systems(dataset, "ranked", systems=["net", "svm"], raters=("ann", "gold"))
        assert ranked.metrics["truths"] == ["ann", "gold", "majority"]
        found = dataset.evaluate_classifications("ann", gt_field="gold")
        assert found.metrics()["support"] == 5  # open disputes have no ground truth
        assert "gold" in kf.label_fields(dataset, IMAGE_LABELS)
        names = [name for of in kf.found_raters(dataset) for name in of.raters]
        assert "gold" not in names

    def test_decisions_about_answers_that_changed_are_left_out(self, dataset):
        decided(dataset, APART, "label", category="owl")
        last = dataset.last()
        last["cid"] = label("cat")
        last.save()
        run = kf.resolved(dataset, "run", "gold")
        assert (run.metrics["decided"], run.metrics["left_out"]) == (0, 1)
        assert dataset.values("gold.label")[APART] == "cat"
