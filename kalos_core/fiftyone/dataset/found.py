"""Raters found in the fields of a data set, which *Start* offers to analyse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import fiftyone as fo

from kalos_core.display import number_of
from kalos_core.fiftyone.dataset.expressions import list_of
from kalos_core.fiftyone.dataset.raters import (
    ASSIGNED_FIELD,
    IMAGE_LABELS,
    MASKS,
    OBJECTS,
    Family,
    estimated_fields,
    label_fields,
    rater_fields,
    synthetic_fields,
)
from kalos_core.fiftyone.dataset.selection import Selection

RATER_ATTRIBUTES = ("rater", "rater_id", "annotator", "rad_id")
"""Attributes that name the rater in common formats."""

SHOWN_AS = {
    fo.Detections: "boxes",
    fo.Polylines: "polygons",
    fo.Keypoints: "keypoints",
    fo.Classification: "one label an image",
    fo.Classifications: "several labels an image",
    fo.Segmentation: "masks",
}
"""Label types, as shown to users."""


@dataclass(frozen=True)
class FoundRaters:
    """Two or more raters who gave labels of one family.

    Parameters
    ----------
    family : str
    raters : tuple of str
    shapes : tuple of str
        Label types, as shown to users.
    images : int
        Number of images in the data set.
    seen_by_all : int, optional
        Number of images to which every rater was assigned; None if the assignment is unknown.
    selection : Selection
        Selection of these labels.

    Examples
    --------
    >>> print(FoundRaters("objects", ("ann", "bob"), ("boxes", "polygons"), 72, 60, Selection()))
    2 raters, boxes and polygons, 72 images, 60 seen by all
    """

    family: str
    raters: tuple[str, ...]
    shapes: tuple[str, ...]
    images: int
    seen_by_all: int | None
    selection: Selection

    def __str__(self) -> str:
        images = number_of(self.images, "image")
        seen = "assigned raters unknown" if self.seen_by_all is None else f"{self.seen_by_all:,} seen by all"
        return f"{number_of(len(self.raters), 'rater')}, {' and '.join(self.shapes)}, {images}, {seen}"


def found_raters(samples: Any) -> list[FoundRaters]:
    """Return the raters of a data set: of objects, then of image-level labels, then of masks.

    A family with fewer than two raters is left out. Raters are the stored ones; otherwise every label field that no run
    wrote; for a single field, the raters named by one of `RATER_ATTRIBUTES` of its labels.

    Examples
    --------
    >>> dataset = fo.Dataset()
    >>> cat = fo.Detections(detections=[fo.Detection(label="cat", bounding_box=[0, 0, 1, 1])])
    >>> _ = dataset.add_sample(fo.Sample("a.jpg", ann=cat, bob=cat.copy(), raters=["ann", "bob"]))
    >>> print(*found_raters(dataset))
    2 raters, boxes, 1 image, 1 seen by all
    >>> dataset.delete()
    """
    found = [_of_family(samples, family) for family in (OBJECTS, IMAGE_LABELS, MASKS)]
    return [entry for entry in found if entry is not None]


def _of_family(samples: Any, family: Family) -> FoundRaters | None:
    made = {*synthetic_fields(samples), *estimated_fields(samples)}
    fields = {field: path for field, path in label_fields(samples, family).items() if field not in made}
    stored = rater_fields(samples, family)
    raters, selection = tuple(stored), Selection()
    if not stored and len(fields) > 1:
        raters = tuple(fields)
        selection = Selection(raters=raters)
    elif not stored and len(fields) == 1:
        ((field, path),) = fields.items()
        attribute, raters = _by_attribute(samples, path) if path != field else ("", ())
        selection = Selection(field=field, rater_attribute=attribute)
    if len(raters) < 2:
        return None
    schema = samples.get_field_schema()
    used = [schema[field].document_type for field in (stored.values() or fields)]
    seen = None
    if samples.has_field(ASSIGNED_FIELD):
        seen = len(samples.match(list_of(ASSIGNED_FIELD).contains(list(raters), all=True)))
    shapes = tuple(dict.fromkeys(SHOWN_AS[kind] for kind in used))
    return FoundRaters(family.name, raters, shapes, len(samples), seen, selection)


def _by_attribute(samples: Any, path: str) -> tuple[str, tuple[str, ...]]:
    """Return the first of `RATER_ATTRIBUTES` that labels have, and the raters it names."""
    for attribute in RATER_ATTRIBUTES:
        raters = tuple(str(name) for name in samples.distinct(f"{path}.{attribute}"))
        if raters:
            return attribute, raters
    return "", ()
