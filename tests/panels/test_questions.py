"""Questions, teams and rankings of classifiers in the workbench: numbers, effects of clicks, and the next form."""

from __future__ import annotations

from typing import Any

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.kinds.labelled import view_of_difference
from kalos_core.results import plain_values
from tests.fiftyone_bridge.quiz import RATERS, label, quiz, sample, several
from tests.operators.calls import data_set
from tests.panels.operations import made_again, opened, prompted, sample_of, samples_of
from tests.tiers import first

GRADES = {"metric": "ordinal", "order": ["dog", "owl", "cat"]}


@pytest.fixture(scope="module")
def answered() -> fo.Dataset:
    """Return six images, three raters and two classifiers, with a run and a ranking."""
    dataset = data_set(quiz)
    kf.compute_label_agreement(dataset, "labels", raters=RATERS, bootstrap=50)
    kf.rank_systems(dataset, "ranking", systems=["net", "svm"], raters=RATERS)
    return dataset


# ---- questions ----


def test_before_any_run_a_section_invites(answered: fo.Dataset) -> None:
    dataset = data_set(quiz)
    kf.rank_systems(dataset, "ranking", systems=["net", "svm"], raters=RATERS)
    assert opened(dataset, "Ranking").record["page"] == "Classifiers"  # alone
    for section in ("Questions", "Teams"):
        assert opened(dataset, section).invitation["operator"] == "compute_label_agreement"
    kf.compute_label_agreement(dataset, "labels", raters=RATERS, bootstrap=0)
    kf.delete_run(dataset, "ranking")
    assert opened(dataset, "Ranking").invitation["operator"] == "rank_systems"
    panel = opened(answered, "Teams")
    assert panel.record == {"title": "", "names": [], "rows": []}
    assert prompted(panel.act("compare"))[1]["compare_teams"] is True  # type: ignore[index]


def test_coefficients_lead_to_disputes(answered: fo.Dataset) -> None:
    panel = opened(answered, "Questions")
    shown, details = panel.record["shown"], kf.load_details(answered, "labels").details
    assert shown["over"].startswith("15 answers of 3 raters to 6 images; 3 are in dispute")
    (question,) = shown["questions"]
    found = details.agreement
    for name in ("fleiss", "ac1", "alpha", "cohen", "spa"):
        assert question[name] == getattr(found, name)[0]
    assert question["kappa"]["value"] == found.free_marginal[0]
    ids = answered.values("id")
    clicked = samples_of(answered, panel.act("question", name="label"))
    assert (set(clicked), clicked[2]) == ({ids[5], ids[3], ids[1]}, ids[1])  # lowest agreement first
    assert panel.grids[-1]["text"] == "3 images with different answers to label"
    concepts = panel.choose(page="Concepts").record["shown"]["concepts"]
    least = details.majority.concept_chosen.argmin()
    assert concepts[0]["name"] == details.majority.concepts[least]
    assert concepts[0]["everywhere"] == details.majority.concept_all[least]
    assert samples_of(answered, panel.act("concept", name="owl")) == [ids[5]]


def test_images_in_dispute(answered: fo.Dataset) -> None:
    panel = opened(answered, "Questions").choose(page="Images")
    ids, shown = answered.values("id"), panel.record["shown"]
    assert shown["disputed"] == 3
    assert [row["answers"] for row in shown["images"]] == ["cat 1, dog 1, owl 1", "cat 1, dog 1", "cat 2, dog 1"]
    found = samples_of(answered, panel.act("disputes"))
    assert (set(found), found[2]) == ({ids[5], ids[3], ids[1]}, ids[1])
    assert sample_of(panel.act("open", sample=shown["images"][0]["sample_id"])) == ids[5]


def test_raters_and_their_differences(answered: fo.Dataset) -> None:
    panel = opened(answered, "Questions").choose(page="Raters")
    ids, shown = answered.values("id"), panel.record["shown"]
    accuracy = kf.load_details(answered, "labels").details.accuracy
    assert shown["compared"] == [*RATERS, "majority"]
    assert [row[:3] for row in shown["accuracy"]["values"][:3]] == plain_values(accuracy.accuracy)
    assert shown["accuracy"]["values"][3][:3] == accuracy.to_majority.tolist()
    assert samples_of(answered, panel.act("difference", one="ann", other="bob")) == [ids[3], ids[5]]
    assert samples_of(answered, panel.act("difference", one="majority", other="cid")) == [ids[1]]
    (curve,) = kf.load_details(answered, "labels").details.curves
    assert shown["cohen"]["values"] == plain_values(curve.cohen)


def test_a_rater_who_grades_lower_is_named() -> None:
    """On four images, cid grades three one lower than the others, who agree: -.75, and .375 for each of them."""
    grades = {"ann": "2222", "bob": "2222", "cid": "1112"}
    dataset = data_set(
        sample(number, raters=RATERS, **{name: label(of[number % 4]) for name, of in grades.items()})
        for number in range(40)
    )
    kf.compute_label_agreement(dataset, "labels", raters=RATERS, metric="interval", bootstrap=100)
    (directions,) = opened(dataset, "Questions").record["shown"]["directions"]
    assert directions["title"].startswith("cid grades lower by 0.75")
    found = [(row["rater"], row["difference"]["value"]) for row in directions["raters"]]
    assert found == [("cid", -0.75), ("ann", 0.375), ("bob", 0.375)]
    assert all(row["is_clear"] for row in directions["raters"])


