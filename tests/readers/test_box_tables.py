"""Tables of boxes of any program."""

import gzip
import re
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kalos_core import Annotations, InputError, KalosWarning, agreement, read_boxes, read_vindr
from kalos_core.readers import read_labels
from kalos_core.readers.column_names import SPELLINGS, find_columns
from tests.readers.spoiling import spoiled_lines

VINDR = """image_id,class_name,class_id,rad_id,x_min,y_min,x_max,y_max
50a418190bc3fb1ef1633bf9678929b3,No finding,14,R11,,,,
21a10246a5ec7af151081d0cd6d65dc9,No finding,14,R7,,,,
9a5094b2563a1ef3ff50dc5c7ff71345,Cardiomegaly,3,R10,691.0,1375.0,1653.0,1831.0
051132a778e61a86eb147c7c6f564dfe,Aortic enlargement,0,R10,1264.0,743.0,1611.0,1019.0
051132a778e61a86eb147c7c6f564dfe,No finding,14,R9,,,,
"""
"""First lines of train.csv as its documentation shows them (VinBigData Chest X-ray Abnormalities Detection, Kaggle)."""

OPEN_IMAGES = """ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded
000002b66c9c498e,xclick,/m/01g317,1,0.012500,0.195312,0.148438,0.587500,0
000002b66c9c498e,activemil,/m/01g317,1,0.025000,0.276563,0.714063,0.948438,0
"""
"""Open Images V7, "Data formats", boxes: fractions of the image, corners in another order."""

TENSORFLOW = """filename,width,height,class,xmin,ymin,xmax,ymax,annotator
a.jpg,800,600,raccoon,81,88,522,408,ann
a.jpg,800,600,raccoon,80,90,520,410,bob
"""
"""What xml_to_csv.py of the TensorFlow Object Detection tutorial writes, with a column of raters."""


@pytest.fixture
def written(tmp_path):
    def write(text, name="boxes.csv"):
        path = tmp_path / name
        data = text.encode()
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
        return path

    return write


def xywh(annotations):
    return annotations.shapes["box"].xywh().tolist()


def test_vindr_by_both_readers(written):
    path = written(VINDR)
    ours, own = read_boxes(path), read_vindr(path)
    assert ours.assigned.tolist() == own.assigned.tolist()
    assert xywh(ours) == xywh(own)
    assert ours.id.tolist() == own.id.tolist() == [4, 5]
    assert ours.images.tolist() == ours.files.tolist() == own.images.tolist()
    assert ours.categories.tolist() == ["Cardiomegaly", "Aortic enlargement"]
    assert read_labels(path).id.tolist() == read_labels(path, format="boxes").id.tolist()


def test_fractions_with_corners_in_another_order(written):
    table = read_boxes(written(OPEN_IMAGES), {"rater": "Source"}, sizes={"000002b66c9c498e": (1000, 500)})
    np.testing.assert_allclose(xywh(table), [[12.5, 74.219, 182.812, 219.531], [25, 357.0315, 251.563, 117.1875]])
    assert table.image_size.tolist() == [[1000, 500]]
    as_they_are = read_boxes(written(OPEN_IMAGES), {"rater": "Source"}, coordinates="pixels")
    assert xywh(as_they_are)[0][0] == 0.0125
    with pytest.raises(InputError, match=r"fractions of them, got none for 1, such as '000002b66c9c498e': pass sizes="):
        read_boxes(written(OPEN_IMAGES), {"rater": "Source"})


def test_width_and_height_beside_corners_are_the_images(written):
    table = read_boxes(written(TENSORFLOW))
    assert table.image_size.tolist() == [[800, 600]]
    assert xywh(table)[0] == [81, 88, 441, 320]


def test_width_and_height_beside_corners_are_the_boxes_where_they_fit(written):
    text = "image,rater,category,xmin,ymin,xmax,ymax,width,height\na,ann,cat,1,2,11,7,10,5\n"
    assert np.isnan(read_boxes(written(text)).image_size).all()


