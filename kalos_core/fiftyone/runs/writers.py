"""Writers: identification of the processes that write, and whether they are still at work."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil
from bson import ObjectId

from kalos_core.fiftyone.dataset.formats import Writer, fits

SAME_PROCESS = 60.0
"""Maximum difference in seconds between two readings of the start time of a process, which shifts with the clock."""

_AT_WORK: set[str] = set()
"""Current tasks of this process; an abandoned task counts as dead, although the process lives."""


@contextmanager
def writing_now() -> Iterator[Writer]:
    """Register a task of this process until the block is left."""
    work = str(ObjectId())
    _AT_WORK.add(work)
    try:
        yield Writer(host=socket.gethostname(), pid=os.getpid(), started=psutil.Process().create_time(), work=work)
    finally:
        _AT_WORK.discard(work)


def is_alive(writer: Any) -> bool:
    """Return whether a writer is still at work; assume so on other machines. An invalid `Writer` is not alive.

    Examples
    --------
    >>> with writing_now() as writer:
    ...     is_alive(writer)
    True
    >>> is_alive(writer)
    False
    """
    if not fits(writer, Writer):
        return False
    if writer["host"] != socket.gethostname():
        return True
    if writer["pid"] == os.getpid() and _is_same(psutil.Process(), writer):
        return writer["work"] in _AT_WORK
    try:
        process = psutil.Process(writer["pid"])
        return _is_same(process, writer) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _is_same(process: psutil.Process, writer: Writer) -> bool:
    return abs(process.create_time() - float(writer["started"])) < SAME_PROCESS
