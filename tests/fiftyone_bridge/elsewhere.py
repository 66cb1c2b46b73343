"""Work of another process on the same database; forked, because a new one would import FiftyOne for seconds."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fiftyone as fo
from fiftyone.core.odm import get_db_client

from tests.kills.processes import Place, Process

Work = Callable[[fo.Dataset], object]


def dying(*_: Any, **__: Any) -> None:
    """Replacement of a function that kills the process when called."""
    os.kill(os.getpid(), signal.SIGKILL)


def begin_elsewhere(dataset: fo.Dataset, work: Work) -> Process:
    """Start work on a data set, which the other process loads; `wait` returns its result."""
    name = dataset.name

    def work_there() -> None:
        fo.config.singleton_cache = False  # ignore objects in this process's memory
        work(fo.load_dataset(name))

    host, port = get_db_client().address
    folder = Path(fo.config.default_dataset_dir).parent
    return Process(Place(f"mongodb://{host}:{port}", fo.config.database_name, folder), work_there)


def elsewhere(dataset: fo.Dataset, work: Work) -> None:
    """Do some work on a data set in another process."""
    ended = begin_elsewhere(dataset, work).wait()
    assert (ended.code, ended.error) == (0, None), ended.said


def kill(dataset: fo.Dataset, work: Work, *where: tuple[Any, str]) -> None:
    """Do some work on a data set that is killed at the call of a function, given as an object and a name in it."""

    def until_then(there: fo.Dataset) -> None:
        for owner, name in where:
            assert hasattr(owner, name)
            setattr(owner, name, dying)
        work(there)

    ended = begin_elsewhere(dataset, until_then).wait()
    assert ended.code == -signal.SIGKILL, ended.said
