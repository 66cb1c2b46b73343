"""Drawings of an image with all annotations, or of a crop around one unit."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core._agreement import Agreement, check_agreement
from kalos_core.annotations import Annotations
from kalos_core.annotations.columns import positions
from kalos_core.drawing.drawing import Drawing
from kalos_core.drawing.outlines import Outline, outlines_of
from kalos_core.errors import InputError, as_number, check_iterable, check_whole, listed, repr_of
from kalos_core.files import open_image
from kalos_core.options import checked
from kalos_core.reliability import NO_OBJECT, build_units

Pixels = str | PathLike[str] | ArrayLike
"""An image file, the folder that holds it, or pixels (height, width) or (height, width, 3)."""

CANVAS = (232, 234, 237)
"""Background colour if there is no image."""

LONGEST_SIDE = 1200
"""Longer side of a drawing in pixels; larger images are reduced."""

UNIT_SIDE = 480
"""Longer side of a drawing of a unit in pixels."""

NOTHING, UNMATCHED = "annotated nothing here", "nothing that matches"
"""Legend of raters without an annotation in a unit: with none nearby, and with another one that overlaps the crop."""

LEAST_MARGIN = 8.0
"""Minimum margin around a unit in pixels of the image."""


@checked
def draw_image(
    annotations: Annotations,
    image: Hashable,
    pixels: Pixels | None = None,
    *,
    shape: str | None = None,
    raters: Sequence[str] | None = None,
    longest_side: int = LONGEST_SIDE,
) -> Drawing:
    """Draw an image with the outlines of every rater in a colour, as in the papers (KαLOS Fig. 1, 16, 17).

    Parameters
    ----------
    annotations : Annotations
    image : an id among `Annotations.images`, or the name of a file
    pixels : path, folder or array, optional
        The image: a file, the folder that holds the file of that name, or an array (height, width), (height, width, 3)
        or (height, width, 4) of bytes, or of numbers in [0, 1]. If it is not given or the file does not exist, outlines
        are drawn on a canvas of the image's size.
    shape : "polygon", "mask", "keypoints" or "box", optional
        Shape to outline; by default the most detailed shape of each annotation.
    raters : sequence of names, optional
        Raters to show; by default all who are assigned to the image.
    longest_side : int
        Longer side of the drawing in pixels; larger images are reduced.

    Returns
    -------
    Drawing
        Use `Drawing.png` or `Drawing.figure`.

    Raises
    ------
    InputError
        If the image, rater or shape is unknown, a file is no image, or pixels have another form.

    Examples
    --------
    >>> rows = [
    ...     {"image": "a.jpg", "rater": rater, "category": "cat", "box": [10, 20, 30, height]}
    ...     for rater, height in (("ann", 40), ("bob", 35))
    ... ]
    >>> drawing = draw_image(Annotations.from_rows(rows, image_size={"a.jpg": (100, 80)}), "a.jpg")
    >>> drawing
    Drawing('a.jpg': 2 outlines on canvas of 100 x 80)
    >>> [trace.name for trace in drawing.figure().data]
    ['ann: 1 annotation', 'bob: 1 annotation']
    """
    number = _image_number(annotations, image)
    check_whole(longest_side, "longest_side", 1)
    shown = annotations.assigned[number].copy()
    if raters is not None:
        shown &= _named_raters(annotations, raters)
    rows = np.flatnonzero((annotations.image == number) & shown[annotations.rater])
    outlines = outlines_of(annotations, rows, shape)
    counts = np.bincount(annotations.rater[rows], minlength=len(annotations.raters))
    legend = {
        rater: f"{annotations.raters[rater]}: {counts[rater]:,} annotation{'' if counts[rater] == 1 else 's'}"
        for rater in np.flatnonzero(shown).tolist()
    }
    under = _pixels_of(pixels, str(annotations.files[number]))
    size = _image_size(annotations, number, outlines, under)
    title = str(annotations.files[number]) or str(annotations.images[number])
    everything = np.array([0.0, 0.0, *size])
    reduced = min(1.0, longest_side / max(size if under is None else under.shape[1::-1]))
    native = np.ones(2) if under is None else np.array(under.shape[1::-1]) / size
    return _cut_out(under, size, everything, native * reduced, outlines, legend, title)


@checked
def draw_unit(
    agreement: Agreement,
    unit: int,
    pixels: Pixels | None = None,
    *,
    shape: str | None = None,
    margin: float = 0.25,
    others: bool = False,
    longest_side: int = UNIT_SIDE,
) -> Drawing:
    """Draw the part of an image around one unit, with the outline and class from each rater.

    Parameters
    ----------
    agreement : Agreement
    unit : int
        Row of `Agreement.units`.
    pixels, shape
        As in `draw_image`.
    margin : float, at least 0
        Margin around the unit, as a share of its longer side; at least `LEAST_MARGIN` pixels.
    others : bool
        Whether to draw annotations of other units that reach into the crop.
    longest_side : int
        Longer side of the drawing in pixels; the crop is reduced or enlarged to it.

    Returns
    -------
    Drawing
        The legend has an entry for each assigned rater: their class, or that no annotation of theirs matches or that
        there is none here. Raters who are not assigned are left out.

    Raises
    ------
    InputError
        If there is no such unit, the margin is below 0, and as in `draw_image`.

    Examples
    --------
    >>> from kalos_core import agreement
    >>> rows = [
    ...     {"image": "a.jpg", "rater": rater, "category": name, "box": [10, 20, 30, height]}
    ...     for rater, name, height in (("ann", "cat", 40), ("bob", "dog", 35))
    ... ]
    >>> size = {"a.jpg": (100, 80)}
    >>> table = Annotations.from_rows(rows, raters=["ann", "bob", "cid"], image_size=size, assigned="all")
    >>> draw_unit(agreement(table), 0).legend
    {0: 'ann: cat', 1: 'bob: dog', 2: 'cid: annotated nothing here'}
    """
    check_agreement(agreement)
    row = check_whole(unit, "unit")
    if row >= len(agreement.units):
        count = len(agreement.units)
        raise InputError(f"unit: expected a row of the {count:,} units, 0 to {count - 1:,}, got {repr_of(unit)}")
    members = np.flatnonzero(agreement.unit_of == row)
    drawing = draw_members(
        agreement.annotations, members, pixels, shape=shape, margin=margin, others=others, longest_side=longest_side
    )
    return replace(drawing, title=f"{drawing.title}, unit {row}")


@checked
def draw_members(
    annotations: Annotations,
    members: Sequence[int] | NDArray[np.intp],
    pixels: Pixels | None = None,
    *,
    shape: str | None = None,
    margin: float = 0.25,
    others: bool = False,
    longest_side: int = UNIT_SIDE,
) -> Drawing:
    """Draw annotations as `draw_unit` does, if they are one unit, or a whole and its parts.

    Parameters
    ----------
    annotations : Annotations
    members : (M,) int
        Rows of annotations of one image; at least one.
    pixels, shape, margin, others, longest_side
        As in `draw_unit`.

    Examples
    --------
    >>> rows = [{"image": "a.jpg", "rater": "ann", "category": "cat", "box": [10, 20, 30, 40]}]
    >>> draw_members(Annotations.from_rows(rows, image_size={"a.jpg": (100, 80)}), [0]).legend
    {0: 'ann: cat'}
    """
    share = as_number(margin)
    if share is None or not share >= 0:
        raise InputError(f"margin: expected a share of at least 0, got {repr_of(margin)}")
    check_whole(longest_side, "longest_side", 1)
    rows = positions(members, len(annotations), "members")
    if not len(rows):
        raise InputError("members: expected at least one row, got none")
    number = int(annotations.image[rows[0]])
    outlines = outlines_of(annotations, rows, shape)
    under = _pixels_of(pixels, str(annotations.files[number]))
    size = _image_size(annotations, number, outlines, under)
    part = _part_around(outlines, size, share)
    if others:
        rest = np.setdiff1d(np.flatnonzero(annotations.image == number), rows)
        outlines = [*_inside(outlines_of(annotations, rest, shape), part), *outlines]
    (values,) = build_units(annotations.select(rows=rows), np.zeros(len(rows), np.intp)).values
    own = annotations.rater[rows] == np.arange(len(annotations.raters))[:, None]  # (R, M)
    given = [Counter(annotations.categories[annotations.category[rows[of]]].tolist()) for of in own]
    near = set(annotations.rater[_reaching_into(annotations, rows, number, outlines, shape)].tolist())
    legend = {
        rater: f"{annotations.raters[rater]}: {_counted(given[rater]) or (UNMATCHED if rater in near else NOTHING)}"
        for rater, value in enumerate(values.tolist())
        if value >= NO_OBJECT
    }
    title = str(annotations.files[number] or annotations.images[number])
    scale = np.full(2, longest_side / max(part[2:] - part[:2]))
    return _cut_out(under, size, part, scale, outlines, legend, title)


def _reaching_into(
    annotations: Annotations,
    rows: NDArray[np.intp],
    number: int,
    outlines: Sequence[Outline],
    shape: str | None,
) -> NDArray[np.intp]:
    """Return rows of further annotations of an image that reach into the bounds of some outlines."""
    rest = np.setdiff1d(np.flatnonzero(annotations.image == number), rows)
    bounds = [outline.bounds for outline in outlines if np.isfinite(outline.bounds).all()]
    there = [
        any((other.bounds[:2] < own[2:]).all() and (other.bounds[2:] > own[:2]).all() for own in bounds)
        for other in outlines_of(annotations, rest, shape)
    ]
    return rest[np.array(there, dtype=np.bool_)]


def _counted(names: Counter[str]) -> str:
    return ", ".join(name if count == 1 else f"{count:,} × {name}" for name, count in names.items())


def _image_number(annotations: Annotations, image: Hashable) -> int:
    if not isinstance(annotations, Annotations):
        raise InputError(f"annotations: expected Annotations, got {type(annotations).__name__}")
    for names in (annotations.images, annotations.files):
        found = [number for number, name in enumerate(names.tolist()) if name == image]
        if len(found) == 1:
            return found[0]
    known = listed(map(repr_of, annotations.images), 10)
    raise InputError(f"image: expected an id or a file among {known}, got {repr_of(image)}")


def _named_raters(annotations: Annotations, raters: Sequence[str]) -> NDArray[np.bool_]:
    names = [raters] if isinstance(raters, str) else list(check_iterable(raters, "raters", "names of raters"))
    unknown = [name for name in names if name not in annotations.raters.tolist()]
    if unknown:
        raise InputError(f"raters: expected names among {listed(annotations.raters, 20)}, got {listed(unknown)}")
    return np.isin(annotations.raters.astype(str), [str(name) for name in names])


def _pixels_of(pixels: Pixels | None, file: str) -> NDArray[np.uint8] | None:
    """Return (H, W, 3) pixels of an image; None if there are none."""
    from PIL import ImageOps  # slow to import, and needed here only

    if pixels is None:
        return None
    if isinstance(pixels, (str, PathLike)):
        path = Path(pixels)
        path = path / file if os.path.isdir(path) else path
        if not os.path.isfile(path):
            return None
        with open_image(path) as opened:
            return np.asarray(ImageOps.exif_transpose(opened).convert("RGB"))
    try:
        array = np.asarray(pixels)
    except ValueError as error:
        raise InputError("pixels: expected an array, got rows of several lengths") from error
    if array.ndim == 2:
        array = np.repeat(array[..., None], 3, axis=2)
    if array.ndim != 3 or array.shape[2] not in (3, 4) or 0 in array.shape or array.dtype.kind not in "buif":
        raise InputError(
            "pixels: expected numbers of shape (height, width), (height, width, 3) or (height, width, 4), got "
            f"{array.dtype} of shape {np.shape(pixels)}"
        )
    if array.dtype.kind in "bf":
        if np.isnan(array).all():
            raise InputError("pixels: expected numbers from 0 to 1, or whole numbers to 255, got NaN only")
        array = np.nan_to_num(array.astype(np.float64))
        if array.min() < 0 or array.max() > 1:
            outside = array.max() if array.max() > 1 else array.min()
            raise InputError(f"pixels: expected numbers from 0 to 1, or whole numbers to 255, got {outside:g}")
        array = array * 255
    return np.asarray(np.clip(array[..., :3], 0, 255), dtype=np.uint8)


def _image_size(
    annotations: Annotations, number: int, outlines: Sequence[Outline], under: NDArray[np.uint8] | None
) -> NDArray[np.float64]:
    """Return (2,) width and height of the image: as known, else from the pixels, else from the outlines."""
    size = np.asarray(annotations.image_size[number])
    if not np.isnan(size).any():
        return size
    if under is not None:
        return np.array(under.shape[1::-1], dtype=np.float64)
    reach = np.array([outline.bounds[2:] for outline in outlines if np.isfinite(outline.bounds).all()])
    return np.ceil(reach.max(axis=0) * 1.05 + 1) if len(reach) else np.array([640.0, 480.0])


def _part_around(outlines: Sequence[Outline], size: NDArray[np.float64], margin: float) -> NDArray[np.float64]:
    """Return (4,) the crop: bounds of some outlines with a margin, within the image as far as the outlines are."""
    bounds = np.array([outline.bounds for outline in outlines if np.isfinite(outline.bounds).all()])
    if not len(bounds):
        return np.array([0.0, 0.0, *size])
    low, high = bounds[:, :2].min(axis=0), bounds[:, 2:].max(axis=0)
    around = max(margin * float((high - low).max()), LEAST_MARGIN)
    first = np.floor(np.maximum(low - around, np.minimum(low, 0)))
    last = np.ceil(np.minimum(high + around, np.maximum(high, size)))
    return np.concatenate([first, np.maximum(last, first + 1)])


def _inside(outlines: Sequence[Outline], part: NDArray[np.float64]) -> list[Outline]:
    return [
        outline
        for outline in outlines
        if (outline.bounds[:2] < part[2:]).all() and (outline.bounds[2:] > part[:2]).all()
    ]


def _cut_out(
    under: NDArray[np.uint8] | None,
    size: NDArray[np.float64],
    part: NDArray[np.float64],
    scale: NDArray[np.float64],
    outlines: Sequence[Outline],
    legend: dict[int, str],
    title: str,
) -> Drawing:
    """Crop a part (4,) of an image of some size (2,), scaled by drawing pixels per image pixel (2,)."""
    from PIL import Image

    extent = part[2:] - part[:2]
    width, height = np.maximum(np.rint(extent * scale), 1).astype(int).tolist()
    drawn = Image.new("RGB", (width, height), CANVAS)
    exact = np.array([width, height]) / extent
    if under is not None:
        inside = np.concatenate([np.maximum(part[:2], 0), np.minimum(part[2:], size)])
        of_pixels = np.array(under.shape[1::-1]) / size
        left, top, right, bottom = np.rint((inside - np.tile(part[:2], 2)) * np.tile(exact, 2)).astype(int).tolist()
        if right > left and bottom > top:
            box = tuple((inside * np.tile(of_pixels, 2)).tolist())
            way = Image.Resampling.NEAREST if (exact / of_pixels).min() > 3 else Image.Resampling.BILINEAR
            found = Image.fromarray(under).resize((right - left, bottom - top), way, box=box)
            drawn.paste(found, (left, top))
    return Drawing(
        pixels=np.asarray(drawn),
        corner=part[:2],
        scale=exact,
        outlines=tuple(outlines),
        legend=legend,
        title=title,
        is_canvas=under is None,
    )
