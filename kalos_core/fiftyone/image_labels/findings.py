"""All figures of agreement on whole images: computed from a table, told as plain values, stored, and read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.errors import InputError, as_number
from kalos_core.fiftyone.diagnostics import plain
from kalos_core.fiftyone.image_labels.reading import ImageLabels
from kalos_core.fiftyone.progress import Progress
from kalos_core.fiftyone.runs import load_arrays, pack
from kalos_core.nominal import (
    Disputes,
    GroupBreaches,
    LabelAgreement,
    LabelTable,
    MajorityAgreement,
    RaterAccuracy,
    check_groups,
    cohen_matrix,
    find_disputes,
    label_agreement,
    landis_koch,
    majority_agreement,
    rater_accuracy,
    running_label_agreement,
)
from kalos_core.sparse import RunningCurve

MOST_CURVES = 12
"""Questions with a running curve and Cohen's kappas: the exclusive groups, then the concepts most often chosen."""

STEPS = 50
"""Points of a running curve."""

MOST_IN_SUMMARY = 20
"""Questions of the summary, those agreed on least."""

IN_TABLE = ("item", "rater", "answer", "concept", "group_of", "unanswered", "time")
NAMES = ("raters", "concepts", "groups")
"""What of a `LabelTable` is stored."""


@dataclass(frozen=True, eq=False)
class LabelFindings:
    """How far raters agree on labels of whole images.

    Parameters
    ----------
    table : LabelTable
    agreement : LabelAgreement
        Per question.
    majority : MajorityAgreement
        Per concept and image, in both readings.
    accuracy : RaterAccuracy
        Of every two raters.
    disputes : Disputes
        Images and questions that are not unanimous.
    breaches : GroupBreaches
        Answers with none or several of an exclusive group.
    curves : dict
        Question -> `RunningCurve`, of at most `MOST_CURVES`.
    cohen : dict
        Question -> (R, R) Cohen's kappa of every two raters, of the same questions.
    """

    table: LabelTable
    agreement: LabelAgreement
    majority: MajorityAgreement
    accuracy: RaterAccuracy
    disputes: Disputes
    breaches: GroupBreaches
    curves: dict[str, RunningCurve]
    cohen: dict[str, NDArray[np.float64]]

    @property
    def mean_cohen(self) -> NDArray[np.float64]:
        """(Q,) mean over pairs of raters of Cohen's kappa; NaN where undefined or not computed."""
        return np.array([_mean_of_pairs(self.cohen.get(name)) for name in self.table.questions])


def find_all(table: LabelTable, settings: Mapping[str, Any], progress: Progress) -> LabelFindings:
    """Everything, with the settings of a run."""
    progress(0.0, "Computing kappas")
    agreement = label_agreement(table, settings["bootstrap"], settings["seed"], settings["weights"])
    progress(0.3, "Comparing raters with one another and with the majority")
    majority, accuracy, disputes = majority_agreement(table), rater_accuracy(table), find_disputes(table)
    curves, cohen = {}, {}
    shown = _most_asked(agreement)
    for number, question in enumerate(shown):
        progress(0.5 + 0.5 * number / len(shown), f"Agreement on {question} as answers arrived")
        curves[question] = running_label_agreement(
            table,
            question,
            points=STEPS,
            weights=_running_weights(settings["weights"]),
            bootstrap=min(settings["bootstrap"], 200),
            seed=settings["seed"],
        )
        cohen[question] = cohen_matrix(table.values(question))
    return LabelFindings(table, agreement, majority, accuracy, disputes, check_groups(table), curves, cohen)


def _most_asked(agreement: LabelAgreement) -> list[str]:
    order = np.lexsort((-agreement.chosen, ~agreement.exclusive))[:MOST_CURVES]
    return [str(name) for name in agreement.question[order]]


def _running_weights(weights: str) -> str:
    """Shares of classes change while annotations arrive: with these weights a curve counts pairs, as for equal ones."""
    return "edges" if weights == "inv_var_class" else weights


def _mean_of_pairs(matrix: NDArray[np.float64] | None) -> float:
    if matrix is None:
        return float("nan")
    pairs = matrix[np.triu_indices(len(matrix), 1)]
    pairs = pairs[np.isfinite(pairs)]
    return float(pairs.mean()) if len(pairs) else float("nan")


