"""COCO straight from JSON, a field at a time: the same table, and the same words, as of a mapping."""

import gzip
import json
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kalos_core import InputError, read_coco
from kalos_core.annotations.shapes.faults import ShapeFaults, Surroundings
from kalos_core.annotations.shapes.polygons import build_polygons
from kalos_core.errors import Problems
from kalos_core.files import load_json
from kalos_core.readers.coco.columns import decode_coco
from kalos_core.shapes import Polygons
from tests.readers.spoiling import spoiled
from tests.readers.test_coco import document

RINGS = [[[0, 0, 8, 0, 8, 4]], [[1, 1, 9, 1, 9, 5, 1, 5], [2.5, 2, 3, 2, 3, 4]], [[0, 0, 1, 0, 1, 1, 0, 1]]]


def with_shapes(*shapes):
    annotations = [
        {"id": row, "image_id": 7, "category_id": 1, "rater_id": "ann", "segmentation": shape}
        for row, shape in enumerate(shapes)
    ]
    return document(annotations=annotations)


def outcome(source, **options):
    """All that comes of a file: its columns, or what is said of it; and what is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            table = read_coco(source, **options)
        except InputError as error:
            return str(error)
    columns = [table.id, table.image, table.rater, table.category, table.assigned, table.images, table.files]
    columns += [table.raters, table.categories, table.image_size, table.crowds, table.skipped, table.excluded]
    for kind, column in table.shapes.items():
        columns += [kind, *(value for name, value in vars(column).items() if isinstance(value, np.ndarray))]
    regions = table.crowd_regions
    columns += [] if regions is None else [regions.id, regions.shapes["box"].corners]
    return [column if isinstance(column, str) else column.tolist() for column in columns], [
        (warning.category, str(warning.message)) for warning in caught
    ]


def same_either_way(content, folder, **options):
    path = folder / "COCO data"  # as a mapping is called in messages
    path.write_text(json.dumps(content), encoding="utf-8")
    assert repr(outcome(path, **options)) == repr(outcome(json.loads(json.dumps(content)), **options))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("coco")


def full_document():
    """With everything that is read of an annotation: outlines of all sorts, crowds, sessions, texts."""
    content = with_shapes(*RINGS, {"size": [10, 20], "counts": [0, 8, 192]}, None)
    extra = [{"bbox": [0, 0, 4, 4]}, {"iscrowd": 1}, {"session_id": 2}, {"word": "kitty"}, {"bbox": [1, 1, 2, 2]}]
    for annotation, more in zip(content["annotations"], extra, strict=True):
        annotation |= more
    return content


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(content=spoiled(full_document()), field=st.sampled_from([None, "word", "rater_id"]), skip=st.booleans())
def test_whatever_is_in_a_file(content, field, skip, folder):
    same_either_way(content, folder, category_field=field, on_invalid="skip" if skip else "raise")


@pytest.mark.parametrize(
    "shape",
    [
        [[True, True, True, True, True, True, True, True]],  # truth values are no numbers ...
        [[0, 0, 1, 0, 1, 1]],  # ... but 0 and 1 are
        [[True, 0.5, 3, 0, 1, 1]],  # as NumPy has it
        [["0", "0", "8", "0", "8", "4"]],
        [[0, 0, 8, 0, 8]],
        [[0, 0, 8, 0]],
        [[0, 0, 8, 0, 0, 0]],
        [[0, 0, 8, 0, 8, 4, 0, 0]],
        [[[0, 0], [8, 0], [8, 4]]],
        [[0, 0, 8, 0, 8, 4], []],
        [[]],
        [0, 0, 8, 0, 8, 4],
        [[0, 0, 8, 0, 8, None]],
        [[0, 0, 8, 0, 8, 10**400]],
        [[0, 0, 8, 0, 8, 2e9]],
        [[0, 0, 8, 0, 8, 2**64]],
        [],
        {},
        "none",
        7,
        True,
    ],
)
@pytest.mark.parametrize("neighbours", [False, True])
def test_outlines_of_all_sorts(shape, neighbours, folder):
    content = with_shapes(RINGS[0], shape, RINGS[1]) if neighbours else with_shapes(shape)
    same_either_way(content, folder)
    same_either_way(content, folder, on_invalid="skip")


@pytest.mark.parametrize(
    "outline", ["[]", "[ ]", "[ \n ]", "null", "  [\t[0, 0, 8, 0, 8, 4] ]", '{"size": [10, 20], "counts": "?"}']
)
@pytest.mark.parametrize("field", ["segmentation", "bbox"])
def test_white_space_and_nothing(outline, field, folder):
    content = with_shapes(RINGS[0], RINGS[1])
    content["annotations"][1] |= {"bbox": [0, 0, 4, 4], field: "HERE"}
    text = json.dumps(content).replace('"HERE"', outline + " ")
    (folder / "COCO data").write_text(text, encoding="utf-8")
    assert repr(outcome(folder / "COCO data")) == repr(outcome(json.loads(text)))


NUMBERS = ["-0", "-0.0", "0.1", "3.0000000000000004", "2.5e0", "25E-1", "1e-400", "1e400", "1" + 30 * "0", "4.", '"4"']
PLACES = ("[[0, %s, 8, 0.5, 8, 4]]", "segmentation"), ("[%s, 1.5, 4, 4]", "bbox"), ("[1,2,3,4,%s]", "bbox")


def with_number(number, shape, field):
    """A file that has the number in the shape of its second annotation."""
    content = with_shapes(RINGS[0], RINGS[1], RINGS[2])
    for annotation in content["annotations"]:
        annotation["bbox"] = [0.25, 0, 4, 4]
    content["annotations"][1][field] = "HERE"
    return json.dumps(content, indent=1).replace('"HERE"', shape % number)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(("shape", "field"), PLACES)
def test_numbers_however_they_are_written(number, shape, field, folder):
    """In outlines and in boxes, beside short ones: as Python's `json` has them, to the bit."""
    text = with_number(number, shape, field)
    (folder / "COCO data").write_text(text, encoding="utf-8")
    if number == "4.":
        with pytest.raises(InputError, match="COCO data: expected JSON"):
            read_coco(folder / "COCO data")
    else:
        assert repr(outcome(folder / "COCO data")) == repr(outcome(json.loads(text)))


