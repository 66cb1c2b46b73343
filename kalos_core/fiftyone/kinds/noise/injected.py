"""What is true of synthetic raters, by the ids of labels: which events did what to which of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from bson import ObjectId
from numpy.typing import NDArray

from kalos_core.fiftyone.runs.arrays import as_texts, text_array
from kalos_core.noise import GeneratedRaters
from kalos_core.noise.events import DONE, EVENTS, OUTCOMES, SHIFT, STAGE_OF_EVENT, STAGES

if TYPE_CHECKING:
    import pandas as pd

PREFIX = "noise/"
"""What the names of the stored arrays begin with."""

TEXTS = ("fields", "label_ids", "original_ids", "categories")
CODES = {"event": EVENTS, "outcome": OUTCOMES}
"""Arrays of texts, and those of names that are stored as their codes."""


@dataclass(frozen=True, eq=False)
class InjectedNoise:
    """What is true of synthetic raters, by the ids of labels and samples. R raters, N labels of theirs, E events.

    Parameters
    ----------
    fields : (R,) str
        The label field of each rater.
    label_ids : (N,) str
        Their labels.
    label_rater : (N,) int
        Which of the raters each is of.
    object : (N, W) int
        Which objects each label is of, -1 where fewer: rows of `original_ids`, and above them numbers of places where
        there is nothing. Two labels are of one object if they share a number.
    original_ids : (M,) str
        The labels of the reference that everything is generated from.
    images : (I,) str
        Ids of the samples.
    categories : (K,) str
    rater, image : (E,) int
        Of which rater the event is, and on which of `images`.
    event, outcome : (E,) str
        Of `EVENTS` and `OUTCOMES`.
    rows : (E, 2) int
        Rows of `label_ids` that the event led to, -1 where fewer.
    origins : (E, V) int
        Rows of `original_ids` that it was about, -1 where fewer.
    category_from, category_to : (E,) int
        As in `kalos_core.noise.Events`.
    shift, scale : (E, 2) float64
        As in `kalos_core.noise.Events`.
    """

    fields: NDArray[np.str_]
    label_ids: NDArray[np.str_]
    label_rater: NDArray[np.intp]
    object: NDArray[np.intp]
    original_ids: NDArray[np.str_]
    images: NDArray[np.str_]
    categories: NDArray[np.str_]
    rater: NDArray[np.intp]
    image: NDArray[np.intp]
    event: NDArray[np.str_]
    outcome: NDArray[np.str_]
    rows: NDArray[np.intp]
    origins: NDArray[np.intp]
    category_from: NDArray[np.intp]
    category_to: NDArray[np.intp]
    shift: NDArray[np.float64]
    scale: NDArray[np.float64]

    @classmethod
    def of(cls, result: GeneratedRaters, fields: Sequence[str]) -> InjectedNoise:
        """Of raters whose labels will be written to some fields: each label is given its id here."""
        events, original = result.events, result.original
        return cls(
            fields=np.array(fields, dtype=str),
            label_ids=np.array([str(ObjectId()) for _ in range(len(result.annotations))], dtype=str),
            label_rater=result.annotations.rater,
            object=result.object,
            original_ids=original.id.astype(str),
            images=original.images.astype(str),
            categories=original.categories.astype(str),
            rater=events.rater,
            image=events.image,
            event=events.event,
            outcome=events.outcome,
            rows=events.rows,
            origins=_origins(result),
            category_from=events.category_from,
            category_to=events.category_to,
            shift=events.shift,
            scale=events.scale,
        )

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> InjectedNoise:
        """From the arrays that a run stored."""
        stored = {name: arrays[f"{PREFIX}{name}"] for name in cls.__dataclass_fields__ if name != "images"}
        stored |= {name: np.array(as_texts(stored[name]), dtype=str) for name in TEXTS}
        stored |= {name: np.array(names)[stored[name]] for name, names in CODES.items()}
        whole = {name: array.astype(np.intp) for name, array in stored.items() if array.dtype.kind in "iu"}
        return cls(**stored | whole, images=np.array(as_texts(arrays["image_ids"]), dtype=str))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What `of_arrays` reads back; ids of samples are stored with every run."""
        stored = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "images"}
        stored |= {name: text_array(stored[name]) for name in TEXTS}
        stored |= {name: _codes(stored[name], names) for name, names in CODES.items()}
        stored |= {name: _narrow(array) for name, array in stored.items() if array.dtype.kind == "i"}
        return {f"{PREFIX}{name}": array for name, array in stored.items()}

    @property
    def stage(self) -> NDArray[np.str_]:
        """(E,) of `STAGES`."""
        stages: NDArray[np.str_] = np.array(STAGES)[STAGE_OF_EVENT[_codes(self.event, EVENTS)]]
        return stages

    @cached_property
    def changes(self) -> NDArray[np.intp]:
        """(I,) how many events other than shifts were done on each image."""
        counted = (self.outcome == OUTCOMES[DONE]) & (self.event != EVENTS[SHIFT])
        return np.bincount(self.image[counted], minlength=len(self.images))

    def to_pandas(self) -> pd.DataFrame:
        """One row an event, with fields, names and ids in place of codes; empty lists where there are no labels."""
        import pandas as pd

        return pd.DataFrame(
            {
                "field": self.fields[self.rater],
                "sample": self.images[self.image],
                "stage": self.stage,
                "event": self.event,
                "outcome": self.outcome,
                "labels": _ids(self.label_ids, self.rows),
                "reference_labels": _ids(self.original_ids, self.origins),
                "class_from": _named(self.categories, self.category_from),
                "class_to": _named(self.categories, self.category_to),
                "shift_x": self.shift[:, 0],
                "shift_y": self.shift[:, 1],
                "scale_x": self.scale[:, 0],
                "scale_y": self.scale[:, 1],
            }
        )


def _codes(given: NDArray[np.str_], names: Sequence[str]) -> NDArray[np.intp]:
    codes = np.zeros(len(given), np.intp)
    for code, name in enumerate(names):
        codes[given == name] = code
    return codes


def _narrow(numbers: NDArray[np.intp]) -> NDArray[Any]:
    """In the smallest type that holds them, -1 included."""
    ends = (int(numbers.min(initial=0)), int(numbers.max(initial=0)))
    return numbers.astype(np.result_type(*map(np.min_scalar_type, ends)))


def _ids(ids: NDArray[np.str_], rows: NDArray[np.intp]) -> list[list[str]]:
    return [[str(ids[row]) for row in own if row >= 0] for own in rows.tolist()]


def _named(names: NDArray[np.str_], codes: NDArray[np.intp]) -> list[str | None]:
    return [str(names[code]) if code >= 0 else None for code in codes.tolist()]


def _origins(result: GeneratedRaters) -> NDArray[np.intp]:
    """(E, V) rows of the original annotations that each event was about, through those of the schools if there are."""
    rows = result.events.reference_rows
    if result.schools is None:
        return rows
    truth = np.concatenate([result.schools.truth, np.full((1, result.schools.truth.shape[1]), -1)])
    return truth[rows].reshape(len(rows), 2 * truth.shape[1])
