"""Noise: content of its pages on synthetic raters, and labels behind a click."""

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
from tests.panels.operations import given, opened, prompted, sample_of, samples_of, view_of

FIELDS = [f"noise_synthetic_{number}" for number in (1, 2, 3)]


@pytest.fixture(scope="module")
def annotated() -> fo.Dataset:
    """Return three synthetic raters of a reference."""
    dataset = data_set(samples())
    kf.inject_noise(dataset, "noise", reference="truth", magnitude=[0, 2, 5], seed=17)
    return dataset


def leads_to(dataset: fo.Dataset, operations: Any, *event: Any, **more: Any) -> None:
    """Check that the grid shows the images of some events."""
    assert samples_of(dataset, operations) == view_of_event(dataset, "noise", *event, **more).values("id")


def test_events_lead_to_their_labels_which_are_shown(annotated: fo.Dataset) -> None:
    panel = opened(annotated, "Noise")
    shown, f = panel.record["shown"], kf.load_metrics(annotated, "noise").metrics
    assert shown["title"] == events_title(["truth"], 3, f["changed"], f["generated_from"], f["signal_loss"])
    assert {row["kind"]: row["outcomes"] for row in shown["events"]} == {kind: f["events"][kind] for kind in CHANGES}
    assert [row["stage"][0] for row in shown["rows"]] == ["1", "2", "3", "t", "4"]
    assert shown["rows"][3]["share"] == percent_text(f["signal_loss"])
    operations = panel.act("event", kind="split", outcome="done")
    leads_to(annotated, operations, "split")
    found = view_of(annotated, operations)
    assert {event for field in FIELDS for event in found.distinct(f"{field}.detections.noise")} == {"split"}
    assert panel.grids[-1]["text"] == f"{len(found)} images with annotations split: done"
    assert given(operations, "set_active_fields")["fields"] == [*FIELDS, "truth"]  # otherwise the App hides them
    leads_to(annotated, panel.act("event", kind="split", outcome="lost"), "split", "lost")
    leads_to(annotated, panel.act("stage", name=shown["stages"][0]), ["deletion", "addition"])
    assert prompted(panel.act("again"))[0] == "inject_noise"


def test_images_and_raters_lead_to_what_was_changed(annotated: fo.Dataset) -> None:
    panel = opened(annotated, "Noise").choose(page="Images")
    shown, found = panel.record["shown"], noisy_images(annotated, "noise")
    assert f"{len(found)} of 30 images have events; the most: {found[0].changed}" in shown["title"]
    assert [image["changed"] for image in shown["images"]] == [image.changed for image in found[:20]]
    assert sample_of(panel.act("open", sample=shown["images"][2]["sample_id"])) == found[2].sample_id
    assert samples_of(annotated, panel.act("changed")) == [image.sample_id for image in found]
    raters = panel.choose(page="Raters").record["shown"]["raters"]
    assert [(row["field"], row["magnitude"]) for row in raters] == list(zip(FIELDS, [0, 2, 5], strict=True))
    operations = panel.act("rater", field=FIELDS[1])
    leads_to(annotated, operations, CHANGES, rater=FIELDS[1])
    assert given(operations, "set_active_fields")["fields"] == [FIELDS[1], "truth"]


def test_used_and_lost_records(annotated: fo.Dataset) -> None:
    panel = opened(annotated, "Noise").choose(page="Used")
    facts = panel.record["shown"]["facts"]
    assert (facts["Model"], facts["Seed"]) == ("default", "17")
    assert {row["source"] for row in panel.record["shown"]["origins"]} <= {"paper", "fitted", "default", "chosen"}
    shown = panel.choose(page="Loss").record["shown"]
    found = kf.load_details(annotated, "noise").details.loss_by_magnitude
    assert [row["paper"][:-2] for row in shown["rows"]] == ["0.2", "1.3", "4.2", "10.1", "28.3"]
    assert shown["rows"][2]["here"] == percent_text(found.ratio[2])
    assert shown["figure"]["traces"][0]["y"] == pytest.approx((100 * found.ratio).tolist())
    assert panel.choose(page="Fidelity").record["shown"]["figure"] is None  # with one reference there is none
