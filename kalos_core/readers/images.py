"""Matching of the images of a source with files or with known images."""

from __future__ import annotations

import mimetypes
import os
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.display import number_of
from kalos_core.errors import InputError, Problems, listed, repr_of, text_of
from kalos_core.files import as_path, entries_of, open_image
from kalos_core.limits import limit

LONGEST_NAME = 255
"""Maximum number of bytes in the name of a file or folder on common file systems."""


class ImageFiles:
    """Image files in some folders only, as file names may come from untrusted sources.

    If a source names its images without an extension (VinDr's ids), the file of that name with any extension matches.

    Parameters
    ----------
    labels : path, mapping or Annotations
        Source; by default its images are searched for next to it.
    images : path, optional
        Folder of the images.
    outside : bool
        Whether a file may lie outside the folders: by an absolute name, ``..``, or a link.

    Examples
    --------
    >>> Path("photos").mkdir()
    >>> for name in ("photos/a.png", "b.png"):
    ...     Path(name).touch()
    >>> files = ImageFiles(None, "photos")
    >>> Path(files.find("a.png")).name, files.find("../b.png"), files.is_outside("../b.png")
    ('a.png', '', True)
    """

    def __init__(self, labels: Any, images: Any, outside: bool = False) -> None:
        self.folders = _folders(labels, images)
        self.outside = outside
        self._within = [folder.resolve() for folder in self.folders]

    def find(self, file: str) -> str:
        """Return the path of an image, "" if it is not in the folders."""
        return next((path for path in self._named(file) if self.outside or self._holds(path)), "")

    def is_outside(self, file: str) -> bool:
        """Check whether a file of the name exists, but outside the folders."""
        return any(not self._holds(path) for path in self._named(file))

    def _named(self, file: str) -> list[str]:
        """Return the paths of the files of a name, inside or outside the folders."""
        candidates = [Path(file)] if Path(file).is_absolute() else [folder / file for folder in self.folders]
        found = [str(path.resolve()) for path in candidates if os.path.isfile(path)]
        stem = file if file and not Path(file).suffix else None
        return found or ([self._by_stem[stem]] if stem in self._by_stem else [])

    def _holds(self, path: str) -> bool:
        return any(Path(path).is_relative_to(folder) for folder in self._within)

    @cached_property
    def _by_stem(self) -> dict[str | None, str]:
        files = [path for folder in reversed(self.folders) if os.path.isdir(folder) for path in entries_of(folder)[1]]
        return {path.stem: str(path.resolve()) for path in files if is_image_name(path.name)}


class KnownImages:
    """Known images, by the names of their files.

    Parameters
    ----------
    paths : mapping of str to str
        Key -> path of the file.

    Examples
    --------
    >>> known = KnownImages({"1": "/a/x.png", "2": "/b/x.png"})
    >>> known.find("x.png"), known.find("x"), known.within("b/x.png", ["1", "2"])
    (['1', '2'], ['1', '2'], ['2'])
    """

    def __init__(self, paths: Mapping[str, str]) -> None:
        self.paths = paths
        self._by_name = _grouped((Path(path).name, key) for key, path in paths.items())
        self._by_stem = _grouped((Path(path).stem, key) for key, path in paths.items())

    def find(self, file: str) -> list[str]:
        """Return the keys of all images whose file has the name of `file`, in any folder."""
        name = Path(file).name
        return self._by_name.get(name) or ([] if Path(name).suffix else self._by_stem.get(name, []))

    def within(self, file: str, keys: Iterable[str]) -> list[str]:
        """Return the keys whose paths end with the folders and the name of `file`."""
        parts = [part for part in Path(file).parts if part not in ("/", ".")]
        paths = {key: Path(self.paths[key]) for key in keys}
        ends = {key: (path if Path(file).suffix else path.with_suffix("")).parts for key, path in paths.items()}
        return [key for key, end in ends.items() if parts and list(end[-len(parts) :]) == parts]

    def match(self, items: Sequence[Hashable], source: str, noun: str = "item") -> dict[Any, str]:
        """Return item -> key for items that are keys or file names, with as many folders as needed to be unique.

        Parameters
        ----------
        items : sequence
        source, noun : str
            Name of the source and word for an item, in messages.

        Raises
        ------
        InputError
            If an item matches no known image or several, or two items match the same image. The message lists them.

        Examples
        --------
        >>> KnownImages({"1": "/a/x.png", "2": "/b/x.png"}).match(["a/x.png", "2"], "table")
        {'a/x.png': '1', '2': '2'}
        """
        problems, item_of = Problems(source), dict[str, Any]()
        for item in items:
            name, record = text_of(item), f"{noun} {item!r}"
            same = [name] if name in self.paths else self.find(name)
            if len(same) > 1:
                same = self.within(name, same) or same
            if len(same) > 1:
                problems.add(record, "one sample of that file name", f"{len(same)}; name its folders, too")
            elif not same:
                problems.add(record, "the id or file name of a sample", "none of these")
            elif item_of.setdefault(same[0], item) != item:
                problems.add(record, "each sample once", f"that of {item_of[same[0]]!r} again")
        problems.raise_if_any()
        return {item: key for key, item in item_of.items()}


