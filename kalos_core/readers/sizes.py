"""Width and height of images whose labels do not contain them."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated

from kalos_core.annotations import as_name
from kalos_core.errors import InputError, Problems, listed, repr_of
from kalos_core.files import as_float, as_path
from kalos_core.options import Option
from kalos_core.readers.images import ImageFiles, image_size_of, is_image_name
from kalos_core.readers.tables import read_table

Sizes = Annotated[
    str | os.PathLike[str] | Mapping[str, tuple[float, float]] | None,
    Option(
        "Sizes of the images",
        "Width and height of the images: a folder of them, a CSV file, or a mapping image -> (width, height).",
        type="path or mapping, optional",
    ),
]

SizeOf = Callable[[Hashable], tuple[object, object]]
"""Image -> width and height as in the source; None and None if unknown."""

COLUMNS = {
    "image": ("image_id", "image", "file", "file_name", "filename", "name"),
    "width": ("width", "w", "image_width", "dim1"),
    "height": ("height", "h", "image_height", "dim0"),
}
"""Content of a table of sizes -> names of its column, in lower case; VinDr's dim0 and dim1 are rows and columns."""


def read_sizes(sizes: Sizes) -> SizeOf:
    """Return a function that looks up the size of an image.

    Parameters
    ----------
    sizes : path or mapping, optional
        A CSV file, a folder of the images, opened on demand, or a mapping image -> (width, height). The columns of the
        file are image (or image_id, file, file_name, filename, name), width (w, image_width, dim1) and height (h,
        image_height, dim0), in pixels. An image is found by its path, with or without folders and extension.

    Raises
    ------
    InputError
        If the argument is none of these, a column of the file is missing or ambiguous, or a line has no numbers.

    Examples
    --------
    >>> size_of = read_sizes({"a.jpg": (20, 10)})
    >>> size_of("a.jpg"), size_of("a"), size_of("b.jpg")
    ((20, 10), (20, 10), (None, None))
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
    return _finder(found)


def _finder(found: Mapping[Hashable, tuple[object, object]]) -> SizeOf:
    """Return a lookup of sizes by key, else by the end of the path without extension if it is unambiguous."""
    paths: dict[str, list[tuple[tuple[str, ...], tuple[object, object]]]] = {}
    for key, size in found.items():
        if isinstance(key, str):
            parts = _parts(key)
            paths.setdefault(parts[-1], []).append((parts, size))

    def size_of(image: Hashable) -> tuple[object, object]:
        if image in found or not paths or not isinstance(image, str):
            return found.get(image, (None, None))
        parts = _parts(image)
        sizes = [
            size
            for known, size in paths.get(parts[-1], ())
            if all(a == b for a, b in zip(reversed(known), reversed(parts), strict=False))
        ]
        return sizes[0] if sizes and all(size == sizes[0] for size in sizes) else (None, None)

    return size_of


def _parts(name: str) -> tuple[str, ...]:
    """Return folders and name of a file, without the extension of an image."""
    path = PurePosixPath(name.replace("\\", "/"))
    return (path.with_suffix("") if is_image_name(path.name) else path).parts or (name,)


def _of_table(path: Path) -> dict[Hashable, tuple[object, object]]:
    found: dict[Hashable, tuple[object, object]] = {}
    problems = Problems(path.name)
    table = read_table(path, "CSV file")
    columns = {what: _column(path, what, list(table.columns)) for what in COLUMNS}
    for line, row in table.rows():
        cells = [row[columns[side]] for side in ("width", "height")]
        numbers = [as_float(cell) for cell in cells]
        if None in numbers:
            expected = f"numbers in {columns['width']} and {columns['height']}"
            problems.add(f"line {line}", expected, listed(map(repr, cells)))
        found[row[columns["image"]]] = (numbers[0], numbers[1])
    problems.raise_if_any()
    return found


def _column(path: Path, what: str, names: Sequence[str]) -> str:
    """Return the only column with the requested content."""
    fits = [name for name in names if name.lower() in COLUMNS[what]]
    if len(fits) == 1:
        return fits[0]
    expected = f"one column for the {what} ({', '.join(COLUMNS[what])})"
    actual = f"{listed(fits, 20)}; rename or remove all but one" if fits else listed(names, 20) or "nothing"
    raise InputError(f"{path}: expected {expected}, got {actual}")
