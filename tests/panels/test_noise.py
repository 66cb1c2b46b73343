"""Synthetic raters in the workbench: events by kind, stage, image and rater; what a click leads to."""

from __future__ import annotations

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core.figures import events_title, percent_text
from tests.fiftyone_bridge.noisy import FIELDS, samples
from tests.panels.operations import given, names, opened, samples_of, view_of
from tests.plugin import uri


@pytest.fixture(scope="module")
def annotated():
    """Three synthetic raters of a reference."""
    dataset = fo.Dataset()
    dataset.add_samples(samples(), progress=False)
    kf.inject_noise(dataset, "noise", reference="truth", magnitude=[0, 2, 5], seed=17)
    yield dataset
    dataset.delete()


@pytest.fixture(autouse=True)
def nothing_stays(annotated):  # made before what is there is counted
    assert not annotated.deleted
    before = set(fo.list_datasets())
    yield
    for name in set(fo.list_datasets()) - before:
        fo.delete_dataset(name)


def test_the_finding_comes_first(annotated):
    panel = opened(annotated, "Noise")
    f = kf.load_metrics(annotated, "noise").metrics
    assert events_title(["truth"], 3, f["changed"], f["generated_from"], f["signal_loss"]) in panel.text()
    assert "fields noise_synthetic_1 to noise_synthetic_3" in panel.text()
    done, lost, impossible = panel.data["events"]
    kinds = ["deletion", "addition", "split", "merge", "wrong_class"]
    for trace, outcome in ((done, "done"), (lost, "lost"), (impossible, "impossible")):
        assert trace["x"] == [f["events"][kind][outcome] for kind in kinds]
    assert [row["stage"][0] for row in panel.rows("stages")] == ["1", "2", "3", "t", "4"]
    assert panel.rows("stages")[3]["share"] == percent_text(f["signal_loss"])


def test_a_bar_leads_to_its_labels(annotated):
    panel = opened(annotated, "Noise")
    operations = panel.send("noise_click_event", idx=2, trace_idx=0)
    expected = kf.view_of_event(annotated, "noise", "split")
    assert samples_of(annotated, operations) == expected.values("id")
    found = view_of(annotated, operations)
    assert {event for field in FIELDS for event in found.distinct(f"{field}.detections.noise")} == {"split"}
    assert f"{len(expected)} images with annotations split: done" in panel.state["in_grid"]
    lost = panel.send("noise_click_event", idx=2, trace_idx=1)
    assert samples_of(annotated, lost) == kf.view_of_event(annotated, "noise", "split", "lost").values("id")


def test_a_stage_leads_to_its_labels(annotated):
    panel = opened(annotated, "Noise")
    operations = panel.send("noise_click_stage", row=0)
    expected = kf.view_of_event(annotated, "noise", ["deletion", "addition"])
    assert samples_of(annotated, operations) == expected.values("id")


def test_images_are_opened(annotated):
    panel = opened(annotated, "Noise", "Images")
    found = kf.noisy_images(annotated, "noise")
    assert f"{len(found)} of 30 images have events; the most: {found[0].changed}" in panel.text()
    assert sum(trace["x"][0] for trace in panel.data["images"]) == found[0].changed
    operations = panel.send("noise_click_image", y=2, idx=2, trace_idx=0)
    assert given(operations, "open_sample")["id"] == found[2].sample_id
    operations = panel.send("noise_show_changed")
    assert samples_of(annotated, operations) == [image.sample_id for image in found]


def test_a_rater_leads_to_what_they_changed(annotated):
    panel = opened(annotated, "Noise", "Raters")
    assert [row["magnitude"] for row in panel.rows("noise_raters")] == ["0", "2", "5"]
    operations = panel.send("noise_click_rater", row=1)
    expected = kf.view_of_event(annotated, "noise", kf.CHANGES, rater=FIELDS[1])
    assert samples_of(annotated, operations) == expected.values("id")


