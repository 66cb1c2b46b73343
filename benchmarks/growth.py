"""Growth of the time of every analysis with the number of images: time per image, for many and for few."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.agreement import without_cache
from benchmarks.shards import OBJECTS, RATERS, table
from benchmarks.tables import Row, Table
from benchmarks.timing import Subject, alternate
from kalos_core import (
    Annotations,
    KalosWarning,
    agreement,
    calibrate,
    class_difficulty,
    collaboration,
    label_convergence,
    modified_map,
    rater_vitality,
    sensitivity,
    variation_shares,
    variations,
)
from kalos_core.resampling import _kept_draws

IMAGES = (1_000, 10_000, 100_000)
FLAT = 1.2
"""Maximum factor of the time per image, largest vs. smallest size."""

THRESHOLDS = (0.25, 0.5, 0.75)
ANALYSES: dict[str, Callable[[Annotations, Any], Any]] = {
    "agreement, 1,000 replicates": lambda given, _: agreement(given),
    "class difficulty": lambda _, done: class_difficulty(done),
    "rater vitality": lambda _, done: rater_vitality(done),
    "collaboration": lambda _, done: collaboration(done),
    "sensitivity, 3 thresholds": lambda given, _: sensitivity(given, THRESHOLDS),
    "variations": lambda given, _: variations(given),
    "variations counted at 3 thresholds": lambda given, _: variation_shares(given, THRESHOLDS),
    "calibration": lambda given, _: calibrate(given, ["box_iou"]),
    "modified mAP": lambda given, _: modified_map(given),
    "label convergence, 1,000 subsets": lambda given, _: label_convergence(given),
}


def of_images(repeats: int, images: tuple[int, ...] = IMAGES) -> Table:
    """Measure each analysis at each size, sizes in turns; geometry and draws are not cached."""
    tables = {count: table(0, count, np.random.default_rng(0)) for count in images}
    done = {count: agreement(given) for count, given in tables.items()}
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)
        for name, work in ANALYSES.items():
            subjects = [
                Subject(
                    lambda given, count=count, work=work: work(given, done[count]),
                    lambda count=count: _anew(tables[count]),
                )
                for count in images
            ]
            each = [
                outcome.took.per(count)
                for count, outcome in zip(images, alternate(subjects, repeats, warm_up=False), strict=True)
            ]
            for count, took in zip(images, each, strict=True):
                fewest = None if count == images[0] else each[0]
                claim = FLAT if count == images[-1] else None
                rows.append(Row(f"{name}, {count:,} images", took, fewest, claim, images=count))
    return Table(
        f"seconds per image, boxes of {RATERS} raters, about {OBJECTS} objects per image",
        tuple(rows),
        "per image",
        f"per image of {images[0]:,}",
        speedup=False,
    )


def _anew(annotations: Annotations) -> Annotations:
    """Return annotations without cached data; draws are cached for few images only."""
    _kept_draws.cache_clear()
    return without_cache(annotations)
