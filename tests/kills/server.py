"""Separate database server, which may be killed."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pymongo
from fiftyone.core.service import DatabaseService
from pymongo.errors import PyMongoError


class Server:
    """MongoDB server on a free port of this machine, with its files in a folder.

    It supports `failCommand`, by which a test makes it refuse a command, as with a full disk.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port: int = found.getsockname()[1]
        self.uri = f"mongodb://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True)
        self.start()

    def start(self) -> None:
        """Start the server with its previous content; wait until it responds."""
        command = [DatabaseService.find_mongod(), "--dbpath", self.folder, "--port", self.port, "--nounixsocket"]
        command += ["--bind_ip", "127.0.0.1", "--wiredTigerCacheSizeGB", "0.25"]
        command += ["--journalCommitInterval", "500"]  # the maximum: content not journaled is lost at each restart
        command += ["--logpath", self.folder / "log.txt", "--setParameter", "enableTestCommands=1"]
        self._process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL)
        client: Any = pymongo.MongoClient(self.uri, serverSelectionTimeoutMS=500)
        for _ in range(120):
            try:
                client.admin.command("ping")
                break
            except PyMongoError:
                if self._process.poll() is not None:
                    raise RuntimeError(f"the database does not start: see {self.folder / 'log.txt'}") from None
                time.sleep(0.1)
        client.close()

    def kill(self) -> None:
        """Kill the server, as in a power failure."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
