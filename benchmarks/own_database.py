"""FiftyOne with a separate database, so that the user's data sets are neither visible nor changed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def own_database() -> Iterator[Path]:
    """Yield a folder for images, plugins and settings. Enter before FiftyOne is imported for the first time."""
    name = f"kalos_benchmark_{os.getpid()}"
    with tempfile.TemporaryDirectory(prefix="kalos-benchmark-", ignore_cleanup_errors=True) as folder:
        os.environ |= {
            "FIFTYONE_DATABASE_NAME": name,
            "FIFTYONE_DATABASE_VALIDATION": "false",
            "FIFTYONE_DO_NOT_TRACK": "true",
            "FIFTYONE_PLUGINS_DIR": str(Path(folder) / "plugins"),
            "FIFTYONE_DEFAULT_DATASET_DIR": str(Path(folder) / "datasets"),
        }
        try:
            yield Path(folder)
        finally:
            from fiftyone.core.odm import get_db_client

            get_db_client().drop_database(name)
