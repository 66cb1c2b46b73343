"""Variations as a kind of run."""

from __future__ import annotations

from typing import Any

from kalos_core.display import VARIATION_LABELS
from kalos_core.fiftyone.kinds.matched import matched_again, read_compared
from kalos_core.fiftyone.kinds.variations.details import VariationDetails, VariationMetrics, VariationSettings
from kalos_core.fiftyone.kinds.variations.views import (
    view_of_boundary,
    view_of_confusion,
    view_of_copies,
    view_of_merged,
    view_of_variation,
)
from kalos_core.fiftyone.runs.changes import Changes
from kalos_core.fiftyone.runs.table import Demo, Kind, Run, register
from kalos_core.variation import Variations, variations

VariationRun = Run[VariationSettings, VariationMetrics, VariationDetails, Variations]


def _restore(changes: Changes) -> Variations:
    settings = changes.run.settings
    annotations, pairs = matched_again(changes, settings["similarity"])
    return variations(annotations, **settings, pairs=pairs)


def _written(run: Run[Any, Any, Any, Any]) -> str:
    return f"{run.names.main!r}, {run.names.all!r}, {run.names.similarity!r} and {run.names.match!r} on labels"


def _findings(run: Run[Any, Any, Any, Any]) -> str:
    counts = run.metrics["counts"].items()
    return "Findings: " + ", ".join(f"{count:,} {VARIATION_LABELS[name]}" for name, count in counts)


VARIATIONS: Kind[VariationSettings, VariationMetrics, VariationDetails, Variations] = register(
    Kind(
        name="variations",
        title="Variations",
        operator="find_variations",
        section="variations",
        read=read_compared,
        restore=_restore,
        written=_written,
        figures="kalos_core.fiftyone.kinds.variations.figures",
        demo=Demo(_findings),
        views={
            "variation": view_of_variation,
            "confusion": view_of_confusion,
            "boundary": view_of_boundary,
            "copies": view_of_copies,
            "merged": view_of_merged,
        },
        details=VariationDetails,
    )
)
