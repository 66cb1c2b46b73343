"""Input of commands: labels in any format that has a reader."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeVar

from kalos_core import Annotations, LabelStack, LabelTable, MaskStack, read_mask_folders
from kalos_core.cli.options import INPUT, Flag, Given, options_of, reader_options
from kalos_core.distributed import open_shards
from kalos_core.distributed.folder import LIST
from kalos_core.errors import InputError, KalosWarning, listed, lookup
from kalos_core.files import files_below
from kalos_core.pixels import mask_stacks
from kalos_core.readers import (
    FORMATS,
    BsdsFiles,
    MaskFolders,
    read_bsds,
    read_cvat_tags,
    read_label_studio_choices,
    read_long_labels,
    read_wide_labels,
    read_zooniverse_answers,
)
from kalos_core.readers.folders import IMAGE_FOLDERS
from kalos_core.readers.formats import find_reader, guess_format
from kalos_core.readers.label_tables import looks_long
from kalos_core.readers.mask_folders import ENDINGS
from kalos_core.sharding import Sharded

TABLES: dict[str, Callable[..., LabelTable]] = {
    "long": read_long_labels,
    "wide": read_wide_labels,
    "label_studio": read_label_studio_choices,
    "zooniverse": read_zooniverse_answers,
    "cvat": read_cvat_tags,
}
"""Name of a format of image-level labels -> its reader."""

MASKS: dict[str, Callable[..., MaskFolders | BsdsFiles]] = {"mask_folders": read_mask_folders, "bsds": read_bsds}
"""Name of a format of masks -> its reader."""

T = TypeVar("T")


def format_option(*known: str) -> Flag:
    """Return the option for the format of the input."""
    names = ("auto", *sorted({*known}))
    text = "Format of the input; auto detects it from the content."
    return Flag("format", Literal[names], text, "auto", INPUT, choices=dict.fromkeys(names, ""))


DASK = Flag(
    "dask", str, "For a folder of shards: address of a Dask scheduler whose workers do the computation.", group=INPUT
)
OF_ANNOTATIONS = (format_option(*FORMATS), *reader_options(FORMATS))
OF_TABLES = (format_option(*TABLES), *reader_options(TABLES))
OF_LABEL_MAPS = (format_option(*MASKS), *reader_options(MASKS))
OF_MASKS = (
    format_option(*MASKS, *FORMATS),
    *options_of(mask_stacks, group=INPUT),
    *reader_options({**MASKS, **FORMATS}),
)
"""Options of `annotations_of`, `table_of` and `stacks_of`."""


def annotations_of(given: Given, path: Path) -> Annotations:
    """Read annotations of several raters from a file or folder.

    Parameters
    ----------
    given : Given
        ``format``, and options of that format's reader.
    path : Path

    Raises
    ------
    InputError
        As raised by `kalos_core.readers.read_labels`.
    """
    found = _read(FORMATS, find_reader(path, given.get("format", "auto"))[0], given, path)
    given.read[str(path)] = found.account.record()
    return found


def annotations_or_shards(given: Given, path: Path) -> Annotations | Sharded[Annotations]:
    """Open a folder that `kalos-core shards` wrote, or read the annotations of any other input.

    Raises
    ------
    InputError
        As raised by `annotations_of`; for an option of a reader with a folder of shards, or ``dask`` without one.
    """
    if not (path / LIST).is_file():
        if "dask" in given.values:
            raise InputError(f"{path}: expected a folder of shards (kalos-core shards) with --dask, got other input")
        return annotations_of(given, path)
    strange = given_to_readers(given)
    if strange:
        raise InputError(f"{path}: expected no option of a reader for a folder of shards, got {listed(strange)}")
    return open_shards(path, given.get("dask"), progress=given.progress)


def given_to_readers(given: Given) -> list[str]:
    """Return the given options of the reader of annotations."""
    names = {option.name for option in OF_ANNOTATIONS}
    return [option.flag for option in given.options if option.name in names and option.name in given.values]


def table_of(given: Given, path: Path) -> LabelTable:
    """Read image-level labels from a table, or from the choices, answers or tags in an export of a tool.

    A CSV file is in long format if it has columns for items, raters and labels, otherwise in wide format.

    Raises
    ------
    InputError
        As raised by the readers of tables, or for an option that the reader of this format does not have.
    """
    format = given.get("format", "auto")
    if format == "auto" and is_long(given, path):
        format = "long"
    elif format == "auto":
        guessed = guess_format(path)
        format = guessed if guessed in TABLES else "wide"
        if format == "wide" and not _is_csv(path):
            raise InputError(
                f"{path}: expected a CSV file with columns for item, rater and label (--item, --rater, --label), or an "
                f"export in one of the formats {listed(TABLES, 10)} (--format), got a file that looks like "
                f"{guessed}; kalos-core agreement reads annotations of objects"
            )
    found = _read(TABLES, format, given, path)
    given.read[str(path)] = found.account.record()
    return found


def _read(readers: Mapping[str, Callable[..., T]], format: str, given: Given, path: Path) -> T:
    """Read a path in a format; an option that only another reader has is an error."""
    reader = lookup(readers, format, "format")
    given.check_format(format, path)
    return reader(path, **given.of(reader))


def is_table(given: Given, path: Path) -> bool:
    """Check whether the input is image-level labels rather than annotations of objects.

    It is if the format is one of tables, or an option that only tables have is given. Otherwise the content decides: a
    table with one row per label, or an export of a tool with choices, answers or tags and without shapes.
    """
    format = given.get("format", "auto")
    if format in TABLES and format not in FORMATS:
        return True
    if format not in (*TABLES, "auto"):
        return False
    if set(given.of(*TABLES.values())) - set(given.of(*FORMATS.values())):
        return True
    if format == "auto" and is_long(given, path):
        return True
    return (guess_format(path) if format == "auto" else format) in TABLES and not _has_shapes(given, path)


def _has_shapes(given: Given, path: Path) -> bool:
    """Check whether an export has annotations of objects, or nothing that `table_of` reads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)
        try:
            account = annotations_of(Given(given.values, given.paths), path).account
        except InputError:
            return True  # the reader raises the error later
    return bool(account.read) or not any("kalos-core labels" in why for why in account.left_out)


