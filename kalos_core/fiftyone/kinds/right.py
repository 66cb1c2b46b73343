"""Who is right, as runs on image-level labels and on objects write it: which images are the least sure."""

from __future__ import annotations

from typing import Any

from kalos_core.errors import InputError
from kalos_core.fiftyone.runs.stored import load_metrics, load_run_view
from kalos_core.fiftyone.runs.table import Run

ARGUMENTS = {"image_labels": "truth", "truth": "model"}
"""Kind of run -> the argument by which it estimates who is right."""


def estimates(run: Run[Any, Any, Any, Any]) -> bool:
    """Whether a run estimated who is right."""
    return run.kind in ARGUMENTS and run.settings[ARGUMENTS[run.kind]] is not None


def view_least_sure_first(samples: Any, run_key: str) -> Any:
    """Samples of a run that estimated who is right, those first where it is least sure, of as many by id.

    Of image-level labels: by the question it is least sure of; of objects: by the object, whether it was taken for one
    or not.

    Raises
    ------
    InputError
        For a run that did not estimate who is right.
    """
    run = load_metrics(samples, run_key, list(ARGUMENTS))
    if not estimates(run):
        raise InputError(
            f"run key: expected a run made with {ARGUMENTS[run.kind]}=..., got {run.key!r}, which estimated nothing"
        )
    confidence = run.names.confidence
    return load_run_view(samples, run_key, run.kind).exists(confidence).sort_by([(confidence, 1), ("id", 1)])
