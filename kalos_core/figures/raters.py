"""Plots of raters: their effect on agreement, agreement between raters, and self-agreement."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kalos_core.diagnostics import Collaboration, IntraRater, RaterVitality, TeamAgreement
from kalos_core.display import Numbers, alpha_text, number_of, rater_colour, signed, with_interval
from kalos_core.figures.bars import value_bars, with_counts
from kalos_core.figures.common import (
    Matrix,
    as_numbers,
    extremes,
    pair_names,
    pairs_of,
)
from kalos_core.figures.heatmaps import square_heatmap
from kalos_core.figures.late import go
from kalos_core.options import checked
from kalos_core.resampling import Estimates
from kalos_core.text import MOST_LETTERS, names_shown


def vitality_title(raters: Sequence[str], vitality: Numbers, intervals: Numbers | None = None) -> str:
    r"""Summarise vitality in one line; for intervals that include 0, the wording is tentative.

    Examples
    --------
    >>> vitality_title(["ann", "bob"], [0.04, -0.02])
    'Without bob the others agree better (−0.020); ann holds them together (+0.040)'
    >>> vitality_title(["ann", "bob"], [0.04, 0.02])
    'Every rater adds to agreement, ann most (+0.040)'
    >>> vitality_title(["ann", "bob"], [-0.04, -0.02], [[-0.09, 0.01], [-0.05, 0.01]]).replace("\u00a0", " ")
    'Without ann the others may agree better (−0.040 [−0.090, +0.010])'
    """
    raters = names_shown(raters, MOST_LETTERS)
    values = as_numbers(vitality)
    ends = np.full((len(values), 2), np.nan) if intervals is None else np.asarray(intervals, np.float64)
    found = extremes(values)
    if found is None:
        return "No rater has a vitality"
    best, worst = found

    def said(place: int, clear: str, unclear: str) -> str:
        verb = unclear if ends[place, 0] <= 0 <= ends[place, 1] else clear
        return f"{verb} ({with_interval(values[place], ends[place], text=signed)})"

    if values[worst] >= 0:
        return f"Every rater adds to agreement, {said(best, f'{raters[best]} most', f'{raters[best]} perhaps most')}"
    without = f"Without {raters[worst]} the others {said(worst, 'agree better', 'may agree better')}"
    if values[best] <= 0:
        return without
    return f"{without}; {raters[best]} {said(best, 'holds them together', 'may hold them together')}"


@checked
def plot_vitality(result: RaterVitality, selected: str | None = None) -> go.Figure:
    """Plot vitality of each rater, alpha with all raters minus alpha without one; a selected one stands out.

    Shows the mean over images, the paper's primary score (§3.3, §13); the hover text also has that of all units.
    """
    raters, values, ends = result.rater.tolist(), result.vitality, result.vitality_interval
    whole = [f"<br>over all units {signed(value)}" for value in result.global_rematched]
    return value_bars(
        raters,
        values,
        ends,
        axis="vitality (change of alpha)",
        name="raters",
        title=vitality_title(raters, values, ends),
        hover=[f"vitality {with_interval(value, pair, text=signed)}" for value, pair in zip(values, ends, strict=True)],
        after=[f", {number_of(count, 'image')}{of}" for count, of in zip(result.images.tolist(), whole, strict=True)],
        texts=[signed(value) for value in values],
        colours=[rater_colour(number) for number in range(len(raters))],
        opacity=[0.95 if selected in (None, rater) else 0.4 for rater in raters],
        click="click to select this rater",
    )


def collaboration_title(raters: Sequence[str], alpha: Matrix) -> str:
    """Summarise collaboration in one line.

    Examples
    --------
    >>> collaboration_title(["ann", "bob", "eve"], [[None, 0.95, 0.7], [0.95, None, 0.8], [0.7, 0.8, None]])
    'ann and bob agree most (0.95), ann and eve least (0.70)'
    """
    raters = names_shown(raters, MOST_LETTERS)
    values = pairs_of(alpha)
    found = extremes(values)
    if found is None:
        return "No two raters can be compared"
    best, least = found
    pair, other = pair_names(raters, best), pair_names(raters, least)
    if best == least:
        return f"{pair} agree at {alpha_text(values[best])}"
    return f"{pair} agree most ({alpha_text(values[best])}), {other} least ({alpha_text(values[least])})"


@checked
def plot_collaboration(result: Collaboration) -> go.Figure:
    """Plot alpha of every two raters in cluster order, so that raters who agree are adjacent.

    The mean over images is above the diagonal, the alpha of all units of two raters in one matrix below it.
    """
    values, _ = result.side_by_side
    title = collaboration_title(result.raters.tolist(), result.alpha)
    names = result.raters[result.order].tolist()
    return square_heatmap(names, values, "mean alpha over images", title, "alpha over all units")


def session_title(names: Sequence[str], alpha: Numbers) -> str:
    """Summarise self-agreement of raters in one line.

    Examples
    --------
    >>> session_title(["ann", "bob"], [0.91, 0.55])
    'ann is most consistent over sessions (0.91), bob least (0.55)'
    """
    names = names_shown(names, MOST_LETTERS)
    found = _best_and_least(names, alpha)
    if found is None:
        return "No rater can be compared with themselves"
    (best, most), (worst, least) = found
    if best == worst:
        return f"{best} agrees with themselves at {most}"
    return f"{best} is most consistent over sessions ({most}), {worst} least ({least})"


def team_title(sessions: Sequence[str], alpha: Numbers) -> str:
    """Summarise agreement of all raters within each session in one line.

    Examples
    --------
    >>> team_title(["1", "2"], [0.55, 0.91])
    'The team agrees best in session 2 (0.91), least in session 1 (0.55)'
    """
    sessions = names_shown(sessions, MOST_LETTERS)
    found = _best_and_least(sessions, alpha)
    if found is None:
        return "In no session can raters be compared"
    (best, most), (worst, least) = found
    if best == worst:
        return f"The team agrees at {most} in session {best}"
    return f"The team agrees best in session {best} ({most}), least in session {worst} ({least})"


def _best_and_least(names: Sequence[str], alpha: Numbers) -> tuple[tuple[str, str], tuple[str, str]] | None:
    """Names with the highest and the lowest alpha, with their values; None if all are undefined."""
    values = as_numbers(alpha)
    found = extremes(values)
    if found is None:
        return None
    best, least = found
    return (names[best], alpha_text(values[best])), (names[least], alpha_text(values[least]))


@checked
def plot_intra_rater(result: IntraRater) -> go.Figure:
    """Plot self-agreement of raters, titled with the finding."""
    return _plot_sessions(result.person.tolist(), result, session_title, "mean alpha across own sessions")


@checked
def plot_team(result: TeamAgreement) -> go.Figure:
    """Plot agreement of all raters in each session, titled with the finding."""
    return _plot_sessions(result.session.tolist(), result, team_title, "mean alpha within the session")


def _plot_sessions(names: Sequence[str], result: Estimates, title: Callable[..., str], axis: str) -> go.Figure:
    """Plot alpha of each rater across their sessions, or of the team in each session."""
    return value_bars(
        names,
        result.alpha,
        result.alpha_interval,
        axis=axis,
        name="raters",
        title=title(names, result.alpha),
        what="alpha ",
        digits=3,
        after=with_counts(result.images.tolist(), "image"),
        opacity=0.5,
    )
