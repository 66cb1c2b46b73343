"""Report of an analysis: a single shareable HTML page, built from the stored runs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kalos_core.calibration import ThresholdAdvice
from kalos_core.diagnostics import Sensitivity
from kalos_core.display import count_text, with_interval
from kalos_core.drawing import Drawing
from kalos_core.errors import InputError, Undefined, lookup
from kalos_core.fiftyone.analyses.summaries import advice_of, overview_of, rater_scorecard
from kalos_core.fiftyone.dataset.database import files_of
from kalos_core.fiftyone.dataset.filter import Filter
from kalos_core.fiftyone.deciding.decide import decisions
from kalos_core.fiftyone.deciding.kinds import deciding_of
from kalos_core.fiftyone.deciding.queue import count_disputes, disputed_units
from kalos_core.fiftyone.deciding.results import training_list
from kalos_core.fiftyone.deciding.shown import draw_together
from kalos_core.fiftyone.internals import root_of
from kalos_core.fiftyone.kinds.agreement.sample import draw_unit
from kalos_core.fiftyone.kinds.agreement.stored import narrowed_metrics, unit_boundaries_of
from kalos_core.fiftyone.kinds.agreement.views import worst_images
from kalos_core.fiftyone.kinds.pixels.paired import boundaries_of, divisions_of
from kalos_core.fiftyone.kinds.variations.kind import narrowed_variations
from kalos_core.fiftyone.runs.analyses import Analysis, AnyRun
from kalos_core.fiftyone.runs.explaining import explained
from kalos_core.fiftyone.runs.stored import find_analysis, load_details
from kalos_core.fiftyone.runs.table import KINDS
from kalos_core.files import as_path, write_whole
from kalos_core.nominal import LabelTruth, QuestionGrades
from kalos_core.nominal.decisions import mean_of_finite
from kalos_core.options import takes
from kalos_core.pixels import BoundaryAgreement
from kalos_core.pixels.paired import PairedRaters
from kalos_core.report import (
    Block,
    Card,
    Cards,
    Items,
    Section,
    Source,
    Study,
    Table,
    Text,
    feedback_sheet,
    graded_table,
    labels,
    page,
    write_report,
)
from kalos_core.report.front import KRIPPENDORFF, LAMPERT, LIMITATIONS, NOWAK, front, methods, next_steps
from kalos_core.report.look import Scale
from kalos_core.report.pages import MARK, ReportSettings
from kalos_core.report.studies import DIVIDED, SIDE, WORST, Advised, examples_of
from kalos_core.text import plain

if TYPE_CHECKING:
    import pandas as pd

IN_CHAPTERS = ("agreement", "variations", "calibration", "convergence")
"""Kinds of runs covered by the chapters of a report with an agreement run; other kinds follow them."""

CITED = {"image_labels": NOWAK, "pixels": LAMPERT, "ranking": LAMPERT, "detectors": LAMPERT, "truth": LAMPERT}
"""Kind of run -> paper whose methods it uses."""

PAIRED: Sequence[tuple[str, str, Callable[[AnyRun], object], Callable[[Any, str], PairedRaters]]] = (
    (
        "agreement",
        "Outlines of matched labels",
        lambda run: run.settings["boundaries"],
        unit_boundaries_of,
    ),
    ("pixels", "Boundaries", lambda run: run.settings["boundaries"], boundaries_of),
    ("pixels", "Divisions", lambda run: run.settings["divisions"], divisions_of),
)
"""Kind of run, section title, function that checks whether a run compared it, and function that loads it."""

MOST_ESTIMATES = 12
"""Maximum number of questions in the chapter "Who is right"."""


@takes(ReportSettings)
def report(samples: Any, key: str, path: str | PathLike[str], settings: ReportSettings) -> Path:
    """Write an analysis to a single HTML file that needs neither network nor scripts, for sharing and printing.

    Numbers and figures come from the stored runs; only the samples of the drawn examples are read.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Key of an analysis, or of one of its runs.
    path : path
        Path of the file; an existing report there is replaced.
    overwrite : bool
        Whether to replace any other file, too.

    Returns
    -------
    Path
        Path of the file.

    Raises
    ------
    InputError
        If there is no such analysis, or the file cannot be written.

    Examples
    --------
    >>> import fiftyone as fo
    >>> from kalos_core.fiftyone import analyse
    >>> dataset = fo.Dataset()
    >>> def boxes(*left):
    ...     found = [fo.Detection(label="cat", bounding_box=[x, 0.1, 0.2, 0.3]) for x in left]
    ...     return fo.Detections(detections=found)
    >>> size = fo.ImageMetadata(width=100, height=100)
    >>> sample = fo.Sample("a.jpg", metadata=size, raters=["ann", "bob"], ann=boxes(0.1), bob=boxes(0.1, 0.6))
    >>> _ = dataset.add_sample(sample)
    >>> _ = analyse(dataset, "first", kinds=["agreement", "variations"], raters=("ann", "bob"))
    >>> "only one of two raters annotated an object" in report(dataset, "first", "cats.html").read_text()
    True
    >>> dataset.delete()
    """
    with explained(samples, "no report is written"):
        return _report(samples, key, as_path(path, "path"), settings)


def _report(samples: Any, key: str, path: Path, settings: ReportSettings) -> Path:
    analysis = find_analysis(samples, key)
    name = settings.title or f"How far the raters of {root_of(samples).name} agree: {analysis.key}"
    source = _source(samples, analysis)
    others = [*_pairs(samples, analysis), *_further(samples, analysis)]
    if analysis.run("agreement") is not None:
        write_report(
            _study(samples, analysis),
            path,
            name,
            further=others,
            interactive=settings.interactive,
            source=source,
            overwrite=settings.overwrite,
        )
        return path
    said = overview_of(samples, analysis.key)
    told = [f"{KINDS[kind].title}: {_told(run)}" for kind, run in analysis.runs.items()]
    cited = [CITED[kind] for kind in analysis.runs if kind in CITED]
    foundations = methods([Items([*source.lines(), *told])], [*cited, KRIPPENDORFF], LIMITATIONS)
    numbers, scale = _numbers(samples, analysis)
    sections = [front(said, next_steps(said), numbers, scale), *others, *foundations]
    write_whole(
        path,
        page(name, sections, source.lines()[:1], interactive=settings.interactive),
        MARK,
        overwrite=settings.overwrite,
    )
    return path


def _numbers(samples: Any, analysis: Analysis) -> tuple[Cards | None, Scale | None]:
    """Return the counts of image-level labels, and alpha as in the first sentence; None for other kinds."""
    run = analysis.run("image_labels")
    if run is None:
        return None, None
    counts = {"image": run.metrics["images"], "answer": run.metrics["answers"], "rater": len(run.metrics["raters"])}
    alpha = mean_of_finite(_details(samples, run).agreement.alpha)
    return Cards([Card.of(count, name) for name, count in counts.items()]), Scale(alpha)


def _source(samples: Any, analysis: Analysis) -> Source:
    """Return the source of the report: the labels that the first run read, identified by their stored digests."""
    run = next(iter(analysis.runs.values()))
    digest = hashlib.sha256()
    for name in ("image_ids", "hashes"):
        digest.update(np.ascontiguousarray(run.arrays[name]).tobytes())
    call = f"kalos_core.fiftyone.report(dataset, {analysis.key!r})"
    of = f"the labels of {root_of(samples).name} that run {run.key} read"
    return Source(call, digest.hexdigest(), of, f"read on {run.read_at:%d %B %Y}")


def _told(run: AnyRun) -> str:
    """Return the settings of a run on one line."""
    return ", ".join(f"{name} = {value}" for name, value in run.settings.items() if value not in (None, (), [], {}, ""))


def _study(samples: Any, analysis: Analysis) -> Study:
    """Return the stored runs of an analysis as a `Study`, as `kalos_core.report.study` builds it."""
    lead, differing = analysis.runs["agreement"], analysis.run("variations")
    part, diagnosis = narrowed_metrics(samples, lead.key), _details(samples, lead)
    found = narrowed_variations(samples, differing.key) if differing else _missing("variations")
    doubts = [lead.metrics["note"]] if lead.metrics["note"] else []
    counted = count_disputes(samples, lead.key)
    advice = advice_of(samples, analysis)
    return Study(
        agreement=part,
        diagnosis=diagnosis,
        variations=found,
        shares=_details(samples, differing).shares if differing else _missing("variations"),
        calibration=_of(samples, analysis, "calibration"),
        convergence=_of(samples, analysis, "convergence"),
        said=overview_of(samples, analysis.key),
        worst=list(_worst(samples, lead)),
        examples=examples_of(rater_scorecard(samples, analysis.key), _examples(samples, lead)),
        advice=advice,
        advised=_advised(lead, diagnosis.sensitivity, advice),
        open_disputes=counted.all - counted.decided,
        doubts=doubts,
        decided=_decided(samples, lead),
        names=_names(samples, part.sums.part.annotations.images.tolist()),
        attributes={of.name: of for of in diagnosis.attributes},
    )


def _advised(run: AnyRun, found: Sensitivity | Undefined, advice: ThresholdAdvice | None) -> Advised | None:
    """Return alpha at the computed threshold nearest to the advised one; None for another similarity."""
    if advice is None or advice.settings is None or isinstance(found, Undefined):
        return None
    if advice.settings["similarity"] != run.settings["similarity"]:
        return None
    at = int(np.argmin(np.abs(found.threshold - float(advice.settings["threshold"]))))
    low, high = found.alpha_interval[at].tolist()
    return Advised(float(found.threshold[at]), float(found.alpha[at]), (low, high))


def _details(samples: Any, run: AnyRun) -> Any:
    return load_details(samples, run.key).details


def _of(samples: Any, analysis: Analysis, kind: str) -> Any:
    run = analysis.run(kind)
    return _missing(kind) if run is None else _details(samples, run)


def _missing(kind: str) -> Undefined:
    return Undefined(f"{KINDS[kind].title.lower()}: not part of this analysis")


def _names(samples: Any, ids: Sequence[str]) -> list[str]:
    known = files_of(root_of(samples))
    return [Path(known[found]).name if found in known else found for found in map(str, ids)]


def _worst(samples: Any, run: AnyRun) -> Iterator[Drawing]:
    """Yield a drawing of the first unit in dispute of each image with the lowest agreement."""
    for row in worst_images(samples, run.key, WORST):
        for unit in disputed_units(samples, run.key, row.sample_id)[:1]:
            drawing = _drawn(samples, run, unit.labels, row.sample_id) if unit.labels else None
            if drawing is not None:
                yield drawing


def _examples(samples: Any, run: AnyRun) -> Callable[[str, bool], Drawing | None]:
    """Return a function that draws the unit of a label; if it is an example of a division, with its whole and parts."""
    matched = deciding_of(samples, run).of_all()
    table = matched.annotations

    def drawn(label: str, divided: bool) -> Drawing | None:
        rows = matched.rows_of.get(label, [])
        draw = draw_together if divided else draw_unit
        found = str(table.images[table.image[rows[0]]]) if rows else None
        return _or_none(lambda: draw(samples, run.key, label, found, longest_side=SIDE))

    return drawn


def _drawn(samples: Any, run: AnyRun, labels: Sequence[str], sample_id: str) -> Drawing | None:
    """Draw the unit of some labels; None if they were deleted since, or have no outline."""
    return _or_none(lambda: draw_unit(samples, run.key, labels, sample_id, longest_side=SIDE))


def _or_none(draw: Callable[[], Drawing]) -> Drawing | None:
    try:
        drawing = draw()
    except InputError:
        return None
    return replace(drawing, title=Path(drawing.title).name)


EXAMPLES = 2
"""Maximum number of drawn examples of each type on a sheet."""


def feedback(samples: Any, key: str, rater: str, filter: Filter = Filter()) -> str:  # noqa: B008
    """Return the feedback sheet of one rater as an offline HTML page: rates with their counts, and drawn examples.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Key of an analysis, or of one of its runs.
    rater : str
    filter : Filter
        Its rater is ignored.

    Raises
    ------
    InputError
        If there is no such analysis or rater.

    Examples
    --------
    >>> import fiftyone as fo
    >>> from kalos_core.fiftyone import analyse
    >>> dataset = fo.Dataset()
    >>> def boxes(*left):
    ...     found = [fo.Detection(label="cat", bounding_box=[x, 0.1, 0.2, 0.3]) for x in left]
    ...     return fo.Detections(detections=found)
    >>> sample = fo.Sample("a.jpg", raters=["ann", "bob"], ann=boxes(0.1), bob=boxes(0.1, 0.6))
    >>> _ = dataset.add_sample(sample)
    >>> _ = analyse(dataset, "first", kinds=["agreement", "variations"], raters=("ann", "bob"))
    >>> "1 of 2 objects that most others have" in feedback(dataset, "first", "ann")
    True
    >>> dataset.delete()
    """
    cards = {card.rater: card for card in rater_scorecard(samples, key, filter)}
    card, run = lookup(cards, rater, "rater"), find_analysis(samples, key).run("agreement")
    drawings: dict[str, list[Drawing]] = {}
    if run is not None:
        draw = _examples(samples, run)
        for kind, labels in card.examples.items():
            drawn = (draw(label, kind in DIVIDED) for label in labels[:EXAMPLES])
            drawings[kind] = [drawing for drawing in drawn if drawing is not None]
    return feedback_sheet(card, {kind: drawn for kind, drawn in drawings.items() if drawn})


def _decided(samples: Any, run: AnyRun) -> dict[str, list[Any]]:
    if not decisions(samples, run.key):
        return {}
    table = training_list(samples, run.key).drop(columns="labels")
    return {"Overruled raters, by class": table.to_dict("records")}


def _further(samples: Any, analysis: Analysis) -> Iterator[Section]:
    for kind, run in analysis.runs.items():
        if kind not in IN_CHAPTERS or "agreement" not in analysis.runs:
            found = load_details(samples, run.key)
            yield Section(KINDS[kind].title, list(import_module(KINDS[kind].figures).drawn(found)))
            if kind == "image_labels" and found.details.grades:
                yield Section("Grades", [_grades(found.details.grades)], 3)
            if estimates := _estimates(kind, found.details):
                yield Section("Who is right", [block for of in estimates[:MOST_ESTIMATES] for block in _right(of)], 3)


def _pairs(samples: Any, analysis: Analysis) -> Iterator[Section]:
    """Yield a section for each comparison that the runs made between pairs of raters of an image."""
    for kind, title, is_compared, load in PAIRED:
        run = analysis.run(kind)
        if run is not None and is_compared(run):
            found: PairedRaters = load(samples, run.key)
            blocks: list[Block] = [Text(found.headline)]
            if isinstance(found, BoundaryAgreement) and len(found.classes) > 1:
                blocks.append(_means(found, found.by_class(), ["class"]))
            if not found.raters_are_local:
                blocks.append(_means(found, found.by_rater_pair(), ["rater_a", "rater_b"]))
            yield Section(title, blocks)


def _means(found: PairedRaters, table: pd.DataFrame, names: Sequence[str]) -> Table:
    """Return a table of means over images with their intervals; one row per class or pair of raters."""
    rows = [
        [plain(row[name]) for name in names]
        + [with_interval(row[name], (row[f"{name}_low"], row[f"{name}_high"])) for name in found.measures]
        + [count_text(row["images"])]
        for row in table.to_dict("records")
    ]
    heads = [name.replace("_", " ") for name in (*names, *found.measures, "images")]
    return Table(heads, rows, "Means over images, with 95 % intervals", (len(heads) - 1,))


def _grades(found: Sequence[QuestionGrades]) -> Table:
    """Return a table of the agreement on each question that has a metric other than the nominal one."""
    rows = []
    for of in sorted(found, key=lambda of: (np.isnan(of.weighted.alpha), of.weighted.alpha)):
        forms, at = of.correlation, of.correlation.usual
        icc = forms.reason[at] or f"{forms.form[at]} {with_interval(forms.value[at], forms.interval[at])}"
        rows.append((of.question, of.weighted, icc))
    return graded_table("question", "intraclass correlation", rows)


def _estimates(kind: str, details: Any) -> list[LabelTruth]:
    """Return the ground-truth estimates of image-level questions or of objects; empty if nothing was estimated."""
    if kind == "image_labels":
        return list(details.truth)
    of_objects = [getattr(found, "estimate", None) for found in details.truths.values()] if kind == "truth" else []
    return [found for found in of_objects[:1] if found is not None]  # the estimates of all quorums are the same


def _right(found: LabelTruth) -> Iterator[Block]:
    """Yield the skill of each rater, their confusions, and the doubts about the estimate."""
    if found.question:
        yield Text(f"Question: {plain(found.question)}")
    if found.doubts:
        yield Text(found.doubts.removeprefix("; "))
    yield labels.skill(found)
    yield labels.confusion(found)
