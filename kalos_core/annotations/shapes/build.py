"""Construction of the shape columns of a table, for all kinds of its annotations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.shapes.boxes import build_boxes
from kalos_core.annotations.shapes.cuboids import build_cuboids
from kalos_core.annotations.shapes.faults import ShapeFaults, Surroundings, are_given
from kalos_core.annotations.shapes.keypoints import build_keypoints
from kalos_core.annotations.shapes.masks import build_masks
from kalos_core.annotations.shapes.polygons import build_polygons
from kalos_core.annotations.shapes.volumes import build_volumes
from kalos_core.errors import listed
from kalos_core.shapes import Boxes, ShapeColumn

Builder = Callable[[list[Any], NDArray[np.intp], Surroundings, ShapeFaults], ShapeColumn]
"""Signature ``builder(given, rows, surroundings, faults)``; returns N shapes; only `rows` are present."""

BUILDERS: dict[str, Builder] = {
    "polygon": build_polygons,
    "mask": build_masks,
    "keypoints": build_keypoints,
    "volume": build_volumes,
    "cuboid": build_cuboids,
}
"""Shape kinds other than boxes."""

WITH_A_BOX = ("polygon", "mask", "keypoints")
"""Kinds that supply a missing box from their bounds; the first one present is used.

Volumes do not, since shapes above one another in a scan would get the same box.
"""

SHAPE_FIELDS = ("box", *BUILDERS)
"""Fields of a record that contain shapes."""


def build_shapes(
    given: Mapping[str, list[Any]], surroundings: Surroundings, faults: ShapeFaults
) -> dict[str, ShapeColumn]:
    """Build the columns of all kinds that occur; a missing box is the bounds of the annotation's other flat shape.

    Parameters
    ----------
    given : mapping of kind to list (N,)
        Shapes in the source; None if an annotation has no shape of that kind.
    surroundings : Surroundings
    faults : ShapeFaults
        Collects faults; the shapes of faulty rows are undefined.
    """
    present = {kind: are_given(shapes) for kind, shapes in given.items()}
    bare = np.flatnonzero(~np.logical_or.reduce(list(present.values())))
    faults.add_all(bare, f"a shape ({listed(present, len(present))})", lambda _: "none")
    boxes = build_boxes(given["box"], np.flatnonzero(present["box"]), faults)
    columns = {
        kind: build(given[kind], np.flatnonzero(present[kind]), surroundings, faults)
        for kind, build in BUILDERS.items()
        if present[kind].any()
    }
    corners = boxes.corners.copy()
    for column in [columns[kind] for kind in WITH_A_BOX if kind in columns]:
        open_ = np.isnan(corners).any(axis=1) & ~column.absent()
        if open_.any():
            corners[open_] = column.outline_bounds()[open_]
    if len(corners) and np.isnan(corners).all():
        return dict(columns)
    return {"box": Boxes(corners), **columns}
