"""Everything that is computed of the agreement on image-level labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from kalos_core.fiftyone.runs.progress import Progress
from kalos_core.nominal import (
    Disputes,
    GroupBreaches,
    LabelAgreement,
    LabelTable,
    MajorityAgreement,
    OnRepeat,
    RaterAccuracy,
    check_groups,
    cohen_matrix,
    find_disputes,
    label_agreement,
    majority_agreement,
    rater_accuracy,
    running_label_agreement,
)
from kalos_core.nominal.decisions import mean_of_finite
from kalos_core.nominal.grouping import GroupsRecord
from kalos_core.sparse import RunningCurve

MOST_CURVES = 12
"""Questions with a running curve and Cohen's kappas: the exclusive groups, then the concepts most often chosen."""

STEPS = 50
"""Points of a running curve."""


class LabelSettings(TypedDict):
    """As in `compute_label_agreement`."""

    groups: GroupsRecord
    weights: str
    bootstrap: int
    seed: int
    quorum: float
    width: float
    on_repeat: OnRepeat


@dataclass(frozen=True, eq=False)
class LabelFindings:
    """How far raters agree on image-level labels.

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


def find_all(table: LabelTable, settings: LabelSettings, progress: Progress) -> LabelFindings:
    """Everything, with the settings of a run."""
    progress(0.0, "Computing kappas")
    agreement = label_agreement(table, settings["bootstrap"], settings["seed"], settings["weights"])
    progress(0.3, "Comparing raters with one another and with the majority")
    majority, accuracy, disputes = majority_agreement(table), rater_accuracy(table), find_disputes(table)
    curves, cohen = {}, {}
    shown = _most_answered(agreement)
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


def _most_answered(agreement: LabelAgreement) -> list[str]:
    order = np.lexsort((-agreement.chosen, ~agreement.exclusive))[:MOST_CURVES]
    return [str(name) for name in agreement.question[order]]


def _running_weights(weights: str) -> str:
    """Shares of classes change while answers arrive: with these weights a curve counts pairs, as for equal ones."""
    return "edges" if weights == "inv_var_class" else weights


def _mean_of_pairs(matrix: NDArray[np.float64] | None) -> float:
    return float("nan") if matrix is None else mean_of_finite(matrix[np.triu_indices(len(matrix), 1)])
