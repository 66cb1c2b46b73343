"""`Detections` of supervision."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kalos_core.readers import read_supervision
from tests.readers.cases import LeftOut, differing


@dataclass
class Detections:
    """Fields of `supervision.Detections` 0.26."""

    xyxy: np.ndarray
    mask: np.ndarray | None = None
    confidence: np.ndarray | None = None
    class_id: np.ndarray | None = None
    tracker_id: np.ndarray | None = None
    data: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)


EMPTY = Detections(np.empty((0, 4), np.float32), class_id=np.array([], int), confidence=np.array([], np.float32))
"""`Detections.empty()`."""


def boxes(*rows, classes=None, **others):
    return Detections(np.array(rows, np.float32), class_id=None if classes is None else np.array(classes), **others)


UNIT = [0, 0, 1, 1]
TWO = boxes([10, 20, 40, 60], [0, 0, 9, 9], classes=[0, 16], data={"class_name": np.array(["a", "b"])})
ONE = boxes(UNIT, classes=[2])
PIXELS = np.zeros((1, 8, 10), bool)
PIXELS[0, 2:4, 3:6] = True
CORNERS = np.array([[[3, 2], [6, 2], [6, 4], [3, 4]]], np.float32)
SHAPES = "polygon 3,2 6,2 6,4 3,4 mask at 3,2 111/111"
MAPPING = "detections: expected a mapping rater -> detections of every image"
FIRST = "detections['ann'][0]: expected "


def of_ann(found, name="object", image="0", size="?"):
    return [f"{image} {size} ann: ann {name} {found}"]


CASES = [
    ({"ann": [TWO, EMPTY], "bob": [EMPTY, None]}, {"images": ["x.jpg", "y.jpg"]},
     ["x.jpg ? ann bob: ann a box 10 20 30 40; ann b box 0 0 9 9", "y.jpg ? ann:"]),
    ({"ann": [ONE]}, of_ann("box 0 0 1 1", "2")),
    ({"ann": [ONE]}, {"classes": ["a", "b", "c"]}, of_ann("box 0 0 1 1", "c")),
    ({"ann": [ONE]}, {"classes": {2: "c"}, "aliases": {"c": "d"}}, of_ann("box 0 0 1 1", "d")),
    ({"ann": [boxes(UNIT)]}, of_ann("box 0 0 1 1")),
    ({"ann": {"x": boxes([3, 2, 6, 4], mask=PIXELS, data={"xyxyxyxy": CORNERS})}},
     of_ann(SHAPES, image="x", size="10x8")),
    ({"ann": {"x": EMPTY}}, {"sizes": {"x": (5, 4)}}, ["x 5x4 ann:"]),
    ({"ann": [ONE]}, {"classes": ["a"]}, FIRST + "a class_id among the classes, got"),
    ({}, MAPPING),
    ({"ann": [EMPTY]}, {"images": ["a", "b"]}, "detections['ann']: expected one Detections for each of 2 images, got"),
    ({"ann": [3]}, FIRST + "Detections with xyxy, got int"),
    ({"ann": [boxes([0, 0, 1])]}, FIRST + "xyxy of shape any x 4, got (1, 3)"),
    ({"ann": [boxes([5, 0, 1, 1])]}, LeftOut("detections['ann'][0], detection 1: expected a box of positive width")),
    ({"ann": [boxes(UNIT, classes=[0.5])]}, "detection 1: expected a class name, got"),
]  # fmt: skip


def test_detections():
    assert differing(read_supervision, None, CASES) == []
