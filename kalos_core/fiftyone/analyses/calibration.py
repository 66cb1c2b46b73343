"""Calibration on FiftyOne: from which similarity on marks may be the same object, and that choice as later default."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kalos_core.calibration import GRID, Calibration, Sample, Separation, calibrate, densities, once_each
from kalos_core.errors import InputError, lookup
from kalos_core.fiftyone.analyses.steps import COMPARING, READING, WRITING
from kalos_core.fiftyone.diagnostics import plain
from kalos_core.fiftyone.labels import LabelChoice, check_samples, fitting_similarities, read_labels
from kalos_core.fiftyone.progress import Progress, Report
from kalos_core.fiftyone.runs import (
    Run,
    check_run_key,
    digest_arrays,
    load_figures,
    store_threshold,
    update_figures,
    writing,
)
from kalos_core.similarity import SIMILARITIES, check_threshold

BINS = 50
"""Of the stored histograms."""

EVERY = 5
"""Of the 1,000 points of a density, every fifth is stored: finer than a picture shows."""

SUMMARY = ("name", "ks", "ks_interval", "ks_at", "tau", "tau_interval", "threshold", "threshold_interval", "reason")
"""What a calibration says of one similarity, without what is drawn."""


def calibrate_threshold(
    samples: Any,
    run_key: str,
    *,
    similarities: Sequence[str] | None = None,
    repeats: int = 1,
    bootstrap: int = 0,
    seed: int = 0,
    choice: LabelChoice | None = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> Run:
    """Compare what raters drew for one object with what chance brings together; see `kalos_core.calibrate`.

    Writes nothing on samples or labels: the run itself holds the figures. `choose_threshold` makes one of them
    the default threshold of later forms.

    Parameters
    ----------
    samples, run_key, choice, progress, **options
        As in `compute_agreement`.
    similarities : names in `SIMILARITIES`, optional
        By default all that fit the labels, see `fitting_similarities`.
    repeats, bootstrap, seed
        As in `kalos_core.calibrate`.

    Returns
    -------
    Run
        Its `result` is a `Calibration`; `diagnostics` are described at `calibration_figures`.

    Raises
    ------
    InputError
        For input that cannot be used; nothing is stored then.

    Examples
    --------
    >>> import fiftyone as fo
    >>> dataset = fo.Dataset()
    >>> def picture(name, x, y):
    ...     def labels(shift):
    ...         box = [x + shift, y, 0.2, 0.2]
    ...         return fo.Detections(detections=[fo.Detection(label="cat", bounding_box=box)])
    ...
    ...     return fo.Sample(name, raters=["ann", "bob"], ann=labels(0), bob=labels(0.1 * x))
    >>> _ = dataset.add_samples([picture(f"{n}.jpg", 0.1 * n, 0.05 * n) for n in range(1, 7)], progress=False)
    >>> run = calibrate_threshold(dataset, "first", similarities=["box_iou"], raters=("ann", "bob"))
    >>> run.figures["similarities"][0]["name"], run.result.best.ks > 0.5
    ('box_iou', True)
    >>> dataset.delete()
    """
    choice = LabelChoice.of(choice, options)
    with Report(progress) as report:
        check_samples(samples)
        check_run_key(samples, run_key)
        report(READING, "Reading labels")
        names = list(similarities) if similarities is not None else _named(samples, choice)
        for name in names:
            lookup(SIMILARITIES, name, "similarities")
        labels = read_labels(samples, choice, names)
        report(COMPARING, f"Comparing {len(labels.annotations):,} annotations by {len(names)} similarities")
        result = calibrate(labels.annotations, names, repeats=repeats, bootstrap=bootstrap, seed=seed)
        settings = {"similarities": names, "repeats": repeats, "bootstrap": bootstrap, "seed": seed}
        report(WRITING, "Storing the calibration")
        with writing(labels, run_key, "calibration", settings, {}) as draft:
            draft.figures = {
                "similarities": [_summary(found) for found in result],
                "chosen": [],
                "images": len(labels.annotations.images),
                "annotations": len(labels.annotations),
                "raters": list(labels.annotations.raters),
            }
            draft.diagnostics = calibration_figures(result)
            draft.arrays = digest_arrays(labels)
        report(1.0, "Done")
    return Run(run_key, "calibration", settings, labels.choice, draft.figures, labels.fields, draft.diagnostics, result)


def choose_threshold(samples: Any, run_key: str, similarity: str, threshold: float | None = None) -> Run:
    """Make a calibrated threshold the default of later forms; the calibration remembers the choice.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        Of a calibration.
    similarity : str
        One that it calibrated.
    threshold : float in [0, 1], optional
        Another than the calibrated one.

    Returns
    -------
    Run
        With the choice among its figures: ``chosen`` lists ``similarity`` and ``threshold``.

    Raises
    ------
    InputError
        If the run did not calibrate that similarity, or found no threshold and none is given.
    """
    run = load_figures(samples, run_key, "calibration")
    found = lookup({entry["name"]: entry for entry in run.figures["similarities"]}, similarity, "similarity")
    if threshold is None and found["threshold"] is None:
        raise InputError(f"{similarity}: expected a calibrated threshold, got none: {found['reason']}")
    value = check_threshold(found["threshold"] if threshold is None else threshold)
    others = [entry for entry in run.figures["chosen"] if entry["similarity"] != similarity]
    chosen = [*others, {"similarity": similarity, "threshold": value}]
    update_figures(samples, run_key, {**run.figures, "chosen": chosen})
    store_threshold(samples._root_dataset, run_key, similarity, value)
    return load_figures(samples, run_key, "calibration")


def calibration_figures(result: Calibration) -> dict[str, Any]:
    """What is drawn of a calibration, as plain values.

    Returns
    -------
    dict
        ``similarities``: for each, what `Separation` says of it, and of its distances ``observed`` and ``expected``
        how many there are (``count``), how many in each of `BINS` bins (``histogram``) and the density (``density``,
        None where there is none) at the points ``grid``; ``edges`` of the bins; ``strata``: size -> the same summary.
    """
    grid = GRID[::EVERY]
    edges = np.linspace(0, 1, BINS + 1)
    return {
        "edges": edges.tolist(),
        "grid": grid.tolist(),
        "similarities": [
            {
                **_summary(found),
                "observed": _distribution(found.observed, edges),
                "expected": _distribution(found.expected, edges),
                "strata": {size: _summary(part) for size, part in found.strata.items()},
            }
            for found in result
        ],
    }


def _summary(found: Separation) -> dict[str, Any]:
    return {name: plain(getattr(found, name)) for name in SUMMARY}


def _distribution(distances: Any, edges: Any) -> dict[str, Any]:
    sample = Sample(distances, np.zeros(len(distances), np.intp))
    density = densities(sample, once_each(1))[0]
    return {
        "count": len(distances),
        "histogram": np.histogram(distances, edges)[0].tolist(),
        "density": None if np.isnan(density).any() else density[::EVERY].tolist(),
    }


def _named(samples: Any, choice: LabelChoice) -> list[str]:
    return [name for name in fitting_similarities(samples, choice) if SIMILARITIES[name].kind]
