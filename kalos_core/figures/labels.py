"""Plots of image-level labels: kappas, majorities, accuracy and skill of raters, and teams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import band, verdict
from kalos_core.display import Numbers, alpha_text, number_of, percent_text, rater_colour, with_interval
from kalos_core.errors import check_whole, index_of
from kalos_core.figures.bars import dotted_rows, value_bars, with_counts
from kalos_core.figures.common import (
    NEUTRAL,
    OWN,
    PALE,
    WHISKER,
    Matrix,
    as_matrix,
    as_numbers,
    extremes,
    pair_names,
    pairs_of,
    shortened,
)
from kalos_core.figures.heatmaps import square_heatmap
from kalos_core.figures.late import go
from kalos_core.figures.traces import points
from kalos_core.nominal import (
    LabelAgreement,
    LabelTruth,
    MajorityAgreement,
    QuestionCurve,
    RaterAccuracy,
    Rejection,
    TeamComparison,
)
from kalos_core.options import checked
from kalos_core.text import MOST_LETTERS, names_shown, shown

MOST_ROWS = 40
"""Maximum number of questions or concepts in a figure, lowest agreement first."""

ROOM_FOR_BANDS = 0.2
"""Share of the axis of kappas for the words next to their values."""


def least_first(values: Numbers, most: int = MOST_ROWS) -> NDArray[np.intp]:
    """Return indices of the least defined values, ascending, at most `most`.

    Examples
    --------
    >>> least_first([0.9, None, 0.1]).tolist()
    [2, 0]
    """
    numbers = as_numbers(values)
    order = np.argsort(numbers, kind="stable")
    return order[np.isfinite(numbers[order])][:most]


def how_many(values: Numbers, most: int = MOST_ROWS) -> str:
    """Describe on an axis how many rows are not shown; "" if all are.

    Examples
    --------
    >>> how_many([0.9, None, 0.1], most=1)
    ' (the lowest 1 of 2)'
    """
    known = int(np.isfinite(as_numbers(values)).sum())
    return f" (the lowest {most} of {known:,})" if known > most else ""


def kappa_title(questions: Sequence[str], kappa: Numbers) -> str:
    """Summarise kappas in one line.

    Examples
    --------
    >>> kappa_title(["place", "season", "snow"], [0.85, 0.35, None])
    'Raters agree well on 1 of 2 questions, least on season (kappa 0.35, low)'
    """
    questions = names_shown(questions, MOST_LETTERS)
    order = least_first(kappa)
    values = as_numbers(kappa)
    known = int(np.isfinite(values).sum())
    if not known:
        return "No question can be compared"
    least = values[order[0]]
    noun = "question" if known == 1 else "questions"
    where = f"{questions[order[0]]} (kappa {alpha_text(least)}, {band(least)})"
    return f"Raters agree well on {int((values > 0.6).sum())} of {known} {noun}, least on {where}"


def label_agreement_title(result: LabelAgreement) -> str:
    """Summarise the kappas of a result in one line; for a single question with its interval."""
    kappa, intervals = result.free_marginal, result.free_marginal_interval
    if len(result) == 1:
        return f"{verdict(kappa[0], intervals[0])}: kappa {with_interval(kappa[0], intervals[0])}"
    return kappa_title(result.question.tolist(), kappa)


@checked
def plot_label_agreement(result: LabelAgreement) -> go.Figure:
    """Plot kappa of each question, lowest first, with its interval and band; lines at 0.6 and 0.8."""
    kappa, intervals = result.free_marginal, result.free_marginal_interval
    title = label_agreement_title(result)
    order = least_first(kappa)
    figure = value_bars(
        result.question[order].tolist(),
        kappa[order],
        intervals[order],
        axis=f"free-marginal kappa{how_many(kappa)}",
        name="kappa",
        title=title,
        what="kappa ",
        texts=[f"{alpha_text(value)} {band(value)}" for value in kappa[order]],
        colours=PALE,
        room=ROOM_FOR_BANDS,
    )
    for bound in (0.6, 0.8):
        figure.add_vline(x=bound, line={"width": 1, "dash": "dot", "color": WHISKER})
    return figure


def doubt_of_weights(result: LabelAgreement) -> str:
    """Describe for which questions the probability of agreement is doubtful, with equal weights; "" if none."""
    rows = np.flatnonzero(result.doubtful).tolist()
    if not rows:
        return ""
    doubts = [
        f"{shown(result.question[row])} {alpha_text(result.spa[row])} ({alpha_text(result.spa_flat[row])})"
        for row in rows[:5]
    ]
    more = f" and {len(rows) - 5:,} more" if len(rows) > 5 else ""
    return (
        "Agreement depends on how many answers an image has, so that the probability of agreement is biased unless "
        f"weights are equal (in brackets): {', '.join(doubts)}{more}"
    )


def cohen_title(question: str, raters: Sequence[str], cohen: Matrix) -> str:
    """Summarise Cohen's kappas of one question in one line.

    Examples
    --------
    >>> cohen_title("place", ["ann", "bob"], [[None, 0.5], [0.5, None]])
    "On place, ann and bob agree least beyond chance (Cohen's κ 0.50; mean of all pairs 0.50)"
    """
    raters = names_shown(raters, MOST_LETTERS)
    question = shown(question)
    pairs = pairs_of(cohen)
    found = extremes(pairs)
    if found is None:
        return f"No two raters can be compared on {question}"
    _, least = found
    return (
        f"On {question}, {pair_names(raters, least)} agree least beyond chance (Cohen's κ {alpha_text(pairs[least])}; "
        f"mean of all pairs {alpha_text(float(np.nanmean(pairs)))})"
    )


@checked
def plot_cohen(result: QuestionCurve) -> go.Figure:
    """Plot Cohen's kappa of every two raters on a question, titled with its finding."""
    raters = result.raters.tolist()
    return square_heatmap(raters, result.cohen, "Cohen's κ", cohen_title(result.question, raters, result.cohen))


