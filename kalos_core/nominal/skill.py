"""Who is right, and how sure: the class of each item and the skill of each rater, estimated from each other."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

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
"""Probabilities that differ by less are equal."""

SMALLEST = 1e-6
"""Expected errors below which nothing can be said of how they are spread."""

ERRORS = 3.0
"""Standard errors of the dispersion beyond which raters are said to err on the same items."""

TOO_SURE = (
    "The probabilities are too high: raters err on the same items far more often than chance, while they are computed "
    "as if everybody erred independently."
)

NORMAL = 1.959963984540054
"""Quantile of the normal distribution that bounds a 95 % interval."""


@dataclass(frozen=True, eq=False, repr=False)
class LabelTruth(Result):
    """The class of each of I items, and how each of R raters answers, estimated from each other. K classes.

    Table: one row an item: its label, how probable it is, and how many answers it has.

    Figures: ``"skill"``, ``"confusion"``.

    Parameters
    ----------
    question : str
        Of the table; "" for plain values.
    model : str
        Name in `SKILL_MODELS`.
    items, raters : (I,), (R,) object
        Names; for plain values the numbers of rows and columns.
    classes : (K,) object
        What the axes of the other arrays mean: the options of the question; for plain values those that occur,
        ascending where they can be compared, else in the order of their first occurrence.
    probability : (I, K) float64
        Of each class, given the answers; `prior` where nobody answered.
    confusion : (R, K, K) float64
        Of each answer (column) where a class is true (row): what the probabilities are made of. NaN for a rater
        without answers.
    prior : (K,) float64
        Share of the items that each class has.
    skill : (R,) float64
        Share of a rater's own answers that are expected to be right; NaN without answers.
    skill_interval : (R, 2) float64
        95 %, see `dawid_skene`.
    answers : (I,) int
        Of each item.
    rater_answers : (R,) int
    overturned : int
        Items that got another label than all of their raters gave, who are at least two. Where
        there are some, classes may have been found in the wrong roles: do not use it then.
    iterations : int
        0 where the estimate is made in one step.
    converged : bool
        Whether it ended because nothing changed any more.
    dispersion, dispersion_error : float
        How far the right answers to an item depend on each other, and the standard error where they do not: 1 where
        raters err independently, more where they err on the same items; see `errs_together`. NaN without errors.

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
        """Whether raters err on the same items far more often than chance: then `probability` is far too high.

        The model takes errors for independent, given the class. `dispersion` is the variance of the number of right
        answers to an item over the one of the model, taken over all items (the estimated class being the true one).
        """
        return self.dispersion > 1 + ERRORS * self.dispersion_error

    @property
    def confidence(self) -> NDArray[np.float64]:
        """(I,) probability of the likeliest class; NaN where nobody answered."""
        highest = self.probability.max(axis=1, initial=0)
        return np.where(self.answers > 0, highest, np.nan)

    @property
    def tied(self) -> NDArray[np.bool_]:
        """(I,) True where several classes are equally likely, and somebody answered."""
        highest = self.probability.max(axis=1, keepdims=True, initial=0)
        return np.asarray(((self.probability >= highest - ROUNDING).sum(axis=1) > 1) & (self.answers > 0))

    @property
    def label_codes(self) -> NDArray[np.intp]:
        """(I,) the likeliest class of each item, a code into `classes`; `NOT_ASSIGNED` where `labels` has none."""
        known = (self.answers > 0) & ~self.tied
        codes = np.full(len(self.items), NOT_ASSIGNED, np.intp)
        if known.any():
            codes[known] = self.probability[known].argmax(axis=1)
        return codes

    @property
    def labels(self) -> NDArray[Any]:
        """(I,) the likeliest class of each item; none where several are equally likely, or nobody answered.

        As in the values it is made of: whole numbers with `NOT_ASSIGNED` for none if all classes are whole numbers,
        else objects with None for none.
        """
        codes, names = self.label_codes, self.classes.tolist()
        if names and all(isinstance(name, int) and not isinstance(name, bool) for name in names):
            return np.array([*names, NOT_ASSIGNED])[np.where(codes < 0, -1, codes)]
        return object_array([*names, None])[np.where(codes < 0, -1, codes)]

    def without_items(self) -> LabelTruth:
        """The numbers of the raters alone.

        Examples
        --------
        >>> found = dawid_skene([["cat", "cat"], ["dog", "dog"]]).without_items()
        >>> found.labels.tolist(), found.rater_answers.tolist()
        ([], [2, 2])
        """
        return replace(self, items=self.items[:0], probability=self.probability[:0], answers=self.answers[:0])

    @property
    def doubts(self) -> str:
        """What speaks against the estimate, as the end of a sentence; "" where nothing does."""
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
        return f"Labels of {items} by {raters}, {sure} sure in the mean{ties}{self.doubts}"

    def raters_to_pandas(self) -> pd.DataFrame:
        """One row a rater: skill with its interval, and how many answers it rests on."""
        return self._frame("rater:raters skill skill_interval answers:rater_answers")

    def confusion_to_pandas(self) -> pd.DataFrame:
        """One row a rater, class and answer: how probable the answer is where the class is true."""
        axes = {"rater": self.raters, "class": self.classes, "answer": self.classes}
        return crossed(axes, probability=self.confusion)


