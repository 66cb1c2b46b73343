"""Work in separate processes, forked after all imports and with new connections, so that they may die."""

from __future__ import annotations

import gc
import os
import pickle
import pkgutil
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fiftyone as fo
import fiftyone.core.odm.database as odm
import mongoengine
import mongoengine.connection

import kalos_core
from kalos_core import KalosError
from tests.kills.steps import At, Steps, die

BLOCK = 2
"""Samples to write at a time, so that few samples take several steps."""

LOADED = "fiftyone.plugins."
"""Modules that FiftyOne loads dynamically."""

Work = Callable[[], Any]


@dataclass
class Ended:
    """Outcome of a process.

    Parameters
    ----------
    code : int
        0: it ended normally, whether or not the work raised an error.
    answer : object
        Result of the work.
    error : str, optional
        Error of the work; `is_ours` says whether it is an error of ours.
    steps : list of str
    imported : list of str
        Modules that it imported.
    """

    code: int
    answer: Any = None
    error: str | None = None
    is_ours: bool = False
    steps: list[str] = field(default_factory=list)
    said: str = ""
    imported: list[str] = field(default_factory=list)


@dataclass
class Place:
    """Environment of processes: the database server, the name of the database, and the folder of all files."""

    uri: str
    database: str
    folder: Path


def import_all() -> None:
    """Import everything that a process may import lazily, so that forks have it."""
    for found in pkgutil.walk_packages(kalos_core.__path__, "kalos_core."):
        if not found.name.endswith("__main__"):
            import_module(found.name)
    gc.collect()
    gc.freeze()  # keep shared memory shared: no garbage collection of it


class Process:
    """Work in a separate process; see `run`."""

    def __init__(
        self, place: Place, work: Work, at: int | None = None, then: At = die, prepare: Work | None = None
    ) -> None:
        self._answer = Path(tempfile.mkstemp(prefix="kalos-answer-")[1])
        self._said = Path(tempfile.mkstemp(prefix="kalos-said-")[1])
        sys.stdout.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads, none of which is used
            self.pid = os.fork()
        if not self.pid:
            self._child(place, work, at, then, prepare)

    def _child(self, place: Place, work: Work, at: int | None, then: At, prepare: Work | None) -> None:
        code, known = 1, set(sys.modules)
        try:
            for number in (1, 2):
                os.dup2(os.open(self._said, os.O_WRONLY | os.O_APPEND), number)
            warnings.simplefilter("ignore")
            steps = Steps(place.database, place.folder, at, then)  # before any connection
            _connect(place)
            ended = Ended(0)
            if prepare is not None:
                prepare()
            steps.counts = True
            try:
                ended.answer = work()
            except BaseException as error:
                ended.error, ended.is_ours = f"{type(error).__name__}: {error}", isinstance(error, KalosError)
                traceback.print_exc()
            steps.counts = False
            ended.steps = steps.labels
            ended.imported = sorted(name for name in set(sys.modules) - known if not name.startswith(LOADED))
            self._answer.write_bytes(pickle.dumps(ended))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def wait(self) -> Ended:
        """Return the outcome."""
        _, status = os.waitpid(self.pid, 0)
        said = self._said.read_text(errors="replace")
        code = os.waitstatus_to_exitcode(status)
        ended = pickle.loads(self._answer.read_bytes()) if code == 0 else Ended(code)
        ended.said = said
        self._said.unlink()
        self._answer.unlink()
        for name in ended.imported:  # so that the next process has it
            with suppress(ImportError):
                import_module(name)
        return ended  # type: ignore[no-any-return]


def run(place: Place, work: Work, at: int | None = None, then: At = die, prepare: Work | None = None) -> Ended:
    """Run work in a separate process.

    Parameters
    ----------
    place : Place
    work : callable
    at, then
        Step of the work at which to act, and the action; see `Steps`.
    prepare : callable, optional
        Done before; its steps do not count.
    """
    return Process(place, work, at, then, prepare).wait()


def _connect(place: Place) -> None:
    """Connect to a database without using the connections of the parent."""
    odm._client = odm._async_client = None
    for alias in mongoengine.connection._connections:
        mongoengine.connection._connections[alias] = SimpleNamespace(close=lambda: None)
    mongoengine.disconnect_all()
    os.environ.pop("FIFTYONE_PRIVATE_DATABASE_PORT", None)
    fo.config.database_uri, fo.config.database_name = place.uri, place.database
    fo.config.default_dataset_dir = str(place.folder / "datasets")
    odm._connection_kwargs.clear()
    odm._connection_kwargs["host"] = place.uri
    odm.establish_db_conn(fo.config)
    for name, module in list(sys.modules.items()):
        if name.startswith("kalos_core.fiftyone") and hasattr(module, "BLOCK"):
            module.BLOCK = BLOCK  # type: ignore[attr-defined]
