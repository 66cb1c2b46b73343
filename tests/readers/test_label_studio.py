"""Label Studio's JSON export."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kalos_core import agreement
from kalos_core.readers import read_label_studio
from kalos_core.readers.label_studio import read_label_studio_choices, unpack
from tests.readers.cases import LeftOut, Warned, differing, label_lines, write

SIZE = {"original_width": 8, "original_height": 4, "image_rotation": 0}


def result(kind, label="cat", **value):
    labels = {kind: [label]} if kind.endswith("labels") else {}
    return {"id": kind, "type": kind, "from_name": "l", "to_name": "i", **SIZE, "value": {**value, **labels}}


def pack(values, lengths=(3, 4, 8, 16)):
    """Encode bytes as Label Studio does: runs of equal values, and single values."""
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
    """Return colours of four bytes per pixel; the fourth is opacity: half of 255 or just less."""
    return [byte for on in np.asarray(pixels).ravel() for byte in (10, 20, 30, 127 + int(on))]


PIXELS = np.zeros((4, 8), bool)
PIXELS[1:3, 5:8] = True
BOX = result("rectanglelabels", x=25, y=50, width=50, height=25)
POLYGON = result("polygonlabels", "dog", points=[[0, 0], [100, 0], [100, 50]])
POINT = result("keypointlabels", "ear", x=50, y=50, width=0.4)
BRUSH = result("brushlabels", format="rle", rle=pack(opaque(PIXELS)))
CORNER = {"x": 25, "y": 50, "width": 50, "height": 25}
BARE, NAMED = result("rectangle", **CORNER), result("labels", **CORNER) | {"id": "rectangle"}


def chosen(*choices, name="c", kind="choices", **changes):
    return {"id": name, "type": kind, "from_name": name, "value": {kind: list(choices)}} | changes


VIDEO = {"id": "v", "type": "videorectangle", "value": {"sequence": [{"frame": 1}, {"frame": 9}], "labels": ["cat"]}}
OTHERS = [{"type": "relation", "from_id": "a", "to_id": "b"}, chosen("sharp"), VIDEO]
PASSED = (
    "Left out: 1 cancelled annotations, 1 relations, 1 choices (kalos-core labels reads them), 2 keyframes of video"
)


def task(*annotations, **changes):
    return {"id": 5, "data": {"image": "/data/upload/1/0a1b2c3d-one.jpg"}, "annotations": list(annotations)} | changes


def by(rater, *results, **changes):
    return {"id": 1, "completed_by": rater, "was_cancelled": False, "result": list(results)} | changes


def flat(rater, **fields):
    """Return a record of JSON-MIN."""
    return {"image": "/data/upload/1/0a1b2c3d-a.jpg", "id": 5, "annotator": rater, "annotation_id": 8, **fields}


def boxed(**changes):
    """Return the box with another value."""
    return BOX | {"value": BOX["value"] | changes}


READ = {
    "who saw what": (
        [
            task(by(1, BOX, *OTHERS), by({"id": 2, "email": "bob@x.org"}), by("cid@x.org", BOX, was_cancelled=True)),
            task(by(1), id=3, data={"image": "s3://bucket/two.jpg"}),
            task(id=4, data={"picture": "three%20b.jpg"}),
        ],
        Warned(PASSED, ["5=one.jpg 8x4 1 bob@x.org: 1 cat box 2 2 4 1", "3=two.jpg ? 1:", "4=three b.jpg ? :"]),
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
    "pages": (
        [task(*(by(n + 1, BOX | {"item_index": n}) for n in (0, 1)), data={"pages": ["p0.jpg", "p1.jpg", "p2.jpg"]})],
        ["5#1=p0.jpg 8x4 1 2: 1 cat box 2 2 4 1", "5#2=p1.jpg 8x4 1 2: 2 cat box 2 2 4 1", "5#3=p2.jpg ? 1 2:"],
    ),
    "pages of a file": (
        [task(by(1, BOX | {"item_index": 1}), data={"pdf": "a.pdf"})],
        ["5#1=a.pdf#1 ? 1:", "5#2=a.pdf#2 8x4 1: 1 cat box 2 2 4 1"],
    ),
    "two image tags": (
        [task(by(1, BOX | {"to_name": "left"}), by(2, BOX), data={"left": "l.jpg", "right": "r.jpg"})],
        ["5#left=l.jpg 8x4 1 2: 1 cat box 2 2 4 1", "5#i= 8x4 1 2: 2 cat box 2 2 4 1"],
    ),
    "two tags of one image": (
        [task(by(1, BOX), by(2, BOX | {"to_name": "b"}))], ["5=one.jpg 8x4 1 2: 1 cat box 2 2 4 1; 2 cat box 2 2 4 1"],
    ),
    "a class in another result": (
        task(by(1, BARE, NAMED), by(2, NAMED)), ["5=one.jpg 8x4 1 2: 1 cat box 2 2 4 1; 2 cat box 2 2 4 1"],
    ),
    "several labels": (
        [task(by(1, boxed(rectanglelabels=["cat", "black"])))], {"on_several_labels": "join"},
        ["5=one.jpg 8x4 1: 1 black, cat box 2 2 4 1"],
    ),
    "an annotator twice": (
        [task(by(1, BOX, updated_at="2021-3"), by(1, updated_at="2021-2"), drafts=[{}])], {"on_invalid": "skip"},
        Warned("Left out: 1 drafts, 1 further annotations of", ["5=one.jpg 8x4 1: 1 cat box 2 2 4 1"]),
    ),
    "tasks of two exports": ([task(by(1)), task(by(2))], ["5=one.jpg ? 1 2:"]),
    "a file of cloud storage": (
        by(1, BOX, task=task(), reviews=[{"accepted": False}]),
        Warned("Not used: the rejection by a reviewer of 1 record.", ["5=one.jpg 8x4 1: 1 cat box 2 2 4 1"]),
    ),
    "JSON-MIN": (
        [flat("ann", l=[BOX["value"] | SIZE]), flat(2, note="x", r=[CORNER | SIZE], l=[NAMED["value"] | SIZE])],
        ["5=a.jpg 8x4 ann 2: ann cat box 2 2 4 1; 2 cat box 2 2 4 1"],
    ),
    "choices in JSON-MIN": ([flat(1, c="cat")], Warned("1 fields of text (if they are choices", ["5=a.jpg ? 1:"])),
}  # fmt: skip

FILES = [
    ({"image": "/data/upload/1/one.jpg"}, "one.jpg"),
    ({"image": "/data/local-files/?d=scans/0a1b2c3d-one.jpg"}, "0a1b2c3d-one.jpg"),
    ({"image": "https://x.org/a/one.jpg?token=1"}, "one.jpg"),
    ({"image": "http://[broken/one.jpg"}, "one.jpg"),
    ({"note": "x", "other": "y"}, ""),
    (None, ""),
]
"""Data of a task -> file of its image."""

WHERE = "task 5, annotation 1, result {}: expected "
BRUSHES = "a brush with the format 'rle' and a list 'rle', got 'png'"
UNUSABLE = [
    (BOX | {"value": {"x": 1, "rectanglelabels": ["a"]}}, "numbers in x, y, width, height, got 1, None, None, None"),
    (boxed(rotation="x"), "numbers in rotation, got 'x'"),
    (result("polygonlabels", points=[[1, 2], [3, "4"]]), "points [[x, y], ...]"),
    (result("brushlabels", format="rle", rle=[1, 2, 3]), "an rle of 8 x 4 pixels of four bytes"),
    (result("brushlabels", format="rle", rle=[1, 256]), "an rle of bytes"),
    (result("brushlabels", format="png", rle=[1]), BRUSHES),
    (result("vectorlabels", x=1, y=1), "a result of a type among rectanglelabels, ellipselabels"),
    (result("ellipselabels", x=1, y=1, radiusX=0, radiusY=1), "two positive radii, got 0 and 0.04"),
    (BARE, "a class: a label, or a result of the type 'labels' with the id of the region, got none"),
    (BOX | {"value": None}, "a value, got None"),
    (BOX | {"image_rotation": 90}, "an image that was not rotated in Label Studio, got 90 degrees"),
    (BOX | {"original_width": None, "original_height": None}, "original_width and original_height"),
    (boxed(rectanglelabels=["b", "a"]), """one class (on_several_labels="join" joins several), got 'a', 'b'"""),
]

REFUSED = [
    ([3], "tasks[0]: expected a task with a list of 'annotations' (the export JSON), or with an 'annotator' (JSON-"),
    ([task(), task(data={"image": "b.jpg"})], "tasks[1] (id 5): expected an id of its own for each image, got 5 again"),
    ([task(3)], "task 5, annotations[0]: expected an annotation with a list 'result', got 3"),
    ([task(by(None))], "task 5, annotation 1: expected an annotator as 'completed_by', got None"),
    ([task(by(1), by(2), by(1, id=9))], 'annotation 9: expected one annotation of each annotator (on_invalid="skip"'),
    ([task(by(1, 3))], "result[0]: expected an object, got 3"),
    ([task(by(1, BOX, POLYGON | {"original_width": 9}))], "expected the size 8 x 4 that it has elsewhere"),
    ([flat(1, label=[BOX["value"] | SIZE], right="b.jpg")], "task 5: expected one image in a task of JSON-MIN"),
    ("[]", "expected Label Studio tasks (the export JSON or JSON-MIN), got an empty list"),
]

ELLIPSES = [result("ellipselabels", x=x, y=50, radiusX=25, radiusY=25, rotation=0) for x in (50, 51)]
AT_PAGES = [BOX | {"item_index": index} for index in (0, 1)]
ALPHAS = [([BARE, NAMED], [BARE, NAMED], 1), (ELLIPSES[:1], ELLIPSES[1:], 1), (AT_PAGES[:1], AT_PAGES[1:], -0.5)]
"""Results of two annotators, and alpha: on two pages, D_o = 1, D_e = 2 / 3."""

CHOSEN = [
    ([task(by(1, chosen("cat")), by(2, chosen("dog")), by(3))], ["5: 1 cat, 2 dog"]),
    ([task(by(1, chosen("cat", item_index=0), chosen("dog", item_index=1)))], ["5#1: 1 cat", "5#2: 1 dog"]),
    ([task(by(1, chosen(["animal", "cat"], kind="taxonomy")))], ["5: 1 animal / cat"]),
    ([task(by(1, chosen() | {"type": "rating", "value": {"rating": 4}}))], ["5: 1 4"]),
    ([flat(1, c="cat"), flat(2, c="dog")], ["5: 1 cat, 2 dog"]),
    ([task(by(1, chosen("a"), chosen("b", name="d")))], "control: expected one of 'c', 'd', got none"),
    ([task(by(1, chosen("a"), chosen("b", name="d")))], {"control": "d"}, ["5: 1 b"]),
    ([task(by(1, chosen("a", "b")))], "expected one choice (groups=None makes"),
    ([task(by(1, chosen("a", "b")))], {"groups": None}, ["5: 1 a b"]),
    ([task(by(1, BOX, chosen("a", id=BOX["id"])))], "or a taxonomy of whole images, got 1 rectanglelabels, 1 choices"),
    ([task(by(1, chosen("a")), by(1, chosen("b")))], {"on_repeat": "last"}, Warned("1 further annot", ["5: 1 b"])),
]


def test_files(tmp_path):
    names = [([task(by(1), data=data)], [f"5={name} ? 1:"]) for data, name in FILES]
    unusable = [([task(by(1, drawn), by(2))], LeftOut(WHERE.format(drawn["id"]) + words)) for drawn, words in UNUSABLE]
    assert differing(read_label_studio, tmp_path, [*READ.values(), *names, *unusable, *REFUSED], "export.json") == []


def test_choices(tmp_path):
    assert differing(read_label_studio_choices, tmp_path, CHOSEN, "export.json", label_lines) == []


def test_results_of_regions(tmp_path):
    for number, (ann, bob, alpha) in enumerate(ALPHAS):
        table = read_label_studio(write(tmp_path / str(number), [task(by(1, *ann), by(2, *bob))], "export.json"))
        np.testing.assert_allclose(agreement(table).global_alpha, alpha)
    about = [chosen(4, kind="rating", id=BOX["id"]), chosen("a", "b", name="d", id=BOX["id"])]
    table = read_label_studio(write(tmp_path, task(by(1, BOX, *about)), "export.json"))
    assert {name: values.tolist() for name, values in table.attributes.items()} == {"c": [4], "d": ["a, b"]}


@given(
    st.lists(st.integers(0, 255) | st.just(7), min_size=1, max_size=200),
    st.lists(st.integers(1, 16), min_size=4, max_size=4).map(sorted).filter(lambda sizes: sizes[-1] > 2),
)
def test_packed_values_are_unpacked(values, lengths):
    assert unpack(np.array(pack(values, lengths), np.uint8), len(values)).tolist() == values


def test_values_that_are_not_repeated_are_written_one_by_one():
    bits = f"{3:032b}{7:05b}" + "0001" * 4 + "0" + "00" + "10" + "".join(f"{value:08b}" for value in (1, 200, 3))
    assert unpack(np.packbits([int(bit) for bit in bits]), 3).tolist() == [1, 200, 3]


@given(st.lists(st.integers(0, 255), max_size=60), st.integers(1, 300))
def test_any_bytes_are_unpacked_or_refused(data, count):
    values = unpack(np.array(data, np.uint8), count)
    assert values is None or len(values) == count