# ---- models ----

Estimated = tuple[Expectation, NDArray[np.float64]]
"""The estimate, and the probabilities (P, K) by which an answer is right."""


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


SKILL_MODELS: dict[str, Callable[[Patterns, float, int], Estimated]] = {
    "confusion": _confused,
    "one_coin": _coins,
    "weighted": _weighted,
}
"""How raters are taken to answer, for `dawid_skene`."""


MODELS = {
    "confusion": "of each class of their own: finds habits, such as taking dogs for cats; usually the best",
    "one_coin": "right with one probability, whatever the class: for few answers of each",
    "weighted": "a majority in which raters count as often as they are in it: simple to explain, hardly better",
}
"""Name in `SKILL_MODELS` -> how raters are taken to answer."""

SkillModel = Annotated[
    str,
    Option("How raters are taken to answer", "Of the estimate of who is right.", choices=MODELS, known=SKILL_MODELS),
]


@dataclass(frozen=True, kw_only=True)
class SkillSettings(Settings):
    """How it is estimated who is right.

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
            "To the answers of a rater to each class (of 'one_coin', to all) so many are added as all raters together "
            "give them, in each step: a Dirichlet prior about the average rater. Without it, raters of few answers are "
            "taken for perfect or useless, and with many classes labels are worse than the majority. 0 is maximum "
            "likelihood, as published.",
            low=0,
        ),
    ] = 4.0
    iterations: Annotated[
        int,
        Option(
            "Iterations", "At most; `LabelTruth.converged` is False if they end it, and its headline says so.", low=1
        ),
    ] = 1000


@dataclass(frozen=True)
class DawidSkeneArguments(SkillSettings):
    """What `dawid_skene` takes: its settings, and the question, where the table has several."""

    question: str | None = None


@takes(DawidSkeneArguments)
def dawid_skene(values: LabelTable | ArrayLike, settings: DawidSkeneArguments) -> LabelTruth:
    """The class of each item and how each rater answers, estimated from each other (Dawid & Skene 1979).

    Who agrees with others who are mostly right is taken to be mostly right: their answers count more, and so on until
    nothing changes. It is expectation-maximisation, which begins with the share of the votes that each class of an
    item has (Eq. 3.1), and runs on the patterns of answers and their counts: the same numbers as item by item.

    * ``"confusion"``: each rater answers each class with probabilities of their own (§2), so that a habit of taking
      one class for another is found, and undone.
    * ``"one_coin"``: each rater is right with one probability, whatever the class, and wrong answers are all alike
      (Zhang et al. 2016, §3.3). It has fewer numbers to find: for few answers of each rater.
    * ``"weighted"``: the majority weighted by skill in one step; the weight of a rater is the share of their answers
      that the majority gave, too (of a tie, a part of it). Probabilities are shares of weights.

    A class of equal probability with another is never chosen by its order: the item has no label, and is `tied`. The
    order of items, raters and classes does not matter.

    **What it assumes, and when not to use it.** Each item has one true class. Raters answer independently of each
    other, given that class: who copies, or shares a mistake with others (all are misled by the same blurred image),
    looks skilled, and probabilities are far too near to 0 and 1. A rater answers all items of a class alike: items that
    are hard for everybody do not exist. Most raters are better than chance, else the classes are found in the wrong
    roles, as they can be where classes are rare or items few: `LabelTruth.overturned` tells. Where several answers are
    right, where two raters or fewer answered, where a rater has fewer answers than there are classes, or where raters
    influenced each other, take the majority (`majority_vote`) and let people decide (`find_disputes`). With ordered
    grades a near miss counts like any other.

    Parameters
    ----------
    values : LabelTable or (I, R)
        Plain values are as for `nominal_alpha`: items by raters, None, NaN or `NOT_ASSIGNED` where there is no answer.
    question : str, optional
        A group or an optional concept of the table; may be left out where there is only one.

    Returns
    -------
    LabelTruth
        The interval of a skill is Wilson's, of as many answers as the observed information is worth (Louis 1982), what
        is estimated of the other raters being taken as known: with few raters an item it is too narrow.

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
    """`LabelTruth.dispersion` and its error, from the second and fourth cumulant of sums of Bernoulli variables."""
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
    """Answers as codes, with the names of what they are about."""

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
    """Values (I, R), and where there are any; as `encode_values` reads them."""
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.dtype.kind == "f":
        return values, ~np.isnan(values)
    codes = encode_values(values)
    table = np.asarray(values)
    return table if table.dtype.kind in "biu" else np.asarray(values, dtype=object), codes != NOT_ASSIGNED


