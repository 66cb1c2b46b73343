"""Complete analysis of the agreement on image-level labels, in one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from kalos_core.display import number_of, with_interval
from kalos_core.nominal.accuracy import ItemAccuracy, RaterAccuracy, Reference, item_accuracy, rater_accuracy
from kalos_core.nominal.coefficients import cohen_matrix
from kalos_core.nominal.direction import GradeDirection, grade_direction
from kalos_core.nominal.disputes import Disputes, find_disputes
from kalos_core.nominal.graded import GradeAgreement, grade_agreement
from kalos_core.nominal.grouping import Teams
from kalos_core.nominal.groups import GroupBreaches, check_groups
from kalos_core.nominal.intraclass import IntraclassCorrelation, intraclass_correlation
from kalos_core.nominal.levels import Levels, numbered_levels, question_levels
from kalos_core.nominal.majority import MajorityAgreement, majority_agreement
from kalos_core.nominal.questions import LabelAgreement, LabelSettings, label_agreement, running_label_agreement
from kalos_core.nominal.rejection import (
    Broken,
    LeastAccuracy,
    MostBreaches,
    Rejection,
    RejectionSettings,
    reject_answers,
)
from kalos_core.nominal.skill import MODELS, LabelTruth, ModelName, dawid_skene
from kalos_core.nominal.table import LabelTable
from kalos_core.nominal.teams import TeamComparison, compare_teams
from kalos_core.options import Option, takes
from kalos_core.results import Parts, Result
from kalos_core.sparse import Independence, RunningCurve, check_independence
from kalos_core.text import plain

if TYPE_CHECKING:
    import pandas as pd


MOST_CURVES = 12
"""Maximum number of questions with a running curve: exclusive groups first, then the concepts chosen most often."""

STEPS = 50
"""Number of points of a running curve."""


@dataclass(frozen=True, eq=False, repr=False)
class QuestionCurve(Result):
    """Details of one question. R raters.

    Figures: ``"cohen"``, ``"running"``, ``"independence"``.

    Parameters
    ----------
    question : str
    raters : (R,) object
    cohen : (R, R) float64
        Cohen's kappa of every two raters.
    curve : RunningCurve
        Agreement over time, as answers arrived.
    independence : Independence
        Test whether agreement depends on how many answers an item has.

    Examples
    --------
    >>> rows = [{"item": i, "rater": r, "label": "x" if i else r} for r in "xy" for i in range(4)]
    >>> found = label_findings(LabelTable.from_rows(rows), bootstrap=0)
    >>> found.curves[0].question, found.curves[0].raters.tolist(), found.curves[0].cohen[0, 1].item()
    ('label', ['x', 'y'], 0.0)
    """

    _call = "label_findings(table).curves[0]"

    question: str
    raters: NDArray[np.object_]
    cohen: NDArray[np.float64]
    curve: RunningCurve
    independence: Independence

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return f"Cohen's kappa of each pair of {number_of(len(self.raters), 'rater')}: {self.question}"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row for every two raters: Cohen's kappa."""
        import pandas as pd

        one, other = np.triu_indices(len(self.raters), 1)
        return pd.DataFrame({"a": self.raters[one], "b": self.raters[other], "kappa": self.cohen[one, other]})


