"""Reader of labels in any supported format."""

from __future__ import annotations

import mimetypes
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kalos_core.annotations import Annotations
from kalos_core.errors import InputError, listed, lookup
from kalos_core.files import as_path, entries_of, open_file
from kalos_core.options import checked, declared_by
from kalos_core.readers.box_tables import PARQUET, read_boxes
from kalos_core.readers.coco import read_coco
from kalos_core.readers.cvat import read_cvat
from kalos_core.readers.datumaro import read_datumaro
from kalos_core.readers.dota import looks_like_dota, read_dota
from kalos_core.readers.label_studio import read_label_studio
from kalos_core.readers.labelme import read_labelme
from kalos_core.readers.lidc import read_lidc
from kalos_core.readers.mask_folders import LABEL_MAPS
from kalos_core.readers.via import read_via
from kalos_core.readers.vindr import COLUMNS as VINDR_COLUMNS
from kalos_core.readers.vindr import read_vindr
from kalos_core.readers.voc import read_voc
from kalos_core.readers.yolo import OTHER_FILES, read_yolo
from kalos_core.readers.zooniverse import COLUMNS as ZOONIVERSE_COLUMNS
from kalos_core.readers.zooniverse import read_zooniverse

FORMATS: dict[str, Callable[..., Annotations]] = {
    "coco": read_coco,
    "boxes": read_boxes,
    "vindr": read_vindr,
    "voc": read_voc,
    "yolo": read_yolo,
    "dota": read_dota,
    "cvat": read_cvat,
    "datumaro": read_datumaro,
    "label_studio": read_label_studio,
    "labelme": read_labelme,
    "via": read_via,
    "lidc": read_lidc,
    "zooniverse": read_zooniverse,
}
"""Name of a format -> its reader."""

TABLES = (".csv", ".tsv", *PARQUET)

START = 4096
"""Number of bytes at the beginning of a file from which its format is detected."""


