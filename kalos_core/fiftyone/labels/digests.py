"""A digest of every image's labels, by which a stored run knows what has changed since."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, object_array
from kalos_core.shapes import Cuboids, Keypoints, Masks, Polygons, ShapeColumn


def digests(annotations: Annotations) -> NDArray[np.object_]:
    """(I,) a digest of who was asked and of every label read, whatever the vocabularies and their order."""

    def crc(texts: NDArray[np.object_]) -> NDArray[np.int64]:
        return _checksums(str(text).encode() for text in texts)

    box = annotations.shapes.get("box")
    corners = np.full((len(annotations), 4), np.nan) if box is None else box.bounds()
    outline = annotations.shapes.get("polygon")
    others = [annotations.shapes[kind] for kind in ("mask", "keypoints", "cuboid") if kind in annotations.shapes]
    rows = np.column_stack(
        [
            crc(annotations.raters)[annotations.rater],
            crc(annotations.categories)[annotations.category],
            crc(annotations.id),
            np.round(corners, 6).view(np.int64),
            np.zeros(len(annotations), np.int64) if outline is None else _of_shapes(outline),
            *map(_of_shapes, others),
        ]
    ).astype(np.int64)
    order = np.lexsort((*rows.T[::-1], annotations.image))
    ends = np.searchsorted(annotations.image[order], np.arange(len(annotations.images) + 1))
    names = crc(annotations.raters)
    if annotations.assigned_categories is not None:
        names = names ^ _of_limits(annotations.assigned_categories, crc(annotations.categories))
    found = []
    for image in range(len(annotations.images)):
        asked = np.sort(names[annotations.assigned[image]])
        content = asked.tobytes() + rows[order[ends[image] : ends[image + 1]]].tobytes()
        found.append(hashlib.blake2b(content, digest_size=8).hexdigest())
    return object_array(found)


def _of_limits(limits: NDArray[np.bool_], categories: NDArray[np.int64]) -> NDArray[np.int64]:
    """(R,) a checksum of the classes each rater was asked for; 0 for all."""
    return np.array([0 if asked.all() else zlib.crc32(np.sort(categories[asked]).tobytes()) for asked in limits])


def _of_shapes(column: ShapeColumn) -> NDArray[np.int64]:
    """(N,) a checksum of each shape."""
    content = next(read for kind, read in CONTENT.items() if isinstance(column, kind))
    return _checksums(content(column))


def _checksums(contents: Iterable[bytes]) -> NDArray[np.int64]:
    return np.array([zlib.crc32(content) for content in contents], dtype=np.int64)


def _rings(polygons: Polygons) -> Iterable[bytes]:
    """The lengths tell rings of the same points apart."""
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
"""Type of a shape column -> what of each shape a checksum is taken of."""
