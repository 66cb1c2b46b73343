"""One image: what every rater gave each unit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bson import ObjectId

from kalos_core.errors import InputError
from kalos_core.fiftyone.labels import Labels, read_labels
from kalos_core.fiftyone.runs import RunNames, load_figures, load_run_view


class NotInRun(InputError):
    """A sample that a run did not read."""


@dataclass(frozen=True)
class Cell:
    """What one rater gave one unit.

    Parameters
    ----------
    state : str
        "drawn", "no object" (asked, drew nothing) or "not assigned".
    category : str
        Class, "" unless drawn.
    variation : str
        Variation type of the label; `missing` where no mark of the unit has a partner by this rater; "" where unknown.
    similarity : float, optional
        Least similarity to a partner.
    label_id, field : str
        Where the label is, "" unless drawn.
    """

    state: str
    category: str = ""
    variation: str = ""
    similarity: float | None = None
    label_id: str = ""
    field: str = ""


@dataclass(frozen=True)
class MergedCells:
    """One mark that several marks of another rater match together, and these parts."""

    whole_rater: str
    parts_rater: str
    whole: Cell
    parts: tuple[Cell, ...]


@dataclass(frozen=True)
class SampleReport:
    """One image: its alpha, a table of units x raters, and the wholes that another rater drew in parts."""

    alpha: float | None
    raters: tuple[str, ...]
    units: tuple[int, ...]
    cells: tuple[tuple[Cell, ...], ...]
    merged: tuple[MergedCells, ...] = ()


def sample_report(samples: Any, sample_id: str, agreement_key: str, variations_key: str | None = None) -> SampleReport:
    """Units x raters of one image as two runs left them on its labels.

    Raises
    ------
    NotInRun
        If the image is not part of the run.
    """
    run = load_figures(samples, agreement_key, "agreement")
    view = _one_sample(samples, agreement_key, sample_id)
    if not len(view):
        raise NotInRun(f"sample {sample_id}: not part of the run {agreement_key!r}")
    labels = read_labels(view, run.choice, again=True)
    compared: set[str] = set()
    if variations_key:
        named = load_figures(samples, variations_key, "variations")
        compared = set(named.figures["raters"] if len(_one_sample(samples, variations_key, sample_id)) else ())
    stored = _attributes(view, labels, agreement_key, variations_key)
    annotations = labels.annotations
    cells = _drawn(labels, stored)
    rater_of = dict(zip(annotations.id, annotations.raters[annotations.rater], strict=True))
    units = sorted({stored[key].unit for key in annotations.id if stored[key].unit is not None})
    column = {unit: number for number, unit in enumerate(units)}
    partners: list[set[str]] = [set() for _ in units]
    for key in annotations.id:
        if stored[key].unit is not None:
            partners[column[stored[key].unit]] |= {
                rater_of[match] for match in stored[key].matches if match in rater_of
            }
    grid = [
        [
            _empty(asked, rater in compared and rater not in matched)
            for rater, asked in zip(annotations.raters, annotations.assigned[0], strict=True)
        ]
        for matched in partners
    ]
    for row, key in enumerate(annotations.id):
        if stored[key].unit is not None:
            grid[column[stored[key].unit]][annotations.rater[row]] = cells[key]
    return SampleReport(
        alpha=view.values(RunNames(agreement_key).alpha)[0],
        raters=tuple(annotations.raters),
        units=tuple(units),
        cells=tuple(map(tuple, grid)),
        merged=tuple(_merged(cells, rater_of, stored)),
    )


def _drawn(labels: Labels, stored: dict[str, _Stored]) -> dict[str, Cell]:
    """Label id -> what was drawn."""
    annotations = labels.annotations
    return {
        key: Cell(
            state="drawn",
            category=str(annotations.categories[annotations.category[row]]),
            variation=stored[key].variation or "",
            similarity=stored[key].similarity,
            label_id=key,
            field=labels.fields[labels.path_of[row]],
        )
        for row, key in enumerate(annotations.id)
    }


def _merged(cells: dict[str, Cell], rater_of: dict[str, str], stored: dict[str, _Stored]) -> Iterator[MergedCells]:
    """Every mark with several partners by one rater: findings are one-to-one, so these are its parts."""
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


def _empty(asked: bool, missing: bool) -> Cell:
    if not asked:
        return Cell(state="not assigned")
    return Cell(state="no object", variation="missing" if missing else "")


@dataclass(frozen=True)
class _Stored:
    """What two runs wrote on one label."""

    unit: Any = None
    variation: str | None = None
    similarity: float | None = None
    matches: Sequence[str] = ()


def _attributes(view: Any, labels: Labels, agreement_key: str, variations_key: str | None) -> dict[str, _Stored]:
    """Label id -> what is stored on it."""
    found: dict[str, _Stored] = {}
    for path in labels.paths:
        names = [RunNames(agreement_key).unit]
        if variations_key:
            own = RunNames(variations_key)
            names += [own.variation, own.similarity, own.match]
        ids, *columns = [values[0] or [] for values in view.values([f"{path}.{name}" for name in ("id", *names)])]
        for place, label_id in enumerate(ids):
            unit, *rest = [values[place] if place < len(values) else None for values in columns]
            variation, similarity, matches = rest or (None, None, None)
            found[label_id] = _Stored(unit, variation, similarity, matches or ())
    return found
