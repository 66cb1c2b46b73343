"""Agreement on FiftyOne: the run that matches raters, with all diagnostics."""

from __future__ import annotations

from typing import Any

from kalos_core._agreement import AgreementSettings, agreement
from kalos_core.arrays import give_back_memory
from kalos_core.diagnostics import diagnose
from kalos_core.diagnostics.sums import ImageSums
from kalos_core.errors import Undefined
from kalos_core.fiftyone.dataset.objects import read_labels
from kalos_core.fiftyone.dataset.samples import check_sizes
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.dataset.writing import picked
from kalos_core.fiftyone.kinds.agreement.kind import AGREEMENT
from kalos_core.fiftyone.kinds.agreement.settings import (
    AgreementDetails,
    AgreementRun,
    AgreementRunArguments,
    AgreementRunSettings,
    attribute_records,
)
from kalos_core.fiftyone.kinds.agreement.stored import arrays_of
from kalos_core.fiftyone.kinds.agreement.values import queue_index, sample_values
from kalos_core.fiftyone.kinds.calibration.kind import default_threshold
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.life import COMPARING, STORING, Found, analysing, store
from kalos_core.nominal import attribute_agreement
from kalos_core.options import takes
from kalos_core.pairs import pairs_of
from kalos_core.pixels import unit_boundaries
from kalos_core.pixels.rater_boundaries import check_outlines
from kalos_core.results import plain_values
from kalos_core.similarity import SIMILARITIES

DIAGNOSING = 0.5
"""Fraction of the work completed when the diagnostics begin."""


@takes(AgreementRunArguments)
def compute_agreement(samples: Any, run_key: str, settings: AgreementRunArguments) -> AgreementRun:
    """Match raters and compute their agreement on a data set or view; see `kalos_core.agreement`.

    The run writes the label attribute ``<run_key>_unit`` and these sample fields:

    - ``<run_key>_alpha``, None where undefined, and the alphas of classes, raters and pairs of raters, which sort
      views;
    - ``<run_key>_threshold_alphas``, a list in the order of the `thresholds`;
    - for `decide`: the units in dispute in ``<run_key>_queue``, the number of open disputes in
      ``<run_key>_disputes``, and the decisions in ``<run_key>_decisions``;
    - ``<run_key>_next``, which is empty until `next_to_rate` is called;
    - with `boundaries`: ``<run_key>_boundary``, the mean boundary distance on each image, None without any distance;
    - with `attributes`: ``<run_key>_attributes``, the mean difference of each attribute on each image, in the order
      of the attributes.

    Similarities are stored from the smallest threshold upwards. The loss begins at the threshold that
    `choose_threshold` chose for this similarity, else at `threshold`. `unit_boundaries_of` returns the boundary
    distances, and the `details` hold the agreement on each attribute.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        A Python identifier; no field derived from it may exist yet.
    progress : callable or bool, optional
        Function called as ``progress(share, label)``, or True for a progress bar on the terminal.

    Returns
    -------
    Run
        Its `result` is an `Agreement`; its `details` are a `Diagnosis` without image alphas.

    Raises
    ------
    InputError
        If the input cannot be used; nothing is written in this case.

    Examples
    --------
    >>> import fiftyone as fo
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
    names = RunNames(run_key)
    with analysing(samples, run_key, settings.progress) as report:
        compared = attribute_records(settings.attributes)
        attributes = [of["name"] for of in compared]
        labels = read_labels(samples, settings.part(Selection), [settings.similarity], attributes=attributes)
        (measure,) = labels.similarities
        told = settings.part(AgreementRunSettings, similarity=measure)
        calibrated = default_threshold(samples, measure) if len(told.thresholds) else None
        floor = min([told.threshold, *told.thresholds, *([] if calibrated is None else [calibrated])])
        if told.boundaries:
            check_sizes(labels.annotations.files, labels.annotations.image_size)
            check_outlines(labels.annotations)
        report(COMPARING, f"Comparing {len(labels.annotations):,} annotations")
        pairs = pairs_of(labels.annotations, SIMILARITIES[measure], floor)
        result = agreement(labels.annotations, **told.part(AgreementSettings).record(), pairs=pairs)
        give_back_memory()
        report(DIAGNOSING, "Looking at thresholds, classes and raters")
        apart = unit_boundaries(result, tolerance=told.tolerance, bootstrap=0) if told.boundaries else None
        more: Any = {"bootstrap": told.bootstrap, "seed": told.seed}
        graded = [
            attribute_agreement(result, of["name"], metric=of["metric"], order=of["order"], **more) for of in compared
        ]
        sums = ImageSums.of(result)
        details = diagnose(result, list(told.thresholds), calibrated, sums)
        give_back_memory()
        report(STORING, f"Writing {len(result.units):,} units")
        stored = [of.without_items() for of in graded]
        curve = details.sensitivity
        thresholds: Any = [] if isinstance(curve, Undefined) else curve.threshold
        found = Found(
            settings=plain_values(told.record()),
            metrics=plain_values({**result.summary(), "thresholds": thresholds}),
            details=AgreementDetails(**vars(details.without_image_alphas()), attributes=stored),
            result=result,
            arrays=lambda: arrays_of(labels, result, sums, apart),
            on_samples=sample_values(result, details, sums.pair_alphas, apart, graded, names),
            on_labels=picked({names.unit: result.unit_of}),
            index=queue_index(names),
        )
        return store(AGREEMENT, labels, run_key, found, report)
