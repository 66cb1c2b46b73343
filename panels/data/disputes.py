"""Disputes as the view draws them, in *Decide* and beside the open sample: who gave what, and what was decided."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import kalos_core.fiftyone as kf
from kalos_core.decisions import Decision
from kalos_core.display import VARIATION_LABELS, alpha_text, rater_colour
from kalos_core.fiftyone.deciding.queue import DisputedUnit
from kalos_core.fiftyone.deciding.shown import SampleDisputes, ShownOutline, shown_ahead
from kalos_core.fiftyone.deciding.units import is_decidable
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.text import plain

AHEAD = 20
"""Disputes that are sent at once, at least: the view asks for more before they are used up."""

FIRST = 6
"""Disputes that *Decide* begins with."""

NOTHING = {"agreement": "no object", "pixels": "mostly nothing"}
"""Kind of run -> what it is called that a rater has nothing there."""


@dataclass(frozen=True)
class Given:
    """What a rater gave a unit, in words, and what that is towards the others; `is_against` most of them, or a tie."""

    rater: str
    text: str
    found: str
    is_against: bool


@dataclass(frozen=True)
class Made:
    """The latest decision about a unit; `when` is what the view sends back as what it saw."""

    decision: str
    rater: str | None
    note: str
    who: str
    when: str | None


@dataclass(frozen=True)
class Dispute:
    """A unit in dispute; without `labels` where all of them were deleted since; `fits`: in the part gone through."""

    id: str
    sample: str
    labels: tuple[str, ...]
    units: int
    file: str
    path: str
    size: tuple[float, float]
    alpha: float | None
    given: tuple[Given, ...]
    outlines: tuple[ShownOutline, ...]
    decisions: tuple[str, ...]
    state: str
    made: Made | None
    fits: bool


@dataclass(frozen=True)
class Queue:
    """What is decided about: a run, the part of its disputes, how many decisions there are, and the next disputes.

    `variations` is the run that says what each annotation is towards the others; `unit` what is in dispute, `measure`
    what images are ordered by; `words` are the decisions as buttons say them.
    """

    run: str
    kind: str
    unit: str
    measure: str
    variations: str | None
    category: str | None
    rater: str | None
    raters: tuple[tuple[str, str], ...]
    words: dict[str, str]
    counts: Any
    disputes: tuple[Dispute, ...]


UNITS = {"agreement": ("unit", "alpha"), "pixels": ("region", "shared (F1)")}
"""Kind of run -> what is in dispute, and what images are ordered by."""


def decidable_in(analysis: Analysis) -> list[Any]:
    """The runs of an analysis that have units in dispute, objects before masks."""
    runs = [analysis.run(kind) for kind in UNITS]
    return [run for run in runs if run is not None and is_decidable(run)]


def queue_of(dataset: Any, run: Any, variations: str | None, disputes: Iterable[Dispute], **part: str | None) -> Queue:
    """What is decided about, with these disputes; `part`: of which class, where which rater stands against others."""
    unit, measure = UNITS[run.kind]
    return Queue(
        run=run.key,
        kind=run.kind,
        unit=unit,
        measure=measure,
        variations=variations,
        category=part.get("category"),
        rater=part.get("rater"),
        raters=tuple((name, rater_colour(number)) for number, name in enumerate(run.metrics["raters"])),
        words=kf.DECISIONS,
        counts=kf.count_disputes(dataset, run.key),
        disputes=tuple(disputes),
    )


def next_disputes(
    dataset: Any, run: str, count: int, variations: str | None, after: str | None = None, **part: str | None
) -> list[Dispute]:
    """The next open disputes of a part of the queue, all of a sample at once."""
    samples = shown_ahead(dataset, run, count, after=after, variations_key=variations, **part)
    return [
        dispute_of(shown, unit, **part)
        for shown in samples
        for unit in shown.disputes
        if unit.labels and unit.state == "open" and unit.fits(**part)
    ]


def dispute_of(shown: SampleDisputes, unit: DisputedUnit, **part: str | None) -> Dispute:
    """A unit in dispute of a sample, where a part of the queue is gone through."""
    return Dispute(
        id=str(unit.units[0]),
        sample=shown.sample_id,
        labels=unit.labels,
        units=len(unit.units),
        file=shown.file,
        path=shown.path,
        size=shown.size,
        alpha=shown.report.alpha,
        given=tuple(given_to(shown, unit)),
        outlines=tuple(one for label in unit.labels for one in shown.outlines.get(label, ())),
        decisions=unit.decisions,
        state=unit.state,
        made=made_of(unit.decision),
        fits=unit.fits(**part),
    )


def given_to(shown: SampleDisputes, unit: DisputedUnit) -> Iterable[Given]:
    """What each rater who was assigned gave a unit, or a whole and its parts."""
    report = shown.report
    rows = [cells for number, cells in zip(report.units, report.cells, strict=True) if number in unit.units]
    for rater, classes in unit.values.items():
        place = report.raters.index(rater)
        own = [cells[place] for cells in rows]
        annotated = [cell for cell in own if cell.state == "annotated"] or own
        findings = [finding for cell in annotated for finding in cell.findings]
        yield Given(rater, counted(classes) or NOTHING[shown.kind], found_text(findings), rater in unit.against)


def made_of(decision: Decision | None) -> Made | None:
    if decision is None:
        return None
    when = decision.when.isoformat() if decision.when else None
    return Made(decision.decision, decision.rater, decision.note, decision.who, when)


def counted(classes: Sequence[str]) -> str:
    """Classes with their numbers, each once."""
    counts = Counter(classes).items()
    return ", ".join(plain(name) if count == 1 else f"{count} × {plain(name)}" for name, count in counts)


def found_text(findings: Sequence[Any]) -> str:
    """What an annotation is towards each other rater, with the similarity; they are named where it is not the same."""
    towards: dict[str, list[Any]] = {}
    for finding in findings:
        towards.setdefault(VARIATION_LABELS[finding.variation], []).append(finding)
    if len(towards) < 2:
        return "".join(f"{kind} {_similarities(found)}".rstrip() for kind, found in towards.items())
    named = {kind: ", ".join(dict.fromkeys(map(_towards, found))) for kind, found in towards.items()}
    return "\n".join(f"{kind}: {raters}" for kind, raters in named.items())


def _towards(finding: Any) -> str:
    return f"{plain(finding.rater)} {_similarities([finding])}".rstrip()


def _similarities(findings: Sequence[Any]) -> str:
    """The least and the greatest similarity, once where they are equal."""
    values = sorted(alpha_text(one.similarity) for one in findings if one.similarity is not None)
    return "–".join(dict.fromkeys([values[0], values[-1]])) if values else ""


def findings_of(dataset: Any, run: Any, own: Any) -> tuple[str | None, bool]:
    """The variations of the same labels, similarity and threshold, else the newest; whether they are of the same."""
    if run.kind != "agreement":
        return None, True
    runs = [*filter(None, [own]), *kf.list_runs(dataset, "variations", info=True)]
    alike = [found for found in runs if _compared(found) == _compared(run)]
    chosen = next(iter(alike or runs), None)
    return (None if chosen is None else chosen.key), bool(alike)


def _compared(run: Any) -> Any:
    return run.selection, run.settings["similarity"], run.settings["threshold"]
