"""Runs of agreement on image-level labels: numbers of the library, fields of samples, and views."""

import json
from itertools import combinations
from typing import Any

import fiftyone as fo
import numpy as np
import pandas as pd
import pytest

import kalos_core.fiftyone as kf
from kalos_core import (
    InputError,
    dawid_skene,
    label_agreement,
    majority_agreement,
    nominal_alpha,
    rater_accuracy,
)
from kalos_core.fiftyone.dataset.database import stream
from kalos_core.fiftyone.dataset.raters import IMAGE_LABELS
from kalos_core.fiftyone.kinds.image_labels.views import disputed_images
from kalos_core.fiftyone.kinds.labelled import view_of_difference
from kalos_core.nominal import SKILL_MODELS, cohen_matrix, merge_raters
from kalos_core.results import plain_values
from tests.fiftyone_bridge.quiz import (
    AGREEMENT,
    ANSWERS,
    DISPUTED,
    RATERS,
    SPA,
    VALUES,
    label,
    quiz,
    quiz_in_one_field,
    sample,
    several,
    table_rows,
)
from tests.fiftyone_bridge.scenes import untouched
from tests.tiers import pairwise


@pytest.fixture
def answered(make):
    return make(quiz)


@pytest.fixture(scope="module")
def computed(make_once):
    """Return the answers with a run that estimates accuracy, for tests that only read."""
    dataset = make_once(quiz)
    return dataset, compute(dataset, truth="confusion")


def compute(dataset: Any, key: str = "run", **options: Any) -> Any:
    return kf.compute_label_agreement(dataset, key, **{"raters": RATERS, "bootstrap": 50, **options})