def test_what_was_used_is_shown(annotated):
    panel = opened(annotated, "Noise", "Used")
    for text in ("**Model:** default", "class frequency", "annotations of other images (64 an image)", "**Seed:** 17"):
        assert text in panel.text()
    assert {row["source"] for row in panel.rows("distributions")} <= {"paper", "fitted", "default", "chosen"}
    assert "distributions" in panel.shown


@pytest.mark.filterwarnings("ignore:view. .* reach beyond their image")
def test_a_fitted_model_is_compared_with_the_real_raters(annotated):
    panel = opened(annotated, "Noise", "Fidelity")
    assert "fitted on the raters of this data set" in panel.text()
    assert "quantities" not in panel.data
    kf.inject_noise(annotated, "fitted", reference="truth", raters=1, model="fit", real_raters=FIELDS[1:])
    panel = opened(annotated, "Noise", "Fidelity")
    assert "quantities of generated raters lie in the interval of the real raters" in panel.text()
    details = kf.load_details(annotated, "fitted").details
    found = details.fidelity
    assert f"{found.inside.sum()} of {len(found)} quantities" in opened(annotated, "Noise").state["headline"]
    assert [row["inside"] for row in panel.rows("quantities")] == ["yes" if each else "no" for each in found.inside]
    assert panel.rows("quantities")[0]["quantity"] == "mean alpha"
    assert [row["model"] for row in panel.rows("rates")] == details.rate_tests.model.tolist()
    kf.delete_run(annotated, "fitted")


def test_signal_loss_stands_beside_the_papers(annotated):
    panel = opened(annotated, "Noise", "Loss")
    found = kf.load_details(annotated, "noise").details.loss_by_magnitude
    assert [row["paper"][:-2] for row in panel.rows("losses")] == ["0.2", "1.3", "4.2", "10.1", "28.3"]
    assert panel.rows("losses")[2]["here"] == percent_text(found.ratio[2])
    assert panel.data["loss"][0]["y"] == pytest.approx((100 * found.ratio).tolist())
    panel.send("explain", name="loss")
    assert "lost / attempted events" in panel.text()


def test_the_grid_as_it_was_before(annotated):
    panel = opened(annotated, "Noise")
    panel.send("noise_show_changed")
    assert names(panel.send("back")) == ["clear_view"]


def test_more_synthetic_raters_are_one_button_away(annotated):
    panel = opened(annotated, "Noise")
    assert given(panel.send("make"), "prompt_user_for_operation")["operator_uri"] == uri("inject_noise")


def test_a_data_set_without_synthetic_raters_has_no_such_section():
    dataset = fo.Dataset()
    dataset.add_samples(samples(), progress=False)
    kf.inject_noise(dataset, "noise", reference="truth", raters=1)
    panel = opened(dataset, "Noise")
    assert "1 synthetic rater from truth" in panel.text()
    kf.delete_run(dataset, "noise")
    panel.load()
    assert "Noise" not in panel.state["sections"]


def test_that_nothing_changed_is_shown():
    dataset = fo.Dataset()
    dataset.add_samples(samples(), progress=False)
    kf.inject_noise(dataset, "noise", reference="truth", raters=1, magnitude=0)
    panel = opened(dataset, "Noise")
    assert "1 synthetic rater from truth: 0 changes to 112 annotations (0\u00a0%)" in panel.text()
    panel.send("choose_page", value="Images")
    assert "On no image was an annotation missed" in panel.text()
    assert "images" not in panel.shown


def test_a_reference_that_is_gone_is_reported():
    dataset = fo.Dataset()
    dataset.add_samples(samples(), progress=False)
    kf.inject_noise(dataset, "noise", reference="truth", raters=1)
    dataset.delete_sample_field("truth")
    panel = opened(dataset, "Noise")
    assert "30 images were edited or deleted since this run" in panel.text()
    assert names(panel.send("noise_show_changed")) == ["set_view"]
