"""Parsing of models that users enter: names with mAP, and errors for anything else."""

import pytest

from kalos_core import InputError
from kalos_core.convergence import read_models


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("YOLO 0.412, DETR 0.437", {"YOLO": 0.412, "DETR": 0.437}),
        ("Mask R-CNN .3\nYOLO v8: 0;DETR=1.0", {"Mask R-CNN": 0.3, "YOLO v8": 0.0, "DETR": 1.0}),
        (" , ", {}),
        (None, {}),
        ({"YOLO": 1}, {"YOLO": 1.0}),
    ],
)
def test_names_with_numbers(typed, expected):
    assert read_models(typed) == expected


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("YOLO", "expected names with their mAP, such as 'YOLO 0.412, DETR 0.437', got 'YOLO'"),
        ("0.412", "expected the name of a model before its mAP, got ''"),
        ("YOLO 41.2", r"expected the mAP of 'YOLO' from 0 to 1, got 41\.2; 41\.2 % is 0\.412"),
        ("YOLO nan", "expected the mAP of 'YOLO' from 0 to 1, got nan"),
        ("YOLO 0.4, YOLO 0.5", "expected every model once, got 'YOLO' twice"),
        ({"YOLO": "0.5"}, "expected the mAP of 'YOLO' from 0 to 1, got '0.5'"),
        ([0.5], r"models: expected a text or a mapping, got \[0\.5\]"),
    ],
)
def test_anything_else_is_reported(typed, message):
    with pytest.raises(InputError, match=message):
        read_models(typed)
