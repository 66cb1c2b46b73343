"""`make demo` until the App would open: once in its own home, otherwise in this process."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import fiftyone as fo
import pytest
from fiftyone.core.odm import get_db_client
from PIL import Image

from demo import __main__ as demo
from kalos_core import Annotations, write_coco
from tests.tiers import extended

ROOT = Path(__file__).resolve().parents[2]
CARS = '{"/a?car_[0-9]+/": "car"}'
PLUGINS = "FIFTYONE_PLUGINS_DIR"

pytestmark = pytest.mark.filterwarnings("default")  # the demo prints them as notes

Start = Callable[..., tuple[subprocess.CompletedProcess[str], list[dict]]]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts the demo; it returns the result, and the data sets in a separate database."""
    fo.list_datasets()  # start the database server if necessary
    client = get_db_client()
    host, port = client.address
    name = f"kalos_demo_{uuid.uuid4().hex[:8]}"
    (tmp_path / "user").mkdir()
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("FIFTYONE_")},
        "HOME": str(tmp_path / "user"),
        "FIFTYONE_DATABASE_NAME": name,
        "FIFTYONE_DATABASE_URI": f"mongodb://{host}:{port}",
        "FIFTYONE_DATABASE_VALIDATION": "false",
        "FIFTYONE_DO_NOT_TRACK": "true",
    }

    def run(*arguments: str) -> tuple[subprocess.CompletedProcess[str], list[dict]]:
        command = [sys.executable, "-m", "demo", "--no-app", "--home", str(tmp_path / "demo"), *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
        return done, list(client[name]["datasets"].find())

    yield run
    client.drop_database(name)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Return a function that runs the demo here, for its exit code and output. Its data sets are deleted at the end."""
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setenv(PLUGINS, str(tmp_path))
    before = set(fo.list_datasets())

    def main(*arguments: str) -> tuple[int, str, str]:
        kept = fo.list_datasets()
        code = demo.main(["--no-app", "--home", str(tmp_path / "demo"), *arguments])
        assert code == 0 or fo.list_datasets() == kept
        return code, *capsys.readouterr()

    yield main
    for name in set(fo.list_datasets()) - before:
        fo.delete_dataset(name)


@extended
def test_the_drawn_demo(start, tmp_path):
    done, (kept,) = start()
    for said in (
        "1,390 annotations of 4 raters on 72 images.",
        "KαLOS(polygon_iou",
        "Findings: 1,284 correct",
        "Calibration: polygon_iou: KS = 0.870",
        "Ceiling of any model: label convergence ",
        "inferred from alpha of all raters, KαLOS(polygon_iou, τ_s=0.5, S=shm, ψ_neg)",
    ):
        assert said in done.stdout
    assert "Traceback" not in done.stderr
    assert len(list((tmp_path / "demo" / "scenes" / "images").iterdir())) == 72
    assert (kept["name"], kept["persistent"]) == ("kalos-demo", True)
    assert set(kept["runs"]) == {"first", "first_variations", "first_calibration", "first_convergence"}


@pytest.fixture
def small(tmp_path: Path) -> str:
    """Write a file with one annotation by each rater on one of two missing images."""
    rows = [{"image": "1.jpg", "rater": rater, "category": "cat", "box": [1, 1, 5, 5]} for rater in ("ann", "bob")]
    sizes = dict.fromkeys(("1.jpg", "2.jpg"), (10, 12))
    return str(write_coco(Annotations.from_rows(rows, images=list(sizes), image_size=sizes), tmp_path / "mine.json"))


def test_a_start_with_a_file_without_images(start, small, tmp_path):
    done, (kept,) = start("--labels", small)
    assert "2 annotations of 2 raters on 2 images." in done.stdout
    assert "2 images are missing; grey canvases of the right size replace them." in done.stdout
    assert "Traceback" not in done.stderr
    assert "is not in your FIFTYONE_PLUGINS_DIR" not in done.stderr
    assert (tmp_path / "demo" / "plugins" / "kalos-variation" / "fiftyone.yml").is_file()
    canvases = list((tmp_path / "demo" / "canvas").rglob("*.jpg"))
    assert len(canvases) == 2
    with Image.open(canvases[0]) as canvas:
        assert canvas.size == (10, 12)
    assert (kept["name"], kept["persistent"]) == ("kalos-mine", True)
    assert set(kept["runs"]) == {"first", "first_variations", "first_calibration"}  # too little data for a ceiling
    assert len(kept["workspaces"]) == 1


def test_once_more_replaces_the_earlier_demo_and_no_other_data_set(run, small):
    assert run("--labels", small)[0] == 0
    before = fo.load_dataset("kalos-mine")._doc.id
    assert run("--labels", small)[0] == 0
    again = fo.load_dataset("kalos-mine")
    assert again._doc.id != before
    again.tags = []
    code, _, said = run("--labels", small)
    assert "'kalos-mine' was not made by a demo" in said
    assert (code, fo.load_dataset("kalos-mine")._doc.id) == (2, again._doc.id)


def test_the_plugin_is_linked_anew_and_a_folder_of_the_user_is_kept(run, tmp_path, monkeypatch):
    (tmp_path / "mine.json").write_text("no json")
    monkeypatch.setattr(fo.config, "plugins_dir", str(tmp_path))
    said = run("--labels", str(tmp_path / "mine.json"))[2]
    assert "@kalos/variation is not in your FIFTYONE_PLUGINS_DIR" in said
    link = tmp_path / "demo" / "plugins" / "kalos-variation"
    assert not link.parent.exists()
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "gone")  # as if the clone was moved
    monkeypatch.delenv(PLUGINS)
    run("--labels", str(tmp_path / "mine.json"))
    assert link.resolve() == ROOT
    assert os.environ[PLUGINS] == str(link.parent)


@extended
def test_cars_with_their_class_names_reconciled(run, cars_path, tmp_path):
    (tmp_path / "aliases.json").write_text(CARS)
    of_cars = ("--labels", str(cars_path), "--category-field", "label_raw")
    code, out, said = run(*of_cars, "--aliases", str(tmp_path / "aliases.json"))
    assert code == 0, said
    assert "80 annotations of 4 raters on 20 images." in out
    assert "missing" not in out.split("Findings")[0]  # the images are found next to the file
    assert "'truck' (1 by r2)" in said
    assert fo.load_dataset("kalos-labels").default_classes == ["car", "truck"]


def test_unusable_input_is_one_clear_error(run, cars_path, tmp_path):
    of_cars = ("--labels", str(cars_path), "--category-field", "label_raw")
    for aliases in ("{", "/no/such/file.json", '{"a": 1}'):
        code, _, said = run(*of_cars, "--aliases", aliases)
        assert (code, "aliases: expected" in said) == (2, True), aliases
    assert "labels.json: expected COCO with a list 'categories'" in run("--labels", str(cars_path))[2]
    file = tmp_path / "mine.json"
    for text, message in ((None, "No such file"), ("no json", "expected JSON"), ("3", "expected ")):
        if text is not None:
            file.write_text(text)
        code, _, said = run("--labels", str(file))
        assert (code, "mine.json" in said, message in said) == (2, True, True), text


def test_make_passes_its_variables_on():
    given = {**os.environ, "CATEGORY_FIELD": "label_raw", "ALIASES": CARS, "LABELS": "a b.json"}
    make = ["make", "--dry-run", "--no-print-directory", "demo"]  # the tests may run under make
    program = ".venv/bin/python -m demo"
    shown = subprocess.run(make, cwd=ROOT, env=given, capture_output=True, text=True, check=True).stdout
    command = shown[shown.index(program) :].replace(program, "printf '%s\\n'")
    passed = subprocess.run(["sh", "-c", command], env=given, capture_output=True, text=True, check=True).stdout
    assert passed.splitlines() == ["--labels", "a b.json", "--category-field", "label_raw", "--aliases", CARS]
