"""Private API of FiftyOne: each call is tested alone, so that failures show what a newer FiftyOne changed."""

import ast
import asyncio
import inspect
import re
import runpy
import warnings
from datetime import datetime
from pathlib import Path
from typing import Any

import fiftyone as fo
import fiftyone.constants as foc
import fiftyone.operators.server as server
import pytest
from bson import ObjectId
from fiftyone.operators.executor import ExecutionContext, Executor
from fiftyone.server.events.state import Listener, get_listeners

from kalos_core import KalosWarning
from kalos_core.fiftyone import internals
from tests.fiftyone_bridge.back_end import STUB

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def dataset():
    made = fo.Dataset(persistent=True)
    boxes = fo.Detections(detections=[fo.Detection(label="cat", bounding_box=[0, 0, 1, 1], sure=0.5)])
    made.add_samples([fo.Sample("a.jpg", ann=boxes, rank=1), fo.Sample("b.jpg", rank=2)], progress=False)
    yield made
    made.delete()


def stored(dataset: fo.Dataset) -> Any:
    return internals.database().datasets.find_one({"name": dataset.name})


# ---- each call ----


def test_the_data_set_of_a_view_its_id_and_when_it_changed(dataset):
    for samples in (dataset, dataset.limit(1), dataset.to_patches("ann")):
        assert internals.root_of(samples) is dataset
    identity, before = internals.id_of(dataset), internals.changed_at(dataset)
    assert (identity, before) == (stored(dataset)["_id"], stored(dataset)["last_modified_at"])
    dataset.name = f"{dataset.name}-renamed"
    dataset.info["about"] = "cats"
    dataset.save()
    assert internals.id_of(dataset) == identity
    assert internals.changed_at(dataset) > before
    assert stored(dataset)["last_modified_at"] > before


def test_which_runs_are_listed_is_read_again(dataset):
    there = fo.load_dataset(dataset.name)
    document = internals.RunDocument(
        dataset_id=internals.id_of(dataset), key="mine", version="1", timestamp=internals.changed_at(dataset), config={}
    )
    document.save(upsert=True)
    assert internals.database().runs.find_one({"_id": document.id})["_dataset_id"] == internals.id_of(dataset)
    change = {"$set": {"runs.mine": document.id, "last_modified_at": datetime(2026, 1, 2), "info.about": "cats"}}
    internals.database().datasets.update_one({"_id": internals.id_of(dataset)}, change)
    assert there.list_runs() == []
    internals.reload_runs(there)
    assert there.list_runs() == ["mine"]
    assert internals.changed_at(there) == datetime(2026, 1, 2)
    assert there.info == {}
    document.delete()


def test_stored_facts_of_a_data_set_are_read_again(dataset):
    internals.database().datasets.update_one({"_id": internals.id_of(dataset)}, {"$set": {"info.about": "cats"}})
    assert dataset.info == {}
    internals.reload_info(dataset)
    assert dataset.info == {"about": "cats"}


def test_unlisted_parts_of_an_annotation_run_are_removed(dataset, monkeypatch):
    """Content of one process since it created an id: a record, a file and half a file; listed content stays."""
    monkeypatch.setitem(fo.annotation_config.backends, "stub", STUB)
    connection, since = internals.database(), str(ObjectId())
    assert not internals.has_annotation_results(dataset, "arbiter")
    dataset.annotate("arbiter", backend="stub", label_field="new", label_type="detections", classes=["cat"])
    assert internals.has_annotation_results(dataset, "arbiter")
    files = connection[internals.RESULTS]
    listed = stored(dataset)["annotation_runs"]["arbiter"]
    kept = connection.runs.find_one({"_id": listed})["results"]
    record = {"_dataset_id": internals.id_of(dataset), "key": "arbiter"}
    connection.runs.insert_many([dict(record) for _ in range(2)])
    whole, half = files.files.insert_one({}).inserted_id, ObjectId()
    files.chunks.insert_one({"files_id": half, "n": 0})
    another = ObjectId(f"{since[:8]}{'0' * 10}{since[18:]}")  # of another process, at the same time
    files.files.insert_one({"_id": another})

    internals.forget_unlisted(dataset, "another", since)
    assert connection.runs.count_documents(record) == 3
    internals.forget_unlisted(dataset, "arbiter", since)
    assert [found["_id"] for found in connection.runs.find(record)] == [listed]
    assert files.chunks.count_documents({"files_id": {"$in": [half, kept]}}) == 1
    assert {found["_id"] for found in files.files.find({"_id": {"$in": [whole, kept, another]}})} == {kept, another}
    files.files.delete_one({"_id": another})


