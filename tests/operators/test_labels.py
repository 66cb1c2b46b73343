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
    assert "own_group_0" in inputs
    assert "own_group_0" not in form(COMPUTE, dataset, {"exclusive": True})


def scenes():
    """Twelve images on which two raters chose one of day and night, one of in and out, and sometimes the sun."""
    labels = [["day", "in", "sun"], ["day", "out"], ["night", "in"], ["night", "out", "sun"]] * 3
    return [
        sample(n, raters=["ann", "bob"], ann=several(chosen), bob=several(chosen[:2]), gold=several(chosen[:2]))
        for n, chosen in enumerate(labels)
    ]


def test_groups_are_suggested_and_ticked():
    dataset = data_set(scenes())
    given = {"raters": ["ann", "bob"]}
    inputs = form(COMPUTE, dataset, given)
    shown = {name: entry.view.label for name, entry in inputs.items() if name.startswith("group_")}
    assert shown == {"group_0": "day, night", "group_1": "in, out"}
    assert inputs["group_0"].view.description == "24 of 24 answers chose one"
    assert inputs["group_0"].default is True
    assert [choice.value for choice in inputs["own_group_0"].view.choices] == ["sun"]
    ticked = run(COMPUTE, dataset, run_key="ticked", bootstrap=0, **given, group_0=True, group_1=False)
    assert kf.load_metrics(dataset, "ticked").settings["groups"] == [
        {"name": "day / night", "labels": ["day", "night"]}
    ]
    assert ticked["questions"] == 4
    suggested = kf.compute_label_agreement(dataset, "own", groups="suggested", bootstrap=0, **given)
    assert suggested.details.agreement.question.tolist() == ["day / night", "in / out", "sun"]
    by_text = run(COMPUTE, dataset, run_key="asked", groups="suggested", bootstrap=0, **given)
    assert by_text["questions"] == 3
    more = form(COMPUTE, dataset, {**given, "group_1": False, "own_group_0": ["in", "out"]})
    assert "own_group_1" in more
    again = {**given, "own_group_0": ["sun"], "own_group_1": ["sun"]}
    assert "'sun' is in another group" in refused(form(COMPUTE, dataset, again))["own_group_1"]
    own = run(COMPUTE, dataset, run_key="put", bootstrap=0, **given, exclusive=False, own_group_0=["in", "out"])
    assert own["questions"] == 4


def test_groups_are_typed_with_their_names():
    dataset = data_set(scenes())
    given = {"raters": ["ann", "bob"], "exclusive": False, "bootstrap": 0}
    assert "groups" not in form(COMPUTE, dataset, given)
    inputs = form(COMPUTE, dataset, {**given, "named": True})
    assert "groups" in inputs
    assert not {"group_0", "own_group_0"} & set(inputs)
    typed = {**given, "named": True, "groups": "place: in, out"}
    run(COMPUTE, dataset, run_key="typed", **typed)
    assert kf.load_metrics(dataset, "typed").settings["groups"] == [{"name": "place", "labels": ["in", "out"]}]
    run(COMPUTE, dataset, run_key="none", **{**typed, "groups": ""})
    assert kf.load_metrics(dataset, "none").settings["groups"] is None
    run(COMPUTE, dataset, run_key="ticked", **{**typed, "named": False}, group_0=True)
    assert [group["name"] for group in kf.load_metrics(dataset, "ticked").settings["groups"]] == ["day / night"]
    run(COMPUTE, dataset, run_key="unticked", **{**typed, "named": False})
    assert kf.load_metrics(dataset, "unticked").settings["groups"] is None


def test_the_same_labels_without_groups_are_refused_with_what_to_do():
    dataset = data_set(scenes())
    with pytest.raises((ExecutionError, ValueError)) as error:
        run(COMPUTE, dataset, raters=["ann", "bob"])
    assert "expected one label in an answer" in last_line(error)
    assert "pass groups='suggested'" in last_line(error)


