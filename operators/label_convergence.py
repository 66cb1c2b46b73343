"""Metric for FiftyOne's panel *Model Evaluation*: compares a model with the label convergence of the raters."""

from typing import Any

import fiftyone.core.collections as foc
import fiftyone.operators as foo

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core.fiftyone.kinds.convergence.compute import place_predictions

ROWS = {
    "label_convergence": "Label convergence of all images, 0 to 100",
    "label_convergence_low": "Label convergence, low end",
    "label_convergence_high": "Label convergence, high end",
    "label_convergence_place": "The model towards label convergence",
}
"""Further rows of the panel, added to the results because FiftyOne stores one value per metric."""


class LabelConvergenceMetric(foo.EvaluationMetric):
    @property
    def config(self) -> foo.EvaluationMetricConfig:
        config = foo.EvaluationMetricConfig(
            name="label_convergence",
            label="mAP by which label convergence is measured, 0 to 100",
            description="mAP of the model, from 0 to 100, compared with the newest label convergence of the data set",
            icon="/assets/convergence.svg",
            eval_types=["detection"],
            aggregate_key="map_of_label_convergence",
            lower_is_better=False,
            unlisted=True,
        )
        config.kwargs["lower_is_better"] = config.lower_is_better  # FiftyOne reads it from here
        return config

    def compute(self, samples: foc.SampleCollection, results: Any, run_key: str | None = None) -> float:
        """Return the mAP of the model in points, and write the ceiling to further rows of the results."""
        keys = kf.list_runs(samples, "convergence")
        if run_key is None and not keys:
            raise InputError("run key: expected a run of label convergence (estimate_convergence), got none")
        key = run_key or keys[0]
        placed = place_predictions(samples, key, results.config.pred_field, results.config.gt_field)
        run = kf.load_metrics(samples, key, "convergence")
        metrics, compared = run.metrics, run.settings["similarity"]  # FiftyOne's own mAP may compare boxes
        low, high = metrics["interval"]
        values = [*(value and 100 * value for value in (metrics["whole"], low, high)), placed.place]
        results.custom_metrics = {
            **(results.custom_metrics or {}),
            **{
                f"{self.uri}/{name}": {
                    "key": name,
                    "value": value,
                    "label": f"{label} ({compared})",
                    "lower_is_better": False,
                }
                for (name, label), value in zip(ROWS.items(), values, strict=True)
            },
        }
        return 100 * placed.map
