"""CVAT exports, one per annotator."""

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kalos_core import InputError, KalosWarning, agreement, read_cvat
from tests.readers.spoiling import spoiled_xml

META = (
    "<version>1.1</version><meta><task><id>3</id><labels><label><name>dog</name></label><label><name>cat</name></label>"
    "<label><name>person</name><type>skeleton</type></label>"
    "<label><name>head</name><parent>person</parent></label><label><name>foot</name><parent>person</parent></label>"
    "</labels></task></meta>"
)


def export(*marks, name="a/one.jpg", width="20", height="10", more=""):
    image = f'<image id="0" name="{name}" width="{width}" height="{height}">{"".join(marks)}</image>'
    return f'<?xml version="1.0" encoding="utf-8"?><annotations>{META}{image}{more}</annotations>'


BOX = '<box label="cat" source="manual" occluded="0" xtl="1" ytl="2" xbr="5" ybr="8" z_order="0"></box>'
TURNED = '<box label="cat" xtl="4" ytl="2" xbr="8" ybr="4" rotation="90.0"/>'
POLYGON = '<polygon label="dog" points="0,0;8,0;8,4.5" z_order="0"><attribute name="age">3</attribute></polygon>'
# within 3 x 2 pixels at (16, 8), row by row: off, on, on / on, on, off
MASK = '<mask label="cat" rle="1, 4, 1" left="16" top="8" width="3" height="2"/>'
POINTS = '<points label="dog" points="1,2;3.5,4"/>'
SKELETON = (
    '<skeleton label="person"><points label="foot" points="5,9" occluded="1" outside="0"/>'
    '<points label="head" points="5.5,1" occluded="0" outside="0"/></skeleton>'
)
TAG = '<tag label="sharp"/>'
EMPTY = '<image id="1" name="two.jpg" width="5" height="5"/>'


@pytest.fixture
def folder(tmp_path):
    def write(**exports):
        for name, text in exports.items():
            (tmp_path / f"{name}.xml").write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_boxes_of_two_annotators_and_who_saw_what(folder):
    annotations = read_cvat(folder(bob=export(BOX, TAG), ann=export(name="a/one.jpg", more=EMPTY)))
    assert annotations.raters.tolist() == ["ann", "bob"]
    assert annotations.images.tolist() == annotations.files.tolist() == ["a/one.jpg", "two.jpg"]
    assert annotations.image_size.tolist() == [[20, 10], [5, 5]]
    assert annotations.assigned.tolist() == [[True, True], [True, False]]
    assert annotations.categories.tolist() == ["dog", "cat", "person"]
    assert (annotations.rater.tolist(), annotations.category.tolist()) == ([1], [1])
    assert annotations.shapes["box"].xywh().tolist() == [[1, 2, 4, 6]]


def test_a_mapping_and_folders_of_annotators(folder, tmp_path):
    folder(first=export(BOX), second=export(BOX))
    (tmp_path / "jobs" / "ann").mkdir(parents=True)
    (tmp_path / "jobs" / "ann" / "annotations.xml").write_text(export(BOX), encoding="utf-8")
    files = {"zoe": tmp_path / "first.xml", "ann": str(tmp_path / "second.xml")}
    assert read_cvat(files).raters.tolist() == ["zoe", "ann"]
    assert agreement(read_cvat(files), bootstrap=0).alpha == 1
    assert read_cvat(tmp_path / "jobs").raters.tolist() == ["ann"]


def test_a_box_that_is_turned_is_a_polygon(folder):
    annotations = read_cvat(folder(ann=export(TURNED)))
    # 4 x 2 about its centre (6, 3), by a quarter: 2 x 4
    np.testing.assert_allclose(annotations.shapes["box"].xywh(), [[5, 1, 2, 4]], atol=1e-12)
    np.testing.assert_allclose(annotations.shapes["polygon"].area(), [8])


def test_a_box_turned_a_little_as_shapely_turns_it(folder):
    affinity = pytest.importorskip("shapely.affinity")
    from shapely import box

    made = read_cvat(folder(ann=export(TURNED.replace("90.0", "33.5")))).shapes["polygon"].geometries[0]
    assert made.symmetric_difference(affinity.rotate(box(4, 2, 8, 4), 33.5)).area < 1e-9


def test_polygons_masks_and_points(folder):
    annotations = read_cvat(folder(ann=export(POLYGON, MASK, POINTS)))
    assert annotations.shapes["polygon"].area().tolist() == [18, 0, 0]
    mask = annotations.shapes["mask"]
    assert mask.size.tolist() == [[0, 0], [20, 10], [0, 0]]
    # down the columns of 10 pixels: (16, 9); (17, 8), (17, 9); (18, 8)
    assert [(first, length) for first, length in zip(mask.first.tolist(), mask.length.tolist(), strict=True)] == [
        (169, 1), (178, 3 - 1), (188, 1),
    ]  # fmt: skip
    assert annotations.shapes["keypoints"].points[2].tolist() == [[1, 2], [3.5, 4]]


def test_joints_are_in_the_order_in_which_they_are_declared(folder):
    partly = SKELETON.replace('points="5.5,1" occluded="0" outside="0"', 'points="0,0" occluded="0" outside="1"')
    poses = read_cvat(folder(ann=export(SKELETON, partly))).shapes["keypoints"]
    assert poses.visible.tolist() == [[True, True], [False, True]]
    assert poses.points[0].tolist() == [[5.5, 1], [5, 9]]


def test_joints_that_are_not_declared_come_as_they_are_drawn(folder):
    text = export(SKELETON).replace("<parent>person</parent>", "").replace(META, "")
    one = '<skeleton label="person"><points label="hand" points="1,1"/></skeleton>'
    poses = read_cvat(folder(ann=text, bob=export(one).replace(META, ""))).shapes["keypoints"]
    assert poses.visible.tolist() == [[True, True, False], [False, False, True]]