@pytest.mark.parametrize(("shape", "field"), PLACES[:2])
def test_a_number_of_more_digits_than_python_reads(shape, field, folder):
    (folder / "long.json").write_text(with_number(5000 * "1", shape, field))
    with pytest.raises(InputError, match=r"annotations\[1\] \(id 1\): expected .*finite .*, got .*\binf\b"):
        read_coco(folder / "long.json")


def test_only_python_takes_it_for_json(folder):
    """NaN, half a character, a number that is infinite: read as Python's `json` does."""
    for strange in ('"note": NaN', '"note": "\\ud800"', '"area": 1e999', '"bbox": [0, 0, 1e999, 4]'):
        text = json.dumps(with_shapes(RINGS[0], RINGS[1])).replace('"rater_id": "ann"', f'"rater_id": "ann", {strange}')
        (folder / "COCO data").write_text(text, encoding="utf-8")
        assert repr(outcome(folder / "COCO data")) == repr(outcome(json.loads(text)))


def test_ids_beyond_64_bits(folder):
    content = with_shapes(RINGS[0], RINGS[1])
    content["annotations"][0]["id"], content["annotations"][1]["id"] = 2**70, 2**70 + 1  # one as floating-point numbers
    (folder / "big.json").write_text(json.dumps(content))
    assert read_coco(folder / "big.json").id.tolist() == [2**70, 2**70 + 1]


