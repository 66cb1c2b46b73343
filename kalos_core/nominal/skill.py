"""Estimated ground truth: the class of each item and the skill of each rater, estimated together."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.annotations import object_array
from kalos_core.arrays import total
from kalos_core.display import number_of, percent_text
from kalos_core.errors import InputError, repr_of
from kalos_core.limits import check_limit
from kalos_core.nominal.expectation import Expectation, Patterns, expectation_maximisation, one_coin, own_confusion
from kalos_core.nominal.table import LabelTable
from kalos_core.nominal.values import encode_values, in_order
from kalos_core.options import Option, Settings, takes
from kalos_core.reliability import NOT_ASSIGNED
from kalos_core.results import Result, crossed

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-9
"""Tolerance: probabilities that differ by less are equal."""

SMALLEST = 1e-6
"""Expected number of errors below which their dispersion cannot be estimated."""

ERRORS = 3.0
"""Number of standard errors of the dispersion above which raters are reported to err on the same items."""

TOO_SURE = (
    "The probabilities are too high: raters err on the same items far more often than by chance, but the model assumes "
    "that they err independently."
)

NORMAL = 1.959963984540054
"""Quantile of the normal distribution for a 95 % interval."""


@dataclass(frozen=True, eq=False, repr=False)
class LabelTruth(Result):
    """Estimated class of each of I items, and confusion of each of R raters. K classes.

    Table: one row per item: its label, its probability, and the number of its answers.

    Figures: ``"skill"``, ``"confusion"``.

    Parameters
    ----------
    question : str
        Question of the table; "" for plain values.
    model : str
        Name from `SKILL_MODELS`.
    items, raters : (I,), (R,) object
        Names; for plain values the numbers of rows and columns.
    classes : (K,) object
        Classes on the axes of the other arrays: the options of the question. For plain values, those that occur,
        ascending if they can be compared, else in the order of first occurrence.
    probability : (I, K) float64
        Probability of each class, given the answers; `prior` if there are none.
    confusion : (R, K, K) float64
        Probability of each answer (column) if a class is true (row), from which `probability` is computed. NaN for a
        rater without answers.
    prior : (K,) float64
        Share of the items of each class.
    skill : (R,) float64
        Share of a rater's own answers that are expected to be right; NaN without answers.
    skill_interval : (R, 2) float64
        95 % interval, see `dawid_skene`.
    answers : (I,) int
        Number of answers to each item.
    rater_answers : (R,) int
    overturned : int
        Number of items with a label that none of their raters gave, where at least two raters all agree. If it is
        above 0, the classes may have been swapped: do not use the estimate.
    iterations : int
        0 if the estimate is made in one step.
    converged : bool
        Whether the estimation ended because of convergence.
    dispersion, dispersion_error : float
        How far right answers to an item depend on each other, and its standard error under independence. It is 1 if
        raters err independently, and more if they err on the same items; see `errs_together`. NaN without errors.

    Examples
    --------
    >>> found = dawid_skene([["cat", "cat", None], ["dog", "dog", "dog"], ["cat", "cat", "dog"], ["dog", "dog", None]])
    >>> found.labels.tolist(), found.confidence.round(2).tolist(), found.rater_answers.tolist()
    (['cat', 'dog', 'cat', 'dog'], [1.0, 0.99, 1.0, 0.98], [4, 4, 2])
    """

    _call = "dawid_skene(values)"
    _columns = "item:items label:labels confidence tied answers"

    question: str
    model: str
    items: NDArray[np.object_]
    raters: NDArray[np.object_]
    classes: NDArray[np.object_]
    probability: NDArray[np.float64]
    confusion: NDArray[np.float64]
    prior: NDArray[np.float64]
    skill: NDArray[np.float64]
    skill_interval: NDArray[np.float64]
    answers: NDArray[np.intp]
    rater_answers: NDArray[np.intp]
    overturned: int
    iterations: int
    converged: bool
    dispersion: float = math.nan
    dispersion_error: float = math.nan

    @property
    def errs_together(self) -> bool:
        """Whether raters err on the same items far more often than by chance; if so, `probability` is far too high.

        The model assumes independent errors, given the class. `dispersion` is the variance of the number of right
        answers to an item, divided by that of the model, over all items (with the estimated class as the true one).
        """
        return self.dispersion > 1 + ERRORS * self.dispersion_error

    @property
    def confidence(self) -> NDArray[np.float64]:
        """(I,) probability of the most likely class; NaN without answers."""
        highest = self.probability.max(axis=1, initial=0)
        return np.where(self.answers > 0, highest, np.nan)

    @property
    def tied(self) -> NDArray[np.bool_]:
        """(I,) whether an item has answers and several classes are equally likely."""
        highest = self.probability.max(axis=1, keepdims=True, initial=0)
        return np.asarray(((self.probability >= highest - ROUNDING).sum(axis=1) > 1) & (self.answers > 0))

    @property
    def label_codes(self) -> NDArray[np.intp]:
        """(I,) most likely class of each item, as a code into `classes`; `NOT_ASSIGNED` if `labels` has none."""
        known = (self.answers > 0) & ~self.tied
        codes = np.full(len(self.items), NOT_ASSIGNED, np.intp)
        if known.any():
            codes[known] = self.probability[known].argmax(axis=1)
        return codes

    @property
    def labels(self) -> NDArray[Any]:
        """(I,) most likely class of each item; missing if several are equally likely, or there are no answers.

        The type is that of the values: integers with `NOT_ASSIGNED` for a missing one if all classes are integers, else
        objects with None.
        """
        codes, names = self.label_codes, self.classes.tolist()
        if names and all(isinstance(name, int) and not isinstance(name, bool) for name in names):
            return np.array([*names, NOT_ASSIGNED])[np.where(codes < 0, -1, codes)]
        return object_array([*names, None])[np.where(codes < 0, -1, codes)]

    def without_items(self) -> LabelTruth:
        """Return the numbers of the raters alone.

        Examples
        --------
        >>> found = dawid_skene([["cat", "cat"], ["dog", "dog"]]).without_items()
        >>> found.labels.tolist(), found.rater_answers.tolist()
        ([], [2, 2])
        """
        return replace(self, items=self.items[:0], probability=self.probability[:0], answers=self.answers[:0])

    @property
    def doubts(self) -> str:
        """Evidence against the estimate, as the end of a sentence; "" if there is none."""
        text = "" if self.converged else f"; NOT SETTLED after {number_of(self.iterations, 'iteration')}"
        if self.overturned:
            text += f"; DOUBTFUL: {self.overturned:,} have another label than all of their raters gave"
        if self.errs_together:
            text += f"; TOO SURE: raters err on the same items (dispersion {self.dispersion:.1f}, 1 if independently)"
        return text

    @property
    def headline(self) -> str:
        """The finding, in words."""
        known = self.answers > 0
        sure = percent_text(float(self.confidence[known].mean())) if known.any() else "undefined"
        tied = int(self.tied.sum())
        ties = f", {tied:,} tied" if tied else ""
        items, raters = number_of(int(known.sum()), "item"), number_of(len(self.raters), "rater")
        return f"Labels of {items} by {raters}, mean posterior {sure}{ties}{self.doubts}"

    def raters_to_pandas(self) -> pd.DataFrame:
        """Return one row per rater: skill with its interval, and the number of answers."""
        return self._frame("rater:raters skill skill_interval answers:rater_answers")

    def confusion_to_pandas(self) -> pd.DataFrame:
        """Return one row per rater, class and answer: probability of the answer if the class is true."""
        axes = {"rater": self.raters, "class": self.classes, "answer": self.classes}
        return crossed(axes, probability=self.confusion)


# ---- models ----

Estimated = tuple[Expectation, NDArray[np.float64]]
"""Estimate, and the probabilities (P, K) that an answer is right."""


def _confused(patterns: Patterns, added: float, iterations: int) -> Estimated:
    found = expectation_maximisation(patterns, own_confusion, added, iterations)
    return found, found.probability


def _coins(patterns: Patterns, added: float, iterations: int) -> Estimated:
    found = expectation_maximisation(patterns, one_coin, added, iterations)
    return found, found.probability


def _weighted(patterns: Patterns, added: float, iterations: int) -> Estimated:  # noqa: ARG001
    shares = patterns.shares()
    best = shares >= shares.max(axis=1, keepdims=True) - ROUNDING
    majority = best / best.sum(axis=1, keepdims=True)
    weight = _skill(patterns, majority)[0]
    probability = patterns.shares(np.nan_to_num(weight))
    confusion = own_confusion(patterns.expected(probability), added)
    prior = patterns.count @ probability / patterns.count.sum()
    return Expectation(probability, confusion, prior, 0, True), majority


ModelName = Literal["confusion", "one_coin", "weighted"]
"""Names in `SKILL_MODELS`."""

SKILL_MODELS: dict[ModelName, Callable[[Patterns, float, int], Estimated]] = {
    "confusion": _confused,
    "one_coin": _coins,
    "weighted": _weighted,
}
"""Models of how raters answer, for `dawid_skene`."""


MODELS: dict[ModelName, str] = {
    "confusion": "own probabilities for each class: finds habits, such as taking dogs for cats; usually the best",
    "one_coin": "one probability of being right, whatever the class: for few answers per rater",
    "weighted": "a majority weighted by how often raters agree with it: simple to explain, hardly better",
}
"""Name in `SKILL_MODELS` -> description of how raters are assumed to answer."""

SkillModel = Annotated[
    ModelName,
    Option("How raters are taken to answer", "Model of how raters answer.", choices=MODELS, known=SKILL_MODELS),
]


@dataclass(frozen=True, kw_only=True)
class SkillSettings(Settings):
    """Settings of the estimated ground truth.

    Examples
    --------
    >>> SkillSettings(added=-1)
    Traceback (most recent call last):
    kalos_core.errors.InputError: added: expected a number of at least 0, got -1
    """

    model: SkillModel = "confusion"
    added: Annotated[
        float,
        Option(
            "Answers added",
            "Number of answers of the average rater that are added, in each step, to those of each rater to each class "
            "(for 'one_coin', to all): a Dirichlet prior. Without it, raters with few answers count as perfect or "
            "useless, and with many classes labels are worse than the majority. 0: maximum likelihood, as published.",
            low=0,
        ),
    ] = 4.0
    iterations: Annotated[
        int,
        Option(
            "Iterations", "Maximum; if it is reached, `LabelTruth.converged` is False and the headline says so.", low=1
        ),
    ] = 1000


@dataclass(frozen=True)
class DawidSkeneArguments(SkillSettings):
    """Arguments of `dawid_skene`: its settings, and the question, if the table has several."""

    question: str | None = None


@takes(DawidSkeneArguments)
def dawid_skene(values: LabelTable | ArrayLike, settings: DawidSkeneArguments) -> LabelTruth:
    """Estimate the class of each item and the confusion of each rater from each other (Dawid & Skene 1979).

    Raters who agree with others who are mostly right are probably mostly right, so their answers count more; this
    repeats until convergence. The method is expectation-maximisation, starting from the share of the votes of each
    class of an item (Eq. 3.1). It runs on the patterns of answers and their counts, which gives the same numbers as
    item by item.

    * ``"confusion"``: each rater answers each class with probabilities of their own (§2), so that a habit of taking
      one class for another is found and corrected.
    * ``"one_coin"``: each rater is right with one probability, whatever the class, and wrong answers are all alike
      (Zhang et al. 2016, §3.3). It has fewer parameters: for few answers of each rater.
    * ``"weighted"``: the majority weighted by skill, in one step. The weight of a rater is the share of their answers
      that the majority gave, too (for a tie, a part of it). Probabilities are shares of weights.

    Classes of equal probability are never decided by their order: the item has no label, and is `tied`. The order of
    items, raters and classes does not matter.

    **Assumptions, and when not to use it.**

    * Each item has one true class.
    * Raters answer independently of each other, given that class. Raters who copy, or share a mistake with others
      (all are misled by the same blurred image), look skilled. Probabilities are then far too close to 0 and 1.
    * A rater answers all items of a class alike: no items are hard for all raters.
    * Most raters are better than chance. Otherwise classes are swapped, as they can be if classes are rare or items
      few; see `LabelTruth.overturned`.

    Use the majority (`majority_vote`) and decisions by people (`find_disputes`) instead if

    * several answers are right,
    * two raters or fewer answered,
    * a rater has fewer answers than there are classes, or
    * raters influenced each other.

    With ordered grades, a near miss counts like any other error.

    Parameters
    ----------
    values : LabelTable or (I, R)
        Plain values as for `nominal_alpha`: items by raters, None, NaN or `NOT_ASSIGNED` if there is no answer.
    question : str, optional
        A group or an optional concept of the table; may be left out if there is only one.

    Returns
    -------
    LabelTruth
        The interval of a skill is Wilson's, for the effective number of answers by the observed information (Louis
        1982). Estimates of the other raters count as known: with few raters per item it is too narrow.

    Raises
    ------
    InputError
        For no table, an unknown question or model, or more raters and classes than confusion matrices may have cells.

    Examples
    --------
    Three careful raters, and dan, who takes every second dog for a cat:

    >>> ann, bob, cid, dan = "ccccdddddd", "ccccdddddc", "cdccdddddd", "cccccccddc"
    >>> found = dawid_skene(list(zip(ann, bob, cid, dan)))
    >>> "".join(found.labels), found.skill.round(2).tolist(), found.converged
    ('ccccdddddd', [0.99, 0.9, 0.9, 0.6], True)
    >>> found.confusion[3].round(2).tolist()
    [[0.97, 0.03], [0.49, 0.51]]
    """
    given = _Given.of(values, settings.question)
    items, raters, classes = len(given.items), len(given.raters), len(given.classes)
    check_limit("KALOS_MOST_CONFUSED", raters * classes**2, "values")
    patterns = Patterns.of(given.item, given.rater, given.answer, (items, raters, classes))
    answers = np.bincount(given.item, minlength=items)
    rater_answers = np.bincount(given.rater, minlength=raters)
    if len(given.item):
        found, right = SKILL_MODELS[settings.model](patterns, settings.added, settings.iterations)
    else:
        nothing = np.full(classes, np.nan)
        found = Expectation(np.zeros((0, classes)), np.full((raters, classes, classes), np.nan), nothing, 0, True)
        right = found.probability
    found.confusion[rater_answers == 0] = np.nan
    skill, interval = _skill(patterns, right)
    probability = np.concatenate([found.probability, found.prior[None]])[patterns.of_item]  # -1: the prior
    made = LabelTruth(
        question=given.question,
        model=settings.model,
        items=given.items,
        raters=given.raters,
        classes=given.classes,
        probability=probability,
        confusion=found.confusion,
        prior=found.prior,
        skill=skill,
        skill_interval=interval,
        answers=answers,
        rater_answers=rater_answers,
        overturned=_overturned(patterns, found.probability) if len(given.item) else 0,
        iterations=found.iterations,
        converged=found.converged,
    )
    dispersion, error = _dispersion(given, made.label_codes, found.confusion)
    return replace(made, dispersion=dispersion, dispersion_error=error)


def _dispersion(given: _Given, labels: NDArray[np.intp], confusion: NDArray[np.float64]) -> tuple[float, float]:
    """Compute `LabelTruth.dispersion` and its error, from the second and fourth cumulant of sums of Bernoulli draws."""
    label = labels[given.item]
    known = label >= 0
    item, rater, label = given.item[known], given.rater[known], label[known]
    expected = confusion[rater, label, label]
    variance = expected * (1 - expected)
    over, allowed, fourth = (
        np.bincount(item, values, len(given.items))
        for values in ((given.answer[known] == label) - expected, variance, variance * (1 - 6 * variance))
    )
    total = allowed.sum()
    if not total > SMALLEST:
        return math.nan, math.nan
    return float((over**2).sum() / total), float(np.sqrt((2 * allowed**2 + fourth).sum()) / total)


@dataclass(frozen=True, eq=False)
class _Given:
    """Answers as codes, with the names of the axes."""

    question: str
    items: NDArray[np.object_]
    raters: NDArray[np.object_]
    classes: NDArray[np.object_]
    item: NDArray[np.intp]
    rater: NDArray[np.intp]
    answer: NDArray[np.intp]

    @classmethod
    def of(cls, values: Any, question: str | None) -> _Given:
        if isinstance(values, LabelTable):
            answer = values.answered(question)
            known, classes = answer >= 0, object_array(values.options(question))
            name = values.questions[0] if question is None else question
            item, rater = values.item[known], values.rater[known]
            return cls(name, values.items, values.raters, classes, item, rater, answer[known].astype(np.intp))
        if question is not None:
            raise InputError(f"question: expected none, as values have no names of questions, got {repr_of(question)}")
        table, known = _table_of(values)
        item, rater = (axis.astype(np.intp) for axis in np.nonzero(known))
        classes, codes = _classes_of(table[item, rater])
        rows, columns = (object_array(range(size)) for size in table.shape)
        return cls("", rows, columns, classes, item, rater, codes)


def _table_of(values: ArrayLike) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return values (I, R), and where they are present, as read by `encode_values`."""
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.dtype.kind == "f":
        return values, ~np.isnan(values)
    codes = encode_values(values)
    table = np.asarray(values)
    return table if table.dtype.kind in "biu" else np.asarray(values, dtype=object), codes != NOT_ASSIGNED


