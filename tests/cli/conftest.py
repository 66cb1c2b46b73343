"""Small files of several raters, written once, and commands that use them."""

import json
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kalos_core import Annotations, write_coco
from kalos_core.cli import main
from tests.readers.cases import write

RATERS, NAMES = ("ann", "bob", "cid"), ("cat", "dog")


def study(missing: int = 3) -> Annotations:
    """Return eight images of a cat and a dog; boxes of bob and cid get lower by image, and bob misses one dog."""
    rows = [
        {"image": image, "rater": rater, "category": name, "box": [x, 20, 20, 20 - step * (image % 6)]}
        for image in range(8)
        for step, rater in enumerate(RATERS)
        for name, x in (("cat", 10), ("dog", 60))
        if (rater, image, name) != ("bob", missing, "dog")
    ]
    return Annotations.from_rows(rows, image_size=dict.fromkeys(range(8), (200, 100)), assigned="all")


def outlines() -> Annotations:
    """Return squares as polygons; in each image, bob's is a pixel further right, cid's two."""
    rows = [
        {"image": image, "rater": rater, "category": "cat", "polygon": [[x, 9, x + 40, 9, x + 40, 49, x, 49]]}
        for image in range(8)
        for x, rater in enumerate(RATERS)
    ]
    return Annotations.from_rows(rows, image_size=dict.fromkeys(range(8), (99, 99)))


def grades() -> Annotations:
    """Return objects of two raters with malignancy and form."""
    return Annotations.from_rows(
        {"image": 1, "rater": rater, "category": "nodule", "box": [40 * place, 0, 30, 30],
         "attributes": {"malignancy": grade, "form": "round" if place else "oval"}}
        for rater, given in (("ann", [1, 3, 5, 4]), ("bob", [2, 3, 5, 5]))
        for place, grade in enumerate(given)
    )  # fmt: skip


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write the files and return them by a short name; tests must not change them."""
    folder = tmp_path_factory.mktemp("cli")
    # eight items, on all of which ann and bob agree, and cid differs on three
    long = [f"{item},{rater},{NAMES[item % 2]}" for item in range(8) for rater in ("ann", "bob")]
    long += [f"{item},cid,{NAMES[item % 2 or item < 5]}" for item in range(8)]
    # masks of two images, one or two columns apart
    rows, columns = np.mgrid[:10, :12]
    square = (rows >= 2) & (rows < 7) & (columns < 8)
    masks = {
        f"masks/{rater}/{image}.png": (square & (columns >= step)).astype(np.uint8)
        for step, rater in enumerate(RATERS)
        for image in range(2)
    }
    # a model that finds what ann annotated, and a classifier that is certain of the labels of ann and bob
    found = [
        {"image_id": image, "category_id": category, "bbox": [x, 20, 20, 20], "score": 0.9 - 0.01 * (image + category)}
        for image in range(8)
        for category, x in ((1, 10), (2, 60))
    ]
    sure = [f"{item},{name},{0.9 if name == NAMES[item % 2] else 0.2}" for item in range(8) for name in NAMES]
    tables = {
        "long.csv": "\n".join(["item,rater,label", *long]),
        "wide.csv": "item,ann,bob,cid\na,cat,cat,cat\nb,dog,dog,dog\nc,cat,dog,dog\n",  # ann differs on the third
        "scores.csv": "\n".join(["item,label,score", *sure]),
    }
    write(folder, masks | tables | {"net.json": found})
    return {
        "labels": write_coco(study(), folder / "labels.json"),
        "outlined": write_coco(outlines(), folder / "outlined.json"),
        "graded": write_coco(grades(), folder / "graded.json"),
        "table": folder / "long.csv",
        "wide": folder / "wide.csv",
        "masks": folder / "masks",
        "predictions": folder / "net.json",
        "scores": folder / "scores.csv",
        "here": folder,
    }


@pytest.fixture
def labels(files: dict[str, Path]) -> Path:
    return files["labels"]


@pytest.fixture
def folder(files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with the files of the examples; in labels.json, bob misses dogs of before.json."""
    content = json.loads(files["labels"].read_text(encoding="utf-8"))
    missed = [
        row["rater_id"] == "bob" and row["category_id"] == 2 and row["image_id"] < 7 for row in content["annotations"]
    ]
    content["annotations"] = [row for row, gone in zip(content["annotations"], missed, strict=True) if not gone]
    named = {"before.json": "labels", "labels.csv": "table", "graded.json": "graded", "net.json": "predictions"}
    for name, word in named.items():
        (tmp_path / name).write_bytes(files[word].read_bytes())
    write(tmp_path, content, "labels.json")
    (tmp_path / "masks").symlink_to(files["masks"], target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that passes a file to the next command as standard input."""

    def give(path: str) -> None:
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(Path(path).read_bytes())))

    return give


@pytest.fixture
def found_by(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Return a function that runs a command and returns the JSON document from its standard output."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    def run(*arguments: object) -> Any:
        assert main([*map(str, arguments), "--json", "-"]) == 0
        return json.loads(capsys.readouterr().out, parse_constant=refuse)

    return run


@pytest.fixture
def refusal(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return a function that runs an invalid command and returns its standard error."""

    def run(*arguments: object) -> str:
        assert main([*map(str, arguments)]) == 2
        return capsys.readouterr().err

    return run
