"""Tables in the form of VinDr-CXR."""

import random
import re
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kalos_core import InputError, KalosWarning, agreement, read_vindr
from tests.readers.spoiling import spoiled_lines

HEADER = "image_id,class_name,class_id,rad_id,x_min,y_min,x_max,y_max"
LINES = [
    "scan1,Nodule/Mass,8,R9,10,20,30,50",
    "scan1,Cardiomegaly,3,R8,11.5,20,30,50",
    "scan1,No finding,14,R10,,,,",
    "scan2,No finding,14,R9,,,,",
    "scan2,No finding,14,R8,,,,",
]
TABLE = "\n".join([HEADER, *LINES])


@pytest.fixture
def written(tmp_path):
    def write(text, name="train.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_boxes_and_images_without_a_finding(written):
    annotations = read_vindr(written(TABLE))
    assert annotations.images.tolist() == annotations.files.tolist() == ["scan1", "scan2"]
    assert annotations.raters.tolist() == ["R9", "R8", "R10"]
    assert annotations.categories.tolist() == ["Cardiomegaly", "Nodule/Mass"]  # 3 before 8
    assert annotations.id.tolist() == [2, 3]  # the lines
    assert annotations.shapes["box"].xywh().tolist() == [[10, 20, 20, 30], [11.5, 20, 18.5, 30]]
    assert annotations.assigned.tolist() == [[True, True, True], [True, True, False]]
    assert np.isnan(annotations.image_size).all()
    # both looked at scan2 and found nothing: agreement on absence
    assert agreement(annotations, bootstrap=0).image_alpha[1] == 1


def test_columns_in_another_order_with_others_between(written):
    rows = ["note,y_max,x_max,rad_id,y_min,x_min,image_id,class_id", "odd,50,30,R9,20,10,scan1,8", "x,,,R8,,,scan1,14"]
    annotations = read_vindr(written("\ufeff" + "\r\n".join(rows) + "\r\n\r\n"))
    assert annotations.categories.tolist() == ["8"]
    assert annotations.shapes["box"].xywh().tolist() == [[10, 20, 20, 30]]
    assert annotations.assigned.tolist() == [[True, True]]


def test_without_class_numbers_classes_come_as_they_do(written):
    text = "\n".join(re.sub(r",\d+,R", ",R", line) for line in [HEADER.replace("class_id,", ""), *LINES])
    assert read_vindr(written(text)).categories.tolist() == ["Nodule/Mass", "Cardiomegaly"]


@pytest.mark.parametrize(
    "sizes",
    [
        {"scan1": (200, 100)},
        "image_id,width,height\nscan1,200,100\nother,9,9",
        "image_id,dim0,dim1\nscan1,100,200",
        "height,image_id,width\n100,scan1,200",
    ],
)
def test_sizes_of_the_images(written, sizes):
    sizes = written(sizes, "sizes.csv") if isinstance(sizes, str) else sizes
    annotations = read_vindr(written(TABLE), sizes=sizes)
    assert annotations.image_size[0].tolist() == [200, 100]
    assert np.isnan(annotations.image_size[1]).all()


def test_a_box_beyond_its_image_is_reported(written):
    with pytest.warns(KalosWarning, match=r"train\.csv: 1 annotations reach beyond their image") as caught:
        read_vindr(written("\n".join([HEADER, LINES[0]])), sizes={"scan1": (25, 100)})
    assert [warning.filename for warning in caught] == [__file__]


def test_boxes_next_to_no_finding_are_kept_and_reported(written):
    text = "\n".join([TABLE, "scan1,No finding,14,R9,,,,"])
    with pytest.warns(
        KalosWarning, match=r"'No finding' in one image, of whom the boxes are kept: R9 on scan1 \(line 7\)"
    ):
        assert read_vindr(written(text)).id.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("scan1,Nodule/Mass,8,R9,10,x,30,50", "line 7, column y_min: expected a number, got 'x'"),
        ("scan1,Nodule/Mass,8,R9,10,20,30,", "line 7, column y_max: expected a number, got nothing"),
        ("scan1,Nodule/Mass,8,R9", "line 7, column x_min: expected a number, got nothing"),
        ("scan1,Nodule/Mass,8,R9,30,20,10,50", "line 7: expected a box of positive width and height"),
        ("scan1,Nodule/Mass,8,R9,nan,20,10,50", "line 7: expected a box of finite numbers"),
        ("scan1,Nodule/Mass,3,R9,10,20,30,50", "line 7, column class_id: expected .* to belong together, as before"),
        ("scan1,Mass,8,R9,10,20,30,50", "line 7, column class_id: expected .* to belong together, as before"),
        ("scan1,,,R9,10,20,30,50", "line 7, column class_name: expected a class, got nothing"),
        ("scan1,Nodule/Mass,8,,10,20,30,50", "line 7, column rad_id: expected a name, got nothing"),
        (",Nodule/Mass,8,R9,10,20,30,50", "line 7, column image_id: expected a name, got nothing"),
        ("scan1,No finding,14,R9,0,0,1,1", "line 7: expected no coordinates, as its class is 'No finding', got x_min"),
        ("scan1,Nodule/Mass,8,R9,10,20,30,50,60", "line 7: expected 8 cells, got 9"),
    ],
)
def test_lines_that_cannot_be_used(written, line, message):
    with pytest.raises(InputError, match=rf"train\.csv(.|\n)*{message}"):
        read_vindr(written("\n".join([TABLE, line])))


