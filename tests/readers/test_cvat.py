"""CVAT exports, one per annotator."""

import io
import zipfile

import numpy as np
import pytest
from shapely import Polygon, affinity, box

from kalos_core.readers import read_cvat
from kalos_core.readers.cvat import read_cvat_tags
from tests.readers.cases import LeftOut, Warned, differing, label_lines, lines, write

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
    """Return files of two annotators; bob annotated nothing."""
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
LINE = '<polyline label="cat" points="1,1;2,2"/>'
ELLIPSE = '<ellipse label="cat" cx="8" cy="5" rx="4" ry="2" rotation="90"/>'
PIECE = POLYGON.replace("<polygon", '<polygon group_id="7"')
GROUP = (PIECE, '<box label="dog" group_id="7" xtl="9" ytl="0" xbr="11" ybr="1"/>', PIECE.replace('"dog"', '"cat"'))
MASKS = [MASK.replace("<mask", '<mask group_id="7"').replace("1, 4, 1", counts) for counts in ("0,1,5", "5,1")]
CUBOID = '<cuboid label="cat" xtl1="1" ytl1="1" xbl1="1" ybl1="5" xtr1="4" ytr1="1" xbr1="4" ybr1="5" xtl2="3" '
CUBOID += 'ytl2="1" xbl2="3" ybl2="5" xtr2="6" ytr2="1" xbr2="6" ybr2="5"/>'
MANY = ['<points label="dog" points="1,2;3,4;5,6"/>'] * 4
EMPTY = '<image id="1" name="two.jpg" width="5" height="5"/>'
ONE = "a/one.jpg 20x10 ann bob: "


