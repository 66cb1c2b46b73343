"""Report on one image: the value from every rater for each unit, and annotations that others split into parts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from kalos_core.annotations import Annotations
from kalos_core.errors import InputError
from kalos_core.options import checked


@dataclass(frozen=True)
class Finding:
    """Relation of an annotation to one other rater: variation type, rater, and similarity."""

    variation: str
    rater: str
    similarity: float | None = None


@dataclass(frozen=True)
class Findings:
    """Findings on one annotation.

    Parameters
    ----------
    unit : int, optional
        Unit it belongs to; None if it was never matched.
    matches : sequence of ids
        Annotations that it is matched with.
    towards : tuple of Finding
        Relation to each other rater.
    field : str
        Field where it is stored.
    """

    unit: int | None = None
    matches: Sequence[str] = ()
    towards: tuple[Finding, ...] = ()
    field: str = ""


@dataclass(frozen=True)
class Cell:
    """Value from one rater for one unit.

    Parameters
    ----------
    state : str
        "annotated", "no object" (assigned, annotated nothing) or "not assigned".
    category : str
        Class; "" unless annotated.
    findings : tuple of Finding
        Relation to each other rater; `missing` if no annotation of the unit has a partner by this rater. Empty if
        unknown.
    label_id, field : str
        Id and field of the annotation; "" unless annotated.
    """

    state: str
    category: str = ""
    findings: tuple[Finding, ...] = ()
    label_id: str = ""
    field: str = ""


@dataclass(frozen=True)
class MergedCells:
    """Annotation that several annotations of another rater match together, and these parts."""

    whole_rater: str
    parts_rater: str
    whole: Cell
    parts: tuple[Cell, ...]


@dataclass(frozen=True)
class ImageReport:
    """One image: its alpha, a table of units x raters, and annotations that another rater split into parts."""

    alpha: float | None
    raters: tuple[str, ...]
    units: tuple[int, ...]
    cells: tuple[tuple[Cell, ...], ...]
    merged: tuple[MergedCells, ...] = ()


@checked
def image_report(
    annotations: Annotations,
    findings: Sequence[Findings],
    alpha: float | None = None,
    compared: Collection[str] = (),
) -> ImageReport:
    """Create the report on one image, with its table of units x raters.

    Parameters
    ----------
    annotations : Annotations
        Annotations of one image.
    findings : (N,) Findings
        Findings on each annotation.
    alpha : float, optional
        Alpha of the image.
    compared : collection of str
        Raters whose variations are known.

    Returns
    -------
    ImageReport

    Examples
    --------
    >>> rows = [{"image": 1, "rater": "ann", "category": "cat", "box": [0, 0, 9, 9]}]
    >>> image = Annotations.from_rows(rows, raters=["ann", "bob", "cid"], assigned={1: ["ann", "bob"]})
    >>> found = Findings(unit=0, towards=(Finding("additional", "bob"),))
    >>> (row,) = image_report(image, [found], compared=["ann", "bob"]).cells
    >>> [cell.state for cell in row], row[1].findings
    (['annotated', 'no object', 'not assigned'], (Finding(variation='missing', rater='ann', similarity=None),))
    """
    if len(findings) != len(annotations):
        raise InputError(f"findings: expected {len(annotations):,}, one an annotation, got {len(findings):,}")
    rater_of = annotations.raters[annotations.rater].tolist()
    names = annotations.categories[annotations.category].tolist()
    cells = [
        Cell("annotated", str(name), found.towards, label_id, found.field)
        for name, found, label_id in zip(names, findings, annotations.id.tolist(), strict=True)
    ]
    partners = _partners(annotations.id.tolist(), rater_of, findings)
    units = sorted({found.unit for found in findings if found.unit is not None})
    grid = []
    for unit in units:
        rows = [row for row, found in enumerate(findings) if found.unit == unit]
        members = {rater_of[row]: cells[row] for row in rows}
        matched = {rater_of[partner] for row in rows for partner in partners[row]}
        grid.append(
            tuple(
                members[rater] if rater in members else _empty(assigned, rater in {*compared} - matched, members)
                for rater, assigned in zip(annotations.raters, annotations.assigned[0], strict=True)
            )
        )
    merged = tuple(_merged(cells, rater_of, partners))
    return ImageReport(alpha, tuple(annotations.raters), tuple(units), tuple(grid), merged)


def _partners(ids: Sequence[str], rater_of: Sequence[str], findings: Sequence[Findings]) -> list[list[int]]:
    """Return for each annotation the rows of its matches that still exist.

    Copied annotations of several raters share an id. In that case, the match is the one of a rater towards whom
    there is a match.
    """
    rows_of: dict[str, list[int]] = {}
    for row, label_id in enumerate(ids):
        rows_of.setdefault(label_id, []).append(row)
    partners = []
    for found in findings:
        raters = {finding.rater for finding in found.towards if finding.variation != "additional"}
        rows = [row for match in dict.fromkeys(found.matches) for row in rows_of.get(match, ())]
        partners.append([row for row in rows if rater_of[row] in raters])
    return partners


def _merged(cells: Sequence[Cell], rater_of: Sequence[str], partners: Sequence[Sequence[int]]) -> Iterator[MergedCells]:
    """Yield every annotation with several partners by a rater: other matches are one-to-one, so they are its parts."""
    for whole, whole_rater, rows in zip(cells, rater_of, partners, strict=True):
        parts: dict[str, list[Cell]] = {}
        for row in rows:
            parts.setdefault(rater_of[row], []).append(cells[row])
        for rater, several in parts.items():
            if len(several) > 1:
                yield MergedCells(whole_rater, rater, whole, tuple(several))


def _empty(assigned: bool, missing: bool, members: Iterable[str]) -> Cell:
    if not assigned:
        return Cell(state="not assigned")
    return Cell(state="no object", findings=tuple(Finding("missing", rater) for rater in members) if missing else ())