@pytest.mark.parametrize(
    ("names", "values"),
    [
        ("x_min,y_min,x_max,y_max", "10,20,40,60"),
        ("xmax,xmin,ymax,ymin", "40,10,60,20"),
        ("x1,y1,x2,y2", "10,20,40,60"),
        ("X0,Y0,X1,Y1", "10,20,40,60"),
        ("left,top,right,bottom", "10,20,40,60"),
        ("bbox_x_min,bbox_y_min,bbox_x_max,bbox_y_max", "10,20,40,60"),
        ("x,y,width,height", "10,20,30,40"),
        ("bbox_x,bbox_y,bbox_w,bbox_h", "10,20,30,40"),
        ("left,top,width,height", "10,20,30,40"),
        ("x_center,y_center,width,height", "25,40,30,40"),
        ("cx,cy,w,h", "25,40,30,40"),
    ],
)
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_every_way_to_write_a_box(written, names, values, separator):
    text = f"file_name,annotator_id,label,{names}\na.jpg,ann,cat,{values}\n"
    for name in ("t.csv", "t.csv.gz"):
        table = read_boxes(written(text.replace(",", separator), name))
        assert xywh(table) == [[10, 20, 30, 40]]
        assert (table.files.tolist(), table.raters.tolist(), table.categories.tolist()) == (["a.jpg"], ["ann"], ["cat"])


@pytest.mark.parametrize(
    ("name", "spelling"),
    [(name, spelling) for name in ("image", "rater", "category") for spelling in SPELLINGS[name].split()],
)
def test_every_spelling_is_found(name, spelling):
    others = {"image": "image", "rater": "rater", "category": "category"} | {name: spelling}
    found = find_columns([*others.values(), "x", "y", "w", "h"], None, "table")
    assert {key: found.other[key] for key in others} == others


def test_columns_that_are_named_go_before_those_that_are_recognised(written):
    text = "image,x,y,width,height,label,rater,a,b,c,d,who,box no\ni,0,0,1,1,cat,ann,10,20,40,60,bob,7\n"
    names = {"x_min": "a", "y_min": "b", "x_max": "c", "y_max": "d", "rater": "who", "id": "box no"}
    table = read_boxes(written(text), names)
    assert (xywh(table), table.raters.tolist(), table.id.tolist()) == ([[10, 20, 30, 40]], ["bob"], [7])
    assert xywh(read_boxes(written(text))) == [[0, 0, 1, 1]]
    # names of ours, spelled as others spell them
    assert read_boxes(written(text), {"annotator": "who", "Image_ID": "image"}).raters.tolist() == ["bob"]


@pytest.mark.parametrize(
    "cell",
    [
        "[10, 20, 30, 40]",
        "[10 20 30 40]",
        "(10.0,20.0,30.0,40.0)",
        " 10 ; 20; 30; 40 ",
        [10, 20, 30, 40],
        (10, 20.0, 30, 40),
        np.array([10, 20, 30, 40]),
        ["10", "20", "30", "40"],
    ],
)
@pytest.mark.parametrize(("name", "columns"), [("bbox", None), ("Bounding Box", None), ("where", {"box": "where"})])
def test_a_box_in_one_column(cell, name, columns):
    table = {"image": ["a"], "rater": ["ann"], "label": ["cat"], name: [cell]}
    assert xywh(read_boxes(table, columns)) == [[10, 20, 30, 40]]
    corners = {"image": ["a"], "rater": ["ann"], "label": ["cat"], "xyxy": [cell]}
    assert xywh(read_boxes(corners)) == xywh(read_boxes(corners, {"box_corners": "xyxy"})) == [[10, 20, 20, 20]]


def test_a_box_in_one_column_of_a_file(written, tmp_path):
    text = 'image_id,annotator,class,bbox\na,ann,cat,"[10.5, 20, 30, 40]"\na,bob,,\nb,ann,cat,"[0, 0, 5, 5]"\n'
    table = read_labels(written(text))
    assert (xywh(table), table.assigned.tolist()) == ([[10.5, 20, 30, 40], [0, 0, 5, 5]], [[True, True], [True, False]])
    pytest.importorskip("pyarrow", reason="Parquet needs the optional package pyarrow")
    frame = pd.DataFrame({"image": ["a", "b"], "rater": ["r", "s"], "label": ["c", None], "bbox": [[1, 2, 3, 4], None]})
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_boxes(tmp_path / "t.parquet")
    assert (xywh(table), table.raters.tolist()) == ([[1, 2, 3, 4]], ["r", "s"])


