"""Resolved labels as a kind of run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kalos_core.decisions import Resolved, ResolvedLabels
from kalos_core.fiftyone.kinds.resolved.resolving import resolving_of
from kalos_core.fiftyone.runs.table import Kind, Run, register


@dataclass(frozen=True)
class ResolvedDetails:
    """Details of resolved labels: origin -> class -> number of labels."""

    classes: dict[str, dict[str, int]]


ResolvedRun = Run[dict[str, Any], dict[str, Any], ResolvedDetails, Resolved | ResolvedLabels]


RESOLVED: Kind[dict[str, Any], dict[str, Any], ResolvedDetails, Resolved | ResolvedLabels] = register(
    Kind(
        name="resolved",
        title="Resolved labels",
        operator="resolved",
        section="Decide",
        read=lambda view, run: resolving_of(run).read(view, run),
        restore=lambda changes: resolving_of(changes.run).restored(changes.arrays),
        details=ResolvedDetails,
        fixed_because="whose key is its field; the same decisions give the same labels in another field",
    )
)
