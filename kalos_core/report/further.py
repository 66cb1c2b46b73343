"""Results of image-level labels, masks, rankings and synthetic raters as figures of a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import band
from kalos_core.display import (
    EVENT_LABELS,
    OUTCOME_LABELS,
    alpha_text,
    count_text,
    percent_text,
    signed,
)
from kalos_core.noise import Fidelity, RaterEvents, SignalLoss
from kalos_core.noise.experiments import SignalLossTable
from kalos_core.nominal import (
    LabelAgreement,
    LabelTruth,
    MajorityAgreement,
    QuestionCurve,
    RaterAccuracy,
    Rejection,
    TeamComparison,
)
from kalos_core.pixels import SIGNIFICANT, PixelAgreement, RaterPerformance
from kalos_core.pixels.performance import SHARES
from kalos_core.ranking import BoundaryEvaluation, Concordance, DetectorRanking, Rankings, shared_rankings
from kalos_core.report.axes import Line, Lines, Mark, percent_axis, series
from kalos_core.report.look import Matrix, Ranked, Row, ranked_domain, row_of
from kalos_core.report.objects import DASHED, DOTTED, MOST_COLUMNS, MOST_ROWS, captioned, names_of, pairs_form
from kalos_core.report.pages import Figure, Table
from kalos_core.sparse import Independence, RunningCurve
from kalos_core.text import plain

if TYPE_CHECKING:
    import plotly.graph_objects as go

FULL = (0.0, 1.0)


def _least(values: NDArray[np.float64]) -> list[int]:
    """Places of the least values, ascending."""
    order = np.argsort(values, kind="stable")
    found: list[int] = order[np.isfinite(values[order])][:MOST_ROWS].tolist()
    return found


def _cut(label: str, values: NDArray[np.float64]) -> str:
    known = int(np.isfinite(values).sum())
    return f"{label}: the least {MOST_ROWS} of {known:,}" if known > MOST_ROWS else label


# ---- image-level labels ----


def questions(found: LabelAgreement) -> Figure:
    """Kappa of each question, the least first."""
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
    """Agreement with the majority on each label, over all decisions and where somebody chose it."""
    from kalos_core.figures import plot_majority
    from kalos_core.figures.labels import majority_order, majority_title

    order = majority_order(found.concept_all, found.concept_chosen)[:MOST_ROWS]
    values = np.stack([found.concept_all[order], found.concept_chosen[order]], axis=1)
    label = _cut("Share of raters with the majority, by label", np.asarray(found.concept_all, np.float64))
    columns = ("all decisions", "where somebody chose it")
    form = Matrix(label, names_of(found.concepts[order]), columns, values, (0.5, 1.0), ("label", ""), percent_text)
    title = majority_title(found.means["concept_all"], found.means["concept_chosen"])
    return captioned("concepts", form, title, plot=partial(plot_majority, found))


def alike(found: RaterAccuracy) -> Figure:
    """Answers alike of every two raters, and of each with the majority."""
    from kalos_core.figures import plot_rater_accuracy
    from kalos_core.figures.labels import rater_accuracy_title

    raters = names_of(found.raters)
    form: Matrix | Ranked
    if len(raters) <= MOST_COLUMNS:
        beside = {"majority": found.to_majority}
        if found.reference:
            beside[plain(found.reference)] = found.to_reference
        values = np.column_stack([found.accuracy, *beside.values()])
        form = Matrix("Answers alike", raters, [*raters, *beside], values, show=alpha_text)
    else:
        rows = [
            Row(raters[at], alpha_text(found.to_majority[at]), float(found.to_majority[at]))
            for at in _least(found.to_majority)
        ]
        label = _cut("Answers alike with the majority", found.to_majority)
        form = Ranked(label, ("rater", "share of answers"), rows)
    return captioned("accuracy", form, rater_accuracy_title(found), plot=partial(plot_rater_accuracy, found))


def rejected(found: Rejection) -> Figure:
    """Kappa of each question with all answers, and without the rejected."""
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
    """Agreement over the answers so far."""
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
    """The skill of each rater, the least first."""
    from kalos_core.figures import plot_skill
    from kalos_core.figures.labels import skill_title

    names = names_of(found.raters)
    rows = [
        row_of(names[at], float(found.skill[at]), found.skill_interval[at], (count_text(int(found.rater_answers[at])),))
        for at in _least(found.skill)
    ]
    label = _cut("Share of answers expected to be right, the least first", found.skill)
    form = Ranked(label, ("rater", "share expected to be right", "answers"), rows)
    title = skill_title(found.raters.tolist(), found.skill)
    return captioned("skill", form, title, plot=partial(plot_skill, found))


def confusion(found: LabelTruth) -> Figure:
    """How probable each answer is where a class is true, of all raters."""
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


# ---- masks ----


def share_of_all(found: PixelAgreement) -> Figure:
    """Share of the marked pixels with at least n raters."""
    from kalos_core.figures import plot_ratio
    from kalos_core.figures.pixels import ratio_title

    rows = [
        Row(f"at least {number}", percent_text(value), float(value))
        for number, value in enumerate(np.asarray(found.ratio).tolist(), start=1)
    ]
    form = Ranked("Share of what anybody marked", ("raters", "share"), rows)
    return captioned("ratio", form, ratio_title(found.ratio), plot=partial(plot_ratio, found))


def who_marks_alike(found: PixelAgreement) -> Figure:
    """F1 of every two raters, in the order of the tree."""
    from kalos_core.figures import plot_rater_tree
    from kalos_core.figures.pixels import tree_title

    order = found.order
    names = names_of(found.raters[order])
    values = np.array(found.f1, dtype=np.float64)[np.ix_(order, order)]
    np.fill_diagonal(values, np.nan)
    form = pairs_form("F1 of every two raters; those who mark alike stand next to each other", names, values, what="F1")
    title = tree_title(found.raters.tolist(), found.outliers.tolist())
    return captioned("tree", form, title, plot=partial(plot_rater_tree, found))


def against(found: RaterPerformance, name: str = "performance", before: str = "") -> Figure:
    """Each rater against a reference."""
    from kalos_core.figures import plot_performance
    from kalos_core.figures.pixels import performance_title

    raters = found.raters.tolist()
    title = f"{before}{performance_title(raters, found.kappa)}"
    values = {label: np.asarray(getattr(found, key), np.float64) for key, label in SHARES.items()}
    return captioned(name, measured(raters, values), title, plot=partial(plot_performance, found))


def measured(raters: Sequence[str], values: Mapping[str, NDArray[np.float64]]) -> Matrix:
    """A few numbers of each rater."""
    columns = np.stack([np.asarray(each, np.float64) for each in values.values()], axis=1)
    return Matrix("Each rater against the reference", names_of(raters), list(values), columns, heads=("rater", ""))


def with_properties(found: PixelAgreement) -> Figure:
    """Correlation of agreement with properties of the images."""
    from kalos_core.figures import plot_correlations
    from kalos_core.figures.pixels import correlation_title, significance

    rows = [
        Row(
            plain(each.name),
            signed(each.r) if each.r is not None and np.isfinite(each.r) else plain(each.reason or "undefined"),
            np.nan if each.r is None else float(each.r),
            beside=(significance(each.p).removeprefix(", "),),
            pale=each.p is not None and each.p >= SIGNIFICANT,
        )
        for each in found.correlations
    ]
    form = Ranked("Correlation with agreement", ("property", "r", "significance"), rows, (-1.0, 1.0))
    parts = [(each.name, each.r, each.p) for each in found.correlations]
    names, values, p = ([part[at] for part in parts] for at in range(3))
    title = correlation_title(names, values, np.array([np.nan if one is None else one for one in p]))
    return captioned("properties", form, title, plot=partial(plot_correlations, found))


# ---- rankings ----


def ranks(found: Rankings, note: str = "") -> Figure:
    """The rank of each model under each reference."""
    from kalos_core.figures import plot_ranking
    from kalos_core.figures.ranking import ranking_title

    form = _ranks(
        "Rank under each reference, 1 is best", names_of(found.systems), names_of(found.truths), found.ranks.T
    )
    return captioned("bump", form, ranking_title(found), note, partial(plot_ranking, found))


def _ranks(label: str, models: Sequence[str], references: Sequence[str], values: NDArray[np.float64]) -> Matrix:
    """References are the rows where there are too many of them for columns; full is best."""
    most = float(np.nanmax(values, initial=1.0))
    if len(references) > MOST_COLUMNS >= len(models):
        return Matrix(label, references, models, values.T, (most, 1.0), ("reference", "model"), "{:g}".format)
    return Matrix(label, models, references, values, (most, 1.0), ("model", "reference"), "{:g}".format)


def shared(found: Rankings) -> Figure:
    """The different rankings, each with how many references give it."""
    from kalos_core.figures import plot_shared_rankings
    from kalos_core.figures.ranking import shared_title

    groups = shared_rankings(found)
    rows = [
        Row(
            plain(each.order),
            count_text(len(each.truths)),
            float(len(each.truths)),
            beside=(", ".join(names_of(each.truths)),),
        )
        for each in groups[:MOST_ROWS]
    ]
    most = max((row.value for row in rows), default=1.0)
    form = Ranked("The different rankings", ("order", "references", "which"), rows, (0.0, most))
    return captioned("shared", form, shared_title(groups), plot=partial(plot_shared_rankings, found))


def alike_rankings(found: Rankings) -> Figure:
    """Kendall's tau of every two references."""
    from kalos_core.figures import plot_tau
    from kalos_core.figures.ranking import tau_title

    values = np.array(found.tau, dtype=np.float64)
    np.fill_diagonal(values, np.nan)
    form = pairs_form("Kendall's tau of every two references", names_of(found.truths), values, (-1.0, 1.0), "tau")
    return captioned("tau", form, tau_title(found.truths.tolist(), found.tau), plot=partial(plot_tau, found))


