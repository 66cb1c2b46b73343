"""Private APIs of FiftyOne: the only module of the bridge and the plugin that calls them, each with a test.

A newer FiftyOne may change any of them without notice; `tests/fiftyone_bridge/test_internals.py` names what broke.
`check_version` checks whether the installed FiftyOne is supported.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any
from urllib.parse import urlsplit

import fiftyone as fo
import fiftyone.constants as foc
import fiftyone.core.odm as foo
import fiftyone.core.session.events as fose
import fiftyone.core.view as fov
import gridfs
from bson import CodecOptions, ObjectId
from fiftyone.core.collections import SampleCollection
from fiftyone.core.odm.runs import RunDocument as RunDocument
from fiftyone.operators.executor import ExecutionResult

from kalos_core.errors import InputError, KalosWarning, repr_of
from kalos_core.extras import EXTRAS, pip_command

OLDEST, BEFORE = re.findall(r"[0-9.]+", EXTRAS["app"][0])
"""Oldest supported version of FiftyOne, and the first version that is no longer supported."""


def check_version(installed: str = foc.VERSION) -> None:
    """Warn if the installed version of FiftyOne is not supported.

    Examples
    --------
    >>> check_version("1.22.1")
    """
    if not _numbers(OLDEST) <= _numbers(installed) < _numbers(BEFORE):
        warnings.warn(
            f"FiftyOne {installed} is not supported: expected {OLDEST} or later, before {BEFORE}. Data may be read or "
            f"written incorrectly; {pip_command('app')}",
            KalosWarning,
            stacklevel=3,
        )


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"[0-9]+", version)[:3]]


check_version()


# ---- data sets ----


def root_of(samples: Any) -> Any:
    """Return the data set of a view; a data set is returned as it is."""
    if not isinstance(samples, SampleCollection):
        raise InputError(f"samples: expected a FiftyOne dataset or view, got {repr_of(samples)}")
    return samples._root_dataset


def id_of(dataset: Any) -> Any:
    """Return the database id of a data set, which stays the same when its name changes."""
    return dataset._doc.id


def changed_at(dataset: Any) -> Any:
    """Return when the fields, info or runs of a data set last changed, as far as this process knows."""
    return dataset._doc.last_modified_at


def reload_info(dataset: Any) -> None:
    """Reload `Dataset.info` and the time of the last change."""
    dataset._doc.reload("info", "last_modified_at")


def reload_runs(dataset: Any) -> None:
    """Reload the list of runs and the time of the last change, and nothing else."""
    dataset._doc.reload("runs", "last_modified_at")


def has_annotation_results(dataset: Any, key: str) -> bool:
    """Return whether the results of an annotation run were stored, which is the last step of creating it."""
    document = dataset._doc.annotation_runs.get(key)
    return document is not None and document.results.grid_id is not None


RESULTS = "fs"
"""GridFS bucket in FiftyOne's database with the results of runs that are not ours."""

LISTS = ("annotation_runs", "brain_methods", "evaluations", "runs")
"""Entries of a data set's document that list its runs."""


def forget_unlisted(dataset: Any, key: str, since: str) -> None:
    """Delete the record and the file of an annotation run that a dead process stored but FiftyOne does not list.

    Parameters
    ----------
    dataset : fiftyone.core.dataset.Dataset
    key : str
        Key of the annotation run.
    since : str
        An id that the process made earlier.
    """
    connection = database()
    stored = connection.datasets.find_one({"_id": id_of(dataset)}, dict.fromkeys(LISTS, True)) or {}
    known = {run for name in LISTS for run in stored.get(name, {}).values()}
    for run in _made_since(since, "runs", "_id", {"_dataset_id": id_of(dataset), "key": key}) - known:
        connection.runs.delete_one({"_id": run})
    files = _made_since(since, f"{RESULTS}.files", "_id") | _made_since(since, f"{RESULTS}.chunks", "files_id")
    for file in files:
        if connection.runs.find_one({"results": file}, {"_id": True}) is None:
            gridfs.GridFS(connection, collection=RESULTS).delete(file)


