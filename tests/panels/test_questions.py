"""Questions, teams and rankings of classifiers in the workbench: what is shown of runs, and what a click leads to."""

from __future__ import annotations

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core._agreement import verdict
from kalos_core.figures import accuracy_title, band, ranking_title, skill_title, tau_title
from panels.parts.layout import in_two_lines
from tests.fiftyone_bridge.quiz import RATERS, label, quiz, quiz_in_one_field, sample, several
from tests.panels.operations import given, names, opened, samples_of
from tests.plugin import Panel, defaults, form, refused, stream


@pytest.fixture(scope="module")
def answered():
    """Six images, three raters and two classifiers, with a run and a ranking."""
    dataset = fo.Dataset()
    dataset.add_samples(quiz(), progress=False)
    kf.compute_label_agreement(dataset, "labels", raters=RATERS, bootstrap=50)
    kf.rank_systems(dataset, "ranking", systems=["net", "svm"], raters=RATERS)
    yield dataset
    dataset.delete()


@pytest.fixture(autouse=True)
def nothing_stays(answered):
    before = set(fo.list_datasets())
    yield
    for name in set(fo.list_datasets()) - before:
        fo.delete_dataset(name)
    for key in kf.list_runs(answered):
        if key not in ("labels", "ranking"):
            kf.delete_run(answered, key)


def asked(panel, method="make"):
    return given(panel.send(method), "prompt_user_for_operation")


def test_before_any_run_it_invites():
    dataset = fo.Dataset()
    dataset.add_samples(quiz(), progress=False)
    kf.rank_systems(dataset, "ranking", systems=["net", "svm"], raters=RATERS)
    panel = opened(dataset, "Questions")
    assert "Nothing is computed yet" in panel.text()
    assert asked(panel)["operator_uri"].endswith("compute_label_agreement")
    panel = opened(dataset, "Teams")
    assert "No teams are compared yet" in panel.text()
    assert asked(panel)["params"] == {"compare_teams": True}
    kf.compute_label_agreement(dataset, "labels", raters=RATERS, bootstrap=0)
    kf.delete_run(dataset, "ranking")
    panel = opened(dataset, "Ranking")
    assert "No classifiers are ranked yet" in panel.text()
    assert asked(panel)["operator_uri"].endswith("rank_systems")


def test_a_ranking_alone_is_shown():
    dataset = fo.Dataset()
    dataset.add_samples(quiz(), progress=False)
    kf.rank_systems(dataset, "ranking", systems=["net", "svm"], raters=RATERS)
    assert {"bump", "tau"} <= set(opened(dataset, "Ranking").shown)


def test_sections_are_shown_where_the_data_have_them(answered):
    panel = Panel("raters", answered).load()
    assert {"Questions", "Teams", "Ranking"} <= set(panel.state["sections"])
    assert not {"Masks", "Truth", "Noise"} & set(panel.state["sections"])


def test_the_finding_and_all_coefficients(answered):
    panel = opened(answered, "Questions")
    found = kf.load_details(answered, "labels").details.agreement
    said = verdict(found.free_marginal[0], found.free_marginal_interval[0])
    assert f"{said}: kappa {found.free_marginal[0]:.2f}" in panel.text()
    assert "**3 in dispute**" in panel.text()
    (shown,) = panel.rows("questions")
    assert shown["cohen"] == f"{found.cohen[0]:.2f}\n{band(found.cohen[0])}"
    assert "Cohen's κ" not in panel.text()
    panel.send("explain", name="kappas")
    assert "Cohen's κ" in panel.text()
    assert panel.data["kappas"][0]["x"] == found.free_marginal.tolist()
    ids = answered.values("id")
    for method, params in (("questions_click_kappa", {"y": 0}), ("questions_click_row", {"row": 0})):
        operations = panel.send(method, **params)
        found = samples_of(answered, operations)
        assert (set(found), found[2]) == ({ids[5], ids[3], ids[1]}, ids[1])  # the least agreed first
    assert panel.state["in_grid"] == "3 images whose answers to label differ"


