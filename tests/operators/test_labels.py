"""Agreement on image-level labels, and rankings, from their forms."""

from __future__ import annotations

import json

import fiftyone as fo
import pytest
from fiftyone.operators.executor import ExecutionError

import kalos_core.fiftyone as kf
from kalos_core.figures import ranking_title
from tests.fiftyone_bridge.quiz import RATERS, label, quiz, quiz_in_one_field, sample, several
from tests.fiftyone_bridge.scenes import SCENES, make_samples
from tests.operators.calls import is_delegated_by_default, last_line, run, send, shares, summaries
from tests.plugin import defaults, form, refused, stream

COMPUTE, RANK = "compute_label_agreement", "rank_systems"


@pytest.fixture(scope="module")
def answered():
    dataset = fo.Dataset(persistent=True)
    dataset.add_samples(quiz(), progress=False)
    yield dataset
    dataset.delete()


def data_set(samples):
    dataset = fo.Dataset(persistent=True)
    dataset.add_samples(samples, progress=False)
    return dataset


# ---- the forms ----


def test_fields_with_scores_are_no_raters(answered):
    inputs = form(COMPUTE, answered)
    assert inputs["raters"].default == list(RATERS)
    assert [choice.value for choice in inputs["raters"].view.choices] == [*RATERS, "net", "svm"]
    assert inputs["exclusive"].default is True
    assert "groups" not in inputs
    assert inputs["run_key"].default == "labels"
    assert form(RANK, answered)["systems"].default == ["net", "svm"]


def test_a_rater_attribute_is_found():
    dataset = data_set(quiz_in_one_field())
    inputs = form(COMPUTE, dataset)
    assert inputs["storage"].default == "one field with a rater attribute"
    assert inputs["raters_in_field"].default == sorted(RATERS)
    assert inputs["exclusive"].default is True


def test_lists_of_labels_are_no_exclusive_ones():
    dataset = data_set([sample(0, ann=several(["in", "sun"]), bob=several(["out"]))])
    inputs = form(COMPUTE, dataset)
    assert inputs["exclusive"].default is False
    assert "groups" in inputs
    assert "groups" not in form(COMPUTE, dataset, {"exclusive": True})


def test_without_image_level_labels_it_says_what_to_do():
    dataset = data_set(make_samples(SCENES))
    inputs = form(COMPUTE, dataset)
    assert "load_label_table" in inputs["nothing"].view.description
    assert "refused" in refused(inputs)
    assert "refused" in refused(form(RANK, None))


@pytest.mark.parametrize(
    ("operator", "params", "where", "message"),
    [
        (COMPUTE, {"raters": ["ann"]}, "raters", "at least two raters"),
        (
            COMPUTE,
            {"raters": ["ann", "eve"]},
            "raters",
            "expected a rater, or a field of Classification or Classifications, got 'eve'",
        ),
        (COMPUTE, {"exclusive": False, "groups": "place"}, "groups", "expected names with labels"),
        (COMPUTE, {"exclusive": False, "groups": "a: cat; a: dog"}, "groups", "every name once, got 'a' twice"),
        (COMPUTE, {"quorum": 1.5}, "quorum", "A number from 0.01 to 1"),
        (COMPUTE, {"width": 0}, "width", "A number of at least 0.001"),
        (COMPUTE, {"bootstrap": -1}, "bootstrap", "A number of at least 0"),
        (COMPUTE, {"more": True, "min_confidence": 2}, "min_confidence", "A number from 0 to 1"),
        (COMPUTE, {"run_key": "not a key"}, "run_key", "expected a name of letters"),
        (RANK, {"systems": ["net"]}, "systems", "A ranking needs at least two classifiers"),
        (RANK, {"systems": ["net", "ann"]}, "systems", "'ann' is no field of scores"),
        (RANK, {"tree": "cat"}, "tree", "expected names with labels"),
    ],
)
def test_a_wrong_input_is_marked(answered, operator, params, where, message):
    assert message in refused(form(operator, answered, params))[where]


