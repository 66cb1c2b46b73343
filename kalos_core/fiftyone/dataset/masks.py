"""The masks of raters, read one image at a time: stored as `Segmentation`, or rasterised from what they drew."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.annotations.table import object_array
from kalos_core.errors import InputError, KalosWarning, listed
from kalos_core.fiftyone.labels import LabelChoice, Labels, check_samples, every_sample, read_labels, settle
from kalos_core.fiftyone.labels.pixels import stored_mask
from kalos_core.fiftyone.masks.fields import MARKED, chosen_classes, fields_of_masks, mask_classes
from kalos_core.fiftyone.raters import ASSIGNED_FIELD, check_assigned_field
from kalos_core.pixels import LabelStack, MaskStack, mask_stacks
from kalos_core.pixels.classes import check_values
from kalos_core.pixels.stack import check_surroundings
from kalos_core.readers.mask_folders import read_image_pixels, read_mask

AT_ONCE = 16
"""Images whose masks are fetched at once as they are stored, compressed; the pixels of one image exist at a time."""


@dataclass(frozen=True, eq=False)
class ImageMasks:
    """What raters marked on one image.

    Parameters
    ----------
    image : int
        Its place among the images.
    stacks : dict
        Class -> the masks of the raters who were asked; one class `MARKED` where masks are binary.
    digest : str
        Of what is stored, to see later whether it has changed.
    """

    image: int
    stacks: dict[str, MaskStack]
    digest: str


@dataclass(frozen=True, eq=False)
class RaterMasks:
    """The masks of the raters of a view, to be read by iterating: one `ImageMasks` for each image somebody saw.

    Parameters
    ----------
    view, choice, fields
        What is read, with the raters that were found.
    raters : tuple of str
    values : dict
        Class -> its value in label maps; of binary masks, and of what is drawn, 1, 2, ...
    images : (I,) object
        Sample ids.
    files : (I,) str
        Paths of the pictures.
    assigned : (I, R) bool
        Who was asked.
    read, read_digests : callable
        How some of the images are read, and the digests of what is stored of them.
    pictures : bool
        Whether the pictures are read, too.
    """

    view: Any
    choice: LabelChoice
    fields: tuple[str, ...]
    raters: tuple[str, ...]
    values: dict[str, int]
    images: NDArray[np.object_]
    files: tuple[str, ...]
    assigned: NDArray[np.bool_]
    read: Callable[[RaterMasks, Sequence[int]], Iterator[ImageMasks]]
    read_digests: Callable[[RaterMasks, Sequence[int]], list[str]]
    pictures: bool = False

    @property
    def classes(self) -> list[str]:
        """Names of the classes."""
        return list(self.values)

    @property
    def is_binary(self) -> bool:
        """Whether masks only say what is marked."""
        return self.classes == [MARKED]

    def __len__(self) -> int:
        return len(self.images)

    def name(self, image: int) -> str:
        """What an image is called in errors."""
        return Path(self.files[image]).name

    def digests(self) -> NDArray[np.object_]:
        """(I,) of what is stored of each image, as `ImageMasks.digest`; without looking at a pixel where it is stored.

        "" of an image that nobody was asked about.
        """
        found = object_array([""] * len(self))
        for batch in self._batches():
            found[batch] = self.read_digests(self, batch)
        return found

    def _batches(self) -> Iterator[list[int]]:
        seen = np.flatnonzero(self.assigned.any(axis=1)).tolist()
        return (seen[begin : begin + AT_ONCE] for begin in range(0, len(seen), AT_ONCE))

    def __iter__(self) -> Iterator[ImageMasks]:
        for batch in self._batches():
            for found in self.read(self, batch):
                yield self._with_picture(found) if self.pictures else found

    def _with_picture(self, found: ImageMasks) -> ImageMasks:
        pixels = read_image_pixels(Path(self.files[found.image]))
        stacks = {}
        for name, stack in found.stacks.items():
            try:
                picture = check_surroundings(stack.masks.shape[1:], None, pixels)[1]
            except InputError as error:
                raise InputError(f"{self.name(found.image)}: {error}") from error
            stacks[name] = replace(stack, image_pixels=picture)
        return replace(found, stacks=stacks)


def read_masks(
    samples: Any,
    choice: LabelChoice | None = None,
    *,
    ignore_value: int | None = None,
    pictures: bool = False,
    **options: Any,
) -> RaterMasks:
    """The masks of several raters; nothing but names is read here.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    choice : LabelChoice, optional
        Or its fields as `options`. `raters`: fields of `Segmentation` masks, in the database or on disk, or the raters
        that `load_mask_folders` stored; label fields with polygons or instance masks, which are rasterised; by default
        stored masks, else all mask fields, else stored raters. `classes`: those whose pixels are looked at; by default
        all that mask targets name, and of drawn labels all together.
    ignore_value : int, optional
        A pixel that any rater gives this value counts for nothing.
    pictures : bool
        Whether the pictures are read, too.

    Returns
    -------
    RaterMasks

    Raises
    ------
    InputError
        For fewer than two raters, no pixels, a class that is not known, or a mask of somebody who was not asked.

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
    chosen = LabelChoice.of(choice, options)
    fields = fields_of_masks(samples, chosen)
    found = _drawn(samples, chosen) if fields is None else _stored(samples, chosen, fields, ignore_value)
    if fields is None and ignore_value is not None:
        raise InputError(f"ignore_value: expected none, as drawn labels have no values, got {ignore_value}")
    if len(found.raters) < 2:
        raise InputError(f"raters: expected at least two, got {listed(found.raters) or 'none'}")
    return replace(found, pictures=pictures)