def test_teams_rejection_and_known_truth_from_the_form():
    dataset = data_set(scenes())
    given = {"raters": ["ann", "bob"], "reference": "gold", "exclusive": False, "own_group_0": ["day", "night"]}
    teams = {"compare_teams": True, "first_team": ["ann"], "second_team": ["bob"], "second_name": "others"}
    rules = {"reject": True, "reject_broken": True, "least_accuracy": 0.1}
    assert refused(form(COMPUTE, dataset, {**given, **teams, **rules})) == {}
    both = {**given, "compare_teams": True, "first_team": ["ann"], "second_team": ["ann"]}
    assert "'ann' is in both teams" in refused(form(COMPUTE, dataset, both))["second_team"]
    found = run(COMPUTE, dataset, bootstrap=0, **given, **teams, **rules)
    details = kf.load_details(dataset, found["run_key"]).details
    assert (details.teams.first, details.teams.second) == ("experts", "others")
    # of twelve images with four questions, ann saw the sun on six where it is not
    assert details.accuracy.to_reference.tolist() == [42 / 48, 1.0]
    assert "0 of 24 answers are rejected" in found["text"]
    assert "nearest to gold is bob (1.00)" in found["text"]
    same = kf.compare_teams(
        dataset, "same", ["ann"], ["bob"], names=("experts", "others"), groups={"a": ["day", "night"]}, bootstrap=0
    )
    assert same.details.teams.kappa[0] == pytest.approx(details.teams.kappa[0], nan_ok=True)
    off = run(COMPUTE, dataset, run_key="off", bootstrap=0, **given, **(teams | {"compare_teams": False}))
    assert off["rejected"] == 0
    assert kf.load_details(dataset, "off").details.teams is None


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
        (COMPUTE, {"compare_teams": True}, "first_team", "A team needs a rater"),
        (COMPUTE, {"reject": True, "least_accuracy": 2}, "least_accuracy", "A number from 0 to 1"),
        (COMPUTE, {"quorum": 1.5}, "quorum", "A number from 0.01 to 1"),
        (COMPUTE, {"width": 0}, "width", "A number of at least 0.001"),
        (COMPUTE, {"bootstrap": -1}, "bootstrap", "A number of at least 0"),
        (COMPUTE, {"more": True, "min_confidence": 2}, "min_confidence", "A number from 0 to 1"),
        (COMPUTE, {"run_key": "not a key"}, "run_key", "expected a name of letters"),
        (COMPUTE, {"exclusive": False, "named": True, "groups": "cat, dog"}, "groups", "expected names with labels"),
        (COMPUTE, {"metric": "by question", "metrics": "label: odd"}, "metrics", "got 'odd'"),
        (COMPUTE, {"metric": "by question"}, "metrics", "expected one of nominal, ordinal, interval, ratio"),
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
    kappa = kf.load_details(answered, found["run_key"]).details.agreement.free_marginal
    assert kappa.tolist() == own.details.agreement.free_marginal.tolist()
    assert f"| label | {kappa[0]:.2f}\xa0[" in found["text"]
    assert (
        "**3 of 6 images are in dispute** (`labels_disputed`; agreement of each image: `labels_agreement`)"
        in (found["text"])
    )
    assert json.loads(json.dumps(found)) == found


def test_groups_are_given_as_text():
    samples = [
        sample(0, raters=["ann", "bob"], ann=several(["in", "sun"]), bob=several(["in"])),
        sample(1, raters=["ann", "bob"], ann=several(["in", "out"]), bob=several(["out", "sun"])),
    ]
    dataset = data_set(samples)
    typed = run(COMPUTE, dataset, groups="place: in, out", bootstrap=0)
    own = kf.compute_label_agreement(
        dataset, "own", raters=("ann", "bob"), groups={"place": ["in", "out"]}, bootstrap=0
    )
    typed_kappa = kf.load_details(dataset, typed["run_key"]).details.agreement.free_marginal
    assert typed_kappa.tolist() == own.details.agreement.free_marginal.tolist()
    assert "1 answer broke a group, with none or several of its labels: ann 1." in typed["text"]


def test_a_ranking_is_what_the_library_answers(answered):
    found = run(RANK, answered, tree="pet: cat, dog; bird: owl")
    tree = {"cat": "pet", "dog": "pet", "owl": "bird"}
    own = kf.rank_systems(answered, "own", systems=["net", "svm"], raters=RATERS, tree=tree)
    rankings = kf.stored_rankings(answered, found["run_key"])
    assert list(rankings) == list(own.details.rankings)
    for name, ranking in rankings.items():
        assert ranking.values.tolist() == own.details.rankings[name].values.tolist()
    assert "Rankings are concordant under 0 of 6 pairs of references" in found["text"]
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
    assert [given["name"] for name, given in operations if name == "open_panel"] == ["raters"]
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


# ---- the metric of alpha ----


def test_the_form_asks_for_an_order_of_grades(answered):
    assert "order" not in form(COMPUTE, answered)
    assert "order" in form(COMPUTE, answered, {"metric": "ordinal"})
    run(COMPUTE, answered, run_key="graded", metric="ordinal", order="dog, owl, cat", bootstrap=0)
    stored = kf.load_details(answered, "graded")
    assert (stored.settings["metric"], stored.settings["order"]) == ("ordinal", ["dog", "owl", "cat"])
    assert stored.details.agreement.metric.tolist() == ["ordinal"]
    text = run(COMPUTE, answered, run_key="again", metric="ordinal", order="label: dog, owl, cat", bootstrap=0)["text"]
    alpha = kf.load_details(answered, "again").details.agreement.alpha[0]
    assert f"{alpha:.3f}\N{NO-BREAK SPACE}ordinal" in text
    named = {"metric": "by question", "metrics": "label: ordinal", "bootstrap": 0}
    assert {"metrics", "order"} <= set(form(COMPUTE, answered, named))
    run(COMPUTE, answered, run_key="named", order="dog, owl, cat", **named)
    stored = kf.load_details(answered, "named")
    assert stored.settings["metric"] == [{"name": "label", "labels": ["ordinal"]}]
    assert stored.details.agreement.alpha[0] == alpha
    kf.delete_run(answered, "named")
    kf.delete_run(answered, "graded")
    kf.delete_run(answered, "again")
