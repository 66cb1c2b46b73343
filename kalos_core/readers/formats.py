"""A file of labels in any format there is a reader for."""

from __future__ import annotations

import gzip
import inspect
import os
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kalos_core.annotations import Annotations
from kalos_core.errors import InputError, listed, lookup
from kalos_core.readers.box_tables import PARQUET, read_boxes
from kalos_core.readers.coco import read_coco
from kalos_core.readers.cvat import read_cvat
from kalos_core.readers.files import as_path
from kalos_core.readers.label_studio import read_label_studio
from kalos_core.readers.lidc import read_lidc
from kalos_core.readers.vindr import COLUMNS as VINDR_COLUMNS
from kalos_core.readers.vindr import read_vindr

FORMATS: dict[str, Callable[..., Annotations]] = {
    "coco": read_coco,
    "boxes": read_boxes,
    "vindr": read_vindr,
    "cvat": read_cvat,
    "label_studio": read_label_studio,
    "lidc": read_lidc,
}
"""Name of a format -> its reader."""

TABLES = (".csv", ".tsv", *PARQUET)

START = 4096
"""Bytes of a file that tell its format."""


def read_labels(
    labels: str | os.PathLike[str] | Mapping[str, Any], format: str = "auto", **options: Any
) -> Annotations:
    """Labels of several raters from a file or folder of any format.

    Parameters
    ----------
    labels : path or mapping
        A mapping is the content of a COCO file.
    format : str
        A name in `FORMATS`, or "auto": a CSV or Parquet file is a table of boxes, VinDr's if it has its columns; a
        folder or a file of XML is CVAT's unless it is LIDC-IDRI's; a JSON list is Label Studio's, a JSON object is COCO
        unless "scans" stands at its beginning.
    **options
        Of the format's reader.

    Raises
    ------
    InputError
        As the format's reader; or for a format or an option that is not known.

    Examples
    --------
    >>> labels = {"images": [{"id": 1, "rater_list": ["ann"]}], "annotations": [], "categories": []}
    >>> read_labels(labels).raters.tolist()
    ['ann']
    >>> read_labels(labels, format="excel")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    kalos_core.errors.InputError: format: expected one of 'boxes', ..., got 'excel'
    """
    if format == "auto" and isinstance(labels, Mapping):
        format = "coco"
    elif format == "auto":
        format = guess_format(as_path(labels, "labels", "a path, or the mapping a COCO file holds"))
    reader = lookup(FORMATS, format, "format")
    accepted = list(inspect.signature(reader).parameters)[1:]
    strange = [name for name in options if name not in accepted]
    if strange:
        raise InputError(f"format {format!r}: expected options among {listed(accepted, 10)}, got {listed(strange)}")
    return reader(labels, **options)


def guess_format(path: Path) -> str:
    """The name of the format that a file or folder is most likely of.

    Examples
    --------
    >>> guess_format(Path("train.parquet")), guess_format(Path("absent.json"))
    ('boxes', 'coco')
    """
    if path.is_dir():
        inside = sorted(file for file in path.rglob("*") if file.suffix.lower() == ".xml")
        return guess_format(inside[0]) if inside else "cvat"
    start = _start(path)
    endings = [ending.lower() for ending in path.suffixes]
    if endings[-1:] == [".gz"]:
        endings.pop()
    if endings and endings[-1] in TABLES:
        return _guess_table(start)
    if path.suffix.lower() == ".xml":
        return "lidc" if b"LidcReadMessage" in start or b"IdriReadMessage" in start else "cvat"
    if start.startswith(b"["):
        return "label_studio"
    return "lidc" if b'"scans"' in start else "coco"


def _guess_table(start: bytes) -> str:
    header = start.splitlines()[0].decode("utf-8", "replace") if start else ""
    columns = {name.strip().strip('"') for name in header.split(",")}
    return "vindr" if set(VINDR_COLUMNS) <= columns else "boxes"


def _start(path: Path) -> bytes:
    """The beginning of a file, unpacked; nothing where it cannot be read, which its reader will say."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            return file.read(START).removeprefix(b"\xef\xbb\xbf").lstrip()
    except (OSError, EOFError, ValueError, zlib.error):
        return b""