def test_concepts_lead_to_their_disputes(answered):
    panel = opened(answered, "Questions", "Concepts")
    majority = kf.load_details(answered, "labels").details.majority
    assert panel.state["concept_names"][0] == majority.concepts[majority.concept_chosen.argmin()]
    owl = panel.state["concept_names"].index("owl")
    assert samples_of(answered, panel.send("questions_click_concept", y=owl)) == [answered.values("id")[5]]


def test_images_in_dispute(answered):
    panel = opened(answered, "Questions", "Images")
    ids = answered.values("id")
    assert [row["answers"] for row in panel.rows("worst")] == ["cat 1, dog 1, owl 1", "cat 1, dog 1", "cat 2, dog 1"]
    found = samples_of(answered, panel.send("questions_show_disputes"))
    assert (set(found), found[2]) == ({ids[5], ids[3], ids[1]}, ids[1])
    assert given(panel.send("questions_click_image", row=0), "open_sample")["id"] == ids[5]
    dots = [given(panel.send("questions_click_dot", y=place), "open_sample")["id"] for place in range(3)]
    assert sorted(dots) == sorted([ids[5], ids[3], ids[1]])
    files = panel.data["images"][0]["customdata"]
    assert [answered[key].filename for key in dots] == files


def test_raters_and_their_differences(answered):
    panel = opened(answered, "Questions", "Raters")
    accuracy = kf.load_details(answered, "labels").details.accuracy
    assert accuracy_title(accuracy.raters.tolist(), accuracy.accuracy) in panel.text()
    ids = answered.values("id")
    assert samples_of(answered, panel.send("questions_click_accuracy", y=0, x=1)) == [ids[3], ids[5]]
    assert samples_of(answered, panel.send("questions_click_accuracy", y=3, x=2)) == [ids[1]]
    assert names(panel.send("questions_click_accuracy", y=1, x=1)) == []
    assert "agree least beyond chance (Cohen's κ " in panel.text()


def test_the_question_is_chosen():
    samples = [
        sample(0, raters=["ann", "bob"], ann=several(["in", "sun"]), bob=several(["in"])),
        sample(1, raters=["ann", "bob"], ann=several(["in", "out"]), bob=several(["out", "sun"])),
    ]
    dataset = fo.Dataset()
    dataset.add_samples(samples, progress=False)
    kf.compute_label_agreement(dataset, "labels", raters=("ann", "bob"), groups={"place": ["in", "out"]}, bootstrap=0)
    panel = opened(dataset, "Questions")
    assert "**1 answer broke a group** (none or several of its labels): ann 1" in panel.text()
    assert len(panel.rows("questions")) == 2
    panel.send("choose_page", value="Over time")
    assert [choice["value"] for choice in panel.shown["question"]["view"]["choices"]] == ["place", "sun"]
    panel.send("questions_change_question", value="sun")
    assert panel.state["titles"]["curve"][0].startswith("Agreement 0.00")


def test_who_is_right_is_estimated_on_demand(answered):
    panel = opened(answered, "Questions", "Who is right")
    assert "Not estimated yet" in panel.text()
    assert "least_sure" not in panel.shown
    assert asked(panel, "questions_estimate")["params"] == {
        "estimate": True, "exclusive": True, "metric": "nominal", "raters": list(RATERS), "bootstrap": 50,
        "quorum": 0.75, "width": 0.1, "weights": "annotations_m1", "more": False, "reject": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        {"metric": "ordinal", "order": ["dog", "owl", "cat"], "quorum": 0.6, "classes": ("cat", "dog", "owl")},
        {"metric": {"label": "ordinal"}, "order": {"label": ["dog", "owl", "cat"]}, "weights": "flat", "width": 0.2},
        {"teams": {"a": ["ann"], "b": ["bob", "cid"]}, "least_accuracy": 0.1, "bootstrap": 7},
        {"raters": ("ann", "bob"), "reference": "cid", "reject_broken": True},
    ],
)
def test_the_form_of_who_is_right_opens_as_the_run_was_made(answered, options):
    """Sent as it is, it makes the same run with the estimate."""
    run = kf.compute_label_agreement(answered, "judged", **{"raters": RATERS, "bootstrap": 5, **options})
    panel = opened(answered, "Questions", "Who is right")
    again = same_again(answered, asked(panel, "questions_estimate")["params"])
    assert again.settings == {**run.settings, "truth": "confusion"}
    assert again.selection == run.selection


