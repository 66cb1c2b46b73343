"""Classification exports of Zooniverse."""

import csv
import io
import json

import numpy as np

from kalos_core import agreement
from kalos_core.readers import read_zooniverse
from kalos_core.readers.zooniverse import read_zooniverse_answers
from tests.readers.cases import LeftOut, Warned, differing, label_lines, write

HEADER = [
    "classification_id", "user_name", "user_id", "user_ip", "workflow_id", "workflow_name", "workflow_version",
    "created_at", "gold_standard", "expert", "metadata", "annotations", "subject_data", "subject_ids",
]  # fmt: skip
"""Columns, as listed in "Data Exports" of help.zooniverse.org."""

SIZE = {"clientWidth": 700, "clientHeight": 525, "naturalWidth": 1000, "naturalHeight": 750}
METADATA = {"session": "e4be12", "user_language": "en", "subject_dimensions": [SIZE]}
SUBJECT = {"retired": None, "#image_name": "PETE001.JPG", "site": "PETE"}
ADULTS = {"tool": 0, "frame": 0, "details": [], "tool_label": "Adult"}
RECTANGLE = {"x": 205.5, "y": 97, "width": 60, "height": 40, **ADULTS}


def drawn(*shapes, task="T0"):
    return {"task": task, "task_label": "Please outline every penguin", "value": list(shapes)}


QUESTION = {"task": "T1", "task_label": "Is it night?", "value": "No"}

ABOUT = {**QUESTION, "markIndex": 0}


def row(user="ann", subject="1001", annotations=(), **changes):
    return {
        "user_name": user,
        "workflow_id": "6465",
        "workflow_name": "Time-lapse cameras",
        "metadata": json.dumps(METADATA),
        "annotations": annotations if isinstance(annotations, str) else json.dumps(list(annotations)),
        "subject_data": json.dumps({subject: SUBJECT}),
        "subject_ids": subject,
    } | changes


