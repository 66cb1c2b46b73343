"""Tables of boxes from any program."""

import sys
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
import shapely

from kalos_core import Annotations, KalosWarning, agreement, read_boxes
from tests.readers.cases import LeftOut, Warned, differing, lines, write

OPEN_IMAGES = """ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded
000002b66c9c498e,xclick,/m/01g317,1,0.012500,0.195312,0.148438,0.587500,0
000002b66c9c498e,activemil,/m/01g317,1,0.025000,0.276563,0.714063,0.948438,0
"""
"""Open Images V7, "Data formats", boxes: fractions of the image, corners in another order."""

TENSORFLOW = """filename,width,height,class,xmin,ymin,xmax,ymax,annotator
a.jpg,800,600,raccoon,81,88,522,408,ann
a.jpg,800,600,raccoon,80,90,520,410,bob
"""
"""Output of xml_to_csv.py from the TensorFlow Object Detection tutorial, with a column of raters."""


NUCLS = """,raw_classification,main_classification,super_classification,type,xmin,ymin,xmax,ymax,coords_x,coords_y,fovname,participant
0,tumor,tumor,tumor_any,rectangle,10,20,30,40,"10,30,30,10,10","20,20,40,40,20",fov1,NP.1
1,fibroblast,tumor,tumor_any,rectangle,10,20,30,40,"10,30,30,10,10","20,20,40,40,20",fov1,NP.2
"""  # noqa: E501
"""Part of the NuCLS data set."""

DOTA = "image,rater,label,{}\na,ann,ship,{}\na,bob,ship,{}\n"
IN_TURN, BY_AXIS = "x1,y1,x2,y2,x3,y3,x4,y4", "x1,x2,x3,x4,y1,y2,y3,y4"
QUADRILATERALS = {
    IN_TURN: ("10,10,50,12,49,32,9,30", "10,10,50,12,49,80,9,78"),
    BY_AXIS: ("10,50,49,9,10,12,32,30", "10,50,49,9,10,12,80,78"),
}
"""Ships of 815 and 2735 pixels, one within the other: IoU .298, for their bounding boxes 1/3."""

TURNED = "image,rater,label,cx,cy,w,h,theta\na,ann,c,40,40,60,10,0\na,bob,c,40,40,60,10,{}\n"
"""60 x 10 pixels, the second rotated about the centre: IoU 100 / 1100 at 90 degrees."""

BESIDE = f"image,rater,label,x,y,w,h,{IN_TURN}\na,ann,c,{{}}\na,bob,c,{{}}\n"
SQUARE, DIAMOND = "0,0,8,8,,,,,,,,", ",,,,4,0,8,4,4,8,0,4"
UPRIGHT_AND_TURNED = [(SQUARE, ",,,,0,0,8,0,8,8,0,8"), (SQUARE, DIAMOND.replace("4,0,8", "4,1,8")), (SQUARE, DIAMOND)]
"""A square of 64 pixels as a box and as an outline: IoU 1; and a diamond in it: 28 of 64, and 32 of 64."""

HEADER = "image,rater,category,x_min,y_min,x_max,y_max\n"
TABLE = HEADER + "a,ann,cat,10,20,40,60\na,bob,cat,11,20,40,60\nb,ann,cat,1,2,3,4\n"
SIDES = "image,rater,label,x,y,w,h\n"
ONE = "a ? ann: ann cat box {} {} {} {}".format


def of_table(of_b="ann bob", more=()):
    """Return the content of `TABLE`, by the raters assigned to its second image."""
    return ["a ? ann bob: ann cat box 10 20 30 40; bob cat box 11 20 29 40", f"b ? {of_b}: ann cat box 1 2 2 2", *more]


NOT_SAID = Warned("boxes.csv: it is not said who was assigned, and 1 of 2 images have annotations of some", of_table())
OTHER_NAMES = "image,x,y,width,height,label,rater,a,b,c,d,who\na,0,0,1,1,cat,ann,10,20,40,60,bob\n"
NAMED = {"x_min": "a", "y_min": "b", "x_max": "c", "y_max": "d", "rater": "who"}
FOUR_AND_ONE = 'image,rater,label,x,y,w,h,bbox\na,ann,cat,1,2,3,4,"[5, 6, 7, 8]"\n'
OF_SOURCE = {"columns": {"rater": "Source"}}
FRACTIONS = "000002b66c9c498e"
RACCOONS = "ann raccoon box 81 88 441 320; bob raccoon box 80 90 440 320"
SIZED = "image,rater,category,xmin,ymin,xmax,ymax,width,height\na,ann,cat,1,2,11,7,10,5\n"

