"""Calibration on FiftyOne: calibrate the similarity threshold, and make it the default of later forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kalos_core.calibration import calibrate
from kalos_core.calibration.compute import CalibrationSettings, Similarities
from kalos_core.display import alpha_text, number_of
from kalos_core.errors import InputError, check_number, lookup, warn
from kalos_core.fiftyone.dataset.database import now
from kalos_core.fiftyone.dataset.document import set_config
from kalos_core.fiftyone.dataset.objects import read_labels
from kalos_core.fiftyone.dataset.opened import fitting_similarities
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.internals import root_of
from kalos_core.fiftyone.kinds.calibration.kind import (
    CALIBRATION,
    CalibrationRun,
    calibration_metrics,
)
from kalos_core.fiftyone.kinds.matched import table_arrays
from kalos_core.fiftyone.runs.explaining import explained
from kalos_core.fiftyone.runs.life import COMPARING, STORING, Found, analysing, store
from kalos_core.fiftyone.runs.progress import RunArguments
from kalos_core.fiftyone.runs.stored import find_run, load_metrics
from kalos_core.options import Replicates, takes
from kalos_core.results import plain_values
from kalos_core.similarity import SIMILARITIES


@dataclass(frozen=True)
class CalibrationRunArguments(CalibrationSettings, RunArguments):
    """Arguments of `calibrate_threshold`; the default is all similarities that fit the labels, with intervals."""

    similarities: Similarities = None
    bootstrap: Replicates = 100


@takes(CalibrationRunArguments)
def calibrate_threshold(samples: Any, run_key: str, settings: CalibrationRunArguments) -> CalibrationRun:
    """Compare annotations of the same object with random pairs of annotations; see `kalos_core.calibrate`.

    Nothing is written on samples or labels; the run itself holds the numbers. `choose_threshold` makes one of them
    the default threshold of later forms. Without `similarities`, all that fit the labels are calibrated, see
    `fitting_similarities`.

    Parameters
    ----------
    samples, run_key, progress
        As in `compute_agreement`.

    Returns
    -------
    Run
        Its `result` is a `Calibration`; its `details` are a `Calibration` without the distances.

    Warns
    -----
    KalosWarning
        As in `kalos_core.calibrate`; samples without metadata have no size.

    Raises
    ------
    InputError
        If the input cannot be used; nothing is stored in this case.

    Examples
    --------
    >>> import fiftyone as fo
    >>> dataset = fo.Dataset()
    >>> def image(name, x, y):
    ...     def labels(shift):
    ...         box = [x + shift, y, 0.2, 0.2]
    ...         return fo.Detections(detections=[fo.Detection(label="cat", bounding_box=box)])
    ...
    ...     size = fo.ImageMetadata(width=640, height=480)
    ...     return fo.Sample(name, metadata=size, raters=["ann", "bob"], ann=labels(0), bob=labels(0.1 * x))
    >>> _ = dataset.add_samples([image(f"{n}.jpg", 0.1 * n, 0.05 * n) for n in range(1, 7)], progress=False)
    >>> run = calibrate_threshold(dataset, "first", similarities=["box_iou"], raters=("ann", "bob"))
    >>> run.metrics["similarities"][0]["name"], run.result.best.ks > 0.5
    ('box_iou', True)
    >>> dataset.delete()
    """
    chosen = settings.part(Selection)
    with analysing(samples, run_key, settings.progress) as report:
        given: Any = settings.similarities
        if given is None:
            given = tuple(name for name in fitting_similarities(samples, chosen) if SIMILARITIES[name].kind)
        several = given if isinstance(given, tuple) else [given]
        names = [lookup(SIMILARITIES, name, "similarities").name for name in several]
        told = settings.part(CalibrationSettings, similarities=names)
        labels = read_labels(samples, chosen, names)
        report(
            COMPARING,
            f"Comparing {number_of(len(labels.annotations), 'annotation')} by {number_of(len(names), 'similarity')}",
        )
        result = calibrate(labels.annotations, **told.record())
        report(STORING, "Storing the calibration")
        found = Found(
            settings=plain_values(told.record()),
            metrics=calibration_metrics(result, labels.annotations),
            details=result.without_distances(),
            result=result,
            arrays=lambda: table_arrays(labels.annotations),
        )
        return store(CALIBRATION, labels, run_key, found, report)


def choose_threshold(samples: Any, run_key: str, similarity: str, threshold: float | None = None) -> CalibrationRun:
    """Make a calibrated threshold the default of later forms; the calibration run stores the choice.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        Key of a calibration run.
    similarity : str
        A similarity that the run calibrated.
    threshold : float in [0, 1], optional
        Threshold to use in place of the calibrated one.

    Returns
    -------
    Run
        Its metrics contain ``chosen``, the chosen threshold of each similarity and the time of the choice.

    Warns
    -----
    KalosWarning
        If the calibrated threshold is not trustworthy (`Separation.why`).

    Raises
    ------
    InputError
        If the run did not calibrate the similarity, or if it found no threshold and none is given.
    """
    run = load_metrics(samples, run_key, "calibration")
    found = lookup({entry["name"]: entry for entry in run.metrics["similarities"]}, similarity, "similarity")
    if threshold is None and found["threshold"] is None:
        raise InputError(f"{similarity}: expected a calibrated threshold, got none: {found['reason']}")
    value = check_number(found["threshold"] if threshold is None else threshold, "threshold", 0, 1)
    if threshold is None and not found["trusted"]:
        text = f"{similarity}: the calibrated threshold {alpha_text(value)} is not to be trusted: {found['why']}"
        warn(text)
    chosen = {"threshold": value, "at": now()}
    with explained(samples, "it is not stored"):
        set_config(root_of(samples), [find_run(samples, run.key)], **{f"given.chosen.{similarity}": chosen})
    with explained(samples, "the threshold is stored"):
        return load_metrics(samples, run_key, "calibration")
