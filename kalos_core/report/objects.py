"""Figures of results of object annotations, each with its finding, a reading aid and its formula."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import BANDS
from kalos_core.calibration import DISTANCE_EDGES, Separation
from kalos_core.convergence import ConvergenceStudy, SubsetSize
from kalos_core.diagnostics import (
    ClassDifficulty,
    Collaboration,
    IntraRater,
    NarrowedAgreement,
    RaterVitality,
    Sensitivity,
    TeamAgreement,
)
from kalos_core.diagnostics.classes import LEAST_IMAGES, hardest_first
from kalos_core.display import (
    VARIATION_LABELS,
    alpha_text,
    count_and_share,
    count_text,
    percent_text,
    points_text,
    signed,
    with_interval,
)
from kalos_core.options import checked
from kalos_core.report.axes import Bars, Form, Histogram, Line, Lines, Mark, percent_axis, series
from kalos_core.report.look import PALE, Matrix, Ranked, Row, ranked_domain, row_of
from kalos_core.report.pages import Figure, Table
from kalos_core.resampling import Estimates
from kalos_core.text import plain, unshown
from kalos_core.variation import VARIATION_TYPES, BoundaryQuality, Confusions, VariationShares

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST_ROWS = 25
"""Maximum number of rows in a list or table; the tables as files are complete."""

MOST_COLUMNS = 12
"""Maximum number of matrix columns that fit on a printed page.

