"""Metric of the panel Model Evaluation, through FiftyOne's own evaluation."""

from __future__ import annotations

from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core import label_convergence
from kalos_core.convergence import map_of_predictions
from kalos_core.fiftyone.dataset.raters import store_raters
from tests.fiftyone_bridge.lively import RATERS, lively
from tests.operators.calls import data_set
from tests.plugin import uri

METRIC = uri("label_convergence")
LEVELS = [0.5, 0.75]

pytestmark = pytest.mark.filterwarnings("ignore::kalos_core.errors.KalosWarning")


@pytest.fixture
def dataset() -> fo.Dataset:
    made = data_set(lively(50))
    store_raters(made, {name: name for name in RATERS})
    return made


def ceiling(dataset: fo.Dataset, key: str, **options: Any) -> Any:
    given = {"thresholds": LEVELS, "subsets": 30, "fraction": 0.5, "similarity": "box_iou", **options}
    return kf.estimate_convergence(dataset, key, raters=RATERS, **given)


def evaluated(dataset: fo.Dataset, metrics: Any = (METRIC,), truth: str = "ann") -> dict[str, Any]:
    """Return the panel's input: key -> value, from the stored results."""
    metrics = metrics if isinstance(metrics, dict) else list(metrics)
    dataset.evaluate_detections("net", gt_field=truth, eval_key="eval", custom_metrics=metrics, progress=False)
    results = dataset.load_evaluation_results("eval", cache=False)
    rows = (results.custom_metrics or {}).values()
    assert all(row["lower_is_better"] is False for row in rows)
    found = {row["key"]: row["value"] for row in rows}
    assert results.metrics().items() >= found.items()
    return found


def test_a_model_is_compared_with_the_ceiling(dataset: fo.Dataset) -> None:
    ceiling(dataset, "strict", thresholds=[0.9])
    ceiling(dataset, "usual")
    found = evaluated(dataset)  # vs. the newest
    truth = kf.read_annotations(dataset, raters=("ann",), similarity="box_iou")
    model = kf.read_annotations(dataset, raters=("net",), assigned="all", similarity="box_iou")
    sure = {label.id: label.confidence for labels in dataset.values("net.detections") for label in labels}
    expected = map_of_predictions(truth, model, [sure[key] for key in model.id], thresholds=LEVELS).mean
    raters = kf.read_annotations(dataset, raters=RATERS, similarity="box_iou")
    study = label_convergence(raters, 30, 0.5, thresholds=LEVELS, similarity="box_iou")
    low, high = study.interval.tolist()
    assert found == {
        "map_of_label_convergence": pytest.approx(100 * expected),
        "label_convergence": pytest.approx(100 * study.whole_convergence),
        "label_convergence_low": pytest.approx(100 * low),
        "label_convergence_high": pytest.approx(100 * high),
        "label_convergence_place": "below" if expected < low else "above" if expected > high else "inside",
    }


def test_a_perfect_model_is_above_and_an_empty_one_below(dataset: fo.Dataset) -> None:
    """By hand: a copy of the truth finds exactly all objects, 100 points; a model far away finds nothing, 0."""
    ceiling(dataset, "ceiling")
    for truth, where in (("ann", None), ("bob", [0.0, 0.0, 0.001, 0.001])):
        for sample in dataset:
            sample["net"] = sample[truth].copy() if sample[truth] is not None else fo.Detections()
            for label in sample["net"].detections:
                label.confidence = 0.5
                label.bounding_box = where or label.bounding_box
            sample.save()
        found = evaluated(dataset, truth=truth)
        expected = (100, "above") if where is None else (0, "below")
        assert (found["map_of_label_convergence"], found["label_convergence_place"]) == expected
        dataset.delete_evaluation("eval")
