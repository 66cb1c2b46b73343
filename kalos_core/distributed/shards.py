"""A folder of shards: its list of files, and reading them one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, object_array
from kalos_core.distributed.folder import LIST, ShardFolder, check_runs, list_text, open_folder, read_parquet
from kalos_core.distributed.schema import SHAPES, Vocabulary, image_fields, read_tables
from kalos_core.errors import InputError, listed
from kalos_core.shapes import Boxes

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
        return read_parquet(self.folder, self.options, name)


@dataclass(frozen=True)
class Shards(ShardFolder):
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

    kind = "annotations"

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
        head = {"images": self.images, "annotations": self.annotations, **asdict(self.vocabulary)}
        return list_text(self.kind, head, [asdict(files) for files in self.files])


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
        For a folder that is none of shards of annotations.

    Examples
    --------
    >>> open_shards("none")
    Traceback (most recent call last):
    kalos_core.errors.InputError: none: expected a folder of shards, as write_shards makes it, got no dataset.json
    """
    return open_folder(folder, options, Shards, _checked)


def _checked(folder: str, content: dict[str, Any], options: dict[str, Any]) -> Shards:
    names = ("raters", "person", "session", "categories", "shapes", "complete")
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
    check_runs(folder, "image", [(entry.first_image, entry.images, entry.annotations_file) for entry in files])
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
