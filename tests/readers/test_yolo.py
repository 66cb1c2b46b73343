"""YOLO text files, one folder per rater."""

import numpy as np
import pytest

from kalos_core import InputError
from kalos_core.readers import read_yolo
from tests.readers.cases import LeftOut, Warned, differing, lines, write

DETECTION = "45 0.479492 0.688771 0.955609 0.5955"
"""Line of COCO8's 000000000009.txt, Ultralytics' example of the detection format."""

SEGMENTATION = "0 0.681 0.485 0.670 0.487 0.676 0.487\n1 0.504 0.000 0.501 0.004 0.498 0.004 0.493 0.010 0.492 0.0104\n"
"""Example from "Instance Segmentation Datasets Overview"."""

DATA_YAML = "path: coco8 # dataset root dir\ntrain: images/train\nnames:\n  0: person\n  45: bowl\n  50: broccoli\n"
"""As written by Ultralytics."""


LINE = "0 .5 .5 .2 .2"
HUNDRED = {"sizes": {"a": (100, 50)}}
KEYPOINTS = {"ann/a.txt": "0 .5 .5 .2 .2 0.1 0.2 2 0 0 0"}
POSE = ["a 100x50 ann: ann person box 40 20 20 10 keypoints 10,10 -"]
PICTURE = np.zeros((50, 100), np.uint8)
APART = {"ann/a.txt": LINE, "bob/b.txt": LINE}
QUARTER = ["a 100x50 ann: ann 0 polygon 55,15 55,35 45,35 45,15"]
BOTH = {"ann/a.txt": LINE, "bob/a.txt": LINE}
TEN = {"a": (10, 10), "b": (10, 10)}


def apart(*who):
    return [
        f"{image} 10x10 {of}: {rater} 0 box 4 4 2 2" for image, rater, of in zip("ab", ("ann", "bob"), who, strict=True)
    ]