def test_boxes_in_one_column_are_fractions_where_they_look_like_it():
    table = {"image": ["a"], "rater": ["ann"], "label": ["cat"], "bbox": [[0.1, 0.2, 0.5, 0.5]]}
    assert xywh(read_boxes(table, sizes={"a": (100, 50)})) == [[10, 10, 50, 25]]


def test_four_columns_go_before_one_that_is_not_named(written):
    text = 'image,rater,label,x,y,w,h,bbox\na,ann,cat,1,2,3,4,"[5, 6, 7, 8]"\n'
    assert xywh(read_boxes(written(text))) == [[1, 2, 3, 4]]
    assert xywh(read_boxes(written(text), {"box": "bbox"})) == [[5, 6, 7, 8]]
    with pytest.raises(InputError, match=r"expected columns for a box \(.* or box in one column"):
        read_boxes(written(text), {"box": "bbox", "box_corners": "bbox"})


@pytest.mark.parametrize(
    ("cell", "actual"),
    [
        ("[1, 2, 3]", r"'\[1, 2, 3\]'"),
        ("[1, 2, 3, 4, 5]", r"'\[1, 2, 3, 4, 5\]'"),
        ("[1, 2, x, 4]", r"'\[1, 2, x, 4\]'"),
        ("[1, 2, , 4]", r"'\[1, 2, , 4\]'"),
        ([1, 2, None, 4], r"\[1, 2, None, 4\]"),
        ([1, 2, True, 4], r"\[1, 2, True, 4\]"),
        ({"x": 1}, r"\{'x': 1\}"),
        (7, "7"),
    ],
)
def test_a_cell_that_is_no_box_is_named_by_its_row(cell, actual):
    rows = {"image": ["a", "b"], "rater": ["ann"] * 2, "label": ["cat"] * 2, "bbox": pd.Series([[1, 2, 3, 4], cell])}
    message = rf"row 2, column bbox: expected four numbers \(x, y, width, height\), got {actual}"
    with pytest.raises(InputError, match=message):
        read_boxes(rows)
    with pytest.warns(KalosWarning, match=message):
        assert read_boxes(rows, on_invalid="skip").skipped.tolist() == [0, 1]


def test_a_table_without_classes(written):
    text = "image,rater,label,x,y,w,h\na,ann,cat,1,2,3,4\n"
    assert read_boxes(written(text), {"category": None}).categories.tolist() == ["object"]


def test_columns_that_are_not_there(written):
    path = written("photo,colour,left\na,red,3\n")
    expected = re.escape(
        "boxes.csv: expected columns for rater and category and a box (x_min, y_min, x_max, y_max; or x, y, width, "
        "height; or x_center, y_center, width, height; or box in one column; or box_corners in one column), got the "
        "columns photo, colour, left; name them by columns={'rater': '...'}"
    )
    with pytest.raises(InputError, match=expected):
        read_boxes(path)
    with pytest.raises(
        InputError, match=r"our names -> columns of boxes\.csv \(photo, colour, left\), got 'who' for rater"
    ):
        read_boxes(path, {"rater": "who"})
    with pytest.raises(InputError, match=r"columns: expected names among image, rater, .*, got 'shape'"):
        read_boxes(path, {"shape": "left"})
    with pytest.raises(InputError, match=r"columns: expected a mapping of our names to those of boxes\.csv, got 3"):
        read_boxes(path, 3)


TABLE = (
    "image,rater,category,x_min,y_min,x_max,y_max\na,ann,cat,10,20,40,60\na,bob,cat,11,20,40,60\nb,ann,cat,1,2,3,4\n"
)


def test_without_a_word_of_who_was_assigned_everybody_is_and_a_warning_says_so(written):
    path = written(TABLE)
    with pytest.warns(
        KalosWarning, match=r"boxes\.csv: it is not said who was assigned, and 1 of 2 images have annotations of some"
    ) as caught:
        table = read_boxes(path)
    assert [warning.filename for warning in caught] == [__file__]
    assert table.assigned.all()