def same_again(dataset, filled):
    """The run of a form that a panel filled in, sent as it is."""
    inputs = form("compute_label_agreement", dataset, filled)
    assert refused(inputs) == {}
    assert set(filled) <= set(inputs)
    stream("compute_label_agreement", dataset, defaults(inputs) | filled | {"run_key": "again"})
    return kf.load_metrics(dataset, "again")


GRADES = ["none", "mild", "severe"]


def graded(*rows):
    """Two raters; of each image a grade, a size, and the sun if it shines."""
    dataset = fo.Dataset()
    dataset.add_samples(
        [
            sample(number, raters=["ann", "bob"], ann=several(ann), bob=several(bob))
            for number, (ann, bob) in enumerate(rows)
        ],
        progress=False,
    )
    return dataset


GRADED = [
    (["none", "1"], ["mild", "1", "sun"]),
    (["mild", "2", "sun"], ["mild", "4", "sun"]),
    (["severe", "4"], ["severe", "4"]),
]
PAIR = {"raters": ("ann", "bob"), "bootstrap": 5}
GRADE_AND_SIZE = {"grade": GRADES, "size": ["1", "2", "4"]}


@pytest.mark.parametrize(
    "options",
    [
        {"groups": GRADE_AND_SIZE},
        {"groups": None},
        {"groups": GRADE_AND_SIZE, "metric": {"size": "ratio"}},
        {"groups": GRADE_AND_SIZE, "metric": {"grade": "ordinal", "size": "interval"}, "order": {"grade": GRADES}},
        {"groups": {"grade": GRADES}, "metric": {"grade": "ordinal"}, "order": GRADES},
        {"groups": GRADE_AND_SIZE, "truth": "one_coin", "metric": {"size": "ordinal"}},
    ],
)
def test_groups_and_metrics_by_question_are_those_of_the_run(options):
    dataset = graded(*GRADED)
    run = kf.compute_label_agreement(dataset, "labels", **PAIR, **options)
    again = same_again(dataset, asked(opened(dataset, "Teams"))["params"] | {"compare_teams": False})
    assert again.settings == run.settings
    assert again.selection == run.selection
    assert again.metrics == run.metrics


def test_an_order_by_question_of_what_is_ordinal_throughout_makes_the_same_numbers():
    """The form names the metric of each question then."""
    dataset = graded(*GRADED)
    options = {"groups": GRADE_AND_SIZE, "metric": "ordinal", "order": {"grade": GRADES}}
    run = kf.compute_label_agreement(dataset, "labels", **PAIR, **options)
    filled = asked(opened(dataset, "Teams"))["params"]
    assert filled["metrics"] == "grade: ordinal; size: ordinal"
    again = same_again(dataset, filled | {"compare_teams": False})
    assert again.metrics == run.metrics
    found, expected = (kf.load_details(dataset, key).details.agreement for key in ("again", "labels"))
    np.testing.assert_array_equal(found.alpha, expected.alpha)


def test_raters_in_one_field_are_those_of_the_run():
    dataset = fo.Dataset()
    dataset.add_samples(quiz_in_one_field(), progress=False)
    how = {"field": "answers", "raters": ("ann", "bob"), "bootstrap": 5}
    run = kf.compute_label_agreement(dataset, "labels", **how)
    again = same_again(dataset, asked(opened(dataset, "Questions", "Who is right"), "questions_estimate")["params"])
    assert again.selection == run.selection


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": 3, "assigned": "labelled"}, "seed=3, assigned='labelled', which the form does not ask for"),
        ({"groups": {"a: b": ["cat", "dog"]}}, "expected names without commas, semicolons and colons, got 'a: b'"),
    ],
)
def test_what_the_form_cannot_take_is_said(answered, options, message):
    kf.compute_label_agreement(answered, "judged", raters=RATERS, bootstrap=5, **options)
    panel = opened(answered, "Questions", "Who is right")
    assert "prompt_user_for_operation" not in dict(panel.send("questions_estimate"))
    assert message in panel.text()