def test_samples_that_no_data_set_lists_are_forgotten(dataset):
    """Samples of this process since it created an id; those of a data set, older ones, and of others stay."""
    before, since, own = ObjectId(), str(ObjectId()), ObjectId()
    another = ObjectId(f"{str(own)[:8]}{'0' * 10}{str(own)[18:]}")
    listed = fo.Dataset()
    connection = internals.database()
    for made in (before, own, another):
        connection.create_collection(f"samples.{made}")
    internals.forget_unlisted_samples(since)
    left = set(connection.list_collection_names())
    assert f"samples.{own}" not in left
    kept = {f"samples.{before}", f"samples.{another}"}
    assert kept | {internals.collection_of(found).name for found in (dataset, listed)} <= left
    for name in kept:
        connection.drop_collection(name)
    listed.delete()
    assert [internals.was_made_since(ObjectId(since), made) for made in (before, own, another)] == [False, True, False]


def test_the_collection_of_samples_and_what_is_held_of_them(dataset):
    sample = dataset.first()
    change = {"$set": {"rank": 7}}
    assert internals.collection_of(dataset).update_one({"filepath": sample.filepath}, change).matched_count == 1
    assert sample.rank == 1
    internals.reload_held(dataset)
    assert sample.rank == 7


def test_fields_join_the_schema(dataset):
    internals.merge_schema(dataset, {"score": internals.create_field("score", ftype=fo.FloatField, description="x")})
    dataset.reload()
    assert isinstance(dataset.get_field("score"), fo.FloatField)
    assert dataset.get_field("score").description == "x"


def test_fields_and_attributes_leave_the_schema(dataset):
    sample = dataset.first()
    dataset.app_config.active_fields = fo.ActiveFields(paths=["rank", "ann"])
    dataset.save()
    internals.delete_fields(dataset, ["rank", "ann.detections.sure"])
    dataset.reload()
    assert not dataset.has_field("rank")
    assert not dataset.has_field("ann.detections.sure")
    assert dataset.app_config.active_fields.paths == ["ann"]
    assert not sample.has_field("rank")


def test_fields_go_into_a_group_of_the_sidebar(dataset):
    settings = dataset.app_config
    settings.sidebar_groups = fo.DatasetAppConfig.default_sidebar_groups(dataset)
    internals.add_to_sidebar(settings, ["rank"], "mine")
    groups = {group.name: group.paths for group in settings.sidebar_groups}
    assert groups["mine"] == ["rank"]
    assert not any("rank" in paths for name, paths in groups.items() if name != "mine")


def test_a_view_is_its_stages_which_the_database_answers(dataset):
    view = dataset.match(fo.ViewField("rank") > 1)
    assert [document["rank"] for document in internals.aggregate(view, [{"$project": {"rank": True}}])] == [2]
    assert [type(stage).__name__ for stage in internals.stages_of(view.limit(1))] == ["Match", "Limit"]
    assert internals.view_of(dataset, internals.serialized(view)) == view
    assert not any("_uuid" in stage for stage in internals.serialized(view))
    assert {"label", "bounding_box", "confidence", "tags", "id"} <= internals.attributes_of(fo.Detection)


def test_requests_to_the_app_and_the_view_of_a_request_can_be_changed(dataset):
    ctx = ExecutionContext(request_params={"dataset_name": dataset.name, "view": []}, executor=Executor())
    ctx.trigger("one")
    assert [request.operator_uri for request in internals.requests_of(ctx)] == ["one"]
    internals.requests_of(ctx).clear()
    assert internals.requests_of(ctx) == []
    assert len(ctx.view) == 2
    ctx.request_params["view"] = internals.serialized(dataset.limit(1))
    internals.forget_view(ctx)
    assert len(ctx.view) == 1


