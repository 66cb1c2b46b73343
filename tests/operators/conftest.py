"""Data sets with the labels of raters in each of the ways they are stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import fiftyone as fo
import pytest
from fiftyone.core.odm import get_db_conn

import kalos_core.fiftyone as kf
from tests import plugin
from tests.fiftyone_bridge.scenes import SCENES, in_one_field, make_samples
from tests.operators.calls import coco, data_set


@pytest.fixture(scope="session", autouse=True)
def installed() -> None:
    plugin.install()


def stored_runs() -> dict[str, set[str]]:
    """Names of data sets -> keys of their runs, as the database has them: FiftyOne notes of each that it was loaded."""
    found = get_db_conn()["datasets"].find({}, {"name": 1, "runs": 1})
    return {about["name"]: set(about.get("runs") or ()) for about in found}


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    """No data set of a test, and no run on one that several tests share."""
    before = stored_runs()
    yield
    for name, keys in stored_runs().items():
        if name not in before:
            fo.delete_dataset(name)
            continue
        for key in keys - before[name]:
            dataset = fo.load_dataset(name)
            if key in kf.list_runs(dataset):  # else it went with its analysis
                kf.delete_run(dataset, key)


@pytest.fixture
def fields() -> fo.Dataset:
    """Six scenes, a label field per rater, whose names are stored nowhere."""
    return data_set(make_samples(SCENES))


@pytest.fixture
def one_field() -> fo.Dataset:
    """The same in one field, whose labels name their rater."""
    return data_set(in_one_field(SCENES))


@pytest.fixture
def stored(tmp_path: Path) -> fo.Dataset:
    """Three raters that `load_raters` stored."""
    return kf.load_raters(coco(), "stored", canvas=tmp_path / "canvas").dataset


@pytest.fixture
def pair(tmp_path: Path) -> fo.Dataset:
    """The same with two raters."""
    return kf.load_raters(coco(("ann", "bob")), "pair", canvas=tmp_path / "canvas").dataset


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of three raters, without its image."""
    path = tmp_path / "labels.json"
    path.write_text(json.dumps(coco()))
    return path
