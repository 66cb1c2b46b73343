"""Data sets with runs, and none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core import KalosWarning
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
    return data_set(SCENES)


@pytest.fixture
def analysed(analysed_once: fo.Dataset) -> fo.Dataset:
    """The six scenes with a run of each kind."""
    return analysed_once.clone()


@pytest.fixture
def trio(trio_once: fo.Dataset) -> fo.Dataset:
    """Three raters on the six scenes, six times over: cid annotates as ann does, but takes every cat for a dog."""
    return trio_once.clone()


# ---- computed once for the tests of a file, each of which has a copy ----


@pytest.fixture(scope="module")
def analysed_once() -> Iterator[fo.Dataset]:
    dataset = data_set(SCENES)
    kf.compute_agreement(dataset, "agreement", raters=RATERS)
    kf.find_variations(dataset, "variations", raters=RATERS)
    kf.calibrate_threshold(dataset, "calibration", raters=RATERS, similarities=["box_iou", "centroid_box"])
    with pytest.warns(KalosWarning, match="on 5 subsets of 4"):
        kf.estimate_convergence(dataset, "convergence", raters=RATERS, subsets=5, fraction=0.8)
    yield dataset
    dataset.delete()


@pytest.fixture(scope="module")
def trio_once() -> Iterator[fo.Dataset]:
    scenes: list[Scene] = [
        {**scene, "cid": [("dog" if name == "cat" else name, box) for name, box in scene["ann"] or ()]}
        for scene in SCENES
    ]
    dataset = data_set(scenes * 6)
    dataset.set_values("filepath", [f"/pictures/{number}.jpg" for number in range(36)])
    kf.compute_agreement(dataset, "agreement", raters=(*RATERS, "cid"), bootstrap=50)
    yield dataset
    dataset.delete()


def data_set(scenes: Sequence[Scene]) -> fo.Dataset:
    dataset = fo.Dataset()
    dataset.add_samples(make_samples(scenes), progress=False)
    return dataset
