"""The thresholds people chose from calibrations, kept with the data set as defaults of later forms."""

from __future__ import annotations

from typing import Any

from kalos_core.fiftyone.dataset.database import refresh
from kalos_core.fiftyone.dataset.info import ThresholdRecord, read_info, update_info
from kalos_core.fiftyone.internals import root_of


def default_threshold(samples: Any, similarity: str) -> float | None:
    """The threshold last chosen for a similarity from a calibration that is still there; None without one."""
    dataset = root_of(samples)
    refresh(dataset)
    there = set(dataset.list_runs())
    chosen = [record for record in _records(dataset) if record["similarity"] == similarity and record["run"] in there]
    return float(chosen[-1]["threshold"]) if chosen else None


def store_threshold(dataset: Any, run_key: str, similarity: str, threshold: float) -> None:
    """Make a threshold the default of a similarity."""
    others = [record for record in _records(dataset) if record["similarity"] != similarity]
    made = ThresholdRecord(similarity=similarity, threshold=threshold, run=run_key)
    update_info(dataset, thresholds=[*others, made])


def forget_thresholds(dataset: Any, run_key: str) -> None:
    """Drop the defaults that come from a run."""
    update_info(dataset, thresholds=[record for record in _records(dataset) if record["run"] != run_key])


def move_thresholds(dataset: Any, run_key: str, new_key: str) -> None:
    """Let the defaults that come from a run follow it to its new key."""
    moved = [{**record, "run": new_key} if record["run"] == run_key else record for record in _records(dataset)]
    update_info(dataset, thresholds=moved)


def _records(dataset: Any) -> list[ThresholdRecord]:
    return list(read_info(dataset).get("thresholds", []))
