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
    cells = {
        key: Cell(
            state="annotated",
            category=str(annotations.categories[annotations.category[row]]),
            findings=stored[key].findings,
            label_id=key,
            field=labels.fields[labels.path_of[row]],
        )
        for row, key in enumerate(annotations.id)
    }
    rater_of = dict(zip(annotations.id, annotations.raters[annotations.rater], strict=True))
    units = sorted({unit for key in annotations.id if (unit := stored[key].unit) is not None})
    grid = []
    for unit in units:
        members = {rater_of[key]: key for key in annotations.id if stored[key].unit == unit}
        matched = {rater_of[match] for key in members.values() for match in stored[key].matches if match in rater_of}
        grid.append(
            tuple(
                cells[members[rater]] if rater in members else _empty(assigned, rater in compared - matched, members)
                for rater, assigned in zip(annotations.raters, annotations.assigned[0], strict=True)
            )
        )
    return SampleReport(
        alpha=view.values(RunNames(agreement_key).alpha)[0],
        raters=tuple(annotations.raters),
        units=tuple(units),
        cells=tuple(grid),
        merged=tuple(_merged(cells, rater_of, stored)),
    )


def _merged(cells: dict[str, Cell], rater_of: dict[str, str], stored: dict[str, _OnLabel]) -> Iterator[MergedCells]:
    """Every annotation with several partners by one rater: findings are one-to-one, so these are its parts."""
    for key, whole in cells.items():
        parts: dict[str, list[Cell]] = {}
        for match in stored[key].matches:
            if match in cells:  # else deleted since
                parts.setdefault(rater_of[match], []).append(cells[match])
        for rater, several in parts.items():
            if len(several) > 1:
                yield MergedCells(rater_of[key], rater, whole, tuple(several))


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


def _stored_on_labels(view: Any, labels: Labels, agreement_key: str, variations_key: str | None) -> dict[str, _OnLabel]:
    """Label id -> what is stored on it."""
    found: dict[str, _OnLabel] = {}
    written = RunNames(variations_key or "")
    more = [written.match, written.all, written.raters, written.similarities] if variations_key else []
    names = ["id", RunNames(agreement_key).unit, *more]
    for path in labels.paths:
        (columns,) = stream(view, [f"{path}.{name}" for name in names])
        for unit_of_label in zip(*(column[0] or [] for column in columns.values()), strict=True):
            label_id, unit, *rest = unit_of_label
            matches, types, raters, similarities = rest or ((), (), (), ())
            findings = zip(types or (), raters or (), similarities or (), strict=True)
            own = tuple(Finding(_seen_by_owner(kind), *towards) for kind, *towards in findings)
            found[label_id] = _OnLabel(unit, matches or (), own)
    return found


def _seen_by_owner(variation: str) -> str:
    """What another rater lacks is additional to whoever annotated it."""
    return "additional" if variation == "missing" else variation
