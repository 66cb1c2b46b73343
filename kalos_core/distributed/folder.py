"""Folder of shards: its list, which is written last so that the folder is complete or invalid, and Parquet files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from kalos_core.arguments import check_type
from kalos_core.distributed.columns import arrow
from kalos_core.errors import InputError, listed, repr_of
from kalos_core.extras import optional
from kalos_core.files import as_path, reason

LIST = "dataset.json"
"""File that lists the shards; it is written last, so a folder without it holds no shards."""

FORMAT, VERSION = "kalos shards", 1
"""Format name in the list, and the version of the schema."""


def address_of(folder: object) -> str:
    """Return a folder as text: a path, or an address that fsspec opens."""
    if not isinstance(folder, (str, os.PathLike)):
        raise InputError(f"folder: expected a path or an address, got {type(folder).__name__}")
    address = os.fspath(folder)
    return address if "://" in str(address) else str(as_path(address, "folder"))


def file_system(folder: str, options: dict[str, Any]) -> tuple[Any, str]:
    """Return the file system of a folder or address, and the path of the folder in it."""
    check_type("options", dict[str, Any], options)
    if not all(isinstance(name, str) for name in options):
        raise InputError(f"options: expected names of arguments of the file system, got {repr_of(options)}")
    core = optional("fsspec.core", "dask", folder)
    try:
        files, inside = core.url_to_fs(folder, **options)
    except (ValueError, ImportError) as error:
        raise InputError(f"{folder}: expected a folder, or an address that fsspec opens: {error}") from None
    return files, str(inside).rstrip("/")


def read_list(folder: str, options: dict[str, Any]) -> dict[str, Any]:
    """Read the list of a folder."""
    files, inside = file_system(folder, options)
    path = f"{folder.rstrip('/')}/{LIST}"
    try:
        with files.open(f"{inside}/{LIST}", "rb") as file:
            content = json.loads(file.read().decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise InputError(f"{folder}: expected a folder of shards, as write_shards makes it, got no {LIST}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: expected the list of shards as JSON, got unreadable content: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT or content.get("version") != VERSION:
        found = [content.get("format"), content.get("version")] if isinstance(content, dict) else content
        raise InputError(f"{path}: expected a list of {FORMAT!r} of version {VERSION}, got {repr_of(found)}")
    return content


def list_text(kind: str, head: dict[str, Any], shards: Sequence[dict[str, Any]]) -> str:
    """Return the text of a list of shards."""
    content = {"format": FORMAT, "version": VERSION, "kind": kind, **head, "shards": shards}
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def check_runs(folder: str, what: str, runs: Sequence[tuple[int, int, str]]) -> None:
    """Check that shards are consecutive, given the first image or item of each, their number, and the file."""
    first = 0
    for start, count, name in runs:
        if start != first:
            raise InputError(
                f"{folder}/{LIST}: expected a shard from {what} {first} on, got {name} from {what} {start} on"
            )
        first += count


def read_parquet(folder: str, options: dict[str, Any], name: str) -> Any:
    """Read a file of a shard as an Arrow table."""
    pa = arrow()
    path = f"{folder.rstrip('/')}/{name}"
    try:
        files, inside = file_system(folder, options)
        with files.open(f"{inside}/{name}", "rb") as file:
            return pa.parquet.read_table(file)
    except FileNotFoundError:
        raise InputError(f"{path}: expected a file that {LIST} lists, got none") from None
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path}: expected a Parquet file, got one that cannot be read: {error}") from None


@dataclass
class Draft:
    """New or empty folder during writing; removed if it cannot be completed."""

    folder: str
    options: dict[str, Any]
    written: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        arrow()
        self.system, self.inside = file_system(self.folder, self.options)
        self.was_there = self.system.exists(self.inside)
        there = self._listed() if self.was_there else []
        if there:
            raise InputError(
                f"{self.folder}: expected a new or an empty folder, got {len(there):,} files ({listed(there)})"
            )
        try:
            self.system.makedirs(self.inside, exist_ok=True)
        except (OSError, RecursionError) as error:
            raise InputError(f"{self.folder}: expected a folder to write to, got {reason(error)}") from error

    def _listed(self) -> list[str]:
        if not self.system.isdir(self.inside):
            raise InputError(f"{self.folder}: expected a folder, got a file")
        return [str(path).rsplit("/", 1)[-1] for path in self.system.ls(self.inside, detail=False)]

    def write(self, name: str, table: Any) -> None:
        """Write an Arrow table."""
        with self._opened(name) as file:
            arrow().parquet.write_table(table, file)

    def read(self, name: str, columns: list[str] | None = None) -> Any:
        """Read a table that was written."""
        with self.system.open(f"{self.inside}/{name}", "rb") as file:
            return arrow().parquet.read_table(file, columns=columns)

    def finish(self, text: str) -> None:
        """Write the list of shards."""
        with self._opened(LIST) as file:
            file.write(text.encode("utf-8"))

    @contextmanager
    def _opened(self, name: str) -> Iterator[Any]:
        self.written.append(name)
        try:
            with self.system.open(f"{self.inside}/{name}", "wb") as file:
                yield file
        except OSError as error:
            path = f"{self.folder.rstrip('/')}/{name}"
            raise InputError(f"{path}: expected a file to write to, got {reason(error)}") from error

    def remove(self) -> None:
        """Remove what was written."""
        for name in dict.fromkeys(self.written):
            path = f"{self.inside}/{name}"
            if self.system.exists(path):
                self.system.rm_file(path)
        if not self.was_there and self.system.exists(self.inside) and not self._listed():
            self.system.rmdir(self.inside)