READ = {
    "fractions, corners in another order": (
        OPEN_IMAGES, OF_SOURCE | {"sizes": {FRACTIONS: (1000, 500)}},
        [f"{FRACTIONS} 1000x500 xclick activemil: xclick /m/01g317 box 12.5 74.219 182.812 219.531; "
         "activemil /m/01g317 box 25 357.0315 251.563 117.1875"],
    ),
    "fractions as they are": (SIDES + "a,ann,cat,.5,.5,.25,.5\n", {"coordinates": "pixels"}, [ONE(.5, .5, .25, .5)]),
    "fractions without sizes": (
        OPEN_IMAGES, OF_SOURCE, "fractions of them, got none for 1, such as '000002b66c9c498e': pass sizes=",
    ),
    "width and height beside corners are the image's": (TENSORFLOW, [f"a.jpg 800x600 ann bob: {RACCOONS}"]),
    "width and height are the box's where they fit": (SIZED, [ONE(1, 2, 10, 5)]),
    "columns that are named": (OTHER_NAMES, {"columns": NAMED}, ["a ? bob: bob cat box 10 20 30 40"]),
    "columns that are recognised": (OTHER_NAMES, [ONE(0, 0, 1, 1)]),
    "a box in one column": (
        'image_id,annotator,class,bbox\na,ann,cat,"[10.5, 20, 30, 40]"\na,bob,,\nb,ann,cat,"[0, 0, 5, 5]"\n',
        ["a ? ann bob: ann cat box 10.5 20 30 40", "b ? ann: ann cat box 0 0 5 5"],
    ),
    "fractions in one column": (
        {"image": ["a"], "rater": ["ann"], "label": ["cat"], "bbox": [[0.1, 0.2, 0.5, 0.5]]},
        {"sizes": {"a": (100, 50)}}, ["a 100x50 ann: ann cat box 10 10 50 25"],
    ),
    "the same box twice": (FOUR_AND_ONE.replace("5, 6, 7, 8", "1, 2, 3, 5"), [ONE(1, 2, 3, 4)]),
    "other boxes in one column": (FOUR_AND_ONE, "got x y w h and bbox, which differ: name one by columns={'x': 'x', "),
    "one column that is named": (FOUR_AND_ONE, {"columns": {"box": "bbox"}}, [ONE(5, 6, 7, 8)]),
    "without classes": (SIDES + "a,ann,cat,1,2,3,4\n", {"columns": {"category": None}},
                        ["a ? ann: ann object box 1 2 3 4"]),
    "not said who was assigned": (TABLE, NOT_SAID),
    "all assigned": (TABLE, {"assigned": "all"}, of_table()),
    "those who annotated": (TABLE, {"assigned": "drew"}, of_table("ann")),
    "those of a mapping": (
        TABLE, {"assigned": {"a": ["ann", "bob"], "b": ["ann", "cid"], "c": ["bob", "cid"]}},
        of_table("ann cid", ["c ? bob cid:"]),
    ),
    "a row without coordinates says who saw the image": (
        TABLE + "b,bob,No finding,,,,\nc,ann,,NaN,NA,null, \nc,bob,nothing,,,,\n", of_table(more=["c ? ann bob:"]),
    ),
    "decimal commas": ("image;rater;label;x;y;w;h\na;ann;cat;1,5;2;3;4,25\n", [ONE(1.5, 2, 3, 4.25)]),
    "aliases": (TABLE.replace("b,ann", "a,ann"), {"aliases": {"cat": "animal"}}, [
        "a ? ann bob: ann animal box 10 20 30 40; bob animal box 11 20 29 40; ann animal box 1 2 2 2"]),
    "equal as numbers": (SIDES + "a,1.0,1.0,1,2,3,4\na,1,1,1,2,3,4\n", ["a ? 1: 1 1 box 1 2 3 4; 1 1 box 1 2 3 4"]),
    "None as a class": (SIDES + "a,ann,None,1,2,3,4\n", {"missing": ["NA"]}, ["a ? ann: ann None box 1 2 3 4"]),
    "frames are images": (SIDES.replace("image", "image,page") + "v,1,ann,c,1,2,3,4\nv,2,ann,c,5,2,3,4\n", {"sizes": {
        "v": (20, 10)}}, ["v#1 20x10 ann: ann c box 1 2 3 4", "v#2 20x10 ann: ann c box 5 2 3 4"]),
    "columns that say the same": ("image_id,file,user_id,user,class_id,class_name,x,y,w,h\n1,a,7,u,0,cat,1,2,3,4\n",
                                  ["1 ? u: u cat box 1 2 3 4"]),
    "two columns of raters": (
        SIDES.replace("image", "image,user") + "a,ann,1,c,1,2,3,4\na,bob,1,c,1,2,3,4\n",
        "one column for rater, got rater and user, which differ: name it by columns={'rater': 'rater'} (--columns '{",
    ),
    "shapes are no classes": (SIDES.replace("label", "type") + "a,ann,Rectangle,1,2,3,4\n", "columns for category"),
    "types are classes": (SIDES.replace("label", "type") + "a,ann,car,1,2,3,4\n", ["a ? ann: ann car box 1 2 3 4"]),
    "boxes beside outlines": (SIDES.replace("\n", ",polygon\n") + "a,ann,c,0,0,2,1,\na,bob,c,,,,,0 0;4 0;4 4\n", [
        "a ? ann bob: ann c box 0 0 2 1; bob c polygon 0,0 4,0 4,4"]),
    "key points": ("image,rater,label,x1,y1,v1,x2,y2,v2,x3,y3,v3\na,ann,c,1,2,2,3,4,2,5,5,2\n", "for a box ("),
    "angles of unknown unit": (TURNED.format(0.5), "theta: expected angles with a clear unit, got only"),
    "an angle that is none": (TURNED.format("x"), "line 3, column theta: expected a number, got 'x'"),
    "sessions": (
        {"image": ["a"] * 3, "rater": ["ann", "ann", "bob"], "label": ["cat"] * 3, "session": ["1", "2", None]}
        | {key: [9, 10, 11] for key in "xywh"},
        ["a ? ann (S1) ann (S2) bob: ann (S1) cat box 9 9 9 9; ann (S2) cat box 10 10 10 10; bob cat box 11 11 11 11"],
    ),
}  # fmt: skip