def majority_title(everywhere: float | None, where_selected: float | None, what: str = "concept") -> str:
    r"""Summarise agreement with the majority in one line.

    Examples
    --------
    >>> majority_title(0.933, 0.796)
    'Per concept 93\xa0% of raters decide as the majority, 80\xa0% where a rater chose it'
    """
    values = as_numbers([everywhere, where_selected])
    if np.isnan(values).any():
        return f"Per {what}, no answers could be compared"
    return (
        f"Per {what} {percent_text(values[0])} of raters decide as the majority, "
        f"{percent_text(values[1])} where a rater chose it"
    )


def majority_order(everywhere: Numbers, where_selected: Numbers) -> NDArray[np.intp]:
    """Return indices of the rows of `majority_dots`, from top to bottom.

    Examples
    --------
    >>> majority_order([0.9, 0.8, 1.0], [0.6, None, 0.5]).tolist()
    [2, 0, 1]
    """
    upper, lower = as_numbers(everywhere), as_numbers(where_selected)
    return least_first(np.where(np.isnan(lower), upper + 1, lower))


def majority_dots(names: Sequence[str], everywhere: Numbers, where_selected: Numbers, title: str = "") -> go.Figure:
    """Plot agreement with the majority by both definitions, lowest agreement first (Figure 4).

    Parameters
    ----------
    names : (n,) concepts or items
    everywhere, where_selected : (n,) shares in [0.5, 1]
        Shares over all decisions, and where a rater chose the concept; rows undefined in the second come last.
    title : str
    """
    names = names_shown(names)
    upper, lower = as_numbers(everywhere), as_numbers(where_selected)
    order = majority_order(everywhere, where_selected)
    axis = f"% of raters with the majority{how_many(upper)}"
    readings = {"all decisions": 100 * upper[order], "where a rater chose it": 100 * lower[order]}
    figure = _two_dots([str(names[index]) for index in order], readings, axis, title, (0.0, 100.0), ".1f")
    return figure.update_layout(xaxis_range=[48, 102])


def _two_dots(
    names: Sequence[str],
    values: Mapping[str, NDArray[np.float64]],
    axis: str,
    title: str,
    ends: tuple[float, float],
    precision: str,
) -> go.Figure:
    """Dots of two quantities for n names, the first grey: name of the quantity -> (n,) numbers."""
    looks = ((NEUTRAL, "circle"), (OWN, "diamond"))
    hover = f"%{{customdata}}: %{{x:{precision}}}"
    dots = [
        points(numbers, range(len(names)), colour, name, hover, texts=names_shown(names), symbol=symbol)
        for (name, numbers), (colour, symbol) in zip(values.items(), looks, strict=True)
    ]
    return dotted_rows(names, dots, title, axis, ends, legend_on_top=False)


