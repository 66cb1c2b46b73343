"""Values that an agreement writes on samples: image alphas, and units in dispute in the order to decide them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement
from kalos_core.decisions import disputes
from kalos_core.decisions.objects import decided_together
from kalos_core.diagnostics import AlphasByImage, Diagnosis
from kalos_core.errors import Undefined
from kalos_core.fiftyone.dataset.writing import Values, nested, or_none
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.nominal import GradeAgreement
from kalos_core.pixels import BoundaryAgreement
from kalos_core.reliability import NOT_ASSIGNED

OPEN, WAITING, DECIDED = "open", "waiting", "decided"
"""States of a unit in dispute: undecided, waiting for a change of the guideline, decided."""


def sample_values(
    result: Agreement,
    details: Diagnosis,
    pair_alphas: NDArray[np.float64],
    boundaries: BoundaryAgreement | None,
    attributes: Sequence[GradeAgreement],
    names: RunNames,
) -> Values:
    """Return the values of sample fields: alphas of the image, of its classes, raters and pairs, at each threshold.

    Classes that occur in an image are listed with their alphas, overall and of each rater. Alphas of raters are in the
    order of the raters, and alphas of pairs in the order of ``numpy.triu_indices``. Further fields hold differences of
    boundaries and attributes if these were compared, the units in dispute, and the order of `next_to_rate`, empty.
    """
    alphas, curve, queue = AlphasByImage(result), details.sensitivity, _queue_values(result, names)
    columns = {} if boundaries is None else {names.boundary: boundaries.by_image()["average"].to_numpy()}
    columns |= {names.attributes: _differences_of_images(result, attributes)} if attributes else {}

    def values(images: NDArray[np.intp]) -> dict[str, Any]:
        found = alphas.of(*((int(images[0]), int(images[-1]) + 1) if len(images) else (0, 0)))
        made: dict[str, Any] = {
            names.alpha: or_none(result.image_alpha[images]),
            names.class_names: nested(found.category, found.count),
            names.class_alphas: nested(found.class_alpha, found.count),
            **queue(images),
            names.next: [None] * len(images),
        }
        if not result.annotations.raters_are_local:
            made |= {
                names.rater_alphas: or_none(found.rater_alpha),
                names.class_rater_alphas: nested(found.class_rater_alpha, found.count),
                names.pair_alphas: or_none(pair_alphas[images]),
            }
        made |= {name: or_none(column[images]) for name, column in columns.items()}
        if not isinstance(curve, Undefined):
            made[names.threshold_alphas] = or_none(curve.image_alpha.T[images])
        return made

    return values


def queue_index(names: RunNames) -> list[str]:
    """Return the indexed fields that find the next sample to decide."""
    return [names.alpha, "_id", names.disputes]


def _queue_values(agreement: Agreement, names: RunNames) -> Values:
    """Return the values of queue fields: units in the order of `disputes`, open decisions, and no decisions yet.

    An entry holds the number of its ``unit``, its ``classes`` and its ``state``. ``together`` is the number of the
    first unit that is decided together with it. ``raters`` are those who contradict the majority, or without a
    majority, all assigned raters.
    """
    found = disputes(agreement)
    order = np.argsort(found.image, kind="stable")
    unit, image, together = found.unit[order], found.image[order], decided_together(agreement)

    def values(images: NDArray[np.intp]) -> dict[str, list[Any]]:
        ends = np.searchsorted(image, [*images, *(images[-1:] + 1)])
        entries = _entries(agreement, unit[ends[0] : ends[-1]], together) if len(images) else []
        start = (ends - ends[0]).tolist() if len(images) else []
        queue = [entries[begin:end] for begin, end in pairwise(start)]
        counts = [open_decisions(of) for of in queue]
        return {names.queue: queue, names.disputes: counts, names.decisions: [[] for _ in queue]}

    return values


def open_decisions(queue: Iterable[Mapping[str, Any]]) -> int:
    """Count the decisions that open units need; one decision may settle several units."""
    return len({entry["together"] for entry in queue if entry["state"] == OPEN})


def _entries(agreement: Agreement, unit: NDArray[np.intp], together: NDArray[np.intp]) -> list[dict[str, Any]]:
    annotations, values = agreement.annotations, agreement.units.values[unit]
    there = values != NOT_ASSIGNED
    same = ((values[:, :, None] == values[:, None, :]) & there[:, None, :]).sum(axis=2)  # (D, R) raters with this value
    most = np.where(there, same, 0).max(axis=1, initial=0)
    alone = there & ((same < most[:, None]) | ((there & (same == most[:, None])).sum(axis=1) > most)[:, None])
    categories, raters = annotations.categories, annotations.raters
    return [
        {
            "unit": number,
            "together": int(together[number]),
            "classes": categories[np.unique(of[of >= 0])].tolist(),
            "raters": raters[against].tolist(),
            "state": OPEN,
        }
        for number, of, against in zip(unit.tolist(), values, alone, strict=True)
    ]


def _differences_of_images(result: Agreement, found: Sequence[GradeAgreement]) -> NDArray[np.float64]:
    """Return the (I, A) means of `GradeAgreement.differences` over the units of each image; NaN without any."""
    image, images = result.units.image, len(result.annotations.images)
    columns = []
    for of in found:
        apart = of.differences
        there = np.isfinite(apart)
        units = np.bincount(image[there], minlength=images)
        sums = np.bincount(image[there], apart[there], minlength=images)
        columns.append(np.divide(sums, units, where=units > 0, out=np.full(images, np.nan)))
    return np.stack(columns, axis=1)
