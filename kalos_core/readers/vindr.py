"""Reader of VinDr-CXR's tables: one row per rater and box, and a row "No finding" for an image without boxes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from kalos_core.annotations import Annotations
from kalos_core.errors import InputError, Problems, listed, warn
from kalos_core.files import as_float, as_path
from kalos_core.options import takes
from kalos_core.readers.cells import is_missing
from kalos_core.readers.findings import Findings
from kalos_core.readers.settings import ReaderSettings, reading
from kalos_core.readers.sizes import Sizes, read_sizes
from kalos_core.readers.tables import read_table

CORNERS = ("x_min", "y_min", "x_max", "y_max")

COLUMNS = ("image_id", "rad_id", *CORNERS)
"""Columns of every such table."""

NO_FINDING = "No finding"

NO_FINDINGS = (NO_FINDING, "14")
"""Name and number of the class for images in which a rater annotated nothing."""


@dataclass(frozen=True, kw_only=True)
class VindrSettings(ReaderSettings):
    """Options of `read_vindr`."""

    sizes: Sizes = None


@takes(VindrSettings)
@reading
def read_vindr(path: str | os.PathLike[str], settings: VindrSettings) -> Annotations:
    r"""Read boxes of several raters from a CSV file in the format of VinDr-CXR.

    Parameters
    ----------
    path : path
        A file with the columns ``image_id``, ``rad_id``, ``class_name`` or ``class_id`` or both, ``x_min``, ``y_min``,
        ``x_max``, ``y_max`` in pixels, in any order. Other columns are ignored. A row of the class "No finding" without
        coordinates means that its rater saw the image and annotated nothing. A rater is assigned to the images for
        which they have a row.

    Returns
    -------
    Annotations
        Ids are line numbers. Classes are in the order of ``class_id`` if all have a number, else in the order of the
        file.

    Warns
    -----
    KalosWarning
        If a rater has boxes and "No finding" in one image (the boxes are kept), or boxes reach beyond their image.

    Raises
    ------
    InputError
        If the file cannot be read, lacks a column, or has invalid values (all are listed by line and column).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
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
    findings = Findings(source.name, settings.on_invalid)
    classes = _Classes(findings.problems)
    annotated: set[tuple[str, str]] = set()
    found_none: dict[tuple[str, str], int] = {}
    known = read_sizes(settings.sizes)
    for line, cells in read_table(source, "CSV file", COLUMNS).rows():
        row = {name: "" if is_missing(cell) else cell for name, cell in cells.items()}
        record = f"line {line}"
        image, rater = row["image_id"], row["rad_id"]
        for column in ("image_id", "rad_id"):
            if not row[column]:
                findings.problems.add(f"{record}, column {column}", "a name", "nothing")
        width, height = known(image)
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
        text = f"{source.name}: raters with boxes and {NO_FINDING!r} in one image, whose boxes are kept: "
        warn(text + listed(both))
    return annotations


class _Classes:
    """Class names and their numbers, checked for consistency."""

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
        """Return the names in the order of their numbers, without "No finding"."""
        numbers = {name: as_float(number) for name, number in self.number_of.items() if name not in NO_FINDINGS}
        whole = {name: number for name, number in numbers.items() if number is not None}
        return sorted(whole, key=whole.__getitem__) if len(whole) == len(numbers) else []
