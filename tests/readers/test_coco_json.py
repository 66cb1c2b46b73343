"""COCO parsed directly from JSON, a field at a time: same tables and messages as from a mapping."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kalos_core import InputError, read_coco
from kalos_core.files import load_json
from tests.readers.cases import contents, differing, lines, outcome, write
from tests.readers.spoiling import spoiled
from tests.readers.test_coco import document

RINGS = [[[0, 0, 8, 0, 8, 4]], [[1, 1, 9, 1, 9, 5, 1, 5], [2.5, 2, 3, 2, 3, 4]], [[0, 0, 1, 0, 1, 1, 0, 1]]]


def with_shapes(*shapes, **more):
    """Return a file with annotations of ann; `more` are fields of all."""
    annotations = [
        {"id": row, "image_id": 7, "category_id": 1, "rater_id": "ann", "segmentation": shape, **more}
        for row, shape in enumerate(shapes)
    ]
    return document(annotations=annotations)


def differs_as_a_file(text, folder, **options):
    """Return whether reading a file differs from reading its content as a mapping, to the bit."""
    path = write(folder, text, "COCO data")  # the name of mappings in messages
    return outcome(read_coco, path, contents, **options) != outcome(read_coco, json.loads(text), contents, **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("coco")


def full_document():
    """Return a file with every field that is read: all kinds of outlines, crowds, sessions, texts."""
    content = with_shapes(*RINGS, {"size": [10, 20], "counts": [0, 8, 192]}, None)
    extra = [{"bbox": [0, 0, 4, 4]}, {"iscrowd": 1}, {"session_id": 2}, {"word": "kitty"}, {"bbox": [1, 1, 2, 2]}]
    for annotation, more in zip(content["annotations"], extra, strict=True):
        annotation |= more
    return content


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(content=spoiled(full_document()), field=st.sampled_from([None, "word", "rater_id"]), skip=st.booleans())
def test_whatever_is_in_a_file(content, field, skip, folder):
    options = {"category_field": field, "on_invalid": "skip" if skip else "raise"}
    assert not differs_as_a_file(json.dumps(content), folder, **options)


OUTLINES = [
    [[True, True, True, True, True, True, True, True]],  # Booleans are not numbers ...
    [[0, 0, 1, 0, 1, 1]],  # ... but 0 and 1 are
    [[True, 0.5, 3, 0, 1, 1]],  # as in NumPy
    *([ring] for ring in (["0", "0", "8", "0", "8", "4"], [0, 0, 8, 0, 8], [0, 0, 8, 0], [0, 0, 8, 0, 0, 0], [])),
    *([[0, 0, 8, 0, 8, last]] for last in (None, 10**400, 2e9, 2**64)),
    [[0, 0, 8, 0, 8, 4, 0, 0]],
    [[[0, 0], [8, 0], [8, 4]]],
    [[0, 0, 8, 0, 8, 4], []],
    [0, 0, 8, 0, 8, 4],
    *([], {}, "none", 7, True),
]
SPACES = ["[]", "[ ]", "[ \n ]", "null", "  [\t[0, 0, 8, 0, 8, 4] ]", '{"size": [10, 20], "counts": "?"}']
NUMBERS = ["-0", "-0.0", "0.1", "3.0000000000000004", "2.5e0", "25E-1", "1e-400", "1e400", "1" + 30 * "0", '"4"']
PLACES = ("[[0, %s, 8, 0.5, 8, 4]]", "segmentation"), ("[%s, 1.5, 4, 4]", "bbox"), ("[1,2,3,4,%s]", "bbox")
STRANGE = ['"note": NaN', '"note": "\\ud800"', '"area": 1e999', '"bbox": [0, 0, 1e999, 4]']
"""JSON that only Python's `json` reads: NaN, a lone surrogate, an infinite number."""


def with_text(text, field):
    """Return a file with some JSON in its second annotation, and boxes of short numbers."""
    content = with_shapes(*RINGS, bbox=[0.25, 0, 4, 4])
    content["annotations"][1][field] = "HERE"
    return json.dumps(content, indent=1).replace('"HERE"', text)


def test_outlines_and_numbers_however_they_are_written(folder):
    outlines = [
        json.dumps(with_shapes(*shapes)) for shape in OUTLINES for shapes in ((shape,), (RINGS[0], shape, RINGS[1]))
    ]
    texts = [with_text(text + " ", field) for text in SPACES for field in ("segmentation", "bbox")]
    texts += [with_text(shape % number, field) for number in NUMBERS for shape, field in PLACES]
    texts += [
        json.dumps(with_shapes(*RINGS)).replace('"rater_id": "ann"', f'"rater_id": "ann", {text}') for text in STRANGE
    ]
    found = [text for text in outlines + texts if differs_as_a_file(text, folder)]
    found += [text for text in outlines if differs_as_a_file(text, folder, on_invalid="skip")]
    assert found == []


def test_numbers_that_cannot_be_read(tmp_path):
    finite = ("finite coordinates", "a box of finite numbers")
    long = [
        (with_text(shape % (5000 * "1"), field), f"annotations[1] (id 1): expected {words}")
        for (shape, field), words in zip(PLACES[:2], finite, strict=True)
    ]
    latin = json.dumps(with_shapes(RINGS[0], note="\u00ff"), ensure_ascii=False).encode("latin-1")
    words = "expected a readable COCO file in UTF-8, got 'utf-8' codec can't decode byte 0xff"
    half = (with_text(PLACES[0][0] % "4.", "segmentation"), "expected JSON")
    assert differing(read_coco, tmp_path, [*long, half, (latin, words)], "labels.json") == []


def test_ids_beyond_64_bits_and_packed_with_a_byte_order_mark(folder):
    content = with_shapes(*RINGS)
    content["annotations"][0]["id"], content["annotations"][1]["id"] = 2**70, 2**70 + 1  # equal as floats
    read = read_coco(write(folder, b"\xef\xbb\xbf" + json.dumps(content).encode(), "packed.json.gz"))
    assert read.id.tolist() == [2**70, 2**70 + 1, 2]
    assert lines(read) == lines(read_coco(with_shapes(*RINGS)))


def test_json_is_as_python_reads_it(folder):
    same = ["[1, 2.5, null]", "[NaN, -Infinity]", f"[{2**70}, -{2**70}]", '{"a": 1, "a": 2}', '"\\ud800"', "[1e400]"]
    for text in same:
        assert repr(load_json(write(folder, text, "any.json"), "file")) == repr(json.loads(text))
    for text, what in (("[1, 2", "Expecting ',' delimiter"), ("[" * 100_000, "recursion"), ("", "Expecting value")):
        with pytest.raises(InputError, match=f"expected JSON, got .*{what}"):
            load_json(write(folder, text, "any.json"), "file")