BOXES = {
    "x_min,y_min,x_max,y_max": "10,20,40,60",
    "xmax,xmin,ymax,ymin": "40,10,60,20",
    "X0,Y0,X1,Y1": "10,20,40,60",
    "left,top,right,bottom": "10,20,40,60",
    "x,y,width,height": "10,20,30,40",
    "x_center,y_center,width,height": "25,40,30,40",
}
"""Four columns -> the box 10, 20, 30, 40."""

TRIANGLE = shapely.Polygon([(0, 0), (4, 0), (4, 4)])
OUTLINES = [
    "0 0, 4 0, 4 4", "0,0;4,0;4,4", "[[0,0],[4,0],[4,4]]", "[(0, 0), (4, 0), (4, 4)]", TRIANGLE, TRIANGLE.wkb,
    [{"x": 0, "y": 0}, {"x": 4, "y": 0}, {"x": 4, "y": 4}], "POLYGON ((0 0, 4 0, 4 4, 0 0))",
    np.array([[0, 0], [4, 0], [4, 4]]), '{"type": "Polygon", "coordinates": [[[0, 0], [4, 0], [4, 4]]]}',
    "{'type': 'MultiPolygon', 'coordinates': [[[[0,0],[4,0],[4,4]]]]}",
]  # fmt: skip
"""One column with the same triangle."""

NO_OUTLINES = ["0 0, 4 0", "0 0, 4 0, 4", "[[0,0],[4,0],[4,x]]", 5, "{'size': [4, 4], 'counts': '04'}",
               "POLYGON ((0 0, 9 0, 9 9, 0 0), (1 1, 2 1, 2 2, 1 1))"]  # fmt: skip

CELLS = ["[10 20 30 40]", " (10; 20;30 ;40.0) ", np.array([10, 20, 30, 40]), ["10", "20", "30", "40"]]
"""One column with the same box."""