# ---- stored masks ----


def _stored(samples: Any, choice: LabelChoice, fields: dict[str, str], ignore_value: int | None) -> RaterMasks:
    view = settle(samples)
    known = mask_classes(samples, list(fields.values()), ignore_value)
    classes = chosen_classes(known, choice.classes)
    names = ["id", "filepath", *(f"{field}._cls" for field in fields.values())]
    ids, files, *there = view.values(names, _raw=True)
    has_mask = np.array([[kind is not None for kind in column] for column in there]).T.reshape(len(ids), len(fields))
    assigned = _who(view, choice, list(fields), has_mask)
    raters = list(fields)
    stray = [f"{raters[code]!r} on {Path(files[image]).name}" for image, code in np.argwhere(has_mask & ~assigned)]
    if stray:
        raise InputError(
            f"samples: expected every rater with a mask in {ASSIGNED_FIELD!r}, got masks of {listed(stray)}"
        )
    return RaterMasks(
        view=view,
        choice=replace(choice, raters=tuple(raters)),
        fields=tuple(fields.values()),
        raters=tuple(raters),
        values={name: value for value, name in classes.items()} or {MARKED: 1},
        images=object_array(ids),
        files=tuple(files),
        assigned=assigned,
        read=partial(_read_stored, classes=classes, known=known, ignore_value=ignore_value),
        read_digests=_digests_of_stored,
    )


