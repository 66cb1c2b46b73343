"""Label Studio's JSON export."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kalos_core import read_label_studio
from kalos_core.readers.label_studio import unpack
from tests.readers.cases import LeftOut, differing

SIZE = {"original_width": 8, "original_height": 4, "image_rotation": 0}


def result(kind, label="cat", **value):
    return {"id": "r", "type": kind, "from_name": "l", "to_name": "i", **SIZE, "value": {**value, kind: [label]}}


def pack(values, lengths=(3, 4, 8, 16)):
    """Bytes as Label Studio packs them: runs of equal values, single values one by one."""
    bits = f"{len(values):032b}{7:05b}" + "".join(f"{length - 1:04b}" for length in lengths)
    place = 0
    while place < len(values):
        run = 1
        while place + run < len(values) and values[place + run] == values[place] and run < 1 << lengths[-1]:
            run += 1
        which = next(number for number, length in enumerate(lengths) if run <= 1 << length)
        repeated = run > 1 or place % 2 == 0
        bits += f"{repeated:d}{which:02b}" + format(run - 1, f"0{lengths[which]}b") + f"{values[place]:08b}"
        place += run
    bits += "0" * (-len(bits) % 8)
    return [int(bits[start : start + 8], 2) for start in range(0, len(bits), 8)]


def opaque(pixels):
    """Colours of four bytes a pixel, of which the fourth is the opacity: half of 255 or just less."""
    return [byte for on in np.asarray(pixels).ravel() for byte in (10, 20, 30, 127 + int(on))]


PIXELS = np.zeros((4, 8), bool)
PIXELS[1:3, 5:8] = True
BOX = result("rectanglelabels", x=25, y=50, width=50, height=25)
POLYGON = result("polygonlabels", "dog", points=[[0, 0], [100, 0], [100, 50]])
POINT = result("keypointlabels", "ear", x=50, y=50, width=0.4)
BRUSH = result("brushlabels", format="rle", rle=pack(opaque(PIXELS)))
OTHERS = [{"type": "relation", "from_id": "a", "to_id": "b"}, {"type": "choices", "value": {"choices": ["sharp"]}}]


def task(*annotations, **changes):
    return {"id": 5, "data": {"image": "/data/upload/1/0a1b2c3d-one.jpg"}, "annotations": list(annotations)} | changes


def by(rater, *results, **changes):
    return {"id": 1, "completed_by": rater, "was_cancelled": False, "result": list(results)} | changes


def boxed(**changes):
    """The box with another value."""
    return BOX | {"value": BOX["value"] | changes}


READ = {
    "who saw what": (
        [
            task(by(1, BOX, *OTHERS), by({"id": 2, "email": "bob@x.org"}), by("cid@x.org", BOX, was_cancelled=True)),
            task(by(1), id=3, data={"image": "s3://bucket/two.jpg"}),
            task(id=4, data={"picture": "three%20b.jpg"}),
        ],
        ["5=one.jpg 8x4 1 bob@x.org: 1 cat box 2 2 4 1", "3=two.jpg ? 1:", "4=three b.jpg ? :"],
    ),
    "shapes": (
        [task(by(1, POLYGON, POINT, BRUSH))],
        ["5=one.jpg 8x4 1: 1 dog polygon 0,0 8,0 8,2; 1 ear keypoints 4,2; 1 cat mask at 5,1 111/111"],
    ),
    # 2 x 1 at (4, 0), a quarter clockwise about that corner
    "a turned box": (
        [task(by({"id": 7}, result("rectanglelabels", x=50, y=0, width=25, height=25, rotation=90)))],
        ["5=one.jpg 8x4 7: 7 cat polygon 4,0 4,2 3,2 3,0"],
    ),
    "not turned": ([task(by(1, boxed(rotation=360)))], ["5=one.jpg 8x4 1: 1 cat box 2 2 4 1"]),
    "another field of the image": (
        [task(by(1), data={"image": "a.jpg", "right": "b.jpg"})], {"image_field": "right"}, ["5=b.jpg ? 1:"],
    ),
}  # fmt: skip

FILES = [
    ({"image": "/data/upload/1/one.jpg"}, "one.jpg"),
    ({"image": "/data/local-files/?d=scans/0a1b2c3d-one.jpg"}, "0a1b2c3d-one.jpg"),
    ({"image": "https://x.org/a/one.jpg?token=1"}, "one.jpg"),
    ({"image": "http://[broken/one.jpg"}, "one.jpg"),
    ({"note": "x", "other": "y"}, ""),
    (None, ""),
]
"""Data of a task -> the file of its image."""

WHERE = "tasks[0] (id 5), annotations[0], result[0]: expected "
BRUSHES = "a brush with the format 'rle' and a list 'rle', got 'png'"
UNUSABLE = [
    (BOX | {"value": {"x": 1, "rectanglelabels": ["a"]}}, "numbers in x, y, width, height, got 1, None, None, None"),
    (boxed(rotation="x"), "a number as rotation, got 'x'"),
    (result("polygonlabels", points=[[1, 2], [3, "4"]]), "points [[x, y], ...]"),
    (result("brushlabels", format="rle", rle=[1, 2, 3]), "an rle of 8 x 4 pixels of four bytes"),
    (result("brushlabels", format="rle", rle=[1, 256]), "an rle of bytes"),
    (result("brushlabels", format="png", rle=[1]), BRUSHES),
    (result("ellipselabels", x=1, y=1), "a result of a type among rectanglelabels, polygonlabels"),
    (BOX | {"value": None}, "a value, got None"),
    (BOX | {"image_rotation": 90}, "an image that was not rotated in Label Studio, got 90 degrees"),
    (BOX | {"original_width": None, "original_height": None}, "original_width and original_height"),
    (boxed(rectanglelabels=["a", "b"]), "one class in 'rectanglelabels', got ['a', 'b']"),
]

REFUSED = [
    ([3], "tasks[0]: expected a task with a list of 'annotations' (the export 'JSON'), got 3"),
    ([task(), task()], "tasks[1] (id 5): expected an id of its own, got 5"),
    ([task(3)], "annotations[0]: expected an annotation with a list 'result', got 3"),
    ([task(by(None))], "annotations[0]: expected an annotator as 'completed_by', got None"),
    ([task(by(1), by(2), by(1))], "annotations[2]: expected one annotation of each annotator, got a second one of '1'"),
    ([task(by(1, 3))], "result[0]: expected an object, got 3"),
    ([task(by(1, BOX, BOX | {"original_width": 9}))], "result[1]: expected the size 8 x 4 that it has elsewhere"),
    ("[]", "expected a list of Label Studio tasks, got an empty list"),
]


def test_files(tmp_path):
    names = [([task(by(1), data=data)], [f"5={name} ? 1:"]) for data, name in FILES]
    unusable = [([task(by(1, drawn), by(2))], LeftOut(WHERE + words)) for drawn, words in UNUSABLE]
    assert differing(read_label_studio, tmp_path, [*READ.values(), *names, *unusable, *REFUSED], "export.json") == []


@given(
    st.lists(st.integers(0, 255) | st.just(7), min_size=1, max_size=200),
    st.lists(st.integers(1, 16), min_size=4, max_size=4).map(sorted).filter(lambda sizes: sizes[-1] > 2),
)
def test_what_was_packed_is_unpacked(values, lengths):
    assert unpack(np.array(pack(values, lengths), np.uint8), len(values)).tolist() == values


def test_values_that_are_not_repeated_are_written_one_by_one():
    bits = f"{3:032b}{7:05b}" + "0001" * 4 + "0" + "00" + "10" + "".join(f"{value:08b}" for value in (1, 200, 3))
    assert unpack(np.packbits([int(bit) for bit in bits]), 3).tolist() == [1, 200, 3]


@given(st.lists(st.integers(0, 255), max_size=60), st.integers(1, 300))
def test_any_bytes_are_unpacked_or_refused(data, count):
    values = unpack(np.array(data, np.uint8), count)
    assert values is None or len(values) == count
