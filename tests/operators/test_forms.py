"""Forms: their inputs, and errors that are shown next to an input while typing."""

from __future__ import annotations

import math
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core.consensus import TRUTH_METHODS
from tests.fiftyone_bridge.lively import RATERS, lively
from tests.fiftyone_bridge.quiz import quiz
from tests.fiftyone_bridge.scenes import SCENES, make_samples, objects
from tests.fiftyone_bridge.stacks import add_maps, small
from tests.operators.calls import data_set, is_delegated_by_default, notices, send
from tests.plugin import form, refused

BY_FIELD, BY_ATTRIBUTE = "one field per rater", "one field with a rater attribute"
THREE = {"raters": list(RATERS)}


@pytest.fixture(scope="module")
def all_sets() -> dict[str, fo.Dataset]:
    """Return labels of each family, which no test changes."""
    made = {
        "scenes": data_set(make_samples(SCENES)),
        "lively": data_set(lively(8)),
        "quiz": data_set(quiz()),
        "masks": add_maps(data_set(small())),
        "boxes": data_set(objects()),
    }
    kf.calibrate_threshold(made["scenes"], "first", raters=("ann", "bob"), similarities=["box_iou"], bootstrap=0)
    return made


# ---- invalid input ----

PAIR, SHARE, GONE = "at least two raters", "A number from 0 to 1", "There is no such file"
KINDS_OF_LABELS = "expected a rater, or a field of Detections, Polylines or Keypoints"
Wrong = list[tuple[dict[str, Any], str]]
LIMITS: Wrong = [
    ({"run_key": "not a key"}, "expected a name of letters"),
    ({"run_key": None}, "expected a name of letters"),
    ({"run_key": "first"}, "is the key of another run"),
    ({"run_key": "label"}, "would overwrite the attribute 'label'"),
    ({"raters": ["ann", "ann"]}, PAIR),
    ({"raters": ["ann", "bob", "zoe"]}, KINDS_OF_LABELS),
    ({"reference": "ann"}, "Without the reference, agreement needs at least two raters"),
    ({"reference": "zoe"}, "There is no rater 'zoe'"),
    ({"similarity": "polygon_iou"}, "Not every label can be compared by polygon_iou"),
    ({"threshold": 1.5}, SHARE),
    ({"threshold": -0.1}, SHARE),
    ({"threshold": True}, "threshold: expected a number, got True"),
    ({"raters": math.inf}, "raters: expected several names, got inf"),
    ({"raters": [["ann"]]}, "raters: expected Sequence[str], got [['ann']]"),
    ({"more": True, "classes": 5}, "classes: expected several names, got 5"),
    ({"similarity": {}}, "or a function, got dict"),
    ({"run_key": "a" * 201}, "expected at most 200 characters, got 201: 'aaaaa"),
    ({"more": True, "min_area": -1}, "A number of at least 0"),
    ({"more": True, "min_confidence": "high"}, "min_confidence: expected a number, got 'high'"),
    ({"storage": BY_ATTRIBUTE, "field": "ann", "rater_attribute": "rater"}, "No label of 'ann' has an attribute"),
    ({"storage": BY_ATTRIBUTE, "rater_attribute": "$x"}, "has an attribute '$x'"),
]
WRONG: dict[tuple[str, str], Wrong] = {
    ("compute_agreement", "scenes"): LIMITS,
    ("find_variations", "scenes"): LIMITS,
    ("calibrate_threshold", "scenes"): [
        ({"similarities": []}, "Choose at least one similarity"),
        ({"similarities": ["polygon_iou"]}, "Not every label can be compared by polygon_iou"),
        ({"repeats": 0}, "A number of at least 1"),
    ],
    ("choose_threshold", "scenes"): [
        ({"run_key": "gone"}, "There is no calibration 'gone' any more"),
        ({"similarity": "polygon_iou"}, "The run 'first' did not calibrate polygon_iou"),
        ({"threshold": 2}, SHARE),
    ],
    ("delete_run", "scenes"): [({"run_key": "old"}, "There is no run 'old'")],
    ("estimate_convergence", "lively"): [
        ({"models": "YOLO"}, "expected names with their mAP, such as 'YOLO 0.412, DETR 0.437', got 'YOLO'"),
        ({"least": 0.8, "greatest": 0.6}, "A number of at least 0.8, the lowest threshold"),
        ({"least": 0}, "A number from 0.05 to 1"),
        ({"fraction": 1}, "expected a number above 0 and below 1, got 1"),
        ({"fraction": "x"}, "fraction: expected a number, got 'x'"),
        ({"predictions": "ann"}, "'ann' is not a field of predictions"),
    ],
    ("inject_noise", "lively"): [
        ({"magnitude": "much"}, "expected numbers of 0 or more, such as 1 or 0.5, 1, 2, got 'much'"),
        ({"magnitude": "-1"}, "expected numbers of 0 or more"),
        ({"magnitude": "1, 2"}, "expected one number, or one for each of 3 raters, got 2"),
        ({"reference": "nobody"}, "There is no rater 'nobody'"),
        ({"more": True, "model": "file", "model_file": "/no/such"}, GONE),
        ({"more": True, "class_source": "taxonomy", "taxonomy": "/no"}, GONE),
    ],
    ("compute_label_agreement", "quiz"): [
        ({"raters": ["ann"]}, PAIR),
        ({"raters": ["ann", "eve"]}, "expected a rater, or a field of Classification or Classifications"),
        ({"compare_teams": True, "first_team": []}, "A team needs a rater"),
        ({"compare_teams": True, "first_team": ["ann"], "second_team": ["ann"]}, "'ann' is in both teams"),
        ({"quorum": 1.5}, "A number from 0 to 1"),
        ({"exclusive": False, "named": True, "groups": "cat, dog"}, "expected names with labels"),
        ({"exclusive": False, "own_group_0": ["cat"], "own_group_1": ["cat"]}, "'cat' is in another group"),
        ({"metric": "by question", "metrics": "label: odd"}, "got 'odd'"),
        ({"metric": "by question", "metrics": None}, "expected one of nominal, ordinal, interval, ratio"),
    ],
    ("rank_systems", "quiz"): [
        ({"systems": ["net"]}, "A ranking needs at least two classifiers"),
        ({"systems": ["net", "ann"]}, "'ann' is not a field of scores"),
        ({"tree": "cat"}, "expected names with labels"),
    ],
    ("compute_pixel_agreement", "masks"): [
        ({"raters": ["ann"]}, PAIR),
        ({"raters": ["ann", "eve"]}, "expected fields of Segmentation masks only"),
        ({"ignore_value": 0}, "A number from 1 to 65535"),
        ({"images": True, "channels": "red, nir=3"}, "or each with its number"),
    ],
    ("estimate_truth", "masks"): [
        ({"methods": []}, "Choose at least one"),
        ({"methods": ["best"]}, "'best' is not a method to estimate ground truth"),
    ],
    ("estimate_truth", "boxes"): [(THREE | {"quorum": text}, "quorum: expected") for text in ("half", "0", "1.5", "")],
    ("rank_detectors", "masks"): [
        ({"detectors": []}, "Choose the fields of at least one detector"),
        ({"detectors": ["ann"]}, "'ann' is not a field of a detector"),
        ({"choose_skew": True, "skew_low": 0.3, "skew_high": 0.2}, "A number above 0.3, the smallest fraction"),
        ({"contours": True, "tolerance": -1}, "A number of at least 0"),
    ],
}
"""Operator and labels -> inputs, last the one that is marked, and part of its message."""

