"""Loading a file of several raters into a data set: one label field per rater."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import fiftyone as fo
import fiftyone.core.media as fom
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from kalos_core.annotations import Annotations, OnInvalid
from kalos_core.errors import InputError, KalosWarning, Problems, listed
from kalos_core.fiftyone.dataset.assignment import ASSIGNED_FIELD
from kalos_core.fiftyone.dataset.database import BLOCK
from kalos_core.fiftyone.dataset.encoding import LabelType, LabelTypeName, choose_label_type
from kalos_core.fiftyone.dataset.names import derive_field_names
from kalos_core.fiftyone.dataset.raters import label_fields, rater_names, store_raters
from kalos_core.fiftyone.dataset.writing import write_documents
from kalos_core.fiftyone.importing.files import ImageFiles, StoredFiles, ends_with, image_size_of
from kalos_core.fiftyone.importing.life import Load, loading, open_dataset
from kalos_core.fiftyone.runs.progress import Progress, Report
from kalos_core.readers import read_labels
from kalos_core.readers.coco import Assignment
from kalos_core.readers.vocabulary import Aliases

CANVAS_COLOUR = (222, 222, 222)
"""Neutral grey of a canvas that stands in for a missing image."""


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
    missing_images : tuple of str
        Files that are not there; a neutral canvas stands in.
    crowds, skipped : int
        Crowd regions that were kept out, and annotations that were left out because their shape cannot be used.
    """

    dataset: Any
    fields: dict[str, str]
    annotations: int
    images: int
    added_samples: int
    missing_images: tuple[str, ...] = ()
    crowds: int = 0
    skipped: int = 0


def load_raters(
    labels: str | os.PathLike[str] | Mapping[str, Any] | Annotations,
    dataset: Any = None,
    *,
    format: str = "auto",
    images: str | os.PathLike[str] | None = None,
    canvas: str | os.PathLike[str] | None = None,
    label_type: LabelTypeName = "auto",
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
        Folder of the images; by default the folder of the file, or its ``images``, ``data`` or ``train`` folder.
    canvas : path, optional
        Folder for neutral canvases of the right size where an image is missing; None: a missing image is an error.
    label_type : "auto", "detections", "polylines" or "keypoints"
        Auto: polylines where every annotation has a polygon, keypoints where each has keypoints and none a polygon or a
        mask, else detections, with a mask where there is one.
    category_field, aliases, assigned
        As in `kalos_core.read_coco`; of COCO files only.
    on_invalid : "raise" or "skip"
        Annotations whose shape cannot be used: an error, or left out with a warning and counted.
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
        For labels that cannot be used or shown (volumes, cuboids), a missing image, or a rater whose field exists
        already. Nothing is kept then; what an earlier load left that was cut off is removed first, with a warning.
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
            f"{source}: {len(annotations.excluded):,} exclusions (a rater not assigned to a class on one image) "
            "are not kept in FiftyOne: there an object such a rater did not annotate counts as missed",
            KalosWarning,
            stacklevel=2,
        )
    label_kind = choose_label_type(annotations, label_type)
    files = ImageFiles(labels, images)
    target, is_new = open_dataset(dataset, persistent)
    try:
        plan = _Plan.of(target, annotations, source, files, None if canvas is None else Path(canvas).resolve())
    except BaseException:
        if is_new:
            target.delete()
        raise
    with Report(progress) as report:
        return plan.carry_out(label_kind, is_new, report)