READ = {
    # (0.479492 - 0.955609 / 2) * 640 = 1.0800 ..., (0.688771 - 0.5955 / 2) * 480, 0.955609 * 640, 0.5955 * 480
    "the documented boxes": (
        {"ann/labels/9.txt": DETECTION, "bob/labels/9.txt": "", "data.yaml": DATA_YAML},
        {"sizes": {"9": (640, 480)}}, ["9 640x480 ann bob: ann bowl box 1.08 187.69008 611.58976 285.84"]),
    "the documented polygons": ({"ann/a.txt": SEGMENTATION.splitlines()[0], "ann/b.txt": ""},
        {"sizes": {"a": (1000, 500), "b": (1000, 500)}},
        ["a 1000x500 ann: ann 0 polygon 681,242.5 670,243.5 676,243.5", "b 1000x500 ann:"]),
    "a confidence": ({"ann/a.txt": LINE + " 0.91"}, HUNDRED, ["a 100x50 ann: ann 0 box 40 20 20 10"]),
    "four corners": ({"ann/a.txt": "0 .1 .2 .3 .2 .3 .4 .1 .4"}, HUNDRED,
                     ["a 100x50 ann: ann 0 polygon 10,10 30,10 30,20 10,20"]),
    "keypoints": (KEYPOINTS | {"data.yaml": "kpt_shape: [2, 3]\nnames: [person]"}, HUNDRED, POSE),
    "keypoints of two numbers": (
        {"ann/a.txt": "0 .5 .5 .2 .2 0.1 0.2 0 0", "data.yaml": "kpt_shape: [2, 2]\nnames: [person]"}, HUNDRED, POSE),
    "classes of each rater": (
        {"ann/a.txt": LINE, "bob/a.txt": "1 .5 .5 .2 .2", "ann/classes.txt": "cat\ndog", "bob/classes.txt": "dog\ncat"},
        HUNDRED | {"classes": "own"}, ["a 100x50 ann bob: ann cat box 40 20 20 10; bob cat box 40 20 20 10"]),
    "names of one rater serve all": (BOTH | {"bob/data.yaml": "names: [cat, dog]"}, HUNDRED,
                                     ["a 100x50 ann bob: ann cat box 40 20 20 10; bob cat box 40 20 20 10"]),
    "blank lines count": ({"ann/labels/a.txt": "2 .5 .5 .2 .2", "ann/labels/classes.txt": "cat\n\ndog\nbird\n"},
                          HUNDRED, ["a 100x50 ann: ann dog box 40 20 20 10"]),
    # 20 x 10 about 50, 25 by a quarter: 10 x 20
    "degrees": ({"ann/a.txt": LINE + " 90"}, HUNDRED | {"sixth": "degrees"}, QUARTER),
    "radians": ({"ann/a.txt": LINE + " 1.5707963267948966"}, HUNDRED | {"sixth": "radians"}, QUARTER),
    "a box beside corners": ({"ann/a.txt": "0 .1 .2 .3 .2 .3 .4 .1 .4", "bob/a.txt": LINE}, HUNDRED,
        ["a 100x50 ann bob: ann 0 polygon 10,10 30,10 30,20 10,20; bob 0 polygon 40,20 60,20 60,30 40,30"]),
    "not said who was assigned": (
        APART, {"sizes": TEN}, Warned("not said who was assigned, and 2 of 2 images", apart("ann bob", "ann bob"))),
    "folders of raters in one of labels": (
        {"labels/ann/a.txt": LINE, "labels/bob/a.txt": "", "labels/classes.txt": "cat", "images/a.png": PICTURE},
        ["a 100x50 ann bob: ann cat box 40 20 20 10"]),
    "parts and hashes of Roboflow": (
        {"ann/train/labels/a_jpg.rf.0123456789ab.txt": LINE, "ann/valid/labels/b.txt": "",
         "bob/valid/labels/a_jpg.rf.ba9876543210.txt": LINE, "bob/train/labels/b.txt": ""},
        {"sizes": {"a_jpg.rf.0123456789ab": (10, 10), "b": (10, 10)}},
        ["a_jpg 10x10 ann bob: ann 0 box 4 4 2 2; bob 0 box 4 4 2 2", "b 10x10 ann bob:"]),
    "a list of images": ({"ann/Validation.txt": "data/obj_Validation_data/a.png\n", "ann/obj_x_data/a.txt": LINE},
                         HUNDRED, ["a 100x50 ann: ann 0 box 40 20 20 10"]),
    "all assigned": (APART, {"sizes": TEN, "assigned": "all"}, apart("ann bob", "ann bob")),
    "an empty file says it": (APART | {"bob/a.txt": "\n"}, {"sizes": TEN}, apart("ann bob", "bob")),
}  # fmt: skip

NAMES = dict.fromkeys(
    ["classes.txt", "ann/classes.txt", "obj.names", "ann/cats.names", "_darknet.labels"], "cat\ndog\n"
)
NAMES |= {"data.yaml": "names: [cat, dog]", "ann/cats.yml": "names: {1: dog, 0: cat}"}
NAMES["ann/cats.yaml"] = "all: &all [cat, dog]\nnames: *all"

NOT_NAMES = {
    "names: [a": "data.yaml: expected YAML, got",
    "nc: 3": "data.yaml: expected a mapping with 'names', got nc",
    f"names: {'[' * 5_000}": "expected YAML, got maximum recursion depth exceeded",
    "names: &all [*all]": "expected YAML of few values, got references that stand for too many",
    "names: cat": "expected names of classes by number, got 'cat'",
    "names: [cat]\nkpt_shape: 17": "expected kpt_shape [joints, 2 or 3], got 17",
}

UNUSABLE = {
    "cat .5 .5 .2 .2": "expected a class number and coordinates, got 'cat .5 .5 .2 .2'",
    "7 .5 .5 .2 .2": "expected a class number among 0, which ",
    "0 .5 .5 nan .2": "expected finite numbers",
    "0 50 25 .2 .2": "expected fractions of the image, got 50, as in pixels",
    "0 .5 .5 .2": "expected a box of 4 numbers or a polygon of at least 3 points, got 3 numbers",
}