def table(*rows, columns=HEADER):
    file = io.StringIO()
    writer = csv.DictWriter(file, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def of_ann(*annotations, **changes):
    return table(row(annotations=annotations, **changes))


ADULT = "Adult box 205.5 97 60 40"
EGGS = row("bob", workflow_id="7", workflow_name="Eggs", annotations=[drawn(RECTANGLE)])
TWO_WORKFLOWS = table(row(), EGGS)
COMBINED = {"task": "T5", "value": [drawn(RECTANGLE), QUESTION, drawn({**RECTANGLE, "x": 1}, task="T2")]}
LINKED = of_ann(subject_data=json.dumps({"1001": {"link": "x/y.jpg"}}))
TWO = {"subject_data": json.dumps({"1001": {"#image0": "a.jpg", "#image1": "b.jpg"}})}
FRAMES = table(row("ann", annotations=[drawn(RECTANGLE)], **TWO),
               row("bob", annotations=[drawn({**RECTANGLE, "frame": 1})], **TWO))  # fmt: skip


def image(drawn="", who="ann", file="=PETE001.JPG"):
    return [f"1001{file} 1000x750 {who}: {drawn}".rstrip()]


READ = {
    "rectangles and who saw nothing": (
        table(row(annotations=[QUESTION, drawn(RECTANGLE)]), row("not-logged-in-a1", annotations=[QUESTION, drawn()]),
              row("ann", "1002", annotations=[QUESTION])),
        Warned("3 answers to questions (kalos-core labels reads them)",
               [*image(f"ann {ADULT}", "ann not-logged-in-a1"), "1002=PETE001.JPG 1000x750 ann:"]),
    ),
    "a survey and a fan": (
        of_ann({"task": "T0", "value": [{"choice": "EMU", "answers": {}}]}, drawn({**RECTANGLE, "spread": 3}), ABOUT),
        Warned("1 identifications in surveys (kalos-core labels reads them), 1 marks of the tool 'Adult', which is not "
               "supported, 1 answers about marks", image()),
    ),
    "aliases": (of_ann(drawn(RECTANGLE)), {"aliases": {"Adult": "penguin"}}, image("ann penguin box 205.5 97 60 40")),
    "a combined task": (
        of_ann(COMBINED), Warned("1 answers to questions", image(f"ann {ADULT}; ann Adult box 1 97 60 40")),
    ),
    "one task": (of_ann(COMBINED), {"task": "T2"}, image("ann Adult box 1 97 60 40")),
    "two workflows": (TWO_WORKFLOWS, "got 6465 (Time-lapse cameras), 7 (Eggs): choose by"),
    "no such workflow": (TWO_WORKFLOWS, {"workflow": 8},
                         "workflow: expected one of 6465 (Time-lapse cameras), 7 (Eggs), got 8"),
    "a second classification": (
        table(row(annotations=[drawn(RECTANGLE)]), row(annotations=[drawn(RECTANGLE, RECTANGLE)])),
        Warned("1 further classifications of the same volunteer", image(f"ann {ADULT}")),
    ),
    "no file": (LINKED, image(file="=")),
    "another field of the file": (LINKED, {"file_field": "link"}, image(file="=x/y.jpg")),
    "frames": (
        FRAMES, ["1001#1=a.jpg 1000x750 ann bob: ann Adult box 205.5 97 60 40",
                 "1001#2=b.jpg ? ann bob: bob Adult box 205.5 97 60 40"],
    ),
    "shared frames": (FRAMES, {"frames": "shared"}, image(f"ann {ADULT}; bob {ADULT}", "ann bob", "=a.jpg")),
}  # fmt: skip
WORKFLOWS = [(TWO_WORKFLOWS, {"workflow": chosen}, image(f"bob {ADULT}", "bob")) for chosen in (7, "7", "Eggs")]

CORNERS = [{"x": 10, "y": 20}, {"x": 50, "y": 20}, {"x": 50, "y": 40}]
TRIANGLE = "polygon 10,20 50,20 50,40"
SHAPES = [
    ({"x": 10, "y": 20, "width": 40, "height": 20, "angle": 0}, "box 10 20 40 20"),
    ({"x": 10, "y": 20, "width": 40, "height": 20, "angle": 90}, "polygon 40,10 40,50 20,50 20,10"),
    ({"x_center": 30, "y_center": 30, "width": 40, "height": 20}, "box 10 20 40 20"),
    ({"points": CORNERS, "closed": True}, TRIANGLE),
    ({"pathX": [10, 50, 50], "pathY": [20, 20, 40], "isClosed": False}, TRIANGLE),
    ({"x": 3, "y": 4}, "keypoints 3,4"),
    ({"x1": 1, "y1": 2, "x2": 3, "y2": 4}, "keypoints 1,2 3,4"),
]
ELLIPSES = [
    ({"x": 30, "y": 30, "rx": 20, "ry": 10, "angle": 0}, [10, 20, 50, 40], (50, 30), 628.3),
    ({"x": 30, "y": 30, "rx": 20, "ry": 10, "angle": 30}, [12, 16.8, 48, 43.2], (47.32, 20), 628.3),
    ({"x": 30, "y": 30, "r": 10, "angle": -20}, [20, 20, 40, 40], (40, 30), 314.2),
]
"""Fields of a tool that rotates counter-clockwise: bounds, the end of the first axis, and the area."""

UNUSABLE = [
    ({**RECTANGLE, "width": "wide"}, "expected numbers in x, y, width, height, got 205.5, 97, 'wide', 40"),
    ({"tool": 0, "points": [3]}, "expected a list of points with x and y, got [3]"),
    ({"tool": 0, "pathX": [1], "pathY": []}, "expected lists pathX and pathY of one length"),
    ({**RECTANGLE, "frame": 0.5}, "expected a frame from 0 to 0, got 0.5"),
    ({**RECTANGLE, "tool": None, "tool_label": ""}, "expected a tool_label, got nothing"),
]

REFUSED = [
    (of_ann(user_name=""), "line 2, column user_name: expected a name, got ''"),
    (of_ann(subject_ids="1;2"), "line 2, column subject_ids: expected one subject, got '1;2'"),
    (table(row(annotations="[{")), "line 2, column annotations: expected JSON, a list, got '[{'"),
    (of_ann(subject_data="[]"), "line 2, column subject_data: expected JSON, an object, got '[]'"),
    (table(columns=["user_name"]), "expected the columns user_name, annotations, "),
    (table(), "expected at least one classification, got none"),
]

ANSWERED = [
    (table(row(annotations=[QUESTION, drawn(RECTANGLE)]), row("bob", annotations=[{**QUESTION, "value": "Yes"}])),
     ["1001: ann No, bob Yes"]),
    (of_ann({"task": "T0", "value": [{"choice": "EMU"}, {"choice": "APE"}]}), {"groups": None}, ["1001: ann EMU APE"]),
    (of_ann({"task": "T0", "value": ["a", "b"]}), "line 2: expected one choice (groups=None makes"),
    (of_ann(QUESTION, {**QUESTION, "task": "T2"}), "task: expected one of 'T1', 'T2', got none"),
    (of_ann(QUESTION, {**QUESTION, "task": "T2", "value": "b"}), {"task": "T2"}, ["1001: ann b"]),
    (of_ann(drawn(RECTANGLE)), "expected answers to a question or a survey, got none"),
]  # fmt: skip


def test_answers(tmp_path):
    assert differing(read_zooniverse_answers, tmp_path, ANSWERED, "export.csv", label_lines) == []
    path = write(tmp_path, of_ann(drawn({**RECTANGLE, "details": [{"value": 0}, {"value": None}]})), "export.csv")
    assert {name: values.tolist() for name, values in read_zooniverse(path).attributes.items()} == {"detail 1": ["0"]}
    assert agreement(read_zooniverse(write(tmp_path, FRAMES, "export.csv"))).global_alpha == -0.5


def test_files(tmp_path):
    shapes = [(of_ann(drawn({"tool": 1, "frame": 0, **shape})), image(f"ann 1 {text}")) for shape, text in SHAPES]
    unusable = [
        (of_ann(drawn(shape, RECTANGLE)), LeftOut(f"line 2, task T0, shape 1: {words}")) for shape, words in UNUSABLE
    ]
    cases = [*READ.values(), *WORKFLOWS, *shapes, *unusable, *REFUSED]
    assert differing(read_zooniverse, tmp_path, cases, "export.csv") == []
    assert differing(read_zooniverse, None, [(tmp_path / "absent.csv", "expected a readable Zooniverse export")]) == []


def test_ellipses_and_circles_are_polygons(tmp_path):
    for shape, bounds, end, area in ELLIPSES:
        path = write(tmp_path, of_ann(drawn({"tool": 1, **shape})), "export.csv")
        polygons = read_zooniverse(path).shapes["polygon"]
        np.testing.assert_allclose(polygons.outline_bounds()[0], bounds, atol=0.3)
        np.testing.assert_allclose(polygons.rings(0)[0][0], end, atol=0.01)
        np.testing.assert_allclose(polygons.area()[0], area, rtol=0.005)