@dataclass(frozen=True, eq=False, repr=False)
class QuestionGrades(Result):
    """Coefficients of one question whose labels have an order or are numbers.

    Figures: ``"coefficients"``.

    Parameters
    ----------
    question : str
    weighted : GradeAgreement
        Alpha; AC2 and Conger's kappa, both with quadratic weights; without items.
    correlation : IntraclassCorrelation
        Intraclass correlation of the numbers; with a stated order, of the positions in it.

    Examples
    --------
    >>> rows = [{"item": i, "rater": r, "label": str(i + (r == "b" and i == 2))} for i in range(4) for r in "ab"]
    >>> (found,) = label_findings(LabelTable.from_rows(rows), metric="interval", bootstrap=0).grades
    >>> found.to_pandas()[["coefficient", "value"]].round(2).values.tolist()[:2]
    [['alpha, interval', 0.93], ['AC2, quadratic', 0.91]]
    """

    _call = "label_findings(table, metric=...).grades[0]"

    question: str
    weighted: GradeAgreement
    correlation: IntraclassCorrelation

    @classmethod
    def of(cls, table: LabelTable, question: str, levels: Levels, bootstrap: int, seed: int) -> QuestionGrades:
        """Compute the coefficients of a question with these levels."""
        numbers = levels.numbers(table.values(question))
        order = list(range(len(table.options(question)))) if levels.is_stated else None  # includes unused grades
        found = grade_agreement(numbers, levels.metric, order=order, bootstrap=bootstrap, seed=seed)
        return cls(question, found.without_items(), intraclass_correlation(numbers, bootstrap, seed))

    @property
    def headline(self) -> str:
        """The finding, in words."""
        alpha = with_interval(self.weighted.alpha, self.weighted.alpha_interval)
        return f"{plain(self.question)}: {self.weighted.metric} alpha {alpha}; {self.correlation.headline}"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per coefficient."""
        import pandas as pd

        forms = self.correlation.to_pandas().rename(columns={"form": "coefficient"})
        return pd.concat([self.weighted.to_pandas(), forms], ignore_index=True)


@dataclass(frozen=True, eq=False, repr=False)
class LabelFindings(Parts):
    """Agreement of raters on image-level labels.

    Figures: ``"agreement"``, ``"majority"``, ``"accuracy"``, ``"items"``, ``"disputes"``, ``"breaches"``, ``"table"``,
    ``"teams"``, ``"rejection"``; the last two where there are teams and rejected answers.

    Parameters
    ----------
    agreement : LabelAgreement
        Agreement per question.
    majority : MajorityAgreement
        Agreement with the majority per concept and item, in both readings.
    accuracy : RaterAccuracy
        Accuracy of every two raters, and of each relative to the majority and the reference.
    items : ItemAccuracy
        Accuracy per item.
    disputes : Disputes
        Items and questions that are not unanimous.
    breaches : GroupBreaches
        Answers with none or several of an exclusive group.
    table : LabelTable
        Answers that count, without rejected ones.
    curves : tuple of QuestionCurve
        Details of at most `MOST_CURVES` questions.
    teams : TeamComparison, optional
    rejection : Rejection, optional
    truth : tuple of LabelTruth
        Estimated ground truth of each question; empty if it was not requested.
    grades : tuple of QuestionGrades
        Coefficients of each question with a metric other than nominal.
    directions : tuple of GradeDirection
        Raters who grade higher or lower, for each such question and those whose labels are numbers.

    Examples
    --------
    >>> rows = [{"item": i, "rater": r, "label": "x" if i else r} for r in "xy" for i in range(4)]
    >>> found = label_findings(LabelTable.from_rows(rows), bootstrap=0)
    >>> found.agreement.spa.tolist(), found.majority.means["item_all"], len(found.disputes)
    ([0.75], 0.875, 1)
    """

    _call = "label_findings(table)"

    agreement: LabelAgreement
    majority: MajorityAgreement
    accuracy: RaterAccuracy
    items: ItemAccuracy
    disputes: Disputes
    breaches: GroupBreaches
    table: LabelTable
    curves: tuple[QuestionCurve, ...]
    teams: TeamComparison | None
    rejection: Rejection | None
    truth: tuple[LabelTruth, ...] = ()
    grades: tuple[QuestionGrades, ...] = ()
    directions: tuple[GradeDirection, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FindingsSettings(LabelSettings):
    """Settings of the findings about image-level labels."""

    teams: Teams = None
    reject_broken: Broken = False
    most_breaches: MostBreaches = None
    least_accuracy: LeastAccuracy = None
    truth: Annotated[
        ModelName | None,
        Option(
            "Who is right",
            "Estimate the class of each item and the skill of each rater, with a model of how raters answer "
            "(`dawid_skene`).",
            choices=MODELS,
        ),
    ] = None

    @property
    def rejection(self) -> RejectionSettings:
        """Rules by which answers are rejected before anything is computed."""
        return self.part(RejectionSettings, broken=self.reject_broken)


@dataclass(frozen=True, kw_only=True)
class FindingsArguments(FindingsSettings):
    """Arguments of `label_findings`: its settings, ground truth as in `rater_accuracy`, and a progress callback."""

    reference: Reference | None = None
    progress: Callable[[float, str], object] = lambda *_: None


@takes(FindingsArguments)
def label_findings(table: LabelTable, settings: FindingsArguments) -> LabelFindings:
    """Compute everything about the agreement on image-level labels.

    Parameters
    ----------
    table : LabelTable
    reference : optional
        Ground truth, as in `rater_accuracy`.
    progress : callable
        Called with the fraction completed, and the next step.

    Returns
    -------
    LabelFindings

    Examples
    --------
    >>> rows = [{"item": i, "rater": r, "label": "x" if i else r} for r in "xy" for i in range(4)]
    >>> found = label_findings(LabelTable.from_rows(rows), reference={0: "x"}, bootstrap=0)
    >>> found.agreement.spa.tolist(), found.accuracy.to_reference.tolist(), len(found.disputes)
    ([0.75], [1.0, 0.0], 1)
    """
    progress, bootstrap, seed = settings.progress, settings.bootstrap, settings.seed
    rejection = None
    if settings.rejection.has_rule:
        rejection = reject_answers(table, **settings.rejection.record())
        table = rejection.keep(table)
    progress(0.0, "Computing kappas")
    agreement = label_agreement(table, **settings.part(LabelSettings).record())
    progress(0.3, "Comparing raters with one another and with the majority")
    left, teams = set(table.raters), settings.teams or {}
    known = {name: [rater for rater in of if rater in left or rejection is None] for name, of in teams.items()}
    compared = compare_teams(table, known, bootstrap=bootstrap, seed=seed) if known else None
    majority, accuracy = majority_agreement(table), rater_accuracy(table, settings.reference)
    items, disputes = item_accuracy(table, settings.reference), find_disputes(table)
    estimated: tuple[LabelTruth, ...] = ()
    if settings.truth is not None:
        progress(0.4, "Estimating who is right")
        estimated = tuple(dawid_skene(table, question, model=settings.truth) for question in table.questions)
    levels = question_levels(table, settings.metric, settings.order)
    graded = [QuestionGrades.of(table, question, of, bootstrap, seed) for question, of in levels.items()]
    directions = [
        grade_direction(
            of.numbers(table.values(question)), table.raters.tolist(), question, bootstrap=bootstrap, seed=seed
        )
        for question, of in {**numbered_levels(table), **levels}.items()
    ]
    curves = []
    shown = np.lexsort((-agreement.chosen, ~agreement.exclusive))[:MOST_CURVES]
    for number, question in enumerate(agreement.question[shown].tolist()):
        progress(0.5 + 0.5 * number / len(shown), f"Agreement on {question} as answers arrived")
        curve = running_label_agreement(
            table,
            question,
            points=STEPS,
            weights="edges" if settings.weights == "inv_var_class" else settings.weights,
            bootstrap=min(bootstrap, 200),
            seed=seed,
        )
        independence = check_independence(table.counts(question), seed=seed)
        curves.append(QuestionCurve(question, table.raters, cohen_matrix(table.values(question)), curve, independence))
    breaches = check_groups(table)
    return LabelFindings(
        agreement=agreement,
        majority=majority,
        accuracy=accuracy,
        items=items,
        disputes=disputes,
        breaches=breaches,
        table=table,
        curves=tuple(curves),
        teams=compared,
        rejection=rejection,
        truth=estimated,
        grades=tuple(graded),
        directions=tuple(directions),
    )
