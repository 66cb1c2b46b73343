"""Complete content of a database and a folder: saved, restored, and compared except for ids and times."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import bson
import pymongo
from bson import ObjectId

Document = dict[str, Any]

OTHERS = {"config", "delegated_ops", "execution_store"}
"""Collections of FiftyOne itself."""

OF_TIME = {"last_deletion_at"}
OF_APP = {"app_config", *OF_TIME}
"""Parts of a data set that only the App reads."""

STORES = re.compile(r"runs$|kalos\.making$|(fs|kalos)\.(files|chunks)$")
"""Collections that exist from the first run on."""

SUMS = {"check", "index"}
"""Checksums in a file of arrays; the arrays are compared instead, with ids replaced."""

ID = re.compile(r"[0-9a-f]{24}")
DRAFT = re.compile(r"\.[0-9a-f]+-[0-9a-f]+-[0-9]+-[0-9a-f]{32}")
PROCESS = {"pid", "started", "host", "work"}


@dataclass
class Snapshot:
    """Content at one time.

    Parameters
    ----------
    documents : dict
        Collection -> its documents, by id.
    indexes : dict
        Collection -> name of an index -> its keys and options.
    files : dict
        Path -> content; None for a folder.
    """

    documents: dict[str, list[Document]]
    indexes: dict[str, dict[str, dict[str, Any]]]
    files: dict[str, bytes | None]

    @classmethod
    def of(cls, database: Any, folder: Path) -> Snapshot:
        """Save the current content."""
        names = sorted(set(database.list_collection_names()) - OTHERS)
        return cls(
            {name: list(database[name].find().sort("_id")) for name in names},
            {name: dict(sorted(database[name].index_information().items())) for name in names},
            {
                str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
                for path in sorted(folder.rglob("*"))
            },
        )

    def put_back(self, database: Any, folder: Path) -> None:
        """Restore the saved content."""
        now = Snapshot.of(database, folder)
        for name in now.documents.keys() - self.documents.keys():
            database.drop_collection(name)
        for name, documents in self.documents.items():
            for index in now.indexes.get(name, {}).keys() - self.indexes[name].keys():
                database[name].drop_index(index)
            for index in self.indexes[name].keys() - now.indexes.get(name, {}).keys() - {"_id_"}:
                options = {key: value for key, value in self.indexes[name][index].items() if key not in ("key", "v")}
                database[name].create_index(self.indexes[name][index]["key"], name=index, **options)
            if _encoded(now.documents.get(name, [])) != _encoded(documents):
                database[name].delete_many({})
                if documents:
                    database[name].insert_many(documents)
        for path in sorted(now.files.keys() - self.files.keys(), reverse=True):
            (folder / path).rmdir() if now.files[path] is None else (folder / path).unlink()
        for path, content in sorted(self.files.items()):
            if content is None:
                (folder / path).mkdir(exist_ok=True)
            elif now.files.get(path) != content:
                (folder / path).write_bytes(content)


def _encoded(documents: Iterable[Document]) -> list[bytes]:
    return [bson.encode(document) for document in documents]


def labels_of(snapshot: Snapshot, fields: Iterable[str], only: Snapshot | None = None) -> dict[str, bytes]:
    """Return sample and field -> raters' labels, byte by byte, without attributes that `only` does not have.

    Limited to the samples of `only`, if given.
    """
    known = {} if only is None else _samples(only)
    found = {}
    for key, document in _samples(snapshot).items():
        if only is None or key in known:
            for field in fields:
                value = document.get(field)
                kept = value if only is None else _within(value, known[key].get(field))
                found[f"{key} {field}"] = bson.encode({"value": kept})
    return found


def _samples(snapshot: Snapshot) -> dict[str, Document]:
    own = [name for name in snapshot.documents if name.startswith("samples.")]
    return {str(document["_id"]): document for name in own for document in snapshot.documents[name]}


def _within(value: Any, like: Any) -> Any:
    """Return a value without keys that another does not have."""
    if isinstance(value, dict) and isinstance(like, dict):
        return {key: _within(entry, like[key]) for key, entry in value.items() if key in like}
    if isinstance(value, list) and isinstance(like, list) and len(value) == len(like):
        return [_within(*pair) for pair in zip(value, like, strict=True)]
    return value


def compared(snapshot: Snapshot, before: Snapshot, app: bool = False) -> dict[str, Any]:
    """Return path -> value of all content; new ids are numbered, times and processes masked.

    `app`: include content that only the App reads, which does not belong to a run.
    """
    passed_over = SUMS | (OF_TIME if app else OF_APP)
    known = set(ID.findall(repr(before.documents) + repr(sorted(before.files))))
    number: dict[str, str] = {}  # in order of occurrence, as ids of one second have no order
    times = {value for document in _samples(before).values() for value in _times(document)}

    def named(key: str) -> str:
        return key if key in known else number.setdefault(key, f"<{len(number)}>")

    def text(value: str) -> str:
        return ID.sub(lambda found: named(found[0]), DRAFT.sub(".<draft>", value))

    def plain(value: Any) -> Any:
        if isinstance(value, dict):  # of seals, which depend on ids and times, only the names
            entries = ((key, sorted(of) if key == "seal" else of) for key, of in value.items())
            return {text(key): plain(entry) for key, entry in entries if key not in PROCESS}
        if isinstance(value, list):
            return [plain(entry) for entry in value]
        if isinstance(value, ObjectId):
            return named(str(value))
        if isinstance(value, datetime):
            return value if value in times else "<time>"
        return text(value) if isinstance(value, str) else value

    found: dict[str, Any] = {}
    there = {name: documents for name, documents in snapshot.documents.items() if documents or not STORES.match(name)}
    for name, documents in there.items():
        found[text(name)] = "there"
        # within one second, ids of one process may precede or follow those of another
        old_first = sorted(documents, key=lambda document: str(document["_id"]) not in known)
        for place, document in enumerate(old_first):
            for key, value in document.items():
                if key not in passed_over and not (name == "datasets" and value in ([], {}, None)):
                    found[f"{text(name)}[{place}].{text(key)}"] = plain(value)
    found |= {f"indexes of {text(name)}": snapshot.indexes[name] for name in there}
    if number:  # in files, where ids may be adjacent, replace those that occur elsewhere
        own = re.compile("|".join(number).encode())
        inside = {path: value for path, value in found.items() if isinstance(value, bytes)}
        found |= {path: own.sub(lambda at: number[at[0].decode()].encode(), value) for path, value in inside.items()}
    return found | {f"file {text(name)}": content for name, content in snapshot.files.items()}


def counted(snapshot: Snapshot) -> Counter[str]:
    """Count documents, fields of data sets, indexes and files."""
    fields = sum(len(document["sample_fields"]) for document in snapshot.documents.get("datasets", ()))
    return Counter(
        documents=sum(map(len, snapshot.documents.values())),
        fields=fields,
        indexes=sum(map(len, snapshot.indexes.values())),
        files=len(snapshot.files),
    )


def without_document(snapshot: Snapshot) -> list[str]:
    """Return runs that a data set lists without a document."""
    there = {document["_id"] for document in snapshot.documents.get("runs", ())}
    listed = (document["runs"] for document in snapshot.documents["datasets"])
    return [key for runs in listed for key, run in runs.items() if run not in there]


def dangling(snapshot: Snapshot) -> list[str]:
    """Return fields that the App should show, but that do not exist."""
    found = []
    for document in snapshot.documents["datasets"]:
        there = {field["name"] for field in document["sample_fields"]} | {"_label_tags", "frames"}
        settings = document["app_config"]
        groups = [entry.get("paths", []) for entry in settings.get("sidebar_groups") or ()]
        shown = [*groups, (settings.get("active_fields") or {}).get("paths", [])]
        found += [path for paths in shown for path in paths if path.partition(".")[0] not in there]
    return found


def _times(value: Any) -> Iterable[datetime]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for entry in value:
            yield from _times(entry)
    elif isinstance(value, datetime):
        yield value


def difference(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Return each difference as a line."""
    found = []
    for path in sorted(one.keys() | other.keys()):
        left, right = one.get(path, "absent"), other.get(path, "absent")
        if left != right:
            found += _lines(path, left, right)
    return found


def _lines(path: str, left: Any, right: Any) -> list[str]:
    if isinstance(left, dict) and isinstance(right, dict):
        keys = [key for key in [*left, *right] if left.get(key, "absent") != right.get(key, "absent")]
        return [
            line
            for key in dict.fromkeys(keys)
            for line in _lines(f"{path}.{key}", left.get(key, "absent"), right.get(key, "absent"))
        ]
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        pairs = enumerate(zip(left, right, strict=True))
        return [line for place, pair in pairs if pair[0] != pair[1] for line in _lines(f"{path}[{place}]", *pair)]
    return [f"{path}: {repr(left)[:160]} -> {repr(right)[:160]}"]


def connect(uri: str, database: str) -> Any:
    """Connect to a database for inspection."""
    return pymongo.MongoClient(uri, serverSelectionTimeoutMS=20_000)[database]
