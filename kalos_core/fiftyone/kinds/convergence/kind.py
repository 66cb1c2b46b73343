"""Label convergence as a kind of run: its settings and metrics, at some thresholds and over several data sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any

import fiftyone as fo

from kalos_core.convergence import ConvergenceStudy, LabelConvergence, Replicates, label_convergence, read_models
from kalos_core.convergence.interval import CeilingSettings, ConvergenceSettings, Subsets
from kalos_core.fiftyone.dataset.document import METHOD
from kalos_core.fiftyone.dataset.formats import COMPLETE, FORMAT
from kalos_core.fiftyone.internals import database, id_of, root_of
from kalos_core.fiftyone.kinds.matched import matched_again, read_compared
from kalos_core.fiftyone.runs.progress import RunArguments
from kalos_core.fiftyone.runs.stored import load_details, load_metrics
from kalos_core.fiftyone.runs.table import Changes, Demo, Kind, Run, register
from kalos_core.options import Option
from kalos_core.results import plain_values


def _models(given: Any, _: str) -> dict[str, float]:
    return read_models(given)


@dataclass(frozen=True)
class ConvergenceRunSettings(CeilingSettings):
    """Settings of label convergence, and of the models and tags to compare with it."""

    _: KW_ONLY
    subsets: Subsets = 1000
    models: Annotated[
        str | Mapping[str, float] | None,
        Option(
            "Models with a known mAP",
            "Names with their mAP from 0 to 1 at the same thresholds, such as YOLO 0.412, DETR 0.437",
            type="str or mapping, optional",
            check=_models,
        ),
    ] = None
    predictions: Annotated[
        str | None,
        Option(
            "Field with the predictions of a model",
            "A label field whose mAP is computed with each rater as ground truth; every prediction needs a confidence.",
        ),
    ] = None
    tags: Annotated[
        bool,
        Option(
            "An interval for each sample tag, too", "Also for the images with each tag, in subsets of the same share."
        ),
    ] = False

    def of_library(self) -> dict[str, Any]:
        """Return the settings as arguments of `label_convergence`."""
        return self.part(ConvergenceSettings, samples=self.subsets).record()


@dataclass(frozen=True)
class ConvergenceRunArguments(ConvergenceRunSettings, RunArguments):
    """Arguments of `estimate_convergence`."""


ConvergenceRun = Run[dict[str, Any], dict[str, Any], ConvergenceStudy, LabelConvergence]


def metrics_of(study: ConvergenceStudy, annotations: int) -> dict[str, Any]:
    """Return the summary of a study, for all images at once and over subsets; undefined values are None."""
    whole = study.whole
    found = whole.convergence
    metrics = {
        "whole": whole.whole_convergence,
        "mean": found.mean,
        "std": found.std,
        "interval": whole.interval,
        "route": whole.route,
        "how": whole.how,
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
    summary: dict[str, Any] = plain_values(metrics)
    return summary


def convergence_metrics(
    samples: Any,
    run_key: str,
    *,
    least: float | None = None,
    greatest: float | None = None,
    models: str | Mapping[str, float] | None = None,
) -> ConvergenceStudy:
    """Return the stored result of `estimate_convergence` at some of its thresholds, with additional models.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
    least, greatest : float, optional
        Range of thresholds of the run, both ends included; by default all.
    models : str or mapping, optional
        Models in addition to those of the run, such as ``"YOLO 0.412, DETR 0.437"``, see `read_models`. Their mAP
        must be computed at the same thresholds.

    Returns
    -------
    ConvergenceStudy

    Raises
    ------
    InputError
        If the run has no such thresholds, or if models cannot be read.
    """
    study: ConvergenceStudy = load_details(samples, run_key, "convergence").details
    return study.between(least, greatest).with_models(models)


def poolable_runs(samples: Any) -> dict[str, str]:
    """Return other data set -> key of its newest label convergence run with two raters.

    Three or more raters have more than one mAP, so no line can be fitted to their runs.
    """
    connection = database()
    names = {found["_id"]: found["name"] for found in connection.datasets.find({}, {"name": True})}
    names.pop(id_of(root_of(samples)), None)
    asked: dict[str, Any] = {"config.format": FORMAT, "config.method": f"{METHOD}/convergence"}
    asked |= {"config.status": COMPLETE, "config.metrics.raters": {"$size": 2}, "key": {"$type": "string"}}
    found = connection.runs.find(asked, {"_dataset_id": True, "key": True}).sort("timestamp", 1)
    keys = {names[run["_dataset_id"]]: run["key"] for run in found if run["_dataset_id"] in names}
    return dict(sorted(keys.items()))


def pooled_replicates(
    samples: Any,
    run_key: str,
    others: Mapping[str, str],
    *,
    least: float | None = None,
    greatest: float | None = None,
) -> dict[str, Replicates]:
    """Return the replicates of a run and of runs of other data sets, for `plot_regression` and `fit_line`.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
    others : mapping
        Other data set -> key of one of its runs, as returned by `poolable_runs`.
    least, greatest : float, optional
        Range of thresholds, as in `convergence_metrics`.

    Returns
    -------
    dict
        Data set -> `Replicates`; the data set of the samples is first.

    Raises
    ------
    InputError
        If a run has no such thresholds.
    """
    runs = {root_of(samples).name: (samples, run_key)}
    runs |= {name: (fo.load_dataset(name), key) for name, key in others.items()}
    return {
        name: convergence_metrics(dataset, key, least=least, greatest=greatest).whole
        for name, (dataset, key) in runs.items()
    }


def view_of_tag(samples: Any, run_key: str, tag: str) -> Any:
    """Return the samples of a run that have a tag."""
    return load_metrics(samples, run_key, "convergence").view.match_tags(tag)


def _restore(changes: Changes) -> LabelConvergence:
    annotations, pairs = matched_again(changes, changes.run.settings["similarity"])
    return label_convergence(annotations, **ConvergenceRunSettings.of(changes.run.settings).of_library(), pairs=pairs)


CONVERGENCE: Kind[dict[str, Any], dict[str, Any], ConvergenceStudy, LabelConvergence] = register(
    Kind(
        name="convergence",
        title="Label convergence",
        operator="estimate_convergence",
        section="Ceiling",
        suffix="convergence",
        read=read_compared,
        restore=_restore,
        demo=Demo(lambda run: f"Ceiling of any model: {run.result}", {"fraction": 0.5, "tags": True}),  # of few images
        views={"tag": view_of_tag},
        details=ConvergenceStudy,
    )
)
