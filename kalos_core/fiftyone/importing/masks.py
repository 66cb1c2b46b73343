"""Loading of folders of masks into a data set: one field of `Segmentation` per rater; the files are not copied."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import fiftyone as fo

from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.dataset.database import label_field
from kalos_core.fiftyone.dataset.raters import MASKS, new_fields, store_raters
from kalos_core.fiftyone.dataset.samples import every_sample
from kalos_core.fiftyone.importing.life import Given, known_images, loading, opened
from kalos_core.fiftyone.importing.objects import LoadedRaters
from kalos_core.fiftyone.runs.arranging import arrange_app
from kalos_core.readers.folders import AssignedFiles
from kalos_core.readers.images import read_image_size
from kalos_core.readers.mask_folders import MaskFolders, read_mask_folders


def load_mask_folders(
    folders: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]],
    dataset: Any = None,
    *,
    images: str | os.PathLike[str] | None = None,
    assigned: AssignedFiles = "files",
    classes: Mapping[int, str] | None = None,
    persistent: bool = True,
) -> LoadedRaters:
    """Load the masks of several raters, ``folder/rater/image.png``: one field per rater, read from disk when needed.

    Parameters
    ----------
    folders, assigned
        As in `kalos_core.read_mask_folders`. The sample field ``raters`` lists the assigned raters.
    dataset : str or fiftyone.core.dataset.Dataset, optional
        Name of a new data set, or an existing one, either empty or with a sample for the file name of every image.
    images : path, optional
        Folder of the images, which have the names of the masks; required for a data set without samples.
    classes : mapping of int to str, optional
        Names of the values, stored as mask targets of the fields; without them masks are binary.
    persistent : bool
        Whether a new data set outlives the session.

    Returns
    -------
    LoadedRaters
        Its `annotations` is the number of masks.

    Raises
    ------
    InputError
        If folders are invalid, an image has no file or sample, or a rater already has a field. Nothing is kept then.

    Examples
    --------
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from PIL import Image
    >>> for name, pixels in {"images": [[9, 9]], "masks/ann": [[0, 255]], "masks/bob": [[255, 255]]}.items():
    ...     Path("scene", name).mkdir(parents=True)
    ...     Image.fromarray(np.array(pixels, np.uint8)).save(Path("scene", name, "a.png"))
    >>> loaded = load_mask_folders("scene/masks", images="scene/images", persistent=False)
    >>> loaded.fields, loaded.dataset.first()["ann"].get_mask().tolist()
    ({'ann': 'ann', 'bob': 'bob'}, [[0, 255]])
    >>> loaded.dataset.delete()
    """
    found = read_mask_folders(folders, assigned=assigned, image_folder=images)
    if found.values:
        raise InputError(
            "masks: expected grey masks, which the App can show, got colours with a label map; "
            "read_mask_folders and kalos-core divisions can read them"
        )
    with opened(dataset, persistent) as (target, is_new):
        fields = new_fields(target, found.raters, MASKS)
        is_empty = is_new or not len(every_sample(target))
        paths = _paths(found) if is_empty else []
        sample_of = {} if is_empty else known_images(target).match(list(found.images), "mask folders", "image")
        declared = {field: label_field(fo.Segmentation) for field in fields.values()}
        with loading(target, declared, is_new) as load:
            if is_empty:
                sizes = list(map(read_image_size, paths))
                sample_of = dict(zip(found.images, load.add_samples(paths, sizes), strict=True))
            load.write(_labels(found, fields, sample_of), len(sample_of))
            store_raters(target, fields)
            if classes is not None:
                target.mask_targets = {**target.mask_targets, **{field: dict(classes) for field in fields.values()}}
                target.save()
    arrange_app(target)
    return LoadedRaters(target, fields, len(found.files), len(found.images), len(paths))


def _paths(found: MaskFolders) -> list[str]:
    """Return the file of each image."""
    missing = [name for name in found.images if name not in found.image_files]
    if missing:
        raise InputError(f"images: expected a file for every image, got none for {listed(missing)}")
    return [str(found.image_files[name].resolve()) for name in found.images]


def _labels(found: MaskFolders, fields: Mapping[str, str], sample_of: Mapping[str, str]) -> Iterator[Given]:
    """Yield each sample with its masks, given as file paths, by field, and its assigned raters."""
    for name, row in zip(found.images, found.assigned, strict=True):
        masks = {
            field: fo.Segmentation(mask_path=str(found.files[name, rater].resolve())).to_dict()
            for rater, field in fields.items()
            if (name, rater) in found.files
        }
        yield sample_of[name], masks, [str(rater) for rater in found.raters[row]]
