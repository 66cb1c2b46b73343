"""The section *Ceiling*: its figures at any thresholds, models placed, tags clicked."""

from __future__ import annotations

import warnings

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core import KalosWarning
from kalos_core.figures import convergence_title, directions_title
from tests.fiftyone_bridge.lively import LEVELS, RATERS, lively
from tests.panels.operations import at, names, samples_of
from tests.plugin import Panel


@pytest.fixture(scope="module")
def annotated():
    """Three raters, a model and tags on twelve images, and a run."""
    dataset = fo.Dataset()
    dataset.add_samples(lively(12), progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)
        estimate(dataset, "convergence", models="YOLO 0.05", predictions="net", tags=True)
    yield dataset
    dataset.delete()


@pytest.fixture(autouse=True)
def nothing_stays(annotated):
    before = set(fo.list_datasets())
    yield
    for name in set(fo.list_datasets()) - before:
        fo.delete_dataset(name)
    for key in kf.list_runs(annotated):
        if key != "convergence":
            kf.delete_run(annotated, key)


def estimate(dataset, key, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)
        options = {"raters": RATERS, "thresholds": LEVELS, "subsets": 20, "fraction": 0.5, **options}
        return kf.estimate_convergence(dataset, key, **options)


def on(dataset, page=None):
    return at(Panel("raters", dataset).load(), "Ceiling", page)


def title(found):
    whole = found.whole
    spread = whole.convergence
    return convergence_title(
        spread.mean, spread.interval, whole.images_per_replicate, whole.whole_convergence, whole.images
    )


def test_the_interval_comes_first(annotated):
    panel = on(annotated)
    found = kf.convergence_metrics(annotated, "convergence")
    assert title(found) in panel.text()
    assert (
        "20 subsets of 12 images, 3 raters, thresholds 0.50 to 0.90; inferred from α of all raters with the published"
        in panel.text()
    )
    bars, _, wholes, diamonds = panel.data["bars"]
    assert wholes["name"] == "all images"
    assert panel.state["tags"] == ["all images", "day", "night"]  # the rare tag has no interval
    np.testing.assert_allclose(
        bars["base"], [100 * part.replicates.convergence.interval[0] for part in found.parts[:3]]
    )
    models = dict(zip(diamonds["customdata"], zip(diamonds["y"], diamonds["x"], strict=True), strict=True))
    assert models["YOLO"] == (0, 5.0)
    assert diamonds["customdata"].count("net") == 3
    rows = panel.rows("parts")
    assert [row["name"] for row in rows] == ["all images", "day", "night", "rare"]
    assert rows[0]["whole"] == f"{100 * found.whole.whole_convergence:.1f}"
    assert rows[0]["mean"] == f"{100 * found.whole.convergence.mean:.1f}"
    assert rows[3]["ends"].startswith("fraction: expected at least one image in a subset")
    panel.send("choose_page", value="Checks")
    assert "Subsets of fewer than 100 images" in panel.text()


def test_each_model_has_its_sentence(annotated):
    panel = on(annotated)
    yolo, net = kf.convergence_metrics(annotated, "convergence").placed
    assert f"- **YOLO**: {yolo.meaning}" in panel.text()
    assert f"- **net**: {net.meaning} With each rater as ground truth: ann {100 * net.by_rater['ann']:.1f}" in (
        panel.text()
    )
    assert "Typed values stay as they are" not in panel.text()


def test_sliders_choose_thresholds_from_the_stored_replicates(annotated, monkeypatch):
    panel = on(annotated)
    monkeypatch.setattr("kalos_core.fiftyone.kinds.convergence.compute.compute_pairs", None)  # nothing is matched again
    panel.send("ceiling_on_change_least", value=0.72)
    found = kf.convergence_metrics(annotated, "convergence", least=0.7)
    assert panel.state["limits"] == {"least": 0.7, "greatest": 0.9}
    assert title(found) in panel.text()
    assert "Typed values stay as they are" in panel.text()
    panel.send("ceiling_on_change_greatest", value=0.5)
    assert panel.state["limits"] == {"least": 0.5, "greatest": 0.5}
    assert title(kf.convergence_metrics(annotated, "convergence", greatest=0.5)) in panel.text()
    panel.send("ceiling_on_change_least", value=0.9)
    assert panel.state["limits"] == {"least": 0.9, "greatest": 0.9}
    panel.send("choose_page", value="Subsets")
    assert len(panel.data["scatter"][0]["x"]) == 20


def test_every_section_shows_its_part(annotated):
    panel = on(annotated)
    found = kf.convergence_metrics(annotated, "convergence")
    shown = {"Subsets": {"sizes", "scatter", "summary"}, "Raters": {"matrix"}, "Checks": {"checks"}}
    titles = {}
    for section, parts in shown.items():
        panel.send("choose_page", value=section)
        assert parts <= set(panel.shown), section
        assert "bars" not in panel.shown
        titles |= panel.state["titles"]
    points, line = panel.data["scatter"]
    assert len(points["x"]) == 60
    assert line["name"].startswith("published: mAP = 83.6 α + 19.7")
    assert "The published line" in titles["scatter"][0]
    assert titles["matrix"][0] == directions_title(list(RATERS), found.matrix)
    (heat,) = panel.data["matrix"]
    assert heat["z"][0][1] == pytest.approx(100 * found.matrix[0][1])
    assert [row["figure"] for row in panel.rows("summary")] == [
        "modified mAP",
        "▸ mAP inferred from alpha",
        "alpha",
    ]
    assert [row["criterion"] for row in panel.rows("checks")] == [row.criterion for row in found.checklist]
    assert panel.rows("checks")[0]["verdict"] == "? cannot know"


