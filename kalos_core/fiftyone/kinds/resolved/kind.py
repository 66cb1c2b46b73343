"""Resolved labels as a kind of run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import run_starts
from kalos_core.decisions import Resolved
from kalos_core.fiftyone.kinds.columns import columns_of, made_from
from kalos_core.fiftyone.kinds.matched import read_compared, stored_table, table_arrays
from kalos_core.fiftyone.runs.arrays import as_texts, text_array
from kalos_core.fiftyone.runs.table import Changes, Kind, Run, register

OWN = "resolved/"
"""What the names of the arrays of a `Resolved` begin with."""


@dataclass(frozen=True)
class ResolvedDetails:
    """Origin -> class -> how many labels."""

    classes: dict[str, dict[str, int]]


ResolvedRun = Run[dict[str, Any], dict[str, Any], ResolvedDetails, Resolved]


def resolved_arrays(result: Resolved) -> dict[str, NDArray[Any]]:
    """What `_restore` reads back."""
    return {
        **table_arrays(result.annotations),
        **columns_of(result, OWN, but=("annotations",)),
        "sources": text_array([key for keys in result.sources for key in keys]),
        "source_counts": np.array([len(keys) for keys in result.sources], dtype=np.intp),
    }


def _restore(changes: Changes) -> Resolved:
    arrays = changes.arrays
    ids = as_texts(arrays["sources"])
    ends = run_starts(arrays["source_counts"]).tolist()
    sources = tuple(tuple(ids[begin:end]) for begin, end in pairwise(ends))
    return made_from(Resolved, arrays, OWN, annotations=stored_table(arrays), sources=sources)


RESOLVED: Kind[dict[str, Any], dict[str, Any], ResolvedDetails, Resolved] = register(
    Kind(
        name="resolved",
        title="Resolved labels",
        operator="resolved",
        section="Decide",
        read=read_compared,
        restore=_restore,
        details=ResolvedDetails,
        fixed_because="whose key is its field; the same decisions give the same labels in another field",
    )
)
