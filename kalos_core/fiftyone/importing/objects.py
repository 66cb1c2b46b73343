"""Loading a file of several raters into a data set: one label field per rater."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import fiftyone as fo
import fiftyone.core.media as fom
import numpy as np
from PIL import Image

from kalos_core.annotations import Annotations
from kalos_core.annotations.build import OnInvalid
from kalos_core.errors import InputError, KalosWarning, Problems, listed
from kalos_core.fiftyone.drawn import Kind, LabelType, choose_kind
from kalos_core.fiftyone.pictures import Pictures, StoredPictures, ends_with, picture_size
from kalos_core.fiftyone.progress import Progress, Report
from kalos_core.fiftyone.raters import (
    ASSIGNED_FIELD,
    check_assigned_field,
    derive_field_names,
    forget_rater_fields,
    label_fields,
    rater_names,
    store_rater_facts,
    store_rater_fields,
)
from kalos_core.readers import read_labels
from kalos_core.readers.coco import Assignment
from kalos_core.readers.vocabulary import Aliases

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
    crowds, skipped : int
        Crowd regions that were kept out, and marks that were left out because their shape cannot be used.
    """

    dataset: Any
    fields: dict[str, str]
    annotations: int
    images: int
    added_samples: int
    missing_pictures: tuple[str, ...] = ()
    crowds: int = 0
    skipped: int = 0


def load_raters(
    labels: str | os.PathLike[str] | Mapping[str, Any] | Annotations,
    dataset: Any = None,
    *,
    format: str = "auto",
    images: str | os.PathLike[str] | None = None,
    canvas: str | os.PathLike[str] | None = None,
    label_type: LabelType = "auto",
    category_field: str | None = None,
    aliases: Aliases | None = None,
    assigned: Assignment = "all",
    on_invalid: OnInvalid = "raise",
    persistent: bool = True,
    progress: Progress | bool | None = None,
) -> LoadedRaters:
    """Load the labels of several raters, one label field per rater.

    Parameters
    ----------
    labels : path, mapping or Annotations
        A file or folder of any format that `kalos_core.readers.read_labels` knows; the content of a COCO file; or the
        table of a reader.
    dataset : str or fiftyone.core.dataset.Dataset, optional
        Name of a new data set, or an existing one, to whose samples of the same file name the fields are added;
        images it does not have become new samples. None: a new data set with a name of its own.
    format : str
        Name of the format, or "auto", as in `kalos_core.readers.read_labels`.
    images : path, optional
        Folder of the pictures; by default the folder of the file, or its ``images``, ``data`` or ``train`` folder.
    canvas : path, optional
        Folder for neutral canvases of the right size where a picture is missing; None: a missing picture is an error.
    label_type : "auto", "detections", "polylines" or "keypoints"
        Auto: polylines where every annotation has a polygon, keypoints where each has keypoints and none a polygon or a
        mask, else detections, with a mask where there is one.
    category_field, aliases, assigned
        As in `kalos_core.read_coco`; of COCO files only.
    on_invalid : "raise" or "skip"
        Marks whose shape cannot be used: an error, or left out with a warning and counted.
    persistent : bool
        Whether a new data set outlives the session.
    progress : bool or callable, optional
        FiftyOne's progress bar, or ``progress(share, label)``.

    Returns
    -------
    LoadedRaters

    Warns
    -----
    KalosWarning
        If the labels come with exclusions (image, rater, class), which FiftyOne's fields do not hold.

    Raises
    ------
    InputError
        For labels that cannot be used or shown (volumes, cuboids), a missing picture, or a rater whose field exists
        already. Nothing is kept then.
    """
    if isinstance(labels, Annotations):
        annotations = labels
    else:
        options: dict[str, Any] = {"category_field": category_field, "aliases": aliases, "on_invalid": on_invalid}
        options |= {} if assigned == "all" else {"assigned": assigned}
        annotations = read_labels(labels, format, **{name: value for name, value in options.items() if value})
    source = "annotations" if isinstance(labels, (Annotations, Mapping)) else Path(labels).name
    if not len(annotations.raters):
        raise InputError(f"{source}: expected at least one rater, got none")
    if len(annotations.excluded):
        warnings.warn(
            f"{source}: {len(annotations.excluded):,} exclusions (a rater who was not asked for a class on one image) "
            "are not kept in FiftyOne: there an object such a rater did not draw counts as missed",
            KalosWarning,
            stacklevel=2,
        )
    kind = choose_kind(annotations, label_type)
    pictures = Pictures(labels, images)
    target, is_new = open_dataset(dataset, persistent)
    with Report(progress) as report:
        try:
            loading = _Loading(target, annotations, kind, source, report)
            loading.place(pictures, None if canvas is None else Path(canvas).resolve())
            return loading.run()
        except BaseException:
            if is_new:
                target.delete()
            raise