def test_who_is_right(answered):
    kf.compute_label_agreement(answered, "judged", raters=RATERS, bootstrap=0, truth="weighted")
    panel = opened(answered, "Questions", "Who is right")
    (truth,) = kf.load_details(answered, "judged").details.truth
    assert skill_title(list(RATERS), truth.skill) in panel.text()
    assert "`judged_truth`" in panel.text()
    assert "Fewer than 3 answers an image" in panel.text()  # 15 of 6
    assert "Do not use it" not in panel.text()
    found = samples_of(answered, panel.send("questions_show_least_sure"))
    order = np.lexsort((np.array(answered.values("id")), np.array(answered.values("judged_confidence"))))
    assert found == [answered.values("id")[at] for at in order]
    least = int(truth.skill.argmin())
    expected = kf.view_of_difference(answered, "judged", RATERS[least], "truth").values("id")
    assert samples_of(answered, panel.send("questions_click_skill", y=0)) == expected != []
    assert panel.state["titles"]["confusion"][0].startswith("Raters")
    panel.send("questions_change_judge", value="2")
    assert panel.state["titles"]["confusion"][0].startswith("bob")
    panel.send("questions_change_judge", value="0")
    assert panel.state["titles"]["confusion"][0].startswith("Raters")


def test_labels_that_all_raters_contradict_are_said(answered):
    """Six images are too few for three classes: one is found in another's role."""
    run = kf.compute_label_agreement(answered, "judged", raters=RATERS, bootstrap=0, truth="confusion")
    assert run.details.truth[0].overturned == 2
    assert (
        "**Do not use it:** 2 images have another label than all of the raters gave"
        in opened(answered, "Questions", "Who is right").text()
    )


def test_teams_a_reference_and_rejected_answers():
    samples = [
        sample(0, raters=["ann", "bob"], ann=several(["in", "sun"]), bob=several(["in"]), gold=several(["in"])),
        sample(1, raters=["ann", "bob"], ann=several(["in", "out"]), bob=several(["out"]), gold=several(["out"])),
    ]
    dataset = fo.Dataset()
    dataset.add_samples(samples, progress=False)
    kf.compute_label_agreement(
        dataset,
        "labels",
        raters=("ann", "bob"),
        reference="gold",
        groups={"place": ["in", "out"]},
        teams={"experts": ["ann"], "crowd": ["bob"]},
        reject_broken=True,
        bootstrap=0,
    )
    panel = opened(dataset, "Questions", "Raters")
    assert "1 of 4 answers is rejected (25\xa0%)" in panel.text()
    assert "nearest to gold is bob (1.00)" in panel.text()
    assert samples_of(dataset, panel.send("questions_click_accuracy", y=3, x=0)) == dataset.values("id")
    panel = opened(dataset, "Teams")
    assert "experts and crowd differ on 0 of 2 questions" in panel.text()
    assert "place: no clear difference" in panel.text()
    clicked = samples_of(dataset, panel.send("teams_click_bar", idx=0))
    assert set(clicked) == set(kf.view_of_disputes(dataset, "labels", question="place").values("id"))
    assert same_again(dataset, asked(panel)["params"]).settings == kf.load_metrics(dataset, "labels").settings
    panel = opened(dataset, "Teams")
    panel.send("teams_click_row", row=1)
    assert panel.state["team_question"] == "sun"
    assert "sun: no clear difference" in panel.text()
    panel.send("teams_change_team_question", value="place")
    assert "place: no clear difference" in panel.text()


def test_alpha_says_its_metric():
    dataset = fo.Dataset()
    dataset.add_samples(quiz(), progress=False)
    order = ["dog", "owl", "cat"]
    run = kf.compute_label_agreement(dataset, "graded", raters=RATERS, metric="ordinal", order=order, bootstrap=0)
    (shown,) = opened(dataset, "Questions").rows("questions")
    alpha = run.details.agreement.alpha[0]
    assert shown["alpha"] == f"{alpha:.2f}\N{NO-BREAK SPACE}ordinal\n{band(alpha)}"
    assert "ordinal" not in shown["fleiss"]


