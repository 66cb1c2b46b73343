"""Input of a wrong type is an `InputError` that says what was expected; omissions and assumptions give warnings."""

import warnings
from inspect import isfunction, signature

import numpy as np
import pytest

import kalos_core
from kalos_core import Annotations, InputError, KalosWarning, LabelTable, draw_image
from kalos_core.convergence import fit_line
from kalos_core.nominal import rater_accuracy
from kalos_core.pixels import pixel_agreement
from kalos_core.ranking import DetectorAccumulator, boundary_evaluation, rank_models

BOX = {"image": 1, "rater": "ann", "category": "cat", "box": [0, 0, 10, 10]}
BOXES = [{**BOX, "image": image, "rater": rater} for image in (1, 2, 3) for rater in ("ann", "bob")]
ANNOTATIONS = Annotations.from_rows(BOXES, image_size=dict.fromkeys((1, 2, 3), (20, 20)))
LABELS = LabelTable.from_rows([{"item": i, "rater": r, "label": "x"} for i in (1, 2, 3) for r in "ab"])
MASKS = {"ann": [[0, 1]], "bob": [[1, 1]]}


def ranking():
    accumulator = DetectorAccumulator()
    accumulator.add({"net": np.array([[0.1, 0.9]])}, MASKS)
    return accumulator


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fit_line({"a": ["x"]}, {"a": [1]}), r"alpha of 'a': expected numbers, got \['x'\]"),
        (
            lambda: rater_accuracy(LABELS, reference={1: 2.5}),
            "item 1: expected names of labels, got 2.5",
        ),
        (lambda: Annotations.from_rows(BOXES, raters="ann"), "raters: expected several names, got 'ann'"),
        (lambda: Annotations.from_rows(5), "rows: expected several mappings, got 5"),
        (lambda: draw_image(ANNOTATIONS, 1, np.full((20, 20), np.nan)), "pixels: expected numbers .*, got NaN only"),
        (lambda: pixel_agreement(5), "stacks: expected masks of one image or more, such as read_mask_folders.*, got 5"),
        (lambda: boundary_evaluation([5]), "image 1: expected a pair of scores and masks, got 5"),
        (lambda: ranking().result(skew=5), "skew: expected the ends of a range, got 5"),
    ],
)
def test_a_wrong_type_is_named_with_the_expected_type(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_a_line_of_lists_and_without_a_source():
    assert str(fit_line([0, 0.5, 1.0], [0.1, 0.5, 0.9])) == "mAP = 0.800 α + 0.100 (ρ = 1.00, R² = 1.00)"


def test_a_gap_in_the_truth_is_left_out_and_counted():
    with pytest.warns(KalosWarning, match=r"reference: 1 of 2 items have no label \(None\) and are excluded"):
        found = rater_accuracy(LABELS, reference={1: "x", 2: None})
    assert found.to_reference.tolist() == [1, 1]


def test_images_that_a_mapping_of_assigned_raters_leaves_out_are_warned_of():
    rows = [BOX, {**BOX, "image": 2}, {**BOX, "image": 3}, {**BOX, "image": 3, "rater": "bob"}]
    message = "who was assigned to 2 of 3 images, and 1 of 2 images have annotations of some raters only"
    with pytest.warns(KalosWarning, match=message):
        annotations = Annotations.from_rows(rows, assigned={1: ["ann"]})
    assert annotations.assigned.tolist() == [[True, False], [True, True], [True, True]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Annotations.from_rows(rows, assigned={1: ["ann"], 2: ["ann"]})  # both annotated the third


def test_raters_who_are_local_to_an_image_are_no_truths_of_models():
    local = Annotations.from_rows(BOXES, raters_are_local=True)
    models = {
        name: (Annotations.from_rows([{**BOX, "rater": name, "box": [0, 0, 10, height]}], images=[1, 2, 3]), [0.9])
        for name, height in (("net", 10), ("svm", 6))
    }
    with pytest.raises(
        InputError, match="consensus: expected at least one, as raters that are local to an image cannot be references"
    ):
        rank_models(models, local)
    truth = {"majority": ANNOTATIONS.select(raters=["ann"])}
    found, named = rank_models(models, local, truth), rank_models(models, ANNOTATIONS, truth)
    assert found.truths.tolist() == ["majority"]
    assert found.means.tolist() == named.means[2:].tolist()
    assert found.by_threshold.tolist() == named.by_threshold[:, 2:].tolist()


FIRST = {"agreement", "agreement_a", "agreement_b", "annotations", "found", "source", "table", "values", "stacks"}
"""Arguments that are created from a file."""


def test_a_path_instead_of_its_content_names_the_reader():
    """For every public function that takes annotations, labels, masks, or a result of them, except `write_shards`,
    which takes a path, too."""
    functions = [value for name, value in vars(kalos_core).items() if isfunction(value) and name[0] != "_"]
    tried, without = [], []
    for function in functions:
        first = next(iter(signature(function).parameters.values()), None)
        if first is None or first.name not in FIRST or function.__name__.startswith(("read_", "write_shards")):
            continue
        needed = [entry for entry in signature(function).parameters.values() if entry.default is entry.empty]
        with pytest.raises(InputError) as error:
            function(*["labels.json"] * len(needed))
        tried.append(function.__name__)
        without += [] if "read_" in str(error.value) else [f"{function.__name__}: {error.value}"]
    assert len(tried) > 30
    assert without == []
