"""Small files of several raters, written once, and commands run on them."""

import csv
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kalos_core import Annotations, write_coco
from kalos_core.cli import main

RATERS, NAMES = ("ann", "bob", "cid"), ("cat", "dog")


def study(missing: int = 3) -> Annotations:
    """Six images of a cat and a dog; boxes of bob and cid are lower from image to image, and bob misses one dog."""
    rows = [
        {"image": image, "rater": rater, "category": name, "box": [x, 20, 20, 20 - step * image]}
        for image in range(6)
        for step, rater in enumerate(RATERS)
        for name, x in (("cat", 10), ("dog", 60))
        if (rater, image, name) != ("bob", missing, "dog")
    ]
    return Annotations.from_rows(rows, image_size=dict.fromkeys(range(6), (200, 100)), assigned="all")


def outlines() -> Annotations:
    """Squares as polygons: of each image bob's is a pixel further right, cid's two."""
    rows = [
        {"image": image, "rater": rater, "category": "cat", "polygon": [[x, 9, x + 40, 9, x + 40, 49, x, 49]]}
        for image in range(3)
        for x, rater in enumerate(RATERS)
    ]
    return Annotations.from_rows(rows, image_size=dict.fromkeys(range(3), (99, 99)))


def grades() -> Annotations:
    """Objects of two raters that have a malignancy and a form."""
    return Annotations.from_rows(
        {"image": 1, "rater": rater, "category": "nodule", "box": [40 * place, 0, 30, 30],
         "attributes": {"malignancy": grade, "form": "round" if place else "oval"}}
        for rater, given in (("ann", [1, 3, 5, 4]), ("bob", [2, 3, 5, 5]))
        for place, grade in enumerate(given)
    )  # fmt: skip


def write_masks(folder: Path, masks: dict[str, Any]) -> Path:
    """PNG files by "rater/image"."""
    for name, rows in masks.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.array(rows, np.uint8)).save(folder / f"{name}.png")
    return folder


def write_table(path: Path, *rows: Iterable[Any]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files by a word; nobody changes them."""
    folder = tmp_path_factory.mktemp("cli")
    labels = write_coco(study(), folder / "labels.json")
    # eight items, all of ann and bob alike, three of cid otherwise; two alike and one on which ann is alone
    long = [(item, rater, "dog" if item % 2 else "cat") for item in range(8) for rater in ("ann", "bob")]
    long += [(item, "cid", "dog" if item % 2 or item < 5 else "cat") for item in range(8)]
    wide = [("a", "cat", "cat", "cat"), ("b", "dog", "dog", "dog"), ("c", "cat", "dog", "dog")]
    # the masks of two images, one or two columns apart
    rows, columns = np.mgrid[:10, :12]
    squares = {
        f"{rater}/{image}": (rows >= 2) & (rows < 7) & (columns >= step) & (columns < 8)
        for step, rater in enumerate(RATERS)
        for image in range(2)
    }
    # a model that finds what ann annotated, and a classifier that is sure of what ann and bob said
    drawn = [row for row in json.loads(labels.read_text(encoding="utf-8"))["annotations"] if row["rater_id"] == "ann"]
    found = [
        {name: row[name] for name in ("image_id", "category_id", "bbox")} | {"score": 0.9 - 0.01 * row["id"]}
        for row in drawn
    ]
    (folder / "net.json").write_text(json.dumps(found), encoding="utf-8")
    sure = [(item, name, 0.9 if name == NAMES[item % 2] else 0.2) for item in range(8) for name in NAMES]
    return {
        "labels": labels,
        "outlined": write_coco(outlines(), folder / "outlined.json"),
        "graded": write_coco(grades(), folder / "graded.json"),
        "table": write_table(folder / "long.csv", ("item", "rater", "label"), *long),
        "wide": write_table(folder / "wide.csv", ("item", *RATERS), *wide),
        "masks": write_masks(folder / "masks", squares),
        "predictions": folder / "net.json",
        "scores": write_table(folder / "scores.csv", ("item", "label", "score"), *sure),
        "here": folder,
    }


@pytest.fixture
def labels(files: dict[str, Path]) -> Path:
    return files["labels"]


@pytest.fixture
def table(files: dict[str, Path]) -> Path:
    return files["table"]


@pytest.fixture
def masks(files: dict[str, Path]) -> Path:
    return files["masks"]


@pytest.fixture
def found_by(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs a command; the JSON document that it writes to standard output."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    def run(*arguments: object) -> Any:
        assert main([*map(str, arguments), "--json", "-"]) == 0
        return json.loads(capsys.readouterr().out, parse_constant=refuse)

    return run


@pytest.fixture
def refusal(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command that cannot be run; what it writes to standard error."""

    def run(*arguments: object) -> str:
        assert main([*map(str, arguments)]) == 2
        return capsys.readouterr().err

    return run