def packed(text, size=None):
    """A zip file, which may say that it holds the text in so many bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("annotations.xml", text)
        made.filelist[0].compress_size = size or made.filelist[0].compress_size
    return file.getvalue()


def video(tracks, part=""):
    said = "<original_size><width>20</width><height>10</height></original_size><source>v.mp4</source>"
    task = f"<mode>interpolation</mode>{said}<segments>{part}</segments>"
    return f"<annotations><meta><task>{task}</task></meta>{tracks}</annotations>"


TRACK = '<track id="0" label="cat">{}<box frame="1" outside="1"/>{}</track>'
SEGMENT = "<segment><start>1</start><stop>9</stop></segment>"
FRAMES = [BOX.replace("<box", f'<box frame="{frame}"') for frame in (0, 2)]
IMAGE = '<image id="0" name="c.jpg" task_id="{}" width="20" height="10">{}</image>'
TASKS = "".join(f"<task><id>{key}</id><name>{name}</name></task>" for key, name in (("4", "ann"), ("5", "bob")))
PROJECT = (
    f"<annotations><meta><project><tasks>{TASKS}</tasks></project></meta>{IMAGE.format(4, BOX)}{IMAGE.format(5, '')}"
)
PROJECT += "</annotations>"

READ = {
    "who saw what": ({"bob.xml": export(BOX, TAG, LINE), "ann.xml": export(more=EMPTY)},
        Warned("1 record became annotations. Left out: 1 tags, which `kalos-core labels` reads, 1 polylines,",
               [f"{ONE}bob cat box 1 2 4 6", "two.jpg 5x5 ann:"])),
    "a folder a rater": ({"ann/annotations.xml": export(BOX)}, ["a/one.jpg 20x10 ann: ann cat box 1 2 4 6"]),
    # 4 x 2 about its centre (6, 3), by a quarter: 2 x 4
    "a turned box": (of_ann(TURNED), [f"{ONE}ann cat polygon 7,1 7,5 5,5 5,1"]),
    "groups": (of_ann(*GROUP),
        [f"{ONE}ann dog polygon 0,0 8,0 8,4.5 | 9,0 11,0 11,1 9,1; ann cat polygon 0,0 8,0 8,4.5"]),
    "groups apart": (of_ann(*MASKS), {"grouped": "apart"}, [f"{ONE}ann cat mask at 16,8 1; ann cat mask at 18,9 1"]),
    "masks of a group": (of_ann(*MASKS), [f"{ONE}ann cat mask at 16,8 100/001"]),
    "points of a group": (of_ann(*[POINTS.replace("<points", '<points group_id="7"')] * 2),
        Warned("Not used: the group (only polygons and boxes, or masks, can be joined) of 2 records",
               [ONE + "; ".join(["ann dog keypoints 1,2 3.5,4"] * 2)])),
    "a zip file a rater": ({"ann.zip": packed(export(BOX)), "bob.xml": export()}, [f"{ONE}ann cat box 1 2 4 6"]),
    "tasks of a project": ({"p.xml": PROJECT}, {"rater_from": "task"}, ["c.jpg 20x10 ann bob: ann cat box 1 2 4 6"]),
    # bob's part of the video begins with its second frame
    "frames": ({"ann.xml": video(TRACK.format(*FRAMES)), "bob.xml": video("", SEGMENT)},
        ["v.mp4#0 20x10 ann: ann cat box 1 2 4 6", "v.mp4#2 20x10 ann bob: ann cat box 1 2 4 6"]),
    "a cuboid, in a folder of annotations": ({"annotations/ann.xml": export(CUBOID)},
        ["a/one.jpg 20x10 ann: ann cat polygon 1,1 1,5 6,5 6,1"]),
    "points of varying number": (of_ann(POINTS, POINTS.replace(";3.5,4", "")),
        [f"{ONE}ann dog keypoints 1,2; ann dog keypoints 3.5,4; ann dog keypoints 1,2"]),
    "a record of fewer points": (of_ann(*MANY, POINTS), LeftOut("(points): expected 3 points, as most of 'dog'")),
    "shapes": (of_ann(POLYGON, MASK, POINTS),
        [f"{ONE}ann dog polygon 0,0 8,0 8,4.5; ann cat mask at 16,8 011/110; ann dog keypoints 1,2 3.5,4"]),
    # in the order of declaration
    "skeletons": (of_ann(SKELETON, PARTLY), [f"{ONE}ann person keypoints 5.5,1 5,9; ann person keypoints - 5,9"]),
    # in the order of occurrence
    "joints that are not declared": (
        {"ann.xml": export(SKELETON).replace(META, ""), "bob.xml": export(HAND).replace(META, "")},
        [f"{ONE}ann person keypoints 5,9 5.5,1 -; bob person keypoints - - 1,1"]),
}  # fmt: skip

WHERE = "ann.xml, image 'a/one.jpg', annotation 1"
PLACE = "(mask): expected a mask in whole pixels inside of 20 x 10"
UNUSABLE = {
    "no label": (BOX.replace('"cat"', '""'), "(box): expected a label, got nothing"),
    "no corner": (BOX.replace('xtl="1"', ""), "(box): expected numbers in xtl, ytl, xbr, ybr, got None, '2', '5', '8'"),
    "half a point": (POLYGON.replace("8,4.5", "8"), "(polygon): expected points x,y;x,y;..., got '0,0;8,0;8'"),
    "long counts": (MASK.replace("4", "5"), "(mask): expected an rle of counts that sum to 3 x 2"),
    "beyond the image": (MASK.replace('left="16"', 'left="18"'), PLACE + ", got 3 x 2 at 18, 8"),
    "a joint twice": (SKELETON.replace('label="foot"', 'label="head"'), "(skeleton): expected joints of one point"),
    "another": ('<wall label="cat"/>', "(wall): expected one of box, polygon, ellipse, mask, points, skeleton, cu"),
    "no radius": (ELLIPSE.replace('"4"', '"0"'), "(ellipse): expected two positive radii, got 0 and 2"),
}

AGAIN = export().split("</meta>")[1].replace("</annotations>", "")
OTHER = "expected an export in the format 'CVAT for images 1.1' or 'CVAT for video 1.1', got "
REFUSED = {
    "another size": ({"aaa.xml": export(), **of_ann(width="21")},
                     "ann.xml, image 'a/one.jpg': expected the size 20 x 10 that it has elsewhere, got 21 x 10"),
    "a size in words": (of_ann(width="x"), "image 'a/one.jpg': expected a width and height, got 'x' x '10'"),
    "no name": (of_ann(name=""), "ann.xml, image 0: expected a name, once in a file, got ''"),
    "an image twice": (of_ann(more=AGAIN), "ann.xml, image 'a/one.jpg': expected a name, once in a file"),
    "no images": ({"ann.xml": "<annotations/>"}, f"ann.xml: {OTHER}<annotations> without images and tracks"),
    "tasks without a word": ({"p.xml": PROJECT}, 'once in a file (rater_from="task" makes each task a rater)'),
    "no zip file": ({"ann.zip": "PK"}, "ann.zip: expected a readable zip file, got"),
    "faults of two raters": (
        {f"{rater}/annotations.xml": export(BOX.replace('"1"', '"x"')) for rater in ("ann", "bob")},
        "2 records cannot be used.\n  ann/annotations.xml, image 'a/one.jpg', annotation 1 (box): expected numbers",
    ),
    "no files": ({"ann.txt": ""}, "expected XML or zip files, or folders with an annotations.xml, one per rater"),
}  # fmt: skip

ARGUMENTS = {
    "nobody": ({}, "exports: expected a mapping of raters' names to files, got {}"),
    "no name": ({"": "a.xml"}, "exports: expected a mapping of raters' names to files"),
    "no folder": ("nowhere", "exports: expected a folder, got nowhere"),
    "no file": ({"ann": "nowhere.xml"}, "nowhere.xml: expected a readable CVAT export, got"),
}


def test_files(tmp_path):
    unusable = {name: (of_ann(mark), LeftOut(f"{WHERE} {words}")) for name, (mark, words) in UNUSABLE.items()}
    assert differing(read_cvat, tmp_path, READ | unusable | REFUSED) == []
    assert differing(read_cvat, None, ARGUMENTS) == []


def test_a_zip_file_that_unpacks_to_too_much(tmp_path, monkeypatch):
    monkeypatch.setattr("kalos_core.limits.SMALL", 1_000)
    cases = [
        ({"ann.zip": packed(" " * 100_000, size)}, "ann.zip: expected at most 100 unpacked") for size in (None, 10**6)
    ]
    assert differing(read_cvat, tmp_path, cases) == []


def test_raters_by_name_and_classes_in_the_declared_order(tmp_path):
    folder = write(tmp_path, {"first.xml": export(BOX), "second.xml": export(BOX)})
    table = read_cvat({"zoe": folder / "first.xml", "ann": str(folder / "second.xml")})
    assert lines(table) == ["a/one.jpg 20x10 zoe ann: zoe cat box 1 2 4 6; ann cat box 1 2 4 6"]
    assert table.categories.tolist() == ["dog", "cat", "person"]


def test_a_box_turned_a_little_as_shapely_turns_it(tmp_path):
    table = read_cvat(write(tmp_path, {"ann.xml": export(TURNED.replace("90.0", "33.5"))}))
    (ring,) = table.shapes["polygon"].rings(0)
    assert Polygon(ring).symmetric_difference(affinity.rotate(box(4, 2, 8, 4), 33.5)).area == pytest.approx(0, abs=1e-9)


def test_tags(tmp_path):
    tags = ('<tag label="sharp"/>', '<tag label="dark"/>')
    several = {"ann.xml": export(*tags), "bob.xml": export(tags[0])}
    cases = [
        ({"ann.xml": export(tags[0], BOX), "bob.xml": export(tags[1])}, ["a/one.jpg: ann sharp, bob dark"]),
        (several, {"groups": None}, ["a/one.jpg: ann sharp dark, bob sharp"]),
        (several, "ann.xml, image 'a/one.jpg': expected one tag (groups=None makes each tag a question of its own)"),
        (of_ann(BOX), "expected tags of images, got none"),
    ]
    assert differing(read_cvat_tags, tmp_path, cases, show=label_lines) == []


def test_an_ellipse(tmp_path):
    table = read_cvat(write(tmp_path, {"ann.xml": export(ELLIPSE)}))
    assert table.shapes["box"].corners.tolist() == pytest.approx(np.array([[6, 1, 10, 9]]))
    assert table.shapes["polygon"].area() == pytest.approx(np.pi * 4 * 2, rel=0.002)
