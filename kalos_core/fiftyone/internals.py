"""What FiftyOne has no public name for: the only module of the bridge and the plugin that calls it, each with a test.

A newer FiftyOne may change any of it without a word, and says so here first: `tests/fiftyone_bridge/test_internals.py`
names what broke. `check_version` says whether FiftyOne is one that all of it was written for.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import fiftyone as fo
import fiftyone.constants as foc
import fiftyone.core.odm as foo
import fiftyone.core.session.events as fose
import fiftyone.core.view as fov
import gridfs
from bson import CodecOptions, ObjectId
from fiftyone.core.odm.runs import RunDocument as RunDocument

from kalos_core.errors import KalosWarning

OLDEST, BEFORE = "1.22.1", "2"
"""The first version of FiftyOne that is supported, and the first that is not any more; as in pyproject.toml."""


def check_version(installed: str = foc.VERSION) -> None:
    """Warn where FiftyOne is none of the versions that are supported.

    Examples
    --------
    >>> check_version("1.22.1")
    """
    if not _numbers(OLDEST) <= _numbers(installed) < _numbers(BEFORE):
        warnings.warn(
            f"FiftyOne {installed} is installed, and this works with {OLDEST} or later, before {BEFORE}: what it reads "
            f'and writes may be wrong; pip install "fiftyone>={OLDEST},<{BEFORE}"',
            KalosWarning,
            stacklevel=3,
        )


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"[0-9]+", version)[:3]]


check_version()


# ---- data sets ----


def root_of(samples: Any) -> Any:
    """The data set that a view, or itself, is of."""
    return samples._root_dataset


def id_of(dataset: Any) -> Any:
    """The id of a data set in the database, which stays when its name changes."""
    return dataset._doc.id


def changed_at(dataset: Any) -> Any:
    """When fields, information or runs of a data set changed last, as far as this process knows."""
    return dataset._doc.last_modified_at


def reload_info(dataset: Any) -> None:
    """Read again what `Dataset.info` holds, and when the data set was changed."""
    dataset._doc.reload("info", "last_modified_at")


def reload_runs(dataset: Any) -> None:
    """Read again which runs a data set lists, and when it was changed; whatever else was changed is not read."""
    dataset._doc.reload("runs", "last_modified_at")


def has_annotation_results(dataset: Any, key: str) -> bool:
    """Whether the results of an annotation run were stored, which is the last that is done for it."""
    document = dataset._doc.annotation_runs.get(key)
    return document is not None and document.results.grid_id is not None


RESULTS = "fs"
"""Of the files with the results of runs of others, in FiftyOne's database."""

LISTS = ("annotation_runs", "brain_methods", "evaluations", "runs")
"""Where in the document of a data set its runs are listed."""


def forget_unlisted(dataset: Any, key: str, since: str) -> None:
    """Delete what a dead process stored of an annotation run that FiftyOne lists nowhere: its record, and its file.

    Parameters
    ----------
    dataset : fiftyone.core.dataset.Dataset
    key : str
        Of the annotation run.
    since : str
        An id that the process made before.
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
    """Drop collections of samples that this process made since it made an id, and that no data set lists.

    FiftyOne leaves one where the database loses the data set that it is just making.
    """
    connection = database()
    known = set(connection.datasets.distinct("sample_collection_name"))
    for name in set(connection.list_collection_names(filter={"name": {"$regex": "^samples[.]"}})) - known:
        if was_made_since(ObjectId(since), ObjectId(name.rpartition(".")[2])):
            connection.drop_collection(name)


def _made_since(since: str, collection: str, name: str, where: Mapping[str, Any] | None = None) -> set[ObjectId]:
    """The ids in a collection that the process which made one made later."""
    later = database()[collection].find({**(where or {}), name: {"$gt": ObjectId(since)}}, {name: True})
    return {found[name] for found in later if was_made_since(ObjectId(since), found[name])}


def was_made_since(since: ObjectId, other: ObjectId) -> bool:
    """Whether the process which made an id made another one later: five bytes of them are its own."""
    return str(other)[8:18] == str(since)[8:18] and other > since


def collection_of(dataset: Any) -> Any:
    """The collection of the samples of a data set."""
    return dataset._sample_collection


def reload_held(dataset: Any) -> None:
    """Let the samples that are held in memory see what was written."""
    fo.Sample._reload_docs(dataset._sample_collection_name)


# ---- schema ----


def merge_schema(dataset: Any, fields: Mapping[str, Any]) -> None:
    """Add fields to the schema in one step."""
    dataset._merge_sample_field_schema(fields)


def delete_fields(dataset: Any, paths: Iterable[str]) -> None:
    """Delete fields and attributes of labels, in all slices, from the data set as it was last loaded.

    Values, indexes and what the App is to show of it go whether or not the field is still there: a database that died
    may have lost that it was made, or that they went before it.
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
    """The names that labels of a type have already."""
    return {*label._fields, *label._fields_ordered}  # type: ignore[attr-defined]


def add_to_sidebar(settings: Any, paths: Iterable[str], group: str) -> None:
    """Put fields into a group of the sidebar, in the settings of the App."""
    settings._add_paths_to_sidebar_group(paths, group)


# ---- views ----


def aggregate(view: Any, stages: Sequence[Mapping[str, Any]]) -> Any:
    """What MongoDB answers to the stages of a view and further ones: a cursor of documents."""
    return view._aggregate(post_pipeline=list(stages))


def stages_of(view: Any) -> list[Any]:
    """The stages of a view."""
    return list(view._stages)


def serialized(samples: Any) -> list[dict[str, Any]] | None:
    """The stages of a view as they are stored with a run; None of a data set."""
    return None if isinstance(samples, fo.Dataset) else samples._serialize(include_uuids=False)


def view_of(dataset: Any, stages: Sequence[Mapping[str, Any]]) -> Any:
    """A view from its stages as the App sends them."""
    return fov.DatasetView._build(dataset, stages)


# ---- the App ----


def requests_of(ctx: Any) -> list[Any]:
    """What an operator or panel asks the App for, in a list that can be changed."""
    found: list[Any] = ctx.executor._requests
    return found


def label_selection(labels: Iterable[Mapping[str, str]]) -> Any:
    """The event with which `Session.select_labels` selects labels, each with "sample_id", "label_id" and "field"."""
    return fose.SelectLabels([fose.LabelData(**label) for label in labels])


async def dispatch(event: Any) -> None:
    """Send an event to every window of the App and every Python session; only in the App's server."""
    from fiftyone.server.events import dispatch_event  # takes a second to import, and only the server needs it

    await dispatch_event(None, event)


def forget_view(ctx: Any) -> None:
    """Let the view be read from the request again: FiftyOne keeps the one that it made first."""
    ctx._view = None


# ---- the database ----


def database() -> Any:
    """The database of FiftyOne, as pymongo gives it, times in UTC; `RunDocument` is what it stores of a run."""
    return foo.get_db_conn().with_options(codec_options=CodecOptions())


def create_field(name: str, **arguments: Any) -> Any:
    """A field for `merge_schema`, as `Dataset.add_sample_field` declares it."""
    return foo.create_field(name, **arguments)
