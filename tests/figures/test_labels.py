"""Plots of image-level labels: positions and titles."""

from __future__ import annotations

import numpy as np
import pytest

from kalos_core import InputError, LabelTable, compare_teams, dawid_skene, figures, label_agreement
from kalos_core.figures import labels
from kalos_core.nominal import majority_agreement, rater_accuracy, reject_answers
from tests.figures.plain import notes, plain, title


@pytest.fixture(scope="module")
def table():
    """Return two raters who are almost consistent on day and night, and two who are not."""
    rng = np.random.default_rng(0)
    rows = []
    for rater, sure in (("ann", 0.95), ("bob", 0.95), ("cid", 0.6), ("dan", 0.6)):
        for i in range(30):
            time = ("day", "night")[i % 2 if rng.random() < sure else 1 - i % 2]
            rows.append({"item": i, "rater": rater, "label": [time, "sky"] if i % 3 else [time]})
    return LabelTable.from_rows(rows, groups={"time": ["day", "night"]}, concepts=["day", "night", "sky", "snow"])


def test_kappas_are_sorted_lowest_first_with_their_bands(table):
    result = label_agreement(table, bootstrap=50)
    figure = figures.plot_label_agreement(result)
    (bars,) = plain(figure)
    assert bars["x"] == sorted(result.free_marginal.tolist())
    assert notes(figure)[-1].split()[-1] == "perfect"
    above = int((result.free_marginal > 0.6).sum())
    assert title(figure).startswith(f"Raters agree well on {above} of 3 questions, least on time (kappa ")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (labels.kappa_title(["a"], [None]), "No question can be compared"),
        (
            labels.kappa_title(["a"], [0.7]),
            "Raters agree well on 1 of 1 question, least on a (kappa 0.70, substantial)",
        ),
        (labels.majority_title(None, 0.5), "Per concept, no answers could be compared"),
        (labels.accuracy_title(["ann"], [[None]]), "No two raters decided on the same"),
    ],
)
def test_titles(said, expected):
    assert said == expected


def test_majorities_in_both_readings(table):
    upper, lower = plain(figures.plot_majority(majority_agreement(table)))
    assert upper["customdata"][-1] == "snow"  # no rater chose it: last, and without the second mark
    assert lower["x"][-1] is None
    assert upper["x"][-1] == 100
    assert plain(labels.majority_dots([], [], []))[0]["x"] == []


def test_accuracy_has_the_majority_as_its_last_row_or_a_reference(table):
    result = rater_accuracy(table)
    (cells,) = plain(figures.plot_rater_accuracy(result))
    assert len(cells["z"]) == 5
    assert cells["z"][4][:4] == pytest.approx(result.to_majority.tolist())
    assert cells["z"][0][0] is cells["z"][4][4] is None
    result = rater_accuracy(table, reference="ann")
    figure = figures.plot_rater_accuracy(result)
    assert plain(figure)[0]["z"][4][:3] == pytest.approx(result.to_reference.tolist())
    assert "nearest to ann is bob" in title(figure)


def test_skill_and_confusion_show_the_errors_of_each_rater():
    """cid labels every other dog as a cat: three of twelve answers are wrong."""
    rows = [["cat"] * 3, ["cat"] * 3, ["dog"] * 3, ["dog", "dog", "cat"]] * 3
    names = ("ann", "bob", "cid")
    answers = [{"item": i, "rater": names[r], "label": row[r]} for i, row in enumerate(rows) for r in range(3)]
    result = dawid_skene(LabelTable.from_rows(answers), added=0)
    skill = figures.plot_skill(result)
    of_cid, mean = (figures.plot_confusion(result, *rater) for rater in (["cid"], []))
    assert plain(skill)[0]["x"][0] == pytest.approx(0.75, abs=1e-3)
    assert title(skill) == "Answers are expected to be right in 75\xa0% of cases (cid) to 100\xa0% (ann)"
    assert title(of_cid) == "cid most often takes dog for cat (50\xa0%)"
    assert plain(of_cid)[0]["z"][1] == pytest.approx([0.5, 0.5], abs=1e-3)
    assert title(mean) == "Raters most often take dog for cat (17\xa0%)"
    alike = figures.plot_confusion(dawid_skene([["cat", "cat"], ["dog", "dog"]]))
    assert title(alike) == "Raters: no answer is expected to be wrong"
    with pytest.raises(InputError, match="rater: expected one of 'ann', 'bob', 'cid', got 'dan'"):
        figures.plot_confusion(result, "dan")


def test_teams_say_whether_they_differ(table):
    result = compare_teams(table, {"experts": ["ann", "bob"], "crowd": ["cid", "dan"]}, bootstrap=200)
    figure = figures.plot_teams(result, 0)
    assert result.differs[0]
    assert title(figure).startswith("time: experts agree more among themselves than crowd (")
    assert plain(figure)[0]["x"] == pytest.approx(result.kappa[0].tolist())


def test_rejection_shows_kappa_before_and_after(table):
    result = reject_answers(table, least_accuracy=0.92)
    figure = figures.plot_rejection(result)
    before, after = plain(figure)
    assert before["x"] == sorted(result.before.tolist())
    assert after["x"] == result.after[np.argsort(result.before)].tolist()
    assert title(figure).startswith(f"{len(result)} of 120 answers are rejected")
    assert "all of cid, dan" in title(figure)
