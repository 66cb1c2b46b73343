"""Digest of the labels of each image, by which a stored run detects later changes."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, object_array
from kalos_core.annotations.blocks import ByImage
from kalos_core.shapes import Cuboids, Keypoints, Masks, Polygons, ShapeColumn

KINDS = ("polygon", "mask", "keypoints", "cuboid")
"""Shape kinds that enter a digest besides boxes; always all, so that no digest depends on other images."""


def digests(by_image: ByImage, limits: Mapping[str, Iterable[str]]) -> NDArray[np.object_]:
    """Return a digest (I,) per image of the assigned raters and all labels read.

    It does not depend on the vocabularies or on other images. If an image has crowd regions, half of its digest is
    theirs. `limits`: rater -> the classes they were assigned to, for raters who were not assigned to all.
    """
    found, crowds = object_array(list(_of_images(by_image, limits))), by_image.annotations.crowd_regions
    if crowds is not None:
        own = list(_of_images(ByImage(crowds), {}))
        for image in np.unique(crowds.image):
            found[image] = found[image][:8] + own[image][:8]
    return found


def _of_images(by_image: ByImage, limits: Mapping[str, Iterable[str]]) -> Iterator[str]:
    annotations = by_image.annotations
    names = _texts(annotations.raters)
    restricted = [zlib.crc32("\x1f".join(sorted(limits.get(name, ()))).encode()) for name in annotations.raters]
    assigned = names ^ np.array(restricted, dtype=np.int64)
    for first, last in by_image.blocks():
        table = by_image.table(first, last, lambda column, rows: column.take(rows))
        rows = _rows(table, names)
        ends = by_image.start[first : last + 1] - by_image.start[first]
        for image, (begin, end) in enumerate(pairwise(ends.tolist())):
            content = np.sort(assigned[table.assigned[image]]).tobytes() + rows[begin:end].tobytes()
            yield hashlib.blake2b(content, digest_size=8).hexdigest()


def _rows(table: Annotations, raters: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (N, 11 + attributes) numbers that describe the labels, sorted by image and then by value."""
    box = table.shapes.get("box")
    corners = np.full((len(table), 4), np.nan) if box is None else box.bounds()
    nothing = np.zeros(len(table), np.int64)
    columns = [table.shapes.get(kind) for kind in KINDS]
    rows = np.column_stack(
        [
            raters[table.rater],
            _texts(table.categories)[table.category],
            _texts(table.id),
            np.round(corners, 6).view(np.int64),
            *(nothing if column is None else np.where(column.absent(), 0, _of_shapes(column)) for column in columns),
            *(_texts(table.attributes[name]) for name in sorted(table.attributes)),
        ]
    ).astype(np.int64)
    return rows[np.lexsort((*rows.T[::-1], table.image))]


def _texts(texts: NDArray[Any]) -> NDArray[np.int64]:
    return _checksums(str(text).encode() for text in texts)


def _of_shapes(column: ShapeColumn) -> NDArray[np.int64]:
    content = next(read for kind, read in CONTENT.items() if isinstance(column, kind))
    return _checksums(content(column))


def _checksums(contents: Iterable[bytes]) -> NDArray[np.int64]:
    return np.array([zlib.crc32(content) for content in contents], dtype=np.int64)


def _rings(polygons: Polygons) -> Iterable[bytes]:
    """Include the lengths, which distinguish different rings of the same points."""
    for row in range(len(polygons)):
        yield b"".join(len(ring).to_bytes(8, "little") + ring.tobytes() for ring in polygons.rings(row))


def _runs(masks: Masks) -> Iterable[bytes]:
    runs = np.column_stack([masks.first, masks.length])
    for size, (begin, end) in zip(masks.size, pairwise(masks.run_start.tolist()), strict=True):
        yield size.tobytes() + runs[begin:end].tobytes()


def _points(keypoints: Keypoints) -> Iterable[bytes]:
    labelled = np.where(keypoints.visible[..., None], np.round(keypoints.points, 6), np.inf)
    return (pose.tobytes() for pose in labelled)


def _numbers(cuboids: Cuboids) -> Iterable[bytes]:
    return (numbers.tobytes() for numbers in np.round(cuboids.rows(), 6))


CONTENT: dict[type, Callable[..., Iterable[bytes]]] = {
    Polygons: _rings,
    Masks: _runs,
    Keypoints: _points,
    Cuboids: _numbers,
}
"""Type of a shape column -> function that yields the bytes of each shape for its checksum."""
