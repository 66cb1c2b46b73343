"""Operators for decisions about disputes, and for the results: same results as the functions."""

from __future__ import annotations

import base64
import errno
import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import fiftyone as fo
import pytest
from fiftyone.operators.executor import ExecutionError

import kalos_core.fiftyone as kf
from kalos_core import read_coco
from kalos_core.fiftyone.kinds.agreement.rerating import view_of_next
from kalos_core.text import shown
from tests.fiftyone_bridge.quiz import RATERS as THREE
from tests.fiftyone_bridge.quiz import quiz
from tests.fiftyone_bridge.scenes import RATERS
from tests.operators.calls import data_set, last_line, run
from tests.plugin import form, post

pytestmark = pytest.mark.filterwarnings("ignore::kalos_core.errors.KalosWarning")


@pytest.fixture
def dataset(fields: fo.Dataset) -> fo.Dataset:
    """Return the scenes with an agreement."""
    kf.compute_agreement(fields, "run", raters=RATERS, bootstrap=0)
    return fields


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder below which operators write."""
    monkeypatch.setenv("KALOS_FOLDER", str(tmp_path / "written"))
    return tmp_path / "written"


def test_decide_and_export_resolved(dataset: fo.Dataset, folder: Path) -> None:
    inputs = form("decide", dataset)
    assert [entry.value for entry in inputs["decision"].view.choices] == list(kf.DECISIONS)
    assert "rater" not in inputs
    taking = form("decide", dataset, {"decision": "take"})
    assert [entry.value for entry in taking["rater"].view.choices] == list(RATERS)
    cat, dog = (dataset.skip(1).first()[name].detections[0].id for name in RATERS)
    answer = run("decide", dataset, key="run", labels=[cat], decision="take", rater="bob", note="a tail", who="eva")
    (made,) = kf.decisions(dataset, "run")
    assert (made.labels, made.rater, made.note, made.who) == ((cat, dog), "bob", "a tail", "eva")
    assert (answer["labels"], answer["text"]) == ([cat, dog], "One rater is right: decided about 2 labels.")

    path = folder / "deep" / "resolved.json"
    answer = run("export_resolved", dataset, path="deep/resolved.json", undecided="drop")
    assert answer["text"] == f"Written to {shown(str(path), None)}."
    content = json.loads(path.read_text())
    found = [(one["origin"], one["note"], one["decided_by"]) for one in content["annotations"]]
    assert sorted(found) == [("agreed", "", ""), ("agreed", "", ""), ("take", "a tail", "eva")]
    assert len(read_coco(path)) == 3


def test_resolved(dataset: fo.Dataset) -> None:
    answer = run("resolved", dataset, field="gold", undecided="drop")
    assert (answer["labels"], answer["open"]) == (2, 5)
    assert "3 decisions are still to be made" in answer["text"]
    assert dataset.values("gold.detections.label") == [["cat"], [], [], [], [], ["cat"]]
    run("resolved", dataset, key="run", field="all")
    assert kf.load_metrics(dataset, "all").settings["undecided"] == "majority"
    assert form("resolved", dataset, {"field": "gold"})["field"].invalid
    assert not form("resolved", dataset)["field"].invalid


def test_report(dataset: fo.Dataset, folder: Path) -> None:
    path = folder / "report.html"
    assert shown(str(path), None) in run("report", dataset, path="report.html", title="Cats")["text"]
    assert "<h1>Cats</h1>" in path.read_text(encoding="utf-8")
    about = form("report", dataset)["path"].view.description
    assert f"{dataset.name}-run.html" in about
    assert str(folder) in about
    labels = data_set(quiz)
    kf.compute_label_agreement(labels, "labels", raters=THREE, bootstrap=0)
    run("report", labels, path=str(path))  # the previous report is replaced
    assert labels.name in path.read_text(encoding="utf-8")
    run("report", labels)
    assert (folder / f"{labels.name}-labels.html").exists()


@pytest.mark.parametrize(
    ("operator", "name", "begins"),
    [("report", "run.html", b"<!doctype html>"), ("export_resolved", "run-resolved.json", b"{")],
)
@pytest.mark.parametrize("path", ["", "kept"])
def test_a_file_is_downloaded(
    dataset: fo.Dataset, folder: Path, operator: str, name: str, begins: bytes, path: str
) -> None:
    path = path and path + Path(name).suffix
    asked = {"key": "run", "path": path, "panel_id": "p", "panel_state": {}}  # as the App's button sends it
    found = post(operator, dataset, asked)
    found.raise_exceptions()
    (sent,) = [call.params for call in found.executor._requests if call.operator_uri.endswith("browser_download")]
    assert sent["filename"] == (path or f"{dataset.name}-{name}")
    content = base64.b64decode(sent["url"].partition("base64,")[2])
    assert content.startswith(begins)
    assert [kept.read_bytes() for kept in folder.glob("*")] == ([content] if path else [])


@pytest.mark.parametrize("operator", ["report", "export_resolved"])
def test_operators_write_below_one_folder(
    dataset: fo.Dataset, folder: Path, tmp_path: Path, operator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refuse names that lead out of it, links, other extensions, and foreign files."""
    ending = {"report": ".html", "export_resolved": ".json"}[operator]
    mine = tmp_path / f"mine{ending}"
    mine.write_text("mine")
    folder.mkdir()
    (folder / "out").symlink_to(tmp_path)
    (folder / f"link{ending}").symlink_to(mine)
    (folder / f"dangling{ending}").symlink_to(tmp_path / f"new{ending}")
    (folder / f"other{ending}").write_text("not ours")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    below, own = "expected a name below", "expected a new file, or one that this library wrote"
    for name, expected in (
        (str(mine), below),
        (f"../mine{ending}", below),
        (f"deep/../../new{ending}", below),
        (f"out/new{ending}", below),
        (f"link{ending}", below),
        (f"dangling{ending}", below),
        (".", below),
        (f"other{ending}", own),
        ("a.py", f"expected a name that ends in {ending}"),
        (f"a{ending}.py", f"expected a name that ends in {ending}"),
        (f"a\0{ending}", "expected a name that a file can have"),
        (f"{'a' * 300}{ending}", "expected a name that a file can have"),
    ):
        with pytest.raises(ExecutionError) as error:
            run(operator, dataset, path=name)
        assert expected in last_line(error), name
    with pytest.raises(ExecutionError, match="expected arguments among"):
        run(operator, dataset, path=f"other{ending}", overwrite=True)
    asked = {"key": "run", "path": f"other{ending}", "overwrite": True}
    assert post(operator, dataset, asked).result["text"].startswith("**Nothing was written.**")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    monkeypatch.setattr(Path, "replace", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(ExecutionError, match=rf"a{ending}: expected a file to write to, got No space left"):
        run(operator, dataset, path=f"a{ending}")
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize(("name", "given"), [("resolved", {"field": "gold"}), ("tag_disputes", {"tag": "look"})])
def test_fields_that_the_app_adds_are_no_arguments(dataset: fo.Dataset, name: str, given: dict[str, Any]) -> None:
    result = post(name, dataset, {"key": "run", **given, "panel_id": "p", "panel_state": {}})
    result.raise_exceptions()
    assert result.result["key"] == "run"


def test_disputes_are_tagged_and_images_named_for_one_more_rater(dataset: fo.Dataset) -> None:
    answer = run("tag_disputes", dataset, tag="look")
    assert answer["samples"] == len(dataset.match_tags("look")) == 3
    answer = run("next_to_rate", dataset, n=2, tag="more")
    assert answer["images"] == len(dataset.match_tags("more")) == len(view_of_next(dataset, "run")) > 0
    assert answer["text"].startswith("One more rater on ")
    assert "Their order is in `run_next`, and they are tagged more." in answer["text"]


def test_hand_over_offers_the_back_ends_of_fiftyone(dataset: fo.Dataset) -> None:
    offered = [entry.value for entry in form("hand_over", dataset)["backend"].view.choices]
    assert offered == sorted(fo.annotation_config.backends)
    with pytest.raises(ExecutionError) as error:
        run("hand_over", dataset, anno_key="ann")
    assert "'ann' exists already" in last_line(error)
    answer = post("hand_over", dataset, {"anno_key": "ann"}).result
    assert answer["text"] == "**Nothing was written.** field: 'ann' exists already; choose another name"


def test_image_level_labels_are_decided_and_exported() -> None:
    """The forms use them if there is no agreement of objects, which has priority."""
    dataset = data_set(quiz())
    kf.compute_label_agreement(dataset, "labels", raters=THREE, bootstrap=0)
    assert [entry.value for entry in form("decide", dataset)["decision"].view.choices] == list(kf.LABEL_DECISIONS)
    another = form("decide", dataset, {"decision": "label"})["category"]
    assert [entry.value for entry in another.view.choices] == ["cat", "dog", "owl"]
    (unit,) = kf.disputed_units(dataset, "labels", kf.next_dispute(dataset, "labels"))
    answer = run("decide", dataset, labels=list(unit.labels), decision="label", category="owl")
    assert (answer["key"], answer["text"]) == ("labels", "Another label is right: decided about 1 label.")
    assert "2 decisions are still to be made" in run("resolved", dataset, field="gold")["text"]
    found = post("export_resolved", dataset, {"key": "labels", "panel_id": "p", "panel_state": {}})
    (sent,) = [call.params for call in found.executor._requests if call.operator_uri.endswith("browser_download")]
    assert sent["filename"] == f"{dataset.name}-labels-resolved.csv"
    assert sent["url"].startswith("data:text/csv;charset=utf-8;base64,")
    assert base64.b64decode(sent["url"].partition("base64,")[2]).startswith(b"item,rater,label,origin")
