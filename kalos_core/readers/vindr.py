"""Tables of boxes as VinDr-CXR has them: one row per rater and box, and a row "No finding" where there is none."""

from __future__ import annotations

import csv
import os
import warnings
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path

from kalos_core.annotations import Annotations, OnInvalid
from kalos_core.errors import InputError, KalosWarning, Problems, listed
from kalos_core.readers.files import as_float, as_path, read_text
from kalos_core.readers.findings import Findings

CORNERS = ("x_min", "y_min", "x_max", "y_max")

NO_FINDING = "No finding"

NO_FINDINGS = (NO_FINDING, "14")
"""Name and number of the class whose rows say that a rater annotated nothing."""

SIZE_COLUMNS = (("width", "height"), ("dim1", "dim0"))
"""Names under which tables hold width and height: VinDr's are those of an array, rows first."""


def read_vindr(
    path: str | os.PathLike[str],
    *,
    sizes: str | os.PathLike[str] | Mapping[str, tuple[float, float]] | None = None,
    on_invalid: OnInvalid = "raise",
) -> Annotations:
    r"""Boxes of several raters from a CSV file in the form of VinDr-CXR.

    Parameters
    ----------
    path : path
        Columns, in any order, others being ignored: ``image_id``, ``rad_id``, ``class_name`` or ``class_id`` or both,
        ``x_min``, ``y_min``, ``x_max``, ``y_max`` in pixels. A row of the class "No finding" without coordinates says
        that its rater looked and annotated nothing. A rater is assigned to the images they have a row of.
    sizes : path or mapping, optional
        Width and height of the images: a CSV file with the columns ``image_id`` and ``width``, ``height`` (or ``dim1``,
        ``dim0``), or a mapping image id -> (width, height). Unknown otherwise.
    on_invalid : "raise" or "skip"
        Boxes that cannot be used: an error, or left out with a warning and counted in `skipped`.

    Returns
    -------
    Annotations
        Ids are the numbers of the lines. Classes are in the order of ``class_id`` where all have a number, else in that
        of the file.

    Warns
    -----
    KalosWarning
        If a rater has boxes and "No finding" in one image (the boxes are kept), or boxes reach beyond their image.

    Raises
    ------
    InputError
        If the file cannot be read or lacks a column; or listing the lines and columns that cannot be used.

    Examples
    --------
    >>> import tempfile
    >>> text = "image_id,class_name,class_id,rad_id,x_min,y_min,x_max,y_max"
    >>> text += "\na,Nodule,8,R1,10,20,30,50\na,No finding,14,R2,,,,"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "train.csv"
    ...     _ = path.write_text(text)
    ...     annotations = read_vindr(path, sizes={"a": (100, 80)})
    >>> annotations.shapes["box"].xywh().tolist(), annotations.assigned.tolist()
    ([[10.0, 20.0, 20.0, 30.0]], [[True, True]])
    """
    source = as_path(path, "path")
    findings = Findings(source.name, on_invalid)
    classes = _Classes(findings.problems)
    annotated: set[tuple[str, str]] = set()
    found_none: dict[tuple[str, str], int] = {}
    known = _sizes(sizes)
    for line, row in _rows(source, ("image_id", "rad_id", *CORNERS)):
        record = f"line {line}"
        image, rater = row["image_id"], row["rad_id"]
        for column in ("image_id", "rad_id"):
            if not row[column]:
                findings.problems.add(f"{record}, column {column}", "a name", "nothing")
        width, height = known.get(image, (None, None))
        findings.add_image(image, record, file=image, size=findings.size_from(width, height, f"size of {image!r}"))
        findings.assign(image, rater)
        name = classes.name(row, record)
        given = [column for column in CORNERS if row[column]]
        if name in NO_FINDINGS:
            found_none.setdefault((image, rater), line)
            if given:
                findings.problems.add(record, f"no coordinates, as its class is {name!r}", listed(given))
            continue
        annotated.add((image, rater))
        x_min, y_min, x_max, y_max = corners = [as_float(row[column]) for column in CORNERS]
        if x_min is None or y_min is None or x_max is None or y_max is None:
            column = CORNERS[corners.index(None)]
            findings.fault(
                f"{record}, column {column}", image, "a number", repr(row[column]) if row[column] else "nothing"
            )
            continue
        findings.add_annotation(record, image, rater, name, id=line, box=[x_min, y_min, x_max - x_min, y_max - y_min])
    if not findings.files:
        raise InputError(f"{source}: expected at least one row below the header, got none")
    annotations = findings.build(order=classes.order())
    both = [
        f"{rater} on {image} (line {line})"
        for (image, rater), line in found_none.items()
        if (image, rater) in annotated
    ]
    if both:
        text = f"{source.name}: raters with boxes and {NO_FINDING!r} in one image, of whom the boxes are kept: "
        warnings.warn(text + listed(both), KalosWarning, stacklevel=2)
    return annotations


