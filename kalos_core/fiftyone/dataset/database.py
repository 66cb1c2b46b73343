"""Direct reads and writes of the database, a block of samples at a time.

Values that a run writes do not change any rater's labels, so nothing here updates ``last_modified_at`` of a sample. A
stored run can therefore find the samples edited since by one indexed query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from itertools import accumulate
from typing import Any

import fiftyone as fo
from bson import ObjectId
from pymongo import WriteConcern

from kalos_core.errors import InputError, KalosError, repr_of
from kalos_core.fiftyone.internals import (
    aggregate,
    collection_of,
    create_field,
    database,
    id_of,
    merge_schema,
    reload_held,
    root_of,
)

BLOCK = 1000
"""Number of samples that are read or written at a time, so that memory does not grow with the data set."""

FETCHED = 100
"""Number of documents that the database sends at a time; the default of 16 MB becomes 200 MB of Python objects."""

INDEXES = 60
"""Maximum number of indexes of a data set, slightly below MongoDB's limit, to leave some to others."""

RESTARTED = "the database was restarted meanwhile, and may have lost the last writes; try again"

Columns = dict[str, list[Any]]
"""Path -> its value in each sample; for a path through a list of labels, the list of their values."""

FieldArguments = Mapping[str, Any]
"""Arguments of `Dataset.add_sample_field`, without the name."""


def now() -> datetime:
    """Return the current time in UTC, in milliseconds, as the database stores it."""
    return as_kept(datetime.now(timezone.utc).replace(tzinfo=None))


