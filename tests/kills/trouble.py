"""Further trouble for an act at a step: a full disk, a database that restarts, another user's act."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Any

import pymongo

from tests.kills.server import Server
from tests.kills.steps import WRITES

OUT_OF_DISK_SPACE = 14031
"""Error code of MongoDB."""


def _fail(uri: str, mode: str | dict[str, int], **data: Any) -> None:
    client: Any = pymongo.MongoClient(uri)
    client.admin.command("configureFailPoint", "failCommand", mode=mode, data=data)
    client.close()


def full_disk(uri: str, *, stays: bool = False) -> Callable[[str], None]:
    """Make the next write to a file or the database fail for lack of space, or all writes to the latter."""

    def then(label: str) -> None:
        if label.startswith("open"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        commands = sorted(WRITES if stays else {*WRITES, "aggregate"})
        _fail(uri, "alwaysOn" if stays else {"times": 1}, failCommands=commands, errorCode=OUT_OF_DISK_SPACE)

    return then


def no_more_trouble(uri: str) -> None:
    """Let the database accept all commands again."""
    _fail(uri, "off")


class Pause:
    """Step at which an act waits until it may continue."""

    def __init__(self) -> None:
        self._reached, self._go = os.pipe(), os.pipe()

    def __call__(self, _: str) -> None:
        """Report it and wait, in the process of the act."""
        os.write(self._reached[1], b"x")
        os.read(self._go[0], 1)

    def wait(self) -> bool:
        """Return whether the act reached the step; it may have ended before."""
        os.close(self._reached[1])
        return os.read(self._reached[0], 1) == b"x"

    def go_on(self) -> None:
        """Let the act continue."""
        os.write(self._go[1], b"x")
        for end in (self._reached[0], *self._go):
            os.close(end)


def restart(server: Server) -> None:
    """Kill the database, and restart it."""
    server.kill()
    server.start()
