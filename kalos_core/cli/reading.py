"""Input of commands: labels in any format there is a reader for."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kalos_core import Annotations, LabelTable, MaskStack, mask_stacks, read_mask_folders
from kalos_core.cli.options import Given, Option, options_of
from kalos_core.errors import InputError, listed, lookup
from kalos_core.readers import FORMATS, read_labels, read_long_labels, read_wide_labels
from kalos_core.readers.files import read_text
from kalos_core.readers.mask_folders import ENDINGS

TABLES: dict[str, Callable[..., LabelTable]] = {"long": read_long_labels, "wide": read_wide_labels}
"""Name of a format of image-level labels -> its reader."""

MASKS = "mask_folders"
"""Name of the format of a folder of masks for each rater."""


def format_option(*known: str) -> Option:
    """The option that names the format of the input."""
    text = f"format of the input: {', '.join(sorted(known))}, or auto, which looks at the file"
    return Option("format", (str,), help=text, default="auto")


OF_ANNOTATIONS = (format_option(*FORMATS), *options_of(*FORMATS.values()))
OF_TABLES = (format_option(*TABLES), *options_of(*TABLES.values()))
OF_MASKS = (format_option(MASKS, *FORMATS), *options_of(read_mask_folders, mask_stacks, *FORMATS.values()))
"""Options of `annotations_of`, `table_of` and `stacks_of`."""


def annotations_of(given: Given, path: Path) -> Annotations:
    """Annotations of several raters in a file or folder.

    Parameters
    ----------
    given : Given
        Its ``format``, and options of that format's reader.
    path : Path

    Raises
    ------
    InputError
        As `kalos_core.readers.read_labels`.
    """
    return read_labels(path, given.get("format", "auto"), **given.of(*FORMATS.values()))


def table_of(given: Given, path: Path) -> LabelTable:
    """Image-level labels in a CSV file: long where the columns of items, raters and labels are there, else wide.

    Raises
    ------
    InputError
        As the readers of tables, or for an option that the reader of this format does not have.
    """
    format = given.get("format", "auto")
    if format == "auto" and not _is_csv(path):
        raise InputError(f"{path}: expected a CSV file, or a format for a file of another ending: long or wide")
    reader = lookup(TABLES, ("long" if is_long(given, path) else "wide") if format == "auto" else format, "format")
    return reader(path, **_own(given, reader, "tables"))


def _own(given: Given, reader: Callable[..., Any], kind: str) -> dict[str, Any]:
    """The options for a reader; one that only others have is an error."""
    others: dict[str, tuple[Callable[..., Any], ...]] = {
        "tables": tuple(TABLES.values()),
        "masks": (read_mask_folders, mask_stacks, *FORMATS.values()),
    }
    strange = [name for name in given.of(*others[kind]) if name not in given.of(reader)]
    if strange:
        raise InputError(f"{reader.__name__}: expected no option {listed(strange)}, which only other formats have")
    return given.of(reader)


def is_long(given: Given, path: Path) -> bool:
    """Whether a file is a table with a row for each image-level label."""
    if not _is_csv(path):
        return False
    try:
        header = next(csv.reader(read_text(path, "CSV file").splitlines()[:1]), [])
    except csv.Error:
        return False  # the reader says why
    return {given.get(name, name) for name in ("item", "rater", "label")} <= {name.strip() for name in header}


def _is_csv(path: Path) -> bool:
    return not path.is_dir() and ".csv" in [ending.lower() for ending in path.suffixes[-2:]]


def stacks_of(given: Given, path: Path) -> Iterator[MaskStack]:
    """Masks of several raters, image by image: from a folder for each rater, or drawn from annotations.

    Raises
    ------
    InputError
        As `read_mask_folders`, or the reader of annotations and `mask_stacks`.
    """
    format = given.get("format", "auto")
    is_masks = format == MASKS or (format == "auto" and _holds_masks(path))
    if is_masks:
        return read_mask_folders(path, **_own(given, read_mask_folders, "masks")).stacks()
    return mask_stacks(annotations_of(given, path), **given.of(mask_stacks))


def _holds_masks(path: Path) -> bool:
    return path.is_dir() and any(file.suffix.lower() in ENDINGS for file in path.glob("*/*"))