FINE: dict[tuple[str, str], list[dict[str, Any]]] = {
    ("compute_agreement", "scenes"): [
        *({"run_key": "ann"}, {"raters": None}, {"threshold": None}),
        *({"more": True, "classes": None, "min_area": None}, {"more": True, "advanced": True}),
    ],
    ("calibrate_threshold", "scenes"): [{"similarities": ["box_iou"]}, {"coordinates": "pixels"}],
    ("estimate_convergence", "lively"): [{"models": "YOLO 0.412"}],
    ("inject_noise", "lively"): [{"magnitude": "1, 2", "raters": 2}],
    ("estimate_truth", "boxes"): [THREE | {"quorum": "0.5, 1"}],
}


def not_marked(operator: str, dataset: fo.Dataset | None, wrong: Wrong) -> list[Any]:
    """Return the invalid inputs that the form does not mark with their problem."""
    found = [(params, message, refused(form(operator, dataset, params))) for params, message in wrong]
    return [entry for entry in found if entry[1] not in entry[2].get(list(entry[0])[-1], "")]


def marked(operator: str, dataset: fo.Dataset | None, fine: list[dict[str, Any]]) -> list[Any]:
    """Return the inputs that the form marks although they are valid."""
    found = [(params, refused(form(operator, dataset, params))) for params in fine]
    return [entry for entry in found if entry[1]]


