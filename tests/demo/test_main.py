"""`make demo` up to the point where the App would open, in a home of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import fiftyone as fo
import pytest
from fiftyone.core.odm import get_db_client, get_db_conn
from PIL import Image

from demo.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
CARS = '{"/a?car_[0-9]+/": "car"}'

Demo = Callable[..., subprocess.CompletedProcess[str]]


@contextmanager
def in_a_home_of_its_own(folder: Path) -> Iterator[Demo]:
    """Run the demo with these arguments; its data sets are in a database of their own."""
    fo.list_datasets()  # starts the database server, if nothing has
    client = get_db_client()
    host, port = client.address
    name = f"kalos_demo_{uuid.uuid4().hex[:8]}"
    home = folder / "user"
    home.mkdir()
    kept = {key: value for key, value in os.environ.items() if not key.startswith("FIFTYONE_")}
    environment = {
        **kept,
        "HOME": str(home),
        "FIFTYONE_DATABASE_NAME": name,
        "FIFTYONE_DATABASE_URI": f"mongodb://{host}:{port}",
        "FIFTYONE_DATABASE_VALIDATION": "false",
        "FIFTYONE_DO_NOT_TRACK": "true",
    }

    def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "demo", "--no-app", "--home", str(folder / "demo"), *arguments]
        return subprocess.run(
            command, cwd=ROOT, env=environment | more, capture_output=True, text=True, timeout=300, check=False
        )

    run.database = client[name]  # type: ignore[attr-defined]
    yield run
    client.drop_database(name)


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    with in_a_home_of_its_own(tmp_path) as demo:
        yield demo


Refused = Callable[..., str]


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Refused:
    """Run the demo, in this process, with arguments that it refuses; what it says. No data set is made."""
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)

    def run(*arguments: str) -> str:
        before = fo.list_datasets()
        assert main(["--no-app", "--home", str(tmp_path / "demo"), *arguments]) == 2
        assert fo.list_datasets() == before
        return capsys.readouterr().err

    return run


def data_sets(demo: Demo) -> dict[str, dict]:
    return {found["name"]: found for found in demo.database["datasets"].find()}  # type: ignore[attr-defined]


def test_the_drawn_demo(demo, tmp_path):
    done = demo()
    assert done.returncode == 0, done.stderr
    assert "1,390 annotations of 4 raters on 72 images." in done.stdout
    assert "KαLOS(polygon_iou" in done.stdout
    assert "Findings: 1,284 correct" in done.stdout
    assert "Calibration: polygon_iou: KS = 0.870" in done.stdout
    assert "Ceiling of any model: label convergence " in done.stdout
    assert "inferred from alpha of all raters, KαLOS(polygon_iou, τ_s=0.5, S=shm, ψ_neg)" in done.stdout
    assert "Traceback" not in done.stderr
    assert len(list((tmp_path / "demo" / "scenes" / "images").iterdir())) == 72
    assert (tmp_path / "demo" / "plugins" / "kalos-variation" / "fiftyone.yml").is_file()
    (kept,) = data_sets(demo).values()
    assert (kept["name"], kept["persistent"]) == ("kalos-demo", True)
    assert set(kept["runs"]) == {"first", "first_variations", "first_calibration", "first_convergence"}
    assert len(kept["workspaces"]) == 1


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with an annotation of each rater on one of two images that are not there."""
    sizes = {"width": 10, "height": 12, "rater_list": ["ann", "bob"]}
    labels = {
        "images": [{"id": number, "file_name": f"{number}.jpg", **sizes} for number in (1, 2)],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [
            {"id": number, "image_id": 1, "category_id": 1, "rater_id": rater, "bbox": [1, 1, 5, 5]}
            for number, rater in enumerate(("ann", "bob"), 1)
        ],
    }
    file = tmp_path_factory.mktemp("small") / "mine.json"
    file.write_text(json.dumps(labels))
    return file


@dataclass
class Small:
    """The demo, how it ended with the small file, and its folder."""

    demo: Demo
    done: subprocess.CompletedProcess[str]
    folder: Path


@pytest.fixture(scope="module")
def of_small(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Small]:
    folder = tmp_path_factory.mktemp("of_small")
    with in_a_home_of_its_own(folder) as demo:
        yield Small(demo, demo("--labels", str(small)), folder / "demo")