def concordant(found: Concordance) -> Figure:
    """Distance of the rankings of every two references, and its p."""
    from kalos_core.figures import plot_concordance
    from kalos_core.figures.ranking import concordance_title

    distance, p = (np.maximum(values, values.T) for values in (found.distance, found.p))
    values = np.where(np.triu(np.ones_like(p), 1) > 0, distance, p)
    np.fill_diagonal(values, np.nan)
    label = "Distance of rankings (above the diagonal) and p (below)"
    form = pairs_form(label, names_of(found.truths), values, what="distance")
    return captioned("concordance", form, concordance_title(found), plot=partial(plot_concordance, found))


def bounds(found: DetectorRanking) -> Figure:
    """The bounds of each detector's area, with ticks under single raters."""
    from kalos_core.figures import plot_bounds
    from kalos_core.figures.ranking import bounds_title

    is_rater = np.isin(found.truths, found.raters)
    rows = [
        Row(
            name,
            "undefined" if np.isnan(low) else f"{alpha_text(low)} to {alpha_text(high)}",
            interval=(low, high),
            marks=[value for value in found.area[is_rater, at].tolist() if np.isfinite(value)],
        )
        for at, (name, (low, high)) in enumerate(
            zip(names_of(found.detectors), np.asarray(found.bounds).tolist(), strict=True)
        )
    ]
    form = Ranked("Area under precision over recall, least to greatest consensus", ("detector", "area"), rows)
    title = bounds_title(
        found.detectors.tolist(), found.bounds, int(found.raters_outside.sum()), int(found.raters_compared.sum())
    )
    return captioned("bounds", form, title, " ".join(map(plain, found.notes)), partial(plot_bounds, found))


