"""Data sets of a few labels, with numbers worked out by hand."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import fiftyone as fo
import pytest
from bson import ObjectId
from fiftyone.core.odm import get_db_conn

from tests.fiftyone_bridge.scenes import six_scenes

Make = Callable[..., fo.Dataset]
Meanwhile = Callable[..., None]
Draw = Callable[[], list[fo.Sample]]
Stored = tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]

_built: dict[Draw, Stored] = {}
"""Content of a data set in the database after creation: its document, samples and indexes."""


def build(samples: list[fo.Sample] | Draw = six_scenes, persistent: bool = False) -> fo.Dataset:
    """Create a data set of samples. Those of a function are created once, and then reinserted, three times faster."""
    if not isinstance(samples, list) and samples in _built:
        return _written_again(_built[samples], persistent)
    dataset = fo.Dataset(persistent=persistent)
    dataset.add_samples(samples if isinstance(samples, list) else samples(), progress=False)
    if not isinstance(samples, list):
        stored = dataset._sample_collection
        document = get_db_conn().datasets.find_one({"_id": dataset._doc.id})
        _built[samples] = document, list(stored.find()), [dict(index) for index in stored.list_indexes()]
    return dataset


def _written_again(stored: Stored, persistent: bool) -> fo.Dataset:
    key, now, database = ObjectId(), datetime.utcnow(), get_db_conn()
    own = {"_dataset_id": key, "created_at": now, "last_modified_at": now}
    names = {"name": str(key), "slug": str(key), "sample_collection_name": f"samples.{key}"}
    document, samples, indexes = stored
    database[f"samples.{key}"].insert_many([{**sample, **own, "_id": ObjectId()} for sample in samples])
    database.command("createIndexes", f"samples.{key}", indexes=indexes)
    database.datasets.insert_one({**document, **names, "_id": key, "persistent": persistent, "created_at": now})
    return fo.load_dataset(str(key))


@pytest.fixture
def make() -> Make:
    """Return a function that creates data sets, by default of the six scenes; `nothing_stays` deletes them."""
    return build


@pytest.fixture(scope="module")
def make_once() -> Iterator[Make]:
    """Return the same for data sets shared by the tests of a module: read them, or change a `clone()`."""
    made: list[fo.Dataset] = []

    def build_once(*arguments: Any, **options: Any) -> fo.Dataset:
        made.append(build(*arguments, **options))
        return made[-1]

    yield build_once
    for dataset in made:
        dataset.delete()


@pytest.fixture
def dataset(make: Make) -> fo.Dataset:
    """Return the six scenes."""
    return make()


@pytest.fixture(scope="module")
def unchanged(make_once: Make) -> fo.Dataset:
    """Return the six scenes, for tests that only read."""
    return make_once()


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    """Check that every test leaves the database as it found it, including data sets of module fixtures."""
    before = set(fo.list_datasets())
    yield
    for name in set(fo.list_datasets()) - before:
        fo.delete_dataset(name)


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    """Return a function that runs an action once, before or after the next call of a function."""

    def around(
        owner: Any,
        name: str,
        before: Callable[[], Any] = lambda: None,
        after: Callable[[], Any] = lambda: None,
        call: int = 1,
    ) -> None:
        original, calls = getattr(owner, name), []

        def changed(*arguments: Any, **options: Any) -> Any:
            calls.append(1)
            if len(calls) != call:
                return original(*arguments, **options)
            monkeypatch.setattr(owner, name, original)
            before()
            found = original(*arguments, **options)
            after()
            return found

        monkeypatch.setattr(owner, name, changed)

    return around