def is_long(given: Given, path: Path) -> bool:
    """Check whether a file is a table with one row per image-level label."""
    if not _is_csv(path):
        return False
    return looks_long(path, {name: given.get(name) for name in ("item", "rater", "label")})


def _is_csv(path: Path) -> bool:
    return not path.is_dir() and bool({".csv", ".tsv", ".tab"} & {ending.lower() for ending in path.suffixes[-2:]})


def stacks_of(given: Given, path: Path) -> Iterator[MaskStack]:
    """Return masks of several raters, image by image, from mask files or rasterised from annotations.

    Raises
    ------
    InputError
        As raised by the readers of masks, or the reader of annotations and `mask_stacks`; or for an option that the
        reader of this format does not have.
    """
    format = given.get("format", "auto")
    if format == "auto":
        format = _guess_masks(path)
    if format in MASKS:
        return _read(MASKS, format, given, path).stacks()
    return mask_stacks(annotations_of(given, path), **given.of(mask_stacks))


def label_stacks_of(given: Given, path: Path) -> Iterator[LabelStack]:
    """Return label maps of several raters from files, image by image.

    Raises
    ------
    InputError
        As raised by the readers of masks, or for annotations, which may overlap.
    """
    format = given.get("format", "auto")
    format = _guess_masks(path) if format == "auto" else format
    if format not in MASKS:
        raise InputError(
            f"{path}: expected a folder of label maps (PNG, TIFF) with one folder per rater, or .mat files of BSDS, "
            "got neither; use --format to set the format"
        )
    return _read(MASKS, format, given, path).label_stacks()


def _guess_masks(path: Path) -> str:
    files = files_below(path) if path.is_dir() else []
    if any(file.suffix.lower() == ".mat" for file in (path, *files)):
        return "bsds"
    inside = (file for file in files if IMAGE_FOLDERS.isdisjoint(part.lower() for part in file.parts))
    return "mask_folders" if any(file.suffix.lower() in ENDINGS for file in inside) else "auto"
