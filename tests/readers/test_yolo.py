"""YOLO text files, a folder a rater."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from kalos_core import InputError, KalosWarning
from kalos_core.readers import read_labels, read_yolo
from kalos_core.readers.formats import guess_format

DETECTION = """45 0.479492 0.688771 0.955609 0.5955
45 0.736516 0.247188 0.498875 0.476417
50 0.637063 0.732938 0.494125 0.510583
"""
"""Lines of COCO8's 000000000009.txt, Ultralytics' example of the format for detection."""

SEGMENTATION = "0 0.681 0.485 0.670 0.487 0.676 0.487\n1 0.504 0.000 0.501 0.004 0.498 0.004 0.493 0.010 0.492 0.0104\n"
"""The example of "Instance Segmentation Datasets Overview"."""

DATA_YAML = """# Ultralytics dataset
path: coco8 # dataset root dir
train: images/train
val: images/val
names:
  0: person
  45: bowl
  50: broccoli
"""


@pytest.fixture
def folder(tmp_path):
    def write(files):
        for place, text in files.items():
            path = tmp_path / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_the_documented_boxes(folder):
    found = folder({"ann/labels/9.txt": DETECTION, "bob/labels/9.txt": "", "data.yaml": DATA_YAML})
    table = read_yolo(found, sizes={"9": (640, 480)})
    assert table.categories.tolist() == ["person", "bowl", "broccoli"]
    assert table.category.tolist() == [1, 1, 2]
    expected = [(0.479492 - 0.955609 / 2) * 640, (0.688771 - 0.5955 / 2) * 480, 0.955609 * 640, 0.5955 * 480]
    np.testing.assert_allclose(table.shapes["box"].xywh()[0], expected)
    assert table.assigned.tolist() == [[True, True]]
    assert guess_format(found) == "yolo"
    assert read_labels(found, sizes={"9": (640, 480)}).id.tolist() == [1, 2, 3]


def test_the_documented_polygons(folder):
    table = read_yolo(folder({"ann/a.txt": SEGMENTATION, "ann/b.txt": ""}), sizes={"a": (1000, 500), "b": (1000, 500)})
    assert table.categories.tolist() == ["0", "1"]
    np.testing.assert_allclose(table.shapes["polygon"].outline_bounds()[0], [670, 242.5, 681, 243.5])


def test_boxes_with_confidence_and_oriented_boxes(folder):
    text = "0 .5 .5 .2 .2 0.91\n0 0.780811 0.743961 0.782371 0.74686 0.777691 0.752174 0.776131 0.749758\n"
    table = read_yolo(folder({"ann/a.txt": text}), sizes={"a": (100, 100)})
    np.testing.assert_allclose(table.shapes["box"].xywh()[0], [40, 40, 20, 20])
    assert table.shapes["polygon"].area()[1] > 0  # a row of "Oriented Bounding Box Datasets Overview", 4 corners


@pytest.mark.parametrize(("length", "point"), [(3, "0.1 0.2 2 0 0 0"), (2, "0.1 0.2 0 0")])
def test_keypoints_where_the_classes_say_so(folder, length, point):
    names = f"kpt_shape: [2, {length}]\nnames: [person]\n"
    table = read_yolo(folder({"ann/a.txt": f"0 .5 .5 .2 .2 {point}", "data.yaml": names}), sizes={"a": (100, 50)})
    assert table.shapes["box"].xywh().tolist() == [pytest.approx([40, 20, 20, 10])]
    assert "keypoints" in table.shapes


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("classes.txt", "cat\ndog\n"),
        ("ann/classes.txt", "cat\ndog\n"),
        ("obj.names", "cat\ndog\n"),
        ("data.yaml", "names: [cat, dog]"),
        ("ann/data.yaml", "names: {1: dog, 0: cat}"),
    ],
)
def test_names_of_classes(folder, file, text):
    found = folder({"ann/obj_train_data/a.txt": "1 .5 .5 .2 .2", file: text, "ann/train.txt": "data/a.jpg"})
    table = read_yolo(found, sizes={"a": (10, 10)})
    assert [table.categories[code] for code in table.category] == ["dog"]
    for given_names in (["x", "y"], {1: "y"}, found / file):
        again = read_yolo(found, sizes={"a": (10, 10)}, classes=given_names)
        assert again.categories[again.category[0]] in ("y", "dog")


def test_raters_with_classes_of_their_own(folder):
    files = {"ann/a.txt": "0 .5 .5 .2 .2", "bob/a.txt": "1 .5 .5 .2 .2"}
    found = folder(files | {"ann/classes.txt": "cat\ndog", "bob/classes.txt": "dog\ncat"})
    table = read_yolo(found, sizes={"a": (10, 10)})
    assert table.category.tolist() == [0, 0]


@pytest.mark.parametrize("place", ["images/a.png", "a.png", "ann/images/a.png", "images/train/a.png"])
def test_sizes_of_images_that_lie_beside(folder, place):
    found = folder({"ann/labels/train/a.txt": "0 .5 .5 .2 .2", "ann/labels/train/b.txt": ""})
    (found / place).parent.mkdir(parents=True, exist_ok=True)
    for name in ("a", "b"):
        Image.new("L", (100, 50)).save((found / place).with_stem(name))
    table = read_yolo(found)
    assert table.images.tolist() == ["train/a", "train/b"]
    assert table.shapes["box"].xywh().tolist() == [pytest.approx([40, 20, 20, 10])]
    if place.startswith("images/a"):
        assert read_yolo(found, sizes=found / "images").image_size.tolist() == [[100, 50]] * 2


def test_who_was_assigned(folder):
    line = "0 .5 .5 .2 .2"
    found = folder({"ann/a.txt": line, "bob/b.txt": line})
    sizes = {"a": (10, 10), "b": (10, 10)}
    with pytest.warns(KalosWarning, match="YOLO folders: it is not said who was assigned, and 2 of 2 images") as caught:
        assert read_yolo(found, sizes=sizes).assigned.all()
    assert [warning.filename for warning in caught] == [__file__]
    assert read_yolo(found, sizes=sizes, assigned="all").assigned.all()
    assert read_yolo(found, sizes=sizes, assigned="files").assigned.tolist() == [[True, False], [False, True]]
    folder({"bob/a.txt": "\n"})
    assert read_yolo(found, sizes=sizes).assigned.tolist() == [[True, True], [False, True]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("cat .5 .5 .2 .2", "line 2: expected a class number and coordinates, got 'cat .5 .5 .2 .2'"),
        ("-1 .5 .5 .2 .2", "line 2: expected a class number and coordinates"),
        ("0.5 .5 .5 .2 .2", "line 2: expected a class number and coordinates"),
        ("7 .5 .5 .2 .2", "line 2: expected a class number among 0, got 7"),
        ("0 .5 .5 nan .2", "line 2: expected finite numbers"),
        ("0 .5 .5 .2", "line 2: expected a box of 4 numbers or a polygon of at least 3 points, got 3 numbers"),
        ("0", "line 2: expected a box of 4 numbers or a polygon of at least 3 points, got 0 numbers"),
        ("0 .5 .5 0 .2", "line 2: expected a box of positive width and height"),
    ],
)
def test_lines_that_cannot_be_used(folder, line, message):
    found = folder({"ann/a.txt": f"0 .5 .5 .2 .2\n{line}\n", "classes.txt": "cat"})
    with pytest.raises(InputError, match=re.escape(f"ann/a.txt, {message}")):
        read_yolo(found, sizes={"a": (10, 10)})
    with pytest.warns(KalosWarning, match="They are left out"):
        table = read_yolo(found, sizes={"a": (10, 10)}, on_invalid="skip")
    assert (len(table), table.skipped.tolist()) == (1, [1])


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("data.yaml", "names: [a", "data.yaml: expected YAML, got"),
        ("data.yaml", "nc: 3", "data.yaml: expected a mapping with 'names', got one with nc"),
        ("data.yaml", "3", "data.yaml: expected a mapping with 'names', got int"),
        ("data.yaml", "names: cat", "expected names of classes by number, got 'cat'"),
        ("data.yaml", "names: {cat: 0}", "expected names of classes by number, got {'cat': 0}"),
        ("data.yaml", "names: [cat]\nkpt_shape: 17", "expected kpt_shape [joints, 2 or 3], got 17"),
    ],
)
def test_classes_that_cannot_be_read(folder, file, text, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read_yolo(folder({"ann/a.txt": "0 .5 .5 .2 .2", file: text}), sizes={"a": (10, 10)})


def test_what_is_missing(folder, tmp_path):
    (tmp_path / "ann").mkdir()
    with pytest.raises(InputError, match=r"rater 'ann': expected text files in .*ann, got none"):
        read_yolo(tmp_path)
    with pytest.raises(InputError, match="expected width and height of image 'a', as coordinates are fractions"):
        read_yolo(folder({"ann/a.txt": "0 .5 .5 .2 .2"}))


corner = st.floats(0, 0.5)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 2), corner, corner, st.floats(0.01, 0.5), st.floats(0.01, 0.5)), max_size=5))
def test_any_boxes_come_back(tmp_path_factory, boxes):
    folder = tmp_path_factory.mktemp("yolo")
    (folder / "ann").mkdir()
    lines = [f"{name} {x + w / 2!r} {y + h / 2!r} {w!r} {h!r}" for name, x, y, w, h in boxes]
    (folder / "ann" / "a.txt").write_text("\n".join(lines))
    table = read_yolo(folder, sizes={"a": (200, 100)}, classes=["a", "b", "c"])
    assert table.category.tolist() == [box[0] for box in boxes]
    expected = np.array([box[1:] for box in boxes]).reshape(-1, 4) * [200, 100, 200, 100]
    if boxes:
        np.testing.assert_allclose(table.shapes["box"].xywh(), expected, atol=1e-9)
