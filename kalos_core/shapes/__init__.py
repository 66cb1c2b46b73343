"""One column type per shape kind: N shapes of N annotations as flat arrays, never an object per annotation.

Every column has the same few methods, so that similarities, ties and unions of shapes do not depend on the kind:
``len``, ``take(rows)``, ``absent()``, ``bounds()``, ``outline_bounds()``, ``area()``, ``union(rows)`` and
``tie_keys(rows)``.

* the table of kinds: `SHAPE_KINDS`, and `ShapeColumn`, which defines the methods
* in images: `Boxes`, `Polygons`, `Masks`, `Keypoints`
* in scans and scenes: `Volumes`, `Cuboids`
"""

from kalos_core.names import public_names
from kalos_core.shapes.boxes import Boxes as Boxes
from kalos_core.shapes.cuboids import Cuboids as Cuboids
from kalos_core.shapes.keypoints import Keypoints as Keypoints
from kalos_core.shapes.kinds import SHAPE_KINDS as SHAPE_KINDS
from kalos_core.shapes.kinds import ShapeColumn as ShapeColumn
from kalos_core.shapes.masks import Masks as Masks
from kalos_core.shapes.polygons import Polygons as Polygons
from kalos_core.shapes.volumes import Volumes as Volumes

__all__ = public_names(vars())
