"""What a run on image-level labels stores: the numbers of its summary, those behind it, and what views need."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypedDict, cast

import fiftyone as fo
import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.errors import InputError, as_number
from kalos_core.fiftyone.dataset.database import FieldArguments
from kalos_core.fiftyone.kinds.image_labels.result import LabelFindings, LabelSettings
from kalos_core.fiftyone.kinds.labelled import TEXTS, by_item, majority_schema, majority_values
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.records import plain
from kalos_core.nominal import landis_koch
from kalos_core.nominal.decisions import ConceptVotes

MOST_IN_SUMMARY = 20
"""Questions of the summary, those agreed on least."""

KAPPAS = ("free_marginal", "fleiss", "alpha", "cohen")

Ends = list[float | None]
"""Both ends of an interval; None where undefined."""


class Bands(TypedDict):
    """What each coefficient means (`landis_koch`)."""

    free_marginal: str
    fleiss: str
    alpha: str
    cohen: str


class QuestionMetrics(TypedDict):
    """A row of `LabelAgreement`, with the mean of Cohen's kappas and what each coefficient means."""

    question: str
    exclusive: bool
    options: int
    items: int
    answers: int
    ties: int
    chosen: int
    spa: float | None
    spa_interval: Ends
    free_marginal: float | None
    interval: Ends
    fleiss: float | None
    alpha: float | None
    cohen: float | None
    bands: Bands


class MeanKappa(TypedDict):
    """Mean free-marginal kappa of the groups, and of the optional concepts."""

    exclusive: float | None
    optional: float | None


class WithMajority(TypedDict):
    """`MajorityAgreement.means`."""

    concept_all: float | None
    concept_chosen: float | None
    item_all: float | None
    item_chosen: float | None


class RaterBreaches(TypedDict):
    """How many answers of a rater broke a group."""

    rater: str
    answers: int


class LabelMetrics(TypedDict):
    """The summary of agreement on image-level labels."""

    images: int
    answers: int
    raters: list[str]
    questions: int
    least_agreed: list[QuestionMetrics]
    mean_kappa: MeanKappa
    with_majority: WithMajority
    accuracy: float | None
    disputed: int
    quorum: float
    ties: int
    breaches: int
    breaches_by_rater: list[RaterBreaches]


class ConceptDetails(TypedDict):
    """`MajorityAgreement.to_pandas` as columns. C concepts."""

    concept: list[str]
    group: list[str | None]
    all: list[float | None]
    chosen: list[float | None]
    items: list[int]


class AccuracyDetails(TypedDict):
    """`RaterAccuracy` as plain values, without a reference. R raters."""

    raters: list[str]
    accuracy: list[Ends]
    questions: list[list[int]]
    to_majority: list[float | None]
    to_reference: list[float | None]
    decision_accuracy: list[Ends]
    decisions: list[list[int]]
    decision_to_majority: list[float | None]
    decision_to_reference: list[float | None]
    reference: str


class CurveDetails(TypedDict):
    """A `RunningCurve` as plain values, with Cohen's kappas of the same question. T steps.

    `narrow_from` is the step from which on the interval is narrower than `width`.
    """

    question: str
    annotations: list[int]
    usable_items: list[int]
    spa: list[float | None]
    spa_interval: list[Ends]
    alpha: list[float | None]
    alpha_interval: list[Ends]
    time: list[float | None]
    width: float
    narrow_from: int | None
    cohen: list[list[float | None]]


class LabelDetails(TypedDict):
    """What lies behind agreement on image-level labels."""

    questions: list[QuestionMetrics]
    concepts: ConceptDetails
    accuracy: AccuracyDetails
    curves: list[CurveDetails]


