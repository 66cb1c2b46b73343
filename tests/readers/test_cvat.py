"""CVAT exports, one per annotator."""

import pytest
from shapely import Polygon, affinity, box

from kalos_core import read_cvat
from tests.readers.cases import LeftOut, differing, lines, write

META = (
    "<version>1.1</version><meta><task><id>3</id><labels><label><name>dog</name></label><label><name>cat</name></label>"
    "<label><name>person</name><type>skeleton</type></label>"
    "<label><name>head</name><parent>person</parent></label><label><name>foot</name><parent>person</parent></label>"
    "</labels></task></meta>"
)


def export(*marks, name="a/one.jpg", width="20", height="10", more=""):
    image = f'<image id="0" name="{name}" width="{width}" height="{height}">{"".join(marks)}</image>'
    return f'<?xml version="1.0" encoding="utf-8"?><annotations>{META}{image}{more}</annotations>'


def of_ann(*marks, **changes):
    """Files of two annotators, of whom bob annotated nothing."""
    return {"ann.xml": export(*marks, **changes), "bob.xml": export()}


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
PARTLY = SKELETON.replace('points="5.5,1" occluded="0" outside="0"', 'points="0,0" occluded="0" outside="1"')
HAND = '<skeleton label="person"><points label="hand" points="1,1"/></skeleton>'
TAG = '<tag label="sharp"/>'
EMPTY = '<image id="1" name="two.jpg" width="5" height="5"/>'
ONE = "a/one.jpg 20x10 ann bob: "

READ = {
    "who saw what": (
        {"bob.xml": export(BOX, TAG), "ann.xml": export(more=EMPTY)},
        [f"{ONE}bob cat box 1 2 4 6", "two.jpg 5x5 ann:"],
    ),
    "a folder a rater": ({"ann/annotations.xml": export(BOX)}, ["a/one.jpg 20x10 ann: ann cat box 1 2 4 6"]),
    # 4 x 2 about its centre (6, 3), by a quarter: 2 x 4
    "a turned box": (of_ann(TURNED), [f"{ONE}ann cat polygon 7,1 7,5 5,5 5,1"]),
    "not turned": (of_ann(TURNED.replace("90.0", "360")), [f"{ONE}ann cat box 4 2 4 2"]),
    "shapes": (
        of_ann(POLYGON, MASK, POINTS),
        [f"{ONE}ann dog polygon 0,0 8,0 8,4.5; ann cat mask at 16,8 011/110; ann dog keypoints 1,2 3.5,4"],
    ),
    # in the order in which they are declared
    "skeletons": (
        of_ann(SKELETON, PARTLY),
        [f"{ONE}ann person keypoints 5.5,1 5,9; ann person keypoints - 5,9"],
    ),
    # in the order in which they come
    "joints that are not declared": (
        {"ann.xml": export(SKELETON).replace(META, ""), "bob.xml": export(HAND).replace(META, "")},
        [f"{ONE}ann person keypoints 5,9 5.5,1 -; bob person keypoints - - 1,1"],
    ),
}  # fmt: skip

WHERE = "ann.xml, image 'a/one.jpg', annotation 1"
PLACE = "(mask): expected a left, top, width and height in whole pixels inside of 20 x 10"
UNUSABLE = {
    "no label": (BOX.replace('"cat"', '""'), "(box): expected a label, got nothing"),
    "no corner": (BOX.replace('xtl="1"', ""), "(box): expected numbers in xtl, ytl, xbr, ybr, got None, '2', '5', '8'"),
    "no angle": (TURNED.replace("90.0", "x"), "(box): expected numbers in rotation, got 'x'"),
    "half a point": (POLYGON.replace("8,4.5", "8"), "(polygon): expected points x,y;x,y;..., got '0,0;8,0;8'"),
    "long counts": (MASK.replace("4", "5"), "(mask): expected an rle of counts that sum to 3 x 2"),
    "negative counts": (MASK.replace("1, 4", "-1, 6"), "(mask): expected an rle of counts that sum to 3 x 2"),
    "half a pixel": (MASK.replace('width="3"', 'width="2.5"'), PLACE),
    "beyond the image": (MASK.replace('left="16"', 'left="18"'), PLACE + ", got 18, 8, 3, 2"),
    "a joint twice": (SKELETON.replace('label="foot"', 'label="head"'), "(skeleton): expected joints of one point"),
    "no joints": ('<skeleton label="person"/>', "(skeleton): expected joints, got none"),
    "another": ('<polyline label="cat" points="1,1;2,2"/>', "(polyline): expected one of box, polygon, mask, points"),
}

AGAIN = export().split("</meta>")[1].replace("</annotations>", "")
OTHER = "expected an export in the format 'CVAT for images 1.1', got "
REFUSED = {
    "another size": ({"aaa.xml": export(), **of_ann(width="21")},
                     "ann.xml, image 'a/one.jpg': expected the size 20 x 10 that it has elsewhere, got 21 x 10"),
    "a size in words": (of_ann(width="x"), "image 'a/one.jpg': expected a width and height, got 'x' x '10'"),
    "no name": (of_ann(name=""), "ann.xml, image 0: expected a name, got nothing"),
    "an image twice": (of_ann(more=AGAIN), "ann.xml, image 'a/one.jpg': expected an image once in a file"),
    "no images": ({"ann.xml": "<annotations/>"}, f"ann.xml: {OTHER}<annotations> without images"),
    "tracks": ({"ann.xml": export(more="<track/>")}, f"{OTHER}CVAT for video, with tracks"),
    "a document type": ({"ann.xml": "<!DOCTYPE a>" + export()[38:]}, "expected XML, got a document type declaration"),
    "no files": ({"ann.txt": ""}, "expected XML files, or folders with an annotations.xml, one per rater, got none"),
}  # fmt: skip

ARGUMENTS = {
    "nobody": ({}, "exports: expected a mapping of raters' names to files, got {}"),
    "no name": ({"": "a.xml"}, "exports: expected a mapping of raters' names to files"),
    "no folder": ("nowhere", "nowhere: expected a folder of CVAT exports"),
    "no file": ({"ann": "nowhere.xml"}, "nowhere.xml: expected a readable CVAT export, got"),
}


def test_files(tmp_path):
    unusable = {name: (of_ann(mark), LeftOut(f"{WHERE} {words}")) for name, (mark, words) in UNUSABLE.items()}
    assert differing(read_cvat, tmp_path, READ | unusable | REFUSED) == []
    assert differing(read_cvat, None, ARGUMENTS) == []


def test_raters_by_name_and_classes_in_the_declared_order(tmp_path):
    folder = write(tmp_path, {"first.xml": export(BOX), "second.xml": export(BOX)})
    table = read_cvat({"zoe": folder / "first.xml", "ann": str(folder / "second.xml")})
    assert lines(table) == ["a/one.jpg 20x10 zoe ann: zoe cat box 1 2 4 6; ann cat box 1 2 4 6"]
    assert table.categories.tolist() == ["dog", "cat", "person"]


def test_a_box_turned_a_little_as_shapely_turns_it(tmp_path):
    table = read_cvat(write(tmp_path, {"ann.xml": export(TURNED.replace("90.0", "33.5"))}))
    (ring,) = table.shapes["polygon"].rings(0)
    assert Polygon(ring).symmetric_difference(affinity.rotate(box(4, 2, 8, 4), 33.5)).area == pytest.approx(0, abs=1e-9)
