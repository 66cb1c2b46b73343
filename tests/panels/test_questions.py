"""Questions, teams and rankings of classifiers in the workbench: numbers, where clicks lead, and the next form."""

from __future__ import annotations

from typing import Any

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core._agreement import band
from kalos_core.fiftyone.kinds.labelled import view_of_difference
from tests.fiftyone_bridge.quiz import RATERS, quiz, sample, several
from tests.operators.calls import data_set
from tests.panels.operations import made_again, names, opened, prompted, sample_of, samples_of
from tests.plugin import Panel
from tests.tiers import first

GRADES = {"metric": "ordinal", "order": ["dog", "owl", "cat"]}


@pytest.fixture(scope="module")
def answered() -> fo.Dataset:
    """Six images, three raters and two classifiers, with a run and a ranking."""
    dataset = data_set(quiz)
    kf.compute_label_agreement(dataset, "labels", raters=RATERS, bootstrap=50)
    kf.rank_systems(dataset, "ranking", systems=["net", "svm"], raters=RATERS)
    return dataset


# ---- questions ----


def test_before_any_run_a_section_invites(answered: fo.Dataset) -> None:
    dataset = data_set(quiz)
    kf.rank_systems(dataset, "ranking", systems=["net", "svm"], raters=RATERS)
    assert {"bump", "tau"} <= set(opened(dataset, "Ranking").shown)  # alone
    panel = opened(dataset, "Questions")
    assert "Nothing is computed yet" in panel.text()
    assert prompted(panel.send("make"))[0] == "compute_label_agreement"
    panel = opened(dataset, "Teams")
    assert "No teams are compared yet" in panel.text()
    assert prompted(panel.send("make")) == ("compute_label_agreement", {"compare_teams": True})
    kf.compute_label_agreement(dataset, "labels", raters=RATERS, bootstrap=0)
    kf.delete_run(dataset, "ranking")
    panel = opened(dataset, "Ranking")
    assert "No classifiers are ranked yet" in panel.text()
    assert prompted(panel.send("make"))[0] == "rank_systems"
    assert "No teams are compared yet" in opened(answered, "Teams").text()


def test_coefficients_lead_to_disputes(answered: fo.Dataset) -> None:
    panel = opened(answered, "Questions")
    details = kf.load_details(answered, "labels").details
    assert "**3 in dispute**" in panel.text()
    (shown,) = panel.rows("questions")
    cohen = details.agreement.cohen[0]
    assert shown["cohen"] == f"{cohen:.2f}\n{band(cohen)}"
    assert panel.data["kappas"][0]["x"] == details.agreement.free_marginal.tolist()
    ids = answered.values("id")
    for method, params in (("questions_click_kappa", {"y": 0}), ("questions_click_row", {"row": 0})):
        found = samples_of(answered, panel.send(method, **params))
        assert (set(found), found[2]) == ({ids[5], ids[3], ids[1]}, ids[1])  # the least agreed first
    assert panel.grids[-1]["text"] == "3 images whose answers to label differ"
    panel = opened(answered, "Questions", "Concepts")
    assert panel.state["concept_names"][0] == details.majority.concepts[details.majority.concept_chosen.argmin()]
    owl = panel.state["concept_names"].index("owl")
    assert samples_of(answered, panel.send("questions_click_concept", y=owl)) == [ids[5]]


def test_images_in_dispute(answered: fo.Dataset) -> None:
    panel = opened(answered, "Questions", "Images")
    ids = answered.values("id")
    assert [row["answers"] for row in panel.rows("worst")] == ["cat 1, dog 1, owl 1", "cat 1, dog 1", "cat 2, dog 1"]
    found = samples_of(answered, panel.send("questions_show_disputes"))
    assert (set(found), found[2]) == ({ids[5], ids[3], ids[1]}, ids[1])
    assert sample_of(panel.send("questions_click_image", row=0)) == ids[5]
    dots = [sample_of(panel.send("questions_click_dot", y=place)) for place in range(3)]
    assert sorted(dots) == sorted([ids[5], ids[3], ids[1]])
    assert [answered[key].filename for key in dots] == panel.data["images"][0]["customdata"]


def test_raters_and_their_differences(answered: fo.Dataset) -> None:
    panel = opened(answered, "Questions", "Raters")
    ids = answered.values("id")
    assert samples_of(answered, panel.send("questions_click_accuracy", y=0, x=1)) == [ids[3], ids[5]]
    assert samples_of(answered, panel.send("questions_click_accuracy", y=3, x=2)) == [ids[1]]
    assert names(panel.send("questions_click_accuracy", y=1, x=1)) == []


def test_who_is_right(answered: fo.Dataset) -> None:
    kf.compute_label_agreement(answered, "judged", raters=RATERS, bootstrap=0, truth="weighted")
    panel = opened(answered, "Questions", "Who is right")
    (truth,) = kf.load_details(answered, "judged").details.truth
    assert "`judged_truth`" in panel.text()
    assert "Fewer than 3 answers an image" in panel.text()  # 15 of 6
    assert "Do not use it" not in panel.text()
    ids = np.array(answered.values("id"))
    order = np.lexsort((ids, np.array(answered.values("judged_confidence"))))
    assert samples_of(answered, panel.send("questions_show_least_sure")) == ids[order].tolist()
    expected = view_of_difference(answered, "judged", RATERS[int(truth.skill.argmin())], "truth").values("id")
    assert samples_of(answered, panel.send("questions_click_skill", y=0)) == expected != []
    for judge, who in (("2", "bob"), ("0", "Raters")):
        panel.send("questions_change_judge", value=judge)
        assert panel.state["titles"]["confusion"][0].startswith(who)
    # six images are too few for three classes: one is found in another's role
    run = kf.compute_label_agreement(answered, "confused", raters=RATERS, bootstrap=0, truth="confusion")
    assert run.details.truth[0].overturned == 2
    said = "**Do not use it:** 2 images have another label than all of the raters gave"
    assert said in opened(answered, "Questions", "Who is right").text()


