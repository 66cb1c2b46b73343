"""A folder of shards: its list of files, and reading them one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, object_array
from kalos_core.distributed.schema import (
    SHAPES,
    Vocabulary,
    arrow,
    image_fields,
    read_tables,
)
from kalos_core.errors import InputError, listed
from kalos_core.shapes import Boxes

LIST = "dataset.json"
"""The file that lists the shards; it is written last, so that a folder without it is none of shards."""

FORMAT, VERSION = "kalos shards", 1
"""What the list calls itself, and the version of the schema."""

IDS = ("int", "text", "mixed")


@dataclass(frozen=True)
class ShardFiles:
    """One shard: names of its two files in the folder, its first image's number, and what it holds."""

    images_file: str
    annotations_file: str
    first_image: int
    images: int
    annotations: int
    crowds: int


@dataclass(frozen=True)
class Shard:
    """One shard as it is sent to whoever works on it; it is read there.

    Parameters
    ----------
    folder : str
        The folder or address, as of `fsspec`.
    files : ShardFiles
    vocabulary : Vocabulary
    options : dict
        Of `fsspec`, such as keys.
    """

    folder: str
    files: ShardFiles
    vocabulary: Vocabulary
    options: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The file of its annotations, for messages."""
        return f"{self.folder.rstrip('/')}/{self.files.annotations_file}"

    def read(self) -> Annotations:
        """Its table of annotations.

        Raises
        ------
        InputError
            Naming the file, if it is absent, no Parquet, of another schema or of other images.
        """
        images, rows = self._table(self.files.images_file), self._table(self.files.annotations_file)
        expected = (self.files.images, self.files.annotations + self.files.crowds)
        if (len(images), len(rows)) != expected:
            raise InputError(
                f"{self.name}: expected {expected[0]:,} images and {expected[1]:,} annotations, as {LIST} says, "
                f"got {len(images):,} and {len(rows):,}"
            )
        try:
            return read_tables(images, rows, self.vocabulary, self.files.first_image)
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from None

    def read_images(self) -> dict[str, Any]:
        """Only what is known of its images: fields of `Annotations`."""
        images = self._table(self.files.images_file)
        try:
            return image_fields(images, self.vocabulary)
        except InputError as error:
            raise InputError(f"{self.folder.rstrip('/')}/{self.files.images_file}: {error}") from None

    def _table(self, name: str) -> Any:
        pa = arrow()
        path = f"{self.folder.rstrip('/')}/{name}"
        try:
            files, inside = file_system(self.folder, self.options)
            with files.open(f"{inside}/{name}", "rb") as file:
                return pa.parquet.read_table(file)
        except FileNotFoundError:
            raise InputError(f"{path}: expected a file, as {LIST} says, got none") from None
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"{path}: expected a Parquet file, got one that cannot be read: {error}") from None


@dataclass(frozen=True)
class Shards:
    """A data set of annotations as shards, in the order of their images.

    Parameters
    ----------
    folder : str
    vocabulary : Vocabulary
    files : tuple of ShardFiles
    options : dict
        Of `fsspec`.

    Examples
    --------
    >>> from kalos_core.distributed import write_shards
    >>> rows = [{"image": i, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for i in range(5) for r in "ab"]
    >>> shards = write_shards(Annotations.from_rows(rows), "shards", images_per_shard=2)
    >>> len(shards), shards.images, shards.annotations, [len(shard.read()) for shard in shards]
    (3, 5, 10, [4, 4, 2])
    """

    folder: str
    vocabulary: Vocabulary
    files: tuple[ShardFiles, ...]
    options: dict[str, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self) -> Iterator[Shard]:
        return (Shard(self.folder, files, self.vocabulary, self.options) for files in self.files)

    @property
    def images(self) -> int:
        """How many images there are."""
        return sum(files.images for files in self.files)

    @property
    def annotations(self) -> int:
        """How many annotations there are, crowd regions not among them."""
        return sum(files.annotations for files in self.files)

    def without_annotations(self) -> Annotations:
        """The table of all images, raters and classes, and who was assigned, without a single annotation."""
        fields = [shard.read_images() for shard in self]
        firsts = [files.first_image for files in self.files]
        excluded = [part["excluded"] + (first, 0, 0) for part, first in zip(fields, firsts, strict=True)]
        names = ("images", "files", "image_size", "assigned", "crowds", "skipped")
        of_images: dict[str, Any] = {name: np.concatenate([part[name] for part in fields]) for name in names}
        none = np.zeros(0, np.intp)
        return Annotations(
            **of_images,
            **self.vocabulary.fields(),
            excluded=np.concatenate(excluded),
            image=none,
            rater=none,
            category=none,
            id=none,
            shapes={"box": Boxes.from_xywh([])},
        )

    def as_json(self) -> str:
        """The text of the list of shards."""
        head = {"format": FORMAT, "version": VERSION, "images": self.images, "annotations": self.annotations}
        shards = [asdict(files) for files in self.files]
        return json.dumps({**head, **asdict(self.vocabulary), "shards": shards}, ensure_ascii=False, indent=1) + "\n"


def file_system(folder: str, options: dict[str, Any]) -> tuple[Any, str]:
    """The file system of a folder or address, and the folder's path in it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise InputError(
            "expected fsspec, which opens addresses, got none: pip install 'kalos-fiftyone[dask]'"
        ) from None
    try:
        files, inside = url_to_fs(folder, **options)
    except (ValueError, ImportError) as error:
        raise InputError(f"{folder}: expected a folder, or an address that fsspec opens: {error}") from None
    return files, str(inside).rstrip("/")


