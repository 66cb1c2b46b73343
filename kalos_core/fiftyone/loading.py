"""Loading a file of several raters into a data set: one label field per rater."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import fiftyone as fo
import numpy as np
from PIL import Image

from kalos_core.annotations import Annotations
from kalos_core.errors import InputError, Problems, listed
from kalos_core.fiftyone.progress import Progress, Report
from kalos_core.fiftyone.raters import (
    ASSIGNED_FIELD,
    derive_field_names,
    forget_rater_fields,
    rater_fields,
    store_rater_fields,
)
from kalos_core.readers import read_coco
from kalos_core.readers.coco import Assignment
from kalos_core.readers.vocabulary import Aliases
from kalos_core.shapes import Boxes, Polygons

LabelType = Literal["auto", "detections", "polylines"]

CANVAS_COLOUR = (222, 222, 222)
"""Neutral grey of a canvas that stands in for a missing picture."""


@dataclass(frozen=True)
class LoadedRaters:
    """What `load_raters` did.

    Parameters
    ----------
    dataset : fiftyone.core.dataset.Dataset
    fields : dict
        Rater name -> label field.
    annotations : int
    images : int
        Images of the file.
    added_samples : int
        How many of them became new samples.
    missing_pictures : tuple of str
        Files without a picture; a neutral canvas stands in.
    crowds : int
        Crowd regions that were kept out.
    """

    dataset: Any
    fields: dict[str, str]
    annotations: int
    images: int
    added_samples: int
    missing_pictures: tuple[str, ...] = ()
    crowds: int = 0


def load_raters(
    labels: str | os.PathLike[str] | Mapping[str, Any] | Annotations,
    dataset: Any = None,
    *,
    images: str | os.PathLike[str] | None = None,
    canvas: str | os.PathLike[str] | None = None,
    label_type: LabelType = "auto",
    category_field: str | None = None,
    aliases: Aliases | None = None,
    assigned: Assignment = "all",
    persistent: bool = True,
    progress: Progress | bool | None = None,
) -> LoadedRaters:
    """Load a COCO file of several raters, one label field per rater.

    Parameters
    ----------
    labels : path, mapping or Annotations
        See `kalos_core.read_coco`.
    dataset : str or fiftyone.core.dataset.Dataset, optional
        Name of a new data set, or an existing one, to whose samples of the same file name the fields are added;
        images it does not have become new samples. None: a new data set with a name of its own.
    images : path, optional
        Folder of the pictures; by default the folder of the file, or its ``images``, ``data`` or ``train`` folder.
    canvas : path, optional
        Folder for neutral canvases of the right size where a picture is missing; None: a missing picture is an error.
    label_type : "auto", "detections" or "polylines"
        Auto: polylines if every annotation has a polygon, else detections.
    category_field, aliases, assigned
        As in `kalos_core.read_coco`.
    persistent : bool
        Whether a new data set outlives the session.
    progress : bool or callable, optional
        FiftyOne's progress bar, or ``progress(share, label)``.

    Returns
    -------
    LoadedRaters

    Raises
    ------
    InputError
        For labels that cannot be used, a missing picture, or a rater whose field exists already. Nothing is kept then.
    """
    source = "annotations" if isinstance(labels, (Annotations, Mapping)) else Path(labels).name
    if isinstance(labels, Annotations):
        annotations = labels
    else:
        annotations = read_coco(labels, category_field=category_field, aliases=aliases, assigned=assigned)
    if not len(annotations.raters):
        raise InputError(f"{source}: expected at least one rater, got none")
    kind = _label_type(annotations, label_type)
    folders = _folders(labels, images)
    target, is_new = _open_dataset(dataset, persistent)
    try:
        loading = _Loading(target, annotations, kind, source, progress)
        loading.place(folders, None if canvas is None else Path(canvas))
        return loading.run()
    except BaseException:
        if is_new:
            target.delete()
        raise


@dataclass(frozen=True)
class _Kind:
    document: type
    label: type
    list: str


DETECTIONS = _Kind(fo.Detections, fo.Detection, "detections")
POLYLINES = _Kind(fo.Polylines, fo.Polyline, "polylines")


class _Loading:
    """One file on its way into one data set."""

    def __init__(
        self, dataset: Any, annotations: Annotations, kind: _Kind, source: str, progress: Progress | bool | None
    ) -> None:
        self.dataset = dataset
        self.annotations = annotations
        self.kind = kind
        self.source = source
        self.report = Report(progress)
        known = rater_fields(dataset)
        again = [f"{name!r} (field {known[name]!r})" for name in annotations.raters if name in known]
        if again:
            raise InputError(f"raters: the data set {dataset.name!r} already holds labels of {listed(again)}")
        self.fields = derive_field_names(annotations.raters, [*dataset.get_field_schema(), ASSIGNED_FIELD])
        self.asked = [list(annotations.raters[row]) for row in annotations.assigned]
        self.sample_id: list[str | None] = []
        self.path: list[str] = []
        self.missing: list[str] = []

    def place(self, folders: list[Path], canvas: Path | None) -> None:
        """Find each image's sample or picture; an error names every picture that is missing."""
        stored = self._samples_by_name()
        wanted = Counter(Path(file).name for file in self.annotations.files)
        problems = Problems(self.source)
        for row, file in enumerate(self.annotations.files):
            record, name = f"image {self.annotations.images[row]!r}", Path(file).name
            found = stored.get(name, [])
            path = "" if found else _picture(file, folders)
            if not file:
                problems.add(record, "a file_name", "nothing")
            elif len(found) > 1 or (found and wanted[name] > 1):
                problems.add(record, f"one sample of the file name {name!r}", max(len(found), wanted[name]))
            elif not np.isfinite(self.annotations.image_size[row]).all():
                problems.add(record, "a width and height, which FiftyOne's labels are fractions of", "none")
            elif not found and not path:
                self.missing.append(file)
                if canvas is None:
                    tried = listed(folders, 4) or "no folder was given"
                    problems.add(record, f"the picture {file!r} (looked in: {tried})", "no such file")
                else:
                    path = str((canvas / file.lstrip("/")).resolve())
            self.sample_id.append(found[0] if found else None)
            self.path.append(path)
        problems.raise_if_any()
        if canvas is not None and self.missing:
            self._draw_canvases(set(self.missing))

    def _samples_by_name(self) -> dict[str, list[str]]:
        stored: dict[str, list[str]] = {}
        if len(self.dataset):
            for sample_id, path in zip(*self.dataset.values(["id", "filepath"]), strict=True):
                stored.setdefault(Path(path).name, []).append(sample_id)
        return stored

    def _draw_canvases(self, missing: set[str]) -> None:
        for row, file in enumerate(self.annotations.files):
            path = Path(self.path[row]) if file in missing else None
            if path is not None and not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                width, height = self.annotations.image_size[row]
                Image.new("RGB", (round(width), round(height)), CANVAS_COLOUR).save(path)

    def run(self) -> LoadedRaters:
        """Write everything, or nothing."""
        new = [row for row, sample_id in enumerate(self.sample_id) if sample_id is None]
        old = [row for row, sample_id in enumerate(self.sample_id) if sample_id is not None]
        asked_before = self._asked_before()
        added: list[str] = []
        try:
            self._declare()
            self.report(0.1, f"Making {len(self.annotations):,} labels")
            made = self._labels()
            self.report(0.4, f"Adding {len(new):,} samples")
            samples = (self._sample(row, made) for row in new)
            added = self.dataset.add_samples(samples, num_samples=len(new), progress=False)
            self.report(0.8, f"Adding labels to {len(old):,} samples")
            self._add_to_existing(old, made, asked_before)
            store_rater_fields(self.dataset, self.fields)
            self.dataset.default_classes = [
                *dict.fromkeys([*self.dataset.default_classes, *self.annotations.categories])
            ]
            self.dataset.save()
        except BaseException:
            self._take_back(added, asked_before)
            raise
        self.report(1.0, "Done")
        return LoadedRaters(
            dataset=self.dataset,
            fields=self.fields,
            annotations=len(self.annotations),
            images=len(self.annotations.images),
            added_samples=len(new),
            missing_pictures=tuple(self.missing),
            crowds=int(self.annotations.crowds.sum()),
        )

    def _asked_before(self) -> dict[str, list[str] | None]:
        if not self.dataset.has_field(ASSIGNED_FIELD):
            return {}
        field = self.dataset.get_field(ASSIGNED_FIELD)
        if not isinstance(field, fo.ListField):
            raise InputError(f"dataset: expected the field {ASSIGNED_FIELD!r} to list rater names, got {field}")
        return dict(zip(*self.dataset.values(["id", ASSIGNED_FIELD]), strict=True))

    def _declare(self) -> None:
        for name in self.fields.values():
            self.dataset.add_sample_field(name, fo.EmbeddedDocumentField, embedded_doc_type=self.kind.document)
            self.dataset.add_sample_field(f"{name}.{self.kind.list}.annotation_id", fo.StringField)
        if not self.dataset.has_field(ASSIGNED_FIELD):
            self.dataset.add_sample_field(ASSIGNED_FIELD, fo.ListField, subfield=fo.StringField)

    def _labels(self) -> dict[tuple[int, int], list[Any]]:
        """(image, rater) -> FiftyOne labels."""
        annotations = self.annotations
        made: dict[tuple[int, int], list[Any]] = {}
        for row, shape in enumerate(_fractions(annotations, self.kind)):
            name = annotations.categories[annotations.category[row]]
            label = self.kind.label(label=name, annotation_id=str(annotations.id[row]), **shape)
            made.setdefault((int(annotations.image[row]), int(annotations.rater[row])), []).append(label)
        return made

    def _of_image(self, row: int, made: Mapping[tuple[int, int], list[Any]]) -> dict[str, Any]:
        """Field -> labels: empty for a rater who looked and drew nothing, none for one who was not asked."""
        return {
            self.fields[rater]: self.kind.document(**{self.kind.list: made.get((row, code), [])})
            for code, rater in enumerate(self.annotations.raters)
            if self.annotations.assigned[row, code]
        }

    def _sample(self, row: int, made: Mapping[tuple[int, int], list[Any]]) -> Any:
        width, height = self.annotations.image_size[row]
        metadata = fo.ImageMetadata(width=round(width), height=round(height))
        asked = {ASSIGNED_FIELD: self.asked[row]}
        return fo.Sample(filepath=self.path[row], metadata=metadata, **asked, **self._of_image(row, made))

    def _add_to_existing(
        self,
        rows: list[int],
        made: Mapping[tuple[int, int], list[Any]],
        asked_before: Mapping[str, list[str] | None],
    ) -> None:
        if not rows:
            return
        ids = [str(self.sample_id[row]) for row in rows]
        labels = [self._of_image(row, made) for row in rows]
        for name in self.fields.values():
            self.dataset.set_values(name, dict(zip(ids, [of.get(name) for of in labels], strict=True)), key_field="id")
        asked = [[*(asked_before.get(key) or ()), *self.asked[row]] for key, row in zip(ids, rows, strict=True)]
        self.dataset.set_values(ASSIGNED_FIELD, dict(zip(ids, asked, strict=True)), key_field="id")

    def _take_back(self, added: list[str], asked_before: Mapping[str, list[str] | None]) -> None:
        if added:
            self.dataset.delete_samples(added)
        self.dataset.delete_sample_fields([name for name in self.fields.values() if self.dataset.has_field(name)])
        if asked_before:
            self.dataset.set_values(ASSIGNED_FIELD, dict(asked_before), key_field="id")
        elif self.dataset.has_field(ASSIGNED_FIELD):
            self.dataset.delete_sample_field(ASSIGNED_FIELD)
        forget_rater_fields(self.dataset, self.fields.values())


