"""Which file, and which sample of a data set, an image of a source is."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import fiftyone.core.media as fom
from PIL import Image

from kalos_core.annotations import Annotations
from kalos_core.errors import InputError, Problems


class ImageFiles:
    """Image files in some folders.

    A source may name its images without an ending (VinDr's ids): then the file of that name with any ending is it.
    """

    def __init__(self, labels: Any, images: Any) -> None:
        self.folders = _folders(labels, images)

    def find(self, file: str) -> str:
        """The path of an image, "" where there is none."""
        candidates = [Path(file)] if Path(file).is_absolute() else [folder / file for folder in self.folders]
        found = next((str(path.resolve()) for path in candidates if path.is_file()), "")
        return found or (self._by_stem.get(file, "") if file and not Path(file).suffix else "")

    @cached_property
    def _by_stem(self) -> dict[str, str]:
        files = [path for folder in reversed(self.folders) if folder.is_dir() for path in sorted(folder.iterdir())]
        return {path.stem: str(path.resolve()) for path in files if fom.get_media_type(str(path)) == fom.IMAGE}


class StoredFiles:
    """The samples of a data set, by the name of their file."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        self._by_name = _grouped((Path(path).name, key, path) for key, path in paths.items())
        self._by_stem = _grouped((Path(path).stem, key, path) for key, path in paths.items())

    def find(self, file: str) -> list[tuple[str, str]]:
        """Id and path of every sample whose file has the name of `file`, whatever its folder."""
        name = Path(file).name
        return self._by_name.get(name) or ([] if Path(name).suffix else self._by_stem.get(name, []))


def _grouped(entries: Iterable[tuple[str, str, str]]) -> dict[str, list[tuple[str, str]]]:
    grouped: dict[str, list[tuple[str, str]]] = {}
    for name, key, path in entries:
        grouped.setdefault(name, []).append((key, path))
    return grouped


def image_size_of(path: str) -> tuple[float, float] | None:
    """Width and height of an image file, None where it cannot be opened."""
    try:
        with Image.open(path) as opened:
            return (float(opened.width), float(opened.height))
    except (OSError, ValueError, Image.DecompressionBombError):
        return None


def ends_with(path: str, file: str) -> bool:
    """Whether a path ends in all folders and the name of `file`."""
    parts = [part for part in Path(file).parts if part not in ("/", ".")]
    return list(Path(path).parts[-len(parts) :]) == parts if parts else False


def _folders(labels: Any, images: Any) -> list[Path]:
    if images is not None:
        folder = Path(images)
        if not folder.is_dir():
            raise InputError(f"images: expected a folder, got {folder}")
        return [folder]
    if isinstance(labels, (Annotations, Mapping)):
        return []
    given = Path(os.fsdecode(labels))
    beside = given if given.is_dir() else given.parent
    return [beside / name for name in ("images", "data", "train", "")]


def match_items(samples: Any, items: Sequence[Hashable], source: str) -> dict[Any, str]:
    """Item -> sample id, for sample ids and file names, these with as many of their folders as tell them apart.

    Raises
    ------
    InputError
        Naming the items that are no sample, or several, and those that are the same sample as another.
    """
    paths = dict(zip(*samples.values(["id", "filepath"]), strict=True))
    stored, problems = StoredFiles(paths), Problems(source)
    found: dict[Any, str] = {}
    item_of: dict[str, Any] = {}
    for item in items:
        name = str(item)
        same = [(name, paths[name])] if name in paths else stored.find(name)
        if len(same) > 1:
            same = [(key, path) for key, path in same if ends_with(path, name)] or same
        record = f"item {item!r}"
        if not same:
            problems.add(record, "the id or file name of a sample", "none of these")
        elif len(same) > 1:
            problems.add(record, "one sample of that file name", f"{len(same)}; name its folders, too")
        elif same[0][0] in item_of:
            problems.add(record, "each sample once", f"that of {item_of[same[0][0]]!r} again")
        else:
            found[item] = same[0][0]
            item_of[same[0][0]] = item
    problems.raise_if_any()
    return found
