"""Label Studio's JSON export."""

import json
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kalos_core import InputError, KalosWarning, agreement, read_label_studio
from kalos_core.readers.label_studio import unpack
from tests.readers.spoiling import spoiled

SIZE = {"original_width": 8, "original_height": 4, "image_rotation": 0}


def result(kind, label="cat", **value):
    return {"id": "r", "type": kind, "from_name": "l", "to_name": "i", **SIZE, "value": {**value, kind: [label]}}


def pack(values, lengths=(3, 4, 8, 16)):
    """Bytes as Label Studio packs them: runs of equal values, single values one by one."""
    bits = f"{len(values):032b}{7:05b}" + "".join(f"{length - 1:04b}" for length in lengths)
    place = 0
    while place < len(values):
        run = 1
        while place + run < len(values) and values[place + run] == values[place] and run < 1 << lengths[-1]:
            run += 1
        which = next(number for number, length in enumerate(lengths) if run <= 1 << length)
        repeated = run > 1 or place % 2 == 0
        bits += f"{repeated:d}{which:02b}" + format(run - 1, f"0{lengths[which]}b") + f"{values[place]:08b}"
        place += run
    bits += "0" * (-len(bits) % 8)
    return [int(bits[start : start + 8], 2) for start in range(0, len(bits), 8)]


def opaque(pixels):
    """Colours of four bytes a pixel, of which the fourth is the opacity."""
    return [byte for on in np.asarray(pixels).ravel() for byte in (10, 20, 30, 255 * int(on))]


PIXELS = np.zeros((4, 8), bool)
PIXELS[1:3, 5:8] = True
BOX = result("rectanglelabels", x=25, y=50, width=50, height=25)
POLYGON = result("polygonlabels", "dog", points=[[0, 0], [100, 0], [100, 50]])
POINT = result("keypointlabels", "ear", x=50, y=50, width=0.4)
BRUSH = result("brushlabels", format="rle", rle=pack(opaque(PIXELS)))
OTHERS = [{"type": "relation", "from_id": "a", "to_id": "b"}, {"type": "choices", "value": {"choices": ["sharp"]}}]


def task(*annotations, **changes):
    return {"id": 5, "data": {"image": "/data/upload/1/0a1b2c3d-one.jpg"}, "annotations": list(annotations)} | changes


def by(rater, *results, **changes):
    return {"id": 1, "completed_by": rater, "was_cancelled": False, "result": list(results)} | changes


@pytest.fixture
def written(tmp_path):
    def write(content):
        path = tmp_path / "export.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write


def test_boxes_of_several_annotators_and_who_saw_what(written):
    tasks = [
        task(by(1, BOX, *OTHERS), by({"id": 2, "email": "bob@x.org"}), by("cid@x.org", BOX, was_cancelled=True)),
        task(by(1), id=3, data={"image": "s3://bucket/two.jpg"}),
        task(id=4, data={"picture": "three%20b.jpg"}),
    ]
    annotations = read_label_studio(written(tasks))
    assert annotations.images.tolist() == [5, 3, 4]
    assert annotations.files.tolist() == ["one.jpg", "two.jpg", "three b.jpg"]
    assert annotations.raters.tolist() == ["1", "bob@x.org"]
    assert annotations.assigned.tolist() == [[True, True], [True, False], [False, False]]
    assert annotations.image_size[0].tolist() == [8, 4]
    assert np.isnan(annotations.image_size[1:]).all()
    assert annotations.shapes["box"].xywh().tolist() == [[2, 2, 4, 1]]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ({"image": "/data/upload/1/0a1b2c3d-one.jpg"}, "one.jpg"),
        ({"image": "/data/upload/1/one.jpg"}, "one.jpg"),
        ({"image": "/data/local-files/?d=scans/0a1b2c3d-one.jpg"}, "0a1b2c3d-one.jpg"),
        ({"image": "https://x.org/a/one.jpg?token=1"}, "one.jpg"),
        ({"image": "http://[broken/one.jpg"}, "one.jpg"),
        ({"note": "x", "other": "y"}, ""),
        ({"image": 3}, ""),
        (None, ""),
    ],
)
def test_the_name_of_an_image(written, data, name):
    assert read_label_studio(written([task(by(1), data=data)])).files.tolist() == [name]