# ---- the next form is filled in as the run was made ----


@pytest.mark.parametrize(
    "options",
    first(
        [
            {**GRADES, "quorum": 0.6, "classes": ("cat", "dog", "owl"), "teams": {"a": ["ann"], "b": ["bob", "cid"]}},
            {"metric": {"label": "ordinal"}, "order": {"label": GRADES["order"]}, "weights": "flat", "width": 0.2},
            {"raters": ("ann", "bob"), "reference": "cid", "reject_broken": True, "least_accuracy": 0.1},
        ],
        2,
    ),
)
def test_the_form_of_who_is_right_opens_as_the_run_was_made(answered: fo.Dataset, options: dict[str, Any]) -> None:
    """Sent as it is, it makes the same run with the estimate."""
    run = kf.compute_label_agreement(answered, "judged", **{"raters": RATERS, "bootstrap": 5, **options})
    operator, filled = prompted(opened(answered, "Questions", "Who is right").send("questions_estimate"))
    again = made_again(answered, operator, filled)
    assert again.settings == {**run.settings, "truth": "confusion"}
    assert again.selection == run.selection


# ---- teams ----


def test_teams_a_reference_and_rejected_answers() -> None:
    answers = [(["in", "sun"], ["in"], ["in"]), (["in", "out"], ["out"], ["out"])]
    dataset = data_set(
        sample(number, raters=["ann", "bob"], ann=several(ann), bob=several(bob), gold=several(gold))
        for number, (ann, bob, gold) in enumerate(answers)
    )
    options = {"groups": {"place": ["in", "out"]}, "teams": {"experts": ["ann"], "crowd": ["bob"]}}
    run = kf.compute_label_agreement(
        dataset, "labels", raters=("ann", "bob"), reference="gold", reject_broken=True, bootstrap=0, **options
    )
    panel = opened(dataset, "Questions", "Raters")
    assert "1 of 4 answers is rejected (25\xa0%)" in panel.text()
    assert "nearest to gold is bob (1.00)" in panel.text()
    assert samples_of(dataset, panel.send("questions_click_accuracy", y=3, x=0)) == dataset.values("id")
    panel = opened(dataset, "Teams")
    assert "experts and crowd differ on 0 of 2 questions" in panel.text()
    clicked = samples_of(dataset, panel.send("teams_click_bar", idx=0))
    assert set(clicked) == set(kf.view_of_disputes(dataset, "labels", question="place").values("id"))
    assert made_again(dataset, *prompted(panel.send("make"))).settings == run.settings
    panel = opened(dataset, "Teams")
    panel.send("teams_click_row", row=1)
    assert panel.state["team_question"] == "sun"
    assert "sun: no clear difference" in panel.text()
    panel.send("teams_change_team_question", value="place")
    assert "place: no clear difference" in panel.text()


# ---- rankings ----


def test_rankings_lead_to_what_references_answered_differently(answered: fo.Dataset) -> None:
    panel = opened(answered, "Ranking")
    rankings = kf.load_details(answered, "ranking").details.rankings
    assert "Rankings are concordant under 0 of 6 pairs of references" in panel.text()
    assert "Left out under some reference, which finds them nowhere or everywhere: owl" in panel.text()
    panel.send("ranking_change_measure", value="EER")
    assert panel.data["bump"][0]["y"] == rankings["EER"].ranks[:, 0].tolist()
    ids = answered.values("id")
    assert samples_of(answered, panel.send("ranking_click_reference", x=2)) == [ids[1]]
    assert samples_of(answered, panel.send("ranking_click_tau", x=0, y=1)) == [ids[3], ids[5]]
    assert names(panel.send("ranking_click_reference", x=3)) == []
    kf.rank_systems(answered, "newer", systems=["net", "svm"], raters=RATERS[:2])
    panel.send("reload", section="Ranking")
    assert (panel.state["run"], panel.state["references"]) == ("newer", [*RATERS[:2], "majority"])
    kf.delete_run(answered, "newer")
    panel.load()
    assert (panel.state["run"], panel.state["references"]) == ("ranking", [*RATERS, "majority"])


def test_labels_that_are_gone_are_reported_and_a_click_on_them_is_a_problem_with_a_way_back() -> None:
    dataset = data_set(quiz)
    kf.compute_label_agreement(dataset, "labels", raters=RATERS, bootstrap=0)
    dataset.delete_sample_field("ann")
    panel: Panel = opened(dataset, "Questions")
    assert "6 images were edited or deleted since this run" in panel.text()
    panel.send("questions_click_accuracy", y=0, x=1)
    assert "NoneType" in panel.state["problem"]  # which the view shows, above what was there
