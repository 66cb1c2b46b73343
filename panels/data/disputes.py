"""Disputes as plain values, for *Decide* and the panel next to the open sample; see `view/src/desk/records.ts`."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import kalos_core.fiftyone as kf
from kalos_core.decisions import Decision
from kalos_core.display import VARIATION_LABELS, alpha_text, rater_colour
from kalos_core.fiftyone.deciding.kinds import DECIDABLE, deciding_of, is_decidable
from kalos_core.fiftyone.deciding.queue import DisputedUnit
from kalos_core.fiftyone.deciding.shown import SampleDisputes, shown_ahead
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.text import plain

Record = dict[str, Any]

AHEAD = 20
"""Minimum number of disputes to send at once; the view requests more before they run out."""

FIRST = 6
"""Number of disputes in the first answer of *Decide*."""


def decidable_in(analysis: Analysis) -> list[Any]:
    """Return the runs of an analysis with units in dispute: objects, then image-level labels, then masks."""
    runs = [analysis.run(kind) for kind in DECIDABLE]
    return [run for run in runs if run is not None and is_decidable(run)]


def queue_of(dataset: Any, run: Any, variations: str | None, disputes: Sequence[Record], **part: str | None) -> Record:
    """Return the queue with these disputes; `part`: the class and the rater to which it is limited."""
    deciding = deciding_of(dataset, run)
    return {
        "run": run.key,
        "kind": run.kind,
        "unit": deciding.UNIT,
        "measure": deciding.MEASURE,
        "variations": variations,
        "category": part.get("category"),
        "rater": part.get("rater"),
        "raters": [(name, rater_colour(number)) for number, name in enumerate(run.metrics["raters"])],
        "words": deciding.DECISIONS,
        "options": deciding.options,
        "questions": run.metrics.get("questions", 1),
        "counts": kf.count_disputes(dataset, run.key),
        "disputes": disputes,
    }


def next_disputes(
    dataset: Any, run: str, count: int, variations: str | None, after: str | None = None, **part: str | None
) -> list[Record]:
    """Return the next open disputes of a part of the queue, always all disputes of a sample."""
    samples = shown_ahead(dataset, run, count, after=after, variations_key=variations, **part)
    return [
        dispute_of(shown, unit, **part)
        for shown in samples
        for unit in shown.disputes
        if unit.labels and unit.state == "open" and unit.fits(**part)
    ]


def dispute_of(shown: SampleDisputes, unit: DisputedUnit, **part: str | None) -> Record:
    """Return a unit in dispute of a sample, for a part of the queue."""
    return {
        "id": str(unit.units[0]),
        "sample": shown.sample_id,
        "labels": unit.labels,
        "units": len(unit.units),
        "question": unit.question,
        "file": shown.file,
        "path": shown.path,
        "size": shown.size,
        "alpha": shown.report.alpha,
        "given": list(_given(shown, unit)),
        "outlines": [one for label in unit.labels for one in shown.outlines.get(label, ())],
        "decisions": unit.decisions,
        "state": unit.state,
        "made": made_of(unit.decision),
        "fits": unit.fits(**part),
    }


def _given(shown: SampleDisputes, unit: DisputedUnit) -> Iterable[Record]:
    """Return the answer of each assigned rater, and how it compares with the others."""
    report, nothing = shown.report, DECIDABLE[shown.kind].NOTHING
    rows = [cells for number, cells in zip(report.units, report.cells, strict=True) if number in unit.units]
    for rater, classes in unit.values.items():
        own = [cells[report.raters.index(rater)] for cells in rows]
        annotated = [cell for cell in own if cell.state == "annotated"] or own
        found = unit.said.get(rater) or found_text([finding for cell in annotated for finding in cell.findings])
        text = _counted(classes) or nothing
        yield {"rater": rater, "text": text, "found": found, "is_against": rater in unit.against}


def made_of(decision: Decision | None) -> Record | None:
    """Return a decision as plain values; the view sends `when` back to show which version it saw."""
    if decision is None:
        return None
    names = ("decision", "rater", "category", "note", "who")
    when = decision.when.isoformat() if decision.when else None
    return {**{name: getattr(decision, name) for name in names}, "when": when}


def _counted(classes: Sequence[str]) -> str:
    """Return the classes as text, each once with its count."""
    counts = Counter(classes).items()
    return ", ".join(plain(name) if count == 1 else f"{count} × {plain(name)}" for name, count in counts)


def found_text(findings: Sequence[Any]) -> str:
    """Describe how an annotation compares with the other raters, with similarities; name the raters if it varies."""
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
    """Return the smallest and largest similarity as text, only one if they are equal."""
    values = sorted(alpha_text(one.similarity) for one in findings if one.similarity is not None)
    return "–".join(dict.fromkeys([values[0], values[-1]])) if values else ""


def findings_of(dataset: Any, run: Any, own: Any) -> tuple[str | None, bool]:
    """Return the variations with the same labels, similarity and threshold, else the newest; and whether they match."""
    if run.kind != "agreement":
        return None, True
    runs = [*filter(None, [own]), *kf.list_runs(dataset, "variations", info=True)]
    alike = [found for found in runs if _compared(found) == _compared(run)]
    chosen = next(iter(alike or runs), None)
    return (None if chosen is None else chosen.key), bool(alike)


def _compared(run: Any) -> Any:
    return run.selection, run.settings["similarity"], run.settings["threshold"]


def choices_in(dataset: Any, analysis: Analysis) -> Mapping[str, list[str]]:
    """Return the classes and raters of the filter for disputes of an analysis without objects."""
    runs = decidable_in(analysis)[:1]
    return {
        "category": [name for run in runs for name in deciding_of(dataset, run).classes["classes"]],
        "rater": [name for run in runs for name in run.metrics["raters"]],
    }
