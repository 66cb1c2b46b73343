"""Errors of pixel functions, with messages that name the argument."""

import numpy as np
import pytest

from kalos_core import Annotations, InputError, agreement, boundary_agreement, boundary_distance, region_agreement
from kalos_core.pixels import (
    LabelStack,
    MaskStack,
    PixelAccumulator,
    class_pixel_agreement,
    disputed_regions,
    match_contours,
    pixel_agreement,
    rater_performance,
    surface_dice,
    tolerance_in_pixels,
    unit_boundaries,
)

SQUARE = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]])
BOXES = Annotations.from_rows([{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in "ab"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        # ---- stacks and their agreement
        (lambda: MaskStack.of([[[0, 1]], [[0], [1]]]), "expected one size, got .*'rater 1'.*'rater 2'"),
        (lambda: MaskStack.of([[[0, 3]], [[0, 1]]]), "mask of 'rater 1': expected 0 and 1, or 0 and 255"),
        (lambda: MaskStack.of([[["a"]]]), "expected truth values or numbers"),
        (lambda: MaskStack.of([[0, 1], [0, 1]]), "expected height x width, got shape"),
        (lambda: MaskStack.of({"ann": None}), "expected at least one rater's, got None of each, so that the size"),
        (lambda: MaskStack(np.full((1, 2, 2), 255, np.uint8), np.array(["ann"], object)), "use MaskStack.of for"),
        (lambda: class_pixel_agreement([{"ann": [[1, 9]], "bob": [[1, 1]]}], {1: "road"}), "classes 1, got 9"),
        (lambda: MaskStack.of([[[1]], [[1]]], ["ann", "ann"]), "expected 2 names, each once"),
        (lambda: MaskStack.of(np.zeros((65, 1, 1), bool)), "at most 64 raters, got 65"),
        (lambda: MaskStack.of([[[1]]], ignore=[[1, 0]]), "ignore: expected the size of the masks"),
        (lambda: MaskStack.of([[[1]]], image_pixels=[[1, 0]]), "image_pixels: expected the size of the masks"),
        (lambda: LabelStack.of([[[0.5]]]), "expected whole numbers, got float64"),
        (lambda: pixel_agreement([]), "expected at least one image, got none"),
        (lambda: pixel_agreement([MaskStack.of([[[1]], [[1]]], ignore=[[1]])]), "got none in 1 images"),
        (lambda: pixel_agreement([{"eve": [[1]]}], ["ann", "bob"]), "expected raters among ann, bob, got eve"),
        (lambda: PixelAccumulator(["ann"]), "at least two names"),
        (lambda: class_pixel_agreement([], {}), "expected at least one value and its name"),
        (lambda: rater_performance([[[1]]], [[1, 0]]), "truth: expected the size of the masks"),
        # ---- boundaries
        (lambda: boundary_distance([[0, 1, 2]], [[0, 1, 0]]), "mask of 'a': expected 0 and 1"),
        (lambda: boundary_distance([[0, 1, 1]], [[0, 1, 1]] * 2), r"b: expected the size of a \(1, 3\), got \(2, 3\)"),
        (lambda: boundary_distance(np.ones((1, 2, 3, 4)), [[0]]), r"a: expected a mask.* got shape \(1, 2, 3, 4\)"),
        (lambda: boundary_distance(SQUARE, np.ones((9, 9), bool)), "b: expected the same kind as a, a mask or"),
        (lambda: boundary_distance(SQUARE[:2], SQUARE), "a: expected at least 3 points of a polygon"),
        (lambda: boundary_distance(SQUARE * np.nan, SQUARE), "a: expected coordinates of points, got"),
        (lambda: boundary_distance([[1]], [[1]], 0), "spacing: expected a number above 0, or 2 of them, got 0"),
        (lambda: boundary_distance([[1]], [[1]], (1, 1, 1)), "spacing: expected a number above 0, or 2"),
        (lambda: boundary_distance([[1]], [[1]]).surface_dice(-1), "tolerance: expected a number of at least 0"),
        (lambda: boundary_agreement([]), "stacks: expected an image with at least two assigned raters, got none in 0"),
        (
            lambda: boundary_agreement(5),
            "stacks: expected masks of one image or more, such as read_mask_folders.*, got 5",
        ),
        (lambda: boundary_agreement([[[[1]], [[1]]]], spacing=(1, 1, 1)), "spacing: expected a number above 0, or 2"),
        (lambda: boundary_agreement([[[[1]], [[1]]]], tolerance=-1), "tolerance: expected a number of at least 0"),
        (lambda: boundary_agreement([[[[1]], [[1]]]], bootstrap=-1), "bootstrap: expected a whole number"),
        (lambda: unit_boundaries(5), "agreement: expected Agreement"),
        (
            lambda: unit_boundaries(agreement(BOXES, bootstrap=0)),
            "agreement: expected a polygon or a mask of every .* box",
        ),
        (lambda: surface_dice(kind="box"), "kind: expected 'polygon' or 'mask', got 'box'"),
        (lambda: surface_dice(tolerance=-1), "tolerance: expected a number of at least 0"),
        (lambda: surface_dice(name=3), "name: expected"),
        (lambda: tolerance_in_pixels((2, 2), -0.1), "tolerance: expected a number of at least 0 and below 1"),
        (lambda: match_contours([[1]], [[1, 0]]), "expected the size of the truth"),
        # ---- regions
        (lambda: region_agreement(5), "stacks: expected several entries or a function, got 5"),
        (lambda: region_agreement([{"a": [[0.5]], "b": [[1]]}]), "labels of 'a': expected whole numbers"),
        (lambda: disputed_regions([{"a": [[1]], "b": [[0]]}], min_width=0), "min_width: expected a whole number"),
        (lambda: disputed_regions([{"a": [[1]]}]), "an image with at least two assigned raters, got none in 1 images"),
    ],
)
def test_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