@dataclass(frozen=True, eq=False)
class Placement:
    """Locations of the I images of a table.

    Parameters
    ----------
    known : (I,) of str or None
        Key of the matching known image; None for a new image.
    path : (I,) of str
        Path of a new image; "" for a known image.
    missing : list of str
        Missing files, in whose place a neutral canvas of the right size must be created.
    image_size : (I, 2) float64
        Width and height, from the table or else from the image file.
    """

    known: list[str | None]
    path: list[str]
    missing: list[str]
    image_size: NDArray[np.float64]


def place_images(
    annotations: Annotations, source: str, known: KnownImages, files: ImageFiles, canvas: Path | None = None
) -> Placement:
    """Find each image of a table among the known images, or else its file.

    Parameters
    ----------
    annotations : Annotations
    source : str
        Name of the source, for messages.
    known : KnownImages
        Images match by file name; if the name is not unique, also by folders.
    files : ImageFiles
    canvas : path, optional
        Folder for canvases in place of missing images; with None, a missing image is an error.

    Raises
    ------
    InputError
        If an image matches several, has an unknown size, or has no valid file name; if its file is not an image, is
        outside the folders, or belongs to another image; or if images are missing.

    Examples
    --------
    >>> rows = [{"image": "a.png", "rater": "ann", "category": "cat", "box": [0, 0, 9, 9]}]
    >>> table = Annotations.from_rows(rows, image_size={"a.png": (20, 10)})
    >>> place_images(table, "rows", KnownImages({"1": "/images/a.png"}), ImageFiles(table, None)).known
    ['1']
    """
    wanted = Counter(Path(file).name for file in annotations.files)
    sizes, problems = annotations.image_size.copy(), Problems(source)
    place, taken, image_of = Placement([], [], [], sizes), set[str](), dict[str, object]()
    for row, file in enumerate(annotations.files):
        record, name = f"image {annotations.images[row]!r}", Path(file).name
        of_name = found = known.find(file)
        if len(found) > 1 or wanted[name] > 1:  # the name is not unique: compare folders, too
            found = known.within(file, found)
        is_name = can_be_file(file)
        path = files.find(file) if is_name and not found else ""
        size = _size_in(path, record, problems) if path else None
        if not np.isfinite(sizes[row]).all():
            sizes[row] = size or (image_size_of(known.paths[found[0]]) if found else None) or np.nan
        if not file:
            problems.add(record, "a file_name", "nothing")
        elif not is_name:
            problems.add(record, "a file_name that a file can have", repr_of(file))
        elif len(found) > 1 or not taken.isdisjoint(found):
            problems.add(record, f"one image for one sample of the file name {file!r}", "several")
        elif not found and not path and of_name and wanted[name] == 1:
            problems.add(record, f"one sample of the file name {file!r}", f"{len(of_name)} of that name")
        elif not found and not path and files.is_outside(file):
            problems.add(
                record,
                f"a file in the folder of the images ({_named(files)})",
                f"{file!r}: outside_images=True allows files outside it",
            )
        elif not np.isfinite(sizes[row]).all() and (size or not path):
            problems.add(record, "a width and height, as coordinates are relative to them", "none")
        elif not found and not path:
            place.missing.append(file)
            path = "" if canvas is None else _canvas_of(file, record, canvas, sizes[row], problems)
        if path and image_of.setdefault(path, annotations.images[row]) != annotations.images[row]:
            problems.add(record, "a file of its own", f"{file!r}, which is that of image {image_of[path]!r}, too")
        taken.update(found)
        place.known.append(found[0] if found else None)
        place.path.append(path)
    problems.raise_if_any()
    if place.missing and canvas is None:
        raise InputError(
            f"images: expected a folder with all {number_of(len(annotations.files), 'image')} of {source}, got none "
            f"for {len(place.missing):,}, such as {place.missing[0]!r} (looked in: {_named(files)}); to use grey "
            "canvases in their place, pass a folder as canvas"
        )
    return place


