"""A digest of every image's labels, by which a stored run knows what has changed since."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, object_array
from kalos_core.shapes import Cuboids, Keypoints, Masks, Polygons, ShapeColumn

KINDS = ("polygon", "mask", "keypoints", "cuboid")
"""Shape kinds that a digest looks at beside boxes, always all of them: no image's depends on what others have."""


def digests(annotations: Annotations, limits: Mapping[str, Iterable[str]]) -> NDArray[np.object_]:
    """(I,) a digest of who was assigned and of every label read, whatever the vocabularies and the other images.

    `limits`: rater -> the classes they were assigned to, of those who were not assigned to all.
    """

    def crc(texts: NDArray[np.object_]) -> NDArray[np.int64]:
        return _checksums(str(text).encode() for text in texts)

    box = annotations.shapes.get("box")
    corners = np.full((len(annotations), 4), np.nan) if box is None else box.bounds()
    nothing = np.zeros(len(annotations), np.int64)
    columns = [annotations.shapes.get(kind) for kind in KINDS]
    rows = np.column_stack(
        [
            crc(annotations.raters)[annotations.rater],
            crc(annotations.categories)[annotations.category],
            crc(annotations.id),
            np.round(corners, 6).view(np.int64),
            *(nothing if column is None else np.where(column.absent(), 0, _of_shapes(column)) for column in columns),
        ]
    ).astype(np.int64)
    order = np.lexsort((*rows.T[::-1], annotations.image))
    ends = np.searchsorted(annotations.image[order], np.arange(len(annotations.images) + 1))
    restricted = [zlib.crc32("\x1f".join(sorted(limits.get(name, ()))).encode()) for name in annotations.raters]
    names = crc(annotations.raters) ^ np.array(restricted, dtype=np.int64)
    found = []
    for image in range(len(annotations.images)):
        assigned = np.sort(names[annotations.assigned[image]])
        content = assigned.tobytes() + rows[order[ends[image] : ends[image + 1]]].tobytes()
        found.append(hashlib.blake2b(content, digest_size=8).hexdigest())
    return object_array(found)


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