NO_CELLS = ["[1, 2, 3]", "[1, 2, 3, 4, 5]", "[1, 2, x, 4]", [1, 2, None, 4], [1, 2, True, 4], 7]

UNUSABLE = [
    ("b,ann,cat,10,x,30,50", LeftOut("line 5, column y_min: expected a number, got 'x'")),
    ("b,ann,cat,10", LeftOut("line 5, column y_min: expected a number, got nothing")),
    ("a,ann,,10,20,30,50", LeftOut("line 5, column category: expected a name, got nothing")),
    ("a,#N/A,cat,10,20,30,50", LeftOut("line 5, column rater: expected a name, got '#N/A' (no name; see missing=)")),
    ("\n\na,,cat,10,20,30,50", "line 7, column rater: expected a name, got nothing"),
]

NOT_FOUND = (
    "boxes.csv: expected columns for rater and category and a box (x_min, y_min, x_max, y_max; or x, y, width, height; "
    "or x_center, y_center, width, height; or box in one column; or box_corners in one column; or outline in one "
    "column), got the columns photo, colour, left; name them by columns={'rater': '...'}"
)
PHOTOS = "photo,colour,left\na,red,3\n"
NAMES = {"image": ["a"], "rater": ["ann"], "category": ["cat"]}
NINES = {key: [9] for key in "xywh"}
REFUSED = [
    (PHOTOS, NOT_FOUND),
    (PHOTOS, {"columns": {"rater": "who"}},
     "our names -> columns of boxes.csv (photo, colour, left), got 'who' for rater"),
    (PHOTOS, {"columns": {"shape": "left"}}, "columns: expected names among image, rater, "),
    (TABLE.replace("a,ann", '"a\nA",ann', 1) + "a,,cat,10,20,30,50\n", "line 6, column rater: expected a name"),
    ("", "boxes.csv: expected a table with a header, got nothing"),
    (SIDES, "boxes.csv: expected at least one row, got none"),
    (TABLE + '"a', "boxes.csv: expected CSV, got"),
    (TENSORFLOW.replace("a.jpg,800,600,raccoon,80", "a.jpg,700,600,raccoon,80"),
     "line 3: expected the size 800 x 600 that its image has elsewhere, got 700 x 600"),
    (TENSORFLOW, {"coordinates": "percent"}, "coordinates: expected one of 'auto', 'pixels', 'relative', got"),
]  # fmt: skip
REFUSED_IN_MEMORY = [
    (3, "table: expected a path, a pandas table or a mapping of columns, got int"),
    ({"image": [1, 2], "rater": [1]}, "table: expected columns of one length"),
    (NAMES | NINES | {"image": [[1]]}, "column image: expected"),
]


def test_files(tmp_path):
    texts = [case for case in READ.values() if isinstance(case[0], str)]
    unusable = [(f"{TABLE}{line}\n", {"assigned": "drew"}, words) for line, words in UNUSABLE]
    boxes = [
        (f"file_name,annotator_id,label,{names}\na.jpg,ann,cat,{box}\n", ["a.jpg ? ann: ann cat box 10 20 30 40"])
        for names, box in BOXES.items()
    ]
    separated = [(boxes[0][0].replace(",", separator), boxes[0][1]) for separator in ";\t|"]
    assert differing(read_boxes, tmp_path, [*texts, *unusable, *boxes, *separated, *REFUSED], "boxes.csv") == []
    assert differing(read_boxes, tmp_path / "packed", boxes[:1], "boxes.csv.gz") == []


def test_agreement_of_outlines_and_turned_boxes(tmp_path):
    cases = [(NUCLS, {"columns": {"image": "fovname"}}, 0)]  # one unit, two classes
    for names, corners in QUADRILATERALS.items():  # two units of one rater each, of one class: 1 - 1 / (2 / 3)
        first = DOTA.format(names, *corners)
        cases += [(text, {}, -0.5) for text in (first, first.upper(), first.replace("x", "x_"))]
    for names in ("tlx,tly,trx,try,brx,bry,blx,bly", "x0,y0,x1,y1,x2,y2,x3,y3"):
        cases.append((DOTA.format(names, *QUADRILATERALS[IN_TURN]), {}, -0.5))
    cases += [(BESIDE.format(*rows), {}, alpha) for rows, alpha in zip(UPRIGHT_AND_TURNED, (1, -0.5, 1), strict=True)]
    cases += [(TURNED.format(angle), {}, alpha) for angle, alpha in ((90, -0.5), (180, 1), (-450, -0.5))]
    cases += [(TURNED.format(np.pi / 2), {"angles": "radians"}, -0.5)]
    cases += [(TURNED.format(90), {"columns": {"rotation": None}}, 1)]
    for number, (text, options, alpha) in enumerate(cases):
        table = read_boxes(write(tmp_path / str(number), text, "boxes.csv"), **options)
        kind = "polygon_iou" if "polygon" in table.shapes else "box_iou"
        assert agreement(table, similarity=kind, bootstrap=0).alpha == pytest.approx(alpha), text


