"""Conversion between arrays and columns of Arrow tables: ids, numbers, names, and lists of these."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.annotations.columns import codes_in
from kalos_core.arrays import expand_runs
from kalos_core.errors import InputError, listed, repr_of
from kalos_core.extras import optional


def arrow() -> Any:
    """Import pyarrow with `pyarrow.parquet`; raise an error that says how to install it if it is missing."""
    optional("pyarrow.parquet", "dask", "shards")
    return import_module("pyarrow")


def id_columns(ids: Iterable[Any], what: str) -> tuple[Any, Any]:
    """Return ids as numbers if all are, otherwise as text; and which of them are text.

    Examples
    --------
    >>> [column.to_pylist() for column in id_columns([3, "a"], "id")], id_columns([3], "id")[0].to_pylist()
    ([['3', 'a'], [False, True]], [3])
    """
    pa = arrow()
    if isinstance(ids, np.ndarray) and ids.dtype.kind == "i":
        return pa.array(ids), pa.array(np.zeros(len(ids), np.bool_))
    values = list(ids)
    is_text = [isinstance(value, str) for value in values]
    strange = [
        value
        for value, text in zip(values, is_text, strict=True)
        if not text and (isinstance(value, bool) or not isinstance(value, (int, np.integer)))
    ]
    if strange:
        raise InputError(f"{what}: expected ids that are whole numbers or text, got {listed(map(repr_of, strange))}")
    if not any(is_text):
        try:
            return pa.array([int(value) for value in values], pa.int64()), pa.array(is_text)
        except OverflowError:
            raise InputError(f"{what}: expected whole numbers below 2^63, got {max(values, key=abs)}") from None
    return pa.array(map(str, values), pa.string()), pa.array(is_text)


def as_lists(start: NDArray[np.intp], values: Any) -> Any:
    """Return entries as lists that begin at `start`, which includes the end."""
    pa = arrow()
    entries = pa.array(values) if isinstance(values, np.ndarray) else values
    return pa.ListArray.from_arrays(pa.array(start.astype(np.int32)), entries)


def as_names(names: NDArray[np.object_]) -> Any:
    """Return names as a column of text."""
    pa = arrow()
    return pa.array(names, pa.string())


def ids_of(table: Any, name: str) -> NDArray[np.object_]:
    """Return ids from the columns written by `id_columns`."""
    ids, is_text = column_of(table, name).to_pylist(), column_of(table, f"{name}_is_text").to_pylist()
    return object_array(value if text else int(value) for value, text in zip(ids, is_text, strict=True))


def column_of(table: Any, name: str) -> Any:
    """Return a column as one array; raise an error if values are missing."""
    if name not in table.column_names:
        raise InputError(f"expected a column {name!r}, got {listed(table.column_names, 30) or 'none'}")
    column = table.column(name).combine_chunks()
    pa = arrow()
    if isinstance(column, pa.ChunkedArray):  # older versions return one, with at most one chunk
        column = column.chunk(0) if column.num_chunks else pa.array([], column.type)
    if column.null_count:
        raise InputError(f"{name}: expected a value in every row, got none in {column.null_count:,}")
    return column


def numbers_of(table: Any, name: str, dtype: Any = np.int64) -> NDArray[Any]:
    """Return a column of numbers, by default whole numbers."""
    column = column_of(table, name)
    values = np.asarray(column.to_numpy(zero_copy_only=False))
    if len(values) and values.dtype.kind not in ("iu" if dtype is np.int64 else "iuf"):
        expected = "whole numbers" if dtype is np.int64 else "numbers"
        raise InputError(f"{name}: expected {expected}, got {column.type}")
    return values.astype(dtype)


def codes_of(table: Any, name: str, names: tuple[str, ...]) -> NDArray[np.intp]:
    """Return the codes of a column of names in a vocabulary."""
    pa, column = arrow(), column_of(table, name)
    return _coded(column if pa.types.is_dictionary(column.type) else column.dictionary_encode(), name, names)


def _coded(column: Any, name: str, names: tuple[str, ...]) -> NDArray[np.intp]:
    """Return the codes of a dictionary-encoded column in a vocabulary."""
    known = column.dictionary.to_pylist()
    code, used = codes_in(names, known), np.asarray(column.indices.to_numpy(zero_copy_only=False), dtype=np.intp)
    found = code[used]
    if (found < 0).any():
        strange = [known[at] for at in np.unique(used[found < 0])]
        raise InputError(f"{name}: expected names that the data set has, got {listed(map(repr_of, strange))}")
    return found


def entries_of(table: Any, name: str, names: tuple[str, ...]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the row and the code of each entry in a column of lists of names."""
    column = column_of(table, name)
    owner, _ = expand_runs(np.zeros(len(column), np.intp), np.diff(starts_of(column)))
    return owner, _coded(flat_of(column).dictionary_encode(), name, names)


def flat_of(column: Any) -> Any:
    """Return the entries of a column of lists, one list after the other."""
    return column.flatten()


def starts_of(column: Any) -> NDArray[np.intp]:
    """Return the start of each list of a column among all entries, with the end appended."""
    offsets = np.asarray(column.offsets.to_numpy(), dtype=np.intp)
    return offsets - offsets[0] if len(offsets) else np.zeros(1, np.intp)
