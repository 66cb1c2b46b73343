"""Classification exports of Zooniverse."""

import csv
import json
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from kalos_core import InputError, KalosWarning
from kalos_core.readers import read_labels, read_zooniverse
from kalos_core.readers.formats import guess_format
from tests.readers.spoiling import spoiled

HEADER = [
    "classification_id",
    "user_name",
    "user_id",
    "user_ip",
    "workflow_id",
    "workflow_name",
    "workflow_version",
    "created_at",
    "gold_standard",
    "expert",
    "metadata",
    "annotations",
    "subject_data",
    "subject_ids",
]
"""The columns, as "Data Exports" of help.zooniverse.org lists them."""

METADATA = {
    "session": "e4be12",
    "viewport": {"width": 1440, "height": 764},
    "started_at": "2016-03-02T17:02:41.312Z",
    "user_language": "en",
    "subject_dimensions": [{"clientWidth": 700, "clientHeight": 525, "naturalWidth": 1000, "naturalHeight": 750}],
}
SUBJECT = {"retired": None, "#image_name": "PETE001.JPG", "site": "PETE"}
RECTANGLE = {
    "x": 205.5,
    "y": 97,
    "tool": 0,
    "frame": 0,
    "width": 60,
    "height": 40,
    "details": [],
    "tool_label": "Adult",
}
POINTS = [{"x": 0, "y": 0}, {"x": 10, "y": 0}, {"x": 10, "y": 10}]


def drawn(*shapes, task="T0"):
    return {"task": task, "task_label": "Please outline every penguin", "value": list(shapes)}


QUESTION = {"task": "T1", "task_label": "Is it night?", "value": "No"}


def row(user="ann", subject="1001", annotations=(), **changes):
    return {
        "classification_id": "8731",
        "user_name": user,
        "workflow_id": "6465",
        "workflow_name": "Time-lapse cameras",
        "workflow_version": "52.76",
        "created_at": "2016-03-02 17:02:55 UTC",
        "metadata": json.dumps(METADATA),
        "annotations": annotations if isinstance(annotations, str) else json.dumps(list(annotations)),
        "subject_data": json.dumps({subject: SUBJECT}),
        "subject_ids": subject,
    } | changes


@pytest.fixture
def written(tmp_path):
    def write(*rows, columns=HEADER):
        path = tmp_path / "penguins-classifications.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, columns, extrasaction="ignore")
            table.writeheader()
            table.writerows(rows)
        return path

    return write


def test_rectangles_and_those_who_saw_nothing(written):
    path = written(
        row("ann", annotations=[QUESTION, drawn(RECTANGLE)]),
        row("not-logged-in-a1b2", annotations=[QUESTION, drawn()]),
        row("ann", "1002", annotations=[QUESTION]),
    )
    table = read_zooniverse(path)
    assert (table.images.tolist(), table.files.tolist()) == (["1001", "1002"], ["PETE001.JPG"] * 2)
    assert table.raters.tolist() == ["ann", "not-logged-in-a1b2"]
    assert table.categories.tolist() == ["Adult"]
    assert table.shapes["box"].xywh().tolist() == [[205.5, 97, 60, 40]]
    assert table.assigned.tolist() == [[True, True], [True, False]]
    assert table.image_size.tolist() == [[1000, 750]] * 2
    assert guess_format(path) == "zooniverse"
    assert len(read_labels(path, aliases={"Adult": "penguin"})) == 1


@pytest.mark.parametrize(
    ("shape", "bounds", "area"),
    [
        ({"x": 10, "y": 20, "width": 40, "height": 20, "angle": 0}, (10, 20, 50, 40), 800),
        ({"x": 10, "y": 20, "width": 40, "height": 20, "angle": 90}, (20, 10, 40, 50), 800),
        ({"x_center": 30, "y_center": 30, "width": 40, "height": 20}, (10, 20, 50, 40), 800),
        (
            {"points": [{"x": 10, "y": 20}, {"x": 50, "y": 20}, {"x": 50, "y": 40}], "closed": True},
            (10, 20, 50, 40),
            400,
        ),
        ({"pathX": [10, 50, 50], "pathY": [20, 20, 40], "isClosed": False}, (10, 20, 50, 40), 400),
        ({"x": 30, "y": 30, "rx": 20, "ry": 10, "angle": 0}, (10, 20, 50, 40), 628.3),
        ({"x_center": 30, "y_center": 30, "rx": 20, "ry": 10, "angle": 90}, (20, 10, 40, 50), 628.3),
        ({"x": 30, "y": 30, "r": 10, "angle": -20}, (20, 20, 40, 40), 314.2),
        ({"x_center": 30, "y_center": 30, "r": 10}, (20, 20, 40, 40), 314.2),
    ],
)
def test_shapes_by_the_fields_of_their_tools(written, shape, bounds, area):
    table = read_zooniverse(written(row(annotations=[drawn({"tool": 1, "frame": 0, "details": [], **shape})])))
    found = table.shapes.get("polygon", table.shapes["box"])
    np.testing.assert_allclose(found.outline_bounds()[0], bounds, atol=0.1)
    assert found.area()[0] == pytest.approx(area, rel=0.005)
    assert table.categories.tolist() == ["1"]