def test_the_account_lists_guesses_skipped_and_unused_records(tmp_path):
    account = read_boxes(write(tmp_path, NUCLS, "boxes.csv"), {"image": "fovname"}).account
    assert account.notes == [
        "image = fovname, rater = participant, class = raw_classification, "
        "box (corners) = xmin ymin xmax ymax, outline = coords_x coords_y",
        "class = raw_classification, which determines main_classification and super_classification; "
        "columns={'category': ...} selects another",
    ]
    rows = "a,ann,c,1,2,3,4,.5,7,0\na,ann,c,1,2,3,4,.9,7,1\na,,c,1,2,3,4,.9,,\na,bob,No finding,NA,NA,NA,NA,,,\n"
    path = write(tmp_path, SIDES.replace("h\n", "h,confidence,group_id,iscrowd\n") + rows, "boxes.csv")
    with pytest.warns(KalosWarning, match=r"line 4, column|Left out: 1 rows without a rater\. Not used: score of 2"):
        account = read_boxes(path, on_invalid="skip").account
    assert account.notes[1:] == [
        "1 row has no shape and says that a rater saw the image",
        "1 row repeats the image, rater, class and box of another row: all are kept",
    ]
    assert account.left_out == {"rows without a rater": 1}
    assert account.unused == {"score": 2, "group_id": 2, "iscrowd": 1}


def test_tables_in_memory():
    columns = [case for case in READ.values() if not isinstance(case[0], str)]
    cells = [(NAMES | {name: [cell]}, [ONE(10, 20, 30, 40)]) for cell in CELLS for name in ("bbox", "Bounding Box")]
    cells += [(NAMES | {"where": [cell]}, {"columns": {"box": "where"}}, [ONE(10, 20, 30, 40)]) for cell in CELLS]
    cells += [(NAMES | {"xyxy": [cell]}, [ONE(10, 20, 20, 20)]) for cell in CELLS]
    cells += [(NAMES | {"outline": [cell]}, ["a ? ann: ann cat polygon 0,0 4,0 4,4"]) for cell in OUTLINES]
    cells += [(NAMES | {"coords_x": ["0,4,4"], "coords_y": [[0, 0, 4]]}, ["a ? ann: ann cat polygon 0,0 4,0 4,4"])]
    twice = {name: values * 2 for name, values in NAMES.items()}
    words = "row 2, column bbox: expected four numbers (x, y, width, height), got {!r}".format
    bad = [(twice | {"bbox": pd.Series([[1, 2, 3, 4], cell])}, LeftOut(words(cell))) for cell in NO_CELLS]
    words = "row 2, column polygon: expected an outline of at least three points, without holes"
    bad += [(twice | {"polygon": pd.Series([[0, 0, 4, 0, 4, 4], cell])}, LeftOut(words)) for cell in NO_OUTLINES]
    assert differing(read_boxes, None, [*columns, *cells, *bad, *REFUSED_IN_MEMORY]) == []


def test_frames_and_mappings():
    rows = {"image": [1, 1, 2], "rater": [7, 8, 7], "category": [3.0, 3.0, np.nan]}
    rows |= {"x": [1.0, 2.0, np.nan], "y": [1, 2, None], "w": [5, 5, pd.NA], "h": [5, 5, None]}
    frame = pd.DataFrame(rows, index=[5, 5, 5])
    before = frame.copy()

    class Other:
        def to_pandas(self):
            return pd.DataFrame(rows)

    expected = ["1 ? 7 8: 7 3 box 1 1 5 5; 8 3 box 2 2 5 5", "2 ? 7:"]
    assert lines(read_boxes(frame)) == lines(read_boxes(rows)) == lines(read_boxes(Other())) == expected
    assert read_boxes(rows, sizes={1: (10, 20)}).image_size[0].tolist() == [10, 20]
    pd.testing.assert_frame_equal(frame, before)


