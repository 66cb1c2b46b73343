"""`Detections` of supervision."""

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from kalos_core import InputError, KalosWarning, agreement
from kalos_core.readers import read_supervision


@dataclass
class Detections:
    """The fields of `supervision.Detections` 0.26."""

    xyxy: np.ndarray
    mask: np.ndarray | None = None
    confidence: np.ndarray | None = None
    class_id: np.ndarray | None = None
    tracker_id: np.ndarray | None = None
    data: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)


EMPTY = Detections(np.empty((0, 4), np.float32), class_id=np.array([], int), confidence=np.array([], np.float32))
"""`Detections.empty()`."""


def boxes(*rows, **others):
    return Detections(np.array(rows, np.float32), **others)


def test_class_names_and_who_was_assigned():
    first = boxes([10, 20, 40, 60], [0, 0, 9, 9], class_id=np.array([0, 16]), data={"class_name": np.array(["a", "b"])})
    table = read_supervision({"ann": [first, EMPTY], "bob": [EMPTY, None]}, images=["x.jpg", "y.jpg"])
    assert table.shapes["box"].xywh().tolist() == [[10, 20, 30, 40], [0, 0, 9, 9]]
    assert (table.categories.tolist(), table.files.tolist()) == (["a", "b"], ["x.jpg", "y.jpg"])
    assert table.assigned.tolist() == [[True, True], [True, False]]


def test_classes_by_number_by_name_and_none():
    one = boxes([0, 0, 1, 1], class_id=np.array([2]))
    assert read_supervision({"ann": [one]}).categories.tolist() == ["2"]
    assert read_supervision({"ann": [one]}, classes=["a", "b", "c"]).categories.tolist() == ["c"]
    assert read_supervision({"ann": [one]}, classes={2: "c"}, aliases={"c": "d"}).categories.tolist() == ["d"]
    assert read_supervision({"ann": [boxes([0, 0, 1, 1])]}).categories.tolist() == ["object"]
    with pytest.raises(InputError, match=r"detections\['ann'\]\[0\]: expected a class_id among the classes, got .*2"):
        read_supervision({"ann": [one]}, classes=["a"])


def test_masks_oriented_boxes_and_sizes():
    mask = np.zeros((1, 8, 10), bool)
    mask[0, 2:4, 3:6] = True
    corners = np.array([[[3, 2], [6, 2], [6, 4], [3, 4]]], np.float32)
    table = read_supervision({"ann": {"x": boxes([3, 2, 6, 4], mask=mask, data={"xyxyxyxy": corners})}})
    assert table.image_size.tolist() == [[10, 8]]
    assert table.shapes["mask"].area().tolist() == table.shapes["polygon"].area().tolist() == [6]
    assert read_supervision({"ann": {"x": EMPTY}}, sizes={"x": (5, 4)}).image_size.tolist() == [[5, 4]]


def test_agreement_of_two_lists():
    table = read_supervision({"ann": [boxes([0, 0, 9, 9])], "bob": [boxes([0, 0, 9, 9])]})
    assert agreement(table, bootstrap=0).alpha == 1


@pytest.mark.parametrize(
    ("detections", "options", "message"),
    [
        ([EMPTY], {}, "detections: expected a mapping rater -> detections of every image"),
        ({}, {}, "detections: expected a mapping rater -> detections of every image"),
        ({"ann": EMPTY}, {}, "detections['ann']: expected a list or a mapping of Detections, got Detections"),
        (
            {"ann": [EMPTY]},
            {"images": ["a", "b"]},
            "detections['ann']: expected one Detections for each of 2 images, got",
        ),
        ({"ann": [3]}, {}, "detections['ann'][0]: expected Detections with xyxy, got int"),
        ({"ann": [boxes([0, 0, 1])]}, {}, "detections['ann'][0]: expected xyxy of shape any x 4, got (1, 3)"),
        (
            {"ann": [boxes([0, 0, 1, 1], class_id=np.array([1, 2]))]},
            {},
            "detections['ann'][0]: expected class_id of shape 1, got (2,)",
        ),
        ({"ann": [Detections(np.array([["a"] * 4]))]}, {}, "detections['ann'][0]: expected xyxy of shape any x 4"),
        ({"ann": [boxes([5, 0, 1, 1])]}, {}, "detections['ann'][0], detection 1: expected a box of positive width"),
        ({"ann": [boxes([0, 0, 1, 1], class_id=np.array([0.5]))]}, {}, "detection 1: expected a class name, got"),
    ],
)
def test_what_cannot_be_used(detections, options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read_supervision(detections, **options)


def test_detections_that_cannot_be_used_are_left_out_on_request():
    with pytest.warns(KalosWarning, match="They are left out") as caught:
        table = read_supervision({"ann": [boxes([5, 0, 1, 1], [0, 0, 1, 1])]}, on_invalid="skip")
    assert (len(table), table.skipped.tolist()) == (1, [1])
    assert [warning.filename for warning in caught] == [__file__]
