"""Data sets with labels of raters in each form of storage."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import fiftyone as fo
import fiftyone.core.dataset as loading
import pytest
from fiftyone.core.odm import get_db_conn

import kalos_core.fiftyone as kf
from tests import plugin
from tests.fiftyone_bridge.scenes import six_scenes
from tests.operators.calls import coco, data_set


@pytest.fixture(scope="session", autouse=True)
def installed() -> None:
    plugin.install()


@pytest.fixture(scope="package", autouse=True)
def decoded_once() -> Iterator[None]:
    """Cache decoded data sets, because FiftyOne reads a data set for each request, which takes most of the time.

    Decoding is repeated if the database has changed, or if an object here was changed and not saved. The time of the
    last load is not recorded, as in the App's server.
    """
    load, known = loading._do_load_dataset, {}

    def held(document: Any) -> Any:
        names = [name for name in document._fields if name not in ("sample_fields", "frame_fields")]
        return document.to_mongo(fields=names), document._get_changed_fields()

    def loaded(dataset: fo.Dataset, name: str) -> Any:
        data, document = get_db_conn(), getattr(dataset, "_doc", None)
        about = data["datasets"].find_one({"name": name}) or {}
        now = about, list(data["runs"].find({"_dataset_id": about.get("_id")}))
        own, *before = known.get(name, (None,))
        if document is not None and document is own and before == [now, held(document)]:
            return document, dataset._sample_doc_cls, dataset._frame_doc_cls
        found = load(dataset, name)
        known[name] = found[0], now, deepcopy(held(found[0]))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "_do_load_dataset", loaded)
        patch.setattr(fo.Dataset, "_update_last_loaded_at", lambda *_, **__: None)
        yield


def stored_runs() -> dict[str, set[str]]:
    """Return names of data sets -> keys of their runs in the database; via FiftyOne, each would count as loaded."""
    found = get_db_conn()["datasets"].find({}, {"name": 1, "runs": 1})
    return {about["name"]: set(about.get("runs") or ()) for about in found}


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    """Check that no data set of a test remains, and no run on shared ones."""
    before = stored_runs()
    yield
    for name, keys in stored_runs().items():
        if name not in before:
            fo.delete_dataset(name)
        for key in keys - before.get(name, keys):
            dataset = fo.load_dataset(name)
            if key in kf.list_runs(dataset):  # otherwise deleted with its analysis
                kf.delete_run(dataset, key)


@pytest.fixture
def fields() -> fo.Dataset:
    """Return six scenes with a label field per rater, whose names are not stored."""
    return data_set(six_scenes)


@pytest.fixture
def stored(tmp_path: Path) -> fo.Dataset:
    """Return three raters stored by `load_raters`."""
    return kf.load_raters(coco(), "stored", canvas=tmp_path / "canvas").dataset


@pytest.fixture
def pair(tmp_path: Path) -> fo.Dataset:
    """Return the same with two raters."""
    return kf.load_raters(coco(("ann", "bob")), "pair", canvas=tmp_path / "canvas").dataset


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Write the file of three raters, without its image."""
    path = tmp_path / "labels.json"
    path.write_text(json.dumps(coco()))
    return path
