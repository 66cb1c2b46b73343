"""What a run of synthetic raters stores: its figures, and the truth and the events by the ids of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.fiftyone.diagnostics import plain
from kalos_core.fiftyone.noise.writing import SyntheticLabels
from kalos_core.noise import GeneratedRaters, NoiseModel
from kalos_core.noise.events import EVENTS, OUTCOMES, STAGE_OF_EVENT, STAGES

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class InjectedNoise:
    """The truth about synthetic raters, by the ids of labels and samples. R raters, N labels of theirs, E events.

    Parameters
    ----------
    fields : (R,) str
        The label field of each rater.
    label_ids : (N,) str
        Their labels.
    label_rater : (N,) int
        Which of the raters each is of.
    object : (N, W) int
        Which objects each label is of, -1 where fewer: rows of `original_ids`, and above them places where there is
        nothing. Two labels are of one object if they share a number.
    original_ids : (M,) str
        The labels of the reference that everything comes from.
    images : (I,) str
        Ids of the samples.
    categories : (K,) str
    rater, image : (E,) int
        Whose event, and on which of `images`.
    event, outcome, stage : (E,) str
    rows : (E, 2) int
        Rows of `label_ids` that came of the event, -1 where fewer.
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
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> InjectedNoise:
        """From the arrays that a run stored."""
        return cls(**{name: arrays[f"noise_{name}"] for name in cls.__dataclass_fields__})

    @property
    def stage(self) -> NDArray[np.str_]:
        """(E,) of `STAGES`."""
        stages = dict(zip(EVENTS, np.array(STAGES)[STAGE_OF_EVENT].tolist(), strict=True))
        return np.array([stages[name] for name in self.event.tolist()], dtype=str)

    def labels_of(self, chosen: NDArray[np.bool_]) -> list[str]:
        """Ids of all labels, synthetic and original, that the chosen events (E,) are about."""
        made, origins = self.rows[chosen].ravel(), self.origins[chosen].ravel()
        return [*self.label_ids[np.unique(made[made >= 0])], *self.original_ids[np.unique(origins[origins >= 0])]]

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


def _ids(ids: NDArray[np.str_], rows: NDArray[np.intp]) -> list[list[str]]:
    return [[str(ids[row]) for row in own if row >= 0] for own in rows.tolist()]


def _named(names: NDArray[np.str_], codes: NDArray[np.intp]) -> list[str | None]:
    return [str(names[code]) if code >= 0 else None for code in codes.tolist()]


def arrays_of(result: GeneratedRaters, made: SyntheticLabels) -> dict[str, NDArray[Any]]:
    """What `InjectedNoise.of` reads back."""
    events, original = result.events, result.original
    arrays = {
        "fields": np.array(made.fields, dtype=str),
        "label_ids": made.ids,
        "label_rater": result.annotations.rater,
        "object": result.object,
        "original_ids": original.id.astype(str),
        "images": original.images.astype(str),
        "categories": original.categories.astype(str),
        "rater": events.rater,
        "image": events.image,
        "event": events.event.astype(str),
        "outcome": events.outcome.astype(str),
        "rows": events.rows,
        "origins": _origins(result),
        "category_from": events.category_from,
        "category_to": events.category_to,
        "shift": events.shift,
        "scale": events.scale,
    }
    return {f"noise_{name}": array for name, array in arrays.items()}


def _origins(result: GeneratedRaters) -> NDArray[np.intp]:
    """(E, V) rows of the original marks that each event was about: of raters of a school, what its marks are of."""
    rows = result.events.reference_rows
    if result.schools is None:
        return rows
    truth = np.concatenate([result.schools.truth, np.full((1, result.schools.truth.shape[1]), -1)])
    return truth[rows].reshape(len(rows), 2 * truth.shape[1])


# ---- figures ----


def figures_of(result: GeneratedRaters, fields: Sequence[str], model: str) -> dict[str, Any]:
    """The summary of a run as plain values.

    Returns
    -------
    dict
        ``fields`` and ``raters`` (names), ``magnitude``, ``references``; ``images``, ``marks`` of the references,
        ``drawn`` (marks that raters were drawn from, once for each rater) and ``annotations`` of the raters;
        ``events``: kind -> outcome -> number;
        ``loss``: rows with ``stage``, ``attempted``, ``done``, ``lost``, ``impossible``, ``share_lost``;
        ``signal_loss``, the ratio over the first three stages; ``changed``: how many events other than shifts
        were done; ``model``, ``class_source``, ``false_positive_source``, ``seed``.
    """
    counts, loss = result.events.counts(), result.signal_loss()
    original = result.original
    return {
        "fields": list(fields),
        "raters": list(result.annotations.raters),
        "magnitude": result.magnitude.tolist(),
        "references": [str(name) for name in original.raters],
        "images": len(original.images),
        "marks": len(original),
        "drawn": int(np.bincount(result.reference.rater)[result.reference_rater].sum()),
        "annotations": len(result.annotations),
        "events": counts,
        "loss": [
            {str(name): plain(value) for name, value in row.items()} for row in loss.to_pandas().to_dict("records")
        ],
        "signal_loss": plain(loss.ratio),
        "changed": sum(counts[name]["done"] for name in EVENTS if name != "shift"),
        "model": model,
        "class_source": result.class_source,
        "false_positive_source": result.false_positive_source,
        "seed": result.seed,
    }


def rater_rows(result: GeneratedRaters, fields: Sequence[str]) -> list[dict[str, Any]]:
    """A row for each rater: how many labels, and how many events of each kind were done and were lost."""
    events, marks = result.events, np.bincount(result.annotations.rater, minlength=len(fields))
    rows = []
    for number, (field, name) in enumerate(zip(fields, result.annotations.raters, strict=True)):
        own = events.rater == number
        done = {kind: int((own & (events.event == kind) & (events.outcome == OUTCOMES[0])).sum()) for kind in EVENTS}
        rows.append(
            {
                "field": field,
                "rater": str(name),
                "reference": str(result.reference.raters[result.reference_rater[number]]),
                "magnitude": float(result.magnitude[number]),
                "labels": int(marks[number]),
                **done,
                "lost": int((own & (events.outcome == OUTCOMES[1])).sum()),
            }
        )
    return rows


def law_rows(model: NoiseModel) -> list[dict[str, Any]]:
    """A row for each law of the model: where it is from."""
    return [
        {"law": law, "source": origin.source, "rows": origin.rows, "reason": origin.reason}
        for law, origin in model.provenance.items()
    ]
