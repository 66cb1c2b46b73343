"""Estimated truth on FiftyOne: masks for pixels, labels for objects, each estimate in its own field."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import fiftyone as fo
import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import check_comparable
from kalos_core.consensus import TRUTH_METHODS, ClassTruth, CountedTruth, Truth, class_truth
from kalos_core.consensus import estimate_truth as estimate
from kalos_core.consensus.methods import JOINTLY, WITHOUT_OUTLIERS, MethodName, check_methods
from kalos_core.display import number_of
from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.dataset.database import label_field
from kalos_core.fiftyone.dataset.masks import ImageMasks, RaterMasks, Stacks, open_masks
from kalos_core.fiftyone.dataset.objects import read_labels
from kalos_core.fiftyone.dataset.opened import similarity_to_store
from kalos_core.fiftyone.dataset.raters import ESTIMATED, mask_sources
from kalos_core.fiftyone.dataset.samples import check_sizes
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.dataset.writing import write_documents
from kalos_core.fiftyone.kinds.masked import FULL, MapFiles, are_local, outliers_of_study, with_progress
from kalos_core.fiftyone.kinds.matched import matched_arrays
from kalos_core.fiftyone.kinds.truth.details import ObjectTruth, TruthDetails
from kalos_core.fiftyone.kinds.truth.kind import TRUTH, TruthRun
from kalos_core.fiftyone.kinds.truth.objects import (
    consensus_of,
    declared_fields,
    match_objects,
    object_documents,
    type_of,
)
from kalos_core.fiftyone.kinds.truth.settings import TruthRunArguments, TruthRunSettings
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.life import COMPARING, STORING, analysing, writing
from kalos_core.fiftyone.runs.progress import Report
from kalos_core.fiftyone.runs.upkeep import new_folder
from kalos_core.options import takes
from kalos_core.pixels.stored import joined_stacks

MAPS: dict[str, Callable[[Truth], NDArray[np.float64]]] = {
    "probability": lambda truth: truth.probability,
    "entropy": lambda truth: truth.entropy,
}
"""Content of a map of an estimate -> function that returns (H, W) numbers in [0, 1]."""

SHARE_OF_OUTLIERS = 0.3
"""Fraction of the work completed when the outlying raters over all images are known."""

MOST_NOTES = 100
"""Maximum number of notes on single images."""


@takes(TruthRunArguments)
def estimate_truth(samples: Any, run_key: str, settings: TruthRunArguments) -> TruthRun:
    """Estimate the ground truth from the labels of several raters, each estimate in its own field.

    For pixels, the run writes a `Segmentation` field for each method, named after the run key and the method. The files
    are stored next to FiftyOne's data sets.

    For objects, the run matches raters and writes a label field for each quorum. The confidence of a label is the share
    of the assigned raters who annotated it, and ``<run_key>_match`` lists the ids of its source labels. With a `model`
    of who is right, the confidence is the probability of the label. ``<run_key>_existence`` is then the probability
    that it is an object of any class. ``<run_key>_against`` names the raters who missed it or gave it another class.

    A field of objects can be the ``gt_field`` of FiftyOne's ``evaluate_detections``. FiftyOne's COCO exporter writes
    the confidence as score, and so does ``write_coco(consensus.annotations, path, consensus.fields())`` of
    `kalos_core`. Deleting the run removes the fields and the files.

    Parameters
    ----------
    samples, run_key, progress
        As in `compute_agreement`.

    Returns
    -------
    Run
        Its `result` maps the name of each estimate to a `CountedTruth`, or for objects to an `InstanceConsensus`; its
        `details` are a `TruthDetails`.

    Raises
    ------
    InputError
        If the input cannot be used. In this case, or if the run is interrupted, nothing is kept.

    Examples
    --------
    >>> dataset = fo.Dataset()
    >>> size = fo.ImageMetadata(width=100, height=100)
    >>> def cats(*boxes):
    ...     return fo.Detections(detections=[fo.Detection(label="cat", bounding_box=box) for box in boxes])
    >>> near, far = [0.1, 0.1, 0.5, 0.5], [0.7, 0.7, 0.2, 0.2]
    >>> labels = {"ann": cats(near), "bob": cats([0.1, 0.1, 0.5, 0.4]), "cid": cats(far)}
    >>> _ = dataset.add_sample(fo.Sample("a.jpg", metadata=size, raters=list(labels), **labels))
    >>> run = estimate_truth(dataset, "truth", raters=tuple(labels))
    >>> run.metrics["fields"]
    {'quorum 0.5': 'truth_quorum_0_5'}
    >>> (cat,) = dataset.first().truth_quorum_0_5.detections
    >>> [round(value, 3) for value in cat.bounding_box], round(cat.confidence, 3)
    ([0.1, 0.1, 0.5, 0.45], 0.667)
    >>> dataset.delete()
    """
    chosen, told = settings.part(Selection), settings.part(TruthRunSettings)
    with analysing(samples, run_key, settings.progress) as report:
        if told.of == "pixels" or (told.of == "auto" and mask_sources(samples, chosen) is not None):
            if not told.methods:
                raise InputError(f"methods: expected at least one of {listed(TRUTH_METHODS, 20)}, got none")
            masks = open_masks(samples, chosen, told.ignore_value)
            local = are_local(masks, told.raters_are_local)
            return _of_pixels(masks, run_key, replace(told, of="pixels", raters_are_local=local), report)
        measure = similarity_to_store(samples, chosen, told.similarity)
        return _of_objects(
            samples, run_key, told.part(TruthRunSettings, of="objects", similarity=measure), chosen, report
        )


# ---- pixels ----


def _of_pixels(masks: RaterMasks, run_key: str, settings: TruthRunSettings, report: Report) -> TruthRun:
    methods, local = check_methods(settings.methods), bool(settings.raters_are_local)
    wanted = [f"{method} {what}" for method in methods for what in MAPS if settings.maps]
    every, folder = RunNames(run_key).fields_for(masks.view, [*methods, *wanted]), new_folder(masks.view)
    fields, maps = {name: every[name] for name in methods}, {name: every[name] for name in wanted}
    declared = {
        field: label_field(
            fo.Heatmap if name in maps else fo.Segmentation,
            f"Truth by {name}, of the run {run_key!r}",
            {ESTIMATED: run_key},
        )
        for name, field in every.items()
    }
    with writing(
        TRUTH, masks, run_key, {**settings.record(), "classes": masks.values}, report, declared, folder
    ) as draft:
        begin = SHARE_OF_OUTLIERS if WITHOUT_OUTLIERS in methods and not local else 0.0
        truths = _Truths(masks, fields, () if local else masks.raters, maps)
        if begin:
            truths.outliers = outliers_of_study(masks, report, begin)
        images = with_progress(masks, report, local, begin)
        write_documents(masks.view, truths.documents(images, MapFiles(folder)), len(masks))
        has_truth = np.any([found.marked >= 0 for found in truths.counted.values()], axis=0)
        if not has_truth.any():
            raise InputError("raters: expected an image that at least two raters are assigned to, got none")
        draft.metrics = {
            "of": "pixels",
            "fields": fields,
            "maps": maps,
            "raters": list(truths.raters),
            "images": int(has_truth.sum()),
            "classes": masks.classes,
        }
        draft.details = TruthDetails({**truths.counted}, truths.outliers, truths.notes)
        draft.result = truths.counted
    return draft.run


class _Truths:
    """Writer of estimates, one field per method, which also counts pixels; `raters` have names across images."""

    def __init__(
        self, masks: RaterMasks, fields: dict[MethodName, str], raters: Sequence[str], maps: dict[str, str]
    ) -> None:
        self.masks, self.fields, self.raters, self.maps = masks, fields, raters, maps
        self.outliers: dict[str, list[str]] = {}
        self.notes: list[str] = []
        self.counted = {
            self._name(method, category): CountedTruth.nothing(raters, len(masks.images))
            for category in masks.classes
            for method in fields
        }

    def _name(self, method: str, category: str) -> str:
        """Return the name of an estimate."""
        return method if len(self.masks.classes) == 1 else f"{method}, {category}"

    def documents(self, images: Iterable[ImageMasks], files: MapFiles) -> Iterator[tuple[str, dict[str, Any]]]:
        """Iterate over sample ids with field -> document; an image needs at least two assigned raters."""
        for found in images:
            sample_id = self.masks.images[found.image]
            stacks = {name: stack for name, stack in found.stacks.items() if len(stack.raters) > 1}
            documents = {}
            for method, field in self.fields.items() if stacks else ():
                truths = self._estimated(stacks, method, found.image)
                for category, truth in truths.items():
                    self.counted[self._name(method, category)].add(found.image, truth)
                    if truth.note and len(self.notes) < MOST_NOTES:
                        self.notes.append(f"{self.masks.name(found.image)}, {method}: {truth.note}")
                documents[field] = files.mask(field, sample_id, _map_of(self.masks, truths))
                for what, of_truth in MAPS.items() if self.maps else ():
                    place, most = self.maps[f"{method} {what}"], np.max(list(map(of_truth, truths.values())), axis=0)
                    documents[place] = files.heatmap(place, sample_id, np.round(FULL * most).astype(np.uint8), FULL)
            yield sample_id, documents

    def _estimated(self, stacks: Stacks, method: MethodName, image: int) -> dict[str, Truth]:
        """Return class -> estimate for one image."""
        if method != JOINTLY or len(stacks) < 2:
            return {name: estimate(stack, method, self.outliers.get(name)) for name, stack in stacks.items()}
        values = {name: self.masks.values[name] for name in stacks}
        try:
            joined = joined_stacks(stacks, values)
        except InputError as error:
            raise InputError(f"{self.masks.name(image)}, {method}: {error}") from error
        return class_truth(joined, {value: name for name, value in values.items()}, method).by_class


def _map_of(masks: RaterMasks, truths: dict[str, Truth]) -> NDArray[Any]:
    """Return a binary mask, or one map of all classes."""
    if masks.is_binary:
        (truth,) = truths.values()
        return truth.mask
    return ClassTruth(np.array([masks.values[name] for name in truths], dtype=np.int64), truths).labels


# ---- objects ----


def _of_objects(
    samples: Any, run_key: str, settings: TruthRunSettings, selection: Selection, report: Report
) -> TruthRun:
    labels = read_labels(samples, selection, [settings.measure])
    annotations = labels.annotations
    check_sizes(annotations.files, annotations.image_size)
    check_comparable(annotations)
    report(COMPARING, f"Matching {number_of(len(annotations), 'annotation')}")
    matched = match_objects(annotations, settings)
    truths = consensus_of(matched, settings)
    fields, kind = RunNames(run_key).fields_for(samples, truths), type_of(truths)
    declared = declared_fields(run_key, fields, kind, settings.model)
    with writing(TRUTH, labels, run_key, settings.record(), report, declared) as draft:
        progress = report.within(STORING, 1.0, f"Writing {number_of(len(fields), 'field')}")
        documents = object_documents(run_key, truths, fields, kind)
        write_documents(labels.view, documents, len(annotations.images), progress)
        draft.metrics = {
            "of": "objects",
            "fields": fields,
            "maps": {},
            "raters": annotations.raters.tolist(),
            "images": int(annotations.assigned.any(axis=1).sum()),
            "classes": annotations.categories.tolist(),
        }
        draft.details = TruthDetails({name: ObjectTruth.of(found) for name, found in truths.items()}, {}, [])
        draft.arrays, draft.result = matched_arrays(labels, matched.pairs), truths
    return draft.run
