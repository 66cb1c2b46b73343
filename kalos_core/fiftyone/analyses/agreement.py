"""Agreement on FiftyOne: the run that matches raters, with all its diagnostics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import fiftyone as fo

from kalos_core._agreement import Agreement, agreement, check_comparable
from kalos_core.diagnostics.thresholds import THRESHOLDS
from kalos_core.fiftyone.analyses.steps import COMPARING, READING, WRITING
from kalos_core.fiftyone.analyses.storing import pack_result
from kalos_core.fiftyone.diagnostics import diagnostic_figures, pair_image_alphas, plain, stored_units
from kalos_core.fiftyone.labels import (
    LabelAttribute,
    LabelChoice,
    check_samples,
    read_labels,
    similarity_to_store,
    write_values,
)
from kalos_core.fiftyone.progress import Progress, Report
from kalos_core.fiftyone.runs import Run, RunNames, check_run_key, label_schema, writing
from kalos_core.pairs import compute_pairs
from kalos_core.similarity import check_threshold

DIAGNOSING = 0.5
"""Share of the work done when the diagnostics begin."""


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
    thresholds: Sequence[float] = THRESHOLDS,
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
        See `default_similarity`.
    threshold, solver, cost, bootstrap, seed
        As in `kalos_core.agreement`.
    thresholds : sequence of float
        Of the sensitivity curve, whose similarities are stored from the least of them upwards; empty for none.
    choice : LabelChoice, optional
        Which labels are read; or its fields as `options`: ``raters``, ``field``, ``rater_attribute``, ``reference``,
        ``classes``, ``min_area``, ``min_confidence``, ``assigned``.
    progress : callable or bool, optional
        ``progress(share, label)``; True: a progress bar on the terminal.

    Returns
    -------
    Run
        Its `result` is an `Agreement`; its `diagnostics` are described at `diagnostic_figures`.

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
        floor = min(check_threshold(value, "thresholds") for value in (threshold, *thresholds))
        report(READING, "Reading labels")
        measure = similarity_to_store(samples, choice, similarity)
        labels = read_labels(samples, choice, [measure])
        report(COMPARING, f"Comparing {len(labels.annotations):,} annotations")
        check_comparable(labels.annotations)
        pairs = compute_pairs(labels.annotations, measure, floor)
        result = agreement(labels.annotations, measure, threshold, solver, cost, bootstrap, seed, pairs=pairs)
        report(DIAGNOSING, "Looking at thresholds, classes and raters")
        diagnostics = diagnostic_figures(result, thresholds)
        pair_alphas = pair_image_alphas(result)
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
                plain(result.image_alpha),
            )
            draft.figures = agreement_figures(result)
            draft.diagnostics = diagnostics
            draft.arrays = pack_result(labels, result.pairs, **stored_units(result), **pair_alphas)
        report(1.0, "Done")
    return Run(run_key, "agreement", settings, labels.choice, draft.figures, labels.fields, diagnostics, result)


def agreement_figures(result: Agreement) -> dict[str, Any]:
    """The figures of an agreement as plain values, None for what is undefined."""
    annotations = result.annotations
    return {
        "notation": result.notation,
        "alpha": plain(result.alpha),
        "alpha_interval": plain(result.alpha_interval),
        "global_alpha": plain(result.global_alpha),
        "global_alpha_interval": plain(result.global_alpha_interval),
        "band": result.band,
        "alpha_without_empty": plain(result.alpha_without_empty),
        "images": len(annotations.images),
        "defined_images": result.defined_images,
        "undefined_images": result.undefined_images,
        "empty_images": result.empty_images,
        "annotations": len(annotations),
        "units": len(result.units),
        "raters": list(annotations.raters),
    }
