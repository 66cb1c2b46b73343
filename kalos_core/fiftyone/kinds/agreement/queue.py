"""The queue of an agreement: on each sample its units in dispute, in the order in which they should be decided."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import fiftyone as fo
import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement
from kalos_core.decisions import disputes
from kalos_core.fiftyone.dataset.database import FieldArguments
from kalos_core.fiftyone.dataset.writing import Values
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.reliability import NOT_ASSIGNED

OPEN, WAITING, DECIDED = "open", "waiting", "decided"
"""How far a unit in dispute is: nobody has decided, the guideline must say, somebody has."""

_DOCUMENTS: FieldArguments = {"ftype": fo.ListField, "subfield": fo.DictField}

QUEUE: dict[str, FieldArguments] = {
    "queue": {**_DOCUMENTS, "description": "Units in dispute, each with its classes, who stands alone, and its state"},
    "disputes": {"ftype": fo.IntField, "description": "How many units are in dispute and still open"},
    "decisions": {**_DOCUMENTS, "description": "What was decided about units, the latest last"},
}
"""Entry of `RunNames` -> what the field is declared with."""


def queue_index(names: RunNames) -> list[str]:
    """The fields by which the next sample is found."""
    return [names.alpha, "_id", names.disputes]


def queue_values(agreement: Agreement, names: RunNames) -> Values:
    """Fields of samples: the units in dispute as `disputes` orders them, how many they are, and no decision yet.

    An entry holds the number of its ``unit``, the ``classes`` it was given, the ``raters`` who stand against most of
    the others (all who annotated or looked, where no value has most), and its ``state``.
    """
    found = disputes(agreement)
    order = np.argsort(found.image, kind="stable")
    unit, image = found.unit[order], found.image[order]

    def values(images: NDArray[np.intp]) -> dict[str, list[Any]]:
        ends = np.searchsorted(image, [*images, *(images[-1:] + 1)])
        entries = _entries(agreement, unit[ends[0] : ends[-1]]) if len(images) else []
        start = (ends - ends[0]).tolist() if len(images) else []
        queue = [entries[begin:end] for begin, end in pairwise(start)]
        return {names.queue: queue, names.disputes: [len(of) for of in queue], names.decisions: [[] for _ in queue]}

    return values


def _entries(agreement: Agreement, unit: NDArray[np.intp]) -> list[dict[str, Any]]:
    """What is stored of some units."""
    annotations, values = agreement.annotations, agreement.units.values[unit]
    there = values != NOT_ASSIGNED
    same = ((values[:, :, None] == values[:, None, :]) & there[:, None, :]).sum(axis=2)  # (D, R) raters of this value
    most = np.where(there, same, 0).max(axis=1, initial=0)
    alone = there & ((same < most[:, None]) | ((there & (same == most[:, None])).sum(axis=1) > most)[:, None])
    categories, raters = annotations.categories, annotations.raters
    return [
        {
            "unit": number,
            "classes": categories[np.unique(of[of >= 0])].tolist(),
            "raters": raters[against].tolist(),
            "state": OPEN,
        }
        for number, of, against in zip(unit.tolist(), values, alone, strict=True)
    ]