def test_another_field_of_the_image(written):
    tasks = [task(by(1), data={"image": "a.jpg", "right": "b.jpg"})]
    assert read_label_studio(written(tasks), image_field="right").files.tolist() == ["b.jpg"]


def test_a_rectangle_that_is_turned_turns_about_its_left_top_corner(written):
    turned = result("rectanglelabels", x=50, y=0, width=25, height=25, rotation=90)
    annotations = read_label_studio(written([task(by(1, turned))]))
    # 2 x 1 at (4, 0), a quarter clockwise about that corner
    np.testing.assert_allclose(annotations.shapes["box"].xywh(), [[3, 0, 1, 2]], atol=1e-12)
    np.testing.assert_allclose(annotations.shapes["polygon"].area(), [2])


def test_polygons_points_and_brushes(written):
    annotations = read_label_studio(written([task(by(1, POLYGON, POINT, BRUSH))]))
    assert annotations.categories.tolist() == ["dog", "ear", "cat"]
    assert annotations.shapes["polygon"].area().tolist() == [8, 0, 0]
    assert annotations.shapes["keypoints"].points[1].tolist() == [[4, 2]]
    mask = annotations.shapes["mask"]
    assert mask.area().tolist() == [0, 0, 6]
    assert mask.bounds()[2].tolist() == [5, 1, 8, 3]


@given(
    st.lists(st.integers(0, 255) | st.just(7), min_size=1, max_size=200),
    st.lists(st.integers(1, 16), min_size=4, max_size=4).map(sorted).filter(lambda sizes: sizes[-1] > 2),
)
def test_what_was_packed_is_unpacked(values, lengths):
    assert unpack(np.array(pack(values, lengths), np.uint8), len(values)).tolist() == values


def test_values_that_are_not_repeated_are_written_one_by_one():
    bits = f"{3:032b}{7:05b}" + "0001" * 4 + "0" + "00" + "10" + "".join(f"{value:08b}" for value in (1, 200, 3))
    assert unpack(np.packbits([int(bit) for bit in bits]), 3).tolist() == [1, 200, 3]


@given(st.lists(st.integers(0, 255), max_size=60), st.integers(1, 300))
def test_any_bytes_are_unpacked_or_refused(data, count):
    values = unpack(np.array(data, np.uint8), count)
    assert values is None or len(values) == count


WHERE = r"tasks\[0\] \(id 5\), annotations\[0\], result\[0\]"


