"""Details of runs as stored: long arrays in separate files, and back."""

from __future__ import annotations

from dataclasses import dataclass

import fiftyone as fo
import numpy as np
from bson import ObjectId
from numpy.typing import NDArray

import kalos_core.fiftyone as kf
from kalos_core.annotations import object_array
from kalos_core.fiftyone.internals import id_of
from kalos_core.fiftyone.runs import records
from kalos_core.fiftyone.runs.arrays import StoredArrays, delete_arrays, store_arrays
from kalos_core.fiftyone.runs.records import MANY, Undefined, details_from, details_to_arrays, restored
from kalos_core.fiftyone.runs.stored import load_arrays
from kalos_core.fiftyone.runs.writers import writing_now
from kalos_core.results import plain_values
from tests.fiftyone_bridge.scenes import THREE, crowded, make_samples


@dataclass(frozen=True, eq=False)
class Inner:
    alpha: NDArray[np.float64]
    names: NDArray[np.object_]
    kind: NDArray[np.str_]


@dataclass(frozen=True, eq=False)
class Outer:
    inner: tuple[Inner | Undefined, ...]
    count: NDArray[np.intp]
    flags: NDArray[np.bool_]


def record(size: int) -> Outer:
    numbers = np.random.default_rng(3).random(size)
    numbers[:: max(size // 3, 1)] = np.nan
    names = object_array([f"Weiß {number}" for number in range(size)])
    inner = Inner(numbers.reshape(2, -1), names, np.where(numbers > 0.5, "merged", "merged_wrong_class"))
    return Outer((inner, Undefined("because")), np.arange(size), numbers > 0.5)


def test_long_arrays_are_stored_separately(make):
    dataset: fo.Dataset = make([])
    for size, beside in ((6, 0), (2 * MANY, 5)):
        made = record(size)
        arrays = details_to_arrays(made)
        assert len(arrays) == beside + 1
        with writing_now() as writer:
            store_arrays(id_of(dataset), arrays, writer, file := str(ObjectId()))
        again = restored(Outer, details_from(StoredArrays("run", file)))
        assert plain_values(again) == plain_values(made)
        assert (again.inner[0].names.dtype, again.count.dtype) == (object, np.intp)
        assert again.inner[1] == Undefined("because")
        delete_arrays(id_of(dataset), file)


def test_details_of_a_run_are_the_same_from_either_place(make, monkeypatch):
    monkeypatch.setattr(records, "MANY", 120)  # one array has 102 entries
    dataset = make(make_samples(crowded(1, 4)))
    for key, images, beside in (("few", 0, False), ("many", 60, True)):
        dataset.add_samples(make_samples(crowded(2, images)), progress=False)
        run = kf.find_variations(dataset, key, raters=THREE, threshold=0.3)
        assert any(name.startswith("details/") for name in load_arrays(dataset, key)) == beside
        assert plain_values(kf.load_details(dataset, key).details) == plain_values(run.details)
