"""Loading folders of masks into a data set: one field of `Segmentation` per rater, whose files stay where they are."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import fiftyone as fo
from PIL import Image

from kalos_core.errors import InputError, Problems, listed
from kalos_core.fiftyone.loading import Before, LoadedRaters, open_dataset
from kalos_core.fiftyone.masks.fields import mask_fields
from kalos_core.fiftyone.pictures import StoredPictures
from kalos_core.fiftyone.raters import (
    ASSIGNED_FIELD,
    derive_field_names,
    forget_rater_fields,
    rater_names,
    store_rater_fields,
)
from kalos_core.readers.mask_folders import MaskFolders, read_mask_folders


def load_mask_folders(
    folders: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]],
    dataset: Any = None,
    *,
    pictures: str | os.PathLike[str] | None = None,
    assigned: str | Mapping[str, Sequence[str]] = "files",
    classes: Mapping[int, str] | None = None,
    persistent: bool = True,
) -> LoadedRaters:
    """Load the masks of several raters, ``folder/rater/image.png``: one field per rater, read from disk when needed.

    Parameters
    ----------
    folders, assigned
        As in `kalos_core.readers.mask_folders.read_mask_folders`. Who was asked stands in the sample field ``raters``.
    dataset : str or fiftyone.core.dataset.Dataset, optional
        Name of a new data set, or an existing one with a sample of the file name of every image.
    pictures : path, optional
        Folder of the pictures, named as the masks; needed for a new data set.
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
        For folders that cannot be used, an image without a picture or sample, or a rater whose field exists already.
        Nothing is kept then.

    Examples
    --------
    >>> import numpy as np
    >>> for name, marks in {"pictures": [[9, 9]], "masks/ann": [[0, 255]], "masks/bob": [[255, 255]]}.items():
    ...     Path("scene", name).mkdir(parents=True)
    ...     Image.fromarray(np.array(marks, np.uint8)).save(Path("scene", name, "a.png"))
    >>> loaded = load_mask_folders("scene/masks", pictures="scene/pictures", persistent=False)
    >>> loaded.fields, loaded.dataset.first()["ann"].get_mask().tolist()
    ({'ann': 'ann', 'bob': 'bob'}, [[0, 255]])
    >>> loaded.dataset.delete()
    """
    found = read_mask_folders(folders, assigned, pictures)
    target, is_new = open_dataset(dataset, persistent)
    try:
        fields = _fields(target, found)
        before = Before(target)
        ids = _add_samples(target, found) if is_new else _samples_of(before, found)
        return _write(target, found, fields, ids, before, classes)
    except BaseException:
        if is_new:
            target.delete()
        raise


def _fields(dataset: Any, found: MaskFolders) -> dict[str, str]:
    taken = {*rater_names(dataset, mask_fields(dataset))}
    again = [repr(name) for name in found.raters if name in taken]
    if again:
        raise InputError(f"raters: the data set {dataset.name!r} already holds masks of {listed(again)}")
    return derive_field_names(found.raters, [*dataset.get_field_schema(), ASSIGNED_FIELD])


def _add_samples(dataset: Any, found: MaskFolders) -> list[str]:
    """New samples; their ids."""
    missing = [name for name in found.images if name not in found.image_files]
    if missing:
        raise InputError(f"pictures: expected a picture for every image, got none for {listed(missing)}")
    samples = []
    for name in found.images:
        path = found.image_files[name].resolve()
        with Image.open(path) as picture:
            size = fo.ImageMetadata(width=picture.width, height=picture.height)
        samples.append(fo.Sample(str(path), metadata=size))
    added: list[str] = dataset.add_samples(samples, progress=False)
    return added


def _samples_of(before: Before, found: MaskFolders) -> list[str]:
    """The id of the sample of each image, by the name of its file without the ending."""
    stored, problems, ids = StoredPictures(before.paths), Problems("mask folders"), []
    for name in found.images:
        of_name = stored.find(Path(name).name)
        if len(of_name) == 1:
            ids.append(of_name[0][0])
        else:
            problems.add(f"image {name!r}", "one sample of that file name", str(len(of_name) or "none"))
    problems.raise_if_any()
    return ids


def _write(
    dataset: Any,
    found: MaskFolders,
    fields: dict[str, str],
    ids: list[str],
    before: Before,
    classes: Mapping[int, str] | None,
) -> LoadedRaters:
    """The fields, who was asked, and the names, or nothing."""
    asked = {
        key: [*(before.asked.get(key) or ()), *found.raters[row]] for key, row in zip(ids, found.assigned, strict=True)
    }
    targets = dict(dataset.mask_targets)
    try:
        for rater, field in fields.items():
            dataset.add_sample_field(field, fo.EmbeddedDocumentField, embedded_doc_type=fo.Segmentation)
            masks = {
                key: fo.Segmentation(mask_path=str(found.files[name, rater].resolve()))
                for key, name in zip(ids, found.images, strict=True)
                if (name, rater) in found.files
            }
            dataset.set_values(field, masks, key_field="id")
        dataset.set_values(ASSIGNED_FIELD, asked, key_field="id")
        store_rater_fields(dataset, fields)
        if classes is not None:
            dataset.mask_targets = {**targets, **{field: dict(classes) for field in fields.values()}}
            dataset.save()
    except BaseException:
        dataset.delete_sample_fields([field for field in fields.values() if dataset.has_field(field)])
        if before.has_assigned:
            dataset.set_values(ASSIGNED_FIELD, {key: before.asked[key] for key in ids}, key_field="id")
        elif dataset.has_field(ASSIGNED_FIELD):
            dataset.delete_sample_field(ASSIGNED_FIELD)
        forget_rater_fields(dataset, fields.values())
        dataset.mask_targets = targets
        raise
    return LoadedRaters(dataset, fields, len(found.files), len(found.images), 0 if before.paths else len(ids))
