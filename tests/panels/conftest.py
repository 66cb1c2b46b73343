"""Data sets with and without runs. Shared ones are only read; a test that changes one clones it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from tests.fiftyone_bridge.scenes import RATERS, SCENES, Scene, make_samples, six_scenes
from tests.fiftyone_bridge.stacks import CLASSES, MAPS
from tests.operators.calls import data_set
from tests.operators.conftest import decoded_once, installed, nothing_stays  # noqa: F401

THREE = (*RATERS, "cid")


@pytest.fixture
def dataset() -> fo.Dataset:
    """Return the six scenes without runs."""
    return data_set(six_scenes)


@pytest.fixture(scope="session")
def analysed() -> fo.Dataset:
    """Return the six scenes with a run of each kind."""
    dataset = data_set(six_scenes)
    kf.compute_agreement(dataset, "agreement", raters=RATERS)
    kf.find_variations(dataset, "variations", raters=RATERS)
    kf.calibrate_threshold(dataset, "calibration", raters=RATERS, similarities=["box_iou", "centroid_box"])
    kf.estimate_convergence(dataset, "convergence", raters=RATERS, subsets=5, fraction=0.8)
    return dataset


@pytest.fixture(scope="session")
def trio() -> fo.Dataset:
    """Return three raters on the six scenes, repeated six times: cid annotates as ann, but labels cats as dogs."""
    scenes: Sequence[Scene] = [
        {**scene, "cid": [("dog" if name == "cat" else name, box) for name, box in scene["ann"] or ()]}
        for scene in SCENES
    ]
    dataset = data_set(make_samples(scenes * 6))
    dataset.set_values("filepath", [f"/pictures/{number}.jpg" for number in range(36)])
    kf.compute_agreement(dataset, "agreement", raters=THREE, bootstrap=50)
    kf.find_variations(dataset, "variations", raters=THREE)
    return dataset


def of_maps(stacks: Any) -> fo.Dataset:
    """Return a data set with the maps of named raters on each image."""
    return data_set(
        fo.Sample(
            f"/{number}.png",
            raters=list(maps),
            **{name: fo.Segmentation(mask=np.atleast_2d(np.array(own, np.uint8))) for name, own in maps.items()},
        )
        for number, maps in enumerate(stacks)
    )


@pytest.fixture
def masks() -> fo.Dataset:
    """Return maps with class names, without runs."""
    dataset = of_maps(MAPS)
    dataset.default_mask_targets = CLASSES
    dataset.save()
    return dataset


@pytest.fixture
def own(analysed: fo.Dataset) -> fo.Dataset:
    """Return a copy of `analysed` to change."""
    return analysed.clone(persistent=True)


@pytest.fixture
def own_trio(trio: fo.Dataset) -> fo.Dataset:
    """Return a copy of `trio` to change."""
    return trio.clone(persistent=True)
