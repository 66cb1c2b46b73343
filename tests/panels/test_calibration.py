"""The Calibration panel: the table, the plot, the button, and the reason where there is no threshold."""

from __future__ import annotations

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core.display import alpha_text
from kalos_core.figures import calibration_title
from tests.fiftyone_bridge.scenes import RATERS, detection
from tests.panels.operations import given
from tests.plugin import Panel


@pytest.fixture
def lively() -> fo.Dataset:
    """Twelve images of two raters whose boxes differ a little, each image in a place of its own."""

    def boxes(number: int, shift: float) -> fo.Detections:
        x, y = 5 + 7 * (number % 5), 5 + 6 * (number // 5)
        return fo.Detections(detections=[detection("cat", [x + shift, y, 30, 30])])

    metadata = fo.ImageMetadata(width=100, height=100)
    dataset = fo.Dataset()
    dataset.add_samples(
        [
            fo.Sample(f"{n}.jpg", metadata=metadata, raters=list(RATERS), ann=boxes(n, 0), bob=boxes(n, 0.5 * (n % 4)))
            for n in range(12)
        ],
        progress=False,
    )
    names = ["centroid_box", "box_iou"]
    kf.calibrate_threshold(dataset, "calibration", raters=RATERS, similarities=names, bootstrap=20)
    return dataset


@pytest.fixture
def unsure() -> fo.Dataset:
    """As alike in one image as across images: a threshold would be a guess."""
    rng = np.random.default_rng(0)
    metadata = fo.ImageMetadata(width=100, height=100)
    dataset = fo.Dataset()
    for n in range(12):
        boxes = {
            name: fo.Detections(detections=[detection("cat", [*rng.uniform(0, 40, 2), 50, 50])]) for name in RATERS
        }
        dataset.add_sample(fo.Sample(f"{n}.jpg", metadata=metadata, raters=list(RATERS), **boxes))
    kf.calibrate_threshold(dataset, "calibration", raters=RATERS, similarities=["box_iou"])
    return dataset


def test_the_best_similarity_comes_first_and_is_shown(lively):
    panel = Panel("calibration", lively).load()
    found = kf.load_metrics(lively, "calibration").metrics["similarities"]
    rows = panel.rows("similarities")
    assert [row["name"].removeprefix("▸ ") for row in rows] == [entry["name"] for entry in found]
    assert rows[0]["name"].startswith("▸ ")
    assert rows[0]["ks"].startswith(alpha_text(found[0]["ks"], 3))
    assert rows[0]["threshold"].startswith(alpha_text(found[0]["threshold"], 3))
    assert f"{found[0]['name']} tells signal from chance best" in panel.text()
    assert "over 12 images, 24 annotations, 2 raters; 1 draw of chance, seed 0" in panel.text()


def test_the_plot_shows_shares_and_tau(lively):
    panel = Panel("calibration", lively).load()
    shown = kf.load_details(lively, "calibration").details.best
    observed, expected = panel.data["distances"][:2]
    assert sum(observed["y"]) == pytest.approx(1)
    assert sum(expected["y"]) == pytest.approx(1)
    lines = [shape["x0"] for shape in panel.state["layouts"]["distances"]["shapes"]]
    assert shown.tau in lines
    assert [row["size"] for row in panel.rows("sizes")] == list(shown.strata)


def test_a_row_shows_another_similarity(lively):
    panel = Panel("calibration", lively).load()
    panel.send("on_click_similarity", row=1)
    found = kf.load_metrics(lively, "calibration").metrics["similarities"][1]
    assert calibration_title(found["name"], found["ks"], found["tau"], found["reason"], found["why"]) in panel.text()
    assert panel.rows("similarities")[1]["name"] == f"▸ {found['name']}"


def test_the_button_makes_the_threshold_the_default(lively):
    panel = Panel("calibration", lively).load()
    name = panel.state["similarity"]
    threshold = kf.load_metrics(lively, "calibration").metrics["similarities"][0]["threshold"]
    assert f"Use {alpha_text(threshold)} as the default threshold of {name}" in panel.text()
    operations = panel.send("use_threshold")
    assert given(operations, "notify")["message"] == f"Later forms offer {alpha_text(threshold)} for {name}"
    assert kf.default_threshold(lively, name) == pytest.approx(threshold)
    assert "use" not in panel.shown
    assert "is what later forms offer" in panel.text()
    assert panel.rows("similarities")[0]["threshold"].endswith("✓ default")
    assert Panel("calibration", lively).load().state["defaults"] == panel.state["defaults"]


def test_a_threshold_that_is_not_to_be_trusted_is_asked_for_once_more(unsure):
    panel = Panel("calibration", unsure).load()
    (found,) = kf.load_metrics(unsure, "calibration").metrics["similarities"]
    assert not found["trusted"]
    assert panel.rows("similarities")[0]["threshold"].endswith(f"⚠ not to be trusted: {found['why']}")
    assert f"box_iou is not to be trusted: {found['why']}" in panel.text()
    panel.send("use_threshold")
    assert kf.default_threshold(unsure, "box_iou") is None
    assert "doubt" in panel.shown
    assert f"Use {alpha_text(found['threshold'])} as the default threshold of box_iou all the same" in panel.text()
    panel.send("use_threshold")
    assert kf.default_threshold(unsure, "box_iou") == found["threshold"]


def test_where_there_is_no_threshold_the_reason_is_shown_and_there_is_no_button():
    boxes = fo.Detections(detections=[detection("cat", [10, 10, 40, 40])])
    metadata = fo.ImageMetadata(width=100, height=100)
    dataset = fo.Dataset()
    for number in range(3):
        fields = {"raters": list(RATERS), "ann": boxes.copy(), "bob": boxes.copy()}
        dataset.add_sample(fo.Sample(f"{number}.jpg", metadata=metadata, **fields))
    kf.calibrate_threshold(dataset, "calibration", raters=RATERS, similarities=["box_iou"])
    (found,) = kf.load_metrics(dataset, "calibration").metrics["similarities"]
    assert found["threshold"] is None
    panel = Panel("calibration", dataset).load()
    assert found["reason"] in panel.text()
    assert found["reason"] == panel.rows("similarities")[0]["threshold"]
    assert "use" not in panel.shown
    panel.send("use_threshold")  # pressed in a window that was open before
    assert "expected a calibrated threshold, got none" in panel.text()


def test_published_calibrations_stand_below_the_same_similarity_first(lively):
    panel = Panel("calibration", lively).load()
    panel.send("on_click_similarity", row=panel.state["names"].index("box_iou"))
    rows = panel.rows("published")
    assert rows[0] == {
        "dataset": "LVIS",
        "name": "box_iou",
        "ks": "0.798\n[0.786,\xa00.807]",
        "tau": "0.654\n[0.643,\xa00.668]",
        "threshold": "0.346",
        "source": "KαLOS, CVPR 2026 Table 4",
    }