For more names, the pairs that differ most are listed.
"""

DASHED, DOTTED = "6 4", "2 3"


@checked
def captioned(
    name: str, form: Form | Table, title: str = "", note: str = "", plot: Callable[[], go.Figure] | None = None
) -> Figure:
    """Build a figure from a form, with the reading aid and formula from `CAPTIONS`.

    Titles contain names from data as character references, which would be shown literally on the page.

    Parameters
    ----------
    name : str
        Key in `CAPTIONS`.
    form : Form or Table
    title, note : str
        Finding, and a note after the reading aid.
    plot : callable, optional
        Creates the same figure with plotly.
    """
    from kalos_core.figures.captions import CAPTIONS

    reading = f"{CAPTIONS[name].read} {unshown(note)}".strip()
    return Figure(form, unshown(title), reading, CAPTIONS[name].formula, plot)


def names_of(names: Sequence[object] | NDArray[np.object_]) -> list[str]:
    """Convert names from data to one line of text each."""
    return [plain(str(name)) for name in names]


def pairs_form(
    label: str,
    names: Sequence[str],
    values: NDArray[np.float64],
    domain: tuple[float, float] = (0.0, 1.0),
    what: str = "value",
    show: Callable[[float], str] = alpha_text,
) -> Matrix | Ranked:
    """Show values of every two names as a matrix, or as a list of the lowest pairs if it is too wide for a page.

    Examples
    --------
    >>> pairs_form("Alpha", ["ann", "bob"], np.array([[np.nan, 0.5], [0.5, np.nan]])).kind
    'matrix'
    >>> many = pairs_form("Alpha", [f"r{number}" for number in range(20)], np.eye(20))
    >>> many.label, len(many.rows), many.rows[0].name
    ('Alpha: the lowest 25 of 190 pairs', 25, 'r0 and r1')
    """
    if len(names) <= MOST_COLUMNS:
        return Matrix(label, names, names, values, domain, show=show)
    first, second = np.triu_indices(len(names), 1)
    numbers = values[first, second]
    known = np.flatnonzero(np.isfinite(numbers))
    order = known[np.argsort(numbers[known], kind="stable")][:MOST_ROWS]
    rows = [
        Row(f"{names[first[at]]} and {names[second[at]]}", show(numbers[at]), float(numbers[at]))
        for at in order.tolist()
    ]
    cut = f": the lowest {len(rows)} of {len(known):,} pairs"
    return Ranked(f"{label}{cut}", ("pair", what), rows, ranked_domain(numbers, domain))


# ---- agreement ----


def image_alphas(found: NarrowedAgreement) -> Figure:
    """Histogram of image alphas."""
    from kalos_core.figures.agreement import alpha_bins, alpha_histogram

    values = found.image_alpha[np.isfinite(found.image_alpha)]
    edges, counts = alpha_bins(found.image_alpha)
    marks = (
        [
            Mark(f"mean {alpha_text(found.alpha)}", found.alpha),
            Mark(f"median {alpha_text(float(np.median(values)))}", float(np.median(values)), DASHED),
            Mark(f"all units at once {alpha_text(found.global_alpha)}", found.global_alpha, DOTTED),
        ]
        if len(values)
        else []
    )
    form = Histogram(
        "Images by their alpha",
        edges.tolist(),
        [Bars("images", counts.tolist())],
        "alpha of the image",
        "images",
        [mark for mark in marks if np.isfinite(mark.at)],
    )
    plot = partial(alpha_histogram, found.image_alpha, global_alpha=found.global_alpha)
    below = int((values < BANDS[2][0]).sum())
    title = (
        f"{count_and_share(below, len(values))} of {count_text(len(values))} images have an alpha below {BANDS[2][0]}"
    )
    return captioned("histogram", form, title if len(values) else "", plot=plot)


def beside_published(found: NarrowedAgreement) -> Figure:
    """Alpha of a result among published ones, best first."""
    from kalos_core.figures.agreement import alpha_scale
    from kalos_core.figures.published import PUBLISHED_ALPHAS

    similarity = found.sums.configuration.measure
    rows = [Row("these labels", with_interval(found.alpha, found.alpha_interval), found.alpha, found.alpha_interval)]
    rows += [
        Row(
            f"{record.dataset}, {record.task.split(',')[0]}",
            alpha_text(record.alpha),
            record.alpha,
            beside=(record.notation,),
            pale=record.similarity != similarity,
        )
        for record in sorted(PUBLISHED_ALPHAS, key=lambda record: -record.alpha)
    ]
    rows[0] = Row(
        *(rows[0].name, rows[0].text, rows[0].value, rows[0].interval), beside=(found.sums.configuration.notation,)
    )
    form = Ranked(
        "Mean alpha among published ones", ("labels", "alpha", "found with"), rows, ranked_domain([found.alpha])
    )
    plot = partial(alpha_scale, found.alpha, list(found.alpha_interval), similarity)
    return captioned("scale", form, plot=plot)


def hardest(found: ClassDifficulty) -> Figure:
    """Alpha of each class with enough images, lowest first; without any, of the classes with the most images."""
    from kalos_core.figures import plot_class_difficulty
    from kalos_core.figures.classes import class_difficulty_title, left_out

    ranked = hardest_first(found.alpha, found.images)
    if len(ranked):
        order, by = ranked[:MOST_ROWS].tolist(), "the hardest first"
        title = class_difficulty_title(found.category.tolist(), found.alpha, found.images.tolist())
    else:
        known = np.flatnonzero(np.isfinite(found.alpha))
        order, by = (
            known[np.argsort(-found.images[known], kind="stable")][:MOST_ROWS].tolist(),
            "those on most images first",
        )
        title = f"No class is on {LEAST_IMAGES} images, so the hardest class is unknown"
    names = names_of(found.category)
    rows = [
        row_of(
            names[at],
            float(found.alpha[at]),
            found.alpha_interval[at],
            (count_text(int(found.images[at])), count_text(int(found.units[at]))),
        )
        for at in order
    ]
    domain = ranked_domain(found.alpha[order], found.alpha_interval[order])
    form = Ranked(f"Alpha by class, {by}", ("class", "alpha", "images", "objects"), rows, domain)
    note = left_out(found.alpha, found.images.tolist(), MOST_ROWS) if len(ranked) else ""
    return captioned("classes", form, title, note, partial(plot_class_difficulty, found))


def over_thresholds(found: Sensitivity) -> Figure:
    """Alpha by similarity threshold."""
    from kalos_core.figures import plot_sensitivity
    from kalos_core.figures.sensitivity import sensitivity_title

    line = Line("alpha", found.threshold, found.alpha, found.alpha_interval)
    low, high = ranked_domain(found.alpha, found.alpha_interval)
    anchor = "calibrated anchor" if found.calibrated else "anchor"
    form = Lines(
        "Alpha over the threshold",
        [line],
        "threshold (minimum similarity)",
        "mean alpha, with its 95 % interval",
        (0.0, 1.0),
        (low, high),
        [
            Mark(f"{anchor} {alpha_text(found.anchor)}", found.anchor, DOTTED),
            Mark(f"strict {alpha_text(found.strict)}", found.strict, DASHED),
        ],
    )
    title = sensitivity_title(found.delta, found.anchor, found.strict, found.delta_interval)
    return captioned("sensitivity", form, title, plot=partial(plot_sensitivity, found))


def pairs_of_raters(found: Collaboration) -> Figure:
    """Alpha of every two raters, in the order of the clusters."""
    from kalos_core.figures import plot_collaboration
    from kalos_core.figures.raters import collaboration_title

    order = found.order
    values, below = (np.array(alpha)[np.ix_(order, order)] for alpha in (found.alpha, found.global_alpha))
    lower = np.tril_indices(len(values), -1)
    values[lower] = below[lower]
    np.fill_diagonal(values, np.nan)
    form = pairs_form("Alpha of every two raters", names_of(found.raters[order]), values, what="alpha")
    title = collaboration_title(found.raters.tolist(), found.alpha)
    return captioned("collaboration", form, title, plot=partial(plot_collaboration, found))


def vitality(found: RaterVitality) -> Figure:
    """Vitality of each rater."""
    from kalos_core.figures import plot_vitality
    from kalos_core.figures.raters import vitality_title

    rows = [
        row_of(name, value, ends, text=with_interval(value, ends, text=signed))
        for name, value, ends in zip(
            names_of(found.rater), found.vitality.tolist(), found.vitality_interval, strict=True
        )
    ]
    low, high = ranked_domain(found.vitality, found.vitality_interval, most=0.0)
    reach = max(-low, high) or 1.0
    form = Ranked("Alpha with all raters minus alpha without the rater", ("rater", "difference"), rows, (-reach, reach))
    return captioned(
        "vitality",
        form,
        vitality_title(found.rater.tolist(), found.vitality, found.vitality_interval),
        plot=partial(plot_vitality, found),
    )


def sessions(found: IntraRater | TeamAgreement) -> Figure:
    """Alpha of each rater over their sessions, or of the team in each session."""
    from kalos_core.figures import plot_intra_rater, plot_team
    from kalos_core.figures.raters import session_title, team_title

    if isinstance(found, IntraRater):
        title, plot = session_title(found.person.tolist(), found.alpha), partial(plot_intra_rater, found)
        form = _estimates("Agreement of raters with themselves", "rater", names_of(found.person), found)
        return captioned("intra_rater", form, title, plot=plot)
    form = _estimates("Agreement of all raters in each session", "session", names_of(found.session), found)
    title = team_title(found.session.tolist(), found.alpha)
    return captioned("team", form, title, plot=partial(plot_team, found))


def _estimates(label: str, what: str, names: Sequence[str], found: Estimates) -> Ranked:
    rows = [
        row_of(name, float(found.alpha[at]), found.alpha_interval[at], (count_text(int(found.images[at])),))
        for at, name in enumerate(names)
    ]
    return Ranked(label, (what, "alpha", "images"), rows, ranked_domain(found.alpha, found.alpha_interval))


# ---- thresholds ----


def separated(found: Separation) -> Figure:
    """Observed and expected distances of one similarity."""
    from kalos_core.figures import plot_calibration
    from kalos_core.figures.calibration import OBSERVED_COLOUR, calibration_title

    observed, expected = found.shares
    tau = f"τ* {with_interval(found.tau, found.tau_interval)}"
    marks = [Mark(tau, found.tau, DASHED), Mark(f"largest gap {alpha_text(found.ks_at)}", found.ks_at, DOTTED)]
    form = Histogram(
        f"Distances to the nearest annotation of another rater, {found.name}",
        list(DISTANCE_EDGES),
        [
            Bars("raters of one image", list(observed.share), OBSERVED_COLOUR),
            Bars("raters of different images (chance)", list(expected.share), PALE),
        ],
        "distance (1 − similarity)",
        "share of annotations, on a scale of powers of ten",
        [mark for mark in marks if np.isfinite(mark.at)],
        show_height=percent_axis,
        log_y=True,
    )
    title = calibration_title(found.name, found.ks, found.tau, found.reason, found.why)
    return captioned("calibration", form, title, plot=partial(plot_calibration, found))


# ---- differences ----


def counted(counts: Mapping[str, int]) -> Figure:
    """Draw the number of findings of each variation type."""
    from kalos_core.figures.common import COLOURS
    from kalos_core.figures.variations import variation_bars, variations_title

    total = max(sum(counts.values()), 1)
    rows = [
        Row(
            VARIATION_LABELS[name],
            count_text(counts.get(name, 0)),
            float(counts.get(name, 0)),
            beside=(percent_text(counts.get(name, 0) / total),),
            colour=COLOURS[name],
        )
        for name in VARIATION_TYPES
    ]
    most = max((row.value for row in rows), default=1.0)
    form = Ranked("Findings by type", ("type", "findings", "share"), rows, (0.0, most or 1.0))
    return captioned("counts", form, variations_title(counts), plot=partial(variation_bars, counts))


def shares_over_thresholds(found: VariationShares) -> Figure:
    """Share of each variation type by threshold."""
    from kalos_core.figures import plot_shares
    from kalos_core.figures.common import COLOURS
    from kalos_core.figures.convergence import shares_title

    lines = [
        Line(
            VARIATION_LABELS[name], found.threshold, found.shares[:, at], None, COLOURS[name], series(6 * at)[1], False
        )
        for at, name in enumerate(VARIATION_TYPES)
    ]
    equilibrium = found.equilibrium
    marks = [Mark(f"equilibrium {alpha_text(equilibrium)}", equilibrium, DOTTED)] if np.isfinite(equilibrium) else []
    form = Lines(
        "Share of each type over the threshold",
        lines,
        "threshold (minimum similarity)",
        "share of findings",
        (float(found.threshold.min()), float(found.threshold.max())),
        (0.0, 1.0),
        marks,
        show_y=percent_axis,
    )
    title = shares_title(equilibrium, found.no_equilibrium)
    return captioned("shares", form, title, plot=partial(plot_shares, found))


def boundary(found: BoundaryQuality) -> Figure:
    """Distances between the outlines of correct findings."""
    from kalos_core.figures import plot_boundaries
    from kalos_core.figures.common import COLOURS
    from kalos_core.figures.convergence import boundary_title

    form = Histogram(
        "Correct findings by the distance of their outlines",
        found.edges.tolist(),
        [Bars("correct findings", found.counts.tolist(), COLOURS["correct"])],
        "distance of outlines (1 − similarity)",
        "correct findings",
        show=alpha_text,
    )
    title = boundary_title(found.findings, found.median, found.identical)
    return captioned("boundary", form, title, plot=partial(plot_boundaries, found))


def confused(found: Confusions) -> Figure | None:
    """Class confusions between raters; the most frequent pairs if there are many."""
    from kalos_core.figures.common import COLOURS

    table = found.to_pandas()
    if not len(table):
        return None
    first, second, counts = (table[name].tolist() for name in ("category_a", "category_b", "count"))
    pairs = list(zip(names_of(first), names_of(second), map(int, counts), strict=True))
    title = f"Most often taken for one another: {pairs[0][0]} and {pairs[0][1]} ({count_text(pairs[0][2])})"
    rows = [
        Row(f"{one} and {other}", count_text(count), float(count), colour=COLOURS["wrong_class"])
        for one, other, count in pairs[:MOST_ROWS]
    ]
    cut = f": the first {MOST_ROWS} of {len(pairs):,}" if len(pairs) > MOST_ROWS else ""
    form = Ranked(
        f"Classes taken for one another{cut}", ("classes", "findings"), rows, (0.0, max(row.value for row in rows))
    )
    return Figure(
        form, title, "Each row: two classes, and in how many findings one rater gave one and another the other."
    )


# ---- the ceiling ----


def ceilings(found: ConvergenceStudy) -> Figure:
    """Label convergence of all images and of the largest tags, with placed models."""
    from kalos_core.figures import plot_study
    from kalos_core.figures.convergence import convergence_title

    rows = []
    for part in found.largest():
        value = np.nan if part.replicates is None else part.replicates.whole_convergence
        ends = np.full(2, np.nan) if part.replicates is None else part.replicates.interval
        shown = with_interval(100 * value, 100 * ends, 1)
        rows.append(Row(plain(part.name), shown, value, ends, (count_text(part.images),)))
    rows += [
        Row(f"model {plain(model.name)}", points_text(model.map), model.map, colour=series(2)[0])
        for model in found.placed
    ]
    form = Ranked("Label convergence, in points of mAP", ("images", "mAP", "images"), rows)
    whole = found.whole
    title = convergence_title(whole.whole_convergence, whole.interval, whole.images)
    return captioned("bars", form, title, plot=partial(plot_study, found))


def by_size(found: Sequence[SubsetSize]) -> Figure:
    """Label convergence by number of images."""
    from kalos_core.figures import plot_sizes

    x = [float(size.images) for size in found]
    y = [size.convergence for size in found]
    ends = np.array([(size.low, size.high) for size in found], np.float64)
    ends[-1] = np.nan
    low, high = ranked_domain(y, ends)
    title = (
        f"Label convergence {points_text(y[-1])} mAP on all {count_text(int(x[-1]))} images, {points_text(y[0])} on "
        f"subsets of {count_text(int(x[0]))}"
    )
    form = Lines(
        "Label convergence over the number of images",
        [Line("label convergence", x, y, ends)],
        "images it is computed on",
        "label convergence, in points of mAP",
        (min(x), max(x) if max(x) > min(x) else min(x) + 1),
        (low, high),
        show_x=lambda value: count_text(round(value)),
        show_y=lambda value: points_text(value, 0),
    )
    return captioned("sizes", form, title, plot=partial(plot_sizes, found))


def directions(found: ConvergenceStudy) -> Figure:
    """Draw modified mAP of every ordered pair of raters."""
    from kalos_core.figures import plot_directions
    from kalos_core.figures.directions import directions_title

    names, values = names_of(found.raters), np.asarray(found.directions.mean(axis=0))
    label = "mAP: row rater as ground truth, column rater as detections"
    form: Form = (
        Matrix(label, names, names, values, heads=("ground truth", "detections"), show=points_text)
        if len(names) <= MOST_COLUMNS
        else pairs_form(label, names, values, what="mAP", show=points_text)
    )
    title = directions_title(found.raters.tolist(), values)
    return captioned("matrix", form, title, plot=partial(plot_directions, found))


def all_ceilings(found: ConvergenceStudy, per_rater: bool = True) -> Iterator[Figure]:
    """Yield all figures of label convergence, with directions between raters if `per_rater`."""
    yield ceilings(found)
    yield by_size(found.sizes)
    if per_rater:
        yield directions(found)
