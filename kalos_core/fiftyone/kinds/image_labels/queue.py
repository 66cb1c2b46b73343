"""Queue entries of image-level labels in dispute."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kalos_core.arrays import divide
from kalos_core.decisions import DisputedAnswer, disputed_answers
from kalos_core.fiftyone.kinds.agreement.values import OPEN
from kalos_core.fiftyone.kinds.image_labels.settings import LabelRunSettings
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.nominal import LabelFindings
from kalos_core.nominal.levels import Levels, numbered_levels, question_levels
from kalos_core.results import plain_values


def queue_values(found: LabelFindings, names: RunNames, settings: LabelRunSettings) -> dict[str, Iterable[Any]]:
    """Return field -> (I,) values: undecided answers in dispute by the quorum of a run, lowest agreement first.

    An entry holds the number of its ``unit``, its id (``label``), the ``question``, its ``classes``, and its ``state``.
    ``raters`` are those who contradict the majority. ``assigned`` and ``given`` list the assigned raters and their
    labels (None for no label). ``apart`` lists the difference of each grade from the mean of the others.
    """
    table, queue = found.table, list[list[dict[str, Any]]]([] for _ in found.table.items)
    levels = {**numbered_levels(table), **question_levels(table, settings.metric, settings.order)}
    for number, answer in enumerate(disputed_answers(found.disputes, settings.quorum)):
        question = table.questions[answer.question]
        given = list(answer.given.values())
        queue[answer.item].append(
            {
                "unit": number,
                "together": number,
                "label": answer.id,
                "question": question,
                "classes": sorted({label for label in given if label is not None}),
                "raters": answer.against,
                "assigned": list(answer.given),
                "given": given,
                "apart": _apart(answer, table.options(question), levels.get(question)),
                "state": OPEN,
            }
        )
    return {names.queue: queue, names.disputes: map(len, queue), names.decisions: ([] for _ in queue)}


def _apart(answer: DisputedAnswer, options: tuple[str, ...], levels: Levels | None) -> list[float | None]:
    """Return each rater's grade minus the mean of the others; None if labels are not grades."""
    given = list(answer.given.values())
    if levels is None:
        return [None] * len(given)
    grades = levels.numbers(np.array([options.index(label) for label in given if label is not None], np.int32))
    others = divide(grades.sum() - grades, np.full(len(grades), len(grades) - 1))
    found: list[float | None] = plain_values(grades - others)
    return found
