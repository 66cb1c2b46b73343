"""Ground truth of synthetic raters whose annotations are stored elsewhere: by ids, as flat arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.arguments import check_type
from kalos_core.display import number_of
from kalos_core.noise.events import DONE, EVENTS, OUTCOMES, SHIFT, STAGE_OF_EVENT, STAGES, codes_of
from kalos_core.noise.generated import GeneratedRaters
from kalos_core.results import Result

if TYPE_CHECKING:
    import pandas as pd

TEXTS = ("fields", "label_ids", "original_ids", "categories")
CODES = {"event": EVENTS, "outcome": OUTCOMES}
"""Arrays of strings, and arrays of names that are stored as codes."""


@dataclass(frozen=True, eq=False, repr=False)
class InjectedNoise(Result):
    """Ground truth of synthetic raters, by the ids of labels and images. R raters with N labels, E events.

    Figures: ``"kinds"``.

    Parameters
    ----------
    fields : (R,) str
        Label field of each rater.
    label_ids : (N,) str
        Ids of the labels.
    label_rater : (N,) int
        Index in `fields` of the rater of each label.
    object : (N, W) int
        Objects of each label, -1 where fewer than W. Numbers are rows of `original_ids`; those above are places without
        an object. Two labels are of the same object if they share a number.
    original_ids : (M,) str
        Ids of the reference labels that everything is generated from.
    images : (I,) str
        Ids of the images.
    categories : (K,) str
    rater, image : (E,) int
        Indices in `fields` and in `images` of each event.
    event, outcome : (E,) str
        Names from `EVENTS` and `OUTCOMES`.
    rows : (E, 2) int
        Rows of `label_ids` that resulted from the event, -1 where fewer than two.
    origins : (E, V) int
        Rows of `original_ids` that the event concerns, -1 where fewer than V.
    category_from, category_to : (E,) int
        As in `Events`.
    shift, scale : (E, 2) float64
        As in `Events`.
    counts : (I, 6) int
        Number of events done on each image, by kind.

    Examples
    --------
    >>> from kalos_core import Annotations, NoiseModel
    >>> rows = [{"image": 1, "rater": "ann", "category": "cat", "box": [x, 20, 9, 9], "id": x} for x in (10, 40)]
    >>> reference = Annotations.from_rows(rows, image_size={1: (100, 100)})
    >>> noise = InjectedNoise.of(NoiseModel.default().generate(reference, ["r1"], magnitude=0), ["made"], ["a", "b"])
    >>> noise.original_ids.tolist(), noise.event_of.tolist(), noise.changes.tolist()
    (['10', '40'], [-1, -1], [0])
    >>> again = InjectedNoise.from_arrays(noise.to_arrays(), ["1"])
    >>> again.label_ids.tolist(), again.object.tolist()
    (['a', 'b'], [[0], [1]])
    """

    _call = "kf.inject_noise(samples)"

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
    counts: NDArray[np.intp]

    @classmethod
    def of(cls, result: GeneratedRaters, fields: Sequence[str], label_ids: Sequence[str]) -> InjectedNoise:
        """Build from raters whose annotations (N) are stored under these ids, in one field per rater."""
        for name, texts in (("fields", fields), ("label_ids", label_ids)):
            check_type(name, Sequence[str], texts)
        events, original = result.events, result.original
        return cls(
            fields=np.array(fields, dtype=str),
            label_ids=np.array(label_ids, dtype=str),
            label_rater=result.annotations.rater,
            object=result.object,
            original_ids=np.array(original.id.tolist(), dtype=str),
            images=original.images.astype(str),
            categories=original.categories.astype(str),
            rater=events.rater,
            image=events.image,
            event=events.event,
            outcome=events.outcome,
            rows=events.rows,
            origins=result.origins,
            category_from=events.category_from,
            category_to=events.category_to,
            shift=events.shift,
            scale=events.scale,
            counts=events.tally(events.image, len(original.images))[:, :, DONE],
        )

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], images: ArrayLike) -> InjectedNoise:
        """Restore from the arrays of `to_arrays` and the ids of the images."""
        stored: dict[str, Any] = {}
        for name, array in arrays.items():
            if name in TEXTS:
                stored[name] = np.char.decode(array, "utf-8")
            elif name in CODES:
                stored[name] = np.array(CODES[name])[array]
            else:
                stored[name] = array.astype(np.intp) if array.dtype.kind in "iu" else array
        return cls(**stored, images=np.asarray(images, dtype=str))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Convert everything except `images` to arrays of numbers and bytes."""
        stored = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "images"}
        for name, array in stored.items():
            if name in TEXTS:
                stored[name] = np.char.encode(array, "utf-8")
            elif name in CODES:
                stored[name] = codes_of(array, CODES[name])
        return stored

    @property
    def stage(self) -> NDArray[np.str_]:
        """(E,) names from `STAGES`."""
        stages: NDArray[np.str_] = np.array(STAGES)[STAGE_OF_EVENT[codes_of(self.event, EVENTS)]]
        return stages

    @property
    def changes(self) -> NDArray[np.intp]:
        """(I,) number of events other than shifts that were done on each image."""
        return np.asarray(self.counts[:, :SHIFT].sum(axis=1))

    @property
    def event_of(self) -> NDArray[np.intp]:
        """(N,) event that each label results from, -1 for none; only one stage changes an annotation."""
        found = np.full(len(self.label_ids), -1)
        for rows in self.rows.T:
            there = np.flatnonzero(rows >= 0)
            found[rows[there]] = there
        return found

    def about_originals(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return rows of `original_ids`, each with an event that concerns it, sorted by row, then by event."""
        event, column = np.nonzero(self.origins >= 0)
        row, found = np.divmod(
            np.unique(self.origins[event, column] * len(self.event) + event), max(len(self.event), 1)
        )
        return row, found

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return (
            f"{number_of(len(self.event), 'event')} in {number_of(len(self.label_ids), 'label')} of "
            f"{number_of(len(self.fields), 'generated rater')}"
        )

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per event, with fields, names and ids instead of codes; empty lists if there are no labels."""
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


def _ids(ids: NDArray[np.str_], rows: NDArray[np.intp]) -> list[list[str]]:
    return [[str(ids[row]) for row in own if row >= 0] for own in rows.tolist()]


def _named(names: NDArray[np.str_], codes: NDArray[np.intp]) -> list[str | None]:
    return [str(names[code]) if code >= 0 else None for code in codes.tolist()]
