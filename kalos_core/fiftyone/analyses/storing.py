"""The result of a stored run, from what was stored and the labels as they are now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, agreement
from kalos_core.annotations import Annotations
from kalos_core.calibration import calibrate
from kalos_core.convergence import LabelConvergence
from kalos_core.fiftyone.convergence import converge
from kalos_core.fiftyone.image_labels import (
    ImageLabels,
    LabelFindings,
    find_all,
    groups_from_record,
    rank_again,
    read_image_labels,
)
from kalos_core.fiftyone.labels import Labels, read_labels
from kalos_core.fiftyone.masks import RaterMasks, read_masks
from kalos_core.fiftyone.masks.stored import stored_agreement
from kalos_core.fiftyone.noise import InjectedNoise
from kalos_core.fiftyone.runs import Run, digest_arrays, load_arrays, load_figures, load_run_view
from kalos_core.fiftyone.truths import ObjectTruths, PixelTruths
from kalos_core.fiftyone.truths.detectors import stored_result
from kalos_core.fiftyone.truths.objects import consensus_of, match_objects
from kalos_core.pairs import Pairs, compute_pairs
from kalos_core.pixels import ClassPixelAgreement, PixelAgreement
from kalos_core.ranking import DetectorRanking, ModelRanking, SystemRanking
from kalos_core.variation import Variations, variations

OF_WHOLE_IMAGES = ("labels", "ranking")
"""Kinds of runs that read no marks."""

OF_PIXELS = ("pixels", "truth", "detectors")
"""Kinds of runs that read masks, unless they say that they are of objects."""


def _reads_masks(run: Run) -> bool:
    return run.kind in OF_PIXELS and run.settings.get("of") != "objects"


def restore(samples: Any, run: Run, stored: Mapping[str, NDArray[Any]]) -> Run:
    """The result of a stored run; only images whose labels have changed are compared again."""
    if run.kind in OF_WHOLE_IMAGES:
        return _restore_of_images(samples, run, stored)
    if _reads_masks(run):
        return _restore_of_masks(samples, run, stored)
    labels = read_labels(samples, run.choice, _compared(run), again=True)
    annotations = labels.annotations
    stale, gone = _changes(annotations.images, labels.hashes, stored)
    changed = (*annotations.images[stale], *gone)
    if run.kind == "calibration":
        return replace(run, result=calibrate(annotations, **run.settings), stale=changed)
    if run.kind == "noise":  # what was drawn stays what it was
        return replace(run, result=InjectedNoise.of(stored), stale=changed)
    if run.kind == "detectors":  # what models scored under the truths of then
        return replace(run, result=stored_result(run.settings, run.figures, run.diagnostics, stored), stale=changed)
    pairs = _stored_pairs(annotations, stored, stale, run.settings["similarity"])
    result: Agreement | Variations | LabelConvergence | ObjectTruths
    if run.kind == "agreement":
        result = agreement(annotations, **run.settings, pairs=pairs)
    elif run.kind == "convergence":
        result = converge(annotations, run.settings, pairs)
    elif run.kind == "truth":
        result = consensus_of(match_objects(annotations, run.settings, pairs), run.settings)
    else:
        result = variations(annotations, **run.settings, pairs=pairs)
    return replace(run, result=result, stale=changed)


def _restore_of_images(samples: Any, run: Run, stored: Mapping[str, NDArray[Any]]) -> Run:
    """The same of a run on whole images: little enough to be computed anew."""
    labels = _images_again(samples, run)
    stale, gone = _changes(labels.images, labels.hashes, stored)
    result: LabelFindings | SystemRanking
    if run.kind == "labels":
        result = find_all(labels.table, run.settings, lambda *_: None)
    else:
        result = rank_again(labels.table, run.settings, stored)
    return replace(run, result=result, stale=(*labels.images[stale], *gone))


def _images_again(samples: Any, run: Run) -> ImageLabels:
    groups = groups_from_record(run.settings["groups"])
    return read_image_labels(samples, run.choice, groups, run.settings["on_repeat"], again=True)


def _restore_of_masks(samples: Any, run: Run, stored: Mapping[str, NDArray[Any]]) -> Run:
    """The same of a run on masks, as it was stored: pixels are not counted again."""
    masks = _masks_again(samples, run)
    stale, gone = _changes(masks.images, masks.digests(), stored)
    result: PixelAgreement | ClassPixelAgreement | PixelTruths | DetectorRanking | ModelRanking
    if run.kind == "pixels":
        result = stored_agreement(list(run.settings["classes"]), run.figures["raters"], run.diagnostics, stored)
    elif run.kind == "truth":
        result = PixelTruths.of(stored)
    else:
        result = stored_result(run.settings, run.figures, run.diagnostics, stored)
    return replace(run, result=result, stale=(*masks.images[stale], *gone))


def _masks_again(samples: Any, run: Run) -> RaterMasks:
    return read_masks(samples, run.choice, ignore_value=run.settings["ignore_value"])


def stale_samples(samples: Any, run_key: str) -> list[str]:
    """Ids of the samples of a run whose labels have changed since, or that are gone."""
    run = load_figures(samples, run_key)
    view, stored = load_run_view(samples, run_key), load_arrays(samples, run_key)
    if run.kind in OF_WHOLE_IMAGES:
        labels = _images_again(view, run)
        images, hashes = labels.images, labels.hashes
    elif _reads_masks(run):
        masks = _masks_again(view, run)
        images, hashes = masks.images, masks.digests()
    else:
        marks = read_labels(view, run.choice, _compared(run), again=True)
        images, hashes = marks.annotations.images, marks.hashes
    stale, gone = _changes(images, hashes, stored)
    return [*images[stale], *gone]


def _compared(run: Run) -> list[str]:
    """The similarities a run was told."""
    settings = run.settings
    return list(settings["similarities"]) if run.kind == "calibration" else [settings["similarity"]]


def _changes(
    images: NDArray[np.object_], hashes: NDArray[np.object_], stored: Mapping[str, NDArray[Any]]
) -> tuple[NDArray[np.bool_], list[str]]:
    """(I,) which images differ from those a run read, and the ids of those that are there no more."""
    hash_of = dict(zip(stored["image_ids"].tolist(), stored["hashes"].tolist(), strict=True))
    stale = [hash_of.get(image) != digest for image, digest in zip(images, hashes, strict=True)]
    return np.array(stale, dtype=np.bool_), sorted(set(hash_of) - set(images))


def pack_result(labels: Labels, pairs: Pairs, **arrays: NDArray[Any]) -> str:
    """What every run with pairs stores: whose labels it read, their digests, the similarities, and `arrays`."""
    return digest_arrays(
        labels,
        left=pairs.left,
        right=pairs.right,
        similarity=pairs.similarity,
        floor=np.array(pairs.floor),
        **arrays,
    )


def _stored_pairs(
    annotations: Annotations, stored: Mapping[str, NDArray[Any]], stale: NDArray[np.bool_], similarity: str
) -> Pairs:
    """The stored pairs of unchanged images, in today's rows, with those of changed images computed now."""
    row_of = {label_id: row for row, label_id in enumerate(annotations.id)}
    today = np.array([row_of.get(label_id, -1) for label_id in stored["label_ids"].tolist()], dtype=np.intp)
    left, right = today[stored["left"]], today[stored["right"]]
    valid = (left >= 0) & (right >= 0)
    valid[valid] = ~stale[annotations.image[left[valid]]]
    floor = float(stored["floor"])
    pairs = Pairs(left, right, stored["similarity"], similarity, floor).keep(valid)
    changed = np.flatnonzero(stale[annotations.image])
    fresh = compute_pairs(annotations.select(rows=changed), similarity, floor)
    left = np.concatenate([pairs.left, changed[fresh.left]])
    right = np.concatenate([pairs.right, changed[fresh.right]])
    place = np.empty(len(annotations), np.intp)
    place[np.lexsort((annotations.rater, annotations.image))] = np.arange(len(annotations))
    order = np.lexsort((place[right], place[left]))  # as computed anew, so that nothing depends on it
    values = np.concatenate([pairs.similarity, fresh.similarity])
    return Pairs(left[order], right[order], values[order], similarity, floor)