def detector_curves(found: DetectorRanking) -> Iterator[Figure]:
    """Precision over recall: of the first detector under every reference and threshold, of all under the first."""
    from kalos_core.figures import plot_agreement_curves, plot_curves, plot_reference
    from kalos_core.figures.ranking import agreement_curves_title, curves_title, reference_title

    recall, precision = found.sampled()
    detectors, truths = found.detectors.tolist(), found.truths.tolist()
    yield (
        "curves",
        captioned(
            "curves",
            _over_recall(truths, recall, precision[:, 0], found.area[:, 0]),
            curves_title(detectors[0], found.area[:, 0]),
            plot=partial(plot_curves, found),
        ),
    )
    rows = found.by_agreement
    if len(rows):
        names, areas = found.truths[rows].tolist(), found.area[rows, 0]
        title = agreement_curves_title(detectors[0], areas)
        form = _over_recall(names, recall, precision[rows, 0], areas)
        yield captioned("agreement", form, title, plot=partial(plot_agreement_curves, found))
    title = reference_title(truths[0], detectors, found.area[0])
    form = _over_recall(detectors, recall, precision[0], found.area[0])
    yield captioned("under", form, title, plot=partial(plot_reference, found))


def _over_recall(
    names: Sequence[str], recall: NDArray[np.float64], precision: NDArray[np.float64], areas: NDArray[np.float64]
) -> Lines:
    lines = [
        Line(f"{plain(str(name))}: {alpha_text(area)}", recall, values, None, *series(number), dotted=False)
        for number, (name, values, area) in enumerate(zip(names, precision, areas, strict=True))
        if np.isfinite(area)
    ]
    return Lines("Precision over recall, with the area", lines, "recall", "precision", FULL, FULL)


