"""The thresholds people chose from calibrations, kept with the data set as defaults of later forms."""

from __future__ import annotations

from typing import Any

from kalos_core.fiftyone.raters import INFO_KEY
from kalos_core.fiftyone.runs.fresh import refresh

THRESHOLDS = "thresholds"
"""Key of their list: records of ``similarity``, ``threshold`` and ``run``, the calibration they come from."""


def default_threshold(samples: Any, similarity: str) -> float | None:
    """The threshold last chosen for a similarity from a calibration that is still there; None without one."""
    dataset = samples._root_dataset
    refresh(dataset)
    there = set(dataset.list_runs())
    chosen = [record for record in _records(dataset) if record["similarity"] == similarity and record["run"] in there]
    return float(chosen[-1]["threshold"]) if chosen else None


def store_threshold(dataset: Any, run_key: str, similarity: str, threshold: float) -> None:
    """Make a threshold the default of a similarity."""
    others = [record for record in _records(dataset) if record["similarity"] != similarity]
    _store(dataset, [*others, {"similarity": similarity, "threshold": threshold, "run": run_key}])


def forget_thresholds(dataset: Any, run_key: str) -> None:
    """Drop the defaults that come from a run."""
    records = _records(dataset)
    left = [record for record in records if record["run"] != run_key]
    if len(left) < len(records):
        _store(dataset, left)


def move_thresholds(dataset: Any, run_key: str, new_key: str) -> None:
    """Let the defaults that come from a run follow it to its new key."""
    records = _records(dataset)
    if any(record["run"] == run_key for record in records):
        moved = [{**record, "run": new_key} if record["run"] == run_key else record for record in records]
        _store(dataset, moved)


def _records(dataset: Any) -> list[dict[str, Any]]:
    return list(dataset.info.get(INFO_KEY, {}).get(THRESHOLDS, []))


def _store(dataset: Any, records: list[dict[str, Any]]) -> None:
    known = {name: value for name, value in dataset.info.get(INFO_KEY, {}).items() if name != THRESHOLDS}
    dataset.info[INFO_KEY] = {**known, THRESHOLDS: records} if records else known
    if not dataset.info[INFO_KEY]:
        del dataset.info[INFO_KEY]
    dataset.save()