def _who(view: Any, choice: LabelChoice, raters: Sequence[str], has_mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(I, R) who was asked."""
    if choice.assigned == "labelled":
        return has_mask
    if choice.assigned == "auto" and view.has_field(ASSIGNED_FIELD):
        check_assigned_field(view)
        asked = [set(names or ()) for names in view.values(ASSIGNED_FIELD)]
        return np.array([[name in names for name in raters] for names in asked])
    if choice.assigned == "auto":
        warnings.warn(
            f"no sample field {ASSIGNED_FIELD!r} says who was asked: a sample without a mask of a rater counts as 'saw "
            "it and marked nothing'. Choose assigned='labelled' to count a rater only where their mask is there.",
            KalosWarning,
            stacklevel=5,
        )
    return np.ones_like(has_mask)


Given = dict[str, tuple[Any, str | None]]
"""Rater who was asked -> the mask as the database holds it, and the path of its file."""


def _read_stored(
    masks: RaterMasks,
    images: Sequence[int],
    classes: Mapping[int, str],
    known: Mapping[int, str],
    ignore_value: int | None,
) -> Iterator[ImageMasks]:
    for image, given, size in _fetch(masks, images):
        try:
            arrays = {rater: _pixels(*entry) for rater, entry in given.items()}
            stacks = _stacks_of(arrays, size, classes, known, ignore_value, masks.name(image))
        except InputError as error:
            raise InputError(f"{masks.name(image)}: {error}") from error
        yield ImageMasks(image, stacks, _digest(given))


def _fetch(masks: RaterMasks, images: Sequence[int]) -> Iterator[tuple[int, Given, tuple[int | None, int | None]]]:
    """Each image with what is stored of the raters who were asked, and height and width of its picture."""
    paths = [f"{field}.{name}" for field in masks.fields for name in ("mask", "mask_path")]
    view = every_sample(masks.view).select(masks.images[list(images)].tolist(), ordered=True)
    columns = view.values([*paths, "metadata.height", "metadata.width"], _raw=True)
    for image, (*stored, height, width) in zip(images, zip(*columns, strict=True), strict=True):
        given = {
            rater: (stored[2 * code], stored[2 * code + 1])
            for code, rater in enumerate(masks.raters)
            if masks.assigned[image, code]
        }
        yield image, given, (height, width)


def _digests_of_stored(masks: RaterMasks, images: Sequence[int]) -> list[str]:
    return [_digest(given) for _, given, _ in _fetch(masks, images)]


def _pixels(stored: Any, path: str | None) -> NDArray[Any] | None:
    """The pixels of a mask in the database or on disk; None without either."""
    if stored is None:
        return None if path is None else read_mask(Path(path))
    return np.asarray(stored_mask(stored, None)[0])


def _stacks_of(
    arrays: dict[str, NDArray[Any] | None],
    size: tuple[int | None, int | None],
    classes: Mapping[int, str],
    known: Mapping[int, str],
    ignore_value: int | None,
    name: str,
) -> dict[str, MaskStack]:
    """The masks of one image by class."""
    drawn = {rater: array for rater, array in arrays.items() if array is not None}
    if not drawn:  # everybody marked nothing
        if None in size:
            raise InputError("expected a mask, or the size of the picture (compute_metadata()), got neither")
        arrays = {rater: np.zeros(size, np.uint8) for rater in arrays}  # type: ignore[arg-type]
    ignore = None
    if ignore_value is not None and drawn:
        LabelStack.of(drawn)  # one size
        ignore = np.logical_or.reduce([array == ignore_value for array in drawn.values()])
        arrays = arrays | {rater: np.where(ignore, 0, array) for rater, array in drawn.items()}
    if not classes:
        return {MARKED: MaskStack.of(arrays, ignore=ignore, image=name)}
    stack = LabelStack.of(arrays, ignore=ignore, image=name)
    if known:
        check_values(stack, known)
    return {label: stack.of_class(value) for value, label in classes.items()}


def _digest(stored: Given) -> str:
    """Of who was asked and of what is stored: the bytes in the database, or which file and when it was written."""
    content = hashlib.blake2b(digest_size=8)
    for rater in sorted(stored):
        mask, path = stored[rater]
        content.update(repr(rater).encode())
        if isinstance(mask, bytes):
            content.update(mask)
        elif path is not None:
            there = Path(path)
            facts = there.stat() if there.is_file() else None
            content.update(repr((path, facts and (facts.st_size, facts.st_mtime_ns))).encode())
    return content.hexdigest()


# ---- drawn labels ----


def _drawn(samples: Any, choice: LabelChoice) -> RaterMasks:
    """What raters drew, in outlines or instance masks; whose, where and of which classes is read first."""
    labels = read_labels(samples, choice)
    annotations = labels.annotations
    if np.isnan(annotations.image_size).any():
        raise InputError("samples: the size of some pictures is unknown; run compute_metadata() on the data set first")
    files = dict(zip(*labels.view.values(["id", "filepath"]), strict=True))
    return RaterMasks(
        view=labels.view,
        choice=labels.choice,
        fields=labels.fields,
        raters=tuple(annotations.raters.tolist()),
        values={name: value for value, name in enumerate(choice.classes or [MARKED], 1)},
        images=annotations.images,
        files=tuple(files[image] for image in annotations.images),
        assigned=annotations.assigned,
        read=partial(_read_drawn, categories=choice.classes),
        read_digests=_digests_of_drawn,
    )


def _read_drawn(masks: RaterMasks, images: Sequence[int], categories: Sequence[str] | None) -> Iterator[ImageMasks]:
    labels = _labels_again(masks, images)
    for place, image in enumerate(images):
        one = labels.annotations.select(images=[place])
        stacks = {name: stack for name, stack in _by_class(one, categories) if stack is not None}
        if stacks:
            yield ImageMasks(image, stacks, str(labels.hashes[place]))


def _labels_again(masks: RaterMasks, images: Sequence[int]) -> Labels:
    """The labels of some images with their shapes."""
    view = masks.view.select(masks.images[list(images)].tolist(), ordered=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)  # what there is to say was said of all images at once
        return read_labels(view, masks.choice, ["mask_iou"], again=True)


def _digests_of_drawn(masks: RaterMasks, images: Sequence[int]) -> list[str]:
    return [str(digest) for digest in _labels_again(masks, images).hashes]


def _by_class(one: Annotations, categories: Sequence[str] | None) -> Iterable[tuple[str, MaskStack | None]]:
    """The masks of one image; None of a class that nobody was asked about."""
    if categories is None:
        yield MARKED, next(mask_stacks(one), None)
        return
    for name in categories:
        if name in one.categories.tolist():
            yield name, next(mask_stacks(one, name), None)
        else:
            yield name, next(mask_stacks(one.select(rows=[])), None)