def test_boxes_that_cannot_be_used_are_left_out_on_request(written):
    text = "\n".join([TABLE, "scan2,Nodule/Mass,8,R9,10,x,30,50", "scan2,Nodule/Mass,8,R9,30,20,10,50"])
    with pytest.warns(KalosWarning) as caught:
        annotations = read_vindr(written(text), on_invalid="skip")
    assert annotations.id.tolist() == [2, 3]
    assert annotations.skipped.tolist() == [0, 2]
    assert {warning.filename for warning in caught} == {__file__}
    with pytest.raises(InputError, match="on_invalid: expected 'raise' or 'skip', got 'leave'"):
        read_vindr(written(text), on_invalid="leave")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected the columns image_id, rad_id, x_min, y_min, x_max, y_max, got nothing"),
        ("image_id,x_min", "expected the columns image_id, rad_id, x_min, y_min, x_max, y_max, got image_id, x_min"),
        (HEADER, "expected at least one row below the header, got none"),
        (HEADER + '\n"' + "x" * 200_000, "expected CSV, got field larger than field limit"),
    ],
)
def test_what_is_no_such_table(written, text, message):
    path = written(text)
    with pytest.raises(InputError, match=re.escape(f"{path}: {message}")):
        read_vindr(path)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ("image_id,width\nscan1,3", "expected columns width and height, or dim1 and dim0, got image_id, width"),
        ("image_id,width,height\nscan1,3,x", "line 2: expected numbers in width and height, got '3', 'x'"),
        ("image_id,width,height\nscan1,3,-1", "size of 'scan1': expected a positive width and height, got 3.0 x -1.0"),
        ({"scan1": 3}, "sizes: expected (width, height) for every image, got {'scan1': 3}"),
        ({"scan1": ("3", 3)}, "size of 'scan1': expected a positive width and height, got '3' x 3"),
        (3, "sizes: expected a path or a mapping, got int"),
    ],
)
def test_sizes_that_cannot_be_used(written, sizes, message):
    sizes = written(sizes, "sizes.csv") if isinstance(sizes, str) else sizes
    with pytest.raises(InputError, match=re.escape(message)):
        read_vindr(written(TABLE), sizes=sizes)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(spoiled_lines(TABLE), st.sampled_from(["raise", "skip"]))
@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
def test_a_spoiled_table_is_read_or_refused(tmp_path, text, on_invalid):
    path = tmp_path / "train.csv"
    path.write_bytes(text.encode())
    try:
        annotations = read_vindr(path, on_invalid=on_invalid)
    except InputError:
        return
    assert len(annotations.images) > 0


def test_a_table_of_the_size_of_vindr_is_read_in_seconds(written):
    draw = random.Random(0)
    rows = [f"i{n // 5},c{n % 14},{n % 14},R{draw.randrange(17)},{n % 900},5,{n % 900 + 9},70" for n in range(70_000)]
    path = written("\n".join([HEADER, *rows]).replace(",14,", ",13,"))
    begin = time.perf_counter()
    assert len(read_vindr(path)) == 70_000
    assert time.perf_counter() - begin < 10  # about 1 s; the bound is for a busy machine