@checked
def read_labels(
    labels: str | os.PathLike[str] | Mapping[str, Any], format: str = "auto", **options: Any
) -> Annotations:
    """Read labels of several raters from a file or folder of any supported format.

    Parameters
    ----------
    labels : path or mapping
        A mapping is the content of a COCO file.
    format : str
        A name in `FORMATS`, or "auto" to detect the format:

        * A CSV or Parquet file is a table of boxes, or of VinDr or Zooniverse if it has their columns.
        * An XML file or folder is CVAT, Pascal VOC or LIDC-IDRI, depending on the beginning of the first file.
        * A folder of JSON files is COCO, labelme, VIA or Datumaro, depending on the field names.
        * A folder of text files is YOLO or DOTA, a folder of CSV files VIA, a zip file CVAT.
        * A JSON list is Label Studio. A JSON object is LIDC-IDRI if it has "scans" at its beginning; otherwise its
          field names decide, and by default it is COCO.
    **options
        Options of the format's reader.

    Raises
    ------
    InputError
        As raised by the format's reader; or for an unknown format or option.

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
    """Return the name of the format of some labels, and its reader; see `read_labels`."""
    guessed = isinstance(format, str) and format == "auto"
    if guessed and isinstance(labels, Mapping):
        format = "coco"
    elif guessed:
        format = guess_format(as_path(labels, "labels", "a path, or the content of a COCO file as a mapping"))
    return format, lookup(FORMATS, format, "format")


def options_of(reader: Callable[..., Annotations]) -> list[str]:
    """List the names of a reader's options.

    Examples
    --------
    >>> options_of(read_vindr)
    ['on_invalid', 'sizes']
    """
    return [entry.name for entry in declared_by(reader)]


def guess_format(path: Path) -> str:
    """Return the most likely format of a file or folder.

    Raises
    ------
    InputError
        If a folder has no file of a format that is read from folders.

    Examples
    --------
    >>> guess_format(Path("train.parquet")), guess_format(Path("absent.json"))
    ('boxes', 'coco')
    """
    if os.path.isdir(path):
        return _guess_folder(path)
    start = _start(path)
    endings = [ending.lower() for ending in path.suffixes]
    if endings[-1:] == [".gz"]:
        endings.pop()
    if endings and endings[-1] in TABLES:
        return _guess_table(start)
    if path.suffix.lower() == ".zip":
        return "cvat"
    if path.suffix.lower() == ".xml":
        if b"LidcReadMessage" in start or b"IdriReadMessage" in start:
            return "lidc"
        return "voc" if re.search(rb"<annotation[\s/>]", start) else "cvat"
    return "lidc" if b'"scans"' in start else _of_json(start) or "coco"


LOOKED_AT = 20
"""Number of files per extension in a folder that are opened to detect its format."""


def _guess_folder(folder: Path) -> str:
    """Return the format of the first type of file that exists: XML, known JSON, text, CSV of VIA, zip files."""
    found = _files_inside(folder)
    if xml := found.get(".xml"):
        return guess_format(xml[0])
    formats = [_of_json(_start(path)) for path in found.get(".json", ())]
    known = [name for name in formats if name in OF_FOLDERS]
    if known:
        return known[0]
    texts = [path for path in found.get(".txt", ()) if path.name.lower() not in OTHER_FILES]
    if texts and not any(path.name.lower() in LABEL_MAPS for path in texts):
        return "dota" if any(looks_like_dota(_start(path).decode("utf-8", "replace")) for path in texts) else "yolo"
    if any(_guess_table(_start(path)) == "via" for path in found.get(".csv", ())):
        return "via"
    if ".zip" in found:
        return "cvat"
    there = listed((f"{ending or 'no ending'} ({paths[0].name})" for ending, paths in sorted(found.items())), 10)
    more = ""
    if "label_studio" in formats:
        more = "; for an export of Label Studio give the JSON file itself"
    elif any(ending in found for ending in TABLES):
        more = "; give the table itself"
    elif any(mimetypes.guess_type(f"a{ending}")[0] in IMAGES for ending in found):
        more = "; `kalos-core pixels` reads folders of masks"
    raise InputError(
        f"{folder}: expected XML files (Pascal VOC, CVAT, LIDC-IDRI), text files (YOLO, DOTA), JSON files (COCO, "
        f"labelme, VIA, Datumaro) or zip files of CVAT, at any depth, got {there or 'no files'}{more}"
    )


OF_FOLDERS = ("coco", "labelme", "via", "datumaro")
"""Formats of JSON files that are read from folders."""

IMAGES = ("image/png", "image/tiff", "image/jpeg", "image/bmp")


def _files_inside(folder: Path) -> dict[str, list[Path]]:
    """Return extension -> first files of it at any depth; stops at the first XML file, as trees of scans are large."""
    found: dict[str, list[Path]] = {}
    waiting = [folder]
    while waiting and ".xml" not in found:
        folders, files = entries_of(waiting.pop())
        waiting += reversed(folders)
        for path in files:
            paths = found.setdefault(path.suffix.lower(), [])
            if len(paths) < LOOKED_AT:
                paths.append(path)
    return found


def _of_json(start: bytes) -> str:
    """Return the format of a JSON file by the field names at its beginning; "" if it is unknown."""
    if start.startswith(b"["):
        return "label_studio"
    names = set(re.findall(rb'"(\w+)"\s*:', start))
    if b"completed_by" in names:  # a single task
        return "label_studio"
    if names & {b"shapes", b"imagePath", b"imageData"}:
        return "labelme"
    if b"_via_img_metadata" in names or b"_via_settings" in names or names >= {b"filename", b"regions"}:
        return "via"
    if b"dm_format_version" in names or re.search(rb'"categories"\s*:\s*\{', start):
        return "datumaro"
    if names >= {b"project", b"pid"}:  # VIA 3, for which the reader raises a specific error
        return "via"
    listed_only = b"annotations" in names and names & {b"image_id", b"category_id", b"info", b"licenses", b"categories"}
    return "coco" if b"images" in names or listed_only or names >= {b"categories", b"licenses"} else ""


def _guess_table(start: bytes) -> str:
    header = start.splitlines()[0].decode("utf-8", "replace") if start else ""
    columns = {name.strip().strip('"') for name in header.split(",")}
    if set(ZOONIVERSE_COLUMNS) <= columns:
        return "zooniverse"
    if "region_shape_attributes" in columns:
        return "via"
    return "vindr" if set(VINDR_COLUMNS) <= columns else "boxes"


def _start(path: Path) -> bytes:
    """Return the beginning of a file, unpacked; empty if it cannot be read, as the reader reports that later."""
    try:
        with open_file(path, "file of labels") as file:
            start: bytes = file.read(START)
            return start.removeprefix(b"\xef\xbb\xbf").lstrip()
    except InputError:
        return b""
