"""Agreement on every question of a table of labels: exclusive groups, and each optional concept."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.chance import Tally, chance_corrected, expected_of_categories, join_tallies, tally
from kalos_core.display import alpha_text, number_of
from kalos_core.errors import InputError
from kalos_core.limits import check_replicates
from kalos_core.nominal.build import OPTIONAL
from kalos_core.nominal.coefficients import fleiss_kappa, free_marginal_kappa, gwet_ac1, landis_koch
from kalos_core.nominal.cohen import CohenSums, cohen_sums
from kalos_core.nominal.decisions import join_optional, mean_of_finite, optional_tallies
from kalos_core.nominal.groups import check_groups
from kalos_core.nominal.levels import Levels, MetricOfGroups, OrderOfGroups, question_levels
from kalos_core.nominal.majority import majority_vote
from kalos_core.nominal.table import LabelTable
from kalos_core.options import Replicates, Seed, Settings, takes
from kalos_core.results import Result
from kalos_core.sharding import Sharded, known_of, parts_of
from kalos_core.sparse import RunningCurve, ratio_interval, running_agreement
from kalos_core.sparse.estimate import estimate
from kalos_core.sparse.independence import is_doubtful
from kalos_core.sparse.running import RunningSettings
from kalos_core.sparse.weights import WeightName


@dataclass(frozen=True, eq=False, repr=False)
class LabelAgreement(Result):
    """Agreement on each of Q questions, which are exclusive groups and optional concepts.

    Table: one row per question.

    Figures: ``"questions"``.

    Parameters
    ----------
    question : (Q,) object
        Names of groups and optional concepts, in the order of the table.
    exclusive : (Q,) bool
        Whether the question is a group.
    options : (Q,) int
        Number of categories that raters choose from.
    spa : (Q,) float64
        Sparse probability of agreement.
    spa_interval : (Q, 2) float64
        95 % bootstrap interval over items.
    alpha, fleiss, free_marginal, ac1 : (Q,) float64
        Chance-corrected coefficients, each by the function of its name (`gwet_ac1`); NaN if undefined.
    free_marginal_interval : (Q, 2) float64
        95 % bootstrap interval over items.
    cohen : (Q,) float64
        Mean of Cohen's kappa over the pairs of raters for whom it is defined (`cohen_matrices`).
    spa_flat : (Q,) float64
        Sparse probability of agreement with equal weights.
    doubtful : (Q,) bool
        Whether agreement depends on how many answers an item has, so that weights other than equal ones are biased
        (`SparseAgreement.independence`).
    reason : (Q,) object
        Reason why a coefficient is undefined; "" if all are defined.
    items : (Q,) int
        Number of items with at least two raters.
    answers : (Q,) int
    ties : (Q,) int
        Number of items on which the majority is undecided.
    chosen : (Q,) int
        How often an optional concept was chosen, or the group was answered.
    breaches : int
        Number of answers excluded from a group because they chose none or several of it (`check_groups`).
    metric : (Q,) object
        Metric of `alpha`, as in `METRICS`; by default "nominal".

    Examples
    --------
    >>> rows = [{"item": i, "rater": r, "label": "cat" if i else "dog"} for i in range(4) for r in ("ann", "bob")]
    >>> result = label_agreement(LabelTable.from_rows(rows))
    >>> result.question.tolist(), result.alpha.tolist(), result.bands.tolist()
    (['label'], [1.0], ['almost perfect'])
    """

    _call = "label_agreement(table)"
    _columns = (
        "question exclusive options free_marginal band:bands fleiss ac1 alpha metric cohen spa spa_flat doubtful "
        "free_marginal_interval spa_interval items answers ties chosen reason"
    )

    question: NDArray[np.object_]
    exclusive: NDArray[np.bool_]
    options: NDArray[np.intp]
    spa: NDArray[np.float64]
    spa_interval: NDArray[np.float64]
    alpha: NDArray[np.float64]
    fleiss: NDArray[np.float64]
    free_marginal: NDArray[np.float64]
    ac1: NDArray[np.float64]
    free_marginal_interval: NDArray[np.float64]
    cohen: NDArray[np.float64]
    spa_flat: NDArray[np.float64]
    doubtful: NDArray[np.bool_]
    reason: NDArray[np.object_]
    items: NDArray[np.intp]
    answers: NDArray[np.intp]
    ties: NDArray[np.intp]
    chosen: NDArray[np.intp]
    breaches: int
    metric: NDArray[np.object_] = field(default_factory=lambda: object_array([]))

    def __post_init__(self) -> None:
        if not len(self.metric):
            object.__setattr__(self, "metric", object_array(["nominal"] * len(self.question)))

    def __len__(self) -> int:
        return len(self.question)

    @property
    def bands(self) -> NDArray[np.object_]:
        """(Q,) free-marginal kappas in words (`landis_koch`)."""
        return object_array([landis_koch(value) for value in self.free_marginal])

    def mean_kappa(self, exclusive: bool) -> float:
        """Return the mean defined free-marginal kappa of the groups, or of the optional concepts (Nowak & Rüger §6)."""
        return mean_of_finite(self.free_marginal[self.exclusive == exclusive])

    @property
    def headline(self) -> str:
        """The finding, in words."""
        alpha, kappa = (alpha_text(mean_of_finite(values)) for values in (self.alpha, self.free_marginal))
        return f"Mean alpha {alpha} over {number_of(len(self.question), 'question')}; mean free-marginal kappa {kappa}"


@dataclass(frozen=True)
class LabelSettings(Settings):
    """Settings of the agreement on image-level labels.

    Examples
    --------
    >>> LabelSettings(seed=-1)
    Traceback (most recent call last):
    kalos_core.errors.InputError: seed: expected a whole number of at least 0, got -1
    """

    bootstrap: Replicates = 1000
    seed: Seed = 0
    weights: WeightName = "annotations_m1"
    _: KW_ONLY
    metric: MetricOfGroups = "nominal"
    order: OrderOfGroups = None


@takes(LabelSettings)
def label_agreement(table: LabelTable | Sharded[LabelTable], settings: LabelSettings) -> LabelAgreement:
    """Compute the kappas of every exclusive group and every optional concept (Nowak & Rüger §5.3.2).

    An optional concept is a question with two answers, chosen or not. A kappa of a concept that hardly any rater chose
    means little, however high it is: see `chosen`.

    Parameters
    ----------
    table : LabelTable, or shards of one
        Table of at least two raters.

    Returns
    -------
    LabelAgreement

    Raises
    ------
    InputError
        For fewer than two raters, or no question; for a metric that does not fit the categories.

    Examples
    --------
    >>> rows = [
    ...     {"item": i, "rater": r, "label": ["sky"] if i < k else []}
    ...     for r, k in (("a", 2), ("b", 3))
    ...     for i in range(4)
    ... ]
    >>> result = label_agreement(LabelTable.from_rows(rows, groups=None), bootstrap=0)
    >>> result.spa.tolist(), result.free_marginal.tolist(), result.chosen.tolist()
    ([0.75], [0.5], [5])
    """
    known = check_two_raters(known_of(table))
    check_replicates(settings.bootstrap, len(known.items))
    levels = question_levels(known, settings.metric, settings.order)
    parts = parts_of(table, LabelPart.of, "Label agreement")
    made = []
    for name, of_question in zip(known.questions, zip(*(part.questions for part in parts), strict=True), strict=True):
        question, level = QuestionPart.merged(of_question), levels.get(name, Levels())
        kappas = question.cohen.kappas()
        row = _question(question, settings.bootstrap, settings.seed, settings.weights) | {
            "alpha": level.alpha(question.counts),
            "metric": level.metric,
            "cohen": mean_of_finite(kappas[np.triu_indices(len(kappas), 1)]),
        }
        made.append({"exclusive": question.cohen.exclusive, **row, "reason": _reason(row)})
    columns = {name: np.array([row[name] for row in made]) for name in made[0]}
    columns |= {name: object_array(columns[name].tolist()) for name in ("reason", "metric")}
    breaches = sum(part.breaches for part in parts)
    return LabelAgreement(question=object_array(known.questions), breaches=breaches, **columns)


@dataclass(frozen=True, eq=False)
class QuestionPart:
    """Contribution of the items of one table to the agreement on a question.

    Parameters
    ----------
    counts : Tally
        Number of raters who gave each option; for an optional concept, equal items share a row.
    cohen : CohenSums
    """

    counts: Tally
    cohen: CohenSums

    @classmethod
    def merged(cls, parts: Sequence[QuestionPart]) -> QuestionPart:
        """Add the contributions of tables with different items."""
        counts, cohen = [part.counts for part in parts], reduce(add, [part.cohen for part in parts])
        return cls(join_tallies(counts) if cohen.exclusive else join_optional(counts), cohen)


@dataclass(frozen=True, eq=False)
class LabelPart:
    """Contribution of the items of one table to all questions, and the number of answers that break a group."""

    questions: Sequence[QuestionPart]
    breaches: int

    @classmethod
    def of(cls, table: LabelTable) -> LabelPart:
        """Compute the contribution of a table."""
        return cls(tuple(question_parts(table)), len(check_groups(table)))


def question_parts(table: LabelTable) -> Iterator[QuestionPart]:
    """Yield the contribution of a table to each of its questions, in their order."""
    optional = optional_tallies(table)
    for question, sums in cohen_sums(table):
        yield QuestionPart(tally(table.counts(question)) if sums.exclusive else optional[question], sums)


def _question(question: QuestionPart, bootstrap: int, seed: int, weights: str) -> dict[str, Any]:
    """Compute the row of one question, without its name and kind."""
    found = question.counts
    spa = estimate(found, weights, None, bootstrap, seed)
    agreement = found.item_agreement[found.usable]
    ends = ratio_interval(agreement, np.ones(len(agreement)), bootstrap, seed, found.times[found.usable])
    return {
        "options": found.categories,
        "spa": spa.value,
        "spa_interval": spa.interval,
        "spa_flat": spa.flat,
        "doubtful": is_doubtful(spa.annotations, spa.item_agreement, spa.times),
        "fleiss": fleiss_kappa(found),
        "ac1": gwet_ac1(found),
        "free_marginal": free_marginal_kappa(found),
        "free_marginal_interval": chance_corrected(1 - ends, expected_of_categories(found.categories)),
        "items": spa.usable_items,
        "answers": int(found.category_totals.sum()),
        "ties": int(found.times[majority_vote(found).tied].sum()),
        "chosen": int(found.category_totals.sum() if question.cohen.exclusive else found.category_totals[1]),
    }


def _reason(row: Mapping[str, Any]) -> str:
    """Return the reasons why coefficients of a question are undefined."""
    if not row["items"]:
        return "no item has two answers"
    reasons = {
        "free_marginal": "free-marginal kappa: there is only one option",
        "fleiss": "Fleiss' kappa: all answers are the same",
        "ac1": "AC1: there is only one option",
        "alpha": "alpha: nothing is pairable",
        "cohen": "Cohen's kappa: no two raters have items in common on which answers vary",
    }
    return "; ".join(text for name, text in reasons.items() if math.isnan(row[name]))


def check_two_raters(table: LabelTable) -> LabelTable:
    """Check that a table has at least two raters and one question, and return it."""
    if len(table.raters) < 2:
        names = ", ".join(map(str, table.raters)) or "none"
        raise InputError(f"table: expected at least two raters to compare, got {len(table.raters)} ({names})")
    if not table.questions:
        raise InputError("table: expected at least one concept, got none")
    return table


def check_comparable(table: LabelTable) -> LabelTable:
    """Check that a table has two raters, an item that two raters answered, and answers that mostly keep groups.

    Examples
    --------
    >>> rows = [{"item": 1, "rater": rater, "label": ["sky", "sea"]} for rater in ("ann", "bob")]
    >>> len(check_comparable(LabelTable.from_rows(rows, groups=None)))
    2
    >>> check_comparable(LabelTable.from_rows(rows, groups={"label": ["sky", "sea"]}))
    Traceback (most recent call last):
    kalos_core.errors.InputError: groups: expected one label in an answer, as all labels exclude each other, got \
