"""The tests stay away from the user's own FiftyOne."""

import os
import subprocess
import sys
from pathlib import Path

import fiftyone as fo
from fiftyone.core.odm import get_db_client

from tests import fiftyone_environment

ROOT = Path(__file__).resolve().parents[2]


def test_database_and_folders_are_those_of_the_tests():
    assert fo.config.database_name == f"kalos_test_{os.getpid()}"
    for name in ("database_dir", "default_dataset_dir", "dataset_zoo_dir", "model_zoo_dir", "plugins_dir"):
        assert Path(getattr(fo.config, name)).is_relative_to(fiftyone_environment.FOLDER)
    assert fo.config.do_not_track
    assert not Path.home().is_relative_to(fiftyone_environment.FOLDER)


def test_it_imports_nothing_of_fiftyone_and_keeps_a_database_of_the_user():
    program = """
import os, sys
from tests import fiftyone_environment
print("fiftyone" in sys.modules, os.environ["FIFTYONE_DATABASE_URI"])
"""
    environment = {**os.environ, "FIFTYONE_DATABASE_URI": "mongodb://example"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
    assert done.stdout == "False mongodb://example\n"


def test_processes_that_it_starts_know_its_server(monkeypatch):
    host, port = get_db_client().address
    monkeypatch.setenv("FIFTYONE_DATABASE_URI", "mongodb://example")  # puts it back afterwards
    fiftyone_environment.share_database()
    assert os.environ["FIFTYONE_DATABASE_URI"] == "mongodb://example"
    monkeypatch.delenv("FIFTYONE_DATABASE_URI")
    fiftyone_environment.share_database()
    assert os.environ["FIFTYONE_DATABASE_URI"] == f"mongodb://{host}:{port}"
