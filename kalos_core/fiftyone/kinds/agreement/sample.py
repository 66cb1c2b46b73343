"""One image: what every rater gave each unit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bson import ObjectId

from kalos_core.errors import InputError
from kalos_core.fiftyone.dataset.database import stream
from kalos_core.fiftyone.dataset.objects import Labels, read_labels
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.stored import load_metrics, load_run_view


class NotInRun(InputError):
    """A sample that a run did not read."""


@dataclass(frozen=True)
class Finding:
    """What a label is towards one other rater: the variation type, that rater, and the similarity."""

    variation: str
    rater: str
    similarity: float | None = None


@dataclass(frozen=True)
class Cell:
    """What one rater gave one unit.

    Parameters
    ----------
    state : str
        "annotated", "no object" (assigned, annotated nothing) or "not assigned".
    category : str
        Class, "" unless annotated.
    findings : tuple of Finding
        What it is towards each other rater; `missing` where no annotation of the unit has a partner by this rater.
        Empty where unknown.
    label_id, field : str
        Where the label is, "" unless annotated.
    """

    state: str
    category: str = ""
    findings: tuple[Finding, ...] = ()
    label_id: str = ""
    field: str = ""


@dataclass(frozen=True)
class MergedCells:
    """One annotation that several annotations of another rater match together, and these parts."""

    whole_rater: str
    parts_rater: str
    whole: Cell
    parts: tuple[Cell, ...]


@dataclass(frozen=True)
class SampleReport:
    """One image: its alpha, a table of units x raters, and the wholes that another rater annotated in parts."""

    alpha: float | None
    raters: tuple[str, ...]
    units: tuple[int, ...]
    cells: tuple[tuple[Cell, ...], ...]
    merged: tuple[MergedCells, ...] = ()


def sample_report(samples: Any, sample_id: str, agreement_key: str, variations_key: str | None = None) -> SampleReport:
    """Units x raters of one image as two runs left them on its labels: one sample is read.

    Raises
    ------
    NotInRun
        If the image is not part of the run.
    """
    run = load_metrics(samples, agreement_key, "agreement")
    view = _one_sample(samples, agreement_key, sample_id)
    if not len(view):
        raise NotInRun(f"sample {sample_id}: not part of the run {agreement_key!r}")
    labels = read_labels(view, run.selection, again=True)
    annotations = labels.annotations
    compared: set[str] = set()
    if variations_key:
        named = load_metrics(samples, variations_key, "variations")
        compared = set(named.metrics["raters"] if len(_one_sample(samples, variations_key, sample_id)) else ())
    stored = _stored_on_labels(view, labels, agreement_key, variations_key)
    cells = [
        Cell(
            state="annotated",
            category=str(annotations.categories[annotations.category[row]]),
            findings=stored[row].findings,
            label_id=label_id,
            field=labels.fields[labels.path_of[row]],
        )
        for row, label_id in enumerate(annotations.id)
    ]
    rater_of = annotations.raters[annotations.rater].tolist()
    partners = _partners(annotations.id.tolist(), rater_of, stored)
    units = sorted({found.unit for found in stored if found.unit is not None})
    grid = []
    for unit in units:
        rows = [row for row, found in enumerate(stored) if found.unit == unit]
        members = {rater_of[row]: cells[row] for row in rows}
        matched = {rater_of[partner] for row in rows for partner in partners[row]}
        grid.append(
            tuple(
                members[rater] if rater in members else _empty(assigned, rater in compared - matched, members)
                for rater, assigned in zip(annotations.raters, annotations.assigned[0], strict=True)
            )
        )
    return SampleReport(
        alpha=view.values(RunNames(agreement_key).alpha)[0],
        raters=tuple(annotations.raters),
        units=tuple(units),
        cells=tuple(grid),
        merged=tuple(_merged(cells, rater_of, partners)),
    )


def _partners(ids: Sequence[str], rater_of: Sequence[str], stored: Sequence[_OnLabel]) -> list[list[int]]:
    """Rows of the annotations that each one is matched with, as far as these are still there.

    Labels of several raters have one id where a field was cloned: it is that of a rater towards whom there is a match.
    """
    rows_of: dict[str, list[int]] = {}
    for row, label_id in enumerate(ids):
        rows_of.setdefault(label_id, []).append(row)
    found = []
    for label in stored:
        raters = {finding.rater for finding in label.findings if finding.variation != "additional"}
        rows = [row for match in dict.fromkeys(label.matches) for row in rows_of.get(match, ())]
        found.append([row for row in rows if rater_of[row] in raters])
    return found


def _merged(cells: Sequence[Cell], rater_of: Sequence[str], partners: Sequence[Sequence[int]]) -> Iterator[MergedCells]:
    """Every annotation with several partners by one rater: findings are one-to-one, so these are its parts."""
    for whole, whole_rater, rows in zip(cells, rater_of, partners, strict=True):
        parts: dict[str, list[Cell]] = {}
        for row in rows:
            parts.setdefault(rater_of[row], []).append(cells[row])
        for rater, several in parts.items():
            if len(several) > 1:
                yield MergedCells(whole_rater, rater, whole, tuple(several))


def _one_sample(samples: Any, run_key: str, sample_id: str) -> Any:
    view = load_run_view(samples, run_key)
    return view.select(sample_id) if ObjectId.is_valid(sample_id) else view.limit(0)


def _empty(assigned: bool, missing: bool, members: Iterable[str]) -> Cell:
    if not assigned:
        return Cell(state="not assigned")
    return Cell(state="no object", findings=tuple(Finding("missing", rater) for rater in members) if missing else ())


@dataclass(frozen=True)
class _OnLabel:
    """What two runs wrote on one label."""

    unit: int | None = None
    matches: Sequence[str] = ()
    findings: tuple[Finding, ...] = ()


def _stored_on_labels(view: Any, labels: Labels, agreement_key: str, variations_key: str | None) -> list[_OnLabel]:
    """What is stored on each label."""
    found: dict[tuple[int, str], _OnLabel] = {}
    written = RunNames(variations_key or "")
    more = [written.match, written.all, written.raters, written.similarities] if variations_key else []
    names = ["id", RunNames(agreement_key).unit, *more]
    for number, path in enumerate(labels.paths):
        (columns,) = stream(view, [f"{path}.{name}" for name in names])
        for unit_of_label in zip(*(column[0] or [] for column in columns.values()), strict=True):
            label_id, unit, *rest = unit_of_label
            matches, types, raters, similarities = rest or ((), (), (), ())
            findings = zip(types or (), raters or (), similarities or (), strict=True)
            own = tuple(Finding(_seen_by_owner(kind), *towards) for kind, *towards in findings)
            found[number, label_id] = _OnLabel(unit, matches or (), own)
    return [found[key] for key in zip(labels.path_of.tolist(), labels.annotations.id, strict=True)]


def _seen_by_owner(variation: str) -> str:
    """What another rater lacks is additional to whoever annotated it."""
    return "additional" if variation == "missing" else variation
