"""Agreement on FiftyOne: the run that matches raters, with all its diagnostics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import fiftyone as fo
import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, AgreementSettings, agreement, check_comparable
from kalos_core.arrays import give_back_memory
from kalos_core.diagnostics import AlphasByImage, Diagnosis, diagnose
from kalos_core.diagnostics.sums import ImageSums
from kalos_core.errors import Undefined
from kalos_core.fiftyone.dataset.database import FieldArguments, add_index
from kalos_core.fiftyone.dataset.objects import read_labels
from kalos_core.fiftyone.dataset.samples import check_sizes
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.dataset.similarities import similarity_to_store
from kalos_core.fiftyone.dataset.writing import Values, names_in, nested, or_none, picked, write_values
from kalos_core.fiftyone.kinds.agreement.attributes import compare_attributes, differences_of_images
from kalos_core.fiftyone.kinds.agreement.boundaries import boundary_arrays
from kalos_core.fiftyone.kinds.agreement.kind import (
    AGREEMENT,
    AgreementDetails,
    AgreementRun,
    agreement_metrics,
)
from kalos_core.fiftyone.kinds.agreement.lens import stored_sums
from kalos_core.fiftyone.kinds.agreement.queue import QUEUE, queue_index, queue_values
from kalos_core.fiftyone.kinds.agreement.settings import (
    AgreementRunArguments,
    AgreementRunSettings,
    attribute_records,
)
from kalos_core.fiftyone.kinds.matched import label_schema, matched_arrays
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.life import COMPARING, STORING, analysing, writing
from kalos_core.fiftyone.runs.thresholds import default_threshold
from kalos_core.options import takes
from kalos_core.pairs import compute_pairs
from kalos_core.pixels import unit_boundaries
from kalos_core.pixels.rater_boundaries import check_outlines
from kalos_core.results import plain_values
from kalos_core.similarity import get_similarity

DIAGNOSING = 0.5
"""Share of the work done when the diagnostics begin."""


@takes(AgreementRunArguments)
def compute_agreement(samples: Any, run_key: str, settings: AgreementRunArguments) -> AgreementRun:
    """Match raters and compute their agreement on a data set or view; see `kalos_core.agreement`.

    Writes the sample field ``<run_key>_alpha`` (None where undefined) with those of classes, raters and pairs of
    raters, by which views are sorted, ``<run_key>_threshold_alphas``, a list in the order of the `thresholds`, and the
    label attribute ``<run_key>_unit``; and for `decide` the units in dispute in ``<run_key>_queue``, how many of them
    are open in ``<run_key>_disputes``, and what was decided in ``<run_key>_decisions``.

    Similarities are stored from the least of the thresholds upwards; the loss begins at the threshold that
    `choose_threshold` chose for this similarity, else at `threshold`. With `boundaries`, `unit_boundaries_of` has the
    distances and ``<run_key>_boundary`` their mean on each image, None without any; with `attributes` the `details`
    have the agreement on each, and ``<run_key>_attributes`` how far its values are apart in the mean on each image, in
    the same order.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        A Python identifier none of whose names exists yet.
    progress : callable or bool, optional
        ``progress(share, label)``; True: a progress bar on the terminal.

    Returns
    -------
    Run
        Its `result` is an `Agreement`; its `details` a `Diagnosis` without alphas of images.

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
    chosen = settings.part(Selection)
    with analysing(samples, run_key, settings.progress) as report:
        measure = similarity_to_store(samples, chosen, settings.similarity)
        told = settings.part(AgreementRunSettings, similarity=measure)
        calibrated = default_threshold(samples, measure) if len(told.thresholds) else None
        floor = min([told.threshold, *told.thresholds, *([] if calibrated is None else [calibrated])])
        compared = attribute_records(told.attributes)
        labels = read_labels(samples, chosen, [measure], attributes=[of["name"] for of in compared])
        if told.boundaries:
            check_sizes(labels.annotations.files, labels.annotations.image_size)
            check_outlines(labels.annotations)
        report(COMPARING, f"Comparing {len(labels.annotations):,} annotations")
        check_comparable(labels.annotations)
        pairs = compute_pairs(labels.annotations, get_similarity(measure), floor)
        result = agreement(labels.annotations, **told.part(AgreementSettings).record(), pairs=pairs)
        give_back_memory()
        report(DIAGNOSING, "Looking at thresholds, classes and raters")
        apart = unit_boundaries(result, tolerance=told.tolerance, bootstrap=0) if told.boundaries else None
        graded = compare_attributes(result, compared)
        sums = ImageSums.of(result)
        details = diagnose(result, list(told.thresholds), calibrated, sums)
        names = RunNames(run_key)
        columns = {} if apart is None else {names.boundary: apart.by_image()["average"].to_numpy()}
        columns |= {names.attributes: differences_of_images(result, graded)} if graded else {}
        values = _sample_values(result, details, sums.pair_alphas, names, columns)
        fields: dict[str, FieldArguments] = {name: {"ftype": fo.ListField} for name in names_in(values)} | {
            names.alpha: {"ftype": fo.FloatField},
            **({} if apart is None else {names.boundary: {"ftype": fo.FloatField}}),
            names.class_names: {"ftype": fo.ListField, "subfield": fo.StringField},
            **{getattr(names, name): arguments for name, arguments in QUEUE.items()},
            **label_schema(labels, {names.unit: {"ftype": fo.IntField}}),
        }
        give_back_memory()
        report(STORING, f"Writing {len(result.units):,} units")
        with writing(AGREEMENT, labels, run_key, plain_values(told.record()), fields) as draft:
            units = picked({names.unit: result.unit_of})
            write_values(labels, units, values, report.within(STORING, 1.0, "Writing"))
            add_index(labels.view, queue_index(names))
            draft.metrics = agreement_metrics(result, details)
            stored = [of.without_items() for of in graded]
            draft.details = AgreementDetails(**vars(details.without_image_alphas()), attributes=stored)
            draft.arrays = matched_arrays(labels, result.pairs) | stored_sums(sums, result.unit_of)
            draft.arrays |= {} if apart is None else boundary_arrays(apart)
            draft.result = result
    return draft.run


def _sample_values(
    result: Agreement,
    details: Diagnosis,
    pair_alphas: NDArray[np.float64],
    names: RunNames,
    columns: Mapping[str, NDArray[np.float64]],
) -> Values:
    """Fields of samples: alpha of the image, of its classes, raters and pairs of raters, and at each threshold.

    Classes that occur in an image are listed with their alphas, and with those of each rater; those of raters and pairs
    stand in the order of the raters, and of ``numpy.triu_indices``. `columns` are further ones, a row an image.
    """
    alphas, curve, queue = AlphasByImage(result), details.sensitivity, queue_values(result, names)

    def values(images: NDArray[np.intp]) -> dict[str, Any]:
        found = alphas.of(*((int(images[0]), int(images[-1]) + 1) if len(images) else (0, 0)))
        made: dict[str, Any] = {
            names.alpha: or_none(result.image_alpha[images]),
            names.class_names: nested(found.category, found.count),
            names.class_alphas: nested(found.class_alpha, found.count),
            **queue(images),
        }
        if not result.annotations.raters_are_local:
            made |= {
                names.rater_alphas: or_none(found.rater_alpha),
                names.class_rater_alphas: nested(found.class_rater_alpha, found.count),
                names.pair_alphas: or_none(pair_alphas[images]),
            }
        made |= {name: or_none(column[images]) for name, column in columns.items()}
        if not isinstance(curve, Undefined):
            made[names.threshold_alphas] = or_none(curve.image_alpha.T[images])
        return made

    return values
