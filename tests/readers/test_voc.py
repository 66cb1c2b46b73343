"""Pascal VOC files, one folder per rater."""

import re

from kalos_core.readers import read_voc
from tests.readers.cases import LeftOut, Warned, differing, lines, write

LABELIMG = """<annotation>\n\t<folder>images</folder>\n\t<filename>000012.jpg</filename>
\t<path>/data/images/000012.jpg</path>\n\t<source>\n\t\t<database>Unknown</database>\n\t</source>
\t<size>\n\t\t<width>500</width>\n\t\t<height>333</height>\n\t\t<depth>3</depth>\n\t</size>
\t<segmented>0</segmented>\n\t<object>
\t\t<name>car</name>\n\t\t<pose>Rear</pose>\n\t\t<truncated>0</truncated>\n\t\t<difficult>0</difficult>\n\t\t<bndbox>
\t\t\t<xmin>156</xmin>\n\t\t\t<ymin>97</ymin>\n\t\t\t<xmax>351</xmax>\n\t\t\t<ymax>270</ymax>
\t\t</bndbox>\n\t</object>\n</annotation>\n"""
"""As written by LabelImg 1.8; the object is that of VOC2007's 000012.xml."""

POLYGON = """<annotation><filename>b.jpg</filename><size><width>90</width><height>60</height><depth>3</depth></size>
<object><name>leaf</name><pose>Unspecified</pose><truncated>0</truncated><difficult>0</difficult><occluded>0</occluded>
<bndbox><xmin>10</xmin><xmax>30</xmax><ymin>20</ymin><ymax>40</ymax></bndbox>
<polygon><x1>10</x1><y1>20</y1><x2>30</x2><y2>20</y2><x3>10</x3><y3>40</y3></polygon></object></annotation>"""
"""Polygon as exported by Roboflow in Pascal VOC format: corners in another order."""


UNKNOWN = LABELIMG.replace("<width>500", "<width>0").replace("<height>333", "<height>0")
EMPTY = re.sub(r"\t<object>.*</object>\n", "", LABELIMG, flags=re.DOTALL)
EACH_ONE = {"ann/a.xml": LABELIMG, "bob/b.xml": LABELIMG}
CAR = "car box 156 97 195 173"
# 195 x 173 about 253.5, 183.5 by a quarter
QUARTER = ["a=000012.jpg 500x333 ann: ann car polygon 340,86 340,281 167,281 167,86"]
ROLABELIMG = re.sub(r"<bndbox>.*</bndbox>", "<robndbox><cx>253.5</cx><cy>183.5</cy><w>195</w><h>173</h>"
                    "<angle>1.5707963267948966</angle></robndbox>", LABELIMG, flags=re.DOTALL)  # fmt: skip
ROTATION = "<attributes><attribute><name>rotation</name><value>90.0</value></attribute></attributes>"
LABELME = (
    "<name>cat</name><polygon><pt><x>1</x><y>2</y></pt><pt><x>5</x><y>2</y></pt><pt><x>5</x><y>6</y></pt></polygon>"
)
SIZE = "<imagesize><nrows>10</nrows><ncols>20</ncols></imagesize>"


def each_one(of_a, of_b):
    return [f"a=000012.jpg 500x333 {of_a}: ann {CAR}", f"b=000012.jpg 500x333 {of_b}: bob {CAR}"]


READ = {
    "two raters": (
        {"ann/000012.xml": LABELIMG, "bob/Annotations/000012.xml": EMPTY, "ann/b.xml": POLYGON, "JPEGImages/a.xml": ""},
        ["000012=000012.jpg 500x333 ann bob: ann car box 156 97 195 173",
         "b=b.jpg 90x60 ann: ann leaf polygon 10,20 30,20 10,40"],
    ),
    "boxes that are turned": ({"ann/a.xml": ROLABELIMG}, QUARTER),
    "an attribute that turns": ({"ann/a.xml": LABELIMG.replace("<bndbox>", ROTATION + "<bndbox>")}, QUARTER),
    "LabelMe": ({"Annotations/ann/a.xml": f"<annotation>{SIZE}<object>{LABELME}</object></annotation>"},
                ["a 20x10 ann: ann cat polygon 1,2 5,2 5,6"]),
    "difficult": ({"ann/a.xml": LABELIMG.replace("<difficult>0</difficult>", "<difficult>1</difficult><part/>")},
                  Warned("Left out: 1 parts of objects. Not used: difficult of 1 record", each_one("ann", "")[:1])),
    "an unknown size": ({"ann/a.xml": UNKNOWN}, [f"a=000012.jpg ? ann: ann {CAR}"]),
    "a size of one of two": ({"ann/a.xml": UNKNOWN, "bob/a.xml": EMPTY}, [f"a=000012.jpg 500x333 ann bob: ann {CAR}"]),
    "assigned by files": (EACH_ONE, each_one("ann", "bob")),
    "assigned by a list": (EACH_ONE, {"assigned": {"a": ["ann", "bob"]}}, each_one("ann bob", "bob")),
    "a box of somebody else": (EACH_ONE, {"assigned": {"a": ["bob"]}},
                               "object 1: expected a rater in its image's list, got rater 'ann'"),
}  # fmt: skip

CHANGED = [
    ("<xmin>156<", "<xmin>left<", LeftOut("object 1: expected a number as xmin, got 'left'")),
    ("bndbox>", "bonebox>", LeftOut("object 1: expected a bndbox, a robndbox or a polygon, got none")),
    ("<name>car</name>", "<name> </name>", "object 1: expected a name, got nothing"),
    ("<width>500<", "<width>wide<", "ann/a.xml: expected numbers as width and height, got 'wide' x '333'"),
]
"""Text of a valid file, its replacement, and the result."""

REFUSED = {
    "no folder": ({"a.xml": LABELIMG}, "expected a folder for each rater, with the rater's files, got"),
    "another format": ({"ann/a.xml": "<annotations/>"}, "expected Pascal VOC with <annotation>, got <annotations>"),
    "two files of an image": ({"ann/a.xml": LABELIMG, "ann/Annotations/a.xml": LABELIMG}, "expected one file, got"),
    "two sizes": ({"ann/a.xml": LABELIMG, "bob/a.xml": LABELIMG.replace("<width>500", "<width>400")},
                  "bob/a.xml: expected the size 500 x 333 that it has elsewhere, got 400 x 333"),
}  # fmt: skip


def test_files(tmp_path):
    changed = {new + old: ({"ann/a.xml": LABELIMG.replace(old, new)}, expected) for old, new, expected in CHANGED}
    assert differing(read_voc, tmp_path, READ | changed | REFUSED) == []
    assert differing(read_voc, None, [(tmp_path / "absent", "folders: expected a folder, got")]) == []


def test_folders_by_name_and_aliases(tmp_path):
    folder = write(tmp_path, {"x/a.xml": LABELIMG, "y/a.xml": LABELIMG.replace("car", "auto")})
    table = read_voc({"ann": folder / "x", "bob": folder / "y"}, aliases={"auto": "car"})
    assert lines(table) == [f"a=000012.jpg 500x333 ann bob: ann {CAR}; bob {CAR}"]
