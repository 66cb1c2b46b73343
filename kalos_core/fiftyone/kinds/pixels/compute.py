"""Agreement about pixels on FiftyOne: metrics as a run, and a map of rater counts for each image."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import fiftyone as fo
import numpy as np

from kalos_core.errors import InputError
from kalos_core.fiftyone.dataset.database import add_index, label_field
from kalos_core.fiftyone.dataset.masks import RaterMasks, open_masks
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.dataset.writing import write_documents
from kalos_core.fiftyone.kinds.masked import MapFiles, are_local, with_progress
from kalos_core.fiftyone.kinds.pixels.kind import PIXELS, PixelRun, pixel_metrics, result_of
from kalos_core.fiftyone.kinds.pixels.paired import pair_counters
from kalos_core.fiftyone.kinds.pixels.regions import RegionWriter, region_fields
from kalos_core.fiftyone.kinds.pixels.settings import PixelRunArguments, PixelRunSettings
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.life import STORING, analysing, writing
from kalos_core.fiftyone.runs.progress import Report
from kalos_core.fiftyone.runs.upkeep import new_folder
from kalos_core.options import takes
from kalos_core.pixels import PixelAccumulator, rater_count_map
from kalos_core.results import plain_values


@takes(PixelRunArguments)
def compute_pixel_agreement(samples: Any, run_key: str, settings: PixelRunArguments) -> PixelRun:
    """Compute the agreement of raters about pixels, on each image and overall; see `kalos_core.pixel_agreement`.

    The run writes two sample fields:

    - ``<run_key>_rater_count``: a `Heatmap` of how many raters marked each pixel. For several classes, it is the
      number of raters who gave the pixel its most frequent class.
    - ``<run_key>_f1``: the mean F1 of the image's pairs of raters, averaged over classes; None where undefined.

    The files of the maps are stored next to FiftyOne's data sets. FiftyOne recommends this for large maps, because
    maps in the database slow down each access to their samples. Deleting the run removes the files.

    With `regions` (`kalos_core.disputed_regions`), the largest regions of an image on which raters take different
    sides become labels in ``<run_key>_regions``. They are also units in dispute in the queue of decisions, so that
    `next_dispute`, `disputed_units` and `decide` take the key of this run.

    With `boundaries` (`kalos_core.boundary_agreement`), `boundaries_of` returns the distances, and
    ``<run_key>_boundary`` is their mean on each image, None without any.

    With `divisions` (`kalos_core.region_agreement`), `divisions_of` returns the numbers, and
    ``<run_key>_adjusted_rand`` is the mean adjusted Rand index of each image, None without two raters. Divisions need
    stored masks. If mask targets name no classes, masks may number regions arbitrarily, and all values other than 0
    are marked.

    With `images`, files may have any number of channels of 8 or 16 bits.

    Parameters
    ----------
    samples, run_key, progress
        As in `compute_agreement`.

    Returns
    -------
    Run
        Its `result` and its `details` are a `PixelAgreement`, or a `ClassPixelAgreement` for several classes.

    Raises
    ------
    InputError
        If masks cannot be used. In this case, or if the run is interrupted, nothing is kept.

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
    chosen, told = settings.part(Selection), settings.part(PixelRunSettings)
    with analysing(samples, run_key, settings.progress) as report:
        masks = open_masks(samples, chosen, told.ignore_value, divisions=told.divisions)
        local = are_local(masks, told.raters_are_local)
        stored: dict[str, Any] = {**told.record(), "raters_are_local": local, "classes": masks.values}
        names, folder = RunNames(run_key), new_folder(samples)
        fields = {
            names.rater_count: label_field(
                fo.Heatmap, description=f"How many raters marked each pixel, of the run {run_key!r}"
            ),
            **(region_fields(names) if told.regions else {}),
        }
        paired = pair_counters(names, masks, told)
        fields |= names.declared(names.f1, *(counter.on_samples for counter in paired))
        with writing(PIXELS, masks, run_key, stored, report, fields, folder) as draft:
            counted = {name: PixelAccumulator(masks.raters, told.channels, local) for name in masks.classes}
            regional = RegionWriter(names, told)
            more = [*([regional] if told.regions else []), *paired]
            maps = _maps(masks, counted, MapFiles(folder), stored, names.rater_count, more, report)
            write_documents(masks.view, maps, len(masks))
            result = result_of({name: accumulator.result() for name, accumulator in counted.items()})
            values = (
                (key, {names.f1: f1}) for key, f1 in zip(result.images, plain_values(result.image_f1), strict=True)
            )
            write_documents(masks.view, values, len(result.images), report.within(STORING, 1.0, "Writing F1"))
            if told.regions:
                add_index(masks.view, [names.f1, "_id", names.disputes])
            draft.metrics = pixel_metrics(result, regional.count if told.regions else None)
            draft.details = draft.result = result
            draft.arrays = {name: array for counter in paired for name, array in counter.arrays().items()}
    return draft.run


def _maps(
    masks: RaterMasks,
    counted: dict[str, PixelAccumulator],
    files: MapFiles,
    settings: Mapping[str, Any],
    field: str,
    more: Sequence[Any],
    report: Report,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Iterate over sample ids with field -> map of rater counts, and add the masks to the accumulators.

    Images without assigned raters are skipped. `more` holds writers of further documents, such as `RegionWriter`.
    """
    for found in with_progress(masks, report, settings["raters_are_local"]):
        image, sample_id = masks.with_pixels(found) if settings["images"] else found, masks.images[found.image]
        for name, stack in image.stacks.items():
            try:
                counted[name].add(replace(stack, image=sample_id))
            except InputError as error:
                raise InputError(f"{masks.name(found.image)}: {error}") from error
        counts = [rater_count_map(stack) for stack in image.stacks.values()]
        if counts:
            most = np.max(counts, axis=0)
            documents: dict[str, Any] = {field: files.heatmap(field, sample_id, most, len(masks.raters))}
            for writer in more:
                documents |= writer.documents(sample_id, found)
            yield sample_id, documents