REFUSED = {
    "one data set": ({"labels/train/a.txt": LINE, "labels/val/b.txt": LINE}, "got train, val, which are splits of one"),
    "another format": ({"ann/a.txt": "Car 0 0"}, "line 1: expected a class number and coordinates, got 'Car 0 0'"),
    "no text files": ({"ann/a.jpg": "", "bob/a.txt": LINE}, "rater 'ann': expected text files in "),
    "an angle or a confidence": (BOTH | {"bob/a.txt": LINE + " 45"}, HUNDRED, "bob/a.txt, line 1: expected a conf"),
    "two lists of names": (BOTH | {"ann/classes.txt": "cat\ndog", "bob/classes.txt": "cat\ncow"}, HUNDRED,
                           "bob/classes.txt: expected 'dog' as class 1, as in "),
    "names of one rater": (BOTH | {"ann/classes.txt": "cat"}, HUNDRED | {"classes": "own"}, "got none for bob"),
    "keypoints of which nothing is said": (KEYPOINTS, HUNDRED, "expected kpt_shape in a data.yaml"),
    "no sizes": ({"ann/a.txt": LINE}, "expected width and height of image 'a', as coordinates are fractions"),
}  # fmt: skip


def test_files(tmp_path):
    second, dog = {"ann/obj_train_data/a.txt": "1 .5 .5 .2 .2"}, ["a 100x50 ann: ann dog box 40 20 20 10"]
    names = {file: (second | {file: text}, HUNDRED, dog) for file, text in NAMES.items()}
    other = {text: ({"ann/a.txt": LINE, "data.yaml": text}, HUNDRED, words) for text, words in NOT_NAMES.items()}
    cat = {"classes.txt": "cat"}
    unusable = {
        line: (cat | {"ann/a.txt": f"{LINE}\n{line}\n"}, HUNDRED, LeftOut(f"ann/a.txt, line 2: {words}"))
        for line, words in UNUSABLE.items()
    }
    assert differing(read_yolo, tmp_path, READ | names | other | unusable | REFUSED) == []


def test_sizes_of_images_in_the_same_folder(tmp_path):
    expected = ["train/a 100x50 ann: ann 0 box 40 20 20 10", "train/b 100x50 ann:"]
    labels = {"ann/labels/train/a.txt": LINE, "ann/labels/train/b.txt": ""}
    places = ("images/{}.png", "{}.png", "ann/images/{}.png", "images/train/{}.png")
    cases = {place: (labels | {place.format(name): PICTURE for name in "ab"}, expected) for place in places}
    assert differing(read_yolo, tmp_path, cases) == []
    assert lines(read_yolo(tmp_path / "0", sizes=tmp_path / "0" / "images")) == expected


def test_names_of_classes_that_are_given(tmp_path):
    folder = write(tmp_path, {"ann/a.txt": "1 .5 .5 .2 .2", "classes.txt": "cat\ndog", "other.txt": "x\ny"})
    for classes, name in ((["x", "y"], "y"), ({1: "y"}, "y"), (folder / "other.txt", "y")):
        assert lines(read_yolo(folder, classes=classes, **HUNDRED)) == [f"a 100x50 ann: ann {name} box 40 20 20 10"]
    assert read_yolo(folder, classes=["x", "y"], **HUNDRED).categories.tolist() == ["x", "y"]  # in their order


def test_sizes_by_any_usual_name_of_the_column(tmp_path):
    folder = write(tmp_path, {"ann/train/a.txt": LINE + " .5"})
    for table in ("image,width,height\na.jpg,100,50", "File_Name;W;H\nimages/train/a.jpg;100;50", "NAME,h,w\na,50,100"):
        made = read_yolo(folder, sizes=write(tmp_path, table, "sizes.csv"))
        assert lines(made) == ["train/a 100x50 ann: ann 0 box 40 20 20 10"]
        assert made.account.notes == ["the last number of 1 line was read as a confidence and not used"]
    two = write(tmp_path, "image,file,width,height\na.jpg,a.jpg,100,50", "sizes.csv")
    with pytest.raises(InputError, match=r"expected one column for the image .* got image, file; rename or remove"):
        read_yolo(folder, sizes=two)
