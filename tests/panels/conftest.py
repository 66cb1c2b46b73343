"""Data sets with runs, and none."""

from __future__ import annotations

from collections.abc import Iterator

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from tests import plugin
from tests.fiftyone_bridge.scenes import RATERS, SCENES, make_samples


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
    return dataset
