"""Small files of several raters."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kalos_core import Annotations, write_coco

RATERS = ("ann", "bob", "cid")


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


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """A COCO file of three raters."""
    return write_coco(study(), tmp_path / "labels.json")


@pytest.fixture
def outlined(tmp_path: Path) -> Path:
    """A COCO file of three raters with squares as polygons: of each image bob's is a pixel further right, cid's two."""
    rows = [
        {"image": image, "rater": rater, "category": "cat", "polygon": [[x, 9, x + 40, 9, x + 40, 49, x, 49]]}
        for image in range(3)
        for x, rater in enumerate(RATERS)
    ]
    return write_coco(
        Annotations.from_rows(rows, image_size=dict.fromkeys(range(3), (99, 99))), tmp_path / "outlined.json"
    )


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    """A COCO file of two raters with objects that have a malignancy and a form."""
    rows = [
        {"image": 1, "rater": rater, "category": "nodule", "box": [40 * place, 0, 30, 30], "attributes": attributes}
        for rater, grades in (("ann", [1, 3, 5, 4]), ("bob", [2, 3, 5, 5]))
        for place, grade in enumerate(grades)
        for attributes in [{"malignancy": grade, "form": "round" if place else "oval"}]
    ]
    return write_coco(Annotations.from_rows(rows), tmp_path / "graded.json")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Image-level labels, a row each: eight items, all of ann and bob alike, three of cid otherwise."""
    rows = [(item, rater, "dog" if item % 2 else "cat") for item in range(8) for rater in ("ann", "bob")]
    rows += [(item, "cid", "dog" if item % 2 or item < 5 else "cat") for item in range(8)]
    path = tmp_path / "long.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("item", "rater", "label"), *rows])
    return path


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """Two items that all label alike, and one on which ann is alone."""
    path = tmp_path / "wide.csv"
    path.write_text("item,ann,bob,cid\na,cat,cat,cat\nb,dog,dog,dog\nc,cat,dog,dog\n", encoding="utf-8")
    return path


@pytest.fixture
def masks(tmp_path: Path) -> Path:
    """A folder a rater with the masks of two images, one or two columns apart."""
    folder = tmp_path / "masks"
    for step, rater in enumerate(RATERS):
        (folder / rater).mkdir(parents=True)
        for image in range(2):
            pixels = np.zeros((10, 12), np.uint8)
            pixels[2:7, step:8] = 1
            Image.fromarray(pixels).save(folder / rater / f"{image}.png")
    return folder


@pytest.fixture
def predictions(labels: Path, tmp_path: Path) -> Path:
    """COCO's list of results of a model that finds what ann annotated."""
    rows = [row for row in json.loads(labels.read_text(encoding="utf-8"))["annotations"] if row["rater_id"] == "ann"]
    names = ("image_id", "category_id", "bbox")
    path = tmp_path / "net.json"
    found = [{**{name: row[name] for name in names}, "score": 0.9 - 0.01 * row["id"]} for row in rows]
    path.write_text(json.dumps(found), encoding="utf-8")
    return path


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """Scores of a classifier that is sure of what ann and bob said."""
    rows = [
        (item, label, 0.9 if (item % 2 == 1) == (label == "dog") else 0.2)
        for item in range(8)
        for label in ("cat", "dog")
    ]
    path = tmp_path / "scores.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("item", "label", "score"), *rows])
    return path