@pytest.mark.parametrize(
    ("shape", "joints"), [({"x": 3, "y": 4}, [[3, 4]]), ({"x1": 1, "y1": 2, "x2": 3, "y2": 4}, [[1, 2], [3, 4]])]
)
def test_points_and_lines_are_keypoints(written, shape, joints):
    table = read_zooniverse(written(row(annotations=[drawn({"tool": 0, "tool_label": "egg", **shape})])))
    assert table.shapes["keypoints"].points[0].tolist() == joints


def test_parts_of_a_combined_task_and_the_choice_of_a_task(written):
    combined = {"task": "T5", "value": [drawn(RECTANGLE, task="T0"), QUESTION, drawn({**RECTANGLE, "x": 1}, task="T2")]}
    path = written(row(annotations=[combined]))
    assert len(read_zooniverse(path)) == 2
    assert read_zooniverse(path, task="T2").shapes["box"].xywh()[0, 0] == 1


def test_one_workflow_at_a_time(written):
    path = written(row(), row("bob", workflow_id="7", workflow_name="Eggs", annotations=[drawn(RECTANGLE)]))
    with pytest.raises(InputError, match=r"got 6465 \(Time-lapse cameras\), 7 \(Eggs\): choose by"):
        read_zooniverse(path)
    for chosen in (7, "7", "Eggs"):
        assert read_zooniverse(path, workflow=chosen).raters.tolist() == ["bob"]
    with pytest.raises(InputError, match=r"workflow: expected one of 6465 \(Time-lapse cameras\), 7 \(Eggs\), got 8"):
        read_zooniverse(path, workflow=8)


def test_a_second_classification_is_passed_over(written):
    path = written(row(annotations=[drawn(RECTANGLE)]), row(annotations=[drawn(RECTANGLE, RECTANGLE)]))
    with pytest.warns(KalosWarning, match="1 classification is passed over") as caught:
        assert len(read_zooniverse(path)) == 1
    assert [warning.filename for warning in caught] == [__file__]


def test_the_field_of_the_file(written):
    path = written(row(subject_data=json.dumps({"1001": {"link": "x/y.jpg"}})))
    assert read_zooniverse(path).files.tolist() == [""]
    assert read_zooniverse(path, file_field="link").files.tolist() == ["x/y.jpg"]


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({**RECTANGLE, "width": "wide"}, "shape 1: expected numbers in x, y, width, height, got 205.5, 97, 'wide', 40"),
        ({**RECTANGLE, "width": 0}, "shape 1: expected a box of positive width and height"),
        ({"tool": 0, "points": [3]}, "shape 1: expected a list of points with x and y, got [3]"),
        ({"tool": 0, "pathX": [1], "pathY": []}, "shape 1: expected lists pathX and pathY of one length"),
        (
            {"tool": 0, "frame": 0},
            "shape 1: expected the fields of a rectangle, polygon",
        ),
        ({**RECTANGLE, "tool": None, "tool_label": ""}, "shape 1: expected a tool_label, got nothing"),
    ],
)
def test_shapes_that_cannot_be_used(written, shape, message):
    path = written(row(annotations=[drawn(shape, RECTANGLE)]))
    with pytest.raises(InputError, match=re.escape(f"line 2, task T0, {message}")):
        read_zooniverse(path)
    with pytest.warns(KalosWarning, match="They are left out"):
        table = read_zooniverse(path, on_invalid="skip")
    assert (len(table), table.skipped.tolist()) == (1, [1])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"user_name": ""}, "line 2, column user_name: expected a name, got ''"),
        ({"subject_ids": "1;2"}, "line 2, column subject_ids: expected one subject, got '1;2'"),
        ({"annotations": "[{"}, "line 2, column annotations: expected JSON, a list, got '[{'"),
        ({"annotations": "{}"}, "line 2, column annotations: expected JSON, a list, got '{}'"),
        ({"subject_data": "[]"}, "line 2, column subject_data: expected JSON, an object, got '[]'"),
    ],
)
def test_rows_that_cannot_be_used(written, changes, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read_zooniverse(written(row(**changes)))


def test_what_is_no_export(written, tmp_path):
    with pytest.raises(InputError, match=r"expected a classification export with user_name, .*, got user_name"):
        read_zooniverse(written(columns=["user_name"]))
    with pytest.raises(InputError, match="expected at least one classification, got none"):
        read_zooniverse(written())
    with pytest.raises(InputError, match="expected a readable Zooniverse export"):
        read_zooniverse(tmp_path / "absent.csv")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(spoiled([QUESTION, drawn(RECTANGLE, {"tool": 0, "points": POINTS}), drawn({"tool": 2, "x": 1, "y": 2, "r": 3})]))
@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
def test_spoiled_annotations_are_read_or_refused(written, content):
    try:
        text = json.dumps(content)
    except ValueError:  # a number too long to be written
        return
    path = written(row(annotations=text))
    for on_invalid in ("raise", "skip"):
        try:
            assert read_zooniverse(path, on_invalid=on_invalid).images.tolist() == ["1001"]
        except InputError:
            continue
