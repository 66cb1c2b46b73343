"""Rasterisation of polygons and masks to stacks of pixels, one image at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import run_starts
from kalos_core.errors import InputError, listed, repr_of
from kalos_core.options import Option, Settings, takes
from kalos_core.pixels.stack import MaskStack
from kalos_core.shapes import Masks, Polygons
from kalos_core.shapes.raster import pixels_of, rasterise


@dataclass(frozen=True)
class StackSettings(Settings):
    """Selection of the annotations to rasterise."""

    category: Annotated[str | None, Option("Class", "Class to compare; by default all classes as one.")] = None


@takes(StackSettings)
def mask_stacks(annotations: Annotations, settings: StackSettings) -> Iterator[MaskStack]:
    """Yield the pixels that each rater marked on each image, with all their polygons and masks combined.

    Parameters
    ----------
    annotations : Annotations
        Annotations with polygons or masks; a pixel belongs to a polygon if its centre does.

    Yields
    ------
    MaskStack
        One per image, of the raters assigned to it (and to the class), in the order of the images. Images without
        assigned raters are left out.

    Raises
    ------
    InputError
        For shapes without pixels, an annotation without a shape, or an image of unknown or differing size.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": "ann", "category": "cat", "polygon": [[0, 0, 2, 0, 2, 1, 0, 1]]}]
    >>> table = Annotations.from_rows(rows, raters=["ann", "bob"], assigned="all", image_size={1: (3, 1)})
    >>> [(stack.image, stack.masks.astype(int).tolist()) for stack in mask_stacks(table)]
    [(1, [[[1, 1, 0]], [[0, 0, 0]]])]
    """
    chosen, assigned = _assigned(annotations, settings.category)
    size = canvas_sizes(annotations)
    order = np.argsort(annotations.image, kind="stable")
    bounds = np.searchsorted(annotations.image[order], np.arange(len(annotations.images) + 1))
    for image, raters in enumerate(assigned):
        who = np.flatnonzero(raters)
        if not len(who):
            continue
        rows = order[bounds[image] : bounds[image + 1]]
        rows = rows[chosen[rows]]
        _check_size(annotations, image, size)
        height = size[image, 1]
        own = masks_of(annotations, rows, size)
        index, column, top, bottom = own.strips(np.arange(len(rows)))
        canvas = np.tile(size[image], (len(raters), 1))
        start = column * height
        together = Masks.from_spans(canvas, annotations.rater[rows][index], start + top, start + bottom)
        pixels = np.stack([pixels_of(together, rater) for rater in who.tolist()])
        yield MaskStack(
            pixels,
            annotations.raters[who],
            image=annotations.images[image],
            raters_are_local=annotations.raters_are_local,
        )


def _assigned(annotations: Annotations, category: str | None) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the annotations (N,) of the class, and the raters (I, R) who are assigned."""
    if category is None:
        return np.ones(len(annotations), np.bool_), annotations.assigned_any_class
    names = annotations.categories.tolist()
    if category not in names:
        raise InputError(f"category: expected one of {listed(map(repr_of, names), 20)}, got {repr_of(category)}")
    code = names.index(category)
    assigned = annotations.assigned.copy()
    if annotations.assigned_categories is not None:
        assigned &= annotations.assigned_categories[:, code]
    kept_out = annotations.excluded[annotations.excluded[:, 2] == code]
    assigned[kept_out[:, 0], kept_out[:, 1]] = False
    return annotations.category == code, assigned


def canvas_sizes(annotations: Annotations) -> NDArray[np.intp]:
    """Return width and height (I, 2) of each image in pixels, from its masks if the table has none; 0 if unknown."""
    size = np.nan_to_num(np.ceil(annotations.image_size)).astype(np.intp)
    masks = annotations.shapes.get("mask")
    if isinstance(masks, Masks):
        present = ~masks.absent()
        image = annotations.image[present]
        unknown = size[image, 0] == 0
        size[image[unknown]] = masks.size[present][unknown]
    return size


def _check_size(annotations: Annotations, image: int, size: NDArray[np.intp]) -> None:
    if not size[image].all():
        raise InputError(f"image {annotations.images[image]!r}: expected its width and height in pixels, got none")


def masks_of(annotations: Annotations, rows: NDArray[np.intp], size: NDArray[np.intp]) -> Masks:
    """Return masks of the given rows (M,), existing or rasterised from polygons, on canvases of `size` (I, 2)."""
    canvas = size[annotations.image[rows]]
    given, polygons = annotations.shapes.get("mask"), annotations.shapes.get("polygon")
    has_mask = ~given.absent()[rows] if isinstance(given, Masks) else np.zeros(len(rows), np.bool_)
    has_polygon = ~polygons.absent()[rows] if isinstance(polygons, Polygons) else np.zeros(len(rows), np.bool_)
    without = rows[~has_mask & ~has_polygon]
    if len(without):
        ids = listed(annotations.id[without])
        raise InputError(f"annotations: expected a polygon or a mask of each annotation, got neither for ids {ids}")
    parts = []
    if isinstance(given, Masks) and has_mask.any():
        parts.append(given.take(rows[has_mask]))
        other = np.flatnonzero((parts[0].size != canvas[has_mask]).any(axis=1))
        if len(other):
            actual = f"{parts[0].size[other[0]].tolist()} of annotation {annotations.id[rows[has_mask][other[0]]]}"
            wanted = canvas[has_mask][other[0]].tolist()
            raise InputError(f"masks: expected width and height {wanted} of the image, got {actual}")
    if isinstance(polygons, Polygons) and not has_mask.all():
        parts.append(rasterise(polygons.take(rows[~has_mask]), canvas[~has_mask]))
    if len(parts) == 1:
        return parts[0]
    order = np.argsort(np.concatenate([np.flatnonzero(has_mask), np.flatnonzero(~has_mask)]))
    return joined(parts).take(order)


def joined(parts: list[Masks]) -> Masks:
    """Concatenate the masks of several columns.

    Examples
    --------
    >>> one = Masks.from_arrays([[[0, 1]]])
    >>> joined([one, one]).area().tolist(), len(joined([]))
    ([1.0, 1.0], 0)
    """
    runs = [np.diff(part.run_start) for part in parts]
    return Masks(
        np.concatenate([np.zeros((0, 2), np.intp), *(part.size for part in parts)]),
        np.concatenate([np.zeros(0, np.uint32), *(part.first for part in parts)]),
        np.concatenate([np.zeros(0, np.uint32), *(part.length for part in parts)]),
        run_starts(np.concatenate([np.zeros(0, np.intp), *runs])),
    )
