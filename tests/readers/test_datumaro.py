"""Datumaro's JSON, as Datumaro and CVAT write it."""

from kalos_core.readers import read_datumaro
from tests.readers.cases import LeftOut, Warned, differing


def entry(kind, label=0, **more):
    return {"id": 0, "type": kind, "attributes": {"occluded": False}, "group": 0, "label_id": label, **more}


def datumaro(*entries, labels=("cat", "dog"), joints=()):
    label = {"labels": [{"name": name, "parent": "", "attributes": []} for name in labels]}
    points = {"items": [{"label_id": 0, "labels": joints, "joints": []}] if joints else []}
    item = {"id": "x/a", "annotations": entries, "image": {"path": "x/a.jpg", "size": [10, 20]}}
    return {"info": {}, "categories": {"label": label, "points": points}, "items": [item]}


BOX = entry("bbox", bbox=[4, 2, 4, 2])
POSE = entry("skeleton", points=[1, 2, 2, 5, 6, 1])
SHAPES = (
    BOX | {"attributes": {"rotation": 90.0}},
    entry("polygon", 1, points=[0, 0, 8, 0, 8, 4.5]),
    entry("mask", rle={"counts": [189, 1, 10], "size": [10, 20]}),
    entry("cuboid_2d", points=[[0, 0], [4, 0], [4, 3], [0, 3], [1, 1], [2, 1], [2, 2], [1, 2]]),
)
DOTS = [entry("points", points=points, visibility=[2] * (len(points) // 2)) for points in ([1, 2], [3, 4, 5, 6])]
ONE = "x/a=a.jpg 20x10 ann"
CASES = [
    ({"ann/annotations/default.json": datumaro(BOX), "bob/default.json": datumaro(BOX, labels=("dog", "cat"))},
     [f"{ONE} bob: ann cat box 4 2 4 2; bob dog box 4 2 4 2"]),
    ({"ann.json": datumaro(*SHAPES)},  # the box 4 x 2 about (6, 3) by a quarter; pixel 189 is row 9 of column 18
     [f"{ONE}: ann cat polygon 7,1 7,5 5,5 5,1; ann dog polygon 0,0 8,0 8,4.5; ann cat mask at 18,9 1; "
      "ann cat polygon 0,0 0,3 4,3 4,0"]),
    ({"ann.json": datumaro(POSE, joints=["head", "foot"]), "bob.json": datumaro(POSE, joints=["foot", "head"])},
     [f"{ONE} bob: ann cat keypoints 1,2 5,6; bob cat keypoints 5,6 1,2"]),
    ({"ann.json": datumaro(*DOTS)}, [f"{ONE}: ann cat keypoints 1,2; ann cat keypoints 3,4; ann cat keypoints 5,6"]),
    ({"ann.json": datumaro(entry("label"))}, Warned("Left out: 1 labels of images", [f"{ONE}:"])),
    ({"ann.json": datumaro(BOX, BOX | {"label_id": 7})}, LeftOut("annotation 2: expected a label_id from 0 to 1,")),
    ({"annotations/train.json": datumaro(), "annotations/test.json": datumaro()}, "got test, train, which are splits"),
]  # fmt: skip


def test_files(tmp_path):
    assert differing(read_datumaro, tmp_path, CASES) == []
