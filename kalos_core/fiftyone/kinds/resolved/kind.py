"""Resolved labels as a kind of run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.annotations.joining import from_arrays, to_arrays
from kalos_core.arrays import run_starts
from kalos_core.decisions import Resolved
from kalos_core.fiftyone.kinds.matched import TABLE, read_compared
from kalos_core.fiftyone.runs.arrays import as_texts, part_of, text_array
from kalos_core.fiftyone.runs.table import Changes, Kind, Run, register

TEXTS = ("origin", "note", "who")


class ResolvedSettings(TypedDict):
    """Of which agreement, how its annotations are compared, and what became of undecided units."""

    agreement: str
    similarity: str
    undecided: str


class ResolvedMetrics(TypedDict):
    """How many labels there are, and of which origin; ``left_out``: decisions whose labels are others now."""

    labels: int
    origins: dict[str, int]
    decided: int
    open: int
    left_out: int


@dataclass(frozen=True)
class ResolvedDetails:
    """Origin -> class -> how many labels."""

    classes: dict[str, dict[str, int]]


ResolvedRun = Run[ResolvedSettings, ResolvedMetrics, ResolvedDetails, Resolved]


def resolved_arrays(result: Resolved) -> dict[str, NDArray[Any]]:
    """What `_restore` reads back."""
    return {
        **{f"{TABLE}{name}": array for name, array in to_arrays(result.annotations).items()},
        **{name: text_array(getattr(result, name)) for name in TEXTS},
        "sources": text_array([key for keys in result.sources for key in keys]),
        "source_counts": np.array([len(keys) for keys in result.sources], dtype=np.intp),
        "open_units": result.open_units,
    }


def _restore(changes: Changes) -> Resolved:
    arrays = changes.arrays
    ids = as_texts(arrays["sources"])
    return Resolved(
        annotations=from_arrays(part_of(arrays, TABLE)),
        **{name: object_array(as_texts(arrays[name])) for name in TEXTS},
        sources=tuple(tuple(ids[begin:end]) for begin, end in pairwise(run_starts(arrays["source_counts"]).tolist())),
        open_units=arrays["open_units"].astype(np.intp),
        decided=changes.run.metrics["decided"],
    )


RESOLVED: Kind[ResolvedSettings, ResolvedMetrics, ResolvedDetails, Resolved] = register(
    Kind(
        name="resolved",
        title="Resolved labels",
        operator="resolved",
        section="Decide",
        read=read_compared,
        restore=_restore,
        details=ResolvedDetails,
        written=lambda run: f"the label field {run.key!r}",
        fixed_because="whose key is its field; the same decisions give the same labels in another field",
    )
)
