"""Estimating label convergence from its form: what is offered and refused, what it answers, when it is delegated."""

from __future__ import annotations

import json
import warnings

import fiftyone as fo
import numpy as np
import pytest
from fiftyone.operators.executor import ExecutionContext, ExecutionError

import kalos_core.fiftyone as kf
from kalos_core import KalosWarning
from kalos_core.convergence import THRESHOLDS
from kalos_core.fiftyone.dataset.raters import store_raters
from kalos_core.figures import convergence_title
from tests.fiftyone_bridge.lively import RATERS, lively, unsure
from tests.operators.calls import delegate, is_delegated_by_default, last_line, run, send, shares, summaries
from tests.plugin import defaults, form, refused, stream

SMALL = {"subsets": 20, "fraction": 0.5, "seed": 3}


@pytest.fixture(autouse=True)
def _small_subsets_are_meant():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "label convergence is .* on all|tags: subsets of", KalosWarning)
        yield


@pytest.fixture(scope="module")
def annotated():
    """Three raters, a model and tags on eight images."""
    dataset = fo.Dataset(persistent=True)
    dataset.add_samples(lively(8), progress=False)
    store_raters(dataset, {name: name for name in RATERS})
    yield dataset
    dataset.delete()


# ---- the form ----


def test_the_form_offers_fields_that_are_no_raters(annotated):
    inputs = form("estimate_convergence", annotated)
    assert [choice.value for choice in inputs["predictions"].view.choices] == ["none", "net"]
    assert (inputs["least"].default, inputs["greatest"].default) == (0.5, 0.95)
    assert (inputs["subsets"].default, inputs["fraction"].default) == (1000, 0.1)
    assert inputs["run_key"].default == "convergence"
    assert "threshold" not in inputs


def test_without_another_field_there_is_none_to_choose(fields):
    assert "predictions" not in form("estimate_convergence", fields)


@pytest.mark.parametrize(
    ("params", "where", "message"),
    [
        ({"models": "YOLO"}, "models", "expected names with their mAP, such as 'YOLO 0.412, DETR 0.437', got 'YOLO'"),
        ({"models": "YOLO 41.2"}, "models", "41.2 % is 0.412"),
        ({"models": "YOLO 0.412"}, None, ""),
        ({"least": 0.8, "greatest": 0.6}, "greatest", "A number of at least 0.8, the least threshold"),
        ({"least": 0.97}, "greatest", "A number of at least 0.97, the least threshold"),
        ({"least": 0}, "least", "A number from 0.05 to 1"),
        ({"greatest": 1.5}, "greatest", "A number from 0.05 to 1"),
        ({"subsets": 1}, "subsets", "A number of at least 2"),
        ({"fraction": 1}, "fraction", "A number between 0 and 1"),
        ({"fraction": "x"}, "fraction", "A number between 0 and 1"),
        ({"predictions": "ann"}, "predictions", "'ann' is no field of predictions"),
        ({"raters": ["ann"]}, "raters", "at least two raters"),
        ({"run_key": "not a key"}, "run_key", "expected a name of letters"),
    ],
)
def test_a_wrong_input_is_marked(annotated, params, where, message):
    marked_wrong = refused(form("estimate_convergence", annotated, params))
    if where is None:
        assert marked_wrong == {}
    else:
        assert message in marked_wrong[where]


@pytest.mark.parametrize(("subsets", "delegated"), [(1_000, False), (1_250_000, True)])
def test_it_is_delegated_by_default_above_a_size(annotated, subsets, delegated):
    assert is_delegated_by_default("estimate_convergence", annotated, subsets=subsets) is delegated


# ---- what it answers ----


