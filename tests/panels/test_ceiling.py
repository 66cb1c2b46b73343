"""Ceiling: content of its pages at any thresholds and with models, and effects of its clicks."""

from __future__ import annotations

from typing import Any

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core.figures.convergence import convergence_title
from kalos_core.results import plain_values
from tests.fiftyone_bridge.lively import LEVELS, RATERS, lively
from tests.operators.calls import data_set
from tests.panels.operations import names, opened, samples_of

pytestmark = pytest.mark.filterwarnings("ignore::kalos_core.errors.KalosWarning")


def estimate(dataset: fo.Dataset, key: str, **options: Any) -> None:
    given = {"raters": RATERS, "thresholds": LEVELS, "subsets": 20, "fraction": 0.5, **options}
    kf.estimate_convergence(dataset, key, **given)


@pytest.fixture(scope="module")
def annotated() -> fo.Dataset:
    """Return three raters, a model and tags on twelve images, and a run."""
    dataset = data_set(lively(12))
    estimate(dataset, "convergence", models="YOLO 0.05", predictions="net", tags=True)
    return dataset


def test_the_interval_of_all_images_and_of_each_tag(annotated: fo.Dataset) -> None:
    panel = opened(annotated, "Ceiling")
    shown, found = panel.record["shown"], kf.convergence_metrics(annotated, "convergence")
    whole, head = found.whole, shown["head"]
    assert convergence_title(whole.whole_convergence, whole.interval, whole.images) in head["basis"]
    assert "20 subsets of 12 images, 3 raters, thresholds 0.50 to 0.90." in head["basis"]
    pairs = f"pairs of the 3 raters reach {100 * np.nanmean(found.directions):.1f} on average, measured"
    line = "inferred from alpha with the line of the paper (LVIS, COCO, Open Images)"
    assert head["said"].endswith(f"mAP on these labels: {line}; {pairs}")  # three raters have no single mAP
    parts = shown["parts"]
    assert [part["name"] for part in parts] == ["all images", "day", "night", "rare"]
    assert (parts[0]["whole"]["value"], parts[0]["mean"]) == (whole.whole_convergence, whole.convergence.mean)
    assert parts[0]["whole"]["low"] is None  # twelve images are too few for an interval
    assert parts[3]["whole"]["reason"].startswith("fraction: expected at least one image in a subset")
    yolo, net = found.placed
    assert [(model["name"], model["meaning"]) for model in shown["models"]] == [
        ("YOLO", yolo.meaning),
        ("net", net.meaning),
    ]
    assert shown["models"][1]["by_rater"] == net.by_rater
    night = samples_of(annotated, panel.act("images", tag="night"))
    assert night == annotated.match_tags("night").values("id")
    assert panel.grids[-1]["text"] == "8 images with the tag night"
    assert names(panel.act("images")) == ["clear_view"]
    assert panel.choose(page="Raters").record["shown"]["matrix"] == plain_values(found.matrix)
    assert "may exceed the ceiling" in panel.record["shown"]["caption"]["read"]
    criteria = panel.choose(page="Checks").record["shown"]["criteria"]
    assert [line["criterion"] for line in criteria] == [line.criterion for line in found.checklist]


def test_thresholds_are_chosen_from_the_stored_replicates(
    annotated: fo.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = opened(annotated, "Ceiling")
    monkeypatch.setattr("kalos_core.fiftyone.kinds.convergence.compute.compute_pairs", None)  # no repeated matching
    for given, (least, greatest) in (
        ({"least": 0.7}, (0.7, 0.9)),
        ({"least": 0.9, "greatest": 0.5}, (0.9, 0.9)),
        ({"least": 0.123}, (0.5, 0.9)),  # which the run does not have
    ):
        shown = panel.choose(page="Subsets", **given).record["shown"]
        assert (shown["head"]["least"], shown["head"]["greatest"]) == (least, greatest)
        found = kf.convergence_metrics(annotated, "convergence", least=least, greatest=greatest)
        assert shown["summary"][0]["mean"] == found.whole.summary()["mean"][0]
    assert shown["pools"] == ["this data set alone"]  # with more than two raters there is no line


def test_models_are_placed_without_a_new_run(annotated: fo.Dataset) -> None:
    panel = opened(annotated, "Ceiling")
    panel.choose(models="mine 99")
    assert "expected the mAP of 'mine' from 0 to 1, got 99.0; 99 % is 0.99" in panel.state["problem"]
    shown = panel.choose(models="mine 0.99").record["shown"]
    mine = kf.convergence_metrics(annotated, "convergence", models="mine 0.99").placed[1]
    assert (shown["models"][1]["name"], shown["models"][1]["meaning"]) == ("mine", mine.meaning)
    assert kf.list_runs(annotated) == ["convergence"]
