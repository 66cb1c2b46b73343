"""Conversion of annotations to FiftyOne's labels, as plain documents in the form that the database stores.

Coordinates become fractions of the image. No label objects are created: FiftyOne takes 140 µs to make and write one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import fiftyone as fo
import fiftyone.core.utils as fou
import numpy as np
from bson import ObjectId
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import expand_runs
from kalos_core.errors import InputError, listed, lookup
from kalos_core.fiftyone.dataset.coordinates import CROWD
from kalos_core.fiftyone.dataset.database import BLOCK, FieldArguments, label_field
from kalos_core.pixels.rasterisation import canvas_sizes, masks_of
from kalos_core.shapes import Boxes, Keypoints, Masks, Polygons, ShapeColumn
from kalos_core.shapes.crops import crop_frames, crops_of

LabelTypeName = Literal["auto", "detections", "polylines", "keypoints"]

Document = dict[str, Any]
"""Document in the form that the database stores."""

Rows = NDArray[np.intp]

Attributes = Callable[[Rows], Mapping[str, Sequence[Any]]]
"""Function from rows of a table to the values of each attribute for these rows, by name."""


@dataclass(frozen=True)
class LabelType:
    """A label type of FiftyOne.

    Parameters
    ----------
    document, label : type
        Types of the field and of a label in it.
    list_name : str
        Attribute of the document that holds its list of labels.
    shape : str
        The kind of shape that every annotation must have.
    encode : callable
        ``encode(shapes, sizes)`` returns the shape entries of each label's document. `shapes`: kind -> column of M
        shapes; `sizes`: (M, 2) width and height of their images.
    """

    document: type
    label: type
    list_name: str
    shape: str
    encode: Callable[[Mapping[str, ShapeColumn], NDArray[np.float64]], Iterable[Document]]

    @cached_property
    def template(self) -> Document:
        """Document of an empty label, as the installed version of FiftyOne makes it."""
        return dict(self.label(label="").to_dict())

    def declared(
        self, field: str, description: str, info: Document, attributes: Mapping[str, FieldArguments]
    ) -> dict[str, FieldArguments]:
        """Return the declarations of a field of such labels and of attributes of its labels, by path."""
        own = label_field(self.document, description, info)
        return {field: own} | {f"{field}.{self.list_name}.{name}": how for name, how in attributes.items()}

    def labels(self, annotations: Annotations, rows: Rows, attributes: Attributes | None = None) -> list[Document]:
        """Return the documents of some annotations.

        Parameters
        ----------
        annotations : Annotations
            With the shapes that `choose_label_type` requires and the sizes of all images.
        rows : (M,) int
        attributes : callable, optional
            Further attributes of each label, possibly including ``_id``, an ObjectId, which is new by default.

        Examples
        --------
        >>> rows = [{"image": 1, "rater": "ann", "category": "cat", "box": [0, 10, 20, 30]}]
        >>> table = Annotations.from_rows(rows, image_size={1: (100, 40)})
        >>> (label,) = LABEL_TYPES["detections"].labels(table, np.array([0]), lambda rows: {"number": rows.tolist()})
        >>> {name: label[name] for name in ("_cls", "label", "bounding_box", "number")}
        {'_cls': 'Detection', 'label': 'cat', 'bounding_box': [0.0, 0.25, 0.2, 0.75], 'number': 0}
        """
        shapes = {kind: column.take(rows) for kind, column in annotations.shapes.items()}
        encoded = self.encode(shapes, annotations.image_size[annotations.image[rows]])
        return self._documents(annotations, rows, encoded, {} if attributes is None else attributes(rows))

    def regions(self, crowds: Annotations, attributes: Attributes) -> list[Document]:
        """Return the documents of crowd regions, marked by `iscrowd`; see `Annotations.crowd_regions`.

        A region that a polyline or keypoint cannot represent has `bounding_box` and `mask`, as in a detection; its
        points show its box.

        Parameters
        ----------
        crowds : (M,) Annotations
            They must have boxes.
        attributes : callable
            As in `labels`.
        """
        sizes, rows = crowds.image_size[crowds.image], np.arange(len(crowds))
        has = {kind: ~column.absent() for kind, column in crowds.shapes.items()}
        none = np.zeros(len(crowds), np.bool_)
        outlined = has.get("polygon", none)
        drawn = outlined | has.get("mask", none)
        own = outlined & (self.shape == "polygon")
        encoded: list[Document] = [{} for _ in rows]
        parts: list[tuple[Rows, Iterable[Document]]] = [
            (
                rows[own],
                _polylines({"polygon": crowds.shapes["polygon"].take(rows[own])} if own.any() else {}, sizes[own]),
            )
        ]
        for chosen in (rows[drawn & ~own], rows[~drawn]):
            shapes = {"box": crowds.shapes["box"].take(chosen)}
            if len(chosen) and drawn[chosen[0]]:
                shapes["mask"] = masks_of(crowds, chosen, canvas_sizes(crowds))
            parts.append((chosen, map(self._framed, _detections(shapes, sizes[chosen]))))
        for chosen, made in parts:
            for row, document in zip(chosen.tolist(), made, strict=True):
                encoded[row] = document
        return self._documents(crowds, rows, encoded, {**attributes(rows), CROWD: [True] * len(rows)})

    def _framed(self, region: Document) -> Document:
        """Add the points that show a region as a label of this type."""
        if self.list_name == "detections":
            return region
        left, top, width, height = region["bounding_box"]
        right, bottom = left + width, top + height
        corners = [[left, top], [right, top], [right, bottom], [left, bottom]]
        shown = {"points": [corners], "closed": True, "filled": False}
        return region | (shown if self.list_name == "polylines" else {"points": corners})

    def _documents(
        self, table: Annotations, rows: Rows, encoded: Iterable[Document], columns: Mapping[str, Sequence[Any]]
    ) -> list[Document]:
        names, categories = list(columns), [str(name) for name in table.categories]
        values = zip(*columns.values(), strict=True) if columns else [()] * len(rows)
        return [
            {
                **self.template,
                "_id": ObjectId(),
                "label": categories[category],
                **shape,
                **dict(zip(names, own, strict=True)),
            }
            for category, shape, own in zip(table.category[rows].tolist(), encoded, values, strict=True)
        ]

    def fields(
        self,
        annotations: Annotations,
        names: Sequence[str],
        attributes: Attributes | None = None,
        images: Sequence[int] | None = None,
    ) -> Iterator[dict[str, Document]]:
        """Yield the labels of each image by field: empty if a rater annotated nothing, missing if not assigned.

        Labels are made for a block of images at a time, to limit memory.

        Parameters
        ----------
        annotations : Annotations
        names : (R,) names
            The field of each rater.
        attributes : callable, optional
            As in `labels`.
        images : codes, optional
            The images, in this order; by default all.
        """
        order = np.argsort(annotations.image, kind="stable")
        start = np.searchsorted(annotations.image[order], np.arange(len(annotations.images) + 1))
        chosen = np.arange(len(annotations.images)) if images is None else np.asarray(images, np.intp)
        for begin in range(0, len(chosen), BLOCK):
            block = chosen[begin : begin + BLOCK]
            owner, position = expand_runs(start[block], start[block + 1] - start[block])
            rows = order[position]
            found = [
                {name: self._list([]) for name, there in zip(names, assigned, strict=True) if there}
                for assigned in annotations.assigned[block].tolist()
            ]
            labels = self.labels(annotations, rows, attributes)
            for image, rater, label in zip(owner.tolist(), annotations.rater[rows].tolist(), labels, strict=True):
                found[image][names[rater]][self.list_name].append(label)
            yield from found

    def _list(self, labels: list[Document]) -> Document:
        return {"_cls": self.document.__name__, self.list_name: labels}


def choose_label_type(annotations: Annotations, name: LabelTypeName) -> LabelType:
    """Return the label type that can hold the annotations' shapes.

    "auto" chooses polylines if every annotation has a polygon; keypoints if every annotation has keypoints and none has
    a polygon or mask; detections otherwise, with masks where there are any.

    Raises
    ------
    InputError
        If FiftyOne cannot show the shapes on images, or annotations lack the requested shape.
    """
    others = [kind for kind in ("volume", "cuboid") if kind in annotations.shapes]
    if others:
        raise InputError(
            f"labels: expected boxes, polygons, masks or keypoints, got {listed(others)}, which cannot be shown on an "
            "image; their agreement is computed from the table that the reader returns"
        )
    if name == "auto":
        outlined = {"polygon", "mask"} & set(annotations.shapes)
        if not _lacking(annotations, "polygon"):
            name = "polylines"
        else:
            name = "detections" if outlined or _lacking(annotations, "keypoints") else "keypoints"
    lookup({"auto": None, **LABEL_TYPES}, name, "label_type")
    shape = LABEL_TYPES[name].shape
    lacking = _lacking(annotations, shape)
    if lacking and len(annotations):
        raise InputError(f"label_type: {name} need a {shape} for every annotation, {lacking:,} have none")
    return LABEL_TYPES[name]


PER_LABEL, PER_POINT = 1024, 40
"""Upper bounds in bytes for a label without its shape, and for a point of an outline."""


def rough_bytes(annotations: Annotations) -> NDArray[np.float64]:
    """Estimate the size in bytes (N,) of the label of each annotation, too large rather than too small.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": "ann", "category": "cat", "box": [0, 0, 9, 9]}]
    >>> rough_bytes(Annotations.from_rows(rows)).tolist()
    [1024.0]
    """
    found = np.full(len(annotations), float(PER_LABEL))
    for column in annotations.shapes.values():
        if isinstance(column, Polygons):
            found += PER_POINT * np.diff(column.ring_start[column.part_start])
        elif isinstance(column, Keypoints):
            found += PER_POINT * column.points.shape[1]
        elif isinstance(column, Masks):  # smaller when compressed, except for noise
            bounds = np.nan_to_num(column.bounds())
            found += (bounds[:, 2] - bounds[:, 0]) * (bounds[:, 3] - bounds[:, 1])
    return found


def _lacking(annotations: Annotations, kind: str) -> int:
    """Count the annotations without a shape of a kind; an empty table without the column counts as 1."""
    column = annotations.shapes.get(kind)
    return max(len(annotations), 1) if column is None else int(column.absent().sum())


def _detections(shapes: Mapping[str, ShapeColumn], sizes: NDArray[np.float64]) -> Iterable[Document]:
    boxes, masks = shapes.get("box"), shapes.get("mask")
    if not isinstance(boxes, Boxes):
        return []
    corners = boxes.corners.copy()
    crops: dict[int, bytes] = {}
    if isinstance(masks, Masks):
        rows = np.flatnonzero(~masks.absent())
        there = masks.take(rows)
        corners[rows] = crop_frames(corners[rows], there)
        cut = crops_of(there, corners[rows].astype(np.intp))
        crops = {row: fou.serialize_numpy_array(crop) for row, crop in zip(rows.tolist(), cut, strict=True)}
    xywh = np.hstack([corners[:, :2] / sizes, (corners[:, 2:] - corners[:, :2]) / sizes]).tolist()
    return [{"bounding_box": box} | ({"mask": crops[row]} if row in crops else {}) for row, box in enumerate(xywh)]


def _polylines(shapes: Mapping[str, ShapeColumn], sizes: NDArray[np.float64]) -> Iterable[Document]:
    polygons = shapes.get("polygon")
    if not isinstance(polygons, Polygons):
        return []
    return (
        {"points": [(ring / size).tolist() for ring in polygons.rings(row)], "closed": True, "filled": False}
        for row, size in enumerate(sizes)
    )


def _keypoints(shapes: Mapping[str, ShapeColumn], sizes: NDArray[np.float64]) -> Iterable[Document]:
    """Encode keypoints; unlabelled ones are NaN, as in FiftyOne."""
    poses = shapes.get("keypoints")
    if not isinstance(poses, Keypoints):
        return []
    return [{"points": points} for points in (poses.points / sizes[:, None]).tolist()]


LABEL_TYPES: dict[str, LabelType] = {
    "detections": LabelType(fo.Detections, fo.Detection, "detections", "box", _detections),
    "polylines": LabelType(fo.Polylines, fo.Polyline, "polylines", "polygon", _polylines),
    "keypoints": LabelType(fo.Keypoints, fo.Keypoint, "keypoints", "keypoints", _keypoints),
}
"""Name -> label type."""
