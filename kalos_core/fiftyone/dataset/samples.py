"""Checks of samples before labels are read or written, and views independent of the active slice."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import fiftyone as fo
import fiftyone.core.clips as focl
import fiftyone.core.collections as foc
import fiftyone.core.patches as fop
import fiftyone.core.video as fov
from PIL.ExifTags import Base

from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.internals import root_of
from kalos_core.files import open_image

SCENES = ("3d", "point-cloud")
MEDIA = ("image", *SCENES)
"""Types of samples whose labels can be read: images, and scenes with cuboids."""


def check_samples(samples: Any) -> None:
    """Refuse collections other than images or 3D scenes that labels can be written back to."""
    if not isinstance(samples, foc.SampleCollection):
        raise InputError(f"samples: expected a data set or a view, got {type(samples).__name__}")
    if isinstance(samples, (fop.PatchesView, focl.ClipsView, fov.FramesView)):
        raise InputError(f"samples: expected a view of samples, got a {type(samples).__name__}")
    media = samples.media_type
    if media == "group":
        active = samples.group_slice
        if active is None:
            raise InputError("samples: this data set is grouped and has no active slice; choose one first")
        media = samples.group_media_types[active]
    if len(samples) == 0:
        raise InputError("samples: expected at least one sample, got an empty view")
    if media not in MEDIA:
        raise InputError(f"samples: expected images or 3D scenes, got samples of type {media!r}")


def pinned(samples: Any) -> Any:
    """Return a view that later changes of the active slice do not affect, and that hides no field."""
    hiding = (fo.SelectFields, fo.ExcludeFields)
    stages = getattr(samples, "_stages", [])
    active = samples.group_slice if samples.media_type == "group" else None
    if active is None and not any(isinstance(stage, hiding) for stage in stages):
        return samples
    view = root_of(samples).view()
    try:  # select the slice first, so that no other slice can be active while the stages are applied
        found = view if active is None else view.select_group_slices(active)
        for stage in stages:
            found = found if isinstance(stage, hiding) else found.add_stage(stage)
    except ValueError:  # a stage that needs the groups
        return samples.select_group_slices(active)
    return found


def every_sample(samples: Any) -> Any:
    """Return all samples of the data set, in all slices."""
    dataset = root_of(samples)
    return dataset.select_group_slices(_allow_mixed=True) if dataset.media_type == "group" else dataset


def check_sizes(files: Iterable[str], sizes: Iterable[tuple[float, float]], argument: str = "samples") -> None:
    """Refuse images of unknown size (NaN), where coordinates must be converted between fractions and pixels."""
    known = list(zip(files, sizes, strict=True))
    unknown = [Path(file).name for file, size in known if not size[0] > 0]
    if unknown:
        raise InputError(
            f"{argument}: the size of {len(unknown):,} of {len(known):,} images is unknown ({listed(unknown)}); "
            "their files are missing, and compute_metadata() was not run"
        )


SIZE = ("metadata.width", "metadata.height")
"""Fields in which FiftyOne stores the size of an image, if it was computed."""

TURNED = 5
"""Smallest EXIF orientation with which an image is shown with width and height swapped."""


def fill_sizes(columns: Mapping[str, list[Any]]) -> None:
    """Read missing image sizes from the file headers; nothing is stored.

    Parameters
    ----------
    columns : mapping of str to list
        Must have ``"filepath"`` and the columns of `SIZE`, which are filled in place; None for unreadable images.
    """
    widths, heights = (columns[name] for name in SIZE)
    for row, path in enumerate(columns["filepath"]):
        if not (widths[row] and heights[row]):
            widths[row], heights[row] = size_of_file(path)


def size_of_file(path: str) -> tuple[int, int] | tuple[None, None]:
    """Return the width and height of an image as it is shown; (None, None) if it cannot be read."""
    if not os.path.isfile(path):
        return None, None
    try:
        with open_image(path) as opened:
            width, height = opened.size
            return (height, width) if opened.getexif().get(Base.Orientation, 1) >= TURNED else (width, height)
    except InputError:  # treat it as missing: labels can be compared without it
        return None, None


def unmeasured(samples: Any) -> int:
    """Return the number of samples without a stored size, whose files must be measured."""
    return len(samples) - (samples.count(SIZE[0]) if samples.has_field(SIZE[0]) else 0)
