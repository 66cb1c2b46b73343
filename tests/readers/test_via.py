"""JSON of the VGG Image Annotator, one file per rater."""

from kalos_core.readers import read_via
from tests.readers.cases import LeftOut, Warned, differing


def region(name, label="cat", **shape):
    return {"shape_attributes": {"name": name, **shape}, "region_attributes": {"kind": label}}


def via(*regions, **file):
    """Return a project as saved by VIA 2.0.12."""
    images = {"a.jpg812": {"filename": "a.jpg", "size": 812, "regions": list(regions), "file_attributes": file}}
    return {"_via_settings": {}, "_via_img_metadata": images, "_via_attributes": {}}


RECT = region("rect", x=1, y=2, width=4, height=6)
TRIANGLE = region("polygon", all_points_x=[0, 8, 8], all_points_y=[0, 0, 4])
HEADER = "filename,file_size,file_attributes,region_count,region_id,region_shape_attributes,region_attributes"
ROW = 'a.jpg,812,"{}",1,0,"{""name"":""rect"",""x"":1,""y"":2,""width"":4,""height"":6}","{""kind"":{""cat"":true}}"'
CSV, NONE = f"{HEADER}\n{ROW}\n", f'{HEADER}\na.jpg,812,"{{}}",0,0,"{{}}","{{}}"\n'
BAD = region("circle", cx=1, cy=2, r=0)
READ = [
    ({"ann.json": via(RECT), "bob.json": via()["_via_img_metadata"]}, {"sizes": {"a.jpg": (20, 10)}},
     ["a.jpg 20x10 ann bob: ann cat box 1 2 4 6"]),
    ({"ann.json": via(RECT, TRIANGLE, region("point", cx=3, cy=4))},
     ["a.jpg ? ann: ann cat box 1 2 4 6; ann cat polygon 0,0 8,0 8,4; ann cat keypoints 3,4"]),
    ({"ann.json": via(RECT, region("polyline"), blurred="yes")},
     Warned("Left out: 1 polylines, which no similarity compares. Not used: attributes of the image of 1 record",
            ["a.jpg ? ann: ann cat box 1 2 4 6"])),
    ({"ann.json": via(RECT, BAD)}, LeftOut("image 'a.jpg', region 2: expected two positive radii, got 0 and 0")),
    ({"ann.json": via(RECT, region("rect", {"cat": True, "dog": True}))}, LeftOut("region 2: expected one class in")),
    ({"ann.csv": CSV, "bob.csv": NONE}, ["a.jpg ? ann bob: ann cat box 1 2 4 6"]),
    ({"ann.json": {"project": {"pid": "1"}, "metadata": {}}}, "expected a project of VIA 2, got one of VIA 3"),
    ({"ann.json": via(RECT | {"region_attributes": {"a": "x", "b": "y"}})}, "got a, b; name it by category_field="),
    ({"ann.json": {"images": []}}, "ann.json: expected a project of VIA 2, or its annotations as JSON, got images"),
]  # fmt: skip


def test_files(tmp_path):
    assert differing(read_via, tmp_path, READ) == []
