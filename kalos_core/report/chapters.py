"""A study as one page: what is said, what it rests on, what to do, how it was computed, and what it cannot tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kalos_core.annotations import overview
from kalos_core.calibration import threshold_advice
from kalos_core.diagnostics import ClassDifficulty
from kalos_core.display import VARIATION_LABELS, alpha_text, count_text, number_of, with_interval
from kalos_core.errors import Undefined
from kalos_core.files import write_whole
from kalos_core.nominal import GradeAgreement
from kalos_core.report.feedback import card_lines, side_of
from kalos_core.report.pages import Block, Drawings, Items, Plot, Section, Table, Text, page
from kalos_core.report.studies import Study
from kalos_core.text import plain, unshown

if TYPE_CHECKING:
    from os import PathLike

    import plotly.graph_objects as go

Result = TypeVar("Result")

MOST_ROWS = 25
"""Of a table; all of it is in the tables as files."""

MOST_PAGES = 30
"""Raters with a page of their own."""

CANNOT = (
    "Agreement is not correctness: raters can agree and be wrong together.",
    "Alpha depends on the similarity and the threshold; values of another similarity or threshold are not comparable.",
    "An interval says how much the number would change with other images, not with other raters.",
    "A difference does not say who is right: that is decided case by case, or by the guideline.",
)

CITE = (
    "Tschirschwitz and Rodehorst: KαLOS finds Consensus. CVPR 2026. Agreement, calibration and diagnostics.",
    "Tschirschwitz and Rodehorst: Label Convergence. WACV 2025. Variation types, modified mAP and the ceiling.",
    "Krippendorff: Content Analysis. Alpha.",
)


def write_report(
    found: Study, path: str | PathLike[str], title: str = "How far the raters agree", further: Sequence[Section] = ()
) -> None:
    """Write a study as one HTML file that needs no network.

    Parameters
    ----------
    found : Study
    path : path
        Of the file.
    title : str
    further : sequence of Section
        What else is to be said, before the methods.

    Raises
    ------
    InputError
        If the file cannot be written.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core.report import study
    >>> rows = [{"image": i, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for i in (1, 2) for r in "abc"]
    >>> write_report(study(Annotations.from_rows(rows)), "report.html", "Two cats")
    >>> "<h1>Two cats</h1>" in Path("report.html").read_text(encoding="utf-8")
    True
    """
    made = f"Made on {datetime.now(timezone.utc):%d %B %Y} with {found.agreement.sums.configuration.notation}."
    sections = [*_findings(found), *further, *_foundations(found)]
    write_whole(Path(path), page(title, sections, [made]))


def _findings(found: Study) -> Iterator[Section]:
    yield Section("In short", [Items([said.text for said in found.said])])
    yield Section("Data", [_data(found), *_passed_over(found)])
    yield Section("Agreement", [*_agreement(found)])
    yield Section("Threshold", [*_threshold(found)])
    yield Section("Differences", [*_differences(found)])
    yield Section("Classes", [*_classes(found)])
    if found.attributes:
        yield Section("Attributes", [*_attributes(found)])
    yield Section("Raters", [*_raters(found)])
    yield from _pages(found)
    yield Section("Ceiling", [*_ceiling(found)])
    if found.decided:
        import pandas as pd

        yield Section("Decisions", [_frame(pd.DataFrame(rows), caption) for caption, rows in found.decided.items()])


def _foundations(found: Study) -> Iterator[Section]:
    chosen = found.agreement.sums.configuration
    lines = [entry.told(chosen) for entry in chosen.declared()]
    yield Section("Methods", [Text(f"In the notation of KαLOS (Eq. 9): {chosen.notation}"), Items(lines), Items(CITE)])
    reasons = (getattr(found, name) for name in ("variations", "shares", "calibration", "convergence"))
    missing = [*vars(found.diagnosis).values(), *reasons, *found.attributes.values()]
    left_out = [f"Left out: {value.reason}." for value in missing if isinstance(value, Undefined)]
    doubts = [
        text.replace("`", "") for text in dict.fromkeys([*found.doubts, *left_out])
    ]  # names as code, for terminals
    yield Section("What this cannot tell", [Items([*CANNOT, *doubts])])


# ---- chapters ----


def _data(found: Study) -> Table:
    (row,) = overview(found.annotations).to_dict("records")
    rows = [(str(name).replace("_", " "), _cell(value)) for name, value in row.items() if value != ""]
    return Table((), rows)


def _passed_over(found: Study) -> Iterator[Block]:
    account = found.annotations.account
    said = account.passed_over() + account.notes
    if said:
        yield Items([plain(text) for text in said])


def _agreement(found: Study) -> Iterator[Block]:
    from kalos_core.figures.agreement import alpha_histogram, alpha_scale

    whole = found.agreement
    lines = [
        ("alpha, mean over images", with_interval(whole.alpha, whole.alpha_interval, why=whole.why_no_interval)),
        ("alpha of all units at once", with_interval(whole.global_alpha, whole.global_alpha_interval)),
        ("images with an alpha", f"{count_text(whole.images)} of {count_text(len(whole.image_alpha))}"),
        ("units", count_text(whole.units)),
    ]
    yield Table((), lines)
    yield captioned("histogram", alpha_histogram(whole.image_alpha, global_alpha=whole.global_alpha))
    yield captioned("scale", alpha_scale(whole.alpha, list(whole.alpha_interval), whole.sums.configuration.measure))
    order = np.argsort(whole.image_alpha, kind="stable")
    worst = [number for number in order[:MOST_ROWS].tolist() if not np.isnan(whole.image_alpha[number])]
    rows = [(plain(found.names[number]), alpha_text(whole.image_alpha[number])) for number in worst]
    yield Table(("image", "alpha"), rows, "Images agreed on least", (1,))
    if found.worst:
        yield Text("Units to decide first, each with what every rater gave it:")
        yield Drawings(found.worst)


def _threshold(found: Study) -> Iterator[Block]:
    from kalos_core.figures import plot_calibration, plot_sensitivity

    chosen = found.agreement.sums.configuration
    if not isinstance(found.calibration, Undefined):
        if chosen.similarity in found.calibration.names:
            yield Text(threshold_advice(found.calibration, chosen.similarity, chosen.threshold).text)
        for separation in found.calibration:
            if separation.name in (chosen.similarity, found.calibration.best.name):
                yield captioned("calibration", plot_calibration(separation))
        columns = ["similarity", "ks", "threshold", "trusted", "why"]
        table = found.calibration.to_pandas()
        yield _frame(table[[name for name in columns if name in table]], "All similarities, the best first")
    yield from _of(found.diagnosis.sensitivity, "sensitivity", plot_sensitivity)


def _differences(found: Study) -> Iterator[Block]:
    from kalos_core.figures import plot_boundaries, plot_shares
    from kalos_core.figures.variations import variation_bars, variations_title

    if isinstance(found.variations, Undefined):
        yield Text(found.variations.reason, soft=True)
        return
    counts = found.variations.counts
    yield captioned("counts", variation_bars(counts), variations_title(counts))
    yield from _of(found.shares, "shares", plot_shares)
    if found.variations.boundary.findings:
        yield captioned("boundary", plot_boundaries(found.variations.boundary))
    confused = found.variations.confusions.to_pandas()
    if len(confused):
        yield _frame(confused, "Classes taken for one another")


def _classes(found: Study) -> Iterator[Block]:
    from kalos_core.figures import plot_class_difficulty

    yield from _of(found.diagnosis.class_difficulty, "classes", plot_class_difficulty)
    if isinstance(found.diagnosis.class_difficulty, ClassDifficulty):
        table = found.diagnosis.class_difficulty.to_pandas().sort_values("alpha", kind="stable")
        yield _frame(table[["category", "alpha", "alpha_low", "alpha_high", "images", "units"]], "The hardest first")


def _attributes(found: Study) -> Iterator[Block]:
    yield Text("Of units to which two raters or more gave the attribute, with 95 % intervals over images.")
    yield graded_table("attribute", "units", [(of.name, of, count_text(of.items)) for of in found.graded])


def _raters(found: Study) -> Iterator[Block]:
    from kalos_core.figures import plot_collaboration, plot_intra_rater, plot_team, plot_vitality

    columns = ["rater", "images", "labels", "alpha", *(name for name in VARIATION_LABELS if name != "correct")]
    cards = found.cards.to_pandas()
    table = cards[[name for name in columns if name in cards]].rename(columns=VARIATION_LABELS)
    yield _frame(table, "Findings for every 100 own labels", len(table))
    diagnosis = found.diagnosis
    yield from _of(diagnosis.collaboration, "collaboration", plot_collaboration)
    yield from _of(diagnosis.vitality, "vitality", plot_vitality)
    if not isinstance(diagnosis.intra_rater, Undefined):
        yield from _of(diagnosis.intra_rater, "intra_rater", plot_intra_rater)
        yield from _of(diagnosis.team_agreement, "team", plot_team)


def _pages(found: Study) -> Iterator[Section]:
    for card in list(found.cards)[:MOST_PAGES]:
        blocks: list[Block] = [Table((), [(name, value) for name, value in card_lines(card)])]
        if examples := found.examples.get(card.rater):
            titled = [(side_of(kind, plain(card.rater)), drawing) for kind, drawing in examples.items()]
            blocks.append(Drawings([replace(drawing, title=f"{side} ({drawing.title})") for side, drawing in titled]))
        yield Section(plain(card.rater), blocks, 3, on_new_page=True)
    if len(found.cards) > MOST_PAGES:
        others = number_of(len(found.cards) - MOST_PAGES, "rater is", "raters are")
        yield Section("", [Text(f"The other {others} in the table only.", soft=True)])


def _ceiling(found: Study) -> Iterator[Block]:
    from kalos_core.figures import plot_directions, plot_sizes, plot_study

    if isinstance(found.convergence, Undefined):
        yield Text(found.convergence.reason, soft=True)
        return
    yield captioned("bars", plot_study(found.convergence))
    yield captioned("sizes", plot_sizes(found.convergence.sizes))
    yield captioned("matrix", plot_directions(found.convergence))
    rows = [(line.criterion, line.finding, line.verdict) for line in found.convergence.checklist]
    yield Table(("Can the data carry this?", "found", ""), rows)


# ---- blocks ----


def graded_table(name: str, last: str, found: Iterable[tuple[str, GradeAgreement, str]]) -> Table:
    """Coefficients of grades with their intervals, between the name of what they are of and a last column."""
    rows = []
    for called, of, beside in found:
        numbers = [with_interval(value, ends) for value, ends in zip(of.value, of.interval, strict=True)]
        rows.append((plain(called), of.metric, *numbers, beside))
    return Table((name, "metric", "alpha", "AC", "Conger's kappa", last), rows, "The least agreed first")


def _of(found: Result | Undefined, name: str, draw: Callable[[Result], go.Figure]) -> Iterator[Block]:
    """The plot of a result, or why there is none."""
    yield Text(found.reason, soft=True) if isinstance(found, Undefined) else captioned(name, draw(found))


def captioned(name: str, figure: go.Figure, title: str = "", note: str = "") -> Plot:
    """A figure of `CAPTIONS` with how to read it; its title becomes text of the page.

    Figures write names from data as character references, which the page would show as they are.
    """
    from kalos_core.figures.captions import CAPTIONS
    from kalos_core.figures.common import untitled

    own, bare = untitled(figure)
    reading = f"{CAPTIONS[name].read} {unshown(note)}".strip()
    return Plot(bare, unshown(title or own), reading, CAPTIONS[name].formula)


def _frame(table: Any, caption: str, most: int = MOST_ROWS) -> Table:
    cut = f" (the first {most:,} of {len(table):,})" if len(table) > most else ""
    numbers = [place for place, kind in enumerate(table.dtypes) if kind.kind in "if"]
    rows = [[_cell(value) for value in row] for row in table.head(most).itertuples(index=False)]
    return Table([str(name).replace("_", " ") for name in table.columns], rows, caption + cut, numbers)


def _cell(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return count_text(int(value))
    if isinstance(value, (float, np.floating)):
        return "–" if np.isnan(value) else alpha_text(float(value))
    return plain(str(value))