def forget_unlisted_samples(since: str) -> None:
    """Drop sample collections that this process made after the id `since` and that no data set lists.

    FiftyOne leaves one behind if the database loses a data set while it is being created.
    """
    connection = database()
    known = set(connection.datasets.distinct("sample_collection_name"))
    for name in set(connection.list_collection_names(filter={"name": {"$regex": "^samples[.]"}})) - known:
        if was_made_since(ObjectId(since), ObjectId(name.rpartition(".")[2])):
            connection.drop_collection(name)


def _made_since(since: str, collection: str, name: str, where: Mapping[str, Any] | None = None) -> set[ObjectId]:
    """Return the ids in a collection that the process of `since` made after it."""
    later = database()[collection].find({**(where or {}), name: {"$gt": ObjectId(since)}}, {name: True})
    return {found[name] for found in later if was_made_since(ObjectId(since), found[name])}


def was_made_since(since: ObjectId, other: ObjectId) -> bool:
    """Return whether the process that made `since` made `other` later: five bytes of an id identify the process."""
    return str(other)[8:18] == str(since)[8:18] and other > since


def collection_of(dataset: Any) -> Any:
    """Return the database collection of the samples of a data set."""
    return dataset._sample_collection


def reload_held(dataset: Any) -> None:
    """Reload the samples held in memory, so that they see what was written."""
    fo.Sample._reload_docs(dataset._sample_collection_name)


# ---- schema ----


def merge_schema(dataset: Any, fields: Mapping[str, Any]) -> None:
    """Add fields to the schema in one step."""
    dataset._merge_sample_field_schema(fields)


def delete_fields(dataset: Any, paths: Iterable[str]) -> None:
    """Delete fields and label attributes, in all slices, from the data set as it was last loaded.

    Values, indexes and App settings are deleted even if the field no longer exists: a database that died may have lost
    the creation of the field, or the deletion of its values before that of the field.
    """
    every = list(paths)
    outer = [path for path in every if not any(path.startswith(f"{other}.") for other in every)]
    if not outer:
        return
    stored, schema, document = dataset._sample_collection, dataset._sample_doc_cls, dataset._doc
    for name, about in stored.index_information().items():
        if not {path for path, _ in about["key"]}.isdisjoint(outer):
            stored.drop_index(name)
    stored.update_many({}, [{"$unset": outer}])
    schema._reload_fields()
    for path in outer:
        if dataset.has_field(path):
            schema._delete_field_schema(path)
    document.app_config._delete_paths(outer)
    document.save()
    roots = [path for path in outer if "." not in path]
    if roots:
        fo.Sample._purge_fields(dataset._sample_collection_name, roots)
    reload_held(dataset)
    dataset._reload()


def attributes_of(label: type) -> set[str]:
    """Return the names of the built-in attributes of a label type."""
    return {*label._fields, *label._fields_ordered}  # type: ignore[attr-defined]


def add_to_sidebar(settings: Any, paths: Iterable[str], group: str) -> None:
    """Add fields to a sidebar group in the App settings."""
    settings._add_paths_to_sidebar_group(paths, group)


# ---- views ----


def aggregate(view: Any, stages: Sequence[Mapping[str, Any]]) -> Any:
    """Return a cursor over the documents that MongoDB finds for a view, followed by further pipeline stages."""
    return view._aggregate(post_pipeline=list(stages))


def stages_of(view: Any) -> list[Any]:
    """Return the stages of a view."""
    return list(view._stages)


def serialized(samples: Any) -> list[dict[str, Any]] | None:
    """Return the stages of a view as they are stored with a run; None for a data set."""
    return None if isinstance(samples, fo.Dataset) else samples._serialize(include_uuids=False)


def view_of(dataset: Any, stages: Sequence[Mapping[str, Any]]) -> Any:
    """Return the view with the given stages, in the form that the App sends."""
    return fov.DatasetView._build(dataset, stages)


# ---- the App ----


def requests_of(ctx: Any) -> list[Any]:
    """Return the list of requests of an operator or panel to the App; it can be modified in place."""
    found: list[Any] = ctx.executor._requests
    return found