def with_agreement(found: DetectorRanking) -> Figure:
    """Correlation of each detector with agreement, where anybody marked and on the whole image."""
    from kalos_core.figures import plot_detector_correlations
    from kalos_core.figures.ranking import detector_correlation_title

    table = found.by_detector()
    values = table[["cco", "cci"]].to_numpy(dtype=np.float64)
    columns = ("where anybody marked (CCO)", "whole image (CCI)")
    label = "Correlation of detectors with agreement"
    form = Matrix(label, names_of(found.detectors), columns, values, (-1.0, 1.0), ("detector", ""), signed)
    title = detector_correlation_title(found.detectors.tolist(), *values.T.tolist())
    return captioned("correlations", form, title, plot=partial(plot_detector_correlations, found))


def boundary_curves(found: BoundaryEvaluation, note: str = "") -> Figure:
    """Precision over recall of boundaries."""
    from kalos_core.figures import plot_boundary_evaluation
    from kalos_core.figures.ranking import boundaries_title

    lines = [
        Line(
            f"{name}: {alpha_text(found.ods[at])}",
            found.recall[at],
            found.precision[at],
            None,
            *series(at),
            dotted=False,
        )
        for at, name in enumerate(names_of(found.detectors))
    ]
    form = Lines("Precision over recall of boundaries, with the best F1", lines, "recall", "precision", FULL, FULL)
    title = boundaries_title(found.detectors.tolist(), found.ods.tolist(), found.ois.tolist())
    return captioned("boundaries", form, title, note, partial(plot_boundary_evaluation, found))


# ---- synthetic raters ----


def events(found: RaterEvents, loss: SignalLoss) -> Figure:
    """What happened to the annotations of the reference, by kind."""
    from kalos_core.figures import plot_rater_events
    from kalos_core.figures.events import EVENT_COLOURS, rater_events_title

    counts = found.by_kind()
    rows = [
        Row(
            EVENT_LABELS[kind],
            count_text(counts[kind]["done"]),
            float(counts[kind]["done"]),
            beside=[count_text(counts[kind][outcome]) for outcome in ("lost", "impossible")],
            colour=colour,
        )
        for kind, colour in EVENT_COLOURS.items()
    ]
    heads = ("event", *OUTCOME_LABELS.values())
    form = Ranked("Events by kind", heads, rows, (0.0, max(row.value for row in rows) or 1.0))
    return captioned("events", form, rater_events_title(found, loss), plot=partial(plot_rater_events, found, loss))


def lost(found: SignalLossTable) -> Figure:
    """Signal loss over the magnitude, beside the paper's."""
    from kalos_core.figures import plot_loss
    from kalos_core.figures.experiments import loss_title

    every = np.concatenate([found.ratio, found.paper])
    lines = [
        Line("here", found.magnitude, found.ratio),
        Line("paper, whole LVIS", found.magnitude, found.paper, None, series(1)[0], DASHED),
    ]
    form = Lines(
        "Signal loss over the magnitude",
        lines,
        "magnitude of noise, λ",
        "share of events lost",
        (0.0, float(found.magnitude.max())),
        (0.0, float(np.nanmax(every, initial=0.01))),
        show_y=percent_axis,
    )
    return captioned("loss", form, loss_title(found), plot=partial(plot_loss, found))


def faithful(found: Fidelity) -> Figure:
    """Whether generated raters differ as the real ones do."""
    from kalos_core.figures import plot_fidelity
    from kalos_core.figures.noise import fidelity_rows, fidelity_title

    rows = [list(row.values()) for row in fidelity_rows(found)]
    heads = ("quantity", "real, with its 95 % interval", "generated", "inside")
    form = Table(heads, rows, "Generated beside real raters", (1, 2))
    return captioned("fidelity", form, fidelity_title(found), plot=partial(plot_fidelity, found))


def of_counts(
    name: str, label: str, title: str, counts: Mapping[str, int], plot: Callable[[], go.Figure] | None = None
) -> Figure:
    """Counts of a few kinds."""
    rows = [Row(kind, count_text(count), float(count)) for kind, count in counts.items()]
    most = max((row.value for row in rows), default=1.0) or 1.0
    return captioned(name, Ranked(label, ("kind", "labels"), rows, (0.0, most)), title, plot=plot)
