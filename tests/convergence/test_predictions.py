"""mAP of a model for each rater: by hand, and equal to pycocotools to 1e-12."""

from dataclasses import replace

import numpy as np
import pytest

from kalos_core import Annotations, InputError, modified_map
from kalos_core.convergence import map_of_predictions

CAT = {"image": 1, "category": "cat"}


def model(*marks):
    return Annotations.from_rows([{"rater": "net", **mark} for mark in marks])


def test_by_hand():
    truth = Annotations.from_rows([{**CAT, "rater": "ann", "box": [0, 0, 10, 10]}])
    found = model({**CAT, "box": [0, 0, 10, 10]}, {**CAT, "box": [50, 0, 10, 10]})
    assert map_of_predictions(truth, found, [0.9, 0.6]).mean == 1  # the hit has the higher score
    assert map_of_predictions(truth, found, [0.6, 0.9]).mean == 0.5
    assert map_of_predictions(truth, found, [0.6, 0.6]).mean == 1  # in the given order


def test_a_rater_with_equal_scores_is_modified_map(lvis):
    part = lvis.select(images=np.arange(60))
    first, second = part.select(raters=[0]), part.select(raters=[1])
    for similarity in ("box_iou", "polygon_iou"):
        result = map_of_predictions(first, second, np.full(len(second), 0.99), similarity=similarity)
        expected = modified_map(part, similarity).directions[:, 0, 1]
        np.testing.assert_allclose(result.by_rater[:, 0], expected, rtol=0, atol=1e-12)


def test_images_and_classes_are_found_by_name():
    box = {"box": [0, 0, 9, 9]}
    dog, emu = {"image": 2, "category": "dog", **box}, {**CAT, "category": "emu", **box}
    truth = Annotations.from_rows([{**CAT, **box, "rater": "ann"}, {**dog, "rater": "ann"}])
    result = map_of_predictions(truth, model(dog, {**CAT, **box}, emu), [0.3, 0.2, 0.9])
    assert (result.mean, result.unknown_classes, result.images.tolist()) == (1, 1, [2])


TRUTH = Annotations.from_rows([{**CAT, "rater": "ann", "box": [0, 0, 9, 9]}])
FOUND = model({**CAT, "box": [0, 0, 9, 9]}, {**CAT, "box": [5, 0, 9, 9]})


@pytest.mark.parametrize(
    ("truth", "found", "arguments", "message"),
    [
        (TRUTH, FOUND, {"scores": [0.5]}, "the confidence of each of 2 predictions, got 1"),
        (TRUTH, FOUND, {"scores": [0.5, None]}, r"got none for 1 of 2 \(ids 2\)"),
        (TRUTH, replace(FOUND, images=np.array([7], object)), {}, "expected images of the annotations, got others: 7"),
        (TRUTH, Annotations.from_rows([{**CAT, "rater": r, "box": [0, 0, 9, 9]} for r in "ab"]), {}, "got raters a, b"),
        (TRUTH.select(rows=[]), FOUND, {}, "expected annotations of a rater, got none"),
        (TRUTH, FOUND, {"similarity": "volume_iou"}, "expected one that compares two tables, got 'volume_iou'"),
        (TRUTH, FOUND, {"similarity": lambda *_: 1}, "got a function of the rows of one table"),
    ],
)
def test_undefined_results_are_reported(truth, found, arguments, message):
    with pytest.raises(InputError, match=message):
        map_of_predictions(truth, found, **{"scores": [0.5, 0.6], **arguments})