@pytest.mark.parametrize(
    ("assigned", "expected"),
    [
        ("all", [[True, True], [True, True]]),
        ("drew", [[True, True], [True, False]]),
        ({"a": ["ann", "bob"], "b": ["ann"]}, [[True, True], [True, False]]),
    ],
)
def test_who_was_assigned(written, assigned, expected):
    assert read_boxes(written(TABLE), assigned=assigned).assigned.tolist() == expected


def test_images_and_raters_that_only_the_assignment_names(written):
    assigned = {"a": ["ann", "bob"], "b": ["ann", "cid"], "c": ["bob", "cid"]}
    table = read_boxes(written(TABLE), assigned=assigned)
    assert (table.images.tolist(), table.raters.tolist()) == (["a", "b", "c"], ["ann", "bob", "cid"])
    assert table.assigned.tolist() == [[True, True, False], [True, False, True], [False, True, True]]
    assert agreement(table, bootstrap=0).image_alpha[2] == 1  # both saw nothing


def test_a_box_of_somebody_who_was_not_assigned(written):
    with pytest.raises(InputError, match="line 3: expected a rater in its image's list, got rater 'bob'"):
        read_boxes(written(TABLE), assigned={"a": ["ann"], "b": ["ann"]})
    with pytest.raises(InputError, match="assigned: expected a mapping of images to raters, 'all' or 'drew', got 'x'"):
        read_boxes(written(TABLE), assigned="x")


def test_a_row_without_coordinates_says_that_its_rater_saw_the_image(written):
    table = read_boxes(written(TABLE + "b,bob,No finding,,,,\nc,ann,,NaN,NA,null, \nc,bob,nothing,,,,\n"))
    assert table.assigned.tolist() == [[True, True]] * 3
    assert table.categories.tolist() == ["cat"]
    assert (table.images.tolist(), len(table)) == (["a", "b", "c"], 3)


def test_frames_and_mappings():
    rows = {
        "image": [1, 1, 2],
        "rater": [7, 8, 7],
        "category": [3.0, 3.0, np.nan],
        "x": [1.0, 2.0, np.nan],
        "y": [1, 2, None],
        "w": [5, 5, pd.NA],
        "h": [5, 5, None],
    }
    table = read_boxes(pd.DataFrame(rows, index=[5, 5, 5]))
    assert (table.images.tolist(), table.raters.tolist(), table.categories.tolist()) == (["1", "2"], ["7", "8"], ["3"])
    assert table.assigned.tolist() == [[True, True], [True, False]]
    assert table.id.tolist() == [1, 2]
    again = read_boxes(rows, sizes={1: (10, 20)})
    assert xywh(again) == xywh(table)
    assert again.image_size[0].tolist() == [10, 20]

    class Other:
        def to_pandas(self):
            return pd.DataFrame(rows)

    assert xywh(read_boxes(Other())) == xywh(table)


def test_the_frame_is_left_as_it_was():
    frame = pd.DataFrame({"image": ["a"], "rater": ["r"], "label": ["c"], "x": [0.1], "y": [0], "w": [0.5], "h": [1]})
    before = frame.copy()
    read_boxes(frame, sizes={"a": (10, 10)})
    pd.testing.assert_frame_equal(frame, before)


def test_persons_and_sessions():
    table = {"image": ["a"] * 3, "rater": ["ann", "ann", "bob"], "category": ["cat"] * 3, "session": ["1", "2", None]}
    table |= {key: [9, 10, 11] for key in "xywh"}
    read = read_boxes(table)
    assert read.raters.tolist() == ["ann (S1)", "ann (S2)", "bob"]
    assert (read.person.tolist(), read.session.tolist()) == (["ann", "ann", "bob"], ["1", "2", ""])


def test_what_to_pandas_gives_is_read_again():
    rows = [
        {"image": "a", "rater": "r1", "category": "cat", "box": [1.5, 2, 3, 4], "id": 5},
        {"image": "a", "rater": "r2", "category": "dog", "box": [2.5, 2, 3, 4], "id": 6},
    ]
    table = Annotations.from_rows(rows, person=["ann", "ann"], session=["1", "2"])
    again = read_boxes(table.to_pandas())
    for name in ("images", "raters", "person", "session", "categories", "id", "assigned"):
        assert getattr(again, name).tolist() == getattr(table, name).tolist()
    assert xywh(again) == xywh(table)


