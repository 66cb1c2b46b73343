"""A file of labels in any format there is a reader for."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kalos_core.annotations import Annotations
from kalos_core.errors import InputError, listed, lookup
from kalos_core.files import as_path, open_file
from kalos_core.readers.box_tables import PARQUET, read_boxes
from kalos_core.readers.coco import read_coco
from kalos_core.readers.cvat import read_cvat
from kalos_core.readers.label_studio import read_label_studio
from kalos_core.readers.lidc import read_lidc
from kalos_core.readers.vindr import COLUMNS as VINDR_COLUMNS
from kalos_core.readers.vindr import read_vindr
from kalos_core.readers.voc import read_voc
from kalos_core.readers.yolo import read_yolo
from kalos_core.readers.zooniverse import COLUMNS as ZOONIVERSE_COLUMNS
from kalos_core.readers.zooniverse import read_zooniverse

FORMATS: dict[str, Callable[..., Annotations]] = {
    "coco": read_coco,
    "boxes": read_boxes,
    "vindr": read_vindr,
    "voc": read_voc,
    "yolo": read_yolo,
    "cvat": read_cvat,
    "label_studio": read_label_studio,
    "lidc": read_lidc,
    "zooniverse": read_zooniverse,
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
        A name in `FORMATS`, or "auto": a CSV or Parquet file is a table of boxes, or VinDr's or Zooniverse's if it has
        their columns; a folder or a file of XML is CVAT's, Pascal VOC's or LIDC-IDRI's by what the first file begins
        with; a folder of text files is YOLO's; a JSON list is Label Studio's, a JSON object is COCO unless "scans"
        stands at its beginning.
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
    name, reader = find_reader(labels, format)
    accepted = options_of(reader)
    strange = [option for option in options if option not in accepted]
    if strange:
        raise InputError(f"format {name!r}: expected options among {listed(accepted, 10)}, got {listed(strange)}")
    return reader(labels, **options)


def find_reader(labels: Any, format: Any = "auto") -> tuple[str, Callable[..., Annotations]]:
    """The name of the format of some labels, and its reader; see `read_labels`."""
    guessed = isinstance(format, str) and format == "auto"
    if guessed and isinstance(labels, Mapping):
        format = "coco"
    elif guessed:
        format = guess_format(as_path(labels, "labels", "a path, or the mapping a COCO file holds"))
    return format, lookup(FORMATS, format, "format")


def options_of(reader: Callable[..., Annotations]) -> list[str]:
    """Names of a reader's options.

    Examples
    --------
    >>> options_of(read_vindr)
    ['sizes', 'on_invalid']
    """
    return list(inspect.signature(reader).parameters)[1:]


def guess_format(path: Path) -> str:
    """The name of the format that a file or folder is most likely of.

    Examples
    --------
    >>> guess_format(Path("train.parquet")), guess_format(Path("absent.json"))
    ('boxes', 'coco')
    """
    if os.path.isdir(path):
        inside = _first_inside(path, ".xml")
        return guess_format(inside) if inside else "yolo" if _first_inside(path, ".txt") else "cvat"
    start = _start(path)
    endings = [ending.lower() for ending in path.suffixes]
    if endings[-1:] == [".gz"]:
        endings.pop()
    if endings and endings[-1] in TABLES:
        return _guess_table(start)
    if path.suffix.lower() == ".xml":
        if b"LidcReadMessage" in start or b"IdriReadMessage" in start:
            return "lidc"
        return "voc" if re.search(rb"<annotation[\s>]", start) else "cvat"
    if start.startswith(b"["):
        return "label_studio"
    return "lidc" if b'"scans"' in start else "coco"


def _first_inside(folder: Path, ending: str) -> Path | None:
    """The first file of that ending at any depth; not all of a tree of scans is listed for it."""
    for place, folders, files in os.walk(folder):
        folders.sort()
        found = min((name for name in files if name.lower().endswith(ending) and name[0] != "."), default=None)
        if found is not None:
            return Path(place, found)
    return None


def _guess_table(start: bytes) -> str:
    header = start.splitlines()[0].decode("utf-8", "replace") if start else ""
    columns = {name.strip().strip('"') for name in header.split(",")}
    if set(ZOONIVERSE_COLUMNS) <= columns:
        return "zooniverse"
    return "vindr" if set(VINDR_COLUMNS) <= columns else "boxes"


def _start(path: Path) -> bytes:
    """The beginning of a file, unpacked; nothing where it cannot be read, which its reader will say."""
    try:
        with open_file(path, "file of labels") as file:
            start: bytes = file.read(START)
            return start.removeprefix(b"\xef\xbb\xbf").lstrip()
    except InputError:
        return b""
