"""labelme's JSON files, one folder per rater."""

import base64

import numpy as np
import pytest

from kalos_core.readers import read_labelme
from tests.readers.cases import LeftOut, Warned, as_bytes, differing, write


def shape(label, *points, kind="rectangle", group=None, **more):
    return {"label": label, "points": points, "group_id": group, "shape_type": kind, "flags": {}, **more}


def labelme(*shapes, path="..\\images\\a.jpg", width=20, flags=None):
    """Return a file as written by labelme 5."""
    more = {"imagePath": path, "imageData": None, "imageHeight": 10, "imageWidth": width}
    return {"version": "5.4.1", "flags": flags or {}, "shapes": shapes, **more}


CAT = shape("cat", [5, 8], [1, 2])
PNG = base64.b64encode(as_bytes(np.array([[0, 1], [1, 1]], np.uint8))).decode()
MASK = shape("cat", [16, 8], [17, 9], kind="mask", mask=PNG)
TRIANGLES = [shape("dog", [at, 0], [at + 2, 0], [at, 2], kind="polygon", group=0) for at in (0, 5)]
LINE = shape("cat", [1, 1], [2, 2], kind="linestrip")
ONE = "a=a.jpg 20x10 ann"
READ = {
    "two raters": ({"ann/a.json": labelme(CAT), "bob/a.json": labelme()}, [f"{ONE} bob: ann cat box 1 2 4 6"]),
    "shapes": ({"ann/a.json": labelme(MASK, shape("eye", [3, 4], kind="point"))},
        [f"{ONE}: ann cat mask at 16,8 01/11; ann eye keypoints 3,4"]),
    "a group": ({"ann/a.json": labelme(*TRIANGLES)}, [f"{ONE}: ann dog polygon 0,0 2,0 0,2 | 5,0 7,0 5,2"]),
    "a group apart": ({"ann/a.json": labelme(*TRIANGLES)}, {"grouped": "apart"},
        [f"{ONE}: ann dog polygon 0,0 2,0 0,2; ann dog polygon 5,0 7,0 5,2"]),
    "lines and flags": ({"ann/a.json": labelme(CAT, LINE, flags={"blurred": True, "dark": False})},
        Warned("Left out: 1 lines, which no similarity compares. Not used: flags of the image of 1 record.",
               [f"{ONE}: ann cat box 1 2 4 6"])),
}  # fmt: skip
UNUSABLE = [
    (shape("cat", [1, 2], [1, 2], kind="circle"), "expected two positive radii, got 0 and 0"),
    (shape("cat", [1, None], [3, 4]), "expected points [[x, y], ...], got [[1, None], [3, 4]]"),
    (shape("", [1, 2], [3, 4]), "expected a label, got None"),
    (shape("cat", [1, 2], kind="spline"), "expected a shape_type among rectangle, polygon, "),
    (MASK | {"mask": "!"}, "expected a mask as PNG in base64, got '!'"),
    (MASK | {"points": [[19, 8], [20, 9]]}, "expected a mask in whole pixels inside of 20 x 10, got 2 x 2 at 19, 8"),
]
REFUSED = [({"ann/a.json": {"images": []}}, "a.json: expected labelme's JSON with a list 'shapes', got images")]


def test_files(tmp_path):
    unusable = [
        ({"ann/a.json": labelme(CAT, bad)}, LeftOut(f"ann/a.json, shape 2: {words}")) for bad, words in UNUSABLE
    ]
    assert differing(read_labelme, tmp_path, [*READ.values(), *REFUSED, *unusable]) == []


def test_a_circle(tmp_path):
    circle = shape("cat", [8, 5], [11, 9], kind="circle", flags={"occluded": True}, attributes={"pose": "left"})
    table = read_labelme(write(tmp_path, {"ann/a.json": labelme(circle)}), aliases={"cat": "Cat"})
    assert table.shapes["polygon"].area() == pytest.approx(np.pi * 25, rel=0.002)
    assert table.categories.tolist() == ["Cat"]
    assert [table.attributes[name].tolist() for name in ("occluded", "pose")] == [[True], ["left"]]
