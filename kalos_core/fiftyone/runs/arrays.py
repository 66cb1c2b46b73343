"""Arrays of runs: one file per run in the database; only requested arrays are fetched."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import Any

import gridfs
import numpy as np
from bson import ObjectId
from numpy.typing import NDArray

from kalos_core.errors import InputError
from kalos_core.fiftyone.internals import database

BUCKET = "kalos"
"""GridFS bucket of the files, in FiftyOne's database."""

AT_ONCE = 1 << 22
"""Number of bytes that are copied at a time."""


def store_arrays(owner: ObjectId, arrays: Mapping[str, NDArray[Any]], writer: Mapping[str, Any], file_id: str) -> None:
    """Write arrays one after the other to a file with a given id. `owner`: the id of the data set."""
    about = {"dataset": owner, "writer": dict(writer)}
    with _files().new_file(_id=ObjectId(file_id), metadata=about) as file:
        index, at = {}, 0
        for name, array in arrays.items():
            stored = narrow(array)
            lines = np.atleast_1d(stored)
            at_once = max(1, AT_ONCE // max(lines[:1].nbytes, 1))
            crc = 0
            for begin in range(0, len(lines), at_once):
                content = lines[begin : begin + at_once].tobytes()
                crc = zlib.crc32(content, crc)
                file.write(content)
            index[name] = [at, stored.dtype.str, array.dtype.str, list(array.shape), crc]
            at += stored.nbytes
        file.index = json.dumps(index)
        file.check = zlib.crc32(file.index.encode())


def narrow(array: NDArray[Any]) -> NDArray[Any]:
    """Convert integers to the smallest type that holds them; other types are unchanged.

    Examples
    --------
    >>> narrow(np.array([0, 300])).dtype, narrow(np.array([-1, 300])).dtype
    (dtype('uint16'), dtype('int16'))
    """
    if array.dtype.kind not in "iu":
        return array
    least, most = int(array.min(initial=0)), int(array.max(initial=0))
    return array.astype(np.min_scalar_type(min(least, -most - 1) if least < 0 else most))


class StoredArrays(Mapping[str, NDArray[Any]]):
    """Arrays of a run; each is fetched on first access.

    Parameters
    ----------
    run_key : str
        Run key, for messages.
    file : str or None
        Id of the file that `store_arrays` wrote.
    """

    def __init__(self, run_key: str, file: str | None) -> None:
        self._run_key, self._id = run_key, file
        self._fetched: dict[str, NDArray[Any]] = {}

    @cached_property
    def _file(self) -> Any:
        try:
            return _files().get(ObjectId(self._id))
        except (gridfs.errors.NoFile, TypeError):
            raise self._lost("is gone") from None

    @cached_property
    def _index(self) -> dict[str, Any]:
        index, check = (getattr(self._file, name, None) for name in ("index", "check"))
        if not isinstance(index, str) or check != zlib.crc32(index.encode()):
            raise self._lost("is damaged")
        found: dict[str, Any] = json.loads(index)
        return found

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._fetched:
            at, kind, wide, shape, crc = self._index[name]
            dtype = np.dtype(kind)
            size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
            try:
                self._file.seek(at)
                content = self._file.read(size)
            except (gridfs.errors.GridFSError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
                raise self._lost("is damaged") from None
            if len(content) != size or zlib.crc32(content) != crc:
                raise self._lost("is damaged")
            array = np.frombuffer(content, dtype).reshape(shape)
            self._fetched[name] = array.astype(wide, copy=False)
        return self._fetched[name]

    def _lost(self, how: str) -> InputError:
        return InputError(f"run {self._run_key!r}: its stored result {how}; delete the run and compute it again")

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)


def delete_arrays(owner: ObjectId, file: str) -> None:
    """Delete a complete or partial file of a run, unless it belongs to another data set."""
    found = database()[BUCKET].files.find_one({"_id": ObjectId(file)}, {"metadata": True})
    if found is None or _about(found).get("dataset") in (None, owner):
        drop(file)


def orphans(known: Collection[str], of: Any) -> Iterator[tuple[str, Any]]:
    """Yield the files that belong to no run, with their writers.

    Parameters
    ----------
    known : collection of str
        Files of all runs.
    of : object
        Id of the data set that the files were written for, or a query condition on this id.
    """
    for found in database()[BUCKET].files.find({"metadata.dataset": of}, {"metadata": True}):
        if str(found["_id"]) not in known:
            yield str(found["_id"]), _about(found).get("writer")


def _about(file: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the data set and the writer of a file; empty if the metadata is damaged."""
    about = file.get("metadata")
    return about if isinstance(about, dict) else {}


def drop(file: str) -> None:
    """Delete a file with the arrays of a run."""
    _files().delete(ObjectId(file))


def _files() -> Any:
    return gridfs.GridFS(database(), collection=BUCKET)


def text_array(texts: Any) -> NDArray[Any]:
    """Encode texts as an array that can be stored: UTF-8, of the length of the longest.

    Examples
    --------
    >>> as_texts(text_array(["Weiß", ""]))
    ['Weiß', '']
    """
    encoded = [str(text).encode() for text in texts]
    return np.array(encoded, dtype=f"S{max(map(len, encoded), default=1) or 1}")


def as_texts(array: NDArray[Any]) -> list[str]:
    """Decode the texts that `text_array` encoded."""
    return [text.decode() for text in array.tolist()]


def part_of(arrays: Mapping[str, NDArray[Any]], prefix: str, without: str = "\0") -> dict[str, NDArray[Any]]:
    """Return the arrays whose names start with a prefix, which is removed; names that contain `without` are skipped."""
    return {name[len(prefix) :]: arrays[name] for name in arrays if name.startswith(prefix) and without not in name}
