"""Sources of shards, which collect common content and cut tables: annotations and image-level labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.annotations.blocks import ByImage
from kalos_core.distributed.base import Source
from kalos_core.distributed.labels import LabelVocabulary, by_item
from kalos_core.distributed.schema import SHAPES, Vocabulary
from kalos_core.errors import InputError, listed, repr_of
from kalos_core.nominal.table import LabelTable
from kalos_core.shapes import ShapeColumn
from kalos_core.similarity.fitting import complete_kinds


class LabelSource(Source[LabelTable]):
    """Tables of image-level labels, which have the same raters, concepts and groups."""

    entries = "items"
    shared = ("raters", "concepts", "groups", "group_of")

    def __init__(self) -> None:
        self.first: LabelVocabulary | None = None

    def note(self, table: LabelTable) -> None:
        """Inspect the names of the first table."""
        self.first = self.first or LabelVocabulary.of(table)

    def cut(self, table: LabelTable) -> Callable[[int, int], LabelTable]:
        """Return a function that maps the first item, and the end of the range, to the table of that range."""
        whole = by_item(table)

        def part(first: int, last: int) -> LabelTable:
            return whole.select(items=np.arange(first, last))

        return part

    def schema(self) -> LabelVocabulary:
        """Return the content common to all tables."""
        assert self.first is not None
        return self.first


def _taken(column: ShapeColumn, rows: NDArray[np.intp]) -> ShapeColumn:
    return column.take(rows)


def _with_crowds(table: Annotations, crowds: Annotations) -> Annotations:
    return replace(table, crowd_regions=crowds) if len(crowds) else table


class AnnotationSource(Source[Annotations]):
    """Tables of annotations, which may differ in classes, shape kinds and types of ids."""

    entries = "images"
    shared = ("raters", "person", "session")

    def __init__(self) -> None:
        self.first: Annotations | None = None
        self.categories: dict[str, None] = {}
        self.shapes: dict[str, None] = {}
        self.incomplete: set[str] = set()
        self.limits: dict[str, NDArray[np.bool_]] = {}
        self.has_numbers = self.has_text = False

    def cut(self, table: Annotations) -> Callable[[int, int], Annotations]:
        """Return a function that maps the first image, and the end of the range, to the table of that range."""
        by_image = ByImage(table)
        crowds = None if table.crowd_regions is None else ByImage(table.crowd_regions)

        def part(first: int, last: int) -> Annotations:
            piece = by_image.table(first, last, _taken)
            return piece if crowds is None else _with_crowds(piece, crowds.table(first, last, _taken))

        return part

    def note(self, table: Annotations) -> None:
        """Inspect classes, shapes, ids, and assignments of raters to classes."""
        self.first = self.first or table.select(rows=[])
        strange = [kind for kind in table.shapes if kind not in SHAPES]
        if strange:
            kinds, actual = ", ".join(SHAPES), listed(map(repr_of, strange))
            raise InputError(f"shapes: expected kinds among {kinds} to write shards of, got {actual}")
        self.categories |= dict.fromkeys(table.categories.tolist())
        self.shapes |= dict.fromkeys(table.shapes)
        self.incomplete |= {kind for kind in SHAPES if len(table) and kind not in complete_kinds(table)}
        for part in (table, table.crowd_regions):
            ids = [] if part is None or part.id.dtype.kind == "i" else part.id.tolist()
            text = sum(isinstance(value, str) for value in ids)
            self.has_text |= text > 0
            self.has_numbers |= part is not None and len(part) > text
        if table.assigned_categories is not None:
            for name, allowed in zip(table.categories, table.assigned_categories.T, strict=True):
                self.limits[name] = self.limits[name] & allowed if name in self.limits else allowed

    def schema(self) -> Vocabulary:
        """Return the content common to all tables."""
        assert self.first is not None
        raters, limits = self.first.raters.tolist(), None
        if self.limits:
            limits = {
                rater: tuple(name for name in self.categories if name not in self.limits or self.limits[name][row])
                for row, rater in enumerate(raters)
            }
        return Vocabulary(
            raters=tuple(raters),
            person=tuple(self.first.person.tolist()),
            session=tuple(self.first.session.tolist()),
            categories=tuple(self.categories),
            assigned_categories=limits,
            raters_are_local=self.first.raters_are_local,
            shapes=tuple(self.shapes),
            complete=tuple(kind for kind in self.shapes if kind not in self.incomplete),
            ids="mixed" if self.has_text and self.has_numbers else "text" if self.has_text else "int",
        )
