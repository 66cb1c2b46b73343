"""Masks of several raters for one image, validated on construction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.annotations.columns import object_array
from kalos_core.arrays import as_array
from kalos_core.errors import InputError, as_number, check_iterable, check_writable, is_hashable, listed, repr_of
from kalos_core.options import checked

MOST_RATERS = 64
"""Maximum number of raters of a stack, since the votes on a pixel are stored as bits of one number."""

DERIVED = ("intensity", "contrast")
"""Properties of an image that are computed from its channels; channels cannot have these names."""


@dataclass(frozen=True, eq=False)
class MaskStack:
    """Binary masks of the N raters assigned to one image of height H and width W.

    Parameters
    ----------
    masks : (N, H, W) bool
        True where a rater marked; a rater who is assigned and marked nothing has a mask of False.
    raters : (N,) object
        Names.
    ignore : (H, W) bool, optional
        Pixels that are ignored, such as those outside the field of view.
    image : object
        Id of the image, None if unknown.
    image_pixels : (H, W) or (H, W, C), optional
        The image itself, with any number of channels; its properties are compared with agreement.
    channels : (C,) str, optional
        Names of the channels, such as ``("red", "green", "blue", "near-infrared")``.
    raters_are_local : bool
        Whether a name means a rater within this image only, as in the Berkeley data: "1" of one image is not "1" of the
        next. Metrics that need the masks of a rater on several images are then not computed.

    Raises
    ------
    InputError
        For masks that are not binary, sizes that differ, no mask at all, or other than one name per mask.

    Examples
    --------
    >>> stack = MaskStack.of([[[0, 1]], [[1, 1]]])
    >>> stack.raters.tolist(), stack.masks.sum(axis=(1, 2)).tolist()
    (['rater 1', 'rater 2'], [1, 2])
    >>> stack = MaskStack.of({"ann": [[0, 1]], "bob": None})  # bob is assigned and marked nothing
    >>> stack.masks.tolist()
    [[[False, True]], [[False, False]]]
    >>> MaskStack.of([[[0, 1]], [[1, 2]]])
    Traceback (most recent call last):
    kalos_core.errors.InputError: mask of 'rater 2': expected 0 and 1, or 0 and 255, got values such as 2
    """

    masks: NDArray[np.bool_]
    raters: NDArray[np.object_]
    ignore: NDArray[np.bool_] | None = None
    image: Any = None
    image_pixels: NDArray[Any] | None = None
    channels: tuple[str, ...] | None = None
    raters_are_local: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.masks, np.ndarray):
            raise InputError(f"masks: expected an array, got {repr_of(self.masks)}; use MaskStack.of for other input")
        if self.masks.dtype != np.bool_ or self.masks.ndim != 3:
            raise InputError(
                f"masks: expected truth values, raters x height x width, got {self.masks.dtype} of shape "
                f"{self.masks.shape}; use MaskStack.of for other masks"
            )
        _check_raters(self.raters, len(self.masks))

    @classmethod
    @checked
    def of(
        cls,
        masks: Mapping[str, ArrayLike | None] | Sequence[ArrayLike] | NDArray[Any],
        raters: Sequence[str] | None = None,
        ignore: ArrayLike | None = None,
        image: Any = None,
        image_pixels: ArrayLike | None = None,
        channels: Sequence[str] | None = None,
        raters_are_local: bool = False,
    ) -> MaskStack:
        """Build from N masks (H, W), or from a mapping of names to masks, with None for a rater who marked nothing."""
        names, arrays = named_arrays(masks, raters, "masks")
        if isinstance(masks, np.ndarray) and masks.dtype == np.bool_:
            given = masks
        else:
            given = np.stack([as_binary(array, name) for array, name in zip(arrays, names, strict=True)])
        region, pixels = check_surroundings(given.shape[1:], ignore, image_pixels)
        called = check_channels(pixels, channels)
        return cls(given, object_array(names), region, image, pixels, called, bool(raters_are_local))


@dataclass(frozen=True, eq=False)
class LabelStack:
    """Label maps of the N raters assigned to one image, with one class per pixel.

    Parameters
    ----------
    labels : (N, H, W) int
        Value of the class of each pixel.
    raters, ignore, image, image_pixels, channels, raters_are_local
        As in `MaskStack`.

    Examples
    --------
    >>> stack = LabelStack.of({"ann": [[0, 1, 2]], "bob": [[0, 2, 2]]})
    >>> stack.of_class(2).masks.tolist()
    [[[False, False, True]], [[False, True, True]]]
    """

    labels: NDArray[np.integer[Any]]
    raters: NDArray[np.object_]
    ignore: NDArray[np.bool_] | None = None
    image: Any = None
    image_pixels: NDArray[Any] | None = None
    channels: tuple[str, ...] | None = None
    raters_are_local: bool = False

    def __post_init__(self) -> None:
        if getattr(self.labels, "ndim", 0) != 3:
            actual = repr_of(self.labels)
            raise InputError(
                f"labels: expected raters x height x width, got {actual}; use LabelStack.of for other input"
            )
        _check_raters(self.raters, len(self.labels))

    @classmethod
    @checked
    def of(
        cls,
        labels: Mapping[str, ArrayLike | None] | Sequence[ArrayLike] | NDArray[Any],
        raters: Sequence[str] | None = None,
        ignore: ArrayLike | None = None,
        image: Any = None,
        image_pixels: ArrayLike | None = None,
        channels: Sequence[str] | None = None,
        raters_are_local: bool = False,
    ) -> LabelStack:
        """Build from N label maps (H, W), or a mapping of names to maps; None (all 0) for raters who marked nothing."""
        names, arrays = named_arrays(labels, raters, "labels")
        for array, name in zip(arrays, names, strict=True):
            if not np.issubdtype(array.dtype, np.integer) and array.dtype != np.bool_:
                raise InputError(f"labels of {name!r}: expected whole numbers, got {array.dtype}")
        given = np.stack([array.view(np.uint8) if array.dtype == np.bool_ else array for array in arrays])
        region, pixels = check_surroundings(given.shape[1:], ignore, image_pixels)
        called = check_channels(pixels, channels)
        return cls(given, object_array(names), region, image, pixels, called, bool(raters_are_local))

    def of_class(self, value: int) -> MaskStack:
        """Return the masks of one class: the pixels that each rater gave it."""
        if as_number(value) is None:
            raise InputError(f"value: expected a number, got {repr_of(value)}")
        return MaskStack(
            self.labels == value,
            self.raters,
            self.ignore,
            self.image,
            self.image_pixels,
            self.channels,
            self.raters_are_local,
        )


Masks3D = MaskStack | Mapping[str, ArrayLike | None] | Sequence[ArrayLike] | NDArray[Any]
"""Input of every function of stacks: a stack, or input of `MaskStack.of`."""


@checked
def as_stack(masks: Masks3D, least: int = 2) -> MaskStack:
    """Return a stack and check that it has at least `least` raters.

    Examples
    --------
    >>> as_stack([[[0, 1]]])
    Traceback (most recent call last):
    kalos_core.errors.InputError: masks: expected those of at least 2 raters, got 1
    """
    stack = masks if isinstance(masks, MaskStack) else MaskStack.of(masks)
    if len(stack.raters) < least:
        raise InputError(f"masks: expected those of at least {least} raters, got {len(stack.raters)}")
    return stack


Stacks = Iterable[Masks3D] | Masks3D | Callable[[], Iterable[Masks3D]]
"""Images of a study: one entry per image, or a function that returns them; a single stack is one image."""


def each_stack(stacks: Stacks, least: int = 2) -> Iterator[MaskStack]:
    """Yield the stacks of a study one by one; error messages name the image.

    Examples
    --------
    >>> [stack.raters.tolist() for stack in each_stack(lambda: [{"ann": [[0, 1]], "bob": [[1, 1]]}])]
    [['ann', 'bob']]
    >>> list(each_stack([[[[0, 1]]]]))
    Traceback (most recent call last):
    kalos_core.errors.InputError: image 1: masks: expected those of at least 2 raters, got 1
    """
    given: Any = stacks() if callable(stacks) else stacks
    if isinstance(given, (MaskStack, Mapping)) or (isinstance(given, np.ndarray) and given.ndim == 3):
        given = [given]
    for number, entry in enumerate(
        check_iterable(given, "stacks", "masks of one image or more, such as read_mask_folders(path).stacks"), start=1
    ):
        try:
            stack = as_stack(entry, least)
        except InputError as error:
            raise InputError(f"{image_name(entry, number)}: {error}") from error
        yield stack


def image_name(entry: object, number: int) -> str:
    """Return the name of an image for messages: its id, or its number.

    Examples
    --------
    >>> image_name(MaskStack.of([[[0, 1]]], image="a.png"), 1), image_name([[[0, 1]]], 1)
    ("image 'a.png'", 'image 1')
    """
    known = entry.image if isinstance(entry, MaskStack) else None
    return f"image {number}" if known is None else f"image {known!r}"


def _check_raters(raters: object, count: int) -> None:
    """Check that there is one name per mask or label map, which can be stored in a table."""
    if not isinstance(raters, np.ndarray) or raters.shape != (count,):
        raise InputError(f"raters: expected an array of {count} names, one per mask, got {repr_of(raters)}")
    check_writable(raters.tolist(), "raters")


def named_arrays(
    given: Mapping[str, ArrayLike | None] | Sequence[ArrayLike] | NDArray[Any], raters: Sequence[str] | None, what: str
) -> tuple[list[str], list[NDArray[Any]]]:
    """Return names and two-dimensional arrays of the same size."""
    if not getattr(given, "ndim", 1) or not isinstance(given, Iterable):
        raise InputError(f"{what}: expected raters x height x width, or arrays by rater, got {repr_of(given)}")
    entries = list(given.values()) if isinstance(given, Mapping) else list(given)
    there = [as_array(entry, what) for entry in entries if entry is not None]
    if not there:
        none = "None of each, so that the size is unknown: give an array of zeros" if entries else "none"
        raise InputError(f"{what}: expected at least one rater's, got {none}")
    arrays = [np.zeros_like(there[0]) if entry is None else as_array(entry, what) for entry in entries]
    if isinstance(given, Mapping) and raters is None:
        raters = list(given)
    names = [f"rater {index + 1}" for index in range(len(arrays))] if raters is None else list(raters)
    if not all(map(is_hashable, names)) or len(names) != len(arrays) or len(set(names)) != len(names):
        raise InputError(f"raters: expected {len(arrays)} names, each once, got {listed(map(repr_of, names), 20)}")
    if len(names) > MOST_RATERS:
        raise InputError(f"{what}: expected at most {MOST_RATERS} raters, got {len(names)}")
    for array, name in zip(arrays, names, strict=True):
        if array.ndim != 2 or not array.size:
            raise InputError(f"{what} of {name!r}: expected height x width, got shape {array.shape}")
    sizes = {array.shape for array in arrays}
    if len(sizes) > 1:
        named = [f"{array.shape} of {name!r}" for array, name in zip(arrays, names, strict=True)]
        raise InputError(f"{what}: expected one size, got {listed(named, 20)}")
    return names, arrays


def check_surroundings(
    size: tuple[int, ...], ignore: ArrayLike | None, image_pixels: ArrayLike | None
) -> tuple[NDArray[np.bool_] | None, NDArray[Any] | None]:
    """Check the region to ignore and the pixels of the image, both of the size of the masks, and return them."""
    region = None if ignore is None else as_binary(as_array(ignore, "ignore"), "ignore")
    if region is not None and region.shape != size:
        raise InputError(f"ignore: expected the size of the masks {size}, got {region.shape}")
    pixels = None if image_pixels is None else as_array(image_pixels, "image_pixels")
    if pixels is not None and (pixels.ndim not in (2, 3) or pixels.shape[:2] != size):
        raise InputError(f"image_pixels: expected the size of the masks {size}, got {pixels.shape}")
    return region, pixels


def check_channels(pixels: NDArray[Any] | None, names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Check the names of the channels of an image, one each; without the image they are returned as they are.

    Examples
    --------
    >>> check_channels(np.zeros((1, 2, 4)), ["red", "green", "blue"])
    Traceback (most recent call last):
    kalos_core.errors.InputError: channels: expected 4 different names, none reserved, got 'red', 'green', 'blue'
    """
    if names is None:
        return None
    channels = len(names) if pixels is None else 1 if pixels.ndim == 2 else pixels.shape[2]
    derived = [name for name in names if name in DERIVED]
    if isinstance(names, str) or len(names) != channels or len(set(names)) != channels or derived:
        raise InputError(
            f"channels: expected {channels} different names, none reserved, got {listed(map(repr_of, names), 10)}"
        )
    return tuple(names)


def as_binary(array: NDArray[Any], name: str) -> NDArray[np.bool_]:
    """Convert an array of 0 and 1, or of 0 and 255 as in image files, to booleans.

    Examples
    --------
    >>> as_binary(np.array([[0, 255]]), "ann").tolist()
    [[False, True]]
    """
    if array.dtype == np.bool_:
        return array
    if not np.issubdtype(array.dtype, np.number):
        raise InputError(f"mask of {name!r}: expected truth values or numbers, got {array.dtype}")
    if array.dtype == np.uint8 and array.max(initial=0) <= 1:
        return np.ascontiguousarray(array).view(np.bool_)
    on = np.asarray(array != 0)
    if not any((np.equal(array, value) == on).all() for value in (1, 255)):
        odd = np.unique(array[on & (array != 1)])
        raise InputError(f"mask of {name!r}: expected 0 and 1, or 0 and 255, got values such as {listed(odd, 3)}")
    return np.asarray(on)
