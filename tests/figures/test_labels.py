"""Plots of image-level labels: what is drawn where, and what a title says."""

from __future__ import annotations

import json

import numpy as np
import pytest

from kalos_core import (
    InputError,
    LabelTable,
    compare_teams,
    dawid_skene,
    label_agreement,
    majority_agreement,
    rater_accuracy,
    reject_answers,
)
from kalos_core.figures import (
    accuracy_heatmap,
    accuracy_title,
    kappa_bars,
    kappa_title,
    majority_dots,
    majority_title,
    plot_confusion,
    plot_label_agreement,
    plot_majority,
    plot_rater_accuracy,
    plot_rejection,
    plot_skill,
    plot_teams,
    team_bars,
)


def plain(figure):
    """A figure as the App gets it: JSON without NaN."""
    return json.loads(json.dumps(figure.to_plotly_json()["data"], allow_nan=False))


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    rows = [
        {
            "item": i,
            "rater": r,
            "label": [("day", "night")[i % 2 if rng.random() < sure else 1 - i % 2]] + ["sky"] * (i % 3),
        }
        for r, sure in (("ann", 0.95), ("bob", 0.95), ("cid", 0.6), ("dan", 0.6))
        for i in range(30)
    ]
    for row in rows:
        row["label"] = list(dict.fromkeys(row["label"]))
    return LabelTable.from_rows(rows, groups={"time": ["day", "night"]}, concepts=["day", "night", "sky", "snow"])


def test_kappas_stand_least_first_with_their_bands(table):
    result = label_agreement(table, bootstrap=50)
    figure = plot_label_agreement(result)
    (bars,) = plain(figure)
    assert bars["x"] == sorted(result.free_marginal.tolist())
    assert [note.text.split()[-1] for note in figure.layout.annotations][-1] == "perfect"
    above = int((result.free_marginal > 0.6).sum())
    assert figure.layout.title.text.startswith(f"Raters agree well on {above} of 3 questions, least on time (kappa ")
    assert figure.layout.xaxis.range[1] < 1.1  # no kappa is more than 1
    assert figure.layout.xaxis.fixedrange
    assert figure.layout.yaxis.fixedrange


def test_undefined_kappas_are_left_out():
    (bars,) = plain(kappa_bars(["a", "b"], [None, 0.5]))
    assert bars["x"] == [0.5]
    assert kappa_title(["a"], [None]) == "No question can be compared"
    assert kappa_title(["a"], [0.7]) == ("Raters agree well on 1 of 1 question, least on a (kappa 0.70, substantial)")


def test_majorities_in_both_readings(table):
    result = majority_agreement(table)
    upper, lower = plain(plot_majority(result))
    assert upper["customdata"][-1] == "snow"  # nobody chose it: last, and without the second mark
    assert lower["x"][-1] is None
    assert upper["x"][-1] == 100
    assert majority_title(None, 0.5) == "Per concept, nobody chose anything that could be compared"
    assert plain(majority_dots([], [], []))[0]["x"] == []


def test_accuracy_has_the_majority_as_its_last_row(table):
    result = rater_accuracy(table)
    (cells,) = plain(plot_rater_accuracy(result))
    assert len(cells["z"]) == 5
    assert cells["z"][4][:4] == pytest.approx(result.to_majority.tolist())
    assert cells["z"][0][0] is cells["z"][4][4] is None
    assert accuracy_title(["ann"], [[None]]) == "No two raters decided on the same"
    assert len(plain(accuracy_heatmap(["a", "b"], [[None, 0.5], [0.5, None]]))[0]["z"]) == 2


def test_teams_say_whether_they_differ(table):
    result = compare_teams(table, {"experts": ["ann", "bob"], "crowd": ["cid", "dan"]}, bootstrap=200)
    figure = plot_teams(result, 0)
    assert result.differs(0)
    assert figure.layout.title.text.startswith("time: experts agree more among themselves than crowd (")
    assert plain(figure)[0]["x"] == pytest.approx(result.kappa[0].tolist())
    assert plain(team_bars(["a"], [None]))[0]["x"] == [None]


def test_rejection_shows_kappa_before_and_after(table):
    result = reject_answers(table, least_accuracy=0.92)
    figure = plot_rejection(result)
    before, after = plain(figure)
    assert before["x"] == sorted(result.before.tolist())
    assert after["x"] == result.after[np.argsort(result.before)].tolist()
    assert figure.layout.title.text.startswith(f"{len(result)} of 120 answers are rejected")
    assert "all of cid, dan" in figure.layout.title.text


def test_what_is_not_shown_is_said():
    names = [str(number) for number in range(53)]
    assert majority_dots(names, [0.9] * 53, [0.8] * 53).layout.xaxis.title.text.endswith("(the least 40 of 53)")
    assert kappa_bars(names, [0.5] * 53).layout.xaxis.title.text == "free-marginal kappa (the least 40 of 53)"
    assert kappa_bars(["a"], [0.5]).layout.xaxis.title.text == "free-marginal kappa"


def test_a_reference_is_one_more_row(table):
    result = rater_accuracy(table, reference="ann")
    figure = plot_rater_accuracy(result)
    (cells,) = plain(figure)
    assert cells["z"][4][:3] == pytest.approx(result.to_reference.tolist())
    assert "nearest to ann is bob" in figure.layout.title.text


def test_skill_and_confusion_say_who_takes_what_for_what():
    """cid takes every other dog for a cat: three of twelve answers are wrong."""
    rows = [["cat"] * 3, ["cat"] * 3, ["dog"] * 3, ["dog", "dog", "cat"]] * 3
    names = ("ann", "bob", "cid")
    answers = [{"item": i, "rater": names[r], "label": row[r]} for i, row in enumerate(rows) for r in range(3)]
    result = dawid_skene(LabelTable.from_rows(answers), added=0)
    (bars,) = plain(plot_skill(result))
    assert bars["x"][0] == pytest.approx(0.75, abs=1e-3)
    title = "Answers are expected to be right in 75 % of cases (cid) to 100 % (ann)".replace(" %", "\xa0%")
    assert plot_skill(result).layout.title.text == title
    of_cid = plot_confusion(result, "cid")
    assert of_cid.layout.title.text == "cid most often takes dog for cat (50\xa0%)"
    assert plain(of_cid)[0]["z"][1] == pytest.approx([0.5, 0.5], abs=1e-3)
    mean = plot_confusion(result)
    assert mean.layout.title.text == "Raters most often take dog for cat (17\xa0%)"
    alike = plot_confusion(dawid_skene([["cat", "cat"], ["dog", "dog"]]))
    assert alike.layout.title.text == "Raters: no answer is expected to be wrong"
    with pytest.raises(InputError, match="rater: expected one of 'ann', 'bob', 'cid', got 'dan'"):
        plot_confusion(result, "dan")
