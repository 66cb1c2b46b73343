"""Synthetic raters from the form: what is offered and refused, the preview, what it answers and leaves."""

from __future__ import annotations

import json
import warnings

import fiftyone as fo
import pytest
from fiftyone.operators.executor import ExecutionContext, ExecutionError

import kalos_core.fiftyone as kf
from kalos_core import KalosWarning
from kalos_core.figures import events_title
from tests.fiftyone_bridge.noisy import samples
from tests.operators.calls import delegate, is_delegated_by_default, last_line, run, shares, summaries
from tests.plugin import defaults, form, refused, stream

TWO = {"reference": "truth", "raters": 2}


@pytest.fixture(autouse=True)
def _annotations_may_reach_beyond_their_image():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* annotations reach beyond their image", KalosWarning)
        yield


@pytest.fixture(scope="module")
def annotated():
    """A reference on thirty images, and what a detector found."""
    dataset = fo.Dataset(persistent=True)
    net = [fo.Detections(detections=[fo.Detection(label="thing", bounding_box=[0.4, 0.4, 0.1, 0.1])])] * 30
    dataset.add_samples(samples(net=[labels.copy() for labels in net]), progress=False)
    yield dataset
    dataset.delete()


# ---- the form ----


def test_the_form_can_be_sent_as_it_comes(annotated):
    inputs = form("inject_noise", annotated)
    assert refused(inputs) == {}
    params = defaults(inputs)
    assert params["reference"] in ("truth", "net")
    assert (params["raters"], params["magnitude"], params["run_key"]) == (3, "1", "noise")
    operations = stream("inject_noise", annotated, params)
    assert "Nothing was written" not in summaries(operations)[0]
    assert len(kf.noise_raters(annotated, "noise")) == 3


def test_the_sources_are_a_switch_away(annotated):
    assert "class_source" not in form("inject_noise", annotated)
    inputs = form("inject_noise", annotated, {"more": True})
    assert [choice.value for choice in inputs["model"].view.choices] == ["default", "fit", "file"]
    assert [choice.value for choice in inputs["class_source"].view.choices] == ["confusion", "embeddings", "taxonomy"]
    assert [choice.value for choice in inputs["false_positive_source"].view.choices] == [
        "transplanted",
        "images",
        "detections",
    ]
    chosen = {"more": True, "model": "file", "class_source": "taxonomy", "false_positive_source": "detections"}
    inputs = form("inject_noise", annotated, chosen)
    assert {"model_file", "taxonomy", "detections"} <= set(inputs)
    assert "embeddings" in form("inject_noise", annotated, {"more": True, "class_source": "embeddings"})
    assert "preset" not in inputs
    assert {"preset", "rate", "shifts"} <= set(form("inject_noise", annotated, {"more": True, "model": "fit"}))


def test_with_one_real_rater_it_is_said_that_no_model_can_be_fitted(annotated, one_field):
    assert form("inject_noise", annotated, {"more": True})["model"].view.description is None
    alone = annotated.clone()
    alone.delete_sample_field("net")
    inputs = form("inject_noise", alone, {"more": True})
    assert [choice.value for choice in inputs["model"].view.choices] == ["default", "file"]
    assert inputs["model"].view.description == "There is one real rater: a model is fitted where there are two or more"
    assert "fit" in [choice.value for choice in form("inject_noise", one_field, {"more": True})["model"].view.choices]
    alone.delete()


@pytest.mark.parametrize(
    ("params", "where", "message"),
    [
        ({"magnitude": "-1"}, "magnitude", "expected numbers of 0 or more"),
        ({"magnitude": "much"}, "magnitude", "expected numbers of 0 or more, such as 1 or 0.5, 1, 2, got 'much'"),
        ({"magnitude": "nan"}, "magnitude", "expected numbers of 0 or more"),
        ({"magnitude": "1, 2"}, "magnitude", "expected one number, or one for each of 3 raters, got 2"),
        ({"magnitude": "1, 2", "raters": 2}, None, ""),
        ({"raters": 0}, "raters", "A number of at least 1"),
        ({"reference": "nobody"}, "reference", "There is no rater 'nobody'"),
        ({"run_key": "not a key"}, "run_key", "expected a name of letters"),
        ({"more": True, "model": "file", "model_file": "/no/such"}, "model_file", "There is no such file"),
        ({"more": True, "class_source": "taxonomy", "taxonomy": "/no"}, "taxonomy", "There is no such file"),
    ],
)
def test_a_wrong_input_is_marked(annotated, params, where, message):
    marked_wrong = refused(form("inject_noise", annotated, params))
    if where is None:
        assert marked_wrong == {}
    else:
        assert message in marked_wrong[where]


def test_without_labels_there_is_nothing_to_fill_in():
    dataset = fo.Dataset()
    dataset.add_sample(fo.Sample("a.jpg"))
    assert set(form("inject_noise", dataset)) == {"nothing", "refused"}


def test_one_field_whose_labels_name_their_rater(one_field):
    inputs = form("inject_noise", one_field)
    assert inputs["reference"].default == "ann"
    assert refused(inputs) == {}


# ---- the preview ----


def previewed(inputs):
    return [prop.default for name, prop in inputs.items() if name.startswith("preview_") and prop.default]


