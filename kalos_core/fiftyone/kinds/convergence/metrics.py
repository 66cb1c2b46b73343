"""The metrics of label convergence from the replicates a run stored: no label is read and nothing is matched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict, cast

from kalos_core.convergence import ConvergenceStudy
from kalos_core.fiftyone.runs.records import Ends
from kalos_core.fiftyone.runs.stored import load_details
from kalos_core.results import plain_values


class ConvergenceMetrics(TypedDict):
    """The summary of label convergence: of all images at once, then over subsets; None for what is undefined."""

    whole: float | None
    mean: float | None
    std: float | None
    interval: Ends
    route: str
    images: int
    images_per_subset: int
    subsets: int
    thresholds: list[float]
    raters: list[str]
    summary: list[dict[str, Any]]
    models: list[dict[str, Any]]
    checklist: list[dict[str, Any]]
    annotations: int


def metrics_of(study: ConvergenceStudy, annotations: int) -> ConvergenceMetrics:
    """The summary of a study."""
    whole = study.whole
    found = whole.convergence
    metrics = {
        "whole": whole.whole_convergence,
        "mean": found.mean,
        "std": found.std,
        "interval": found.interval,
        "route": whole.route,
        "images": whole.images,
        "images_per_subset": whole.images_per_replicate,
        "subsets": len(whole.map),
        "thresholds": whole.thresholds,
        "raters": study.raters,
        "summary": whole.summary().to_dict("records"),
        "models": study.placed,
        "checklist": study.checklist,
        "annotations": annotations,
    }
    return cast(ConvergenceMetrics, plain_values(metrics))


def convergence_metrics(
    samples: Any,
    run_key: str,
    *,
    least: float | None = None,
    greatest: float | None = None,
    models: str | Mapping[str, float] | None = None,
) -> ConvergenceStudy:
    """What a run of `estimate_convergence` stored, at some of its thresholds and with other models placed.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
    least, greatest : float, optional
        Thresholds of the run from one to the other, both included; by default all.
    models : str or mapping, optional
        Placed beside those of the run, such as ``"YOLO 0.412, DETR 0.437"``: see `read_models`. Their mAP has to be of
        the same thresholds.

    Returns
    -------
    ConvergenceStudy

    Raises
    ------
    InputError
        If the run has no such thresholds, or for models that cannot be read.
    """
    study: ConvergenceStudy = load_details(samples, run_key, "convergence").details
    return study.between(least, greatest).with_models(models)