@checked
def plot_majority(result: MajorityAgreement) -> go.Figure:
    """Plot the concepts of a result, titled with its finding."""
    means = result.means
    title = majority_title(means["concept_all"], means["concept_chosen"])
    return majority_dots(result.concepts.tolist(), result.concept_all, result.concept_chosen, title)


def accuracy_title(raters: Sequence[str], accuracy: Matrix) -> str:
    r"""Summarise pairwise accuracy in one line.

    Examples
    --------
    >>> accuracy_title(["ann", "bob", "cid"], [[None, 0.9, 0.8], [0.9, None, 0.85], [0.8, 0.85, None]])
    'Raters give the same answer to 85\xa0% of questions: ann and bob most (0.90), ann and cid least (0.80)'
    """
    raters = names_shown(raters, MOST_LETTERS)
    pairs = pairs_of(accuracy)
    found = extremes(pairs)
    if found is None:
        return "No two raters decided on the same"
    best, least = found
    text = f"{pair_names(raters, best)} most ({alpha_text(pairs[best])})"
    if least != best:
        text += f", {pair_names(raters, least)} least ({alpha_text(pairs[least])})"
    return f"Raters give the same answer to {percent_text(float(np.nanmean(pairs)))} of questions: {text}"


def rater_accuracy_title(result: RaterAccuracy) -> str:
    """Summarise pairwise accuracy, and who is closest to the reference if there is one, in one line."""
    raters = result.raters.tolist()
    title = accuracy_title(raters, result.accuracy)
    if not result.reference or not np.isfinite(result.to_reference).any():
        return title
    best = int(np.nanargmax(result.to_reference))
    value = alpha_text(float(result.to_reference[best]))
    return f"{title}; nearest to {shown(result.reference)} is {shown(raters[best])} ({value})"


@checked
def plot_rater_accuracy(result: RaterAccuracy) -> go.Figure:
    """Plot accuracy of every two raters, with the majority and the reference as additional rows and columns (Table 2).

    The title names the most similar raters, and the one closest to the reference.
    """
    raters, values = result.raters.tolist(), as_matrix(result.accuracy)
    title = rater_accuracy_title(result)
    beside = {"majority": result.to_majority}
    if result.reference:
        beside[result.reference] = result.to_reference
    for numbers in beside.values():
        last = np.append(numbers, np.full(len(values) - len(raters), np.nan))
        values = np.block([[values, last[:, None]], [last[None], np.full((1, 1), np.nan)]])
    return square_heatmap([*raters, *beside], values, "equal answers", title)


def teams_title(result: TeamComparison, question: int = 0) -> str:
    """Summarise whether two teams differ on a question, in one line."""
    kappa = result.kappa[question]
    verb = "agree more among themselves" if kappa[-1] > 0 else "agree less among themselves"
    finding = "no clear difference"
    if result.differs[question]:
        finding = f"{shown(result.first)} {verb} than {shown(result.second)}"
    difference = with_interval(kappa[-1], result.kappa_interval[question, -1])
    return f"{shown(result.question[question])}: {finding} (difference of kappa {difference})"


@checked
def plot_teams(result: TeamComparison, question: int = 0) -> go.Figure:
    """Plot agreement within two teams, between them and of their majorities on a question; titled with the finding."""
    check_whole(question, "question", 0, len(result.question) - 1)
    names, kappa = result.names, result.kappa[question]
    title = teams_title(result, question)
    return value_bars(
        names,
        kappa,
        result.kappa_interval[question],
        axis="free-marginal kappa",
        name="kappa",
        title=title,
        colours=[rater_colour(number) if number < 2 else NEUTRAL for number in range(len(names))],
        opacity=0.8,
    )