def test_grades_have_their_coefficients(answered):
    dataset = fo.Dataset()
    dataset.add_samples(quiz(), progress=False)
    order = ["dog", "owl", "cat"]
    run = kf.compute_label_agreement(dataset, "graded", raters=RATERS, metric="ordinal", order=order, bootstrap=20)
    panel = opened(dataset, "Questions")
    (row,) = panel.rows("grades")
    (found,) = run.details.grades
    expected = {name: in_two_lines(*of, 2) for name, of in zip(("alpha", "ac", "kappa"), zip(
        found.weighted.value, found.weighted.interval, strict=True), strict=True)}  # fmt: skip
    single = in_two_lines(found.correlation.value[0], found.correlation.interval[0], 2)
    assert row == {"question": "label", **expected, "icc": f"ICC(1,1)\n{single}"}  # not all graded all images
    clicked = panel.send("questions_click_grades", row=0)
    assert samples_of(dataset, clicked) == kf.view_of_disputes(dataset, "graded", question="label").values("id")
    assert "grades" not in opened(answered, "Questions").shown


def test_grades_that_are_all_the_same_have_their_reason():
    dataset = fo.Dataset()
    same = {name: label("3") for name in ("ann", "bob")}
    dataset.add_samples([sample(number, raters=["ann", "bob"], **same) for number in range(3)], progress=False)
    kf.compute_label_agreement(dataset, "graded", raters=("ann", "bob"), metric="interval", bootstrap=0)
    (row,) = opened(dataset, "Questions").rows("grades")
    assert row["ac"] == "all grades are the same, or of too few raters"
    assert "undefined" not in row["icc"]


def test_without_teams_it_says_how_to_compare_some(answered):
    assert "No teams are compared yet" in opened(answered, "Teams").text()


def test_coefficients_that_are_undefined_have_their_reason():
    dataset = fo.Dataset()
    labels = {"ann": several(["sun"]), "bob": several(["sun"])}
    dataset.add_samples([sample(number, raters=["ann", "bob"], **labels) for number in range(2)], progress=False)
    kf.compute_label_agreement(dataset, "labels", raters=("ann", "bob"), groups=None, bootstrap=0)
    panel = opened(dataset, "Questions")
    (row,) = panel.rows("questions")
    assert row["fleiss"] == "undefined\nundefined"
    assert row["reason"].startswith("Fleiss' kappa: all answers are the same; Cohen's kappa: no two raters")


def test_rankings(answered):
    panel = opened(answered, "Ranking")
    rankings = kf.stored_rankings(answered, "ranking")
    assert ranking_title(rankings["AUC"]) in panel.text()
    references = rankings["AUC"].truths.tolist()
    assert tau_title(references, rankings["AUC"].tau) in panel.text()
    assert "Rankings are concordant under 0 of 6 pairs of references" in panel.text()
    assert "Left out under some reference, which finds them nowhere or everywhere: owl" in panel.text()
    panel.send("ranking_change_measure", value="EER")
    assert panel.data["bump"][0]["y"] == rankings["EER"].ranks[:, 0].tolist()
    ids = answered.values("id")
    assert samples_of(answered, panel.send("ranking_click_reference", x=2)) == [ids[1]]
    assert samples_of(answered, panel.send("ranking_click_tau", x=0, y=1)) == [ids[3], ids[5]]
    assert names(panel.send("ranking_click_reference", x=3)) == []


def test_a_new_ranking_is_shown_at_once(answered):
    panel = opened(answered, "Questions")
    kf.rank_systems(answered, "newer", systems=["net", "svm"], raters=RATERS[:2])
    panel.send("reload", section="Ranking")
    assert (panel.state["run"], panel.state["references"]) == ("newer", [*RATERS[:2], "majority"])
    kf.delete_run(answered, "newer")
    panel.load()
    assert (panel.state["run"], panel.state["references"]) == ("ranking", [*RATERS, "majority"])


def test_labels_that_are_gone_are_reported_and_a_click_on_them_is_a_problem_with_a_way_back():
    dataset = fo.Dataset()
    dataset.add_samples(quiz(), progress=False)
    kf.compute_label_agreement(dataset, "labels", raters=RATERS, bootstrap=0)
    dataset.delete_sample_field("ann")
    panel = opened(dataset, "Questions")
    assert "6 images were edited or deleted since this run" in panel.text()
    panel.send("questions_click_accuracy", y=0, x=1)
    assert set(panel.shown) == {"failed", "retry"}