@pytest.mark.parametrize(
    ("drawn", "message"),
    [
        (
            BOX | {"value": {"x": 1, "rectanglelabels": ["a"]}},
            "numbers in x, y, width, height, got 1, None, None, None",
        ),
        (result("rectanglelabels", x=1, y=1, width=0, height=1), "a box of positive width and height"),
        (result("rectanglelabels", x=1, y=1, width=1, height=1, rotation="x"), "a number as rotation, got 'x'"),
        (result("rectanglelabels", x=1, y=1, width=1, height=1, rotation=float("nan")), "finite coordinates"),
        (result("polygonlabels", points=[[1, 2], [3]]), r"points \[\[x, y\], ...\]"),
        (result("polygonlabels", points=[[1, 2], [3, "4"]]), r"points \[\[x, y\], ...\]"),
        (result("polygonlabels", points=[]), r"points \[\[x, y\], ...\]"),
        (result("polygonlabels", points=[[0, 0], [1, 1]]), "rings of at least 3 points"),
        (result("brushlabels", format="rle", rle=[1, 2, 3]), "an rle of 8 x 4 pixels of four bytes"),
        (result("brushlabels", format="rle", rle=[1, 256]), "an rle of bytes"),
        (result("brushlabels", format="png", rle=[1]), "a brush with the format 'rle' and a list 'rle', got 'png'"),
        (result("ellipselabels", x=1, y=1), "a result of a type among rectanglelabels.*, got 'ellipselabels'"),
        (BOX | {"type": "rectangle"}, "a result of a type among"),
        (BOX | {"type": ["x"]}, "a result of a type among"),
        (BOX | {"value": None}, "a value, got None"),
        (BOX | {"image_rotation": 90}, "an image that was not rotated in Label Studio, got 90 degrees"),
        (BOX | {"original_width": None, "original_height": None}, "original_width and original_height"),
        (
            BOX | {"value": BOX["value"] | {"rectanglelabels": ["a", "b"]}},
            r"one class in 'rectanglelabels', got \['a', 'b'\]",
        ),
        (BOX | {"value": BOX["value"] | {"rectanglelabels": []}}, r"one class in 'rectanglelabels', got \[\]"),
    ],
)
def test_results_that_cannot_be_used(written, drawn, message):
    path = written([task(by(1, drawn), by(2, POLYGON))])
    with pytest.raises(InputError, match=f"{WHERE}: expected {message}"):
        read_label_studio(path)
    with pytest.warns(KalosWarning, match="They are left out") as caught:
        annotations = read_label_studio(path, on_invalid="skip")
    assert [warning.filename for warning in caught] == [__file__]
    assert (len(annotations), annotations.skipped.tolist()) == (1, [1])


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([3], r"tasks\[0\]: expected a task with a list of 'annotations' \(the export 'JSON'\), got 3"),
        ([{"id": 1, "image": "a.jpg", "label": []}], r"tasks\[0\]: expected a task with a list of 'annotations'"),
        ([task(), task()], r"tasks\[1\] \(id 5\): expected an id of its own, got 5"),
        ([task(id=[5])], r"tasks\[0\] \(id \[5\]\): expected an id of its own"),
        ([task(3)], r"annotations\[0\]: expected an annotation with a list 'result', got 3"),
        ([task(by(1, result=None))], r"annotations\[0\]: expected an annotation with a list 'result'"),
        ([task(by(None))], r"annotations\[0\]: expected an annotator as 'completed_by', got None"),
        ([task(by(1), by(2), by(1))], r"annotations\[2\]: expected one annotation of each annotator, got a second one"),
        ([task(by(1, 3))], r"result\[0\]: expected an object, got 3"),
        (
            [task(by(1, BOX, BOX | {"original_width": 9}))],
            r"result\[1\]: expected the size 8 x 4 that it has elsewhere",
        ),
        ([task(by(1, BOX | {"original_width": -1}))], r"result\[0\]: expected a positive width and height"),
    ],
)
def test_records_that_cannot_be_used(written, tasks, message):
    with pytest.raises(InputError, match=message):
        read_label_studio(written(tasks))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "expected JSON, got"),
        ("[]", "expected a list of Label Studio tasks, got an empty list"),
        ("{}", "expected a list of Label Studio tasks, got dict"),
    ],
)
def test_what_is_no_such_export(written, content, message):
    path = written(content)
    with pytest.raises(InputError, match=re.escape(f"{path}: {message}")):
        read_label_studio(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    spoiled([task(by(1, BOX, POLYGON, POINT, *OTHERS), by(2, BRUSH)), task(by(1, BOX), by(2, BOX), id=6)]),
    st.sampled_from(["raise", "skip"]),
)
@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
def test_a_spoiled_export_is_read_or_refused(tmp_path, content, on_invalid):
    path = tmp_path / "export.json"
    try:
        path.write_text(json.dumps(content))
    except ValueError:  # a number too long to be written
        return
    try:
        annotations = read_label_studio(path, on_invalid=on_invalid)
    except InputError:
        return
    if len(annotations.raters) > 1 and "box" in annotations.shapes:
        agreement(annotations.select(rows=~annotations.shapes["box"].absent()), bootstrap=0)
