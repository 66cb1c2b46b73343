"""Data sets with the labels of raters in each of the ways they are stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from tests import plugin
from tests.fiftyone_bridge.scenes import SCENES, in_one_field, make_samples
from tests.operators.calls import coco


@pytest.fixture(scope="session", autouse=True)
def installed() -> None:
    plugin.install()


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    """No data set of a test, and no run on one that several tests share."""
    before = {name: kf.list_runs(fo.load_dataset(name)) for name in fo.list_datasets()}
    yield
    for name in fo.list_datasets():
        if name not in before:
            fo.delete_dataset(name)
            continue
        dataset = fo.load_dataset(name)
        for key in set(kf.list_runs(dataset)) - set(before[name]):
            if key in kf.list_runs(dataset):  # else it went with its analysis
                kf.delete_run(dataset, key)


@pytest.fixture
def fields() -> fo.Dataset:
    """Six scenes, a label field per rater, whose names are stored nowhere."""
    dataset = fo.Dataset(persistent=True)
    dataset.add_samples(make_samples(SCENES), progress=False)
    return dataset


@pytest.fixture
def one_field() -> fo.Dataset:
    """The same in one field, whose labels name their rater."""
    dataset = fo.Dataset(persistent=True)
    dataset.add_samples(in_one_field(SCENES), progress=False)
    return dataset


@pytest.fixture
def stored(tmp_path: Path) -> fo.Dataset:
    """Three raters that `load_raters` stored."""
    return kf.load_raters(coco(), "stored", canvas=tmp_path / "canvas").dataset


@pytest.fixture
def pair(tmp_path: Path) -> fo.Dataset:
    """The same with two raters."""
    return kf.load_raters(coco(("ann", "bob")), "pair", canvas=tmp_path / "canvas").dataset
