"""A digest of every image's labels, by which a stored run knows what has changed since."""

from __future__ import annotations

import hashlib
import zlib

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, object_array
from kalos_core.shapes import Polygons


def digests(annotations: Annotations) -> NDArray[np.object_]:
    """(I,) a digest of who was asked and of every label read, whatever the vocabularies and their order."""

    def crc(texts: NDArray[np.object_]) -> NDArray[np.int64]:
        return np.array([zlib.crc32(str(text).encode()) for text in texts], dtype=np.int64)

    box = annotations.shapes["box"].bounds() if len(annotations) else np.zeros((0, 4))
    polygon = annotations.shapes.get("polygon")
    outline = np.zeros(len(annotations), np.int64)
    if isinstance(polygon, Polygons):
        # the lengths tell rings of the same points apart
        outline[:] = [
            zlib.crc32(b"".join(len(ring).to_bytes(8, "little") + ring.tobytes() for ring in polygon.rings(row)))
            for row in range(len(outline))
        ]
    rows = np.column_stack(
        [
            crc(annotations.raters)[annotations.rater],
            crc(annotations.categories)[annotations.category],
            crc(annotations.id),
            np.round(box, 6).view(np.int64),
            outline,
        ]
    ).astype(np.int64)
    order = np.lexsort((*rows.T[::-1], annotations.image))
    ends = np.searchsorted(annotations.image[order], np.arange(len(annotations.images) + 1))
    names = crc(annotations.raters)
    found = []
    for image in range(len(annotations.images)):
        asked = np.sort(names[annotations.assigned[image]])
        content = asked.tobytes() + rows[order[ends[image] : ends[image + 1]]].tobytes()
        found.append(hashlib.blake2b(content, digest_size=8).hexdigest())
    return object_array(found)