def figures_of(found: LabelFindings, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The summary: few numbers, part of the data set's own document."""
    table, agreement = found.table, found.agreement
    rows = question_rows(found)
    order = sorted(range(len(rows)), key=lambda place: _last_if_none(rows[place]["free_marginal"]))
    return {
        "images": len(np.unique(table.item)),
        "answers": len(table),
        "raters": [str(name) for name in table.raters],
        "questions": len(table.questions),
        "least_agreed": [rows[place] for place in order[:MOST_IN_SUMMARY]],
        "mean_kappa": plain_of({"exclusive": agreement.mean_kappa(True), "optional": agreement.mean_kappa(False)}),
        "with_majority": plain_of(found.majority.means),
        "accuracy": plain(found.accuracy.mean),
        "disputed": int(found.disputes.below(settings["quorum"]).sum()),
        "quorum": settings["quorum"],
        "ties": int(agreement.ties.sum()),
        "breaches": len(found.breaches),
        "breaches_by_rater": [{"rater": name, "answers": times} for name, times in found.breaches.by_rater().items()],
    }


def diagnostics_of(found: LabelFindings, settings: Mapping[str, Any]) -> dict[str, Any]:
    """All other figures, as plain values."""
    majority, accuracy = found.majority.to_pandas(), found.accuracy
    return {
        "questions": question_rows(found),
        "concepts": {name: plain(majority[name].to_numpy()) for name in majority},
        "accuracy": {
            "raters": [str(name) for name in accuracy.raters],
            **{name: plain(getattr(accuracy, name)) for name in ("accuracy", "values", "decisions", "to_majority")},
        },
        # a list: names of questions may hold what keys of a database may not
        "curves": [
            {"question": name, **_curve(curve, settings["width"]), "cohen": plain(found.cohen[name])}
            for name, curve in found.curves.items()
        ],
    }


def _curve(curve: RunningCurve, width: float) -> dict[str, Any]:
    columns = {name: plain(getattr(curve, name)) for name in RunningCurve.__dataclass_fields__}
    return {**columns, "width": width, "narrow_from": curve.narrow_from(width)}


def question_rows(found: LabelFindings) -> list[dict[str, Any]]:
    """A row for each question, as plain values."""
    frame, cohen = found.agreement.to_pandas(), found.mean_cohen
    rows = []
    for place, row in enumerate(frame.to_dict("records")):
        kappas = {name: row[name] for name in ("free_marginal", "fleiss", "alpha")} | {"cohen": float(cohen[place])}
        rows.append(
            plain_of(
                {
                    **{name: row[name] for name in ("question", "exclusive", "options", "items", "answers", "ties")},
                    **{name: row[name] for name in ("chosen", "spa")},
                    "spa_interval": found.agreement.spa_interval[place],
                    **kappas,
                    "interval": found.agreement.free_marginal_interval[place],
                    "bands": {name: landis_koch(value) for name, value in kappas.items()},
                }
            )
        )
    return rows


def plain_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as plain values."""
    return {name: value if isinstance(value, dict) else plain(value) for name, value in record.items()}


def _last_if_none(value: float | None) -> float:
    return float("inf") if value is None else value


# ---- stored ----


def pack_table(labels: ImageLabels, **arrays: NDArray[Any]) -> str:
    """What a run on whole images stores: digests of what it read, the table, and `arrays`."""
    table = labels.table
    return pack(
        image_ids=table.items.astype(str),
        hashes=labels.hashes.astype(str),
        **{f"table_{name}": getattr(table, name) for name in IN_TABLE},
        **{f"table_{name}": getattr(table, name).astype(str) for name in NAMES},
        **arrays,
    )


def stored_table(arrays: Mapping[str, NDArray[Any]]) -> LabelTable:
    """The table a run stored."""
    columns: dict[str, NDArray[Any]] = {name: arrays[f"table_{name}"] for name in IN_TABLE}
    columns |= {name: object_array(arrays[f"table_{name}"].tolist()) for name in NAMES}
    return LabelTable(items=object_array(arrays["image_ids"].tolist()), **columns)


def load_table(samples: Any, run_key: str) -> LabelTable:
    """The labels that a run on whole images read, as they were."""
    return stored_table(load_arrays(samples, run_key))


def check_width(width: object) -> float:
    """The width of an interval that is narrow enough."""
    number = as_number(width)
    if number is None or not number > 0:
        raise InputError(f"width: expected a number above 0, got {width!r}")
    return number
