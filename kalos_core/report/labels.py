"""Figures of results of image-level labels."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import band
from kalos_core.display import (
    alpha_text,
    count_text,
    percent_text,
)
from kalos_core.nominal import (
    LabelAgreement,
    LabelTruth,
    MajorityAgreement,
    QuestionCurve,
    RaterAccuracy,
    Rejection,
    TeamComparison,
)
from kalos_core.report.axes import Line, Lines, Mark, series
from kalos_core.report.look import Matrix, Ranked, Row, ranked_domain, row_of
from kalos_core.report.objects import DOTTED, MOST_COLUMNS, MOST_ROWS, captioned, names_of, pairs_form
from kalos_core.report.pages import Figure
from kalos_core.sparse import Independence, RunningCurve
from kalos_core.text import plain


def _least(values: NDArray[np.float64]) -> list[int]:
    """Return the indices of the smallest values, ascending."""
    order = np.argsort(values, kind="stable")
    found: list[int] = order[np.isfinite(values[order])][:MOST_ROWS].tolist()
    return found


def _cut(label: str, values: NDArray[np.float64]) -> str:
    known = int(np.isfinite(values).sum())
    return f"{label}: the least {MOST_ROWS} of {known:,}" if known > MOST_ROWS else label


def questions(found: LabelAgreement) -> Figure:
    """Kappa of each question, lowest first."""
    from kalos_core.figures import plot_label_agreement
    from kalos_core.figures.labels import label_agreement_title

    names, kappa, ends = names_of(found.question), found.free_marginal, found.free_marginal_interval
    order = _least(kappa)
    rows = [
        row_of(
            names[at],
            float(kappa[at]),
            ends[at],
            (band(float(kappa[at])), alpha_text(found.alpha[at]), count_text(int(found.items[at]))),
        )
        for at in order
    ]
    form = Ranked(
        _cut("Free-marginal kappa by question, the least agreed first", kappa),
        ("question", "kappa", "band", "alpha", "images"),
        rows,
        ranked_domain(kappa, ends),
    )
    return captioned("kappas", form, label_agreement_title(found), plot=partial(plot_label_agreement, found))


def concepts(found: MajorityAgreement) -> Figure:
    """Agreement with the majority by label, over all decisions and where a rater chose it."""
    from kalos_core.figures import plot_majority
    from kalos_core.figures.labels import majority_order, majority_title

    order = majority_order(found.concept_all, found.concept_chosen)[:MOST_ROWS]
    values = np.stack([found.concept_all[order], found.concept_chosen[order]], axis=1)
    label = _cut("Share of raters with the majority, by label", np.asarray(found.concept_all, np.float64))
    columns = ("all decisions", "where a rater chose it")
    form = Matrix(label, names_of(found.concepts[order]), columns, values, (0.5, 1.0), ("label", ""), percent_text)
    title = majority_title(found.means["concept_all"], found.means["concept_chosen"])
    return captioned("concepts", form, title, plot=partial(plot_majority, found))


def alike(found: RaterAccuracy) -> Figure:
    """Share of equal answers of every two raters, and of each rater and the majority."""
    from kalos_core.figures import plot_rater_accuracy
    from kalos_core.figures.labels import rater_accuracy_title

    raters = names_of(found.raters)
    form: Matrix | Ranked
    if len(raters) <= MOST_COLUMNS:
        beside = {"majority": found.to_majority}
        if found.reference:
            beside[plain(found.reference)] = found.to_reference
        values = np.column_stack([found.accuracy, *beside.values()])
        form = Matrix("Share of equal answers", raters, [*raters, *beside], values, show=alpha_text)
    else:
        rows = [
            Row(raters[at], alpha_text(found.to_majority[at]), float(found.to_majority[at]))
            for at in _least(found.to_majority)
        ]
        label = _cut("Share of answers equal to the majority", found.to_majority)
        form = Ranked(label, ("rater", "share of answers"), rows)
    return captioned("accuracy", form, rater_accuracy_title(found), plot=partial(plot_rater_accuracy, found))


def rejected(found: Rejection) -> Figure:
    """Kappa of each question with all answers, and without the rejected ones."""
    from kalos_core.figures import plot_rejection
    from kalos_core.figures.labels import rejection_title

    order = _least(found.before)
    values = np.stack([found.before[order], found.after[order]], axis=1)
    label = _cut("Free-marginal kappa by question", found.before)
    form = Matrix(label, names_of(found.question[order]), ("all answers", "without the rejected"), values)
    return captioned("rejection", form, rejection_title(found), plot=partial(plot_rejection, found))


def teams(found: TeamComparison, question: int = 0) -> Figure:
    """Agreement within two teams, between them, and of their majorities."""
    from kalos_core.figures import plot_teams
    from kalos_core.figures.labels import teams_title

    values, ends = found.kappa[question], found.kappa_interval[question]
    rows = [row_of(plain(name), float(values[at]), ends[at]) for at, name in enumerate(found.names)]
    form = Ranked("Free-marginal kappa of two teams", ("team", "kappa"), rows, ranked_domain(values, ends))
    return captioned("teams", form, teams_title(found, question), plot=partial(plot_teams, found, question=question))


def running(found: RunningCurve, width: float | None = None) -> Figure:
    """Agreement by the number of answers so far."""
    from kalos_core.figures import plot_running
    from kalos_core.figures.sparse import running_title

    step = None if width is None else found.narrow_from(width)
    x = found.annotations.astype(np.float64)
    lines = [
        Line(name, x, values, ends, *series(number), dotted=False)
        for number, (name, values, ends) in enumerate(
            (("probability of agreement", found.spa, found.spa_interval), ("alpha", found.alpha, found.alpha_interval))
        )
    ]
    marks = [] if step is None else [Mark(f"narrow enough from {count_text(int(x[step]))} on", float(x[step]), DOTTED)]
    ends = (0.0, float(x.max(initial=1)))
    low, high = ranked_domain(found.spa, found.alpha, found.spa_interval, found.alpha_interval)
    form = Lines(
        "Agreement over the answers so far",
        lines,
        "answers so far",
        "agreement",
        ends,
        (low, high),
        marks,
        show_x=_whole,
    )
    title = running_title(found.annotations.tolist(), found.spa, found.spa_interval, step)
    return captioned("curve", form, title, plot=partial(plot_running, found, width=width))


def _whole(value: float) -> str:
    return count_text(round(value))


def beyond_chance(found: QuestionCurve) -> Figure:
    """Cohen's kappa of every two raters."""
    from kalos_core.figures import plot_cohen
    from kalos_core.figures.labels import cohen_title

    form = pairs_form("Cohen's kappa of every two raters", names_of(found.raters), found.cohen, what="kappa")
    title = cohen_title(found.question, found.raters.tolist(), found.cohen)
    return captioned("cohen", form, title, plot=partial(plot_cohen, found))


