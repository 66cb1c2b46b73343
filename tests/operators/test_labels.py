"""Agreement on image-level labels, and rankings, from their forms: exclusive labels, teams, orders."""

from __future__ import annotations

from typing import Any

import fiftyone as fo
import pytest
from fiftyone.operators.executor import ExecutionError

import kalos_core.fiftyone as kf
from tests.fiftyone_bridge.quiz import RATERS, label, quiz, quiz_in_one_field, sample, several
from tests.operators.calls import data_set, last_line, received, run, summaries
from tests.plugin import defaults, form, stream

COMPUTE, RANK = "compute_label_agreement", "rank_systems"
PAIR = {"raters": ["ann", "bob"], "bootstrap": 0}


@pytest.fixture
def answered() -> fo.Dataset:
    return data_set(quiz())


@pytest.fixture
def scenes() -> fo.Dataset:
    """Return twelve images for which two raters chose day or night, in or out, and sometimes the sun."""
    labels = [["day", "in", "sun"], ["day", "out"], ["night", "in"], ["night", "out", "sun"]] * 3
    return data_set(
        sample(n, raters=["ann", "bob"], ann=several(chosen), bob=several(chosen[:2]), gold=several(chosen[:2]))
        for n, chosen in enumerate(labels)
    )


def groups_of(dataset: fo.Dataset, **params: Any) -> Any:
    """Return the groups of labels passed to the function."""
    return received(COMPUTE, dataset, PAIR | params)["groups"]


def test_a_rater_attribute_and_lists_of_labels_are_found(answered: fo.Dataset, scenes: fo.Dataset) -> None:
    inputs = form(COMPUTE, data_set(quiz_in_one_field()))
    assert inputs["storage"].default == "one field with a rater attribute"
    assert inputs["raters_in_field"].default == sorted(RATERS)
    assert inputs["exclusive"].default is form(COMPUTE, answered)["exclusive"].default is True
    inputs = form(COMPUTE, scenes, PAIR)
    assert inputs["exclusive"].default is False
    assert "own_group_0" in inputs
    assert "own_group_0" not in form(COMPUTE, scenes, PAIR | {"exclusive": True})


def test_groups_are_suggested_and_ticked(scenes: fo.Dataset) -> None:
    inputs = form(COMPUTE, scenes, PAIR)
    shown = {name: entry.view.label for name, entry in inputs.items() if name.startswith("group_")}
    assert shown == {"group_0": "day, night", "group_1": "in, out"}
    assert inputs["group_0"].view.description == "24 of 24 answers chose one"
    assert inputs["group_0"].default is True
    assert [choice.value for choice in inputs["own_group_0"].view.choices] == ["sun"]
    assert "own_group_1" in form(COMPUTE, scenes, {**PAIR, "group_1": False, "own_group_0": ["in", "out"]})
    assert groups_of(scenes, group_0=True, group_1=False) == {"day / night": ["day", "night"]}
    assert groups_of(scenes, groups="suggested") == "suggested"
    assert groups_of(scenes, exclusive=False, own_group_0=["in", "out"]) == {"in / out": ["in", "out"]}
    suggested = kf.compute_label_agreement(scenes, "own", groups="suggested", **PAIR)
    assert suggested.details.agreement.question.tolist() == ["day / night", "in / out", "sun"]


def test_undefined_results_are_an_error(scenes: fo.Dataset) -> None:
    with pytest.raises((ExecutionError, ValueError)) as error:
        run(COMPUTE, scenes, **PAIR)
    assert "expected one label in an answer" in last_line(error)
    assert "pass groups='suggested'" in last_line(error)
    dataset = data_set([sample(0, ann=label("cat")), sample(1, bob=label("cat"))])
    (summary,) = summaries(stream(COMPUTE, dataset, defaults(form(COMPUTE, dataset))))
    assert "Nothing was written" in summary
    assert "expected an image that two raters labelled, got none" in summary
    assert dataset.list_runs() == []
    assert not dataset.has_field("labels_agreement")