def test_what_is_no_text_is_refused_wherever_it_stands(folder):
    text = json.dumps(with_shapes(RINGS[0])).replace('"rater_id"', '"note": "\\u00ff", "rater_id"')
    (folder / "bad.json").write_bytes(text.replace("\\u00ff", "\xff").encode("latin-1"))
    with pytest.raises(
        InputError, match="expected a readable COCO file in UTF-8, got 'utf-8' codec can't decode byte 0xff"
    ):
        read_coco(folder / "bad.json")


def test_packed_and_with_a_byte_order_mark(folder):
    content = b"\xef\xbb\xbf" + json.dumps(with_shapes(*RINGS)).encode()
    (folder / "packed.json.gz").write_bytes(gzip.compress(content))
    read = read_coco(folder / "packed.json.gz")
    assert outcome(with_shapes(*RINGS))[0][-2:] == outcome(folder / "packed.json.gz")[0][-2:]
    assert [len(read.shapes["polygon"].rings(row)) for row in range(3)] == [1, 2, 1]


def test_json_is_as_python_reads_it(folder):
    for text in (
        "[1, 2.5, null]",
        "[NaN, -Infinity]",
        f"[{2**70}, -{2**70}]",
        '{"a": 1, "a": 2}',
        '"\\ud800"',
        "[1e400]",
    ):
        (folder / "any.json").write_text(text)
        assert repr(load_json(folder / "any.json", "file")) == repr(json.loads(text))
    for text, what in (("[1, 2", "Expecting ',' delimiter"), ("[" * 100_000, "recursion"), ("", "Expecting value")):
        (folder / "any.json").write_text(text)
        with pytest.raises(InputError, match=f"expected JSON, got .*{what}"):
            load_json(folder / "any.json", "file")


def test_outlines_are_not_made_into_lists():
    """Each annotation of a file is JSON still when its record is there."""
    content = json.dumps(with_shapes(*RINGS)).encode()
    polygons, masks = decode_coco(content, None)["annotations"].outlines()
    assert [json.loads(bytes(polygon)) for polygon in polygons] == RINGS
    assert masks == [None] * 3


@given(
    shapes=st.lists(
        st.lists(st.lists(st.floats(-9, 99) | st.integers(-9, 99), min_size=6, max_size=12), max_size=3), max_size=8
    )
)
def test_flat_like_one_by_one(shapes):
    """Rings of even length and no truth values, against `Polygons.from_rings` of each ring as an array."""
    shapes = [[ring[: len(ring) // 2 * 2] for ring in rings] for rings in shapes]
    rows = np.flatnonzero([bool(rings) for rings in shapes])
    size = np.full((1, 2), np.nan)
    surroundings = Surroundings(np.zeros(len(shapes), np.intp), size)
    faults = ShapeFaults(Problems("test"), str)
    made = build_polygons(shapes, rows, surroundings, faults)
    closed = [row for row, rings in enumerate(shapes) if any(len(r) == 6 and r[:2] == r[4:] for r in rings)]
    expected = Polygons.from_rings([[] if row in closed else rings for row, rings in enumerate(shapes)])
    assert sorted(faults.rows) == closed
    assert made.points.tolist() == expected.points.tolist()
    assert made.ring_start.tolist() == expected.ring_start.tolist()
    assert made.part_start.tolist() == expected.part_start.tolist()


def test_real_data_either_way(lvis_path):
    content = json.loads(lvis_path.read_text(encoding="utf-8"))
    read, again = read_coco(lvis_path), read_coco(content)
    for name in ("points", "ring_start", "part_start"):
        assert (getattr(read.shapes["polygon"], name) == getattr(again.shapes["polygon"], name)).all()
    assert (read.shapes["box"].corners == again.shapes["box"].corners).all()
    rings = [np.reshape(ring, (-1, 2)) for annotation in content["annotations"] for ring in annotation["segmentation"]]
    assert (read.shapes["polygon"].points == np.concatenate(rings)).all()
    assert read.id.tolist() == [annotation["id"] for annotation in content["annotations"]]
