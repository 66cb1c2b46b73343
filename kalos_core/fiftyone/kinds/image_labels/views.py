"""Views behind the numbers of image-level labels, for clicks on a question or a concept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from fiftyone import ViewField as F

from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.dataset.expressions import list_of, text, with_files
from kalos_core.fiftyone.kinds.labelled import stored_table
from kalos_core.fiftyone.runs.stored import load_details, load_metrics
from kalos_core.nominal import LabelTable
from kalos_core.nominal.answers import split_reference
from kalos_core.results import plain_values


@dataclass(frozen=True)
class DisputedImage:
    """An image with labels in dispute.

    Parameters
    ----------
    sample_id, file : str
    agreement : float
        Probability that two of its raters answer a question alike, averaged over the questions.
    all_decisions, chosen : float or None
        Share of raters with the majority, over all decisions and over concepts that at least one rater chose.
    question : str
        The question with the lowest agreement.
    answers : str
        The answers to this question, most frequent first, such as ``"cat 2, dog 1"``.
    """

    sample_id: str
    file: str
    agreement: float
    all_decisions: float | None
    chosen: float | None
    question: str
    answers: str


def view_of_disputes(samples: Any, run_key: str, *, question: str | None = None, concept: str | None = None) -> Any:
    """Return the samples of a run with labels in dispute, by increasing agreement and then by id.

    By default, these are the samples in dispute by the quorum of the run. With `question`, they are the samples with
    different answers to it. With `concept`, they are those where some raters chose it and others did not.
    """
    run = load_metrics(samples, run_key, "image_labels")
    names = run.names
    disputed = F(names.disputed) == True  # noqa: E712
    if question is not None or concept is not None:
        details = load_details(samples, run_key, "image_labels").details
        if question is not None:
            _check(question, "question", details.agreement.question.tolist())
            disputed = list_of(names.questions).contains([text(question)])
        else:
            _check(str(concept), "concept", details.majority.concepts.tolist())
            disputed = list_of(names.concepts).contains([text(str(concept))])
    return run.view.match(disputed).sort_by([(names.agreement, 1), ("id", 1)])


def _check(name: str, argument: str, known: list[str]) -> None:
    if name not in known:
        raise InputError(f"{argument}: expected one of {listed(map(repr, known), 20)}, got {name!r}")


def disputed_images(samples: Any, run_key: str, limit: int = 25) -> list[DisputedImage]:
    """Return the images of a run with the lowest agreement, with the answers of the raters, lowest first."""
    run = load_metrics(samples, run_key, "image_labels")
    arrays, (answers, _) = run.arrays, split_reference(stored_table(run.arrays), run.selection.reference)
    pairs = zip(arrays["disputed/item"].tolist(), arrays["disputed/question"].tolist(), strict=True)
    there = with_files(run.view, pairs, lambda pair: answers.items[pair[0]], limit)
    items = np.array([item for (item, _), _ in there], np.intp)
    table = answers.without_answers(arrays["rejected"]).select(items=items)
    numbers = (plain_values(arrays[name][items]) for name in ("agreement", "item_all", "item_chosen"))
    rows = zip(table.items.tolist(), there, *numbers, strict=True)
    return [
        DisputedImage(
            sample_id=image,
            file=file,
            agreement=agreement,
            all_decisions=all_decisions,
            chosen=chosen,
            question=table.questions[question],
            answers=_answers(table, table.questions[question], row),
        )
        for row, (image, ((_, question), file), agreement, all_decisions, chosen) in enumerate(rows)
    ]


def _answers(table: LabelTable, question: str, item: int) -> str:
    counts = table.counts(question)[[item]].toarray()[0]
    options = table.options(question)
    return ", ".join(f"{options[code]} {counts[code]}" for code in np.argsort(-counts, kind="stable") if counts[code])