def _label_type(annotations: Annotations, label_type: LabelType) -> _Kind:
    polygons = annotations.shapes.get("polygon")
    absent = polygons.absent().sum() if isinstance(polygons, Polygons) else len(annotations)
    if label_type == "polylines" and absent and len(annotations):
        raise InputError(f"label_type: polylines need a polygon for every annotation, {absent:,} have none")
    if label_type not in ("auto", "detections", "polylines"):
        raise InputError(f"label_type: expected 'auto', 'detections' or 'polylines', got {label_type!r}")
    return DETECTIONS if label_type == "detections" or absent else POLYLINES


def _open_dataset(dataset: Any, persistent: bool) -> tuple[Any, bool]:
    if isinstance(dataset, fo.Dataset):
        return dataset, False
    if dataset is not None and not isinstance(dataset, str):
        raise InputError(f"dataset: expected a name or a data set, got {type(dataset).__name__}")
    if dataset is not None and fo.dataset_exists(dataset):
        return fo.load_dataset(dataset), False
    return fo.Dataset(dataset, persistent=persistent), True


def _folders(labels: Any, images: Any) -> list[Path]:
    if images is not None:
        folder = Path(images)
        if not folder.is_dir():
            raise InputError(f"images: expected a folder, got {folder}")
        return [folder]
    if isinstance(labels, (Annotations, Mapping)):
        return []
    beside = Path(labels).parent
    return [beside / name for name in ("images", "data", "train", "")]


def _picture(file: str, folders: list[Path]) -> str:
    candidates = [Path(file)] if Path(file).is_absolute() else [folder / file for folder in folders]
    return next((str(path.resolve()) for path in candidates if path.is_file()), "")


def _fractions(annotations: Annotations, kind: _Kind) -> list[dict[str, Any]]:
    """The shape of each label, coordinates as fractions of the picture."""
    sizes = annotations.image_size[annotations.image]
    if kind is DETECTIONS:
        boxes = annotations.shapes["box"]
        assert isinstance(boxes, Boxes)
        return [{"bounding_box": box} for box in (boxes.xywh() / np.hstack([sizes, sizes])).tolist()]
    polygons = annotations.shapes["polygon"]
    assert isinstance(polygons, Polygons)
    return [
        {"points": [(ring / size).tolist() for ring in polygons.rings(row)], "closed": True, "filled": True}
        for row, size in enumerate(sizes)
    ]
