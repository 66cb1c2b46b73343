"""Agreement about pixels on FiftyOne: figures as a run, and a map of levels beside each picture."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import fiftyone as fo
import numpy as np

from kalos_core.errors import InputError
from kalos_core.fiftyone.analyses.steps import READING, WRITING
from kalos_core.fiftyone.labels import LabelChoice, check_samples, write_documents
from kalos_core.fiftyone.masks import MapFiles, RaterMasks, map_field, read_masks
from kalos_core.fiftyone.masks.stored import pixel_arrays, pixel_diagnostics, pixel_figures, result_of
from kalos_core.fiftyone.progress import Progress, Report
from kalos_core.fiftyone.runs import Run, RunNames, check_run_key, new_folder, pack, writing
from kalos_core.pixels import PixelAccumulator, PixelAgreement, rater_count_map


def compute_pixel_agreement(
    samples: Any,
    run_key: str,
    *,
    ignore_value: int | None = None,
    pictures: bool = False,
    choice: LabelChoice | None = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> Run:
    """How far raters agree about pixels, image by image and over all; see `kalos_core.pixel_agreement`.

    Writes the sample field ``<run_key>_level``, a `Heatmap` of how many raters marked each pixel (of several classes:
    the most raters who gave the pixel one class). Its files stand beside FiftyOne's data sets, as FiftyOne advises for
    large maps: maps in the database slow every look at their samples. Deleting the run removes them.

    Parameters
    ----------
    samples, run_key, progress
        As in `compute_agreement`.
    ignore_value : int, optional
        A pixel that any rater gives this value counts for nothing.
    pictures : bool
        Whether agreement is set beside properties of the pictures: intensity, contrast and each channel.
    choice, **options
        Which masks are read, see `read_masks`: `Segmentation` fields, one per rater, or polygons and instance masks.

    Returns
    -------
    Run
        Its `result` is a `PixelAgreement`, of several classes a `ClassPixelAgreement`; its `diagnostics` are described
        at `kalos_core.fiftyone.masks.stored.pixel_diagnostics`.

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
    >>> run.result.ratio.round(4).tolist(), dataset.first()["pixels_level"].get_map().tolist()
    ([1.0, 0.6667, 0.3333], [[0, 1, 2, 3]])
    >>> from kalos_core.fiftyone import delete_run
    >>> delete_run(dataset, "pixels")
    >>> dataset.delete()
    """
    with Report(progress) as report:
        check_samples(samples)
        check_run_key(samples, run_key)
        report(READING, "Looking for masks")
        masks = read_masks(samples, LabelChoice.of(choice, options), ignore_value=ignore_value, pictures=pictures)
        settings = {"ignore_value": ignore_value, "pictures": bool(pictures), "classes": masks.values}
        names, folder = RunNames(run_key), new_folder(samples._root_dataset)
        files = MapFiles(folder, masks.images.tolist())
        field = map_field(fo.Heatmap, f"How many raters marked each pixel, of the run {run_key!r}")
        with writing(masks, run_key, "pixels", settings, {names.level: field}, folder) as draft:
            by_class, digests = _count(masks, files, names.level, report)
            report(WRITING, f"Writing {len(masks):,} maps")
            write_documents(masks.view, masks.images.tolist(), files.documents)
            draft.figures = pixel_figures(by_class)
            draft.diagnostics = pixel_diagnostics(by_class)
            draft.arrays = pack(
                image_ids=masks.images.astype(str),
                hashes=np.array(digests),
                assigned=masks.assigned,
                **pixel_arrays(by_class, masks.images.tolist()),
            )
        report(1.0, "Done")
    return Run(
        key=run_key,
        kind="pixels",
        settings=settings,
        choice=masks.choice,
        figures=draft.figures,
        label_fields=masks.fields,
        diagnostics=draft.diagnostics,
        result=result_of(by_class),
    )


def _count(
    masks: RaterMasks, files: MapFiles, field: str, report: Report
) -> tuple[dict[str, PixelAgreement], list[str]]:
    """Agreement by class, and the digest of every image; the map of each is written on the way."""
    accumulators = {name: PixelAccumulator(masks.raters) for name in masks.classes}
    digests = [""] * len(masks)
    for number, found in enumerate(masks):
        report(WRITING * number / len(masks), f"{masks.name(found.image)}: {number + 1:,} of {len(masks):,} images")
        digests[found.image] = found.digest
        for name, stack in found.stacks.items():
            try:
                accumulators[name].add(replace(stack, image=masks.images[found.image]))
            except InputError as error:
                raise InputError(f"{masks.name(found.image)}: {error}") from error
        levels = np.max([rater_count_map(stack) for stack in found.stacks.values()], axis=0)
        files.add_heatmap(field, found.image, levels, len(masks.raters))
    return {name: accumulator.result() for name, accumulator in accumulators.items()}, digests
