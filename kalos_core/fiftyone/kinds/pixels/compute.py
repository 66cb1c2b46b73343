"""Agreement about pixels on FiftyOne: numbers as a run, and with each image a map of how many raters marked a pixel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import fiftyone as fo
import numpy as np

from kalos_core.errors import InputError, check_whole
from kalos_core.fiftyone.dataset.database import add_index, label_field
from kalos_core.fiftyone.dataset.mask_files import MapFiles
from kalos_core.fiftyone.dataset.masks import RaterMasks, open_masks
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.dataset.writing import write_documents
from kalos_core.fiftyone.kinds.masked import mask_settings, with_progress
from kalos_core.fiftyone.kinds.pixels.boundaries import BoundaryCounter
from kalos_core.fiftyone.kinds.pixels.divisions import DivisionCounter
from kalos_core.fiftyone.kinds.pixels.kind import PIXELS, PixelRun, PixelSettings, pixel_metrics, result_of
from kalos_core.fiftyone.kinds.pixels.paired import PairCounter
from kalos_core.fiftyone.kinds.pixels.regions import RegionWriter, region_fields
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.life import STORING, analysing, new_folder, writing
from kalos_core.fiftyone.runs.progress import Progress, Report
from kalos_core.fiftyone.runs.records import plain
from kalos_core.pixels import PixelAccumulator, rater_count_map
from kalos_core.pixels.boundaries import TOLERANCE, check_tolerance
from kalos_core.pixels.disputed import LEAST_AREA, LEAST_WIDTH
from kalos_core.pixels.properties import Channels

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from kalos_core.fiftyone.dataset.selection import SelectionArguments


def compute_pixel_agreement(
    samples: Any,
    run_key: str,
    *,
    ignore_value: int | None = None,
    images: bool = False,
    channels: Channels | None = None,
    raters_are_local: bool | None = None,
    regions: bool = False,
    region_area: int = LEAST_AREA,
    region_width: int = LEAST_WIDTH,
    boundaries: bool = False,
    tolerance: float = TOLERANCE,
    divisions: bool = False,
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
        Whether agreement is compared with properties of the images: intensity, contrast and each channel. Files may
        have any number of channels of 8 or 16 bits.
    channels : sequence of str, or mapping of str to int, optional
        Which channels of the images are compared: names of all in the order of the files, or names with numbers from 0,
        such as ``{"nir": 3}``; by default all.
    raters_are_local : bool, optional
        Whether a rater of one image is not the rater of that name on another, so that only raters of one image are
        compared; by default as it is stored of the raters.
    regions : bool
        Whether the regions where raters differ most (`kalos_core.disputed_regions`, the 100 largest of an image on
        which raters take different sides) become labels in ``<run_key>_regions``, and units in dispute in the queue
        of decisions: `next_dispute`, `disputed_units` and `decide` take the key of this run then.
    region_area, region_width : int
        The least pixels of a region, and the side of the squares that cover it.
    boundaries : bool
        Whether the boundaries of every two raters are compared, see `kalos_core.boundary_agreement`: `boundaries_of`
        has the distances, in pixels, and ``<run_key>_boundary`` their mean on each image, None without any.
    tolerance : float
        Of the surface Dice, in pixels.
    divisions : bool
        Whether it is compared how every two raters divide images into regions, whatever these are called, see
        `kalos_core.region_agreement`: `divisions_of` has the numbers, and ``<run_key>_adjusted_rand`` the mean adjusted
        Rand index of each image, None without two raters. Of stored masks, which may number regions as they like where
        mask targets name no classes: what is marked is then all that is not 0.
    **selection
        Which masks are read, see `read_masks`: `Segmentation` fields, one per rater, or polygons and instance masks.

    Returns
    -------
    Run
        Its `result` is a `PixelAgreement`, of several classes a `ClassPixelAgreement`, and so are its `details`.

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
        masks = open_masks(samples, chosen, ignore_value, divisions=bool(divisions))
        common = mask_settings(masks, ignore_value, raters_are_local)
        settings = PixelSettings(
            **common,
            images=bool(images),
            channels=_channels(channels),
            regions=bool(regions),
            region_area=check_whole(region_area, "region_area", least=1),
            region_width=check_whole(region_width, "region_width", least=1),
            boundaries=bool(boundaries),
            tolerance=check_tolerance(tolerance),
            divisions=bool(divisions),
        )
        names, folder = RunNames(run_key), new_folder(samples)
        fields = {
            names.rater_count: label_field(
                fo.Heatmap, description=f"How many raters marked each pixel, of the run {run_key!r}"
            ),
            names.f1: {"ftype": fo.FloatField},
            **(region_fields(names) if settings["regions"] else {}),
        }
        paired = _pair_counters(names, masks, settings)
        fields |= {counter.field: {"ftype": fo.FloatField} for counter in paired}
        with writing(PIXELS, masks, run_key, settings, fields, folder) as draft:
            local = settings["raters_are_local"]
            counted = {name: PixelAccumulator(masks.raters, settings["channels"], local) for name in masks.classes}
            regional = RegionWriter(names, settings["region_area"], settings["region_width"])
            more = [*([regional] if settings["regions"] else []), *paired]
            maps = _maps(masks, counted, MapFiles(folder), settings, names.rater_count, more, report)
            write_documents(masks.view, maps, len(masks))
            result = result_of({name: accumulator.result() for name, accumulator in counted.items()})
            values = ((key, {names.f1: f1}) for key, f1 in zip(result.images, plain(result.image_f1), strict=True))
            write_documents(masks.view, values, len(result.images), report.within(STORING, 1.0, "Writing F1"))
            if settings["regions"]:
                add_index(masks.view, [names.f1, "_id", names.disputes])
            draft.metrics = pixel_metrics(result, regional.count if settings["regions"] else None)
            draft.details = draft.result = result
            draft.arrays = {name: array for counter in paired for name, array in counter.arrays().items()}
    return draft.run


def _pair_counters(names: RunNames, masks: RaterMasks, settings: PixelSettings) -> list[PairCounter]:
    """What compares every two raters as the settings ask for it."""
    found: list[PairCounter] = []
    if settings["boundaries"]:
        found.append(BoundaryCounter(names.boundary, masks.raters, masks.classes, settings["tolerance"]))
    if settings["divisions"]:
        found.append(DivisionCounter(names.adjusted_rand, masks.raters))
    return found


def _channels(given: Channels | None) -> list[str] | dict[str, int] | None:
    """As they are stored."""
    return dict(given) if isinstance(given, Mapping) else None if given is None else list(given)


def _maps(
    masks: RaterMasks,
    counted: dict[str, PixelAccumulator],
    files: MapFiles,
    settings: PixelSettings,
    field: str,
    more: Sequence[Any],
    report: Report,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Sample id, and field -> map of rater counts, of each image somebody is assigned to; counted on the way.

    `more`: what has further documents of each image, such as `RegionWriter`.
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
