"""Data sets with runs, and none."""

from __future__ import annotations

from collections.abc import Iterator

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from tests import plugin
from tests.fiftyone_bridge.scenes import RATERS, SCENES, Scene, make_samples


@pytest.fixture(scope="session", autouse=True)
def installed() -> None:
    plugin.install()


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    before = set(fo.list_datasets())
    yield
    for name in set(fo.list_datasets()) - before:
        fo.delete_dataset(name)


@pytest.fixture
def dataset() -> fo.Dataset:
    """The six scenes, with nothing computed."""
    dataset = fo.Dataset()
    dataset.add_samples(make_samples(SCENES), progress=False)
    return dataset


@pytest.fixture
def analysed(dataset: fo.Dataset) -> fo.Dataset:
    kf.compute_agreement(dataset, "agreement", raters=RATERS)
    kf.find_variations(dataset, "variations", raters=RATERS)
    kf.calibrate_threshold(dataset, "calibration", raters=RATERS, similarities=["box_iou", "centroid_box"])
    return dataset


@pytest.fixture
def trio() -> fo.Dataset:
    """Three raters on the six scenes, six times over: cid marks what ann marks, and takes every cat for a dog."""
    scenes: list[Scene] = [
        {**scene, "cid": [("dog" if name == "cat" else name, box) for name, box in scene["ann"] or ()]}
        for scene in SCENES
    ]
    dataset = fo.Dataset()
    dataset.add_samples(make_samples(scenes * 6), progress=False)
    dataset.set_values("filepath", [f"/pictures/{number}.jpg" for number in range(36)])
    kf.compute_agreement(dataset, "agreement", raters=(*RATERS, "cid"), bootstrap=50)
    return dataset