def _classes_of(given: NDArray[Any]) -> tuple[NDArray[np.object_], NDArray[np.intp]]:
    """The distinct values, ascending where they can be compared, and the code of each of those given."""
    if given.dtype.kind != "O":
        distinct, codes = np.unique(given, return_inverse=True)
        return object_array(distinct.tolist()), codes.reshape(-1)
    names = in_order(given.tolist())
    place = {name: at for at, name in enumerate(names)}
    return object_array(names), np.array([place[value] for value in given.tolist()], np.intp)


def _skill(patterns: Patterns, right: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(R,) share of the answers that are right, and (R, 2) its interval, from how likely each class is (P, K).

    An answer that is right with probability w leaves w (1 - w) of the variance s (1 - s) of one that is known to be
    right or wrong: the information that is missing (Louis 1982, Eq. 3.2), in answers. s is drawn to one half by one
    right and one wrong answer there, since at 0 and 1 there is no variance to compare with.
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
    """Items of at least two answers, all alike, and another class that is likelier."""
    shares, rows = patterns.shares(), np.arange(len(probability))
    alike = (np.diff(patterns.table.indptr) > 1) & (shares.max(axis=1) > 1 - ROUNDING)
    other = probability[rows, shares.argmax(axis=1)] < probability.max(axis=1) - ROUNDING
    return int(patterns.count[alike & other].sum())


def _wilson(share: NDArray[np.float64], count: NDArray[np.float64]) -> NDArray[np.float64]:
    """(R, 2) Wilson's interval of shares of so many, which need not be whole numbers; all of [0, 1] for 0.

    Examples
    --------
    >>> _wilson(np.array([1.0, 0.5]), np.array([10.0, 0.0])).round(4).tolist()
    [[0.7225, 1.0], [0.0, 1.0]]
    """
    square = NORMAL**2
    middle = (count * share + square / 2) / (count + square)
    half = NORMAL * np.sqrt(count * share * (1 - share) + square / 4) / (count + square)
    return np.clip(np.stack([middle - half, middle + half], axis=1), 0, 1)
