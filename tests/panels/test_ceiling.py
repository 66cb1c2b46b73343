"""The section *Ceiling*: its numbers at any thresholds, models placed, tags clicked."""

from __future__ import annotations

from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core.figures.convergence import convergence_title
from tests.fiftyone_bridge.lively import LEVELS, RATERS, lively
from tests.operators.calls import data_set
from tests.panels.operations import names, opened, samples_of

pytestmark = pytest.mark.filterwarnings("ignore::kalos_core.errors.KalosWarning")


def estimate(dataset: fo.Dataset, key: str, **options: Any) -> None:
    given = {"raters": RATERS, "thresholds": LEVELS, "subsets": 20, "fraction": 0.5, **options}
    kf.estimate_convergence(dataset, key, **given)


@pytest.fixture(scope="module")
def annotated() -> fo.Dataset:
    """Three raters, a model and tags on twelve images, and a run."""
    dataset = data_set(lively(12))
    estimate(dataset, "convergence", models="YOLO 0.05", predictions="net", tags=True)
    return dataset


def title(found: Any) -> str:
    return convergence_title(found.whole.whole_convergence, found.whole.interval, found.whole.images)


def test_the_interval_of_all_images_and_of_each_tag(annotated: fo.Dataset) -> None:
    panel = opened(annotated, "Ceiling")
    found = kf.convergence_metrics(annotated, "convergence")
    assert title(found) in panel.text()
    assert "20 subsets of 12 images, 3 raters, thresholds 0.50 to 0.90" in panel.text()
    bars, _, diamonds = panel.data["bars"]
    assert panel.state["tags"] == ["all images", "day", "night"]  # the rare tag has no interval
    assert bars["base"] == [None] * 3  # twelve images are too few for an interval
    models = dict(zip(diamonds["customdata"], zip(diamonds["y"], diamonds["x"], strict=True), strict=True))
    assert models["YOLO"] == (0, 5.0)
    assert diamonds["customdata"].count("net") == 3
    rows = panel.rows("parts")
    assert [row["name"] for row in rows] == ["all images", "day", "night", "rare"]
    assert rows[0]["whole"] == f"{100 * found.whole.whole_convergence:.1f}"
    assert rows[0]["mean"] == f"{100 * found.whole.convergence.mean:.1f}"
    assert rows[3]["ends"].startswith("fraction: expected at least one image in a subset")
    yolo, net = found.placed
    assert f"- **YOLO**: {yolo.meaning}" in panel.text()
    assert f"ann {100 * net.by_rater['ann']:.1f}" in panel.text()
    operations = panel.send("ceiling_click_bar", y=2, idx=2)
    assert samples_of(annotated, operations) == annotated.match_tags("night").values("id")
    assert panel.grids[-1]["text"] == "8 images with the tag night"
    assert names(panel.send("ceiling_click_bar", y=0, idx=0)) == ["clear_view"]


def test_thresholds_are_chosen_from_the_stored_replicates(
    annotated: fo.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = opened(annotated, "Ceiling")
    monkeypatch.setattr("kalos_core.fiftyone.kinds.convergence.compute.compute_pairs", None)  # nothing is matched again
    steps = (("least", 0.72, 0.7, 0.9), ("greatest", 0.5, 0.5, 0.5), ("least", 0.9, 0.9, 0.9))
    for end, value, least, greatest in steps:
        panel.send(f"ceiling_on_change_{end}", value=value)
        assert panel.state["limits"] == {"least": least, "greatest": greatest}
        assert title(kf.convergence_metrics(annotated, "convergence", least=least, greatest=greatest)) in panel.text()
    assert "Typed values stay as they are" in panel.text()


def test_models_are_placed_without_a_new_run(annotated: fo.Dataset) -> None:
    panel = opened(annotated, "Ceiling")
    panel.state["more"] = {"typed": "mine 99"}
    panel.send("ceiling_place")
    assert "expected the mAP of 'mine' from 0 to 1, got 99.0; 99 % is 0.99" in panel.text()
    assert "- **YOLO**" in panel.text()  # the rest stays
    panel.state["more"] = {"typed": "mine 0.99"}
    panel.send("ceiling_place")
    mine = kf.convergence_metrics(annotated, "convergence", models="mine 0.99").placed[1]
    assert f"- **mine**: {mine.meaning}" in panel.text()
    assert "mine" in panel.data["bars"][2]["customdata"]
    assert kf.list_runs(annotated) == ["convergence"]
    panel.send("ceiling_on_change_least", value=0.7)
    assert "- **mine**" in panel.text()
    estimate(annotated, "one", thresholds=(0.6,))  # another run starts from its own thresholds
    panel.load()
    assert (panel.state["run"], panel.state["limits"]) == ("one", {"least": 0.6, "greatest": 0.6})
    assert "limits" not in panel.shown  # one threshold is no range
    assert "mine" not in panel.text()
