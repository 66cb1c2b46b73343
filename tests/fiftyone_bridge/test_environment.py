"""Tests do not touch the user's own FiftyOne."""

import os
import subprocess
import sys
from pathlib import Path

import fiftyone as fo

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