class TestTheRun:
    def test_stores_the_results_of_the_library(self, computed):
        dataset, run = computed
        table = kf.read_label_table(dataset, raters=RATERS)
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
        assert json.loads(json.dumps(plain_values(run.details))) == plain_values(
            kf.load_details(dataset, "run").details
        )

    def test_writes_fields_of_samples(self, computed):
        dataset, _ = computed
        agreement, disputed = dataset.values(["run_agreement", "run_disputed"])
        assert agreement == [None if value is None else pytest.approx(value) for value in AGREEMENT]
        assert disputed == DISPUTED
        assert dataset.values("run_questions") == [["label"] if flag else [] for flag in DISPUTED]
        assert dataset.values("run_concepts")[3:] == [["cat", "dog"], [], ["cat", "dog", "owl"]]
        assert dataset.values("run_majority.label") == ["cat", "cat", "dog", None, "dog", None]
        assert dataset.values("run_majority.confidence") == [1.0, pytest.approx(2 / 3), 1.0, None, 1.0, None]
        assert dataset.values("run_accuracy") == pytest.approx([1.0, 5 / 9, 1.0, 1 / 3, None, 1 / 3])
        assert dataset.values("run_tied") == [[], [], [], ["cat", "dog"], [], ["cat", "dog", "owl"]]
        assert not {"run_majority", "run_truth"} & {*kf.label_fields(dataset, IMAGE_LABELS)}

    def test_groups_are_suggested_and_the_majority_holds_several_labels(self, make):
        dataset = make(_days())
        run = compute(dataset, raters=("ann", "bob", "cid"), groups="suggested", bootstrap=0)
        assert run.settings["groups"] == {"day / night": ["day", "night"]}
        assert run.details.agreement.question.tolist() == ["day / night", "sun"]
        names = dataset.values("run_majority.classifications.label")
        shares = dataset.values("run_majority.classifications.confidence")
        assert (names[0], shares[0]) == (["day", "sun"], [1.0, pytest.approx(2 / 3)])
        assert (names[1], dataset.values("run_tied")[1]) == (["night"], [])
        view = view_of_difference(dataset, "run", "bob", "majority")
        assert view.values("id") == dataset.values("id")[::2]  # bob never labels the sun
        first = dataset.first()
        first.ann = several(["night"])
        first.save()
        loaded = kf.load_run(dataset, "run").result
        assert loaded.table.questions == ("day / night", "sun")  # groups are those of the run
        assert loaded.table.values("day / night")[0].tolist() == [1, 0, 0]

    def test_accuracy_to_known_truth(self, make):
        truth = ["cat", "cat", "dog", "cat", "dog", "ape"]
        samples = quiz_in_one_field()
        for one, name in zip(samples, truth, strict=True):
            one.answers.classifications.append(label(name, rater="gold"))
        dataset = make(samples)
        run = compute(dataset, raters=None, field="answers", reference="gold")
        right = [sum(row[rater] == name for row, name in zip(ANSWERS, truth, strict=True)) for rater in range(3)]
        given = [sum(row[rater] is not None for row in ANSWERS) for rater in range(3)]
        assert run.details.accuracy.to_reference.tolist() == [a / b for a, b in zip(right, given, strict=True)]
        assert run.details.accuracy.raters.tolist() == list(RATERS)
        assert run.details.agreement.spa[0] == pytest.approx(SPA)  # which does not use the truth
        assert dataset.values("run_to_reference") == pytest.approx([1, 2 / 3 + 2 / 4 / 3, 1, 3 / 4, 1, 2 / 4])
        assert view_of_difference(dataset, "run", "ann", "gold").values("id") == [dataset.values("id")[5]]
        loaded = kf.load_run(dataset, "run")
        assert loaded.stale == ()
        np.testing.assert_array_equal(loaded.result.accuracy.to_reference, run.details.accuracy.to_reference)
        assert disputed_images(dataset, "run")[0].answers == "cat 1, dog 1, owl 1"

    def test_the_options_are_the_classes_that_the_data_set_names(self, answered):
        named = ["ape", "cat", "dog", "owl"]
        of_fields = {"ann": ["cat", "dog", "owl"], "bob": ["bee"]}
        for number, (default, classes, expected) in enumerate(
            [([], {}, 3), (named, {}, 4), (named, of_fields, 4), (["car"], {}, 3)]
        ):
            answered.default_classes, answered.classes = default, classes
            found = compute(answered, f"run{number}", bootstrap=0).details.agreement
            assert found.options.tolist() == [expected]
            observed = np.mean([value for value in AGREEMENT if value is not None])
            assert found.free_marginal[0] == pytest.approx((observed - 1 / expected) / (1 - 1 / expected))

    def test_teams_and_rejected_answers(self, answered):
        teams = {"experts": ["ann"], "crowd": ["bob", "cid"]}
        run = compute(answered, teams=teams, least_accuracy=0.7)
        assert run.details.rejection.rejected_raters == ("cid",)  # majority on two of three images, one tie
        assert (run.metrics["raters"], run.metrics["rejected"]) == (["ann", "bob"], 4)
        # of the crowd, bob is left; he agrees with ann on three of five images
        assert run.details.teams.agreement[0] == pytest.approx([np.nan, np.nan, 3 / 5, 3 / 5, np.nan], nan_ok=True)
        assert [row.answers for row in disputed_images(answered, "run")] == ["cat 1, dog 1"] * 2
        np.testing.assert_array_equal(kf.load_run(answered, "run").result.table.values(), run.result.table.values())

    def test_a_quorum_of_one_half_disputes_less(self, answered):
        compute(answered, quorum=0.5)
        assert answered.values("run_disputed") == [False, False, False, False, None, True]

    @pytest.mark.parametrize("options", [{}, {"groups": None}, {"groups": {"pet": ["cat", "dog"]}}])
    def test_only_changed_images_are_read_again(self, answered, options, monkeypatch):
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
        for name in vars(fresh.agreement):
            np.testing.assert_array_equal(getattr(loaded.result.agreement, name), getattr(fresh.agreement, name))
        np.testing.assert_array_equal(loaded.result.disputes.agreement, fresh.disputes.agreement)

    def test_optional_labels_and_broken_groups(self, make):
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

    def test_the_running_curve_is_by_time(self, make):
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
            ({"groups": {"a": "cat"}}, "groups: expected names with a list each"),
            ({"metric": "ordinal"}, "order="),
            ({"truth": "glad"}, "truth: expected one of 'confusion', 'one_coin', 'weighted', got 'glad'"),
        ],
    )
    def test_bad_input_leaves_nothing(self, computed, options, message):
        with untouched(computed[0]), pytest.raises(InputError, match=message):
            compute(computed[0], "other", **options)