def test_a_selection_of_labels_is_sent_to_those_who_listen():
    async def sent() -> Any:
        listener = Listener(asyncio.LifoQueue(), "a window")
        get_listeners()["select_labels"].add(listener)
        await internals.dispatch(event)
        get_listeners()["select_labels"].discard(listener)
        return listener.queue.get_nowait()[1]

    event = internals.label_selection([{"sample_id": "1", "label_id": "2", "field": "ann"}])
    assert asyncio.run(sent()) is event
    assert [(label.sample_id, label.label_id, label.field) for label in event.labels] == [("1", "2", "ann")]


def test_operators_are_guarded_once_in_front_of_what_the_server_calls(monkeypatch):
    """For the effect of the guard on requests, see tests/operators/test_origins.py."""
    registry = server.PermissionedOperatorRegistry
    monkeypatch.setattr(registry, "from_exec_request", vars(registry)["from_exec_request"])
    monkeypatch.setattr(server, "execute_or_delegate_operator", server.execute_or_delegate_operator)
    internals.guard_operators("@some/plugin/")
    guarded = server.execute_or_delegate_operator, registry.from_exec_request
    internals.guard_operators("@some/plugin/")
    assert (server.execute_or_delegate_operator, registry.from_exec_request) == guarded
    assert inspect.getsource(server.ExecuteOperator).count("await execute_or_delegate_operator(") == 1
    answer = asyncio.run(server.execute_or_delegate_operator("@some/plugin/act", {}))
    assert (answer.error, answer.error_message) == (internals.REFUSED, internals.REFUSED)
    assert internals.is_foreign({"origin": "null"}, "")


# ---- the range ----


def test_the_range_is_that_of_the_package():
    needed = f'"fiftyone>={internals.OLDEST},<{internals.BEFORE}"'
    assert needed in (ROOT / "pyproject.toml").read_text()
    assert f"\n{needed[1:-1]}\n" in (ROOT / "requirements.txt").read_text()


def test_a_version_outside_the_range_is_named_with_it():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for version in ("1.22.1", "1.22.2", "1.23.0", "1.100.0", foc.VERSION):
            internals.check_version(version)
    for version in ("0.25.2", "1.22.0", "1.3.0", "2.0.0", "2.0.0rc1"):
        words = re.escape(f"FiftyOne {version} is not supported: expected 1.22.1 or later, before 2")
        with pytest.warns(KalosWarning, match=words):
            internals.check_version(version)


def test_the_version_is_checked_at_load(monkeypatch):
    monkeypatch.setattr(foc, "VERSION", "2.1.0")
    with pytest.warns(KalosWarning, match=r"FiftyOne 2\.1\.0 is not supported"):
        runpy.run_path(internals.__file__)


# ---- private calls elsewhere ----

FOLDERS = ("kalos_core/fiftyone", "operators", "panels")
PUBLIC = {"_asdict", "_id"}
"""Attributes of named tuples and GridFS files, which are documented."""


def private_calls(source: str) -> list[str]:
    """Return attributes with a leading underscore of other objects; and FiftyOne's database layer."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and re.match(r"_[a-z]", node.attr) and node.attr not in PUBLIC:
            owner = ast.unparse(node.value)
            if owner not in ("self", "cls") and not owner.startswith("self."):
                found.append(f"{node.lineno}: {owner}.{node.attr}")
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fiftyone.core.odm"):
            found.append(f"{node.lineno}: {node.module}")
        if isinstance(node, ast.Import):
            found += [f"{node.lineno}: {name.name}" for name in node.names if name.name.startswith("fiftyone.core.odm")]
    return found


def test_no_other_file_calls_what_is_private():
    assert private_calls("a = dataset._doc.id") == ["1: dataset._doc"]
    assert private_calls("import fiftyone.core.odm as foo") == ["1: fiftyone.core.odm"]
    assert private_calls("self._doc, row._asdict(), fo._") == []
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if path != Path(internals.__file__)]
    assert len(files) > 100
    found = {path.relative_to(ROOT): private_calls(path.read_text(encoding="utf-8")) for path in files}
    assert {path: calls for path, calls in found.items() if calls} == {}


def test_every_call_has_its_test():
    names = {name for name, found in vars(internals).items() if getattr(found, "__module__", "") == internals.__name__}
    tested = Path(__file__).read_text(encoding="utf-8")
    assert [name for name in names if not name.startswith("_") and f"internals.{name}(" not in tested] == []