@pytest.mark.parametrize("operator", [COMPUTE, RANK])
def test_it_is_delegated_by_default_above_a_size(answered, operator, monkeypatch):
    assert is_delegated_by_default(operator, answered) is False
    monkeypatch.setattr(fo.Dataset, "__len__", lambda _: 100_000)
    assert is_delegated_by_default(operator, answered) is True


# ---- what they answer ----


def test_agreement_is_what_the_library_answers(answered):
    found = run(COMPUTE, answered, bootstrap=50)
    own = kf.compute_label_agreement(answered, "own", raters=RATERS, bootstrap=50)
    assert found["least_agreed"] == own.metrics["least_agreed"]
    row = own.metrics["least_agreed"][0]
    assert f"| label | {row['free_marginal']:#.3g} [" in found["text"]
    assert (
        "**3 of 6 images are in dispute** (`labels_disputed`; agreement of each image: `labels_agreement`)"
        in (found["text"])
    )
    assert json.loads(json.dumps(found)) == found


def test_groups_are_typed():
    samples = [
        sample(0, raters=["ann", "bob"], ann=several(["in", "sun"]), bob=several(["in"])),
        sample(1, raters=["ann", "bob"], ann=several(["in", "out"]), bob=several(["out", "sun"])),
    ]
    dataset = data_set(samples)
    typed = run(COMPUTE, dataset, groups="place: in, out", bootstrap=0)
    own = kf.compute_label_agreement(
        dataset, "own", raters=("ann", "bob"), groups={"place": ["in", "out"]}, bootstrap=0
    )
    assert typed["least_agreed"] == own.metrics["least_agreed"]
    assert "1 answer broke a group, with none or several of its labels: ann 1." in typed["text"]


def test_a_ranking_is_what_the_library_answers(answered):
    found = run(RANK, answered, tree="pet: cat, dog; bird: owl")
    tree = {"cat": "pet", "dog": "pet", "owl": "bird"}
    own = kf.rank_systems(answered, "own", systems=["net", "svm"], raters=RATERS, tree=tree)
    assert found["measures"] == own.metrics["measures"]
    assert f"**{ranking_title(own.result.rankings['AUC'])}** (AUC)" in found["text"]
    assert "(ontology score)" in found["text"]


@pytest.mark.parametrize(("operator", "kind"), [(COMPUTE, "image_labels"), (RANK, "ranking")])
def test_the_form_can_be_sent_as_it_comes(answered, operator, kind):
    params = send(operator, answered)
    assert kf.list_runs(answered, kind) == [params["run_key"]]


@pytest.mark.parametrize("operator", [COMPUTE, RANK])
def test_the_app_gets_progress_the_panel_and_a_summary(answered, operator):
    operations = stream(operator, answered, defaults(form(operator, answered)))
    progress = shares(operations)
    assert progress == sorted(progress)
    assert (progress[0], progress[-1]) == (0.0, 1.0)
    assert [given["name"] for name, given in operations if name == "open_panel"] == ["labels"]
    (summary,) = summaries(operations)
    assert "Nothing was written" not in summary


def test_what_cannot_be_computed_is_an_error():
    dataset = data_set([sample(0, ann=label("cat")), sample(1, bob=label("cat"))])
    with pytest.raises((ExecutionError, ValueError)) as error:
        run(COMPUTE, dataset)
    assert "expected an image that two raters labelled, got none" in last_line(error)
    operations = stream(COMPUTE, dataset, defaults(form(COMPUTE, dataset)))
    (summary,) = summaries(operations)
    assert "Nothing was written" in summary
    assert dataset.list_runs() == []
    assert not dataset.has_field("labels_agreement")


def test_a_run_can_be_deleted_from_its_form(answered):
    run(COMPUTE, answered, bootstrap=0)
    assert (
        "'labels_agreement' and 'labels_disputed' on samples" in form("delete_run", answered)["what"].view.description
    )
    run("delete_run", answered, run_key="labels")
    answered.reload()
    assert kf.list_runs(answered) == []
    assert not answered.has_field("labels_disputed")