def label_selection(labels: Iterable[Mapping[str, str]]) -> Any:
    """Return the event that `Session.select_labels` sends; each label has "sample_id", "label_id" and "field"."""
    return fose.SelectLabels([fose.LabelData(**label) for label in labels])


async def dispatch(event: Any) -> None:
    """Send an event to every App window and every Python session; works only in the App's server."""
    from fiftyone.server.events import dispatch_event  # the import takes a second, and only the server needs it

    await dispatch_event(None, event)


def forget_view(ctx: Any) -> None:
    """Clear FiftyOne's cached view, so that it is read from the request again."""
    ctx._view = None


# ---- the App's server ----

SERVER = "fiftyone.operators.server"
"""Module that handles web requests; only the process of the App's server imports it."""

OF_THE_APP: ContextVar[bool] = ContextVar("OF_THE_APP", default=False)
"""Whether the current request is known not to come from a foreign web page; False for a request not checked yet."""

REFUSED = (
    "This request was refused, because it does not come from the App: reload the App and try again. If the App is "
    "behind a proxy that changes addresses, add its address to FIFTYONE_ALLOWED_ORIGINS"
)


def guard_operators(prefix: str) -> None:
    """Refuse to execute operators and panels whose URI starts with `prefix` for web pages other than the App.

    FiftyOne's server executes operators for any page that is open in the browser. It does not pass headers to
    operators, so this wraps the server's own functions, once, to check them. Calls from Python do not use the server.
    """
    server: Any = sys.modules.get(SERVER)
    if server is None or getattr(server.execute_or_delegate_operator, "guards", "") == prefix:
        return
    registries, execute = server.PermissionedOperatorRegistry, server.execute_or_delegate_operator
    registry_of = registries.from_exec_request

    async def from_exec_request(request: Any, dataset_ids: Any = None) -> Any:
        OF_THE_APP.set(not is_foreign(request.headers, fo.config.allowed_origins or ""))
        return await registry_of(request, dataset_ids=dataset_ids)

    async def execute_or_delegate(operator_uri: str, *given: Any, **options: Any) -> Any:
        if operator_uri.startswith(prefix) and not OF_THE_APP.get():
            return ExecutionResult(error=REFUSED, error_message=REFUSED)
        return await execute(operator_uri, *given, **options)

    execute_or_delegate.guards = prefix  # type: ignore[attr-defined]
    registries.from_exec_request = staticmethod(from_exec_request)
    server.execute_or_delegate_operator = execute_or_delegate


def is_foreign(headers: Mapping[str, str], allowed: str) -> bool:
    """Return whether a request comes from a web page of another origin; non-browser clients send neither header.

    Parameters
    ----------
    headers : mapping
        Request headers, with lowercase names. No script can set the two headers that browsers send.
    allowed : str
        Comma-separated origins that FiftyOne allows, or ``*``.

    Examples
    --------
    >>> is_foreign({"sec-fetch-site": "same-origin", "origin": "https://proxy", "host": "localhost:5151"}, "")
    False
    >>> is_foreign({"sec-fetch-site": "cross-site", "origin": "https://evil.example", "host": "localhost:5151"}, "")
    True
    >>> is_foreign({"origin": "http://192.168.0.7:5151", "host": "192.168.0.7:5151"}, "")  # no https: no first header
    False
    """
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if not {origin, "*"}.isdisjoint(entry.strip() for entry in allowed.split(",")):
        return False
    if site is not None:
        return site not in ("same-origin", "none")
    return origin is not None and urlsplit(origin).netloc != headers.get("host")


# ---- the database ----


def database() -> Any:
    """Return FiftyOne's pymongo database, with times in UTC; a run is stored as a `RunDocument`."""
    return foo.get_db_conn().with_options(codec_options=CodecOptions())


def create_field(name: str, **arguments: Any) -> Any:
    """Create a field for `merge_schema`, as `Dataset.add_sample_field` declares it."""
    return foo.create_field(name, **arguments)
