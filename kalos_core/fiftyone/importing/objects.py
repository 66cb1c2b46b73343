"""Loading of a file of several raters into a data set: one label field per rater."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import fiftyone as fo
import fiftyone.core.media as fom
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from kalos_core.annotations import Annotations
from kalos_core.display import number_of
from kalos_core.errors import InputError, KalosWarning, listed, warn
from kalos_core.fiftyone.analyses.analysis import analyse as analyse_labels
from kalos_core.fiftyone.analyses.analysis import free_analysis_key
from kalos_core.fiftyone.dataset.coordinates import CROWD, FILE_ID
from kalos_core.fiftyone.dataset.database import FieldArguments, collection, label_field
from kalos_core.fiftyone.dataset.encoding import LabelType, LabelTypeName, choose_label_type, rough_bytes
from kalos_core.fiftyone.dataset.raters import OBJECTS, new_fields, store_raters
from kalos_core.fiftyone.dataset.writing import MOST, bytes_of, check_room
from kalos_core.fiftyone.importing.attributes import label_attributes
from kalos_core.fiftyone.importing.life import Given, Load, Loaded, known_images, loading, opened
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.fiftyone.runs.arranging import arrange_app
from kalos_core.fiftyone.runs.progress import Progress, Report
from kalos_core.files import as_path, reason
from kalos_core.readers import read_labels
from kalos_core.readers.formats import find_reader, options_of
from kalos_core.readers.images import ImageFiles, KnownImages, Placement, place_images
from kalos_core.text import plain

ANALYSIS = "analysis"
"""Key of an analysis that follows a load, if it is free."""

LOADED = 0.3
"""Fraction of the work that is done when the following analysis starts."""

CANVAS_COLOUR = (222, 222, 222)
"""Neutral grey of a canvas that replaces a missing image."""


@dataclass(frozen=True, repr=False)
class LoadedRaters(Loaded):
    """Result of `load_raters`.

    Parameters
    ----------
    dataset : fiftyone.core.dataset.Dataset
    fields : dict
        Rater name -> label field.
    annotations : int
    images : int
        Number of images in the file.
    added_samples : int
        Number of these that became new samples.
    missing_images : tuple of str
        Missing files, which are replaced by a neutral canvas.
    crowds, skipped : int
        Number of crowd regions, and of annotations skipped because of an invalid shape. Crowd regions with a shape and
        a class are kept as labels with a true `iscrowd`; agreement does not read them.
    analysis : Analysis, optional
        The analysis of the data set that followed, if any.
    """

    _call = "kf.load_raters(path)"

    annotations: int
    images: int
    added_samples: int
    missing_images: tuple[str, ...] = ()
    crowds: int = 0
    skipped: int = 0
    analysis: Analysis | None = None

    @property
    def headline(self) -> str:
        """Result in one sentence."""
        images = f"{number_of(self.images, 'image')}, {self.added_samples:,} of them new in {self.dataset.name}"
        return f"{number_of(self.annotations, 'annotation')} of {number_of(len(self.fields), 'rater')} on {images}"

    @property
    def counts(self) -> dict[str, int]:
        """Number of annotations, images, added samples, crowd regions and skipped annotations."""
        names = ("annotations", "images", "added_samples", "crowds", "skipped")
        return {name: getattr(self, name) for name in names}


def load_raters(
    labels: str | os.PathLike[str] | Mapping[str, Any] | Annotations,
    dataset: Any = None,
    *,
    format: str = "auto",
    images: str | os.PathLike[str] | None = None,
    canvas: str | os.PathLike[str] | None = None,
    outside_images: bool = False,
    label_type: LabelTypeName = "auto",
    persistent: bool = True,
    analyse: bool = False,
    progress: Progress | bool | None = None,
    **reading: Any,
) -> LoadedRaters:
    """Load the labels of several raters, one label field per rater, and show them in the App (see `arrange_app`).

    Attributes of annotations besides the class (`Annotations.attributes`) become attributes of the labels, renamed if
    labels cannot have the name.

    Parameters
    ----------
    labels : path, mapping or Annotations
        A file or folder in any format that `kalos_core.readers.read_labels` supports; the content of a COCO file; or
        the table of a reader.
    dataset : str or fiftyone.core.dataset.Dataset, optional
        Name of a new data set, or an existing one. Fields are added to existing samples of the same file name; other
        images become new samples. None: a new data set with a default name.
    format : str
        Name of the format, or "auto", as in `kalos_core.readers.read_labels`.
    images : path, optional
        Folder of the images; by default the folder of the file, or its ``images``, ``data`` or ``train`` folder.
    canvas : path, optional
        Folder for neutral canvases that replace missing images, in their size; None: a missing image is an error.
    outside_images : bool
        Whether image files may be outside the folder of the images, by an absolute path, ``..``, or a link. The author
        of the labels can then make the App show any image on this computer.
    label_type : "auto", "detections", "polylines" or "keypoints"
        "auto": polylines if every annotation has a polygon; keypoints if every annotation has keypoints and none has a
        polygon or mask; detections otherwise, with masks where there are any.
    persistent : bool
        Whether a new data set persists after the session.
    analyse : bool
        Whether to run `kalos_core.fiftyone.analyse` afterwards, with the key ``analysis``, or with the first free
        number appended.
    progress : bool or callable, optional
        FiftyOne's progress bar, or ``progress(share, label)``; covers both the load and the analysis.
    **reading
        Options of the format's reader, such as ``aliases``, ``assigned``, ``on_invalid``, or for COCO files
        ``rater_field``, ``category_field`` and ``crowds``.

    Returns
    -------
    LoadedRaters

    Warns
    -----
    KalosWarning
        If the labels have exclusions (image, rater, class), which FiftyOne's fields cannot hold, or do not allow the
        analysis. They are loaded nevertheless.

    Raises
    ------
    InputError
        If labels are invalid or cannot be shown (volumes, cuboids), an image is missing, a file is not an image or
        outside the folder, or a rater already has a field. Nothing is kept then. Partial data of an earlier,
        interrupted load is removed first, with a warning.
    """
    annotations = _read(labels, format, images, **reading)
    source = _source(labels)
    if not len(annotations.raters):
        raise InputError(f"{source}: expected at least one rater, got none")
    if len(annotations.excluded):
        warn(
            f"{source}: {len(annotations.excluded):,} exclusions (a rater not assigned to a class on one image) "
            "are not stored in FiftyOne: an object that such a rater did not annotate counts as missed there"
        )
    kind = choose_label_type(annotations, label_type)
    files = ImageFiles(labels, images, outside_images)
    grey = None if canvas is None else as_path(canvas, "canvas").resolve()
    with Report(progress) as report:
        own = Report(report.part(0.0, LOADED if analyse else 1.0))
        loaded = _load(annotations, source, kind, dataset, files, grey, persistent, own)
        return replace(loaded, analysis=_analyse(loaded.dataset, report)) if analyse else loaded


def check_images(
    labels: str | os.PathLike[str],
    dataset: Any = None,
    *,
    images: str | os.PathLike[str] | None = None,
    outside_images: bool = False,
    **reading: Any,
) -> None:
    """Check a file of labels and its images as `load_raters` does, without loading it.

    Parameters
    ----------
    labels, dataset, images, outside_images, **reading
        As in `load_raters`, with its ``format``. The file read last is cached until it changes.

    Raises
    ------
    InputError
        If the file is invalid, or images are missing.

    Examples
    --------
    >>> import json
    >>> from pathlib import Path
    >>> row = {"id": 1, "image_id": 1, "category_id": 1, "rater_id": "ann", "bbox": [1, 1, 5, 5]}
    >>> image = {"id": 1, "file_name": "a.jpg", "width": 9, "height": 9, "rater_list": ["ann", "bob"]}
    >>> data = {"images": [image], "categories": [{"id": 1, "name": "cat"}], "annotations": [row]}
    >>> _ = Path("labels.json").write_text(json.dumps(data))
    >>> check_images("labels.json")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    kalos_core.errors.InputError: images: expected a folder with all 1 image of labels.json, got none for 1, ...
    """
    annotations = _read_quietly(labels, images, reading)
    known = {} if dataset is None else known_images(dataset).paths
    place_images(annotations, _source(labels), KnownImages(known), ImageFiles(labels, images, outside_images))


def preview_raters(
    labels: str | os.PathLike[str], *, images: str | os.PathLike[str] | None = None, **reading: Any
) -> str:
    """Summarise a file of labels in a sentence: raters, images, annotations and classes; nothing is loaded.

    Parameters
    ----------
    labels, images, **reading
        As in `check_images`.

    Raises
    ------
    InputError
        If the file is invalid.

    Examples
    --------
    >>> import json
    >>> from pathlib import Path
    >>> row = {"id": 1, "image_id": 1, "category_id": 1, "rater_id": "ann", "bbox": [1, 1, 5, 5]}
    >>> image = {"id": 1, "file_name": "a.jpg", "width": 9, "height": 9, "rater_list": ["ann", "bob"]}
    >>> data = {"images": [image], "categories": [{"id": 1, "name": "cat"}], "annotations": [row]}
    >>> _ = Path("labels.json").write_text(json.dumps(data))
    >>> preview_raters("labels.json")
    '2 raters (ann: 1, bob: 0), 1 image, 1 annotation (box), 1 class (cat)'
    """
    found = _read_quietly(labels, images, reading)
    own = np.bincount(found.rater, minlength=len(found.raters)).tolist()
    raters = listed([f"{plain(name)}: {count:,}" for name, count in zip(found.raters.tolist(), own, strict=True)], 8)
    classes = listed(map(plain, found.categories.tolist()), 8)
    return (
        f"{number_of(len(found.raters), 'rater')} ({raters}), {number_of(len(found.images), 'image')}, "
        f"{number_of(len(found), 'annotation')} ({', '.join(found.shapes)}), "
        f"{number_of(len(found.categories), 'class')} ({classes})"
    )


def _read_quietly(labels: Any, images: Any, reading: dict[str, Any]) -> Annotations:
    """Read a file of labels without warnings, which are given when it is loaded."""
    path = as_path(labels, "labels")
    about = path.stat() if os.path.exists(path) else None  # the reader names a missing file
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)
        given = {**reading, "images": None if images is None else str(images)}
        return _read_once(str(labels), about and (about.st_mtime_ns, about.st_size), json.dumps(given))


@lru_cache(maxsize=1)
def _read_once(labels: str, _: tuple[int, int] | None, reading: str) -> Annotations:
    """Read a file; its time of change and size are part of the cache key."""
    return _read(labels, **json.loads(reading))


def _read(
    labels: Any,
    format: str = "auto",
    images: str | os.PathLike[str] | None = None,
    **reading: Any,
) -> Annotations:
    if isinstance(labels, Annotations):
        return labels
    format, reader = find_reader(labels, format)
    if images is not None and "sizes" in options_of(reader):  # coordinates may be fractions of the image sizes
        reading = {"sizes": images, **reading}
    return read_labels(labels, format, **reading)


def _source(labels: Any) -> str:
    """Return the name of the source of labels, for messages."""
    return "annotations" if isinstance(labels, (Annotations, Mapping)) else as_path(labels, "labels").name


def _analyse(dataset: Any, report: Report) -> Analysis | None:
    """Analyse the loaded labels; None, with a warning, if they do not allow it."""
    try:
        key = free_analysis_key(dataset, ANALYSIS)
        return analyse_labels(dataset, key, progress=report.part(LOADED, 1.0))
    except InputError as error:
        warn(f"the labels are loaded, without an analysis: {error}")
        return None


def _load(
    annotations: Annotations,
    source: str,
    kind: LabelType,
    dataset: Any,
    files: ImageFiles,
    grey: Path | None,
    persistent: bool,
    report: Report,
) -> LoadedRaters:
    with opened(dataset, persistent) as (target, is_new):
        if target.media_type not in (None, fom.IMAGE):
            raise InputError(f"dataset: expected a data set of images, got one of type {target.media_type!r}")
        fields = new_fields(target, annotations.raters, OBJECTS)
        place = place_images(annotations, source, known_images(target), files, grey)
        annotations = replace(annotations, image_size=place.image_size)
        new = [row for row, known in enumerate(place.known) if known is None]
        declared: dict[str, FieldArguments] = {name: label_field(kind.document) for name in fields.values()}
        declared |= {f"{name}.{kind.list_name}.annotation_id": {"ftype": fo.StringField} for name in fields.values()}
        if annotations.crowd_regions is not None:
            declared |= {f"{name}.{kind.list_name}.{CROWD}": {"ftype": fo.BooleanField} for name in fields.values()}
        more, columns = label_attributes(annotations, kind, [FILE_ID, CROWD])
        declared |= {f"{name}.{kind.list_name}.{own}": how for name in fields.values() for own, how in more.items()}
        _check_room(target, annotations, kind, fields, place, columns)
        with loading(target, declared, is_new, grey if place.missing else None) as load:
            _paint_canvases(load, annotations, place)
            report(0.1, f"Adding {number_of(len(new), 'sample')}")
            added = iter(load.add_samples([place.path[row] for row in new], place.image_size[new].tolist()))
            ids = [next(added) if known is None else known for known in place.known]
            report(0.3, f"Adding {number_of(len(annotations), 'label')}")
            labels = _given(annotations, kind, fields, ids, columns)
            load.write(labels, len(ids), report.within(0.3, 1.0, "Adding labels"))
            store_raters(target, fields, annotations)
            target.default_classes = list(dict.fromkeys([*target.default_classes, *annotations.categories]))
            report(1.0, "Done")
    arrange_app(target)
    return LoadedRaters(
        dataset=target,
        fields=fields,
        annotations=len(annotations),
        images=len(ids),
        added_samples=len(new),
        missing_images=tuple(place.missing),
        crowds=int(annotations.crowds.sum()),
        skipped=int(annotations.skipped.sum()),
    )


def _paint_canvases(load: Load, annotations: Annotations, place: Placement) -> None:
    missing = set(place.missing)
    for file, path, size in zip(annotations.files, map(Path, place.path), place.image_size.tolist(), strict=True):
        if file in missing and not os.path.lexists(path):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                load.make_file(path)
                with path.open("xb") as drawn:  # do not follow a link created meanwhile
                    Image.new("RGB", (round(size[0]), round(size[1])), CANVAS_COLOUR).save(
                        drawn, Image.registered_extensions()[path.suffix.lower()]
                    )
            except (OSError, KeyError) as error:
                raise InputError(f"canvas: expected {path} to be written as an image, got {reason(error)}") from error


def _check_room(
    target: Any,
    annotations: Annotations,
    kind: LabelType,
    fields: Mapping[str, str],
    place: Placement,
    columns: Mapping[str, NDArray[Any]],
) -> None:
    """Refuse labels that are too large for a sample; labels are encoded only for samples that may be too large."""
    rough = np.bincount(annotations.image, rough_bytes(annotations), minlength=len(annotations.images))
    large = np.flatnonzero(rough > MOST // 4).tolist()
    given = zip(large, _given(annotations, kind, fields, annotations.files.tolist(), columns, large), strict=True)
    check_room(collection(target), ((file, place.known[row], bytes_of(labels)) for row, (file, labels, _) in given))


def _given(
    annotations: Annotations,
    kind: LabelType,
    fields: Mapping[str, str],
    ids: Sequence[str],
    columns: Mapping[str, NDArray[Any]],
    images: Sequence[int] | None = None,
) -> Iterator[Given]:
    """Yield the sample of each image, the labels to write by field, and its assigned raters. `columns`: attributes."""

    def attributes(rows: NDArray[np.intp]) -> dict[str, list[Any]]:
        own = {name: values[rows].tolist() for name, values in columns.items()}
        return {FILE_ID: [str(key) for key in annotations.id[rows].tolist()], **own}

    names = [fields[rater] for rater in annotations.raters]
    rows = range(len(ids)) if images is None else images
    found = kind.fields(annotations, names, attributes, rows)
    regions: dict[int, list[tuple[str, dict[str, Any]]]] = {}
    if annotations.crowd_regions is not None:
        crowds = annotations.crowd_regions
        told = kind.regions(crowds, lambda rows: {FILE_ID: [str(key) for key in crowds.id[rows].tolist()]})
        for image, rater, label in zip(crowds.image.tolist(), crowds.rater.tolist(), told, strict=True):
            regions.setdefault(image, []).append((names[rater], label))
    for row, labels in zip(rows, found, strict=True):
        for name, label in regions.get(row, ()):
            labels[name][kind.list_name].append(label)
        yield ids[row], labels, [str(name) for name in annotations.raters[annotations.assigned[row]]]
