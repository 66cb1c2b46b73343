"""Report of a study on one page: results, evidence, next steps, methods and limitations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from os import PathLike
from typing import Any, TypeVar

import numpy as np

from kalos_core.annotations import overview
from kalos_core.calibration import Separation, threshold_advice
from kalos_core.display import (
    VARIATION_LABELS,
    alpha_text,
    count_text,
    ends_text,
    has_interval,
    number_of,
    percent_text,
    with_interval,
)
from kalos_core.errors import Undefined
from kalos_core.files import as_path, write_whole
from kalos_core.nominal import GradeAgreement
from kalos_core.options import checked, takes
from kalos_core.report import objects
from kalos_core.report.feedback import card_lines, side_of
from kalos_core.report.front import CONVERGENCE, KALOS, KRIPPENDORFF, LIMITATIONS, Source, front_of, methods
from kalos_core.report.look import Card, Cards, Ranked, ranked_domain, row_of
from kalos_core.report.objects import MOST_ROWS
from kalos_core.report.pages import (
    MARK,
    Block,
    Drawings,
    Figure,
    Heading,
    Items,
    ReportSettings,
    Section,
    Table,
    Text,
    page,
)
from kalos_core.report.studies import LOCAL, Study
from kalos_core.text import plain
from kalos_core.variation import RaterCard
from kalos_core.variation.rates import HABITS

Result = TypeVar("Result")

MOST_PAGES = 30
"""Maximum number of raters with their own page."""

WORST_IMAGES = 15
"""Number of images in the list with the lowest agreement."""

PER_RATER = ("collaboration", "vitality", "intra_rater", "team_agreement")
"""Diagnostics of single raters."""


@dataclass(frozen=True)
class ReportArguments(ReportSettings):
    """Arguments of `write_report`: its settings, and further content."""

    _: KW_ONLY
    further: Sequence[Section] = ()
    source: Source | None = None


@takes(ReportArguments)
def write_report(found: Study, path: str | PathLike[str], settings: ReportArguments) -> None:
    """Write a study as one HTML file that needs neither network nor scripts.

    Parameters
    ----------
    found : Study
    path : path
        Output file; an existing report of that name is replaced.
    overwrite : bool
        Whether to replace any other existing file.
    further : sequence of Section
        Additional sections before the methods.
    source : Source, optional
        Origin of the data; by default annotations in memory.

    Raises
    ------
    InputError
        If the file cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from kalos_core import Annotations
    >>> from kalos_core.report import study
    >>> rows = [{"image": i, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for i in (1, 2) for r in "abc"]
    >>> write_report(study(Annotations.from_rows(rows)), "report.html", "Two cats")
    >>> "<h1>Two cats</h1>" in Path("report.html").read_text(encoding="utf-8")
    True
    """
    call = "kalos_core.report.write_report(study(annotations))"
    source = settings.source or Source.of_table(found.annotations, call)
    sections = [*_findings(found), *settings.further, *_foundations(found, source)]
    title = settings.title or "How far the raters agree"
    write_whole(
        as_path(path, "path"),
        page(title, sections, source.lines()[:1], interactive=settings.interactive),
        MARK,
        overwrite=settings.overwrite,
    )


def _findings(found: Study) -> Iterator[Section]:
    yield front_of(found)
    yield Section("Data", [_data(found), *_passed_over(found)], on_new_page=True)
    yield Section("Agreement", [*_agreement(found)])
    yield Section("Threshold", [*_threshold(found)])
    yield Section("Differences", [*_differences(found)])
    yield Section("Classes", [*_of(found.diagnosis.class_difficulty, objects.hardest)])
    if found.attributes:
        yield Section("Attributes", [*_attributes(found)])
    if found.raters_are_local:
        yield Section("Raters", [Text(LOCAL)])
    else:
        yield Section("Raters", [*_raters(found)])
        yield from _pages(found)
    yield Section("Ceiling", [*_ceiling(found)])
    if found.decided:
        import pandas as pd

        yield Section("Decisions", [_frame(pd.DataFrame(rows), caption) for caption, rows in found.decided.items()])


def _foundations(found: Study, source: Source) -> Iterator[Section]:
    chosen = found.agreement.sums.configuration
    lines = [entry.told(chosen) for entry in chosen.declared()]
    how = [*source.lines(), f"In the notation of KαLOS (Eq. 9): {chosen.notation}", *lines]
    reasons = (getattr(found, name) for name in ("variations", "shares", "calibration", "convergence"))
    per_rater = () if found.raters_are_local else PER_RATER  # their reason is stated in the section on raters
    diagnosed = (getattr(found.diagnosis, name) for name in ("class_difficulty", "sensitivity", *per_rater))
    missing = [*diagnosed, *reasons, *found.attributes.values()]
    left_out = [f"Left out: {value.reason}." for value in missing if isinstance(value, Undefined)]
    doubts = [text.replace("`", "") for text in [*found.doubts, *left_out]]  # backquotes are for terminals
    if not isinstance(found.calibration, Undefined) and not found.calibration.bootstrap:
        doubts.append(
            "The calibration was made without a bootstrap: its thresholds have no interval, and none is trusted."
        )
    yield from methods([Items(how)], (KALOS, CONVERGENCE, KRIPPENDORFF), [*LIMITATIONS, *doubts])


# ---- chapters ----


def _data(found: Study) -> Cards:
    (row,) = overview(found.annotations).to_dict("records")
    each, least, most = (row[name] for name in ("raters_per_image", "least_raters", "most_raters"))
    used = Card.of(row["annotated_categories"], "class", f"{number_of(row['categories'], 'class')} in the vocabulary")
    raters = Card.of(row["raters"], "rater", f"{alpha_text(each)} an image, from {least} to {most}")
    local = Card(alpha_text(each), "raters an image", f"from {least} to {most}")
    return Cards(
        [
            Card.of(row["images"], "image", f"{count_text(row['comparable_images'])} can be compared"),
            Card.of(row["annotations"], "annotation", f"{alpha_text(row['annotations_per_image'])} an image"),
            used,
            local if found.raters_are_local else raters,
            _empty(row["empty_images"]),
            Card(str(row["shapes"]), "shapes"),
        ]
    )


def _empty(count: int) -> Card:
    return Card(*number_of(count, "image is empty", "images are empty").split(" ", 1))


def _passed_over(found: Study) -> Iterator[Block]:
    account = found.annotations.account
    said = account.passed_over() + account.notes
    if said:
        yield Items([plain(text) for text in said])


def _agreement(found: Study) -> Iterator[Block]:
    whole = found.agreement
    yield Cards(
        [
            Card(
                with_interval(whole.alpha, whole.alpha_interval, why=whole.why_no_interval),
                "alpha, mean over images",
                "with its 95 % interval",
            ),
            Card(with_interval(whole.global_alpha, whole.global_alpha_interval), "alpha of all units at once"),
            Card(f"{count_text(whole.images)} of {count_text(len(whole.image_alpha))}", "images have an alpha"),
            Card.of(whole.units, "unit", "an object that at least one rater annotated"),
        ]
    )
    yield objects.image_alphas(whole)
    yield objects.beside_published(whole)
    yield from _worst_images(found)
    if found.worst:
        yield Heading("Objects to decide first")
        yield Text("One disputed object of each image, with the label of every rater.")
        yield Drawings(found.worst)


def _worst_images(found: Study) -> Iterator[Block]:
    alphas = found.agreement.image_alpha
    order = np.argsort(alphas, kind="stable")
    worst = [number for number in order[:WORST_IMAGES].tolist() if not np.isnan(alphas[number])]
    if worst:
        rows = [row_of(plain(found.names[number]), float(alphas[number])) for number in worst]
        form = Ranked("Images with the lowest agreement", ("image", "alpha"), rows, ranked_domain(alphas[worst]))
        yield Figure(form, "The images with the lowest agreement", "A single image has no interval.")


def _threshold(found: Study) -> Iterator[Block]:
    chosen = found.agreement.sums.configuration
    if isinstance(found.calibration, Undefined):
        yield Text(found.calibration.reason, soft=True)
    else:
        if chosen.similarity in found.calibration.names:
            yield Text(threshold_advice(found.calibration, chosen.similarity, chosen.threshold).text)
        for separation in found.calibration:
            if separation.name in (chosen.similarity, found.calibration.best.name):
                yield objects.separated(separation)
        rows = [_calibrated(each) for each in found.calibration]
        draws = found.calibration.bootstrap
        how = f"95 % intervals of {count_text(draws)} bootstrap replicates" if draws else "without intervals"
        heads = ("similarity", "KS", "threshold", "interval", "trusted")
        yield Table(heads, rows, f"All similarities, the best first, {how}", (1, 2, 3))
    yield from _of(found.diagnosis.sensitivity, objects.over_thresholds)


def _calibrated(each: Separation) -> tuple[str, ...]:
    """Row of the table of similarities; a threshold is trusted only with an interval."""
    trusted = "yes" if each.trusted else f"no: {each.why}"
    if each.trusted and not has_interval(each.tau_interval):
        trusted = "not checked: calibrated without an interval"
    numbers = (alpha_text(each.ks, 3), alpha_text(each.threshold), ends_text(each.threshold_interval))
    return (each.name, *numbers, trusted)


def _differences(found: Study) -> Iterator[Block]:
    if isinstance(found.variations, Undefined):
        yield Text(found.variations.reason, soft=True)
        return
    yield objects.counted(found.variations.counts)
    yield from _of(found.shares, objects.shares_over_thresholds)
    if found.variations.boundary.findings:
        yield objects.boundary(found.variations.boundary)
    confused = objects.confused(found.variations.confusions)
    if confused is not None:
        yield confused


def _attributes(found: Study) -> Iterator[Block]:
    yield Text("Units to which at least two raters gave the attribute, with 95 % intervals over images.")
    yield graded_table("attribute", "units", [(of.name, of, count_text(of.items)) for of in found.graded])


def _raters(found: Study) -> Iterator[Block]:
    yield rates_of(list(found.cards))
    diagnosis = found.diagnosis
    yield from _of(diagnosis.collaboration, objects.pairs_of_raters)
    yield from _of(diagnosis.vitality, objects.vitality)
    if not isinstance(diagnosis.intra_rater, Undefined):
        yield from _of(diagnosis.intra_rater, objects.sessions)
        yield from _of(diagnosis.team_agreement, objects.sessions)


def rates_of(cards: Sequence[RaterCard]) -> Table:
    """Table of raters with alpha and rates per object, each with its count."""
    names = [name for name in HABITS if any(card.counts[name][1] for card in cards)]
    heads = ["rater", "images", "labels", "alpha", *(VARIATION_LABELS.get(name, name) for name in names)]
    rows = [
        [
            plain(card.rater),
            count_text(card.images),
            count_text(card.labels),
            with_interval(card.alpha, card.alpha_interval),
            *(_rate(*card.counts[name]) for name in names),
        ]
        for card in cards
    ]
    caption = "Rates per object: missing, of the objects that most others have; all others, of the rater's own labels"
    return Table(heads, rows, caption, range(1, len(heads)))


def _rate(count: int, of: int) -> str:
    """Format a rate, such as "17 of 70 (24 %)"."""
    return f"{count_text(count)} of {count_text(of)} ({percent_text(count / of)})" if of else "–"


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
    if isinstance(found.convergence, Undefined):
        yield Text(found.convergence.reason, soft=True)
        return
    yield from objects.all_ceilings(found.convergence, not found.raters_are_local)
    rows = [(line.criterion, line.finding, line.verdict) for line in found.convergence.checklist]
    yield Table(("Do the data support this estimate?", "found", "verdict"), rows, "Assumptions of label convergence")


# ---- blocks ----


@checked
def graded_table(name: str, last: str, found: Iterable[tuple[str, GradeAgreement, str]]) -> Table:
    """Build a table of grade coefficients with intervals, between names and a last column."""
    rows = []
    for called, of, beside in found:
        numbers = [with_interval(value, ends) for value, ends in zip(of.value, of.interval, strict=True)]
        rows.append((plain(called), of.metric, *numbers, beside))
    return Table((name, "metric", "alpha", "AC", "Conger's kappa", last), rows, "Lowest agreement first")


def _of(found: Result | Undefined, draw: Callable[[Result], Block]) -> Iterator[Block]:
    """Draw a result, or state why there is none."""
    yield Text(f"Left out: {found.reason}.", soft=True) if isinstance(found, Undefined) else draw(found)


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