def test_who_is_right(answered: fo.Dataset) -> None:
    kf.compute_label_agreement(answered, "judged", raters=RATERS, bootstrap=0, truth="weighted")
    panel = opened(answered, "Questions").choose(page="Who is right")
    shown, (truth,) = panel.record["shown"], kf.load_details(answered, "judged").details.truth
    assert shown["text"].startswith("The likeliest label of each image is in judged_truth")
    assert [warning.partition(":")[0] for warning in shown["warnings"]] == ["Fewer than 3 answers per image"]  # 15 of 6
    ids = np.array(answered.values("id"))
    order = np.lexsort((ids, np.array(answered.values("judged_confidence"))))
    assert samples_of(answered, panel.act("least_sure")) == ids[order].tolist()
    worst = shown["skills"][0]["rater"]
    assert worst == RATERS[int(truth.skill.argmin())]
    expected = view_of_difference(answered, "judged", worst, "truth").values("id")
    assert samples_of(answered, panel.act("difference", one=worst, other="truth")) == expected != []
    confusion = panel.choose(page="Who is right", rater="bob").record["shown"]["confusion"]
    assert confusion["title"].startswith("bob")
    assert confusion["values"] == plain_values(truth.confusion[1])
    # six images are too few for three classes: one is found in another's position
    run = kf.compute_label_agreement(answered, "confused", raters=RATERS, bootstrap=0, truth="confusion")
    assert run.details.truth[0].overturned == 2
    warnings = opened(answered, "Questions").choose(page="Who is right").record["shown"]["warnings"]
    assert any(said.startswith("Do not use it: 2 images have a label that none") for said in warnings)


# ---- the next form is prefilled with the settings of the run ----


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
    """Sending it without changes creates the same run with the estimate."""
    run = kf.compute_label_agreement(answered, "judged", **{"raters": RATERS, "bootstrap": 5, **options})
    operator, filled = prompted(opened(answered, "Questions").act("estimate"))
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
    shown = opened(dataset, "Questions").choose(page="Raters").record["shown"]
    assert "1 of 4 answers is rejected (25\xa0%)" in shown["rejection"]
    assert "nearest to gold is bob (1.00)" in shown["accuracy"]["title"]
    assert shown["compared"][-1] == "gold"
    panel = opened(dataset, "Teams")
    assert panel.record["title"] == "experts and crowd differ on 0 of 2 questions"
    assert panel.record["names"] == ["experts", "crowd", "experts with crowd", "majorities", "experts − crowd"]
    assert [row["question"] for row in panel.record["rows"]] == ["place", "sun"]
    clicked = samples_of(dataset, panel.act("question", name="place"))
    assert set(clicked) == set(kf.view_of_disputes(dataset, "labels", question="place").values("id"))
    assert made_again(dataset, *prompted(panel.act("compare"))).settings == run.settings


# ---- rankings ----


def test_rankings_lead_to_what_references_answered_differently(answered: fo.Dataset) -> None:
    panel = opened(answered, "Ranking")
    shown, rankings = panel.record["shown"], kf.load_details(answered, "ranking").details.rankings
    assert shown["title"] == "net is best under all 4 references; they give one ranking"
    concordance = shown["figures"][-1]["title"]
    assert concordance.startswith("Rankings are concordant under 0 of 6 pairs of references")
    assert "Left out under references that find them in no or in all images: owl" in shown["over"]
    assert shown["references"] == [*RATERS, "majority"]
    shown = panel.choose(measure="EER").record["shown"]
    found = [[cell["rank"] for cell in row] for row in shown["cells"]]
    assert found == plain_values(rankings["EER"].ranks)
    ids = answered.values("id")
    assert samples_of(answered, panel.act("difference", one="cid", other="majority")) == [ids[1]]
    assert samples_of(answered, panel.act("difference", one="ann", other="bob")) == [ids[3], ids[5]]
    kf.rank_systems(answered, "newer", systems=["net", "svm"], raters=RATERS[:2])
    panel.send("reload", section="Ranking")
    assert panel.record["shown"]["references"] == [*RATERS[:2], "majority"]
    kf.delete_run(answered, "newer")


def test_labels_that_are_gone_are_reported_and_a_click_on_them_is_a_problem_with_a_way_back() -> None:
    dataset = data_set(quiz)
    kf.compute_label_agreement(dataset, "labels", raters=RATERS, bootstrap=0)
    dataset.delete_sample_field("ann")
    panel = opened(dataset, "Questions")
    assert "6 images were edited or deleted since this run" in panel.text()
    panel.act("difference", one="ann", other="bob")
    assert "got 'ann'" in panel.state["problem"]  # which the view shows above the previous content
