"""Label convergence of several data sets together, for the line from alpha to mAP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import fiftyone as fo

from kalos_core.convergence import Replicates
from kalos_core.fiftyone.internals import database, id_of, root_of
from kalos_core.fiftyone.kinds.convergence.metrics import convergence_metrics
from kalos_core.fiftyone.runs.keys import METHOD
from kalos_core.fiftyone.runs.writers import COMPLETE


def poolable_runs(samples: Any) -> dict[str, str]:
    """Other data sets -> the key of their newest run of label convergence of two raters.

    More than two raters have no one mAP, so that no line can be fitted on their runs.
    """
    connection = database()
    names = {found["_id"]: found["name"] for found in connection.datasets.find({}, {"name": True})}
    names.pop(id_of(root_of(samples)), None)
    asked = {"config.method": f"{METHOD}/convergence", "config.status": COMPLETE, "config.metrics.raters": {"$size": 2}}
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
    """The replicates of a run and of runs of other data sets, for `plot_regression` and `fit_line`.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
    others : mapping
        Other data sets -> a key of theirs, as `poolable_runs` answers them.
    least, greatest : float, optional
        Thresholds, as of `convergence_metrics`.

    Returns
    -------
    dict
        Data set -> `Replicates`, that of the samples first.

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