def as_kept(time: datetime) -> datetime:
    """Round a time down to milliseconds: FiftyOne holds microseconds in memory until it reloads the stored time."""
    return time.replace(microsecond=time.microsecond // 1000 * 1000)


def journaled(stored: Any) -> Any:
    """Return a collection or database whose writes, and all earlier ones, survive a crash of the server."""
    return stored.with_options(write_concern=WriteConcern(j=True))


def server() -> Any:
    """Return an identifier of the running server, which changes when it is restarted."""
    return database().client.admin.command("hello").get("topologyVersion", {}).get("processId")


def last_known_server() -> Any:
    """Return the same as `server` from the last message of the server, without a query; None if there was none yet."""
    known = database().client.topology_description.server_descriptions().values()
    return next((of.topology_version["processId"] for of in known if of.is_writable and of.topology_version), None)


def check_server(before: Any) -> None:
    """Raise an error if the server was restarted since, as the last writes may be lost."""
    if server() != before:
        raise KalosError(RESTARTED)


def keep(dataset: Any, before: Any) -> None:
    """Wait until all writes of FiftyOne are on disk; raise an error if the server was restarted meanwhile."""
    journaled(database().datasets).update_one({"_id": id_of(dataset)}, {"$set": {"last_modified_at": now()}})
    check_server(before)


def collection(samples: Any) -> Any:
    """Return the database collection of the samples of a data set."""
    return collection_of(root_of(samples))


# ---- reading ----


def stored_sample(samples: Any, sample_id: str, *fields: str) -> dict[str, Any]:
    """Return fields of the stored document of a sample; empty if there is no sample with this id."""
    where = {"_id": ObjectId(sample_id) if ObjectId.is_valid(sample_id) else None}
    return collection(samples).find_one(where, dict.fromkeys(fields, True)) or {}


def stream(view: Any, paths: Sequence[str], block: int = BLOCK) -> Iterator[Columns]:
    """Yield the stored values at some paths, for a block of samples at a time, in one query.

    Parameters
    ----------
    view : fiftyone.core.collections.SampleCollection
    paths : sequence of str
        Such as ``"id"``, ``"metadata.width"`` or ``"r1.detections.label"``; ``"r1._cls"`` tells whether a field is
        present.
    block : int

    Yields
    ------
    dict of path to list
        One entry per sample; None if there is no value. A path through a list of labels has a list of values per
        sample, one per label, with None for a label without the value.

    Examples
    --------
    >>> dataset = fo.Dataset()
    >>> cat = fo.Detection(label="cat", bounding_box=[0, 0, 1, 1])
    >>> samples = [fo.Sample("a.jpg", ann=fo.Detections(detections=[cat])), fo.Sample("b.jpg")]
    >>> _ = dataset.add_samples(samples, progress=False)
    >>> (found,) = stream(dataset, ["ann.detections.label", "ann.detections.rater", "ann._cls"])
    >>> list(found.values())
    [[['cat'], None], [[None], None], ['Detections', None]]
    >>> dataset.delete()
    """
    stored = [path[:-2] + "_id" if path == "id" or path.endswith(".id") else path for path in paths]
    read = [_reader(path.split(".")) for path in stored]
    columns: Columns = {path: [] for path in paths}
    size = 0
    found = aggregate(view.view(), [{"$project": dict.fromkeys(_outermost(stored), True)}])
    for document in found.batch_size(FETCHED):
        for path, value_of in zip(paths, read, strict=True):
            columns[path].append(value_of(document))
        size += 1
        if size == block:
            yield check_columns(columns)
            columns, size = {path: [] for path in paths}, 0
    if size:
        yield check_columns(columns)


def files_of(view: Any, ids: Sequence[str] | None = None) -> dict[str, str]:
    """Return the file path of each sample by id, in the order of the view; with ids, only of those that exist."""
    chosen = view if ids is None else view.select(list(ids)) if ids else view.limit(0)
    blocks = stream(chosen, ["id", "filepath"])
    return {key: path for columns in blocks for key, path in zip(columns["id"], columns["filepath"], strict=True)}


STORED: dict[str, tuple[type, ...]] = {
    "filepath": (str,),
    ".label": (str, type(None)),
    ".confidence": (int, float, list, type(None)),  # a list: of the points of a keypoint
}
"""End of a path -> types of its values. FiftyOne ensures them, except for edits in the database."""


def check_columns(columns: Columns) -> Columns:
    """Refuse values of other types than those in `STORED`."""
    for path, values in columns.items():
        kinds = STORED.get(path[max(path.rfind("."), 0) :], (object,))
        is_in_list = path.count(".") > 1
        for sample, value in enumerate(values if kinds != (object,) else ()):
            for one in value if is_in_list and isinstance(value, list) else [value]:
                if not isinstance(one, kinds):
                    where = f"sample {columns['id'][sample]}" if "id" in columns else "samples"
                    raise InputError(f"{where}: expected a {kinds[0].__name__} in {path!r}, got {repr_of(one)}")
    return columns


def _outermost(paths: Iterable[str]) -> list[str]:
    """Drop paths that lie within another path, as the database refuses to project both."""
    every = set(paths)
    around = (accumulate(path.split(".")[:-1], "{}.{}".format) for path in every)
    return sorted(path for path, outer in zip(every, around, strict=True) if every.isdisjoint(outer))


def _reader(steps: Sequence[str]) -> Callable[[Any], Any]:
    """Return a function that reads the value at a path of a document; ids become text."""
    first, *rest = steps

    def value_of(document: Any) -> Any:
        if isinstance(document, list):
            return [value_of(entry) for entry in document]
        value = document.get(first) if isinstance(document, dict) else None
        if rest and value is not None:
            return inner(value)
        return str(value) if isinstance(value, ObjectId) else value

    inner = _reader(rest) if rest else value_of
    return value_of


def edited_since(view: Any, since: datetime) -> Any:
    """Return the samples of a view that were edited at a time or later, by an indexed query."""
    return view.match(fo.ViewField("last_modified_at") >= since)


def with_tag(tag: str, tags: str) -> dict[str, Any]:
    """Return a MongoDB expression for the list of tags at a path, with one tag added if it is missing.

    A value that is no list, which FiftyOne does not write, becomes the first tag.
    """
    literal, given = [{"$literal": tag}], {"$ifNull": [tags, []]}
    known = {"$cond": [{"$isArray": given}, given, [given]]}
    return {"$concatArrays": [{"$setDifference": [known, literal]}, literal]}


# ---- the schema ----


def label_field(document: type, description: str | None = None, info: dict[str, Any] | None = None) -> FieldArguments:
    """Return the declaration of a label field. `document`: the type of its labels, such as `fo.Detections`."""
    about = {"description": description, "info": info}
    return {"ftype": fo.EmbeddedDocumentField, "embedded_doc_type": document, **about}


def declare(dataset: Any, fields: Mapping[str, FieldArguments]) -> None:
    """Add fields and label attributes to the schema in one step; FiftyOne's own method rewrites it for each.

    Takes two steps if label attributes belong to fields that are new themselves.
    """
    made = {path: create_field(path.rpartition(".")[2], **arguments) for path, arguments in fields.items()}
    inner = {path: field for path, field in made.items() if "." in path and path.partition(".")[0] in made}
    for part in ({path: field for path, field in made.items() if path not in inner}, inner):
        if part:
            merge_schema(dataset, part)


def copy_fields(dataset: Any, moves: Mapping[str, str]) -> None:
    """Copy sample fields and label attributes to other names, in all slices.

    FiftyOne's own renaming of attributes works on the active slice only, and turns an absent label list into an empty
    one, so that 'not assigned' would become 'annotated nothing'.
    """
    declare(dataset, {new: _arguments_of(dataset.get_field(path)) for path, new in moves.items()})
    for path, new in moves.items():
        labels, _, name = path.rpartition(".")
        copied: dict[str, Any] = {new: f"${path}"}
        if labels:
            attribute = {new.rpartition(".")[2]: f"$$label.{name}"}  # absent if the old one is
            join = {"$mergeObjects": ["$$label", attribute]}
            copied = {labels: {"$map": {"input": f"${labels}", "as": "label", "in": join}}}
        collection(dataset).update_many({path: {"$exists": True}}, [{"$set": copied}])
    for about in list(collection(dataset).index_information().values()):
        paths = [path for path, _ in about["key"]]
        if not moves.keys().isdisjoint(paths):
            add_index(dataset, [moves.get(path, path) for path in paths])
    reload_held(dataset)


def add_index(samples: Any, paths: Sequence[str]) -> None:
    """Create an index on some fields, in this order; it is dropped when any of its fields is deleted.

    Does nothing if the data set already has `INDEXES` indexes; queries then take longer.
    """
    stored = collection(samples)
    if len(stored.index_information()) < INDEXES:
        stored.create_index([(path, 1) for path in paths], name=",".join(paths))
        if database().datasets.find_one({"_id": id_of(root_of(samples))}, {"_id": True}) is None:
            stored.drop()  # the data set was deleted meanwhile, and the index made its collection anew


def _arguments_of(field: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = {"ftype": type(field), "description": field.description, "info": field.info}
    if isinstance(field, fo.ListField) and field.field is not None:
        arguments["subfield"] = type(field.field)
    if isinstance(field, fo.EmbeddedDocumentField):
        arguments["embedded_doc_type"] = field.document_type
    return arguments


# ---- writing ----


def reload_samples(samples: Any) -> None:
    """Reload the samples held in memory, so that they see what was written."""
    reload_held(root_of(samples))
