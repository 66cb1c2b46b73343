"""Which samples can be read and written, and the same samples and labels whatever is active elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import fiftyone as fo
import fiftyone.core.clips as focl
import fiftyone.core.collections as foc
import fiftyone.core.patches as fop
import fiftyone.core.video as fov

from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.internals import root_of

SCENES = ("3d", "point-cloud")
MEDIA = ("image", *SCENES)
"""Types of samples whose labels can be read: images, and scenes with cuboids."""


def check_samples(samples: Any) -> None:
    """Refuse collections whose samples are not images or scenes that labels can be written back to."""
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
    """The same samples and labels whatever happens elsewhere: the active slice is pinned, and no field is hidden."""
    hiding = (fo.SelectFields, fo.ExcludeFields)
    stages = getattr(samples, "_stages", [])
    active = samples.group_slice if samples.media_type == "group" else None
    if active is None and not any(isinstance(stage, hiding) for stage in stages):
        return samples
    view = root_of(samples).view()
    try:  # first of all, so that no other slice can ever be active while the stages are applied
        found = view if active is None else view.select_group_slices(active)
        for stage in stages:
            found = found if isinstance(stage, hiding) else found.add_stage(stage)
    except ValueError:  # a stage that needs the groups
        return samples.select_group_slices(active)
    return found


def every_sample(samples: Any) -> Any:
    """All samples of the data set as they are stored, in all slices."""
    dataset = root_of(samples)
    return dataset.select_group_slices(_allow_mixed=True) if dataset.media_type == "group" else dataset


def check_sizes(files: Iterable[str], sizes: Iterable[tuple[float, float]], argument: str = "samples") -> None:
    """Refuse images of unknown size (NaN) where fractions of the image have to become pixels, or back."""
    known = list(zip(files, sizes, strict=True))
    unknown = [Path(file).name for file, size in known if not size[0] > 0]
    if unknown:
        raise InputError(
            f"{argument}: the size of {len(unknown):,} of {len(known):,} images is unknown ({listed(unknown)}); "
            "run compute_metadata() on the data set first"
        )
