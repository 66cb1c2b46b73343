"""Rejection of answers by rule: those that break a group, and those of raters who often do, or disagree with most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.display import number_of
from kalos_core.errors import InputError
from kalos_core.nominal.accuracy import rater_accuracy
from kalos_core.nominal.coefficients import free_marginal_kappa
from kalos_core.nominal.decisions import mean_of_finite
from kalos_core.nominal.groups import check_groups
from kalos_core.nominal.table import LabelTable
from kalos_core.options import Option, Settings, takes
from kalos_core.results import Result


@dataclass(frozen=True, eq=False, repr=False)
class Rejection(Result):
    """Rejected answers, of A answers of R raters, and the effect on the kappas of Q questions.

    Table: one row per rater.

    Figures: ``"questions"``.

    Parameters
    ----------
    rejected : (A,) bool
        Whether each answer is rejected, in the order of the table.
    raters : (R,) object
    answers, breaking, rejected_answers : (R,) int
        Number of answers of each rater, number that break a group, and number that are rejected.
    to_majority : (R,) float64
        `RaterAccuracy.to_majority` of each rater, before any rejection.
    reason : (R,) object
        Reason why all answers of a rater are rejected; "" if they are not.
    question : (Q,) object
    before, after : (Q,) float64
        Free-marginal kappa with all answers, and without rejected ones.

    Examples
    --------
    >>> rows = [{"item": 1, "rater": "ann", "label": ["day"]}, {"item": 1, "rater": "bob", "label": ["day", "night"]}]
    >>> table = LabelTable.from_rows(rows, groups={"time": ["day", "night"]})
    >>> result = reject_answers(table, broken=True)
    >>> result.rejected.tolist(), len(result.keep(table)), result.to_pandas()["rejected"].tolist()
    ([False, True], 1, [0, 1])
    """

    _call = "reject_answers(table)"
    _columns = "rater:raters answers breaking to_majority rejected:rejected_answers reason"

    rejected: NDArray[np.bool_]
    raters: NDArray[np.object_]
    answers: NDArray[np.intp]
    breaking: NDArray[np.intp]
    rejected_answers: NDArray[np.intp]
    to_majority: NDArray[np.float64]
    reason: NDArray[np.object_]
    question: NDArray[np.object_]
    before: NDArray[np.float64]
    after: NDArray[np.float64]

    def __len__(self) -> int:
        """Return the number of rejected answers."""
        return int(self.rejected_answers.sum())

    @property
    def rejected_raters(self) -> tuple[str, ...]:
        """Raters whose answers are all rejected by a rule on raters."""
        return tuple(str(name) for name, reason in zip(self.raters, self.reason, strict=True) if reason)

    @property
    def means(self) -> tuple[float, float]:
        """Mean kappa before and after, over the questions that have both."""
        both = np.isfinite(self.before) & np.isfinite(self.after)
        return mean_of_finite(self.before[both]), mean_of_finite(self.after[both])

    def keep(self, table: LabelTable) -> LabelTable:
        """Return the table without rejected answers and without rejected raters."""
        gone = set(self.rejected_raters)
        return table.without_answers(self.rejected).select(raters=[name for name in table.raters if name not in gone])

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return f"{int(self.rejected.sum()):,} of {number_of(len(self.rejected), 'answer')} rejected"


Broken = Annotated[
    bool,
    Option(
        "Answers that break a group, with none or several of its labels",
        "Reject answers that break the rules of a group (`check_groups`), as the paper does.",
    ),
]


MostBreaches = Annotated[
    float | None,
    Option(
        "Raters who break a group in more than this share of their answers",
        "Reject all answers of a rater who breaks a group in more than this share of them.",
        low=0,
        high=1,
    ),
]
LeastAccuracy = Annotated[
    float | None,
    Option(
        "Raters who agree with the majority on less than this share of questions",
        "Reject all answers of a rater who agrees with the majority less often than this (`rater_accuracy`).",
        low=0,
        high=1,
    ),
]


@dataclass(frozen=True, kw_only=True)
class RejectionSettings(Settings):
    """Rules by which answers are rejected; None and False disable a rule."""

    broken: Broken = False
    most_breaches: MostBreaches = None
    least_accuracy: LeastAccuracy = None

    @property
    def has_rule(self) -> bool:
        """Whether any rule is enabled."""
        return self.broken or self.most_breaches is not None or self.least_accuracy is not None


@takes(RejectionSettings)
def reject_answers(table: LabelTable, settings: RejectionSettings) -> Rejection:
    """Find the answers that break a rule, and compute the kappas without them (Nowak & Rüger §3.3.2).

    An answer is rejected if it breaks any of the given rules. All are applied to the whole table, so that none depends
    on another. Rejecting raters who disagree with the majority raises kappa whoever is right, since the rest was
    selected for agreement. The paper rejects broken answers only.

    Parameters
    ----------
    table : LabelTable

    Returns
    -------
    Rejection

    Raises
    ------
    InputError
        If no rule is given, or a share is out of range.

    Examples
    --------
    >>> labels = {"ann": "xxyy", "bob": "xxyy", "cid": "xxyy", "eve": "yyxx"}
    >>> rows = [{"item": i, "rater": r, "label": c} for r, text in labels.items() for i, c in enumerate(text)]
    >>> result = reject_answers(LabelTable.from_rows(rows), least_accuracy=0.5)
    >>> result.rejected_raters, result.before.tolist(), result.after.tolist()
    (('eve',), [0.0], [1.0])
    """
    most_breaches, least_accuracy = settings.most_breaches, settings.least_accuracy
    if not settings.has_rule:
        raise InputError("rule: expected broken, most_breaches or least_accuracy, got none")
    raters = len(table.raters)
    breaks = np.zeros(len(table), np.bool_)
    breaks[check_groups(table).answer] = True
    answers, breaking = (np.bincount(table.rater[rows], minlength=raters) for rows in (slice(None), breaks))
    to_majority = rater_accuracy(table).to_majority
    reason = object_array([""] * raters)
    if least_accuracy is not None:
        reason[to_majority < least_accuracy] = f"agrees with the majority on less than {100 * least_accuracy:.3g} %"
    if most_breaches is not None:
        reason[breaking > most_breaches * answers] = f"more than {100 * most_breaches:.3g} % break a group"
    rejected = (reason != "")[table.rater] | (breaks & settings.broken)
    kept = table.without_answers(rejected)
    return Rejection(
        rejected=rejected,
        raters=table.raters,
        answers=answers,
        breaking=breaking,
        rejected_answers=np.bincount(table.rater[rejected], minlength=raters),
        to_majority=to_majority,
        reason=reason,
        question=object_array(table.questions),
        before=_kappas(table),
        after=_kappas(kept),
    )


def _kappas(table: LabelTable) -> NDArray[np.float64]:
    return np.array([free_marginal_kappa(table.counts(question)) for question in table.questions], np.float64)