def test_persons_and_sessions_come_back_from_pandas():
    rows = [
        {"image": "a", "rater": "r1", "category": "cat", "box": [1.5, 2, 3, 4], "id": 5},
        {"image": "a", "rater": "r2", "category": "dog", "box": [2.5, 2, 3, 4], "id": 6},
    ]
    table = Annotations.from_rows(rows, person=["ann", "ann"], session=["1", "2"])
    again = read_boxes(table.to_pandas())
    for name in ("raters", "person", "session", "id"):
        assert getattr(again, name).tolist() == getattr(table, name).tolist()
    assert lines(again) == lines(table)


def test_parquet(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow", reason="Parquet needs the optional package pyarrow")
    frame = pd.DataFrame({"image": ["a", "b"], "rater": ["r", "r"], "label": ["c", None], "bbox": [[1, 2, 3, 4], None]})
    frame.to_parquet(tmp_path / "t.parquet")
    assert lines(read_boxes(tmp_path / "t.parquet")) == ["a ? r: r c box 1 2 3 4", "b ? r:"]
    constant = pd.concat([frame[:1]] * 1_000)
    constant.to_parquet(tmp_path / "t.parquet", index=False)  # few bytes, as all cells of a column are the same
    monkeypatch.setattr("kalos_core.limits.SMALL", 1_000)
    monkeypatch.setenv("KALOS_MOST_PACKING", "5")
    large = [(tmp_path / "t.parquet", "t.parquet: expected at most 5 unpacked bytes per packed byte")]
    assert differing(read_boxes, None, large) == []
    broken = [(b"PAR1", "broken.parquet: expected a readable Parquet file, got")]
    assert differing(read_boxes, tmp_path, broken, "broken.parquet") == []
    for package in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, package, None)
    missing = [(b"PAR1", 't.parquet: needs the optional package pyarrow. Install it: pip install "pyarrow')]
    assert differing(read_boxes, tmp_path, missing, "t.parquet") == []


def test_memory_of_parquet(tmp_path):
    """Encodings write a million equal letters, texts or numbers in a few bytes."""
    pa = pytest.importorskip("pyarrow", reason="Parquet needs the optional package pyarrow")
    write_table = import_module("pyarrow.parquet").write_table
    table = {"image": ["a" * 1_000_000] * 400, "rater": ["r"] * 400, "label": ["c"] * 400, "bbox": [[1, 2, 3, 4]] * 400}
    write_table(pa.table(table), tmp_path / "t.parquet")
    usual, pool = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    pa.set_memory_pool(pool)
    try:
        assert len(read_boxes(tmp_path / "t.parquet")) == 400
    finally:
        pa.set_memory_pool(usual)
    assert 1_000_000 < pool.max_memory() < 10_000_000
    sharing = {"use_dictionary": False, "column_encoding": {"image": "DELTA_BYTE_ARRAY"}}
    write_table(pa.table({**table, "image": ["a"] * 400}), tmp_path / "shared.parquet", **sharing)
    many = {name: column[:1] for name, column in table.items()} | {"bbox": [[1] * 10_000_000]}
    write_table(pa.table(many), tmp_path / "many.parquet")
    refused = [
        (tmp_path / "shared.parquet", "shared.parquet: expected columns whose size is known before they are read, got"),
        (tmp_path / "many.parquet", "many.parquet: expected at most 100 unpacked bytes per packed byte"),
    ]
    assert differing(read_boxes, None, refused) == []


def test_ids_of_the_table_where_each_is_there_once(tmp_path):
    text = "id,image,rater,label,x,y,w,h\n{},a,ann,cat,1,2,3,4\n{},a,ann,cat,1,2,3,4\n"
    for keys, expected in (((7, 9), [7, 9]), (("u", "v"), ["u", "v"]), ((7, 7), [2, 3]), ((7, ""), [2, 3])):
        assert read_boxes(write(tmp_path, text.format(*keys), "boxes.csv")).id.tolist() == expected