@pytest.mark.parametrize(("operator", "labels"), WRONG)
def test_a_wrong_input_is_marked_and_no_other(all_sets: dict[str, fo.Dataset], operator: str, labels: str) -> None:
    assert not_marked(operator, all_sets[labels], WRONG[operator, labels]) == []
    assert marked(operator, all_sets[labels], FINE.get((operator, labels), [])) == []


FROM_OBJECTS = ["analyse", "compute_agreement", "find_variations", "calibrate_threshold", "estimate_convergence"]
FROM_LABELS = [*FROM_OBJECTS, "inject_noise", "compute_label_agreement", "rank_systems"]
FROM_LABELS += ["compute_pixel_agreement", "estimate_truth", "rank_detectors"]


def test_without_labels_a_form_explains_what_to_do() -> None:
    empty, videos = data_set([fo.Sample("/a.jpg")]), fo.Dataset()
    videos.add_samples([fo.Sample("/a.mp4", ann=fo.Detections(), bob=fo.Detections())], progress=False)
    for name in FROM_LABELS:
        for dataset, said in ((empty, "No "), (None, "No data set is open")):
            inputs = form(name, dataset)
            assert set(inputs) == {"nothing", "refused"}, name
            assert said in notices(inputs)
            assert "refused" in refused(inputs)
    for name in FROM_OBJECTS:
        assert "expected images or 3D scenes, got samples of type 'video'" in notices(form(name, videos))


@pytest.mark.parametrize(
    ("name", "noun"),
    [
        *((name, "run") for name in ("delete_run", "describe_run")),
        *(
            (name, "agreement")
            for name in ("decide", "resolved", "tag_disputes", "hand_over", "next_to_rate", "report")
        ),
        ("choose_threshold", "calibration"),
        ("update_run", "analysis"),
    ],
)
def test_without_a_run_there_is_nothing_to_send(fields: fo.Dataset, name: str, noun: str) -> None:
    inputs = form(name, fields)
    assert f"There is no {noun} yet" in notices(inputs)
    assert set(refused(inputs)) & {"run_key", "key"}


# ---- inputs ----


def test_stored_raters_are_offered_by_name(stored: fo.Dataset, pair: fo.Dataset) -> None:
    inputs = form("compute_agreement", stored)
    assert inputs["raters"].default == ["ann", "bob", "dr. c"]
    assert "reference" in inputs
    assert not {"storage", "assigned"} & set(inputs)
    assert "reference" not in form("compute_agreement", pair)  # two raters leave none


def test_fields_are_offered_where_no_rater_is_stored(fields: fo.Dataset) -> None:
    inputs = form("compute_agreement", fields)
    assert inputs["storage"].default == BY_FIELD
    assert inputs["raters"].default == ["ann", "bob"]
    assert "assigned" not in inputs
    fields.delete_sample_field("raters")
    assert form("compute_agreement", fields)["assigned"].default == "all"


def test_forms_of_masks_ask_about_pixels_and_those_of_labels_about_objects(all_sets: dict[str, fo.Dataset]) -> None:
    masks, boxes = all_sets["masks"], all_sets["boxes"]
    inputs = form("compute_pixel_agreement", masks)
    assert inputs["raters"].default == list(RATERS)
    assert "classes" not in inputs
    inputs = form("estimate_truth", masks)
    assert [choice.value for choice in inputs["methods"].view.choices] == list(TRUTH_METHODS)
    assert not {"quorum", "similarity"} & set(inputs)
    inputs = form("estimate_truth", boxes, THREE)
    assert inputs["of"].default == "objects"
    assert {"quorum", "similarity", "threshold"} <= set(inputs)
    assert "model" not in inputs
    assert form("estimate_truth", boxes, THREE | {"estimate": True})["model"].default == "confusion"
    inputs = form("estimate_truth", boxes, THREE | {"of": "pixels"})
    assert "methods" in inputs
    assert "ignore_value" not in inputs
    named = masks.clone()
    named.default_mask_targets = {1: "road", 2: "car"}
    named.save()
    choices = form("compute_pixel_agreement", named)["classes"].view.choices
    assert [choice.value for choice in choices] == ["road", "car"]


