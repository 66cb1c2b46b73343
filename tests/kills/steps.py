"""Steps of an act: its writes to the database and to a folder; and an action at one of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pymongo import monitoring

WRITES = {"insert", "update", "delete", "findAndModify", "create", "drop", "createIndexes", "dropIndexes"}
"""Commands that write; aggregations write if they end in one of `INTO`."""
INTO = {"$out", "$merge"}

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
FILES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate"}
"""Audited events of the file system, besides `open`. `os.rename` replaces a file."""

At = Callable[[str], None]


def die(_: str) -> None:
    """Exit at once, without running any more code of the process."""
    os._exit(9)


class Steps(monitoring.CommandListener):
    """Record steps while it `counts`; `then` is called at one of them.

    At a step of the database, the command is complete. At a step of a file, the operation has not started; opening a
    file for writing has a second step, at which it exists and is empty.

    Parameters
    ----------
    database : str
        Name of the database.
    folder : path
        Only files in it count.
    at : int, optional
        Number of the step, from 0; None: only count.
    then : callable
        Called with the step.
    """

    def __init__(self, database: str, folder: Path, at: int | None = None, then: At = die) -> None:
        self.labels: list[str] = []
        self._database, self._folder, self._at, self._then = database, str(folder), at, then
        self._pending: dict[int, str] = {}
        self.counts = False
        monitoring.register(self)
        sys.addaudithook(self._audit)

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        """Note a command that writes."""
        if self.counts and event.database_name == self._database:
            command, into = event.command, event.command.get(event.command_name)
            if event.command_name == "aggregate":
                stages = [name for stage in command["pipeline"] for name in stage if name in INTO]
                if not stages:
                    return
                into = stages[-1]
            elif event.command_name not in WRITES:
                return
            self._pending[event.request_id] = f"{event.command_name} {_plain(str(into))}"

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        """Record a step, once the database has completed it."""
        label = self._pending.pop(event.request_id, None)
        if label is not None:
            self._step(label)

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        """Ignore a failed command."""
        self._pending.pop(event.request_id, None)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.counts or not (event in FILES or event == "open"):
            return
        path = arguments[0]
        if not isinstance(path, (str, bytes, os.PathLike)) or (event == "open" and not arguments[2] & WRITING):
            return
        name = os.fsdecode(path)
        if os.path.isabs(name) and not name.startswith(self._folder):
            return
        self._step(f"{event} {Path(name).suffix or Path(name).name}")
        if event == "open":
            self._step(f"{event} {Path(name).suffix or Path(name).name}, empty", name)

    def _step(self, label: str, empty: str | None = None) -> None:
        number = len(self.labels)
        self.labels.append(label)
        if number == self._at:
            self.counts = False  # later work does not belong to the act
            if empty is not None:
                os.close(os.open(empty, os.O_WRONLY | os.O_CREAT, 0o644))
            self._then(label)
            self.counts = True


def _plain(collection: str) -> str:
    """Return the name of a collection without ids."""
    return collection.partition(".")[0] if collection.startswith("samples.") else collection
