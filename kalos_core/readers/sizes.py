"""Width and height of the images, where the labels themselves do not say them."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Hashable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from kalos_core.annotations import as_name
from kalos_core.errors import InputError, Problems, listed, repr_of
from kalos_core.files import as_float, as_path, read_text
from kalos_core.readers.images import ImageFiles, image_size_of

Sizes: TypeAlias = "str | os.PathLike[str] | Mapping[str, tuple[float, float]] | None"
"""A CSV file, a folder of the images, or a mapping image -> (width, height)."""

SizeOf = Callable[[Hashable], tuple[object, object]]
"""Image -> width and height as they stand in the source; None and None where they are not known."""

SIZE_COLUMNS = (("width", "height"), ("dim1", "dim0"))
"""Names under which tables hold width and height: VinDr's are those of an array, rows first."""


def read_sizes(sizes: Sizes) -> SizeOf:
    """What is known of the sizes of images.

    Parameters
    ----------
    sizes : path or mapping, optional
        A CSV file with the columns ``image_id`` and ``width``, ``height`` (or ``dim1``, ``dim0``), a folder of the
        images, opened when they are asked for, or a mapping image -> (width, height).

    Raises
    ------
    InputError
        If the argument is none of these, or a line of the file has no numbers.

    Examples
    --------
    >>> size_of = read_sizes({"a.jpg": (20, 10)})
    >>> size_of("a.jpg"), size_of("b.jpg")
    ((20, 10), (None, None))
    """
    found: dict[Hashable, tuple[object, object]] = {}
    if isinstance(sizes, Mapping):
        try:
            found = {as_name(key): (width, height) for key, (width, height) in sizes.items()}
        except (TypeError, ValueError):
            raise InputError(f"sizes: expected (width, height) for every image, got {repr_of(sizes)}") from None
    elif sizes is not None:
        path = as_path(sizes, "sizes", "a path or a mapping")
        if os.path.isdir(path):
            files = ImageFiles(None, path)
            return lambda image: image_size_of(files.find(str(image))) or (None, None)
        found = _of_table(path)
    return lambda image: found.get(image, (None, None))


def _of_table(path: Path) -> dict[Hashable, tuple[object, object]]:
    found: dict[Hashable, tuple[object, object]] = {}
    problems = Problems(path.name)
    for line, row in csv_rows(path, ("image_id",)):
        columns = next((pair for pair in SIZE_COLUMNS if set(pair) <= row.keys()), None)
        if columns is None:
            raise InputError(f"{path}: expected columns width and height, or dim1 and dim0, got {listed(row, 20)}")
        numbers = [as_float(row[column]) for column in columns]
        if None in numbers:
            problems.add(f"line {line}", f"numbers in {' and '.join(columns)}", listed(repr(row[c]) for c in columns))
        found[row["image_id"]] = (numbers[0], numbers[1])
    problems.raise_if_any()
    return found


def csv_rows(path: Path, needed: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
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
