"""The tests stay away from the user's own FiftyOne."""

import os
import subprocess
import sys
from pathlib import Path

import fiftyone as fo
import pytest
from fiftyone.core.odm import get_db_client

from tests import fiftyone_environment

ROOT = Path(__file__).resolve().parents[2]


def test_database_and_folders_are_those_of_the_tests() -> None:
    assert fo.config.database_name == f"kalos_test_{os.getpid()}"
    for name in ("database_dir", "default_dataset_dir", "dataset_zoo_dir", "model_zoo_dir", "plugins_dir"):
        assert Path(getattr(fo.config, name)).is_relative_to(fiftyone_environment.FOLDER)
    assert fo.config.do_not_track
    assert not Path.home().is_relative_to(fiftyone_environment.FOLDER)


def test_it_comes_before_fiftyone() -> None:
    with pytest.raises(RuntimeError, match="was imported before"):
        fiftyone_environment.isolate()


def test_importing_it_imports_nothing_of_fiftyone() -> None:
    program = "import sys; from tests import fiftyone_environment; sys.exit('fiftyone' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def test_a_database_of_the_user_is_kept() -> None:
    program = "import os; from tests import fiftyone_environment; print(os.environ['FIFTYONE_DATABASE_URI'])"
    environment = {**os.environ, "FIFTYONE_DATABASE_URI": "mongodb://example"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    )
    assert done.stdout == "mongodb://example\n"


def test_the_processes_of_this_one_are_told_its_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIFTYONE_DATABASE_URI", "")  # so that it is put back
    monkeypatch.delenv("FIFTYONE_DATABASE_URI")
    fiftyone_environment.share_database()
    host, port = get_db_client().address
    assert os.environ["FIFTYONE_DATABASE_URI"] == f"mongodb://{host}:{port}"
    monkeypatch.setenv("FIFTYONE_DATABASE_URI", "mongodb://example")
    fiftyone_environment.share_database()
    assert os.environ["FIFTYONE_DATABASE_URI"] == "mongodb://example"
