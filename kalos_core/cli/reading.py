"""Input of commands: labels in any format there is a reader for."""

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
    """The option that names the format of the input."""
    names = ("auto", *sorted({*known}))
    text = "Format of the input; auto looks at the file."
    return Flag("format", Literal[names], text, "auto", INPUT, choices=dict.fromkeys(names, ""))


DASK = Flag(
    "dask", str, "For a folder of shards: address of a Dask scheduler, by whose workers it is done.", group=INPUT
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
    found = _read(FORMATS, find_reader(path, given.get("format", "auto"))[0], given, path)
    given.read[str(path)] = found.account.record()
    return found


def annotations_or_shards(given: Given, path: Path) -> Annotations | Sharded[Annotations]:
    """The shards of a folder that `kalos-core shards` wrote; of any other input its annotations.

    Raises
    ------
    InputError
        As `annotations_of`; for an option of a reader, which shards do not need, or workers for what is no folder of
        shards.
    """
    if not (path / LIST).is_file():
        if "dask" in given.values:
            raise InputError(f"{path}: expected a folder of shards (kalos-core shards) to give to --dask, got another")
        return annotations_of(given, path)
    strange = given_to_readers(given)
    if strange:
        raise InputError(f"{path}: expected no option of a reader for a folder of shards, got {listed(strange)}")
    return open_shards(path, given.get("dask"), progress=given.progress)


def given_to_readers(given: Given) -> list[str]:
    """The options given that are for the reader of annotations."""
    names = {option.name for option in OF_ANNOTATIONS}
    return [option.flag for option in given.options if option.name in names and option.name in given.values]


def table_of(given: Given, path: Path) -> LabelTable:
    """Image-level labels of a table, or the choices, answers or tags in an export of a tool.

    A CSV file is long where it has the columns of items, raters and labels, and else wide.

    Raises
    ------
    InputError
        As the readers of tables, or for an option that the reader of this format does not have.
    """
    format = given.get("format", "auto")
    if format == "auto" and is_long(given, path):
        format = "long"
    elif format == "auto":
        guessed = guess_format(path)
        format = guessed if guessed in TABLES else "wide"
        if format == "wide" and not _is_csv(path):
            raise InputError(
                f"{path}: expected a CSV file with columns for item, rater and label (--item, --rater, --label name "
                f"them), or an export that --format names ({listed(TABLES, 10)}), got a file that looks like "
                f"{guessed}; kalos-core agreement reads annotations of objects"
            )
    found = _read(TABLES, format, given, path)
    given.read[str(path)] = found.account.record()
    return found


def _read(readers: Mapping[str, Callable[..., T]], format: str, given: Given, path: Path) -> T:
    """What a reader answers; an option that only another one has is an error."""
    reader = lookup(readers, format, "format")
    given.check_format(format, path)
    return reader(path, **given.of(reader))


def is_table(given: Given, path: Path) -> bool:
    """Whether the input is image-level labels, and no annotations of objects.

    A format of tables is named, or an option that only tables have is given; or, by what is in it, the file is a table
    with a row a label or the export of a tool without a shape, but with choices, answers or tags.
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
    """Whether an export has annotations of objects, or nothing that `table_of` reads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)
        try:
            account = annotations_of(Given(given.values, given.paths), path).account
        except InputError:
            return True  # its reader says what is wrong
    return bool(account.read) or not any("kalos-core labels" in why for why in account.left_out)


def is_long(given: Given, path: Path) -> bool:
    """Whether a file is a table with a row for each image-level label."""
    if not _is_csv(path):
        return False
    return looks_long(path, {name: given.get(name) for name in ("item", "rater", "label")})


def _is_csv(path: Path) -> bool:
    return not path.is_dir() and bool({".csv", ".tsv", ".tab"} & {ending.lower() for ending in path.suffixes[-2:]})


def stacks_of(given: Given, path: Path) -> Iterator[MaskStack]:
    """Masks of several raters, image by image: from files of masks, or rasterised from annotations.

    Raises
    ------
    InputError
        As the readers of masks, or the reader of annotations and `mask_stacks`; or for an option that the reader of
        this format does not have.
    """
    format = given.get("format", "auto")
    if format == "auto":
        format = _guess_masks(path)
    if format in MASKS:
        return _read(MASKS, format, given, path).stacks()
    return mask_stacks(annotations_of(given, path), **given.of(mask_stacks))


def label_stacks_of(given: Given, path: Path) -> Iterator[LabelStack]:
    """Label maps of several raters in files, image by image.

    Raises
    ------
    InputError
        As the readers of masks, or for annotations, which may overlap.
    """
    format = given.get("format", "auto")
    format = _guess_masks(path) if format == "auto" else format
    if format not in MASKS:
        raise InputError(
            f"{path}: expected a folder of label maps (PNG, TIFF) with a folder a rater, or .mat files of BSDS, got "
            "neither; --format names what it is"
        )
    return _read(MASKS, format, given, path).label_stacks()


def _guess_masks(path: Path) -> str:
    if path.suffix.lower() == ".mat" or any(path.rglob("*.mat")):
        return "bsds"
    inside = (file for file in path.rglob("*") if IMAGE_FOLDERS.isdisjoint(part.lower() for part in file.parts))
    return "mask_folders" if any(file.suffix.lower() in ENDINGS for file in inside) else "auto"
