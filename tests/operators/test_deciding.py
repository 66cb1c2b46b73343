"""Operators that decide about disputes, and what follows from decisions: they do what the functions do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import fiftyone as fo
import fiftyone.operators as foo
import pytest

import kalos_core.fiftyone as kf
from tests.fiftyone_bridge.scenes import RATERS, SCENES, make_samples
from tests.operators.calls import last_line, run
from tests.plugin import form, uri

pytestmark = pytest.mark.filterwarnings("ignore::kalos_core.errors.KalosWarning")


@pytest.fixture
def dataset() -> Iterator[fo.Dataset]:
    """The scenes with an agreement."""
    made = fo.Dataset(persistent=True)
    made.add_samples(make_samples(SCENES), progress=False)
    kf.compute_agreement(made, "run", raters=RATERS, bootstrap=0)
    yield made
    for key in kf.list_runs(made):
        kf.delete_run(made, key)
    made.delete()


def test_decide(dataset: fo.Dataset) -> None:
    cat, dog = (dataset.skip(1).first()[name].detections[0].id for name in RATERS)
    answer = run("decide", dataset, key="run", labels=[cat], decision="take", rater="bob", note="a tail", who="eva")
    (made,) = kf.decisions(dataset, "run")
    assert (made.labels, made.rater, made.note, made.who) == ((cat, dog), "bob", "a tail", "eva")
    assert (answer["labels"], answer["text"]) == ([cat, dog], "One rater is right: decided about 2 labels.")


def test_its_form_asks_who_is_right(dataset: fo.Dataset) -> None:
    inputs = form("decide", dataset)
    assert [entry.value for entry in inputs["decision"].view.choices] == list(kf.DECISIONS)
    assert "rater" not in inputs
    taking = form("decide", dataset, {"decision": "take"})
    assert [entry.value for entry in taking["rater"].view.choices] == list(RATERS)


def test_resolved(dataset: fo.Dataset) -> None:
    answer = run("resolved", dataset, field="gold", undecided="drop")
    assert (answer["labels"], answer["open"]) == (2, 5)
    assert dataset.values("gold.detections.label") == [["cat"], [], [], [], [], ["cat"]]
    run("resolved", dataset, key="run", field="all")
    assert kf.load_metrics(dataset, "all").settings["undecided"] == "majority"
    assert form("resolved", dataset, {"field": "gold"})["field"].invalid
    assert not form("resolved", dataset)["field"].invalid


def test_tag_disputes(dataset: fo.Dataset) -> None:
    answer = run("tag_disputes", dataset, tag="look")
    assert answer["samples"] == len(dataset.match_tags("look")) == 3


@pytest.mark.parametrize(
    ("name", "required"),
    [
        ("decide", {"labels": ["x"], "decision": "none"}),
        ("resolved", {"field": "gold"}),
        ("tag_disputes", {"tag": "look"}),
    ],
)
def test_an_unknown_argument_is_refused_and_no_run_is_said(
    dataset: fo.Dataset, name: str, required: dict[str, Any]
) -> None:
    with pytest.raises(foo.executor.ExecutionError) as error:
        foo.execute_operator(uri(name), {"dataset": dataset}, params={"key": "run", "remark": "none", **required})
    assert f"{name}: expected arguments among" in last_line(error)
    kf.delete_run(dataset, "run")
    inputs: dict[str, Any] = form(name, dataset)
    assert inputs["none"].view.label == "There is no agreement yet"


def test_hand_over_offers_the_back_ends_of_fiftyone(dataset: fo.Dataset) -> None:
    offered = [entry.value for entry in form("hand_over", dataset)["backend"].view.choices]
    assert offered == sorted(fo.annotation_config.backends)
    with pytest.raises(foo.executor.ExecutionError) as error:
        run("hand_over", dataset, anno_key="ann")
    assert "'ann' is there already" in last_line(error)
