"""Masks of raters, read one image at a time: stored `Segmentation` masks, or rasterised annotations."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, object_array
from kalos_core.errors import InputError, KalosError, KalosWarning, listed
from kalos_core.fiftyone.dataset.coordinates import stored_mask
from kalos_core.fiftyone.dataset.database import Columns, files_of, stream
from kalos_core.fiftyone.dataset.document import RaterRecord
from kalos_core.fiftyone.dataset.objects import Labels, read_labels
from kalos_core.fiftyone.dataset.opened import Opened
from kalos_core.fiftyone.dataset.raters import ASSIGNED_FIELD, MASKS, LabelSource, mask_classes, mask_sources
from kalos_core.fiftyone.dataset.samples import SIZE, check_samples, check_sizes, every_sample, fill_sizes
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.options import checked
from kalos_core.pixels import LabelStack, MaskStack, mask_stacks
from kalos_core.pixels.stack import check_surroundings
from kalos_core.pixels.stored import (
    MARKED,
    IgnoreValue,
    chosen_classes,
    stacks_by_class,
    stored_digest,
    stored_labels,
)
from kalos_core.readers.mask_folders import read_image_pixels, read_mask

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from kalos_core.fiftyone.dataset.selection import SelectionArguments

AT_ONCE = 16
"""Number of images whose compressed masks are fetched at once; only one image is decompressed at a time."""

Stacks = dict[str, MaskStack]
"""Class -> masks of the assigned raters; binary masks have the single class `MARKED`."""

Given = dict[str, tuple[Any, str | None]]
"""Assigned rater -> mask as stored in the database, and path of its file."""


@dataclass(frozen=True, eq=False)
class ImageMasks:
    """Masks of all raters on one image.

    Parameters
    ----------
    image : int
        Index among the images.
    stacks : dict
        Class -> masks of the assigned raters, see `Stacks`; empty if no rater is assigned to a class.
    labels : LabelStack, optional
        Stored label maps, if they were requested.
    """

    image: int
    stacks: Stacks
    labels: LabelStack | None = None


@dataclass(frozen=True, eq=False)
class RaterMasks(ABC):
    """Masks of the raters of a view; iterating reads an `ImageMasks` for each image with an assigned rater.

    Parameters
    ----------
    view, selection, fields
        The labels to read, with the raters that were found.
    raters : tuple of str
    values : dict
        Class -> its value in label maps; 1, 2, ... for binary and rasterised masks.
    images : (I,) object
        Sample ids.
    files : (I,) str
        Paths of the images.
    assigned : (I, R) bool
    read_at : datetime
        Time of reading the assigned raters; masks are read later.
    facts : list of RaterRecord
        Stored facts about each rater.
    """

    view: Any
    selection: Selection
    fields: tuple[str, ...]
    raters: tuple[str, ...]
    values: dict[str, int]
    images: NDArray[np.object_]
    files: tuple[str, ...]
    assigned: NDArray[np.bool_]
    read_at: datetime
    facts: list[RaterRecord]

    @property
    def classes(self) -> list[str]:
        """Names of the classes."""
        return list(self.values)

    @property
    def is_binary(self) -> bool:
        """Whether masks are binary, without classes."""
        return self.classes == [MARKED]

    @cached_property
    def hashes(self) -> NDArray[np.object_]:
        """Digest (I,) of the stored masks of each image that was read or checked by `look`; "" for all others."""
        return object_array([""] * len(self.images))

    def __len__(self) -> int:
        """Return the number of images with an assigned rater."""
        return int(self.assigned.any(axis=1).sum())

    def name(self, image: int) -> str:
        """Return the name of an image for error messages."""
        return Path(self.files[image]).name

    def look(self) -> None:
        """Compute the digests of all images; for stored masks, without reading pixels."""
        for batch in self._batches():
            self.hashes[batch] = self._digests(batch)

    def __iter__(self) -> Iterator[ImageMasks]:
        for batch in self._batches():
            for image, (found, digest) in zip(batch, self._read(batch), strict=True):
                self.hashes[image] = digest
                yield found

    def with_pixels(self, found: ImageMasks) -> ImageMasks:
        """Return the masks of an image with the pixels of the image itself."""
        pixels = read_image_pixels(Path(self.files[found.image]))
        stacks = {}
        for name, stack in found.stacks.items():
            try:
                checked = check_surroundings(stack.masks.shape[1:], None, pixels)[1]
            except InputError as error:
                raise InputError(f"{self.name(found.image)}: {error}") from error
            stacks[name] = replace(stack, image_pixels=checked)
        return replace(found, stacks=stacks)

    def _batches(self) -> Iterator[list[int]]:
        seen = np.flatnonzero(self.assigned.any(axis=1)).tolist()
        return (seen[begin : begin + AT_ONCE] for begin in range(0, len(seen), AT_ONCE))

    @abstractmethod
    def _read(self, batch: Sequence[int]) -> Iterator[tuple[ImageMasks, str]]:
        """Yield the masks and the digest of each of some images."""

    @abstractmethod
    def _digests(self, batch: Sequence[int]) -> list[str]:
        """Return the digest of each of some images."""


def read_masks(samples: Any, *, ignore_value: int | None = None, **selection: Unpack[SelectionArguments]) -> RaterMasks:
    """Open the masks of several raters; only names are read until you iterate.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    ignore_value : int, optional
        Pixels to which any rater gives this value are ignored.
    **selection
        As in `Selection`. ``raters``: fields of `Segmentation` masks, in the database or on disk, or the raters that
        `load_mask_folders` stored; or label fields with polygons or instance masks, which are rasterised. By default
        stored masks, else all mask fields, else stored raters. ``classes``: the classes to compare; by default all that
        mask targets name. Rasterised labels are by default merged into one class.

    Returns
    -------
    RaterMasks

    Raises
    ------
    InputError
        For fewer than two raters, no pixels, an unknown class, or a mask of a rater who is not assigned.

    Examples
    --------
    >>> import fiftyone as fo
    >>> dataset = fo.Dataset()
    >>> masks = {"ann": [[0, 1, 1]], "bob": [[0, 0, 1]]}
    >>> stored = {name: fo.Segmentation(mask=np.array(mask, np.uint8)) for name, mask in masks.items()}
    >>> _ = dataset.add_sample(fo.Sample("a.png", raters=["ann", "bob"], **stored))
    >>> [found.stacks["marked"].masks.sum(axis=0).tolist() for found in read_masks(dataset)]
    [[[0, 1, 2]]]
    >>> dataset.delete()
    """
    check_samples(samples)
    return open_masks(samples, Selection.of(selection), ignore_value)


@checked
def open_masks(
    samples: Any,
    selection: Selection,
    ignore_value: IgnoreValue = None,
    *,
    again: bool = False,
    divisions: bool = False,
) -> RaterMasks:
    """Open masks as `read_masks` does; `divisions` adds `ImageMasks.labels`, which may have any values.

    `again`: open the masks of a stored run for their digests only; the samples are not checked.
    """
    sources = mask_sources(samples, selection)
    if sources is None and ignore_value is not None:
        raise InputError(f"ignore_value: expected none, as rasterised labels have no values, got {ignore_value}")
    if sources is None and divisions:
        raise InputError("divisions: expected Segmentation masks, got labels to be rasterised, which may overlap")
    if sources is None:
        found: RaterMasks = _rasterised(samples, selection, again)
    else:
        found = _stored(samples, selection, sources, ignore_value, again, divisions)
    if len(found.raters) < 2 and not again:
        raise InputError(f"raters: expected at least two, got {listed(found.raters) or 'none'}")
    return found


# ---- stored masks ----


def _stored(
    samples: Any,
    selection: Selection,
    sources: Sequence[LabelSource],
    ignore_value: int | None,
    again: bool,
    divisions: bool,
) -> StoredMasks:
    fields = tuple(source.field for source in sources)
    known = {} if again else mask_classes(samples, fields, ignore_value)
    classes = {} if again else chosen_classes(known, selection.classes)
    opened = Opened.of(samples, selection, MASKS, again=again, sources=sources)
    types = [f"{field}._cls" for field in fields]
    ids, files, assigned, stray = list[str](), list[str](), list[list[bool]](), list[str]()
    for columns in stream(opened.view, ["id", "filepath", *opened.fields, *types]):
        lists = columns.get(ASSIGNED_FIELD, [None] * len(columns["id"]))
        there = zip(*(columns[path] for path in types), strict=True)
        for path, listed_raters, kinds in zip(columns["filepath"], lists, there, strict=True):
            masked = [name for name, kind in zip(opened.raters, kinds, strict=True) if kind is not None]
            names = opened.assigned(listed_raters, masked)
            who = opened.raters if names is None else names
            assigned.append([name in who for name in opened.raters])
            stray += [f"{name!r} on {Path(path).name}" for name in masked if name not in who]
        ids += columns["id"]
        files += columns["filepath"]
    opened.warn()
    if stray and not again:
        raise InputError(
            f"samples: expected every rater with a mask in {ASSIGNED_FIELD!r}, got masks of {listed(stray)}"
        )
    return StoredMasks(
        view=opened.view,
        selection=replace(selection, raters=opened.raters),
        fields=fields,
        raters=opened.raters,
        values={name: value for value, name in classes.items()} or {MARKED: 1},
        images=object_array(ids),
        files=tuple(files),
        assigned=np.array(assigned, dtype=np.bool_).reshape(len(ids), len(fields)),
        read_at=opened.read_at,
        facts=opened.facts,
        has_classes=bool(classes),
        known=known,
        ignore_value=ignore_value,
        divisions=divisions,
    )


@dataclass(frozen=True, eq=False)
class StoredMasks(RaterMasks):
    """Masks in the database or on disk.

    Parameters
    ----------
    has_classes : bool
        Whether masks are label maps; otherwise they are binary.
    known : dict
        Value -> name of each existing class; empty if values have no names.
    ignore_value : int, optional
    divisions : bool
        Whether to read label maps unchanged, too; without classes, all regions except 0 count as marked.
    """

    has_classes: bool
    known: dict[int, str]
    ignore_value: int | None
    divisions: bool

    def _read(self, batch: Sequence[int]) -> Iterator[tuple[ImageMasks, str]]:
        values = self.values if self.has_classes else {}
        for image, given, size in self._fetch(batch):
            name = self.name(image)
            try:
                arrays = {rater: field_pixels(*entry) for rater, entry in given.items()}
                labels = stored_labels(arrays, size, self.ignore_value, name) if self.divisions else None
                if labels is not None and not self.has_classes:
                    stacks = {MARKED: MaskStack(labels.labels != 0, labels.raters, labels.ignore, name)}
                else:
                    stacks = stacks_by_class(arrays, values, self.known, size, self.ignore_value, name)
            except InputError as error:
                raise InputError(f"{name}: {error}") from error
            yield ImageMasks(image, stacks, labels), stored_digest(given)

    def _digests(self, batch: Sequence[int]) -> list[str]:
        return [stored_digest(given) for _, given, _ in self._fetch(batch)]

    def _fetch(self, batch: Sequence[int]) -> Iterator[tuple[int, Given, tuple[int | None, int | None]]]:
        """Yield each image with the stored masks of the assigned raters, and its height and width."""
        paths = [f"{field}.{name}" for field in self.fields for name in ("mask", "mask_path")]
        chosen = every_sample(self.view).select(self.images[list(batch)].tolist())
        columns: Columns = next(stream(chosen, ["id", "filepath", *paths, *SIZE]), {"id": []})
        row_of = {key: row for row, key in enumerate(columns["id"])}
        if columns["id"]:
            fill_sizes(columns)
        for image in batch:
            row = row_of.get(self.images[image])
            if row is None:
                raise KalosError(f"{self.name(image)}: the sample was deleted while its masks were read; run again")
            given = {
                rater: (columns[f"{field}.mask"][row], columns[f"{field}.mask_path"][row])
                for rater, field, is_assigned in zip(self.raters, self.fields, self.assigned[image], strict=True)
                if is_assigned
            }
            yield image, given, (columns[SIZE[1]][row], columns[SIZE[0]][row])


def field_pixels(stored: Any, path: str | None) -> NDArray[Any] | None:
    """Return the pixels of a mask or map in the database or on disk; None without either."""
    if stored is None:
        return None if path is None else read_mask(Path(path))
    return np.asarray(stored_mask(stored, None)[0])


# ---- rasterised labels ----


def _rasterised(samples: Any, selection: Selection, again: bool) -> RasterisedMasks:
    """Open outlines or instance masks; their raters, images and classes are read first."""
    labels = read_labels(samples, selection, again=again)
    annotations = labels.annotations
    if not again:
        check_sizes(annotations.files, annotations.image_size)
    paths = files_of(labels.view)
    return RasterisedMasks(
        view=labels.view,
        selection=labels.selection,
        fields=labels.fields,
        raters=tuple(annotations.raters.tolist()),
        values={name: value for value, name in enumerate(selection.classes or [MARKED], 1)},
        images=annotations.images,
        files=tuple(paths[image] for image in annotations.images),
        assigned=annotations.assigned,
        read_at=labels.read_at,
        facts=labels.facts,
    )


@dataclass(frozen=True, eq=False)
class RasterisedMasks(RaterMasks):
    """Masks rasterised from polygons and instance masks."""

    def _read(self, batch: Sequence[int]) -> Iterator[tuple[ImageMasks, str]]:
        labels = self._labels(batch)
        for row, image in enumerate(batch):
            one = labels.annotations.select(images=[row])
            stacks = {name: stack for name, stack in self._by_class(one) if stack is not None}
            yield ImageMasks(image, stacks), str(labels.hashes[row])

    def _digests(self, batch: Sequence[int]) -> list[str]:
        return [str(digest) for digest in self._labels(batch).hashes]

    def _labels(self, batch: Sequence[int]) -> Labels:
        view = self.view.select(self.images[list(batch)].tolist(), ordered=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KalosWarning)  # the warnings were given for all images at once
            return read_labels(view, self.selection, ["mask_iou"], again=True)

    def _by_class(self, one: Annotations) -> Iterable[tuple[str, MaskStack | None]]:
        """Yield the masks of one image by class; None for a class without assigned raters."""
        if not self.selection.classes:
            yield MARKED, next(mask_stacks(one), None)
        for name in self.selection.classes or ():
            if name in one.categories:
                yield name, next(mask_stacks(one, name), None)
            else:  # not annotated in this batch: raters who were assigned to all classes looked for it, too
                asked = [of["classes"] is None or name in of["classes"] for of in self.facts]
                nothing = replace(one.select(rows=[], raters=asked), assigned_categories=None)
                yield name, next(mask_stacks(nothing), None)
