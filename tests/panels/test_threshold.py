"""The section *Threshold*: calibration, what depends on the threshold, the buttons, and why there is none."""

from __future__ import annotations

import html

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core import VARIATION_TYPES
from kalos_core.display import alpha_text
from kalos_core.figures import sensitivity_title, shares_title
from tests.fiftyone_bridge.scenes import RATERS, detection
from tests.panels.operations import at, given, samples_of
from tests.plugin import Panel


def on(page: str, dataset: fo.Dataset) -> Panel:
    return at(Panel("raters", dataset).load(), "Threshold", page)


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
    panel = on("Calibration", lively)
    found = kf.load_metrics(lively, "calibration").metrics["similarities"]
    rows = panel.rows("similarities")
    assert [row["name"].removeprefix("▸ ") for row in rows] == [entry["name"] for entry in found]
    assert rows[0]["name"].startswith("▸ ")
    assert rows[0]["ks"].startswith(alpha_text(found[0]["ks"], 3))
    assert rows[0]["threshold"].startswith(alpha_text(found[0]["threshold"], 3))
    assert "the one that tells the same object from chance best first" in panel.text()
    assert "Over 12 images, 24 annotations, 2 raters; 1 draw of chance, seed 0" in panel.text()


def test_the_plot_shows_shares_and_tau(lively):
    panel = on("Calibration", lively)
    shown = kf.load_details(lively, "calibration").details.best
    observed, expected = panel.data["calibration"][:2]
    assert sum(observed["y"]) == pytest.approx(1)
    assert sum(expected["y"]) == pytest.approx(1)
    lines = [shape["x0"] for shape in panel.state["layouts"]["calibration"]["shapes"]]
    assert shown.tau in lines
    assert [row["size"] for row in panel.rows("sizes")] == list(shown.strata)


def test_a_row_shows_another_similarity(lively):
    panel = on("Calibration", lively)
    panel.send("threshold_click_similarity", row=1)
    found = kf.load_metrics(lively, "calibration").metrics["similarities"][1]
    assert f"From {found['name']} {alpha_text(found['threshold'])} on, two annotations are more likely" in panel.text()
    assert panel.rows("similarities")[1]["name"] == f"▸ {found['name']}"


def test_the_button_makes_the_threshold_the_default(lively):
    panel = on("Calibration", lively)
    name = panel.state["similarity"]
    threshold = kf.load_metrics(lively, "calibration").metrics["similarities"][0]["threshold"]
    assert f"Use {alpha_text(threshold)} as the default threshold of {name}" in panel.text()
    operations = panel.send("threshold_use")
    assert given(operations, "notify")["message"] == f"Later forms offer {alpha_text(threshold)} for {name}"
    assert kf.default_threshold(lively, name) == pytest.approx(threshold)
    assert "use" not in panel.shown
    assert "is what later forms offer" in panel.text()
    assert panel.rows("similarities")[0]["threshold"].endswith("✓ default")
    assert on("Calibration", lively).state["defaults"] == panel.state["defaults"]


def test_a_threshold_that_is_not_to_be_trusted_is_asked_for_once_more(unsure):
    panel = on("Calibration", unsure)
    (found,) = kf.load_metrics(unsure, "calibration").metrics["similarities"]
    assert not found["trusted"]
    assert panel.rows("similarities")[0]["threshold"].endswith(f"⚠ not to be trusted: {found['why']}")
    assert f"box_iou is not to be trusted: {found['why']}" in panel.text()
    panel.send("threshold_use")
    assert kf.default_threshold(unsure, "box_iou") is None
    assert "doubt" in panel.shown
    assert f"Use {alpha_text(found['threshold'])} as the default threshold of box_iou all the same" in panel.text()
    panel.send("threshold_use")
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
    panel = on("Calibration", dataset)
    assert found["reason"] in panel.text()
    assert found["reason"] == panel.rows("similarities")[0]["threshold"]
    assert "use" not in panel.shown
    panel.send("threshold_use")  # pressed in a window that was open before
    assert "expected a calibrated threshold, got none" in panel.text()


def test_published_calibrations_stand_below_the_same_similarity_first(lively):
    kf.compute_agreement(lively, "agreement", raters=RATERS, similarity="box_iou", bootstrap=0)
    rows = on("Published", lively).rows("published")
    assert rows[0] == {
        "dataset": "LVIS",
        "name": "box_iou",
        "ks": "0.798\n[0.786, 0.807]",
        "tau": "0.654\n[0.643, 0.668]",
        "threshold": "0.346",
        "source": "KαLOS, CVPR 2026 Table 4",
    }


# ---- what depends on it ----


@pytest.fixture
def found(dataset: fo.Dataset) -> fo.Dataset:
    """The six scenes with a search for variations."""
    kf.find_variations(dataset, "variations", raters=RATERS)
    return dataset


def test_thresholds_show_what_the_run_stored(found):
    panel = on("Types", found)
    shares = kf.load_details(found, "variations").details.shares
    for index, trace in enumerate(panel.data["shares"]):
        assert trace["x"] == shares.threshold.tolist()
        assert trace["customdata"] == shares.counts[:, index].tolist()
    assert shares_title(shares.equilibrium, shares.no_equilibrium) in panel.text()
    counts = shares.counts[shares.threshold.tolist().index(0.5)]
    assert [row["own"].split("\xa0")[0] for row in panel.rows("at_threshold")] == [str(count) for count in counts]
    assert "Change" not in panel.text()