def _canvas_of(file: str, record: str, canvas: Path, size: NDArray[np.float64], problems: Problems) -> str:
    """Return the path of a canvas for a missing image; record a problem if it is not possible."""
    if not is_image_name(file):
        problems.add(record, "a file name that ends as those of images do, to draw a canvas", repr_of(file))
        return ""
    if size.prod() > (most := limit("KALOS_MOST_PIXELS")):
        expected = f"a canvas of at most {most:,} pixels (KALOS_MOST_PIXELS in the environment raises the limit)"
        problems.add(record, expected, f"{size[0]:g} x {size[1]:g}")
        return ""
    path = os.path.normpath(canvas / file.lstrip("/"))
    if not Path(os.path.realpath(path)).is_relative_to(canvas.resolve()):  # due to "..", or a link, possibly dangling
        problems.add(record, f"a file name within {canvas}", repr_of(file))
        return ""
    if os.path.lexists(path):
        _size_in(path, record, problems)
    return path


def _size_in(path: str, record: str, problems: Problems) -> tuple[float, float] | None:
    """Return width and height of an image file; record a problem if it is not an image."""
    try:
        return read_image_size(path)
    except InputError as error:
        problems.add(record, "an image", f"{Path(path).name!r}: {str(error).removeprefix(f'{path}: ')}")
        return None


def _named(files: ImageFiles) -> str:
    """List the folders, for messages."""
    return listed(files.folders, 4) or "none was given"


def can_be_file(name: str) -> bool:
    """Check whether a name is a possible file name.

    Examples
    --------
    >>> can_be_file("scans/a.png"), can_be_file(""), can_be_file("a" * 256), can_be_file("e" + chr(0) + ".png")
    (True, False, False, False)
    """
    try:
        parts = [os.fsencode(part) for part in Path(name).parts]
    except UnicodeEncodeError:
        return False
    return bool(name) and "\0" not in name and all(len(part) <= LONGEST_NAME for part in parts)


def is_image_name(file: str) -> bool:
    """Check whether a file name has the extension of an image.

    Examples
    --------
    >>> is_image_name("a.png"), is_image_name("scan"), is_image_name("film.mp4")
    (True, False, False)
    """
    return (mimetypes.guess_type(file)[0] or "").startswith("image/")


def image_size_of(path: str | os.PathLike[str]) -> tuple[float, float] | None:
    """Return width and height of an image file, None if it cannot be opened."""
    try:
        return read_image_size(path)
    except InputError:
        return None


def read_image_size(path: str | os.PathLike[str]) -> tuple[float, float]:
    """Return width and height of an image file.

    Raises
    ------
    InputError
        If it is not an image.
    """
    with open_image(path) as opened:
        return (float(opened.width), float(opened.height))


def _grouped(entries: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for name, key in entries:
        grouped.setdefault(name, []).append(key)
    return grouped


def _folders(labels: Any, images: Any) -> list[Path]:
    if images is not None:
        folder = as_path(images, "images", "a folder")
        if not os.path.isdir(folder):
            raise InputError(f"images: expected a folder, got {folder}")
        return [folder]
    if isinstance(labels, (Annotations, Mapping)):
        return []
    given = Path(os.fsdecode(labels))
    beside = given if os.path.isdir(given) else given.parent
    return [beside / name for name in ("images", "data", "train", "")]