class TestWhoIsRight:
    @pytest.mark.parametrize("model", SKILL_MODELS)
    def test_labels_and_skills_are_those_of_the_library(self, answered, model):
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
        loaded = kf.load_run(answered, "run").result.truth[0]
        np.testing.assert_allclose(loaded.probability, own.probability)
        assert run.settings["truth"] == model

    def test_the_majority_weighted_by_skill_by_hand(self, make):
        """Ann and bob agree with the majority in 3 of 3 answers, cid in 2: image 2 is a cat with weight 2 of 8/3."""
        dataset = make([sample(n, raters=list(RATERS), **_named(row)) for n, row in enumerate(HALF_SURE)])
        run = compute(dataset, truth="weighted")
        assert run.details.truth[0].skill.tolist() == [1, 1, pytest.approx(2 / 3)]
        assert dataset.values("run_truth.label") == ["cat", "cat", "dog"]
        assert dataset.values("run_confidence") == pytest.approx([1, 2 / (2 + 2 / 3), 1])
        ids = dataset.values("id")
        assert kf.view_least_sure_first(dataset, "run").values("id")[0] == ids[1]
        assert view_of_difference(dataset, "run", "cid", "truth").values("id") == [ids[1]]
        assert len(view_of_difference(dataset, "run", "ann", "truth")) == 0

    def test_of_several_questions_each_has_its_label(self, make):
        """Day and night exclude each other; for the sun, only presence is a label, and absence is equally certain."""
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
        assert (names[12], dataset.values("run_truth")[12]) == (None, None)  # no rater answered
        least = np.minimum(time.confidence, sun.confidence)[:12]
        assert dataset.values("run_confidence") == [*map(pytest.approx, least), None]
        assert len(kf.view_least_sure_first(dataset, "run")) == 12


HALF_SURE = [["cat", "cat", "cat"], ["cat", "cat", "dog"], ["dog", "dog", "dog"]]


def _named(answers: list[str]) -> dict[str, fo.Classification]:
    return {name: label(answer) for name, answer in zip(RATERS, answers, strict=True)}


class TestViews:
    def test_samples_in_dispute(self, computed):
        dataset, _ = computed
        ids = dataset.values("id")
        for asked in ({}, {"question": "label"}):
            found = kf.view_of_disputes(dataset, "run", **asked).values("id")
            assert (set(found), found[2]) == ({ids[5], ids[3], ids[1]}, ids[1])  # lowest agreement first
        assert kf.view_of_disputes(dataset, "run", concept="owl").values("id") == [ids[5]]
        assert view_of_difference(dataset, "run", "ann", "bob").values("id") == [ids[3], ids[5]]
        assert view_of_difference(dataset, "run", "cid", "majority").values("id") == [ids[1]]
        with pytest.raises(InputError, match="raters: expected names among ann, bob, cid, majority, truth, got 'eve'"):
            view_of_difference(dataset, "run", "ann", "eve")

    @pytest.mark.parametrize(
        ("stored", "groups", "assigned"),
        pairwise(
            ["single", "several", "attribute"],
            ["label", None, {"group": ["$a", "b"]}],
            ["auto", "all", "labelled"],
        ),
    )
    def test_differences_are_those_of_the_table(self, make, stored, groups, assigned):
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
            found = set(view_of_difference(dataset, "run", one, other).values("id"))
            assert found - broken == set(np.array(ids)[differ]) - broken  # for invalid groups, sets are compared
        assert len(broken) < len(ids) - 5
        disputed = {key for key, names in zip(ids, dataset.values("run_concepts"), strict=True) if "$a" in names}
        assert set(kf.view_of_disputes(dataset, "run", concept="$a").values("id")) == disputed

    def test_rows_of_images(self, answered):
        compute(answered)
        rows = disputed_images(answered, "run")
        assert [(row.file, row.answers) for row in rows] == [
            ("5.jpg", "cat 1, dog 1, owl 1"),
            ("3.jpg", "cat 1, dog 1"),
            ("1.jpg", "cat 2, dog 1"),
        ]
        assert rows[2].agreement == pytest.approx(1 / 3)


def _days() -> list[fo.Sample]:
    """Return twelve images, alternately day and night; two of three raters see the sun by day."""
    chosen = {"ann": ["day", "sun"], "bob": ["day"], "cid": ["day", "sun"]}
    return [
        sample(n, raters=list(RATERS), **{r: several(["night"] if n % 2 else of) for r, of in chosen.items()})
        for n in range(12)
    ]


def _random(stored: str, exclusive: bool) -> list[fo.Sample]:
    """Return thirty images, each labelled by some of the raters."""
    rng = np.random.default_rng(0)

    def one(name: str, rater: str) -> fo.Classification:
        return label(name, confidence=float(rng.random()), rater=rater)

    samples = []
    for number in range(30):
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


@pytest.mark.parametrize("order", [["dog", "owl", "cat"], {"label": ["dog", "owl", "cat"]}])
def test_a_run_keeps_the_metric_of_alpha(answered, order):
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
    assert (run.settings["metric"], run.settings["order"]) == (metric, order)
