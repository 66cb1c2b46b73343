"""Loading folders of masks into a data set: one field of `Segmentation` per rater, whose files stay where they are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import fiftyone as fo
from PIL import Image

from kalos_core.errors import InputError, Problems, listed
from kalos_core.fiftyone.dataset.assignment import ASSIGNED_FIELD
from kalos_core.fiftyone.dataset.names import derive_field_names
from kalos_core.fiftyone.dataset.raters import MASKS, label_fields, rater_names, store_raters
from kalos_core.fiftyone.dataset.writing import write_documents
from kalos_core.fiftyone.importing.files import StoredFiles
from kalos_core.fiftyone.importing.life import loading, open_dataset
from kalos_core.fiftyone.importing.objects import LoadedRaters
from kalos_core.readers.mask_folders import MaskFolders, read_mask_folders


def load_mask_folders(
    folders: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]],
    dataset: Any = None,
    *,
    images: str | os.PathLike[str] | None = None,
    assigned: str | Mapping[str, Sequence[str]] = "files",
    classes: Mapping[int, str] | None = None,
    persistent: bool = True,
) -> LoadedRaters:
    """Load the masks of several raters, ``folder/rater/image.png``: one field per rater, read from disk when needed.

    Parameters
    ----------
    folders, assigned
        As in `kalos_core.read_mask_folders`. Who was assigned stands in the sample field ``raters``.
    dataset : str or fiftyone.core.dataset.Dataset, optional
        Name of a new data set, or an existing one with a sample of the file name of every image.
    images : path, optional
        Folder of the images, named as the masks; needed for a new data set.
    classes : mapping of int to str, optional
        Names of the values, which become mask targets of the fields; without them masks are binary.
    persistent : bool
        Whether a new data set outlives the session.

    Returns
    -------
    LoadedRaters
        Its `annotations` are the masks that were found.

    Raises
    ------
    InputError
        For folders that cannot be used, an image without a file or sample, or a rater whose field exists already.
        Nothing is kept then.

    Examples
    --------
    >>> import numpy as np
    >>> for name, pixels in {"images": [[9, 9]], "masks/ann": [[0, 255]], "masks/bob": [[255, 255]]}.items():
    ...     Path("scene", name).mkdir(parents=True)
    ...     Image.fromarray(np.array(pixels, np.uint8)).save(Path("scene", name, "a.png"))
    >>> loaded = load_mask_folders("scene/masks", images="scene/images", persistent=False)
    >>> loaded.fields, loaded.dataset.first()["ann"].get_mask().tolist()
    ({'ann': 'ann', 'bob': 'bob'}, [[0, 255]])
    >>> loaded.dataset.delete()
    """
    found = read_mask_folders(folders, assigned, images)
    target, is_new = open_dataset(dataset, persistent)
    try:
        fields = _fields(target, found)
        ids = None if is_new else _samples_of(target, found)
        declared: dict[str, Any] = {
            field: {"ftype": fo.EmbeddedDocumentField, "embedded_doc_type": fo.Segmentation}
            for field in fields.values()
        }
        new_samples = _new_samples(found) if is_new else []
    except BaseException:
        if is_new:
            target.delete()
        raise
    with loading(target, declared, is_new) as load:
        if ids is None:
            for sample in new_samples:
                sample.tags = [load.tag]
            ids = target.add_samples(new_samples, progress=False)
        write_documents(target, _documents(target, found, fields, ids), len(ids))
        store_raters(target, fields)
        if classes is not None:
            target.mask_targets = {**target.mask_targets, **{field: dict(classes) for field in fields.values()}}
            target.save()
    return LoadedRaters(target, fields, len(found.files), len(found.images), len(ids) if is_new else 0)


def _fields(dataset: Any, found: MaskFolders) -> dict[str, str]:
    taken = {*rater_names(dataset, label_fields(dataset, MASKS))}
    again = [repr(name) for name in found.raters if name in taken]
    if again:
        raise InputError(f"raters: the data set {dataset.name!r} already holds masks of {listed(again)}")
    return derive_field_names(found.raters, [*dataset.get_field_schema(), ASSIGNED_FIELD])


def _new_samples(found: MaskFolders) -> list[Any]:
    """A sample for each image."""
    missing = [name for name in found.images if name not in found.image_files]
    if missing:
        raise InputError(f"images: expected a file for every image, got none for {listed(missing)}")
    samples = []
    for name in found.images:
        path = found.image_files[name].resolve()
        with Image.open(path) as opened:
            size = fo.ImageMetadata(width=opened.width, height=opened.height)
        samples.append(fo.Sample(str(path), metadata=size))
    return samples


def _samples_of(dataset: Any, found: MaskFolders) -> list[str]:
    """The id of the sample of each image, by the name of its file without the ending."""
    stored = StoredFiles(dict(zip(*dataset.values(["id", "filepath"]), strict=True)))
    problems, ids = Problems("mask folders"), []
    for name in found.images:
        of_name = stored.find(Path(name).name)
        if len(of_name) == 1:
            ids.append(of_name[0][0])
        else:
            problems.add(f"image {name!r}", "one sample of that file name", str(len(of_name) or "none"))
    problems.raise_if_any()
    return ids


def _documents(
    dataset: Any, found: MaskFolders, fields: Mapping[str, str], ids: Sequence[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Of each sample, field -> mask by the path of its file, and who is assigned."""
    before = dict(zip(*dataset.values(["id", ASSIGNED_FIELD]), strict=True))
    for key, name, row in zip(ids, found.images, found.assigned, strict=True):
        masks = {
            field: fo.Segmentation(mask_path=str(found.files[name, rater].resolve())).to_dict()
            for rater, field in fields.items()
            if (name, rater) in found.files
        }
        yield key, {**masks, ASSIGNED_FIELD: [*(before.get(key) or ()), *map(str, found.raters[row])]}