def _classes_of(given: NDArray[Any]) -> tuple[NDArray[np.object_], NDArray[np.intp]]:
    """Return the distinct values, ascending if they can be compared, and the code of each given value."""
    if given.dtype.kind != "O":
        distinct, codes = np.unique(given, return_inverse=True)
        return object_array(distinct.tolist()), codes.reshape(-1)
    names = in_order(given.tolist())
    place = {name: at for at, name in enumerate(names)}
    return object_array(names), np.array([place[value] for value in given.tolist()], np.intp)


def _skill(patterns: Patterns, right: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute the share of right answers (R,) and its interval (R, 2) from class probabilities (P, K).

    An answer that is right with probability w loses w (1 - w) of the variance s (1 - s) of one known to be right or
    wrong. The loss is the missing information (Louis 1982, Eq. 3.2), here in answers. For it, s is drawn to one half by
    adding one right and one wrong answer, since at 0 and 1 there is no variance to compare with.
    """
    column, chance = patterns.of_own_answers(right)
    rater = column // max(patterns.classes, 1)
    pattern_count = np.repeat(patterns.count, np.diff(patterns.table.indptr)).astype(np.float64)
    answers = total(rater, pattern_count, patterns.raters)
    known = np.where(answers > 0, answers, np.nan)
    certain = total(rater, pattern_count * chance, patterns.raters)
    skill = np.clip(certain / known, 0, 1)
    smooth = (certain + 1) / (known + 2)
    missing = total(rater, pattern_count * chance * (1 - chance), patterns.raters) / (smooth * (1 - smooth))
    return skill, _wilson(skill, np.maximum(known - missing, 0))


def _overturned(patterns: Patterns, probability: NDArray[np.float64]) -> int:
    """Count the items with at least two answers, all alike, for which another class is more likely."""
    shares, rows = patterns.shares(), np.arange(len(probability))
    alike = (np.diff(patterns.table.indptr) > 1) & (shares.max(axis=1) > 1 - ROUNDING)
    other = probability[rows, shares.argmax(axis=1)] < probability.max(axis=1) - ROUNDING
    return int(patterns.count[alike & other].sum())


def _wilson(share: NDArray[np.float64], count: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute Wilson's interval (R, 2) of shares for counts that need not be integers; [0, 1] for a count of 0.

    Examples
    --------
    >>> _wilson(np.array([1.0, 0.5]), np.array([10.0, 0.0])).round(4).tolist()
    [[0.7225, 1.0], [0.0, 1.0]]
    """
    square = NORMAL**2
    middle = (count * share + square / 2) / (count + square)
    half = NORMAL * np.sqrt(count * share * (1 - share) + square / 4) / (count + square)
    return np.clip(np.stack([middle - half, middle + half], axis=1), 0, 1)