class _Classes:
    """Class names and numbers, which have to belong together."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.number_of: dict[str, str] = {}
        self.name_of: dict[str, str] = {}

    def name(self, row: Mapping[str, str], record: str) -> str:
        name, number = row.get("class_name", ""), row.get("class_id", "")
        if not name and not number:
            self.problems.add(f"{record}, column class_name", "a class", "nothing")
        if not name or not number:
            return name or number
        if self.number_of.setdefault(name, number) != number or self.name_of.setdefault(number, name) != name:
            expected = f"{self.name_of.get(number, name)!r} and {self.number_of[name]} to belong together, as before"
            self.problems.add(f"{record}, column class_id", expected, f"{name!r} with {number}")
        return name

    def order(self) -> list[str]:
        """Names in the order of their numbers, "No finding" being none of them."""
        numbers = {name: as_float(number) for name, number in self.number_of.items() if name not in NO_FINDINGS}
        whole = {name: number for name, number in numbers.items() if number is not None}
        return sorted(whole, key=whole.__getitem__) if len(whole) == len(numbers) else []


def _sizes(
    sizes: str | os.PathLike[str] | Mapping[str, tuple[float, float]] | None,
) -> Mapping[Hashable, tuple[object, object]]:
    if sizes is None:
        return {}
    if isinstance(sizes, Mapping):
        try:
            return {key: (width, height) for key, (width, height) in sizes.items()}
        except (TypeError, ValueError):
            raise InputError(f"sizes: expected (width, height) for every image, got {sizes!r:.200}") from None
    path = as_path(sizes, "sizes", "a path or a mapping")
    found: dict[Hashable, tuple[object, object]] = {}
    problems = Problems(path.name)
    for line, row in _rows(path, ("image_id",)):
        columns = next((pair for pair in SIZE_COLUMNS if set(pair) <= row.keys()), None)
        if columns is None:
            raise InputError(f"{path}: expected columns width and height, or dim1 and dim0, got {listed(row, 20)}")
        numbers = [as_float(row[column]) for column in columns]
        if None in numbers:
            problems.add(f"line {line}", f"numbers in {' and '.join(columns)}", listed(repr(row[c]) for c in columns))
        found[row["image_id"]] = (numbers[0], numbers[1])
    problems.raise_if_any()
    return found


def _rows(path: Path, needed: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and cells of every row, by the names of their columns."""
    lines = csv.reader(read_text(path, "CSV file").splitlines(keepends=True))
    try:
        header = [name.strip() for name in next(lines, [])]
        missing = [name for name in needed if name not in header]
        if missing:
            raise InputError(
                f"{path}: expected the columns {listed(needed, 20)}, got {listed(header, 20) or 'nothing'}"
            )
        for cells in lines:
            if len(cells) > len(header):
                raise InputError(f"{path}: line {lines.line_num}: expected {len(header)} cells, got {len(cells)}")
            if cells:
                padded = cells + [""] * (len(header) - len(cells))
                yield lines.line_num, {name: cell.strip() for name, cell in zip(header, padded, strict=True)}
    except csv.Error as error:
        raise InputError(f"{path}: expected CSV, got {error} in line {lines.line_num}") from error