def test_a_preview_is_part_of_the_form(annotated):
    reference = {"reference": "truth"}
    (first,) = previewed(form("inject_noise", annotated, reference))
    assert first.startswith("data:image/svg+xml;base64,")
    inputs = form("inject_noise", annotated, {**reference, "magnitude": "4"})
    (second,) = previewed(inputs)
    assert first != second
    assert "1.png: " in inputs["preview_caption"].view.label
    selected = form("inject_noise", annotated, reference, selected=[annotated.skip(7).first().id])
    assert selected["preview_caption"].view.label.startswith("7.png: ")
    assert previewed(form("inject_noise", annotated, {"preview": False})) == []


def test_a_preview_that_cannot_be_says_why(annotated):
    inputs = form("inject_noise", annotated, {"magnitude": "-1"})
    assert previewed(inputs) == []
    assert "No preview: magnitude: expected numbers" in inputs["no_preview"].view.label


# ---- what it answers ----


def test_it_answers_what_the_library_answers(annotated):
    found = run("inject_noise", annotated, reference="truth", raters=2, magnitude="0.5, 2", seed=5)
    assert found["run_key"] == "noise"
    own = kf.inject_noise(annotated, "own", reference="truth", raters=2, magnitude=[0.5, 2], seed=5)
    assert found["events"] == own.metrics["events"]
    f = own.metrics
    assert events_title(["truth"], 2, f["changed"], f["generated_from"], f["signal_loss"]) in found["text"]
    assert f"| missed | {f['events']['deletion']['done']:,} |" in found["text"]
    assert "classes by class frequency; additions from annotations of other images" in found["text"]
    assert "noise_synthetic_1, noise_synthetic_2" in found["text"]
    assert json.loads(json.dumps(found)) == found


def test_sources_of_the_form_are_used(annotated, tmp_path):
    (tmp_path / "tree.json").write_text(json.dumps({"pet": ["cat", "dog"], "farm": ["cow"]}))
    sources = {"class_source": "taxonomy", "taxonomy": str(tmp_path / "tree.json")}
    sources |= {"false_positive_source": "detections", "detections": "net"}
    found = run("inject_noise", annotated, reference="truth", raters=1, more=True, **sources)
    assert found["class_source"] == "taxonomy of 5 names"
    assert found["false_positive_source"].startswith("detections (30 on 30 images)")
    hidden = run("inject_noise", annotated, reference="truth", raters=1, more=False, **sources)
    assert hidden["class_source"] == "class frequency"


def test_the_app_gets_progress_the_panel_and_a_summary(annotated):
    params = defaults(form("inject_noise", annotated)) | {"reference": "truth"}
    operations = stream("inject_noise", annotated, params)
    progress = shares(operations)
    assert progress == sorted(progress)
    assert (progress[0], progress[-1]) == (0.0, 1.0)
    assert [given["name"] for name, given in operations if name == "open_panel"] == ["raters"]
    assert "3 synthetic raters from truth" in summaries(operations)[0]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"magnitude": "-1"}, "magnitude: expected numbers of 0 or more"),
        ({"more": True, "class_source": "embeddings", "embeddings": "nothing"}, "or a zoo model that is downloaded"),
    ],
)
def test_what_cannot_be_created_is_an_error(annotated, params, message):
    with pytest.raises((ExecutionError, ValueError)) as error:
        run("inject_noise", annotated, reference="truth", **params)
    assert message in last_line(error)
    assert kf.synthetic_fields(annotated) == []


def test_synthetic_raters_are_offered_by_other_forms_and_not_chosen(annotated):
    run("inject_noise", annotated, reference="truth", raters=2)
    raters = form("compute_agreement", annotated)["raters"]
    real = raters.default
    assert set(real) == {"truth", "net"}
    assert [choice.value for choice in raters.view.choices] == [*real, *kf.noise_raters(annotated, "noise")]
    found = run("compute_agreement", annotated, raters=list(kf.noise_raters(annotated, "noise")))
    assert found["images"] == 30
    assert form("inject_noise", annotated)["reference"].default == real[0]


def test_deleting_from_the_form_removes_the_fields(annotated):
    before = set(annotated.get_field_schema())
    run("inject_noise", annotated, reference="truth")
    run("delete_run", annotated, run_key="noise")
    annotated.reload()
    assert set(annotated.get_field_schema()) == before


# ---- delegated ----


@pytest.mark.parametrize(("raters", "delegated"), [(3, False), (400, True)])
def test_it_is_delegated_by_default_above_a_size(annotated, raters, delegated):
    assert is_delegated_by_default("inject_noise", annotated, raters=raters) is delegated


def test_delegated_it_writes_its_fields(annotated):
    assert delegate("inject_noise", annotated, **TWO).run_state == "completed"
    assert len(kf.noise_raters(annotated, "noise")) == 2


def test_cancelled_it_leaves_nothing(annotated, monkeypatch):
    before = set(annotated.get_field_schema())

    def stop(_, progress=None, label=None):
        if progress > 0.55:
            raise RuntimeError(f"cancelled at {label}")

    monkeypatch.setattr(ExecutionContext, "set_progress", stop)
    done = delegate("inject_noise", annotated, **TWO)
    assert done.run_state == "failed"
    assert "cancelled at Writing" in done.result.error
    assert annotated.list_runs() == []
    assert set(annotated.get_field_schema()) == before
