"""From the shapes a source holds to shape columns: one file per kind, every fault named by its record."""

from kalos_core.annotations.shapes.build import SHAPE_FIELDS, build_shapes
from kalos_core.annotations.shapes.faults import ShapeFaults, Surroundings

__all__ = ["SHAPE_FIELDS", "ShapeFaults", "Surroundings", "build_shapes"]
