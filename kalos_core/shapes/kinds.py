"""The table of shape kinds, and the methods that every column of shapes has."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kalos_core.shapes.boxes import Boxes
from kalos_core.shapes.cuboids import Cuboids
from kalos_core.shapes.keypoints import Keypoints
from kalos_core.shapes.masks import Masks
from kalos_core.shapes.polygons import Polygons
from kalos_core.shapes.volumes import Volumes


class ShapeColumn(Protocol):
    """Interface of every column of shapes. N: annotations of the column; M, C: selected rows."""

    def __len__(self) -> int: ...

    def take(self, rows: NDArray[np.intp]) -> ShapeColumn:
        """Return the column of the given rows, (M,) -> M shapes."""
        ...

    def absent(self) -> NDArray[np.bool_]:
        """Return an (N,) mask of annotations without a shape of this kind."""
        ...

    def bounds(self) -> NDArray[np.float64]:
        """Return (N, 4) bounding boxes x_min, y_min, x_max, y_max in pixels; NaN for an absent shape."""
        ...

    def outline_bounds(self) -> NDArray[np.float64]:
        """Return (N, 4) bounds of the annotated outlines, even if they enclose nothing; NaN for an absent shape."""
        ...

    def area(self) -> NDArray[np.float64]:
        """Return the (N,) areas in square pixels."""
        ...

    def union(self, rows: NDArray[np.intp]) -> ShapeColumn:
        """Return C shapes, each the union of the m shapes of one line of `rows` (C, m)."""
        ...

    def tie_keys(self, rows: NDArray[np.intp]) -> list[NDArray[Any]]:
        """Return keys (M,) that sort the given shapes by geometry alone, the most significant key first."""
        ...


SHAPE_KINDS: dict[str, type[ShapeColumn]] = {
    "box": Boxes,
    "polygon": Polygons,
    "mask": Masks,
    "keypoints": Keypoints,
    "volume": Volumes,
    "cuboid": Cuboids,
}
"""Key of `Annotations.shapes` -> column type."""
