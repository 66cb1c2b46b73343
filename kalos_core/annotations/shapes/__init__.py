"""Conversion of source shapes to shape columns, one file per kind; every fault is reported by record."""

from kalos_core.annotations.shapes.build import SHAPE_FIELDS as SHAPE_FIELDS
from kalos_core.annotations.shapes.build import build_shapes as build_shapes
from kalos_core.annotations.shapes.faults import ShapeFaults as ShapeFaults
from kalos_core.annotations.shapes.faults import Surroundings as Surroundings
from kalos_core.names import public_names

__all__ = public_names(vars())
