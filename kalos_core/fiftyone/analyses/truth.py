"""Estimated truth on FiftyOne: of pixels as masks, of objects as labels, each a field beside those of the raters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import fiftyone as fo

from kalos_core._agreement import check_comparable
from kalos_core.annotations.table import object_array
from kalos_core.consensus import TRUTH_METHODS, ClassTruth, Truth
from kalos_core.consensus import estimate_truth as estimate
from kalos_core.consensus.instances import Ties
from kalos_core.errors import InputError, listed, lookup
from kalos_core.fiftyone.analyses.steps import COMPARING, READING, WRITING
from kalos_core.fiftyone.analyses.storing import pack_result
from kalos_core.fiftyone.labels import (
    LabelChoice,
    Labels,
    check_samples,
    read_labels,
    similarity_to_store,
    write_documents,
)
from kalos_core.fiftyone.masks import TRUTH, MapFiles, RaterMasks, map_field, read_masks
from kalos_core.fiftyone.masks.fields import fields_of_masks
from kalos_core.fiftyone.progress import Progress, Report
from kalos_core.fiftyone.raters import ASSIGNED_FIELD, derive_field_names
from kalos_core.fiftyone.runs import Run, RunNames, check_run_key, new_folder, pack, writing
from kalos_core.fiftyone.truths import (
    ObjectTruths,
    PixelTruths,
    TruthCounter,
    declared_fields,
    object_documents,
    object_rows,
    quorum_names,
)
from kalos_core.fiftyone.truths.objects import check_sizes, consensus_of, kind_of, match_objects

METHODS = ("0.5", "staple")
"""Truths of pixels unless others are asked for."""

MOST_NOTES = 100
"""Notes on single images that are stored."""

Subject = Literal["auto", "pixels", "objects"]


def estimate_truth(
    samples: Any,
    run_key: str,
    *,
    methods: str | Sequence[str] = METHODS,
    quorum: float | Sequence[float] = 0.5,
    of: Subject = "auto",
    ignore_value: int | None = None,
    similarity: str | None = None,
    threshold: float = 0.5,
    solver: str = "greedy",
    cost: str = "soft",
    ties: Ties = "apart",
    region: Literal["vote", "staple"] = "vote",
    choice: LabelChoice | None = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> Run:
    """Estimate what is true from what several raters marked, each truth as a field beside theirs.

    Of pixels: a `Segmentation` field for each method, called after the run key and the method, with its files beside
    FiftyOne's data sets. Of objects: a label field for each quorum, from the objects that raters are matched on: the
    confidence of a label is the share of the raters asked who drew it, and ``<run_key>_match`` the ids of their labels
    it is made of. Such a field serves as ``gt_field`` of FiftyOne's ``evaluate_detections``, and its COCO exporter
    writes the confidence as score; so does ``write_coco(consensus.annotations, path, consensus.fields())`` of
    `kalos_core`. Deleting the run removes the fields and the files.

    Parameters
    ----------
    samples, run_key, progress
        As in `compute_agreement`.
    methods : names in `kalos_core.consensus.TRUTH_METHODS`
        Of pixels.
    quorum : float or sequence of float
        Of objects: least share of the raters asked who drew it.
    of : "auto", "pixels" or "objects"
        Auto: pixels of `Segmentation` masks, objects of all other labels. Pixels of drawn labels are those of all
        labels of a rater together.
    ignore_value : int, optional
        A pixel that any rater gives this value counts for nothing.
    similarity, threshold, solver, cost
        How raters are matched on objects, as in `kalos_core.agreement`.
    ties, region
        As in `kalos_core.consensus.instance_consensus`.
    choice, **options
        Which masks are read, see `read_masks`, or which labels, as in `compute_agreement`.

    Returns
    -------
    Run
        Its `result` is a `PixelTruths`, or a dict of the name of a quorum to an `InstanceConsensus`.

    Raises
    ------
    InputError
        For input that cannot be used. Nothing is kept then, nor of a run that is stopped half-way.

    Examples
    --------
    >>> dataset = fo.Dataset()
    >>> size = fo.ImageMetadata(width=100, height=100)
    >>> def cats(*boxes):
    ...     return fo.Detections(detections=[fo.Detection(label="cat", bounding_box=box) for box in boxes])
    >>> near, far = [0.1, 0.1, 0.5, 0.5], [0.7, 0.7, 0.2, 0.2]
    >>> drawn = {"ann": cats(near), "bob": cats([0.1, 0.1, 0.5, 0.4]), "cid": cats(far)}
    >>> _ = dataset.add_sample(fo.Sample("a.jpg", metadata=size, raters=list(drawn), **drawn))
    >>> run = estimate_truth(dataset, "truth", raters=tuple(drawn))
    >>> run.figures["fields"]
    {'quorum 0.5': 'truth_quorum_0_5'}
    >>> (cat,) = dataset.first().truth_quorum_0_5.detections
    >>> [round(value, 3) for value in cat.bounding_box], round(cat.confidence, 3)
    ([0.1, 0.1, 0.5, 0.45], 0.667)
    >>> dataset.delete()
    """
    chosen = LabelChoice.of(choice, options)
    lookup(dict.fromkeys(("auto", "pixels", "objects")), of, "of")
    with Report(progress) as report:
        check_samples(samples)
        check_run_key(samples, run_key)
        report(READING, "Reading labels")
        if of == "pixels" or (of == "auto" and fields_of_masks(samples, chosen) is not None):
            names = [methods] if isinstance(methods, str) else list(dict.fromkeys(methods))
            run = _of_pixels(samples, run_key, names, ignore_value, chosen, report)
        else:
            settings = {
                "of": "objects",
                "similarity": similarity_to_store(samples, chosen, similarity),
                "threshold": threshold,
                "solver": solver,
                "cost": cost,
                "ties": ties,
                "region": region,
                "quorum": list(quorum_names(quorum).values()),
            }
            run = _of_objects(samples, run_key, settings, chosen, report)
        report(1.0, "Done")
    return run


def _fields_of(samples: Any, run_key: str, truths: Sequence[str]) -> dict[str, str]:
    """Truth -> a field of its own, none of them there already."""
    names = RunNames(run_key)
    wanted = [names.of_truth(truth) for truth in truths]
    taken = [*samples._root_dataset.get_field_schema(), ASSIGNED_FIELD]
    return dict(zip(truths, derive_field_names(wanted, taken).values(), strict=True))


# ---- pixels ----


def _of_pixels(
    samples: Any, run_key: str, methods: list[str], ignore_value: int | None, choice: LabelChoice, report: Report
) -> Run:
    if not methods:
        raise InputError(f"methods: expected at least one of {listed(TRUTH_METHODS, 20)}, got none")
    for method in methods:
        lookup(TRUTH_METHODS, method, "methods")
    masks = read_masks(samples, choice, ignore_value=ignore_value)
    fields, folder = _fields_of(samples, run_key, methods), new_folder(samples._root_dataset)
    settings = {"of": "pixels", "methods": methods, "ignore_value": ignore_value, "classes": masks.values}
    declared = {
        field: map_field(fo.Segmentation, f"Truth by {method}, of the run {run_key!r}", {TRUTH: run_key})
        for method, field in fields.items()
    }
    with writing(masks, run_key, "truth", settings, declared, folder) as draft:
        files = MapFiles(folder, masks.images.tolist())
        counter = TruthCounter(methods, masks.classes, masks.raters, len(masks))
        digests = _estimate(masks, fields, files, counter, report)
        table = counter.result()
        if not table.seen.any():
            raise InputError("raters: expected an image that at least two raters were asked about, got none")
        report(WRITING, f"Writing {len(fields):,} fields")
        write_documents(masks.view, masks.images.tolist(), files.documents)
        draft.figures = {
            "of": "pixels",
            "fields": fields,
            "raters": list(masks.raters),
            "images": int((table.marked >= 0).any(axis=(0, 1)).sum()),
            "classes": masks.classes,
        }
        draft.diagnostics = {
            "truths": table.rows(),
            "notes": [{"image": masks.name(i), "truth": truth, "note": said} for i, truth, said in counter.notes][
                :MOST_NOTES
            ],
        }
        draft.arrays = pack(
            image_ids=masks.images.astype(str), hashes=object_array(digests).astype(str), **table.arrays()
        )
    return _run(run_key, settings, masks, draft, table)


def _estimate(
    masks: RaterMasks, fields: dict[str, str], files: MapFiles, counter: TruthCounter, report: Report
) -> list[str]:
    """The truths of every image, written as files and counted; the digest of every image."""
    digests = [""] * len(masks)
    for number, found in enumerate(masks):
        report(WRITING * number / len(masks), f"{masks.name(found.image)}: {number + 1:,} of {len(masks):,} images")
        digests[found.image] = found.digest
        by_class: dict[str, list[Truth]] = {}
        for name, stack in found.stacks.items():
            if len(stack.raters) > 1:
                by_class[name] = [estimate(stack, method) for method in fields]
                counter.add(found.image, masks.classes.index(name), by_class[name])
        for place, field in enumerate(fields.values()) if by_class else ():
            files.add_mask(field, found.image, _map_of(masks, {name: each[place] for name, each in by_class.items()}))
    return digests


def _map_of(masks: RaterMasks, truths: dict[str, Truth]) -> Any:
    """A binary mask, or one map of all classes."""
    if masks.is_binary:
        (truth,) = truths.values()
        return truth.mask
    return ClassTruth(object_array([masks.values[name] for name in truths]).astype(int), truths).labels


# ---- objects ----


def _of_objects(samples: Any, run_key: str, settings: dict[str, Any], choice: LabelChoice, report: Report) -> Run:
    labels = read_labels(samples, choice, [settings["similarity"]])
    check_sizes(labels)
    check_comparable(labels.annotations)
    report(COMPARING, f"Matching {len(labels.annotations):,} annotations")
    matched = match_objects(labels.annotations, settings)
    truths = consensus_of(matched, settings)
    fields = _fields_of(samples, run_key, list(truths))
    kind = kind_of(truths)
    report(WRITING, f"Writing {len(fields):,} fields")
    with writing(labels, run_key, "truth", settings, declared_fields(run_key, fields, kind)) as draft:
        documents = object_documents(run_key, truths, fields, kind)
        write_documents(labels.view, labels.annotations.images.tolist(), documents)
        draft.figures = {
            "of": "objects",
            "fields": fields,
            "raters": labels.annotations.raters.tolist(),
            "images": int(labels.annotations.assigned.any(axis=1).sum()),
            "classes": labels.annotations.categories.tolist(),
        }
        draft.diagnostics = {"truths": object_rows(matched, truths), "notes": []}
        draft.arrays = pack_result(labels, matched.pairs)
    return _run(run_key, settings, labels, draft, truths)


def _run(
    run_key: str, settings: dict[str, Any], read: RaterMasks | Labels, draft: Any, result: PixelTruths | ObjectTruths
) -> Run:
    return Run(
        key=run_key,
        kind="truth",
        settings=settings,
        choice=read.choice,
        figures=draft.figures,
        label_fields=read.fields,
        diagnostics=draft.diagnostics,
        result=result,
    )