def test_it_answers_what_the_library_answers(annotated):
    found = run("estimate_convergence", annotated, **SMALL, models="YOLO 0.01", predictions="net", tags=True)
    assert found["run_key"] == "convergence"
    own = kf.estimate_convergence(annotated, "own", raters=RATERS, **SMALL)
    assert (found["mean"], found["interval"]) == (own.metrics["mean"], own.metrics["interval"])
    assert found["thresholds"] == pytest.approx(THRESHOLDS)
    assert found["summary"] == own.metrics["summary"]  # the rows, beside the text for people
    title = f"**Label convergence {100 * own.metrics['whole']:.1f} mAP on all 8 images; {100 * found['mean']:.1f}\xa0["
    assert title in found["text"]
    assert f"| 8 | {100 * own.metrics['whole']:.1f} | all images: the number to quote |" in found["text"]
    assert "- **YOLO**: 1.0 mAP is below label convergence" in found["text"]
    assert "| ✓ | raters contribute equally |" in found["text"]
    assert "| **mAP inferred from alpha** |" in found["text"]
    assert json.loads(json.dumps(found)) == found


def test_thresholds_are_in_steps_of_005(annotated):
    found = run("estimate_convergence", annotated, **SMALL, least=0.6, greatest=0.75)
    assert found["thresholds"] == pytest.approx([0.6, 0.65, 0.7, 0.75])
    assert run("estimate_convergence", annotated, **SMALL, least=0.6, greatest=0.6)["thresholds"] == [0.6]


def test_the_form_can_be_sent_as_it_comes(annotated):
    params = send("estimate_convergence", annotated, subsets=20, fraction=0.5)
    assert kf.list_runs(annotated, "convergence") == [params["run_key"]] == ["convergence"]
    settings = kf.load_metrics(annotated, "convergence").settings
    assert settings["predictions"] is None
    assert settings["thresholds"] == pytest.approx(THRESHOLDS)


def test_the_app_gets_progress_the_panel_and_a_summary(annotated):
    params = defaults(form("estimate_convergence", annotated)) | SMALL
    operations = stream("estimate_convergence", annotated, params)
    progress = shares(operations)
    assert progress == sorted(progress)
    assert (progress[0], progress[-1]) == (0.0, 1.0)
    assert len(progress) > 10
    assert [given["name"] for name, given in operations if name == "open_panel"] == ["raters"]
    figures = kf.load_metrics(annotated, "convergence").metrics
    (summary,) = summaries(operations)
    assert convergence_title(figures["mean"], figures["interval"], 4, figures["whole"], 8) in summary
    assert "**Note:** label convergence is " in summary


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"fraction": 0.01}, "fraction: expected at least one image in a subset, got 0.01 of 8 images"),
        ({"raters": ["ann", "bob"], "least": 0.9, "greatest": 0.6}, "A number of at least 0.9, the least threshold"),
    ],
)
def test_what_cannot_be_computed_is_an_error(annotated, params, message):
    with pytest.raises((ExecutionError, ValueError)) as error:
        run("estimate_convergence", annotated, **{**SMALL, **params})
    assert message in last_line(error)
    assert kf.list_runs(annotated) == []


def test_predictions_without_confidence_are_an_error_in_the_app():
    dataset = fo.Dataset()
    dataset.add_samples(unsure(lively(4)), progress=False)
    operations = stream("estimate_convergence", dataset, {**SMALL, "raters": list(RATERS), "predictions": "net"})
    (summary,) = summaries(operations)
    assert "Nothing was written" in summary
    assert "those of 'net' cannot be evaluated: scores: expected the confidence of every prediction" in summary
    assert kf.list_runs(dataset) == []


def test_a_run_can_be_deleted_from_its_form(annotated):
    run("estimate_convergence", annotated, **SMALL)
    run("delete_run", annotated, run_key="convergence")
    assert kf.list_runs(annotated) == []


# ---- delegated ----


def test_delegated_it_stores_its_progress(annotated):
    done = delegate("estimate_convergence", annotated, **SMALL, raters=list(RATERS))
    assert done.run_state == "completed"
    assert done.status.progress == 1.0
    assert kf.list_runs(annotated) == ["convergence"]
    assert np.isfinite(done.result.result["mean"])


def test_cancelled_it_leaves_nothing(annotated, monkeypatch):
    def stop(_, progress=None, label=None):
        if progress > 0.3:
            raise RuntimeError(f"cancelled at {label}")

    monkeypatch.setattr(ExecutionContext, "set_progress", stop)
    done = delegate("estimate_convergence", annotated, **SMALL, raters=list(RATERS))
    assert done.run_state == "failed"
    assert "cancelled at" in done.result.error
    assert annotated.list_runs() == []
