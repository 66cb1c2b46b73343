"""Both panels: nothing computed, what goes wrong, what the App asks twice, and how much is sent."""

from __future__ import annotations

import json
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError
from tests.fiftyone_bridge.scenes import RATERS, SCENES, make_samples
from tests.panels.operations import given
from tests.plugin import Panel

each_panel = pytest.mark.parametrize("name", ["raters", "sample"])


@each_panel
def test_a_problem_is_shown_with_a_way_out(name: str, analysed: fo.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise InputError("run 'agreement': its stored result is gone\n  details")

    panel = Panel(name, analysed, current_sample=analysed.first().id)
    with monkeypatch.context() as patch:
        patch.setattr(kf, "list_analyses", fail)
        operations = panel.send("on_load")
        text = given(operations, "notify")
        assert (text["message"], text["variant"]) == ("run 'agreement': its stored result is gone", "error")
        assert set(panel.shown) == {"failed", "retry"}
        assert "its stored result is gone" in panel.text()
    panel.send("reload")
    assert "failed" not in panel.shown


@each_panel
def test_an_unexpected_error_is_shown_too_and_logged(
    name: str, analysed: fo.Dataset, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("by nought")

    panel = Panel(name, analysed, current_sample=analysed.first().id)
    monkeypatch.setattr(kf, "list_analyses", fail)
    panel.send("on_load")
    assert "ZeroDivisionError: by nought" in panel.text()
    assert "retry" in panel.shown
    assert "The panel" in caplog.text


def test_what_the_app_asks_twice_changes_nothing(analysed: fo.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    panel = Panel("raters", analysed).load()
    state = dict(panel.state)
    with monkeypatch.context() as patch:
        patch.setattr(kf, "list_analyses", None)  # nothing is looked up
        panel.send("on_load")
    assert panel.state == state
    assert panel.shown


def test_the_written_field_was_deleted_by_hand(analysed: fo.Dataset) -> None:
    analysed.delete_sample_field("agreement_alpha")
    panel = Panel("raters", analysed).load()
    panel.send("choose_section", value="Images")
    assert set(panel.shown) == {"failed", "retry"}


def test_an_analysis_of_many_images_stays_small() -> None:
    dataset = fo.Dataset()
    many = make_samples(SCENES * 334)
    for number, sample in enumerate(many):
        sample.filepath = f"/pictures/{number}.jpg"
    dataset.add_samples(many, progress=False)
    del many  # samples in memory would be loaded again after each write
    kf.compute_agreement(dataset, "agreement", raters=RATERS)
    kf.find_variations(dataset, "variations", raters=RATERS)
    panel = Panel("raters", dataset).load()
    for section in panel.state["sections"]:
        panel.send("choose_section", value=section)
        assert not panel.state.get("problem"), section
        assert len(json.dumps([panel.state, panel.data])) < 50_000, section
    assert len(dataset) == 2004
