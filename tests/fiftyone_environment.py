"""Isolate the tests from the user's own FiftyOne. Imported by `tests/conftest.py`, before tests are collected.

FiftyOne reads its environment once, at its first import, so this must come first. The name of the database isolates:
a process connects to any database server that the user's other FiftyOne processes have started, whatever
`FIFTYONE_DATABASE_DIR` says.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import psutil

PREFIX = "kalos-test-"
MEMORY = Path("/dev/shm")
ROOM = 2**31
"""Bytes that a database needs, with a reserve."""

PARENT = MEMORY if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM else Path(tempfile.gettempdir())
"""Parent of the folders: in memory, so that the database does not wait for a disk."""


def isolate() -> Path:
    """Point FiftyOne at a database and folders of this process; a `FIFTYONE_DATABASE_URI` of the user is kept."""
    if "fiftyone" in sys.modules:
        raise RuntimeError("FiftyOne was imported before tests/fiftyone_environment.py could keep it from your data")
    _sweep()
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=PARENT))
    os.environ |= {
        "FIFTYONE_DATABASE_NAME": f"kalos_test_{os.getpid()}",
        "FIFTYONE_CONFIG_PATH": str(folder / "config.json"),
        "FIFTYONE_APP_CONFIG_PATH": str(folder / "app_config.json"),
        "FIFTYONE_DATABASE_DIR": str(folder / "database"),
        "FIFTYONE_DEFAULT_DATASET_DIR": str(folder / "datasets"),
        "FIFTYONE_DATASET_ZOO_DIR": str(folder / "dataset_zoo"),
        "FIFTYONE_MODEL_ZOO_DIR": str(folder / "model_zoo"),
        "FIFTYONE_PLUGINS_DIR": str(folder / "plugins"),
        "FIFTYONE_DO_NOT_TRACK": "true",
        "FIFTYONE_DATABASE_VALIDATION": "false",
        "FIFTYONE_PLUGINS_CACHE_ENABLED": "true",
    }
    return folder


def share_database() -> None:
    """Pass the database server of this process to the processes it starts.

    Otherwise, workers that begin at once might each start a server, and a program that a test runs might connect to
    another worker's. Databases are named after their processes.
    """
    if "FIFTYONE_DATABASE_URI" not in os.environ:
        from fiftyone.core.odm import get_db_client

        host, port = get_db_client().address
        os.environ["FIFTYONE_DATABASE_URI"] = f"mongodb://{host}:{port}"


def tear_down() -> None:
    """Drop the database of this process, and remove its folders."""
    if "fiftyone" in sys.modules:
        from fiftyone.core.odm import get_db_client

        with get_db_client() as client:
            client.drop_database(os.environ["FIFTYONE_DATABASE_NAME"])
    for entry in FOLDER.iterdir():
        if entry.name != "database":  # its server runs until its last client disconnects; the next run removes it
            shutil.rmtree(entry, ignore_errors=True)


def _sweep() -> None:
    """Remove the folders of earlier runs, unless a run or a database server still uses them."""
    for folder in PARENT.glob(f"{PREFIX}*"):
        owner = folder.name.removeprefix(PREFIX).split("-")[0]
        lock = folder / "database" / "mongod.lock"  # contains the server's process id while it runs
        try:
            server = lock.read_text().strip() if lock.exists() else ""
        except OSError:  # of another user
            continue
        if not any(number.isdigit() and psutil.pid_exists(int(number)) for number in (owner, server)):
            shutil.rmtree(folder, ignore_errors=True)


FOLDER = isolate()