@dataclass(frozen=True, eq=False)
class _Plan:
    """Where each image of a file goes: the id of its sample, or the path of a new one."""

    dataset: Any
    annotations: Annotations
    fields: dict[str, str]
    sample_id: list[str | None]
    path: list[str]
    missing: list[str]
    canvas: Path | None

    @classmethod
    def of(cls, dataset: Any, annotations: Annotations, source: str, files: ImageFiles, canvas: Path | None) -> _Plan:
        """Find each image's sample or file; an error names every image that is missing."""
        if dataset.media_type not in (None, fom.IMAGE):
            raise InputError(f"dataset: expected a data set of images, got one of type {dataset.media_type!r}")
        held = label_fields(dataset)
        known = dict(zip(rater_names(dataset, held), held, strict=True))
        again = [f"{name!r} (field {known[name]!r})" for name in annotations.raters if name in known]
        if again:
            raise InputError(f"raters: the data set {dataset.name!r} already holds labels of {listed(again)}")
        fields = derive_field_names(annotations.raters, [*dataset.get_field_schema(), ASSIGNED_FIELD])
        stored = StoredFiles(dict(zip(*dataset.values(["id", "filepath"]), strict=True)))
        wanted = Counter(Path(file).name for file in annotations.files)
        sizes, problems = annotations.image_size.copy(), Problems(source)
        ids: list[str | None] = []
        taken: set[str] = set()
        paths, missing = [], []
        for row, file in enumerate(annotations.files):
            record, name = f"image {annotations.images[row]!r}", Path(file).name
            of_name = found = stored.find(file)
            if len(found) > 1 or wanted[name] > 1:  # the name alone does not tell: its folders have to
                found = [(key, path) for key, path in found if ends_with(path, file)]
            sample_id = found[0][0] if found else None
            path = "" if found else files.find(file)
            if not np.isfinite(sizes[row]).all():
                sizes[row] = image_size_of(path or (found[0][1] if found else "")) or np.nan
            if not file:
                problems.add(record, "a file_name", "nothing")
            elif len(found) > 1 or sample_id in taken:
                problems.add(record, f"one image for one sample of the file name {file!r}", "several")
            elif sample_id is None and not path and of_name and wanted[name] == 1:
                problems.add(record, f"one sample of the file name {file!r}", f"{len(of_name)} of that name")
            elif not np.isfinite(sizes[row]).all():
                problems.add(record, "a width and height, which FiftyOne's labels are fractions of", "none")
            elif not found and not path:
                missing.append(file)
                path = _canvas_of(file, record, canvas, files, problems)
            if sample_id is not None:
                taken.add(sample_id)
            ids.append(sample_id)
            paths.append(path)
        problems.raise_if_any()
        return cls(dataset, replace(annotations, image_size=sizes), fields, ids, paths, missing, canvas)

    def carry_out(self, kind: LabelType, is_new: bool, report: Report) -> LoadedRaters:
        """Write everything, or nothing."""
        annotations = self.annotations
        declared: dict[str, Mapping[str, Any]] = {}
        for name in self.fields.values():
            declared[name] = {"ftype": fo.EmbeddedDocumentField, "embedded_doc_type": kind.document}
            declared[f"{name}.{kind.list_name}.annotation_id"] = {"ftype": fo.StringField}
        files = self.canvas if self.missing else None
        with loading(self.dataset, declared, is_new, files) as load:
            self._paint_canvases(load)
            new = [row for row, sample_id in enumerate(self.sample_id) if sample_id is None]
            before = self._assigned_before()
            report(0.1, f"Adding {len(new):,} samples")
            self._add_samples(new, load.tag)
            report(0.3, f"Adding {len(annotations):,} labels")
            count = len(annotations.images)
            write_documents(
                self.dataset, self._documents(kind, before), count, report.within(0.3, 1.0, "Adding labels")
            )
            store_raters(self.dataset, self.fields, annotations)
            classes = dict.fromkeys([*self.dataset.default_classes, *annotations.categories])
            self.dataset.default_classes = list(classes)
        report(1.0, "Done")
        return LoadedRaters(
            dataset=self.dataset,
            fields=self.fields,
            annotations=len(annotations),
            images=count,
            added_samples=len(new),
            missing_images=tuple(self.missing),
            crowds=int(annotations.crowds.sum()),
            skipped=int(annotations.skipped.sum()),
        )

    def _paint_canvases(self, load: Load) -> None:
        missing = set(self.missing)
        for row, file in enumerate(self.annotations.files):
            path = Path(self.path[row])
            if file in missing and not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                load.make_file(path)
                width, height = self.annotations.image_size[row]
                Image.new("RGB", (round(width), round(height)), CANVAS_COLOUR).save(path)

    def _add_samples(self, rows: list[int], tag: str) -> None:
        """New samples, without labels yet; their ids."""
        sizes = self.annotations.image_size
        for begin in range(0, len(rows), BLOCK):
            block = rows[begin : begin + BLOCK]
            samples = [
                fo.Sample(
                    filepath=self.path[row],
                    metadata=fo.ImageMetadata(width=round(sizes[row, 0]), height=round(sizes[row, 1])),
                    tags=[tag],
                )
                for row in block
            ]
            added = self.dataset.add_samples(samples, progress=False)
            for row, sample_id in zip(block, added, strict=True):
                self.sample_id[row] = sample_id

    def _assigned_before(self) -> dict[str, list[str] | None]:
        """Sample id -> who was assigned before; of no use where all samples are new."""
        if not any(self.sample_id):
            return {}
        return dict(zip(*self.dataset.values(["id", ASSIGNED_FIELD]), strict=True))

    def _documents(
        self, kind: LabelType, before: Mapping[str, list[str] | None]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Of each image its sample, and what is written there: labels, and who is assigned."""
        annotations = self.annotations

        def identity(rows: NDArray[np.intp]) -> dict[str, list[str]]:
            return {"annotation_id": [str(key) for key in annotations.id[rows].tolist()]}

        found = kind.fields(annotations, [self.fields[rater] for rater in annotations.raters], identity)
        for row, (sample_id, fields) in enumerate(zip(self.sample_id, found, strict=True)):
            assigned = [str(name) for name in annotations.raters[annotations.assigned[row]]]
            yield str(sample_id), {**fields, ASSIGNED_FIELD: [*(before.get(str(sample_id)) or ()), *assigned]}


def _canvas_of(file: str, record: str, canvas: Path | None, files: ImageFiles, problems: Problems) -> str:
    """The path of a canvas for a missing image; a problem where there can be none."""
    if canvas is None:
        tried = listed(files.folders, 4) or "no folder was given"
        problems.add(record, f"the image {file!r} (looked in: {tried})", "no such file")
        return ""
    if fom.get_media_type(file) != fom.IMAGE:
        problems.add(record, "a file name that ends as those of images do, to draw a canvas", repr(file))
        return ""
    path = os.path.normpath(canvas / file.lstrip("/"))
    if not Path(path).is_relative_to(canvas):
        problems.add(record, f"a file name within {canvas}", repr(file))
        return ""
    return path