def label_metrics(found: LabelFindings, settings: LabelSettings) -> LabelMetrics:
    """The summary: few numbers, part of the data set's own document."""
    table, agreement = found.table, found.agreement
    rows = question_metrics(found)
    means = {"exclusive": agreement.mean_kappa(True), "optional": agreement.mean_kappa(False)}
    return {
        "images": len(np.unique(table.item)),
        "answers": len(table),
        "raters": table.raters.tolist(),
        "questions": len(table.questions),
        "least_agreed": sorted(rows, key=_kappa_or_last)[:MOST_IN_SUMMARY],
        "mean_kappa": plain(means),
        "with_majority": plain(found.majority.means),
        "accuracy": plain(found.accuracy.mean),
        "disputed": int(found.disputes.below(settings["quorum"]).sum()),
        "quorum": settings["quorum"],
        "ties": int(agreement.ties.sum()),
        "breaches": len(found.breaches),
        "breaches_by_rater": [{"rater": name, "answers": times} for name, times in found.breaches.by_rater().items()],
    }


def _kappa_or_last(row: QuestionMetrics) -> float:
    return float("inf") if row["free_marginal"] is None else row["free_marginal"]


def label_details(found: LabelFindings, settings: LabelSettings) -> LabelDetails:
    """All other numbers, as plain values."""
    concepts = found.majority.to_pandas()
    return {
        "questions": question_metrics(found),
        "concepts": cast(ConceptDetails, {name: plain(concepts[name].to_numpy()) for name in concepts}),
        "accuracy": plain(found.accuracy),
        # a list: names of questions may hold what keys of a database may not
        "curves": [_curve(found, question, settings["width"]) for question in found.curves],
    }


def _curve(found: LabelFindings, question: str, width: float) -> CurveDetails:
    curve = found.curves[question]
    made = {"width": width, "narrow_from": curve.narrow_from(width), "cohen": plain(found.cohen[question])}
    return cast(CurveDetails, {"question": question, **plain(curve), **made})


def question_metrics(found: LabelFindings) -> list[QuestionMetrics]:
    """A row for each question, as plain values."""
    agreement = found.agreement
    columns = {name: getattr(agreement, name) for name in vars(agreement) if name != "breaches"}
    columns["interval"] = columns.pop("free_marginal_interval")
    columns["cohen"] = found.mean_cohen
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    for row in rows:
        row["bands"] = {name: landis_koch(row[name]) for name in KAPPAS}
    return cast(list[QuestionMetrics], plain(rows))


def check_width(width: object) -> float:
    """The width of an interval that is narrow enough."""
    number = as_number(width)
    if number is None or not number > 0:
        raise InputError(f"width: expected a number above 0, got {width!r}")
    return number


# ---- what views need ----


def sample_schema(names: RunNames) -> dict[str, FieldArguments]:
    """The fields of `sample_values`."""
    return {
        names.agreement: {"ftype": fo.FloatField},
        names.disputed: {"ftype": fo.BooleanField},
        names.questions: TEXTS,
        names.concepts: TEXTS,
        **majority_schema(names),
    }


def sample_values(found: LabelFindings, names: RunNames, quorum: float) -> dict[str, Iterable[Any]]:
    """Field -> (I,) values; an image that two raters did not answer for has neither agreement nor dispute."""
    table, disputes, votes = found.table, found.disputes, ConceptVotes.of(found.table)
    mixed, items = votes.chose < votes.decided, len(found.table.items)
    agreement, disputed = plain(disputes.agreement), disputes.below(quorum).tolist()
    return {
        names.agreement: agreement,
        names.disputed: [flag if value is not None else None for flag, value in zip(disputed, agreement, strict=True)],
        names.questions: by_item(disputes.item, object_array(table.questions)[disputes.question], items),
        names.concepts: by_item(votes.item[mixed], table.concepts[votes.concept[mixed]], items),
        **majority_values(table, names),
    }


def dispute_arrays(found: LabelFindings) -> dict[str, NDArray[Any]]:
    """Images in dispute, the least agreed first, with the question agreed on least; and numbers of all images."""
    disputes = found.disputes
    order = np.lexsort((disputes.share, disputes.agreement[disputes.item]))
    rows = order[np.sort(np.unique(disputes.item[order], return_index=True)[1])]
    return {
        "disputed/item": disputes.item[rows],
        "disputed/question": disputes.question[rows],
        "agreement": disputes.agreement,
        "item_all": found.majority.item_all,
        "item_chosen": found.majority.item_chosen,
    }
