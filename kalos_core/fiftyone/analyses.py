"""The analyses on FiftyOne: read a view's labels, compute, write the result under a run key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import fiftyone as fo
import numpy as np
from numpy.typing import NDArray

from kalos_core.agreement import Agreement, agreement
from kalos_core.annotations import Annotations
from kalos_core.fiftyone.labels import (
    LabelAttribute,
    LabelChoice,
    Labels,
    check_samples,
    default_similarity,
    read_labels,
    write_values,
)
from kalos_core.fiftyone.progress import Progress, Report
from kalos_core.fiftyone.runs import (
    Run,
    RunNames,
    check_run_key,
    label_schema,
    load_arrays,
    load_figures,
    load_run_view,
    pack,
    writing,
)
from kalos_core.pairs import Pairs, compute_pairs
from kalos_core.variations import Variations, variations

READING, COMPARING, WRITING = 0.0, 0.2, 0.7
"""Share of the work done when each step begins."""


def compute_agreement(
    samples: Any,
    run_key: str,
    *,
    similarity: str | None = None,
    threshold: float = 0.5,
    solver: str = "greedy",
    cost: str = "soft",
    bootstrap: int = 1000,
    seed: int = 0,
    choice: LabelChoice | None = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> Run:
    """Match raters and compute their agreement on a data set or view; see `kalos_core.agreement`.

    Writes the sample field ``<run_key>_alpha`` (None where undefined) and the label attribute ``<run_key>_unit``.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        A Python identifier none of whose names exists yet.
    similarity : name in `SIMILARITIES`, optional
        By default polygons if every rater has polylines, else boxes.
    threshold, solver, cost, bootstrap, seed
        As in `kalos_core.agreement`.
    choice : LabelChoice, optional
        Which labels are read; or its fields as `options`: ``raters``, ``field``, ``rater_attribute``, ``reference``,
        ``classes``, ``min_area``, ``min_confidence``, ``assigned``.
    progress : callable or bool, optional
        ``progress(share, label)``; True: a progress bar on the terminal.

    Returns
    -------
    Run
        Its `result` is an `Agreement`.

    Raises
    ------
    InputError
        For input that cannot be used; nothing is written then.

    Examples
    --------
    >>> dataset = fo.Dataset()
    >>> cat = dict(label="cat", bounding_box=[0.1, 0.1, 0.5, 0.5])
    >>> _ = dataset.add_sample(
    ...     fo.Sample(
    ...         "a.jpg",
    ...         raters=["ann", "bob"],
    ...         ann=fo.Detections(detections=[fo.Detection(**cat)]),
    ...         bob=fo.Detections(detections=[fo.Detection(**cat)]),
    ...     )
    ... )
    >>> run = compute_agreement(dataset, "first", raters=("ann", "bob"))
    >>> run.result.alpha, dataset.first()["first_alpha"], dataset.first().ann.detections[0]["first_unit"]
    (1.0, 1.0, 0)
    >>> dataset.delete()
    """
    choice = LabelChoice.of(choice, options)
    with Report(progress) as report:
        check_samples(samples)
        check_run_key(samples, run_key)
        report(READING, "Reading labels")
        labels = read_labels(samples, choice)
        report(COMPARING, f"Comparing {len(labels.annotations):,} annotations")
        measure = similarity or default_similarity(samples, choice)
        result = agreement(labels.annotations, measure, threshold, solver, cost, bootstrap, seed)
        settings = asdict(result.configuration)
        names = RunNames(run_key)
        fields: dict[str, Mapping[str, Any]] = {
            names.alpha: {"ftype": fo.FloatField},
            **label_schema(labels, {names.unit: {"ftype": fo.IntField}}),
        }
        report(WRITING, f"Writing {len(result.units):,} units")
        with writing(labels, run_key, "agreement", settings, fields) as draft:
            write_values(
                labels,
                [LabelAttribute(names.unit, result.unit_of.tolist())],
                names.alpha,
                [None if np.isnan(value) else value for value in result.image_alpha.tolist()],
            )
            draft.figures = agreement_figures(result)
            draft.arrays = _pack(labels, result.pairs, unit_of=result.unit_of, image_alpha=result.image_alpha)
        report(1.0, "Done")
    return Run(run_key, "agreement", settings, labels.choice, draft.figures, labels.fields, result)


def find_variations(
    samples: Any,
    run_key: str,
    *,
    similarity: str | None = None,
    threshold: float = 0.5,
    max_merge: int = 4,
    choice: LabelChoice | None = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> Run:
    """Name every difference between raters and tag it on the labels; see `kalos_core.variations`.

    Writes three attributes of every label: ``<run_key>`` (its most serious variation type towards any other rater),
    ``<run_key>_similarity`` (the least similarity to a partner, None without one) and ``<run_key>_match`` (ids of the
    partners).

    Parameters
    ----------
    samples, run_key, similarity, choice, progress, **options
        As in `compute_agreement`.
    threshold, max_merge
        As in `kalos_core.variations`.

    Returns
    -------
    Run
        Its `result` is a `Variations`.

    Raises
    ------
    InputError
        For input that cannot be used; nothing is written then.

    Examples
    --------
    >>> dataset = fo.Dataset()
    >>> box = [0.1, 0.1, 0.5, 0.5]
    >>> _ = dataset.add_sample(
    ...     fo.Sample(
    ...         "a.jpg",
    ...         raters=["ann", "bob"],
    ...         ann=fo.Detections(detections=[fo.Detection(label="cat", bounding_box=box)]),
    ...         bob=fo.Detections(detections=[fo.Detection(label="dog", bounding_box=box)]),
    ...     )
    ... )
    >>> run = find_variations(dataset, "first", raters=("ann", "bob"))
    >>> run.result.counts()["wrong_class"], dataset.values("ann.detections.first")
    (1, [['wrong_class']])
    >>> dataset.delete()
    """
    choice = LabelChoice.of(choice, options)
    with Report(progress) as report:
        check_samples(samples)
        check_run_key(samples, run_key)
        report(READING, "Reading labels")
        labels = read_labels(samples, choice)
        report(COMPARING, f"Comparing {len(labels.annotations):,} annotations")
        measure = similarity or default_similarity(samples, choice)
        result = variations(labels.annotations, measure, threshold, max_merge)
        settings = {
            "similarity": result.similarity_name,
            "threshold": result.threshold,
            "max_merge": result.max_merge,
        }
        names = RunNames(run_key)
        attributes: dict[str, Mapping[str, Any]] = {
            names.variation: {"ftype": fo.StringField},
            names.similarity: {"ftype": fo.FloatField},
            names.match: {"ftype": fo.ListField, "subfield": fo.StringField},
        }
        report(WRITING, f"Writing {len(result):,} findings")
        with writing(labels, run_key, "variations", settings, label_schema(labels, attributes)) as draft:
            write_values(labels, _variation_attributes(names, labels.annotations, result))
            draft.figures = variation_figures(result)
            draft.arrays = _pack(labels, result.pairs, **_findings(result))
        report(1.0, "Done")
    return Run(run_key, "variations", settings, labels.choice, draft.figures, labels.fields, result)


def restore(samples: Any, run: Run, stored: Mapping[str, NDArray[Any]]) -> Run:
    """The result of a stored run; only images whose labels have changed are compared again."""
    labels = read_labels(samples, run.choice, again=True)
    annotations = labels.annotations
    stale, gone = _changes(labels, stored)
    pairs = _stored_pairs(annotations, stored, stale, run.settings["similarity"])
    result: Agreement | Variations
    if run.kind == "agreement":
        result = agreement(annotations, **run.settings, pairs=pairs)
    else:
        result = variations(annotations, **run.settings, pairs=pairs)
    return replace(run, result=result, stale=(*annotations.images[stale], *gone))


def stale_samples(samples: Any, run_key: str) -> list[str]:
    """Ids of the samples of a run whose labels have changed since, or that are gone."""
    run = load_figures(samples, run_key)
    labels = read_labels(load_run_view(samples, run_key), run.choice, again=True)
    stale, gone = _changes(labels, load_arrays(samples, run_key))
    return [*labels.annotations.images[stale], *gone]


def _changes(labels: Labels, stored: Mapping[str, NDArray[Any]]) -> tuple[NDArray[np.bool_], list[str]]:
    """(I,) which images differ from those a run read, and the ids of those that are there no more."""
    images = labels.annotations.images
    hash_of = dict(zip(stored["image_ids"].tolist(), stored["hashes"].tolist(), strict=True))
    stale = [hash_of.get(image) != digest for image, digest in zip(images, labels.hashes, strict=True)]
    return np.array(stale, dtype=np.bool_), sorted(set(hash_of) - set(images))


def agreement_figures(result: Agreement) -> dict[str, Any]:
    """The figures of an agreement as plain values, None for what is undefined."""
    annotations = result.annotations
    return {
        "notation": result.notation,
        "alpha": _plain(result.alpha),
        "alpha_interval": [_plain(end) for end in result.alpha_interval],
        "global_alpha": _plain(result.global_alpha),
        "global_alpha_interval": [_plain(end) for end in result.global_alpha_interval],
        "band": result.band,
        "alpha_without_empty": _plain(result.alpha_without_empty),
        "images": len(annotations.images),
        "defined_images": result.defined_images,
        "undefined_images": result.undefined_images,
        "empty_images": result.empty_images,
        "annotations": len(annotations),
        "units": len(result.units),
        "raters": list(annotations.raters),
    }


def variation_figures(result: Variations) -> dict[str, Any]:
    """The figures of a search for variations as plain values."""
    annotations = result.annotations
    confusions = result.confusions()
    return {
        "counts": result.counts(),
        "confusions": [
            {"category_a": a, "category_b": b, "count": int(count)}
            for a, b, count in zip(confusions.category_a, confusions.category_b, confusions.count, strict=True)
        ],
        "by_rater": result.counts_by_rater(),
        "identical_share": _plain(result.identical_share),
        "findings": len(result),
        "images": len(annotations.images),
        "annotations": len(annotations),
        "raters": list(annotations.raters),
    }


def _variation_attributes(names: RunNames, annotations: Annotations, result: Variations) -> list[LabelAttribute]:
    own = result.of_annotations()
    ids = annotations.id
    return [
        LabelAttribute(names.variation, [name or None for name in own.type.tolist()]),
        LabelAttribute(names.similarity, [None if np.isnan(value) else value for value in own.similarity.tolist()]),
        LabelAttribute(names.match, [[ids[row] for row in rows] for rows in own.matches]),
    ]


def _findings(result: Variations) -> dict[str, NDArray[Any]]:
    """The findings as flat arrays: one entry a finding, and one a mark that belongs to it."""
    category = result.annotations.category
    lead = [rows_a or rows_b for rows_a, rows_b in zip(result.rows_a, result.rows_b, strict=True)]
    other = [rows_b or rows_a for rows_a, rows_b in zip(result.rows_a, result.rows_b, strict=True)]
    marks = [(f, row) for f, rows in enumerate(result.rows_a + result.rows_b) for row in rows]
    table = np.array(marks, dtype=np.intp).reshape(-1, 2)
    return {
        "finding_type": result.type,
        "finding_rater_a": result.rater_a,
        "finding_rater_b": result.rater_b,
        "finding_category_a": category[[rows[0] for rows in lead]],
        "finding_category_b": category[[rows[0] for rows in other]],
        "mark_finding": table[:, 0],
        "mark_row": table[:, 1],
        "categories": result.annotations.categories.astype(str),
        "raters": result.annotations.raters.astype(str),
    }


def _pack(labels: Labels, pairs: Pairs, **arrays: NDArray[Any]) -> str:
    annotations = labels.annotations
    return pack(
        image_ids=annotations.images.astype(str),
        hashes=labels.hashes.astype(str),
        label_ids=np.array(annotations.id.tolist(), dtype=str),
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


def _plain(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)
