"""Threshold: content of its pages, by hand and vs. the library's results, and effects of its clicks."""

from __future__ import annotations

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.analyses.summaries import threshold_advice
from kalos_core.fiftyone.kinds.agreement.views import view_of_threshold
from kalos_core.fiftyone.kinds.calibration.kind import default_threshold
from tests.fiftyone_bridge.scenes import RATERS, make_samples
from tests.operators.calls import data_set
from tests.panels.operations import opened, prompted, samples_of


@pytest.fixture(scope="module")
def calibrated() -> fo.Dataset:
    """Return twelve images of two raters whose boxes differ slightly, at another position in each image."""
    places = [(number, 5 + 7 * (number % 5), 5 + 6 * (number // 5)) for number in range(12)]
    scenes = [
        {"ann": [("cat", [x, y, 30, 30])], "bob": [("cat", [x + 0.5 * (number % 4), y, 30, 30])]}
        for number, x, y in places
    ]
    dataset = data_set(make_samples(scenes))
    names = ["centroid_box", "box_iou"]
    kf.calibrate_threshold(dataset, "calibration", raters=RATERS, similarities=names, bootstrap=20)
    return dataset


def agree(dataset: fo.Dataset, key: str = "agreement", **options: object) -> None:
    kf.compute_agreement(dataset, key, raters=RATERS, **{"similarity": "box_iou", "bootstrap": 0, **options})


def test_the_similarity_in_use_comes_first_and_a_better_one_is_recommended(calibrated: fo.Dataset) -> None:
    best, other = kf.load_metrics(calibrated, "calibration").metrics["similarities"]
    panel = opened(calibrated, "Threshold").choose(page="Sensitivity")  # which has no run yet, and says so
    assert panel.invitation["operator"] == "compute_agreement"
    for name in ("box_iou", "centroid_box"):
        agree(calibrated, name, similarity=name, threshold=0.4)
        shown = opened(calibrated, "Threshold").record["shown"]
        assert shown["similarity"] == name
        assert shown["said"].count("; in use: 0.40") == 1
        advice = threshold_advice(calibrated, name)
        assert (advice.better is not None) == (advice.difference_interval[0] > 0)
        assert advice.better in (None, best["name"])
        assert shown["advice"] == advice.text
    panel = opened(calibrated, "Threshold").choose(similarity="box_iou")
    shown = panel.record["shown"]
    assert "; in use: centroid_box 0.40" in shown["said"]
    assert shown["over"] == "Over 12 images, 24 annotations, 2 raters; 1 draw of chance, seed 0."
    rows = [(row["name"], row["ks"]["value"], row["threshold"]["value"]) for row in shown["similarities"]]
    assert rows == [(one["name"], one["ks"], one["threshold"]) for one in (best, other)]
    observed, expected = shown["figure"]["traces"][:2]
    assert [sum(observed["y"]), sum(expected["y"])] == pytest.approx([1, 1])
    assert [row["name"] for row in shown["sizes"]] == list(
        kf.load_details(calibrated, "calibration").details["box_iou"].strata
    )
    printed = panel.choose(page="Published").record["shown"][0]
    assert (printed["dataset"], printed["name"]) == ("LVIS", "box_iou")
    assert (printed["ks"]["value"], printed["tau"]["low"], printed["threshold"]) == (0.798, 0.643, pytest.approx(0.346))


def test_a_click_makes_the_threshold_the_default(calibrated: fo.Dataset) -> None:
    dataset = calibrated.clone(persistent=True)
    panel = opened(dataset, "Threshold").choose(page="Calibration", similarity="box_iou")
    again = panel.record["shown"]["again"]
    (row,) = [row for row in panel.record["shown"]["similarities"] if row["name"] == "box_iou"]
    assert not row["is_default"]
    filled = {"similarity": "box_iou", "threshold": round(row["threshold"]["value"], 3), "view_target": "DATASET"}
    assert prompted(panel.act("again", **again)) == ("analyse", filled)
    panel.act("use", similarity="box_iou")
    assert default_threshold(dataset, "box_iou") == pytest.approx(row["threshold"]["value"])
    rows = panel.choose(page="Calibration").record["shown"]["similarities"]
    assert [row["name"] for row in rows if row["is_default"]] == ["box_iou"]


def test_a_threshold_shows_its_counts(analysed: fo.Dataset) -> None:
    panel = opened(analysed, "Threshold").choose(page="Types")
    shares = kf.load_details(analysed, "variations").details.shares
    for index, trace in enumerate(panel.record["shown"]["figure"]["traces"]):
        assert trace["x"] == shares.threshold.tolist()
        assert trace["customdata"] == shares.counts[:, index].tolist()
    shown = panel.choose(page="Types", level=0.3).record["shown"]
    # one half matches the bench there, and the other is additional
    assert [(row["own"], row["chosen"], row["change"]) for row in shown["counts"]] == [
        (1, 2, 1),
        (1, 0, -1),
        (0, 0, 0),
        (1, 1, 0),
        (1, 1, 0),
        (0, 1, 1),
    ]
    assert [line["x0"] for line in shown["figure"]["layout"]["shapes"]] == [0.3]
    kf.find_variations(analysed, "other", raters=RATERS, threshold=0.7, thresholds=[0.5])
    panel.send("on_change_analysis", value="other")
    shown = panel.choose(page="Types", level=0.3).record["shown"]  # which it does not have
    assert (shown["level"], shown["levels"]) == (0.7, [0.5, 0.7])
    kf.delete_run(analysed, "other")


def test_the_curve_of_alpha_leads_to_its_images(analysed: fo.Dataset) -> None:
    panel = opened(analysed, "Threshold").choose(page="Sensitivity")
    found = kf.load_details(analysed, "agreement").details.sensitivity
    assert [row["alpha"]["value"] for row in panel.record["shown"]["levels"]] == found.alpha.tolist()
    threshold = found.threshold[0]
    clicked = samples_of(analysed, panel.act("alpha", threshold=threshold))
    assert clicked == view_of_threshold(analysed, "agreement", threshold).values("id")
