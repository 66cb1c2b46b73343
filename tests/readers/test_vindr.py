"""Tables in the format of VinDr-CXR."""

import re

from kalos_core import read_vindr
from tests.readers.cases import LeftOut, Warned, differing, write

HEADER = "image_id,class_name,class_id,rad_id,x_min,y_min,x_max,y_max"
LINES = [
    "scan1,Nodule/Mass,8,R9,10,20,30,50",
    "scan1,Cardiomegaly,3,R8,11.5,20,30,50",
    "scan1,No finding,14,R10,,,,",
    "scan2,No finding,14,R9,,,,",
    "scan2,No finding,14,R8,,,,",
]
TABLE = "\n".join([HEADER, *LINES])
DRAWN = "R9 R8 R10: R9 Nodule/Mass box 10 20 20 30; R8 Cardiomegaly box 11.5 20 18.5 30"
READ_TABLE = [f"scan1 ? {DRAWN}", "scan2 ? R9 R8:"]

OTHER_ORDER = ["note,y_max,x_max,rad_id,y_min,x_min,image_id,class_id", "odd,50,30,R9,20,10,s,8", "x,NA,,R8,NaN,,s,14"]
READ = {
    "boxes and images without a finding": (TABLE, READ_TABLE),
    "columns in another order, with others between": (
        "\ufeff" + "\r\n".join(OTHER_ORDER) + "\r\n\r\n", ["s ? R9 R8: R9 8 box 10 20 20 30"],
    ),
    "sizes": (TABLE, {"sizes": {"scan1": (200, 100)}}, [f"scan1 200x100 {DRAWN}", READ_TABLE[1]]),
    "a box next to no finding is kept": (
        TABLE + "\nscan1,No finding,14,R9,,,,",
        Warned("'No finding' in one image, whose boxes are kept: R9 on scan1 (line 7)", READ_TABLE),
    ),
}  # fmt: skip

SIZES = ["image_id,width,height\nscan1,200,100\nother,9,9", "image_id,dim0,dim1\nscan1,100,200"]
NO_SIZES = {
    "image_id,width\nscan1,3": "expected one column for the height (height, h, image_height, dim0), got image_id",
    "image_id,width,height\nscan1,3,x": "line 2: expected numbers in width and height, got '3', 'x'",
    "image_id,width,height\nscan1,3,-1": "size of 'scan1': expected a positive width and height, got 3.0 x -1.0",
}

TOGETHER = "to belong together, as before"
UNUSABLE = [
    ("scan2,Nodule/Mass,8,R9,10,x,30,50", LeftOut("line 7, column y_min: expected a number, got 'x'")),
    ("scan1,Nodule/Mass,3,R9,10,20,30,50", TOGETHER),
    ("scan1,Mass,8,R9,10,20,30,50", TOGETHER),
    ("scan1,,,R9,10,20,30,50", "line 7, column class_name: expected a class, got nothing"),
    (",Nodule/Mass,8,R9,10,20,30,50", "line 7, column image_id: expected a name, got nothing"),
    ("scan1,No finding,14,R9,0,0,1,1", "line 7: expected no coordinates, as its class is 'No finding', got x_min"),
    ("scan1,Nodule/Mass,8,R9,10,20,30,50,60", "line 7: expected 8 cells, got 9"),
]

COLUMNS = "f.csv: expected the columns image_id, rad_id, x_min, y_min, x_max, y_max, got "
REFUSED = [
    ("", COLUMNS + "nothing"),
    (HEADER, "expected at least one row below the header, got none"),
    (TABLE, {"sizes": {"scan1": 3}}, "sizes: expected (width, height) for every image, got {'scan1': 3}"),
    (TABLE, {"sizes": 3}, "sizes: expected a path or a mapping, got int"),
]


def test_files(tmp_path):
    unusable = [(f"{TABLE}\n{line}", expected) for line, expected in UNUSABLE]
    files = [write(tmp_path / str(n), text, "sizes.csv") for n, text in enumerate([*SIZES, *NO_SIZES])]
    sizes = [(TABLE, {"sizes": file}, READ["sizes"][-1]) for file in files[: len(SIZES)]]
    sizes += [(TABLE, {"sizes": file}, words) for file, words in zip(files[-3:], NO_SIZES.values(), strict=True)]
    assert differing(read_vindr, tmp_path, [*READ.values(), *unusable, *REFUSED, *sizes], "f.csv") == []


def test_ids_are_lines_and_classes_come_by_their_numbers_or_as_they_do(tmp_path):
    table = read_vindr(write(tmp_path, TABLE, "train.csv"))
    assert (table.id.tolist(), table.categories.tolist()) == ([2, 3], ["Cardiomegaly", "Nodule/Mass"])  # 3 before 8
    text = "\n".join(re.sub(r",\d+,R", ",R", line) for line in [HEADER.replace("class_id,", ""), *LINES])
    assert read_vindr(write(tmp_path, text, "train.csv")).categories.tolist() == ["Nodule/Mass", "Cardiomegaly"]
