"""Calibration as a kind of run."""

from __future__ import annotations

from typing import Any

from kalos_core.annotations import Annotations
from kalos_core.calibration import Calibration, calibrate
from kalos_core.fiftyone.dataset.document import own_runs
from kalos_core.fiftyone.internals import root_of
from kalos_core.fiftyone.kinds.matched import annotations_again, read_compared
from kalos_core.fiftyone.runs.table import Changes, Demo, Kind, Run, register
from kalos_core.results import plain_values

OF_SIMILARITY = (
    *("name", "ks", "ks_interval", "tau", "tau_interval", "threshold", "threshold_interval"),
    *("reason", "trusted", "why", "coordinates"),
)
"""Attributes of `Separation` in the summary of each similarity."""


def calibration_metrics(result: Calibration, annotations: Annotations) -> dict[str, Any]:
    """Return the summary of a calibration, best separation first; undefined values are None."""
    return {
        "similarities": [{name: plain_values(getattr(found, name)) for name in OF_SIMILARITY} for found in result],
        "chosen": {},
        "images": len(annotations.images),
        "annotations": len(annotations),
        "raters": list(annotations.raters),
    }


CalibrationRun = Run[dict[str, Any], dict[str, Any], Calibration, Calibration]


def default_threshold(samples: Any, similarity: str) -> float | None:
    """Return the threshold that was last chosen for a similarity from an existing calibration; None without one."""
    every = [run.metrics for run in own_runs(root_of(samples)).values() if run.is_complete]
    found = [metrics["chosen"].get(similarity) for metrics in every if "chosen" in metrics]
    last = max((of for of in found if of is not None), key=lambda of: of["at"], default=None)
    return None if last is None else float(last["threshold"])


def _restore(changes: Changes) -> Calibration:
    return calibrate(annotations_again(changes), **changes.run.settings)


CALIBRATION: Kind[dict[str, Any], dict[str, Any], Calibration, Calibration] = register(
    Kind(
        name="calibration",
        title="Calibration",
        operator="calibrate_threshold",
        section="Threshold",
        suffix="calibration",
        read=read_compared,
        restore=_restore,
        demo=Demo(lambda run: f"Calibration: {run.result.best}", {"bootstrap": 100}),  # as in the paper
        details=Calibration,
    )
)