several in 2 of 2 answers; pass groups='suggested', groups with their labels, or None for labels that do not
    """
    has_optional = (check_two_raters(table).group_of == OPTIONAL).any()
    item = table.item if has_optional else table.item[np.unique(table.answer)]  # no label does not answer a group
    if not (np.bincount(item, minlength=1) >= 2).any():
        raise InputError("raters: expected an image that two raters labelled, got none")
    several = int((check_groups(table).chosen > 1).sum())
    if len(table.questions) == 1 and 2 * several > len(table):
        raise InputError(
            f"groups: expected one label in an answer, as all labels exclude each other, got several in {several:,} of "
            f"{len(table):,} answers; pass groups='suggested', groups with their labels, or None for labels that do not"
        )
    return table


@dataclass(frozen=True)
class RunningLabelArguments(RunningSettings):
    """Arguments of `running_label_agreement`: its settings, and the question, if the table has several."""

    question: str | None = None


@takes(RunningLabelArguments)
def running_label_agreement(table: LabelTable, settings: RunningLabelArguments) -> RunningCurve:
    """Compute agreement on a question as answers arrived: by time if all have one, else in the order of the table.

    Parameters
    ----------
    table : LabelTable
    question : str, optional
        A group or an optional concept; may be left out if there is only one.

    Returns
    -------
    RunningCurve

    Examples
    --------
    >>> rows = [{"item": i, "rater": r, "label": "cat", "time": 10 - i} for r in ("ann", "bob") for i in range(3)]
    >>> curve = running_label_agreement(LabelTable.from_rows(rows), points=3)
    >>> curve.usable_items.tolist(), curve.time.tolist()
    ([1, 2, 3], [8.0, 9.0, 10.0])
    """
    value = table.answered(settings.question)
    given = value >= 0
    time = table.time[given]
    known = bool(len(time)) and not np.isnan(time).any()
    times = time if known else None
    return running_agreement(table.item[given], value[given], time=times, **settings.record())