names = st.text("abcdé ,\"'1;", min_size=1, max_size=4).map(str.strip).filter(bool).filter(lambda n: n.lower() != "na")
coordinates = st.integers(0, 900)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(st.lists(st.tuples(names, names, names, st.tuples(*[coordinates] * 2), st.tuples(*[st.integers(1, 99)] * 2)),
                min_size=1, max_size=9))  # fmt: skip
@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
def test_any_table_that_pandas_writes_comes_back(tmp_path, rows):
    records = [
        {"image": image, "rater": rater, "category": name, "box": [*corner, *sides]}
        for image, rater, name, corner, sides in rows
    ]
    table = Annotations.from_rows(records, assigned="all")
    path = tmp_path / "boxes.csv"
    table.to_pandas().to_csv(path, index=False)
    again = read_boxes(path, assigned="all")
    for name in ("images", "raters", "categories", "image", "rater", "category", "id"):
        assert getattr(again, name).tolist() == getattr(table, name).tolist()
    assert xywh(again) == xywh(table)


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet needs the optional package pyarrow")
    frame = pd.DataFrame(
        {"image": ["a", "b"], "rater": ["r", "r"], "label": ["c", None]} | {key: [3, None] for key in "xywh"}
    )
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_labels(tmp_path / "t.parquet")
    assert (xywh(table), table.assigned.tolist()) == ([[3, 3, 3, 3]], [[True], [True]])
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"broken\.parquet: expected a readable Parquet file, got"):
        read_boxes(tmp_path / "broken.parquet")


def test_parquet_without_its_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "fastparquet", None)
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"pyarrow for Parquet, got none: pip install kalos-fiftyone\[parquet\]"):
        read_boxes(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a,ann,cat,10,x,30,50", "line 5, column y_min: expected a number, got 'x'"),
        ("a,ann,cat,10,20,30,", "line 5, column y_max: expected a number, got nothing"),
        ("a,ann,cat,10", "line 5, column y_min: expected a number, got nothing"),
        ("a,ann,cat,30,20,10,50", "line 5: expected a box of positive width and height"),
        ("a,ann,cat,inf,20,10,50", "line 5: expected a box of finite numbers"),
        ("a,ann,,10,20,30,50", "line 5, column category: expected a name, got nothing"),
        ("a,,cat,10,20,30,50", "line 5, column rater: expected a name, got nothing"),
        (",ann,cat,10,20,30,50", "line 5, column image: expected a name, got nothing"),
        (",ann,,,,,", "line 5, column image: expected a name, got nothing"),
        ("\n\na,,cat,10,20,30,50", "line 7, column rater: expected a name, got nothing"),
    ],
)
def test_lines_that_cannot_be_used(written, line, message):
    with pytest.raises(InputError, match=rf"boxes\.csv: 1 record cannot be used\.\n  {message}"):
        read_boxes(written(TABLE + line + "\n"), assigned="all")


def test_cells_over_several_lines_are_counted_by_rows(written):
    with pytest.raises(InputError, match="row 4, column rater: expected a name, got nothing"):
        read_boxes(written(TABLE.replace("a,ann", '"a\nA",ann', 1) + "a,,cat,10,20,30,50\n"), assigned="all")