WHERE = r"ann\.xml, image 'a/one\.jpg', annotation 1"


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        (BOX.replace('"cat"', '""'), r" \(box\): expected a label, got nothing"),
        (BOX.replace('xtl="1"', ""), r" \(box\): expected numbers in xtl, ytl, xbr, ybr, got None, '2', '5', '8'"),
        (BOX.replace('"5"', '"1"'), r" \(box\): expected a box of positive width and height"),
        (BOX.replace('"5"', '"inf"'), r" \(box\): expected a box of finite numbers"),
        (TURNED.replace("90.0", "nan"), r" \(box\): expected finite coordinates"),
        (TURNED.replace("90.0", "x"), r" \(box\): expected numbers in rotation, got 'x'"),
        (POLYGON.replace("8,4.5", "8"), r" \(polygon\): expected points x,y;x,y;\.\.\., got '0,0;8,0;8'"),
        (POLYGON.replace(";8,4.5", ""), r" \(polygon\): expected rings of at least 3 points"),
        (MASK.replace("4", "5"), r" \(mask\): expected an rle of counts that sum to 3 x 2"),
        (MASK.replace("1, 4", "-1, 6"), r" \(mask\): expected an rle of counts that sum to 3 x 2"),
        (
            MASK.replace('width="3"', 'width="2.5"'),
            r" \(mask\): expected a left, top, width and height in whole pixels inside of 20 x 10",
        ),
        (
            MASK.replace('width="3"', 'width="999999999999"'),
            r" \(mask\): expected a left, top, width and height in whole",
        ),
        (
            MASK.replace('left="16"', 'left="18"'),
            r" \(mask\): expected a left, top, width and height in whole pixels inside of 20 x 10, got 18, 8, 3, 2",
        ),
        (SKELETON.replace('label="foot"', 'label="head"'), r" \(skeleton\): expected joints of one point"),
        ('<skeleton label="person"/>', r" \(skeleton\): expected joints, got none"),
        ('<polyline label="cat" points="1,1;2,2"/>', r" \(polyline\): expected one of box, .*, got <polyline>"),
    ],
)
def test_annotations_that_cannot_be_used(folder, mark, message):
    with pytest.raises(InputError, match=WHERE + message):
        read_cvat(folder(ann=export(mark), bob=export(BOX)))
    with pytest.warns(KalosWarning, match="They are left out") as caught:
        annotations = read_cvat(folder(ann=export(mark), bob=export(BOX)), on_invalid="skip")
    assert [warning.filename for warning in caught] == [__file__]
    assert (len(annotations), annotations.skipped.tolist()) == (1, [1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (export(width="21"), r"ann\.xml, image 'a/one\.jpg': expected the size 20 x 10 .*elsewhere, got 21 x 10"),
        (export(width="0"), r"image 'a/one\.jpg': expected a positive width and height"),
        (export(width="x"), r"image 'a/one\.jpg': expected a width and height, got 'x' x '10'"),
        (export(name=""), r"ann\.xml, image 0: expected a name, got nothing"),
        (export(more=export().split("</meta>")[1].replace("</annotations>", "")), "expected an image once in a file"),
    ],
)
def test_images_that_cannot_be_used(folder, text, message):
    path = folder(aaa=export(BOX), ann=text)
    with pytest.raises(InputError, match=message):
        read_cvat(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected XML, got"),
        ("<annotations/>", "expected an export in the format 'CVAT for images 1.1', got <annotations> without images"),
        ("<LidcReadMessage/>", "'CVAT for images 1.1', got <LidcReadMessage> without images"),
        (export(more="<track/>"), "'CVAT for images 1.1', got CVAT for video, with tracks"),
        ("<!DOCTYPE annotations>" + export(BOX)[38:], "expected XML, got a document type declaration (annotations)"),
    ],
)
def test_what_is_no_such_export(folder, text, message):
    path = folder(ann=text)
    with pytest.raises(InputError, match=re.escape(f"{path / 'ann.xml'}: expected ") + ".*" + re.escape(message[9:])):
        read_cvat(path)


@pytest.mark.parametrize(
    ("exports", "message"),
    [
        (3, "exports: expected a folder, or a mapping rater -> file, got int"),
        ({}, "exports: expected a mapping of raters' names to files, got {}"),
        ({"": "a.xml"}, "exports: expected a mapping of raters' names to files"),
        ({"ann": 3}, r"exports\['ann'\]: expected a path, got int"),
        ("nowhere", "nowhere: expected a folder of CVAT exports"),
        ({"ann": "nowhere.xml"}, "nowhere.xml: expected a readable CVAT export, got"),
    ],
)
def test_arguments_that_cannot_be(exports, message, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        read_cvat(exports)


def test_an_empty_folder(tmp_path):
    with pytest.raises(InputError, match="expected XML files, or folders with an annotations"):
        read_cvat(tmp_path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    spoiled_xml(export(BOX, TURNED, POLYGON, MASK, more=EMPTY)) | spoiled_xml(export(SKELETON, POINTS)),
    st.sampled_from(["raise", "skip"]),
)
@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
def test_a_spoiled_export_is_read_or_refused(tmp_path, data, on_invalid):
    (tmp_path / "ann.xml").write_bytes(data)
    (tmp_path / "bob.xml").write_text(export(BOX, more=EMPTY))
    try:
        annotations = read_cvat(tmp_path, on_invalid=on_invalid)
    except InputError:
        return
    if "box" in annotations.shapes:
        agreement(annotations.select(rows=~annotations.shapes["box"].absent()), bootstrap=0)
