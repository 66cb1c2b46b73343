"""The section *Threshold*: calibration, what depends on the threshold, the buttons, and why there is none."""

from __future__ import annotations

import html

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core.display import alpha_text
from kalos_core.fiftyone.analyses.advice import threshold_advice
from kalos_core.fiftyone.kinds.agreement.views import view_of_threshold
from kalos_core.fiftyone.runs.thresholds import default_threshold
from kalos_core.variation import VARIATION_TYPES
from tests.fiftyone_bridge.scenes import RATERS, make_samples
from tests.operators.calls import data_set
from tests.panels.operations import given, opened, prompted, samples_of


@pytest.fixture(scope="module")
def calibrated() -> fo.Dataset:
    """Twelve images of two raters whose boxes differ a little, each image in a place of its own."""
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


# ---- calibration ----


def test_the_best_similarity_comes_first_and_is_shown(calibrated: fo.Dataset) -> None:
    panel = opened(calibrated, "Threshold", "Calibration")
    found = kf.load_metrics(calibrated, "calibration").metrics["similarities"]
    rows = panel.rows("similarities")
    assert [row["name"] for row in rows] == [f"▸ {found[0]['name']}", found[1]["name"]]
    assert rows[0]["ks"].startswith(alpha_text(found[0]["ks"], 3))
    assert rows[0]["threshold"].startswith(alpha_text(found[0]["threshold"], 3))
    assert "Over 12 images, 24 annotations, 2 raters; 1 draw of chance, seed 0" in panel.text()
    shown = kf.load_details(calibrated, "calibration").details.best
    observed, expected = panel.data["calibration"][:2]
    assert sum(observed["y"]) == pytest.approx(1)
    assert sum(expected["y"]) == pytest.approx(1)
    assert shown.tau in [shape["x0"] for shape in panel.state["layouts"]["calibration"]["shapes"]]
    assert [row["size"] for row in panel.rows("sizes")] == list(shown.strata)
    panel.send("threshold_click_similarity", row=1)
    assert panel.rows("similarities")[1]["name"] == f"▸ {found[1]['name']}"
    assert f"From {found[1]['name']} {alpha_text(found[1]['threshold'])} on, two annotations are" in panel.text()


def test_the_button_makes_the_threshold_the_default(calibrated: fo.Dataset) -> None:
    dataset = calibrated.clone(persistent=True)
    panel = opened(dataset, "Threshold", "Calibration")
    name, threshold = panel.state["similarity"], panel.state["calibrated"]
    assert threshold == kf.load_metrics(dataset, "calibration").metrics["similarities"][0]["threshold"]
    again = panel.shown["use_row"]["type"]["properties"]["again"]["view"]["params"]
    filled = {"similarity": name, "threshold": round(threshold, 3), "view_target": "DATASET"}
    assert prompted(panel.send("prompt", **again)) == ("analyse", filled)
    operations = panel.send("threshold_use")
    assert given(operations, "notify")["message"] == f"Later forms offer {alpha_text(threshold)} for {name}"
    assert default_threshold(dataset, name) == pytest.approx(threshold)
    assert "use" not in panel.shown["use_row"]["type"]["properties"]
    assert panel.rows("similarities")[0]["threshold"].endswith("✓ default")
    assert opened(dataset, "Threshold", "Calibration").state["defaults"] == panel.state["defaults"]


def test_the_similarity_in_use_comes_first_and_a_better_one_is_recommended(calibrated: fo.Dataset) -> None:
    best, _ = kf.load_metrics(calibrated, "calibration").metrics["similarities"]
    for name in ("box_iou", "centroid_box"):
        agree(calibrated, name, similarity=name, threshold=0.4)
        panel = opened(calibrated, "Threshold", "Calibration")
        assert panel.state["similarity"] == name
        assert panel.text().count("; in use: 0.40") == 1
        advice = threshold_advice(calibrated, name)
        assert (advice.better is not None) == (advice.difference_interval[0] > 0)
        assert advice.better in (None, best["name"])
        assert advice.text in html.unescape(panel.text())
    panel.send("threshold_click_similarity", row=panel.state["names"].index("box_iou"))
    assert "; in use: centroid_box 0.40" in panel.text()
    kf.delete_run(calibrated, "centroid_box")
    published = opened(calibrated, "Threshold", "Published").rows("published")
    printed = {"ks": "0.798\n[0.786, 0.807]", "tau": "0.654\n[0.643, 0.668]", "threshold": "0.346"}
    assert published[0] == {"dataset": "LVIS", "name": "box_iou", "source": "KαLOS, CVPR 2026 Table 4", **printed}


# ---- what depends on it ----


def test_a_threshold_shows_its_counts(analysed: fo.Dataset) -> None:
    panel = opened(analysed, "Threshold", "Types")
    shares = kf.load_details(analysed, "variations").details.shares
    for index, trace in enumerate(panel.data["shares"]):
        assert trace["x"] == shares.threshold.tolist()
        assert trace["customdata"] == shares.counts[:, index].tolist()
    for method, params in (("threshold_click_level", {"x": 0.31}), ("threshold_on_change_level", {"value": "0.3"})):
        panel = opened(analysed, "Threshold", "Types")
        panel.send(method, **params)
        assert panel.state["level"] == "0.3"
        rows = panel.rows("at_threshold")
        shown = [[row[name].split("\xa0")[0] for name in ("own", "chosen", "change")] for row in rows]
        # one half is taken for the bench there, and the other one is additional
        assert dict(zip(VARIATION_TYPES, shown, strict=True)) == {
            "correct": ["1", "2", "+1"],
            "merged": ["1", "0", "−1"],
            "merged_wrong_class": ["0", "0", "0"],
            "wrong_class": ["1", "1", "0"],
            "missing": ["1", "1", "0"],
            "additional": ["0", "1", "+1"],
        }
        assert [line["x0"] for line in panel.state["layouts"]["shares"]["shapes"]] == [0.3]
    kf.find_variations(analysed, "other", raters=RATERS, threshold=0.7, thresholds=[0.5])
    panel.send("on_change_analysis", value="other")  # which has not the chosen threshold
    assert (panel.state["level"], panel.state["levels"]) == ("0.7", ["0.5", "0.7"])


def test_the_curve_of_alpha_leads_to_its_images(analysed: fo.Dataset) -> None:
    panel = opened(analysed, "Threshold", "Sensitivity")
    threshold = kf.load_details(analysed, "agreement").details.sensitivity.threshold[0]
    found = samples_of(analysed, panel.send("threshold_click_alpha", x=threshold))
    assert found == view_of_threshold(analysed, "agreement", threshold).values("id")
    assert panel.send("threshold_click_alpha", x=0.123) == []  # between two points