def test_once_more_replaces_the_earlier_demo_and_renews_its_link(of_small, small):
    assert of_small.done.returncode == 0
    (before,) = data_sets(of_small.demo).values()
    link = of_small.folder / "plugins" / "kalos-variation"
    link.unlink()
    link.symlink_to(of_small.folder / "gone")  # as after the clone was moved
    assert of_small.demo("--labels", str(small)).returncode == 0
    (again,) = data_sets(of_small.demo).values()
    assert again["_id"] != before["_id"]
    assert link.resolve() == ROOT


def test_a_file_without_images_gets_canvases(of_small):
    assert of_small.done.returncode == 0, of_small.done.stderr
    assert "2 annotations of 2 raters on 2 images." in of_small.done.stdout
    assert "2 images are missing: grey canvases of the right size stand in." in of_small.done.stdout
    canvases = list((of_small.folder / "canvas").rglob("*.jpg"))
    assert len(canvases) == 2
    with Image.open(canvases[0]) as canvas:
        assert canvas.size == (10, 12)
    assert list(data_sets(of_small.demo)) == ["kalos-mine"]


def test_cars_need_their_class_names(refused, cars_path):
    assert "labels.json: expected COCO with a list 'categories'" in refused("--labels", str(cars_path))


def test_cars_with_their_class_names_reconciled(demo, cars_path, tmp_path):
    aliases = str(tmp_path / "aliases.json")
    (tmp_path / "aliases.json").write_text(CARS)
    done = demo("--labels", str(cars_path), "--category-field", "label_raw", "--aliases", aliases)
    assert done.returncode == 0, done.stderr
    assert "80 annotations of 4 raters on 20 images." in done.stdout
    assert "missing" not in done.stdout.split("Findings")[0]  # the images are found next to the file
    assert "'truck' (1 by r2)" in done.stderr
    assert data_sets(demo)["kalos-labels"]["default_classes"] == ["car", "truck"]


def test_a_file_that_cannot_be_used_is_one_clear_error(refused, tmp_path):
    for text, message in (("no json", "expected JSON"), (None, "No such file")):
        file = tmp_path / f"{len(message)}.json"
        if text is not None:
            file.write_text(text)
        said = refused("--labels", str(file))
        assert message in said
        assert file.name in said


def test_wrong_aliases_are_one_clear_error(refused, cars_path):
    for aliases in ("{", "/no/such/file.json", '{"a": 1}'):
        options = ["--category-field", "label_raw", "--aliases", aliases]
        assert "aliases: expected" in refused("--labels", str(cars_path), *options)


def test_a_data_set_that_is_no_demo_is_left_alone(refused, small):
    kept = fo.Dataset("kalos-mine", persistent=True)
    before = list(get_db_conn()["datasets"].find({}, {"_id": 1, "name": 1}))
    assert "'kalos-mine' was not made by a demo" in refused("--labels", str(small))
    assert list(get_db_conn()["datasets"].find({}, {"_id": 1, "name": 1})) == before
    kept.delete()


def test_a_plugins_folder_of_the_user_is_kept_and_a_missing_plugin_said(demo, tmp_path):
    (tmp_path / "own").mkdir()
    file = tmp_path / "mine.json"
    file.write_text("no json")
    done = demo("--labels", str(file), FIFTYONE_PLUGINS_DIR=str(tmp_path / "own"))
    assert "@kalos/variation is not in your FIFTYONE_PLUGINS_DIR" in done.stderr
    assert not (tmp_path / "demo" / "plugins").exists()


def test_make_passes_its_variables_on(tmp_path):
    shown = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", "demo"],  # the tests themselves may run under make
        cwd=ROOT,
        env={**os.environ, "CATEGORY_FIELD": "label_raw", "ALIASES": CARS, "LABELS": "labels.json"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    command = shown[shown.index(".venv/bin/python -m demo") :].replace(".venv/bin/python -m demo", "printf '%s\\n'")
    passed = subprocess.run(
        ["sh", "-c", command],
        env={"PATH": os.environ["PATH"], "CATEGORY_FIELD": "label_raw", "ALIASES": CARS, "LABELS": "a b.json"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert passed == ["--labels", "a b.json", "--category-field", "label_raw", "--aliases", CARS]
    assert not list(tmp_path.iterdir())