def by_answers(found: Independence) -> Figure:
    """Agreement of items by their number of answers."""
    from kalos_core.figures import plot_independence
    from kalos_core.figures.sparse import independence_title

    error = 1.96 * found.deviation / np.sqrt(found.items)
    ends = np.stack([found.agreement - error, found.agreement + error], axis=1)
    rows = [
        row_of(count_text(int(number)), float(mean), (float(low), float(high)), (count_text(int(items)),))
        for number, mean, (low, high), items in zip(
            found.annotations, found.agreement, ends.tolist(), found.items, strict=True
        )
    ]
    form = Ranked("Agreement by the number of answers", ("answers", "agreement", "items"), rows, ranked_domain(ends))
    title = independence_title(found.rho, found.p)
    return captioned("independence", form, title, plot=partial(plot_independence, found))


def skill(found: LabelTruth) -> Figure:
    """Skill of each rater, lowest first."""
    from kalos_core.figures import plot_skill
    from kalos_core.figures.labels import skill_title

    names = names_of(found.raters)
    rows = [
        row_of(names[at], float(found.skill[at]), found.skill_interval[at], (count_text(int(found.rater_answers[at])),))
        for at in _least(found.skill)
    ]
    label = _cut("Share of answers expected to be right, lowest first", found.skill)
    form = Ranked(label, ("rater", "share expected to be right", "answers"), rows)
    title = skill_title(found.raters.tolist(), found.skill)
    return captioned("skill", form, title, plot=partial(plot_skill, found))


def confusion(found: LabelTruth) -> Figure:
    """Probability of each answer given the true class, over all raters."""
    from kalos_core.figures import plot_confusion
    from kalos_core.figures.labels import confusion_title, mean_confusion

    names, values = names_of(found.classes), mean_confusion(found)
    form: Matrix | Ranked
    if len(names) <= MOST_COLUMNS:
        form = Matrix("Probability of each answer", names, names, values, heads=("is", "answered"))
    else:
        wrong = np.where(np.eye(len(names), dtype=np.bool_), 0.0, values)
        order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_ROWS]
        places = [divmod(int(at), len(names)) for at in order]
        rows = [
            Row(f"{names[true]} as {names[given]}", alpha_text(wrong[true, given]), float(wrong[true, given]))
            for true, given in places
        ]
        form = Ranked("The most probable wrong answers", ("class and answer", "probability"), rows)
    return captioned("confusion", form, confusion_title(found), plot=partial(plot_confusion, found))