def test_much_work_is_delegated_by_default(all_sets: dict[str, fo.Dataset], monkeypatch: pytest.MonkeyPatch) -> None:
    def is_delegated(name: str, labels: str, **params: Any) -> bool:
        return is_delegated_by_default(name, all_sets[labels], **params)

    assert not is_delegated("estimate_convergence", "lively", subsets=1_000)
    assert is_delegated("estimate_convergence", "lively", subsets=1_250_000)
    assert not is_delegated("inject_noise", "lively", raters=1_249)
    assert is_delegated("inject_noise", "lively", raters=1_250)
    pixels = "compute_pixel_agreement"
    assert not is_delegated(pixels, "masks")
    masks = all_sets["masks"]
    for side, found in ((2_000, (False, False, True, False, True)), (40_000, (True,) * 5)):
        masks.set_values("metadata.width", [side] * 3)
        masks.set_values("metadata.height", [side] * 3)
        assert found == (
            is_delegated(pixels, "masks"),
            is_delegated("estimate_truth", "masks", methods=["staple"]),
            is_delegated("estimate_truth", "masks", methods=["lsml"]),
            is_delegated("rank_detectors", "masks", detectors=["good"]),
            is_delegated("rank_detectors", "masks", detectors=["good"], berkeley=True),
        )
    names = ("compute_label_agreement", "rank_systems")
    assert not any(is_delegated(name, "quiz") for name in names)
    monkeypatch.setattr(fo.Dataset, "__len__", lambda _: 100_000)
    assert all(is_delegated(name, "quiz") for name in names)


# ---- thresholds: each similarity has its own ----


def test_a_chosen_threshold_is_the_default_of_later_forms(fields: fo.Dataset) -> None:
    names = ("compute_agreement", "find_variations", "analyse")
    kf.calibrate_threshold(fields, "first", raters=("ann", "bob"), similarities=["box_iou"], bootstrap=0)
    assert [form(name, fields)["threshold"].default for name in names] == [0.5] * 3  # not chosen yet
    kf.choose_threshold(fields, "first", "box_iou", 0.375)
    inputs = form("compute_agreement", fields)
    assert [form(name, fields)["threshold"].default for name in names] == [0.375] * 3
    assert "Calibrated for box_iou: 0.38 (run first)" in inputs["threshold"].view.description
    given = {"similarity": "centroid_box"}
    assert form("compute_agreement", fields, given)["threshold_of_centroid_box"].default == 0.5
    send("find_variations", fields)
    assert kf.load_metrics(fields, "variations").settings["threshold"] == 0.375
    kf.delete_run(fields, "first")
    assert form("compute_agreement", fields)["threshold"].default == 0.5


# ---- synthetic raters ----


def test_a_preview_is_part_of_the_form(all_sets: dict[str, fo.Dataset]) -> None:
    def previewed(**given: Any) -> tuple[list[str], dict[str, Any]]:
        selected = given.pop("selected", [])
        inputs = form("inject_noise", all_sets["lively"], {"reference": "ann", **given}, selected=selected)
        found = [prop.default for name, prop in inputs.items() if name.startswith("preview_") and prop.default]
        return found, inputs

    (first,), inputs = previewed()
    assert first.startswith("data:image/svg+xml;base64,")
    assert ".jpg: " in inputs["preview_caption"].view.label
    (second,), _ = previewed(magnitude="4")
    assert first != second
    _, inputs = previewed(selected=[all_sets["lively"].skip(7).first().id])
    assert inputs["preview_caption"].view.label.startswith("7.jpg: ")
    assert previewed(preview=False)[0] == []
    found, inputs = previewed(magnitude="-1")
    assert found == []
    assert "No preview: magnitude: expected numbers" in inputs["no_preview"].view.label


# ---- loading ----


def test_a_wrong_input_of_loading_is_marked(stored: fo.Dataset) -> None:
    wrong: Wrong = [
        ({"labels": "/no/such/file.json"}, GONE),
        ({"labels": "\0"}, GONE),
        ({"images": "/no/such/folder"}, "There is no such folder"),
        ({"dataset_name": "STORED"}, "exists already"),
        ({"dataset_name": "!!!"}, "expected a name FiftyOne can use"),
        ({"more": True, "aliases": "{"}, "expected JSON"),
        ({"more": True, "aliases": "[" * 100_000}, "expected JSON"),
        ({"more": True, "aliases": "[1]"}, "expected a mapping"),
        ({"more": True, "aliases": '{"a": 1}'}, "expected a written name and a class name"),
        ({"more": True, "aliases": '{"/(/": "a"}'}, "expected a regular expression, got /(/"),
    ]
    assert not_marked("load_raters", stored, wrong) == []
    into = {"dataset_name": "stored", "target": "this data set"}
    more = [{"more": True, "aliases": text} for text in ("", '{"a": "b"}')]
    assert marked("load_raters", stored, [{"dataset_name": "free"}, into, *more]) == []
    inputs = form("load_raters", None)  # no data set needs to be open
    assert [choice.value for choice in inputs["target"].view.choices] == ["a new data set"]
    assert refused(inputs) == {}