def test_boxes_that_cannot_be_used_are_left_out_on_request(written):
    with pytest.warns(KalosWarning) as caught:
        table = read_boxes(
            written(TABLE + "b,ann,cat,10,x,30,50\na,bob,cat,9,9,9,9\n"), on_invalid="skip", assigned="drew"
        )
    assert (table.skipped.tolist(), len(table)) == ([1, 1], 3)
    assert {warning.filename for warning in caught} == {__file__}
    assert any("line 5, column y_min: expected a number, got 'x'" in str(warning.message) for warning in caught)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "boxes.csv: expected a table with a header, got nothing"),
        ("\n \n", "boxes.csv: expected"),
        ("image,rater,category,x,y,w,h\n", "boxes.csv: expected at least one row, got none"),
        ("image,rater,category,x,y,w,h\na,b,c,1,2,3,4,5\n", "boxes.csv: expected CSV, got"),
        ("image,rater,x,x,y,w,h\na,b,1,1,2,3,4\n", "boxes.csv: expected columns of different names, got x twice"),
        (TABLE + '"a', "boxes.csv: expected CSV, got"),
    ],
)
def test_what_is_no_table(written, text, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read_boxes(written(text))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (3, "table: expected a path, a pandas table or a mapping of columns, got int"),
        ({"image": [1, 2], "rater": [1]}, "table: expected columns of one length"),
        ({"image": [[1]], "rater": ["a"], "category": ["c"]} | {key: [1] for key in "xywh"}, "column image: expected"),
        (
            {"image": ["a"], "rater": [True], "category": ["c"]} | {key: [1] for key in "xywh"},
            "expected a name, got True",
        ),
        ({"image": ["a"], "rater": ["a"], "category": ["c"]} | {key: [True] for key in "xywh"}, "a number, got True"),
        ({}, "table: expected columns for image and rater"),
    ],
)
def test_what_is_no_table_in_memory(table, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read_boxes(table)


def test_sizes_that_contradict(written):
    text = TENSORFLOW.replace("a.jpg,800,600,raccoon,80", "a.jpg,700,600,raccoon,80")
    with pytest.raises(
        InputError, match="line 3: expected the size 800 x 600 that its image has elsewhere, got 700 x 600"
    ):
        read_boxes(written(text))
    with pytest.raises(InputError, match="line 2: expected a positive width and height, got -800 x 600"):
        read_boxes(written(TENSORFLOW.replace("a.jpg,800", "a.jpg,-800", 1)))
    with pytest.raises(InputError, match=r"size of 'a\.jpg': expected a positive width and height, got 0 x 5"):
        read_boxes(written(TENSORFLOW), sizes={"a.jpg": (0, 5)})
    with pytest.raises(InputError, match="coordinates: expected 'auto', 'pixels' or 'relative', got 'percent'"):
        read_boxes(written(TENSORFLOW), coordinates="percent")


def test_sizes_from_a_folder_of_images(written, tmp_path):
    from PIL import Image

    (tmp_path / "images").mkdir()
    Image.new("L", (100, 50)).save(tmp_path / "images" / "a.png")
    text = "image,rater,category,x,y,w,h\na,ann,cat,.5,.5,.25,.5\n"
    assert xywh(read_boxes(written(text), sizes=tmp_path / "images")) == [[50, 25, 25, 25]]


def test_decimal_commas(written):
    assert xywh(read_boxes(written("image;rater;label;x;y;w;h\na;ann;cat;1,5;2;3;4,25\n"))) == [[1.5, 2, 3, 4.25]]


def test_aliases(written):
    with pytest.warns(KalosWarning, match=r"'dog' \(1 by bob\)") as caught:
        table = read_boxes(written(TABLE.replace("bob,cat", "bob,dog")), aliases={"cat": "animal"}, assigned="drew")
    assert table.categories.tolist() == ["animal", "dog"]
    assert [warning.filename for warning in caught] == [__file__]


def test_ids_of_the_table_where_each_is_there_once(written):
    text = "id,image,rater,label,x,y,w,h\n{},a,ann,cat,1,2,3,4\n{},a,ann,cat,1,2,3,4\n"
    for keys, expected in (((7, 9), [7, 9]), (("u", "v"), ["u", "v"]), ((7, 7), [2, 3]), ((7, ""), [2, 3])):
        assert read_boxes(written(text.format(*keys))).id.tolist() == expected


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(spoiled_lines(VINDR + TENSORFLOW.partition("\n")[2]), st.sampled_from(["raise", "skip"]))
@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
def test_a_spoiled_table_is_read_or_refused(tmp_path, text, on_invalid):
    path = tmp_path / "train.csv"
    path.write_bytes(text.encode())
    try:
        table = read_boxes(path, on_invalid=on_invalid)
    except InputError:
        return
    assert len(table.images) > 0
