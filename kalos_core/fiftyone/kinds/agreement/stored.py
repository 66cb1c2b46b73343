"""An agreement as its run stored it: no label is read and nothing is matched again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, matched
from kalos_core.annotations import Annotations
from kalos_core.annotations.joining import from_arrays
from kalos_core.fiftyone.kinds.agreement.settings import matching
from kalos_core.fiftyone.kinds.matched import PAIRS, TABLE
from kalos_core.fiftyone.runs.changes import part_of
from kalos_core.fiftyone.runs.stored import load_arrays, load_metrics
from kalos_core.fiftyone.runs.table import Arrays
from kalos_core.pairs import Pairs


def stored_units(arrays: Arrays) -> tuple[Annotations, NDArray[np.intp]]:
    """The annotations of a run without their shapes, and (N,) the unit of each."""
    return from_arrays(part_of(arrays, TABLE, without=".")), arrays["unit_of"].astype(np.intp)


def stored_agreement(samples: Any, run_key: str, bootstrap: int = 0) -> Agreement:
    """An agreement as it was when the run was made, whatever has become of the labels since; without shapes.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        Of an agreement.
    bootstrap : int
        Replicates of its intervals; those of the run are among its metrics.
    """
    run, arrays = load_metrics(samples, run_key, "agreement"), load_arrays(samples, run_key, "agreement")
    annotations, unit_of = stored_units(arrays)
    pairs = part_of(arrays, PAIRS)
    left, right = pairs["left"].astype(np.intp), pairs["right"].astype(np.intp)
    similarities = Pairs(left, right, pairs["similarity"], run.settings["similarity"], float(pairs["floor"]))
    return matched(annotations, similarities, replace(matching(run.settings), bootstrap=bootstrap), unit_of)