@pytest.mark.parametrize(
    ("method", "params"), [("threshold_click_level", {"x": 0.31}), ("threshold_on_change_level", {"value": "0.3"})]
)
def test_a_threshold_shows_its_counts(found, method, params):
    panel = on("Types", found)
    panel.send(method, **params)
    assert panel.state["level"] == "0.3"
    # one half is taken for the bench there, and the other one is additional
    rows = [
        (row["own"].split("\xa0")[0], row["chosen"].split("\xa0")[0], row["change"])
        for row in panel.rows("at_threshold")
    ]
    assert dict(zip(VARIATION_TYPES, rows, strict=True)) == {
        "correct": ("1", "2", "+1"),
        "merged": ("1", "0", "−1"),
        "merged_wrong_class": ("0", "0", "0"),
        "wrong_class": ("1", "1", "0"),
        "missing": ("1", "1", "0"),
        "additional": ("0", "1", "+1"),
    }
    assert "At 0.30" in panel.text()
    lines = panel.state["layouts"]["shares"]["shapes"]
    assert [line["x0"] for line in lines] == [0.3]


def test_a_run_that_has_not_the_chosen_threshold_shows_its_own(found):
    panel = on("Types", found)
    panel.send("threshold_on_change_level", value="0.3")
    kf.find_variations(found, "other", raters=RATERS, threshold=0.7, thresholds=[0.5])
    panel.load()
    panel.send("on_change_analysis", value="other")
    assert (panel.state["level"], panel.state["levels"]) == ("0.7", ["0.5", "0.7"])


def test_it_starts_from_the_similarity_in_use(lively):
    kf.compute_agreement(lively, "agreement", raters=RATERS, similarity="box_iou", threshold=0.4, bootstrap=0)
    panel = on("Calibration", lively)
    worse = kf.load_metrics(lively, "calibration").metrics["similarities"][1]["name"]
    for name in ("box_iou", "centroid_box"):
        kf.delete_run(lively, "agreement")
        kf.compute_agreement(lively, "agreement", raters=RATERS, similarity=name, threshold=0.4, bootstrap=0)
        panel = on("Calibration", lively)
        assert panel.state["similarity"] == name
        assert panel.text().count("; in use: 0.40") == 1
    panel.send("threshold_click_similarity", row=panel.state["names"].index("box_iou"))
    assert "; in use: centroid_box 0.40" in panel.text()
    assert worse in panel.state["names"]


def test_a_new_analysis_is_offered_with_it(lively):
    kf.compute_agreement(lively, "agreement", raters=RATERS, similarity="box_iou", bootstrap=0)
    panel = on("Calibration", lively)
    threshold = panel.state["calibrated"]
    button = panel.shown["use_row"]["type"]["properties"]["again"]["view"]
    assert button["label"] == f"New analysis with box_iou from {alpha_text(threshold)} on"
    given_params = {
        "operator": "analyse",
        "given": {"similarity": "box_iou", "threshold": round(threshold, 3), "view_target": "DATASET"},
    }
    assert button["params"] == given_params
    prompted = given(panel.send("prompt", **button["params"]), "prompt_user_for_operation")
    assert prompted["params"] == given_params["given"]


def test_the_curve_of_alpha_leads_to_its_images(analysed):
    panel = on("Sensitivity", analysed)
    curve = kf.load_details(analysed, "agreement").details.sensitivity
    assert sensitivity_title(curve.delta, curve.anchor, curve.strict, curve.delta_interval) in panel.text()
    found = samples_of(analysed, panel.send("threshold_click_alpha", x=curve.threshold[0]))
    assert found == kf.view_of_threshold(analysed, "agreement", curve.threshold[0]).values("id")
    assert panel.send("threshold_click_alpha", x=0.123) == []  # between two points


def test_a_page_without_its_run_offers_to_make_one_and_the_others_stay_in_reach(found):
    panel = on("Calibration", found)
    assert "Nothing is computed yet" in panel.text()
    assert given(panel.send("make"), "prompt_user_for_operation")["operator_uri"].endswith("calibrate_threshold")
    panel.send("choose_page", value="Types")
    assert "shares" in panel.data
    panel.send("choose_page", value="Sensitivity")
    assert given(panel.send("make"), "prompt_user_for_operation")["operator_uri"].endswith("compute_agreement")


def test_another_similarity_is_recommended_only_where_it_is_significantly_better(lively):
    best, worse = kf.load_metrics(lively, "calibration").metrics["similarities"]
    for key, used in (("agreement", worse), ("second", best)):
        kf.compute_agreement(lively, key, raters=RATERS, similarity=used["name"], bootstrap=0)
        advice = kf.threshold_advice(lively, key)
        assert (advice.better is not None) == (advice.difference_interval[0] > 0)
        assert advice.better in (None, best["name"])
        assert advice.text in html.unescape(on("Calibration", lively).text())