class _Loading:
    """One file on its way into one data set."""

    def __init__(self, dataset: Any, annotations: Annotations, kind: Kind, source: str, report: Report) -> None:
        self.dataset = dataset
        self.annotations = annotations
        self.kind = kind
        self.source = source
        self.report = report
        if dataset.media_type not in (None, fom.IMAGE):
            raise InputError(f"dataset: expected a data set of pictures, got one of type {dataset.media_type!r}")
        held = label_fields(dataset)
        known = dict(zip(rater_names(dataset, held), held, strict=True))
        again = [f"{name!r} (field {known[name]!r})" for name in annotations.raters if name in known]
        if again:
            raise InputError(f"raters: the data set {dataset.name!r} already holds labels of {listed(again)}")
        self.fields = derive_field_names(annotations.raters, [*dataset.get_field_schema(), ASSIGNED_FIELD])
        self.asked = [list(annotations.raters[row]) for row in annotations.assigned]
        self.sample_id: list[str | None] = []
        self.path: list[str] = []
        self.missing: list[str] = []
        self.drawn: list[Path] = []
        self.before = Before(dataset)

    def place(self, pictures: Pictures, canvas: Path | None) -> None:
        """Find each image's sample or picture; an error names every picture that is missing."""
        stored = StoredPictures(self.before.paths)
        wanted = Counter(Path(file).name for file in self.annotations.files)
        sizes = self.annotations.image_size.copy()
        rows_of: dict[str, int] = {}
        problems = Problems(self.source)
        for row, file in enumerate(self.annotations.files):
            record, name = f"image {self.annotations.images[row]!r}", Path(file).name
            of_name = found = stored.find(file)
            if len(found) > 1 or wanted[name] > 1:  # the name alone does not tell: its folders have to
                found = [(key, path) for key, path in found if ends_with(path, file)]
            sample_id = found[0][0] if found else None
            path = "" if found else pictures.find(file)
            if not np.isfinite(sizes[row]).all():
                sizes[row] = picture_size(path or (found[0][1] if found else "")) or np.nan
            if not file:
                problems.add(record, "a file_name", "nothing")
            elif len(found) > 1 or (sample_id in rows_of):
                problems.add(record, f"one image for one sample of the file name {file!r}", "several")
            elif sample_id is None and not path and of_name and wanted[name] == 1:
                problems.add(record, f"one sample of the file name {file!r}", f"{len(of_name)} of that name")
            elif not np.isfinite(sizes[row]).all():
                problems.add(record, "a width and height, which FiftyOne's labels are fractions of", "none")
            elif not found and not path:
                self.missing.append(file)
                if canvas is None:
                    tried = listed(pictures.folders, 4) or "no folder was given"
                    problems.add(record, f"the picture {file!r} (looked in: {tried})", "no such file")
                elif fom.get_media_type(file) != fom.IMAGE:
                    problems.add(record, "a file name that ends as pictures do, to draw a canvas", repr(file))
                else:
                    path = os.path.normpath(canvas / file.lstrip("/"))
                    if not Path(path).is_relative_to(canvas):
                        problems.add(record, f"a file name within {canvas}", repr(file))
            if sample_id is not None:
                rows_of[sample_id] = row
            self.sample_id.append(sample_id)
            self.path.append(path)
        problems.raise_if_any()
        self.annotations = replace(self.annotations, image_size=sizes)

    def _draw_canvases(self) -> None:
        missing = set(self.missing)
        for row, file in enumerate(self.annotations.files):
            path = Path(self.path[row])
            if file in missing and not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                self.drawn.append(path)
                width, height = self.annotations.image_size[row]
                Image.new("RGB", (round(width), round(height)), CANVAS_COLOUR).save(path)

    def run(self) -> LoadedRaters:
        """Write everything, or nothing."""
        new = [row for row, sample_id in enumerate(self.sample_id) if sample_id is None]
        old = [row for row, sample_id in enumerate(self.sample_id) if sample_id is not None]
        try:
            self._draw_canvases()
            self._declare()
            self.report(0.1, f"Making {len(self.annotations):,} labels")
            made = self._labels()
            self.report(0.4, f"Adding {len(new):,} samples")
            samples = (self._sample(row, made) for row in new)
            self.dataset.add_samples(samples, num_samples=len(new), progress=False)
            self.report(0.8, f"Adding labels to {len(old):,} samples")
            self._add_to_existing(old, made)
            store_rater_fields(self.dataset, self.fields)
            store_rater_facts(self.dataset, self.annotations)
            self.dataset.default_classes = [
                *dict.fromkeys([*self.dataset.default_classes, *self.annotations.categories])
            ]
            self.dataset.save()
        except BaseException:
            self._take_back()
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
            skipped=int(self.annotations.skipped.sum()),
        )

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
        for row, shape in enumerate(self.kind.fields(annotations)):
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
    ) -> None:
        if not rows:
            return
        ids = [str(self.sample_id[row]) for row in rows]
        labels = [self._of_image(row, made) for row in rows]
        for name in self.fields.values():
            self.dataset.set_values(name, dict(zip(ids, [of.get(name) for of in labels], strict=True)), key_field="id")
        asked = [[*(self.before.asked.get(key) or ()), *self.asked[row]] for key, row in zip(ids, rows, strict=True)]
        self.dataset.set_values(ASSIGNED_FIELD, dict(zip(ids, asked, strict=True)), key_field="id")

    def _take_back(self) -> None:
        dataset, before = self.dataset, self.before
        ours = {self.path[row] for row, sample_id in enumerate(self.sample_id) if sample_id is None}
        now = dict(zip(*dataset.values(["id", "filepath"]), strict=True))
        dataset.delete_samples([key for key, path in now.items() if key not in before.paths and path in ours])
        dataset.delete_sample_fields([name for name in self.fields.values() if dataset.has_field(name)])
        if before.has_assigned:
            asked = {key: before.asked[key] for key in self.sample_id if key is not None}
            if asked:
                dataset.set_values(ASSIGNED_FIELD, asked, key_field="id")
        elif dataset.has_field(ASSIGNED_FIELD):
            dataset.delete_sample_field(ASSIGNED_FIELD)
        dataset.default_classes = before.default_classes
        forget_rater_fields(dataset, self.fields.values())
        for path in self.drawn:
            path.unlink(missing_ok=True)


class Before:
    """What a data set held before a file was loaded into it."""

    def __init__(self, dataset: Any) -> None:
        self.has_assigned = dataset.has_field(ASSIGNED_FIELD)
        self.default_classes = list(dataset.default_classes)
        names = ["id", "filepath", *([ASSIGNED_FIELD] if self.has_assigned else [])]
        if self.has_assigned:
            check_assigned_field(dataset)
        ids, paths, *asked = dataset.values(names)
        self.paths: dict[str, str] = dict(zip(ids, paths, strict=True))
        self.asked: dict[str, list[str] | None] = dict(zip(ids, *asked, strict=True)) if asked else {}


def open_dataset(dataset: Any, persistent: bool) -> tuple[Any, bool]:
    """An existing data set, or a new one of that name, and whether it is new."""
    if isinstance(dataset, fo.Dataset):
        return dataset, False
    if dataset is not None and not isinstance(dataset, str):
        raise InputError(f"dataset: expected a name or a data set, got {type(dataset).__name__}")
    if dataset is not None and fo.dataset_exists(dataset):
        return fo.load_dataset(dataset), False
    return fo.Dataset(dataset, persistent=persistent), True