def rejection_title(result: Rejection) -> str:
    """Summarise the rejected share and its effect on kappa in one line."""
    before, after = (alpha_text(value) for value in result.means)
    answers, gone = int(result.answers.sum()), result.rejected_raters
    of = f"of {number_of(answers, 'answer')}"
    rejected = number_of(len(result), f"{of} is", f"{of} are")
    share = f"{rejected} rejected ({percent_text(len(result) / max(answers, 1))})"
    whose = f", all of {shortened(', '.join(gone), 40)}" if gone else ""
    return f"{share}{whose}: mean kappa {before} before, {after} after"


@checked
def plot_rejection(result: Rejection) -> go.Figure:
    """Plot free-marginal kappa of each question with all answers and without the rejected ones, lowest first."""
    order = least_first(result.before)
    kappas = {"all answers": result.before[order], "without the rejected": result.after[order]}
    axis = f"free-marginal kappa{how_many(result.before)}"
    low = min(0.0, *(float(np.nanmin(values, initial=0.0)) for values in kappas.values()))
    names = names_shown(result.question[order])
    return _two_dots(names, kappas, axis, rejection_title(result), (low, 1.0), ".3f")


def skill_title(raters: Sequence[str], skill: Numbers) -> str:
    r"""Summarise skills of raters in one line.

    Examples
    --------
    >>> skill_title(["ann", "bob"], [0.97, 0.625])
    'Answers are expected to be right in 62\xa0% of cases (bob) to 97\xa0% (ann)'
    """
    values = as_numbers(skill)
    raters = names_shown(raters, MOST_LETTERS)
    found = extremes(values)
    if found is None:
        return "No rater answered anything"
    best, least = found
    if least == best:
        return f"Answers of {raters[best]} are expected to be right in {percent_text(values[best])} of cases"
    return (
        f"Answers are expected to be right in {percent_text(values[least])} of cases ({raters[least]}) to "
        f"{percent_text(values[best])} ({raters[best]})"
    )


@checked
def plot_skill(result: LabelTruth) -> go.Figure:
    """Plot the skill of each rater with its interval, lowest first, titled with the finding."""
    order = least_first(result.skill)
    return value_bars(
        result.raters[order].tolist(),
        result.skill[order],
        result.skill_interval[order],
        axis=f"share of the answers expected to be right{how_many(result.skill)}",
        name="skill",
        title=skill_title(result.raters.tolist(), result.skill),
        after=with_counts(result.rater_answers[order].tolist(), "answer"),
        colours=PALE,
    )


def mean_confusion(result: LabelTruth) -> NDArray[np.float64]:
    """(K, K) probability of each answer given the class: the mean of all raters, weighted by their answers."""
    shares = np.nan_to_num(result.confusion) * result.rater_answers[:, None, None]
    return np.asarray(shares.sum(axis=0) / max(int(result.rater_answers.sum()), 1))


def confusion_title(result: LabelTruth, rater: str | None = None) -> str:
    """Summarise the most probable wrong answer of all raters or of one, in one line."""
    who, values = "Raters", mean_confusion(result)
    if rater is not None:
        who, values = shown(rater), result.confusion[index_of(result.raters.tolist(), rater, "rater")]
    names = list(map(str, result.classes))
    wrong = np.where(np.eye(len(names), dtype=bool), np.nan, values)
    if not np.nanmax(wrong, initial=0) > 0:
        return f"{who}: no answer is expected to be wrong"
    true, answer = np.unravel_index(np.nanargmax(wrong), wrong.shape)
    one, other = (shown(names[code]) for code in (true, answer))
    verb = "take" if rater is None else "takes"
    return f"{who} most often {verb} {one} for {other} ({percent_text(wrong[true, answer])})"


@checked
def plot_confusion(result: LabelTruth, rater: str | None = None) -> go.Figure:
    """Plot the probability of each answer (column) given the true class (row), titled with the likeliest error.

    Parameters
    ----------
    result : LabelTruth
    rater : str, optional
        By default the mean of all raters, weighted by their answers.

    Raises
    ------
    InputError
        If the result does not contain the rater.
    """
    values = mean_confusion(result)
    if rater is not None:
        values = result.confusion[index_of(result.raters.tolist(), rater, "rater")]
    return square_heatmap(list(map(str, result.classes)), values, "probability", confusion_title(result, rater))
