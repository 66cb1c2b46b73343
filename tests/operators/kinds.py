"""Every kind of run as created by its operator: samples, required inputs, and all inputs of its form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import fiftyone as fo
import pytest

from kalos_core.fiftyone.dataset.raters import store_raters
from tests.fiftyone_bridge.lively import RATERS, lively
from tests.fiftyone_bridge.quiz import quiz
from tests.fiftyone_bridge.stacks import add_maps, small
from tests.operators.calls import data_set

OBJECTS = ("agreement", "variations", "calibration", "convergence")
IMAGE_LABELS = ("image_labels", "ranking")
MASKS = ("pixels", "truth", "detectors")

FAMILY = {
    **dict.fromkeys((*OBJECTS, "noise"), "objects"),
    **dict.fromkeys(IMAGE_LABELS, "labels"),
    **dict.fromkeys(MASKS, "masks"),
}
"""Kind -> labels that it is made of; kinds made of other runs are not included."""

SAMPLES: dict[str, Callable[[], list[fo.Sample]]] = {"objects": lambda: lively(8), "labels": quiz, "masks": small}

every_kind = pytest.mark.parametrize("kind", FAMILY)

REQUIRED: dict[str, dict[str, Any]] = {
    "convergence": {"subsets": 20, "fraction": 0.5},  # too few images for a tenth of them
    "noise": {"reference": "ann"},
    "ranking": {"systems": ["net", "svm"]},
    "detectors": {"detectors": ["good", "poor"]},
}
"""Kind -> required inputs."""

COMPARED = {"similarity": "centroid_box", "threshold_of_centroid_box": 0.25}
INTERVAL = {"bootstrap": 5, "seed": 3}
THRESHOLDS = {"similarity": "centroid_box", "least": 0.6, "greatest": 0.65}
MODEL = {"more": True, "model": "fit", "preset": "paper", "rate": "power", "shifts": "matched"}
CLASSES = {"class_source": "embeddings", "embeddings": "vector"}
ADDED = {"false_positive_source": "detections", "detections": "net"}
GROUPS = {"exclusive": False, "own_group_0": ["cat", "dog"]}
TWO_TEAMS = {"compare_teams": True, "first_team": ["ann"], "second_team": ["bob"], "second_name": "others"}
ANSWERS = {"quorum": 0.6, "width": 0.2, "weights": "flat", "metric": "ordinal", "order": "dog, cat", "bootstrap": 5}
RULES = {"reject": True, "reject_broken": True, "most_breaches": 0.9, "least_accuracy": 0.1}
PIXELS = {"ignore_value": 7, "raters_are_local": True}
REGIONS = {"regions": True, "region_area": 9, "region_width": 2, "region_most": 4}
PROPERTIES = {"images": True, "channels": "red, nir", **REGIONS}
REFERENCES = {"detectors": ["poor"], "methods": ["0.5"], "truths": ["truth_any"], "all_shares": True}
SKEW = {"choose_skew": True, "skew_low": 0.1, "skew_high": 0.5}
CONTOURS = {"contours": True, "tolerance": 0.01, "thin": False, "berkeley": True, "boundaries": 5}
CEILING = {"subsets": 30, "fraction": 0.25, "seed": 3, "models": "YOLO 0.4", "predictions": "net", "tags": True}

OFFERED: dict[str, dict[str, Any]] = {
    "agreement": {**COMPARED, "advanced": True, "solver": "shm", "cost": "neg", "empty": "exclude", **INTERVAL},
    "variations": {**COMPARED, "max_merge": 2},
    "calibration": {"similarities": ["centroid_box"], "repeats": 2, "coordinates": "pixels", **INTERVAL},
    "convergence": THRESHOLDS | CEILING,
    "noise": {"reference": "bob", "raters": 2, "magnitude": "0.5, 2", "seed": 3, **MODEL, **CLASSES, **ADDED},
    "image_labels": {**ANSWERS, **GROUPS, "estimate": True, "truth": "one_coin", **RULES, **TWO_TEAMS},
    "ranking": {
        "systems": ["svm", "net"],
        "missing": "skip",
        "tree": "pet: cat, dog",
        **GROUPS,
        **TWO_TEAMS,
        **INTERVAL,
    },
    "pixels": {**PIXELS, **PROPERTIES, "boundaries": True, "tolerance": 1.5, "divisions": True},
    "truth": {**PIXELS, "methods": ["any", "0.75"], "maps": True},
    "detectors": {**PIXELS, **REFERENCES, **SKEW, **CONTOURS, **INTERVAL},
}
"""Kind -> all inputs of its form besides the selection, with non-default values."""

THREE = {"raters": list(RATERS), "reference": "cid"}
SELECTED: dict[str, dict[str, Any]] = {
    **{name: {**THREE, "more": True, "classes": ["cat"], "min_area": 5.0, "min_confidence": 0.5} for name in OBJECTS},
    **{name: {**THREE, "more": True, "classes": ["cat", "dog"], "min_confidence": 0.5} for name in IMAGE_LABELS},
    **dict.fromkeys(MASKS, THREE),
    "noise": {},
}
"""Kind -> selection in its form."""

PETS = {"groups": {"cat / dog": ["cat", "dog"]}, "teams": {"experts": ["ann"], "others": ["bob"]}}
GIVEN: dict[str, dict[str, Any]] = {
    "agreement": {"threshold": 0.25},
    "variations": {"threshold": 0.25},
    "convergence": {"thresholds": pytest.approx([0.6, 0.65])},
    "noise": {"magnitude": [0.5, 2.0]},
    "image_labels": {**PETS, "order": ["dog", "cat"]},
    "pixels": {"channels": ["red", "nir"]},
    "ranking": {**PETS, "tree": {"cat": "pet", "dog": "pet"}},
    "detectors": {"skew": [0.1, 0.5], "shares": "all"},
}
"""Kind -> arguments that have another form in the form."""


def rated(family: str) -> fo.Dataset:
    """Return a data set with everything that the forms of its kinds can name."""
    made = data_set(SAMPLES[family]())
    if family == "masks":
        return add_maps(made)
    store_raters(made, {name: name for name in RATERS})
    return made