def open_shards(folder: Any, options: dict[str, Any] | None = None) -> Shards:
    """The shards of a folder, as `write_shards` made them; no shard is read.

    Parameters
    ----------
    folder : path, address of `fsspec`, or Shards
    options : dict, optional
        Of `fsspec`, such as keys.

    Raises
    ------
    InputError
        For a folder that is none of shards.

    Examples
    --------
    >>> open_shards("none")
    Traceback (most recent call last):
    kalos_core.errors.InputError: none: expected a folder of shards, as write_shards makes it, got no dataset.json
    """
    if isinstance(folder, Shards):
        return folder
    where, options = str(folder), options or {}
    files, inside = file_system(where, options)
    path = f"{where.rstrip('/')}/{LIST}"
    try:
        with files.open(f"{inside}/{LIST}", "rb") as file:
            content = json.loads(file.read().decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise InputError(f"{where}: expected a folder of shards, as write_shards makes it, got no {LIST}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: expected the list of shards as JSON, got what cannot be read: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT or content.get("version") != VERSION:
        found = [content.get("format"), content.get("version")] if isinstance(content, dict) else content
        raise InputError(f"{path}: expected a list of {FORMAT!r} of version {VERSION}, got {found!r:.100}")
    try:
        return _checked(where, content, options)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path}: expected what write_shards writes, got {type(error).__name__}: {error}") from None


def _checked(folder: str, content: dict[str, Any], options: dict[str, Any]) -> Shards:
    names = ("raters", "person", "session", "categories", "shapes")
    limits = content["assigned_categories"]
    vocabulary = Vocabulary(
        **{name: tuple(map(str, content[name])) for name in names},
        assigned_categories=None if limits is None else {name: tuple(limits[name]) for name in content["raters"]},
        raters_are_local=bool(content["raters_are_local"]),
        ids=content["ids"],
    )
    if vocabulary.ids not in IDS or not set(vocabulary.shapes) <= set(SHAPES):
        raise InputError(f"{folder}/{LIST}: expected ids of {listed(IDS)} and shapes of {listed(SHAPES)}, got others")
    files = sorted((ShardFiles(**entry) for entry in content["shards"]), key=lambda entry: entry.first_image)
    first = 0
    for entry in files:
        if entry.first_image != first:
            raise InputError(
                f"{folder}/{LIST}: expected a shard from image {first} on, got {entry.annotations_file} from image "
                f"{entry.first_image} on"
            )
        first += entry.images
    return Shards(folder, vocabulary, tuple(files), options)


def order_of_mixed(texts: list[list[str]], are_text: list[NDArray[np.bool_]]) -> list[NDArray[np.int64]]:
    """The position of each id among the ids of all shards, where some are numbers and some are text.

    As one table has it: by the id as text, a number before a text of the same letters.

    Examples
    --------
    >>> [order.tolist() for order in order_of_mixed([["10", "9"], ["9"]], [np.array([False, False]), np.array([True])])]
    [[0, 1], [2]]
    """
    text = object_array(one for part in texts for one in part)
    rank = np.empty(len(text), np.int64)
    rank[np.lexsort((np.concatenate([np.zeros(0, np.bool_), *are_text]), text))] = np.arange(len(text))
    ends = np.cumsum([len(part) for part in texts])[:-1]
    return list(np.split(rank, ends))
