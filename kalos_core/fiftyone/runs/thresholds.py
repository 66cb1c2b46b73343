"""The thresholds people chose from calibrations, kept with these as defaults of later forms."""

from __future__ import annotations

from typing import Any

from kalos_core.fiftyone.dataset.database import refresh
from kalos_core.fiftyone.internals import root_of
from kalos_core.fiftyone.runs.keys import own_runs
from kalos_core.fiftyone.runs.writers import COMPLETE


def default_threshold(samples: Any, similarity: str) -> float | None:
    """The threshold last chosen for a similarity from a calibration that is still there; None without one."""
    dataset = root_of(samples)
    refresh(dataset)
    configs = [about.config for about in own_runs(dataset).values() if about.config.status == COMPLETE]
    found = [
        (_chosen_at(config)[similarity], float(entry["threshold"]))
        for config in configs
        for entry in config.metrics.get("chosen", ())
        if entry["similarity"] == similarity and similarity in _chosen_at(config)
    ]
    return max(found)[1] if found else None


def choice(similarity: str, threshold: float) -> list[dict[str, Any]]:
    """What changes in the record of a run where a threshold is chosen for a similarity, as MongoDB takes it.

    It is made of the choices that the database has, so that of several people at once each keeps their own.
    """
    chosen = "config.metrics.chosen"
    others = {"$filter": {"input": f"${chosen}", "cond": {"$ne": ["$$this.similarity", {"$literal": similarity}]}}}
    own = {"similarity": {"$literal": similarity}, "threshold": threshold}
    return [
        {"$set": {chosen: {"$concatArrays": [others, [own]]}, f"config.chosen_at.{similarity}": "$$NOW"}},
    ]


def _chosen_at(config: Any) -> dict[str, Any]:
    """When a threshold was chosen from a run, by similarity."""
    return dict(getattr(config, "chosen_at", {}))