def test_the_curve_of_sizes_ends_at_all_images(annotated):
    panel = on(annotated, "Subsets")
    sizes = kf.convergence_metrics(annotated, "convergence").sizes
    curve = panel.data["sizes"][1]
    assert curve["x"] == [row.images for row in sizes] == [1, 3, 6, 12]
    np.testing.assert_allclose(curve["y"], [100 * row.convergence for row in sizes])
    assert f"{100 * sizes[-1].convergence:.1f} mAP on all 12 images" in panel.text()
    assert "Over all thresholds of the run." not in panel.text()
    panel.send("ceiling_on_change_least", value=0.9)
    assert panel.data["sizes"][1]["y"] == curve["y"]
    assert "Over all thresholds of the run." in panel.text()


def test_two_raters_have_a_fitted_line_with_its_quality(annotated):
    estimate(annotated, "two", raters=RATERS[:2])
    panel = on(annotated, "Subsets")
    line = kf.convergence_metrics(annotated, "two").whole.fitted
    assert f"α explains {100 * line.explained:.0f}\xa0% of the spread of mAP" in panel.text()
    assert [trace["name"].split(":")[0] for trace in panel.data["scatter"][1:]] == ["fitted here", "published"]


def test_several_data_sets_have_one_line(annotated):
    estimate(annotated, "two", raters=RATERS[:2])
    panel = on(annotated, "Subsets")
    others = [fo.Dataset(), fo.Dataset()]
    for other in others:
        other.add_samples(lively(8), progress=False)
        estimate(other, "theirs", raters=RATERS[:2])
    panel.send("reload")
    offered = [choice["value"] for choice in panel.shown["pool"]["view"]["choices"]]
    assert {"this data set alone", "all of them", *(other.name for other in others)} <= set(offered)
    panel.send("ceiling_on_change_pool", value=others[0].name)
    assert [trace["name"] for trace in panel.data["scatter"][:2]] == [annotated.name, others[0].name]
    assert "over 2 data sets (ρ = " in panel.text()
    panel.send("ceiling_on_change_least", value=0.9)
    assert len(panel.data["scatter"][0]["x"]) == len(panel.data["scatter"][1]["x"]) == 20
    panel.send("ceiling_on_change_pool", value="this data set alone")
    assert "α explains" in panel.text()
    estimate(annotated, "three")
    panel.load()
    assert "pool" not in panel.shown


def test_models_are_placed_without_a_new_run(annotated):
    panel = on(annotated)
    panel.state["more"] = {"typed": "mine 99"}
    panel.send("ceiling_place")
    assert "expected the mAP of 'mine' from 0 to 1, got 99.0; 99 % is 0.99" in panel.text()
    assert "- **YOLO**" in panel.text()  # the rest stays
    panel.state["more"] = {"typed": "mine 0.99"}
    panel.send("ceiling_place")
    assert "could not be placed" not in panel.text()
    mine = kf.convergence_metrics(annotated, "convergence", models="mine 0.99").placed[1]
    assert f"- **mine**: {mine.meaning}" in panel.text()
    assert "mine" in panel.data["bars"][3]["customdata"]
    assert kf.list_runs(annotated) == ["convergence"]
    panel.send("ceiling_on_change_least", value=0.7)
    assert "- **mine**" in panel.text()


def test_the_bar_of_a_tag_leads_to_its_images(annotated):
    panel = on(annotated)
    operations = panel.send("ceiling_click_bar", y=2, idx=2)
    assert samples_of(annotated, operations) == annotated.match_tags("night").values("id")
    assert panel.state["in_grid"] == "8 images with the tag night"
    assert names(panel.send("ceiling_click_bar", y=0, idx=0)) == ["clear_view"]


def test_another_run_starts_from_its_own_thresholds(annotated):
    panel = on(annotated)
    panel.send("ceiling_on_change_least", value=0.9)
    panel.state["placed"] = "mine 0.99"
    estimate(annotated, "one", thresholds=(0.6,))
    panel.load()
    assert (panel.state["run"], panel.state["limits"]) == ("one", {"least": 0.6, "greatest": 0.6})
    assert "limits" not in panel.shown  # one threshold is no range
    assert "mine" not in panel.text()
    kf.delete_run(annotated, "one")
    panel.load()
    assert panel.state["limits"] == {"least": 0.5, "greatest": 0.9}


def test_changed_labels_are_reported():
    dataset = fo.Dataset()
    dataset.add_samples(lively(6), progress=False)
    estimate(dataset, "convergence")
    sample = dataset.first()
    sample.ann = fo.Detections()
    sample.save()
    assert "1 image was edited or deleted since this run" in on(dataset).text()


def test_labels_that_are_gone_are_reported():
    dataset = fo.Dataset()
    dataset.add_samples(lively(6), progress=False)
    estimate(dataset, "convergence")
    dataset.delete_sample_field("ann")
    panel = on(dataset)
    assert "6 images were edited or deleted since this run" in panel.text()
    assert panel.data["bars"]
