"""Synthetic raters in the workbench: events by kind, stage, image and rater; what a click leads to."""

from __future__ import annotations

from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core.display import percent_text
from kalos_core.fiftyone.kinds.noise.views import CHANGES, noisy_images, view_of_event
from kalos_core.figures.events import events_title
from tests.fiftyone_bridge.noisy import samples
from tests.operators.calls import data_set
from tests.panels.operations import names, opened, prompted, sample_of, samples_of, view_of

FIELDS = [f"noise_synthetic_{number}" for number in (1, 2, 3)]


@pytest.fixture(scope="module")
def annotated() -> fo.Dataset:
    """Three synthetic raters of a reference."""
    dataset = data_set(samples())
    kf.inject_noise(dataset, "noise", reference="truth", magnitude=[0, 2, 5], seed=17)
    return dataset


def leads_to(dataset: fo.Dataset, operations: Any, *event: Any, **more: Any) -> None:
    """Check that the grid shows the images of some events."""
    assert samples_of(dataset, operations) == view_of_event(dataset, "noise", *event, **more).values("id")


def test_events_lead_to_their_labels(annotated: fo.Dataset) -> None:
    panel = opened(annotated, "Noise")
    f = kf.load_metrics(annotated, "noise").metrics
    assert events_title(["truth"], 3, f["changed"], f["generated_from"], f["signal_loss"]) in panel.text()
    kinds = ["deletion", "addition", "split", "merge", "wrong_class"]
    for trace, outcome in zip(panel.data["events"], ("done", "lost", "impossible"), strict=True):
        assert trace["x"] == [f["events"][kind][outcome] for kind in kinds]
    assert [row["stage"][0] for row in panel.rows("stages")] == ["1", "2", "3", "t", "4"]
    assert panel.rows("stages")[3]["share"] == percent_text(f["signal_loss"])
    operations = panel.send("noise_click_event", idx=2, trace_idx=0)
    leads_to(annotated, operations, "split")
    found = view_of(annotated, operations)
    assert {event for field in FIELDS for event in found.distinct(f"{field}.detections.noise")} == {"split"}
    assert f"{len(found)} images with annotations split: done" in panel.grids[-1]["text"]
    leads_to(annotated, panel.send("noise_click_event", idx=2, trace_idx=1), "split", "lost")
    leads_to(annotated, panel.send("noise_click_stage", row=0), ["deletion", "addition"])
    assert prompted(panel.send("make"))[0] == "inject_noise"


def test_images_and_raters_lead_to_what_was_changed(annotated: fo.Dataset) -> None:
    panel = opened(annotated, "Noise", "Images")
    found = noisy_images(annotated, "noise")
    assert f"{len(found)} of 30 images have events; the most: {found[0].changed}" in panel.text()
    assert sum(trace["x"][0] for trace in panel.data["images"]) == found[0].changed
    assert sample_of(panel.send("noise_click_image", y=2, idx=2, trace_idx=0)) == found[2].sample_id
    assert samples_of(annotated, panel.send("noise_show_changed")) == [image.sample_id for image in found]
    assert names(panel.send("back")) == ["clear_view"]
    panel.send("choose_page", value="Raters")
    assert [row["magnitude"] for row in panel.rows("noise_raters")] == ["0", "2", "5"]
    leads_to(annotated, panel.send("noise_click_rater", row=1), CHANGES, rater=FIELDS[1])


def test_what_was_used_and_what_was_lost(annotated: fo.Dataset) -> None:
    panel = opened(annotated, "Noise", "Used")
    for text in ("**Model:** default", "class frequency", "annotations of other images (64 an image)", "**Seed:** 17"):
        assert text in panel.text()
    assert {row["source"] for row in panel.rows("distributions")} <= {"paper", "fitted", "default", "chosen"}
    panel.send("choose_page", value="Loss")
    found = kf.load_details(annotated, "noise").details.loss_by_magnitude
    assert [row["paper"][:-2] for row in panel.rows("losses")] == ["0.2", "1.3", "4.2", "10.1", "28.3"]
    assert panel.rows("losses")[2]["here"] == percent_text(found.ratio[2])
    assert panel.data["loss"][0]["y"] == pytest.approx((100 * found.ratio).tolist())
