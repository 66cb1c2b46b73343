"""Agreement about pixels on FiftyOne: numbers as a run, and with each image a map of how many raters marked a pixel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import fiftyone as fo
import numpy as np

from kalos_core.errors import InputError
from kalos_core.fiftyone.dataset.mask_files import MapFiles, map_field
from kalos_core.fiftyone.dataset.masks import ImageMasks, RaterMasks, open_masks
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.dataset.writing import write_documents
from kalos_core.fiftyone.kinds.masked import are_local, with_progress
from kalos_core.fiftyone.kinds.pixels.details import (
    PixelSettings,
    by_image,
    pixel_arrays,
    pixel_details,
    pixel_metrics,
    result_of,
)
from kalos_core.fiftyone.kinds.pixels.kind import PIXELS, PixelRun
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.life import STORING, analysing, new_folder, writing
from kalos_core.fiftyone.runs.progress import Progress, Report
from kalos_core.fiftyone.runs.records import plain
from kalos_core.pixels import PixelAccumulator, rater_count_map

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from kalos_core.fiftyone.dataset.selection import SelectionArguments


def compute_pixel_agreement(
    samples: Any,
    run_key: str,
    *,
    ignore_value: int | None = None,
    images: bool = False,
    raters_are_local: bool | None = None,
    progress: Progress | bool | None = None,
    **selection: Unpack[SelectionArguments],
) -> PixelRun:
    """How far raters agree about pixels, image by image and over all; see `kalos_core.pixel_agreement`.

    Writes two sample fields: ``<run_key>_rater_count``, a `Heatmap` of how many raters marked each pixel (of several
    classes: the most raters who gave the pixel one class), and ``<run_key>_f1``, the mean F1 of the image's pairs of
    raters (of several classes: the mean over these), None where undefined. The files of the maps stand with FiftyOne's
    data sets, as FiftyOne advises for large maps: maps in the database slow every look at their samples. Deleting the
    run removes them.

    Parameters
    ----------
    samples, run_key, progress
        As in `compute_agreement`.
    ignore_value : int, optional
        A pixel that any rater gives this value counts for nothing.
    images : bool
        Whether agreement is compared with properties of the images: intensity, contrast and each channel.
    raters_are_local : bool, optional
        Whether a rater of one image is not the rater of that name on another, so that only raters of one image are
        compared; by default as it is stored of the raters.
    **selection
        Which masks are read, see `read_masks`: `Segmentation` fields, one per rater, or polygons and instance masks.

    Returns
    -------
    Run
        Its `result` is a `PixelAgreement`, of several classes a `ClassPixelAgreement`; its `details` are a
        `PixelDetails`.

    Raises
    ------
    InputError
        For masks that cannot be used. Nothing is kept then, nor of a run that is stopped half-way.

    Examples
    --------
    >>> dataset = fo.Dataset()
    >>> masks = {"ann": [[0, 0, 1, 1]], "bob": [[0, 1, 1, 1]], "cid": [[0, 0, 0, 1]]}
    >>> stored = {name: fo.Segmentation(mask=np.array(mask, np.uint8)) for name, mask in masks.items()}
    >>> _ = dataset.add_sample(fo.Sample("a.png", raters=list(masks), **stored))
    >>> run = compute_pixel_agreement(dataset, "pixels")
    >>> run.result.ratio.round(4).tolist(), dataset.first()["pixels_rater_count"].get_map().tolist()
    ([1.0, 0.6667, 0.3333], [[0, 1, 2, 3]])
    >>> from kalos_core.fiftyone.runs.stored import delete_run
    >>> delete_run(dataset, "pixels")
    >>> dataset.delete()
    """
    chosen = Selection.of(selection)
    with analysing(samples, run_key, progress) as report:
        masks = open_masks(samples, chosen, ignore_value)
        settings = PixelSettings(
            ignore_value=ignore_value,
            images=bool(images),
            raters_are_local=are_local(masks) if raters_are_local is None else bool(raters_are_local),
            classes=masks.values,
        )
        names, folder = RunNames(run_key), new_folder(samples)
        fields = {
            names.rater_count: map_field(fo.Heatmap, f"How many raters marked each pixel, of the run {run_key!r}"),
            names.f1: {"ftype": fo.FloatField},
        }
        with writing(PIXELS, masks, run_key, settings, fields, folder) as draft:
            counting = _Counting(masks, MapFiles(folder), names.rater_count, settings)
            write_documents(masks.view, counting.documents(report), len(masks))
            by_class = {name: accumulator.result() for name, accumulator in counting.accumulators.items()}
            draft.arrays = pixel_arrays(by_class, masks.images.tolist())
            f1 = plain(by_image(draft.arrays, "image_f1", len(masks.images)))
            values = ((key, {names.f1: value}) for key, value in zip(masks.images, f1, strict=True))
            write_documents(masks.view, values, len(masks.images), report.within(STORING, 1.0, "Writing F1"))
            draft.metrics, draft.details = pixel_metrics(by_class), pixel_details(by_class)
            draft.result = result_of(by_class)
    return draft.run


class _Counting:
    """Agreement by class, counted image by image; the map of each image is written on the way."""

    def __init__(self, masks: RaterMasks, files: MapFiles, field: str, settings: PixelSettings) -> None:
        self._is_local, self._with_images = settings["raters_are_local"], settings["images"]
        self.accumulators = {
            name: PixelAccumulator(masks.raters, raters_are_local=self._is_local) for name in masks.classes
        }
        self._masks, self._files, self._field = masks, files, field

    def documents(self, report: Report) -> Iterator[tuple[str, dict[str, Any]]]:
        """Sample id and field -> document, of each image somebody is assigned to."""
        masks = self._masks
        for found in with_progress(masks, report, self._is_local):
            self._count(masks.with_pixels(found) if self._with_images else found)
            sample_id, counts = masks.images[found.image], [rater_count_map(stack) for stack in found.stacks.values()]
            if counts:
                most = np.max(counts, axis=0)
                document = self._files.heatmap(self._field, sample_id, most, len(masks.raters))
            yield sample_id, {self._field: document} if counts else {}

    def _count(self, found: ImageMasks) -> None:
        for name, stack in found.stacks.items():
            try:
                self.accumulators[name].add(replace(stack, image=self._masks.images[found.image]))
            except InputError as error:
                raise InputError(f"{self._masks.name(found.image)}: {error}") from error
