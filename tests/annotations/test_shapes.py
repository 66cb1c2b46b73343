"""Masks and keypoints in source formats, and invalid annotations of every kind, refused or left out."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocotools import mask as coco_mask

from kalos_core import Annotations, InputError, KalosWarning, agreement
from tests.readers.cases import LeftOut, differing, lines

RIGHT = {
    "polygon": [[0, 0, 4, 0, 4, 2]],
    "mask": {"size": [2, 4], "counts": [1, 4, 3]},
    "keypoints": [0, 0, 2, 4, 2, 1, 0, 0, 0],
}


def marks(kind, *shapes, **more):
    rows = [
        {"id": number + 1, "image": 1, "rater": "ann", "category": "cat", kind: shape}
        for number, shape in enumerate(shapes)
    ]
    return Annotations.from_rows(rows, **more)


def counts_of(canvas):
    runs = [(key, len(list(group))) for key, group in itertools.groupby(canvas.T.ravel().tolist())]
    return [0] * bool(runs[0][0]) + [length for _, length in runs]


@given(st.tuples(st.integers(1, 40), st.integers(1, 40)), st.sampled_from([0, 0.02, 0.5, 0.9, 1]), st.integers(0, 99))
def test_every_way_to_write_a_mask_reads_as_the_same(size, share, seed):
    canvas = np.random.default_rng(seed).random(size) < share
    code = coco_mask.encode(np.asfortranarray(canvas.astype(np.uint8)))
    text = code["counts"].decode()
    ways = [code, {**code, "counts": text}, {**code, "counts": counts_of(canvas)}, canvas, canvas.astype(int).tolist()]
    column = marks("mask", *ways).shapes["mask"]
    assert [column.rle(row)["counts"] for row in range(len(ways))] == [text] * len(ways)


def test_texts_are_read_in_parts_too(monkeypatch):
    rng = np.random.default_rng(0)
    codes = [coco_mask.encode(np.asfortranarray((rng.random((9, 9)) < 0.5).astype(np.uint8))) for _ in range(30)]
    monkeypatch.setattr("kalos_core.annotations.shapes.masks.LETTERS_AT_ONCE", 40)
    column = marks("mask", *codes).shapes["mask"]
    assert [column.rle(row)["counts"].encode() for row in range(30)] == [code["counts"] for code in codes]


def test_a_large_mask_is_read_as_pycocotools_does():
    code = coco_mask.frPyObjects({"size": [50_000, 60_000], "counts": [1 << 31, 5, (3 * 10**9) - (1 << 31) - 5]}, 1, 1)
    column = marks("mask", code).shapes["mask"]
    assert (column.first.tolist(), column.length.tolist()) == ([1 << 31], [5])


def test_the_box_of_a_mask_or_a_pose_is_its_bounds():
    assert marks("mask", [[0, 1, 1], [0, 0, 1]]).shapes["box"].xywh().tolist() == [[1, 0, 2, 2]]
    assert marks("keypoints", [(3, 1), None, (5, 9)]).shapes["box"].xywh().tolist() == [[3, 1, 2, 8]]
    assert list(marks("mask", [[0, 0]]).shapes) == ["mask"]  # nothing to compute a box from


nan = float("nan")


def test_every_way_to_write_keypoints_reads_as_the_same():
    ways = [
        [5, 6, 2, 0, 0, 0, 7, 8, 1],
        [(5, 6, 2), (3, 3, 0), (7, 8, 1)],
        [(5, 6), (nan, nan), (7, 8)],
        [(5, 6), None, [7, 8]],
        [(5, 6), (None, None), (7, 8)],
        np.array([[5, 6], [nan, nan], [7, 8]]),
    ]
    column = marks("keypoints", *ways, image_size={1: (20, 10)}).shapes["keypoints"]
    np.testing.assert_array_equal(column.points, [[(5, 6), (nan, nan), (7, 8)]] * len(ways))
    assert column.visible.tolist() == [[True, False, True]] * len(ways)
    assert column.size[0].tolist() == [20, 10]
    assert column.bounds()[0].tolist() == [5, 6, 7, 8]


def test_a_pose_without_a_labelled_keypoint_is_a_pose():
    column = marks("keypoints", [0, 0, 0, 0, 0, 0], [1, 1, 2, 0, 0, 0]).shapes["keypoints"]
    assert column.absent().tolist() == [False, False]
    assert column.area().tolist() == [0, 0]


A_MASK = "a mask {'size': [h, w], 'counts': ...} or an array (h, w) of 0 and 1, got"
COUNTS = "counts of 0 or more that sum to height x width, got"
SIZE = "a mask with a size [height, width], got"
TRIPLES = "keypoints x1, y1, v1, ... or a list of"


def runs(counts, *size):
    return {"size": list(size or (2, 4)), "counts": counts}


BAD = {
    "polygon": [([[0, 0, 4, 0]], "rings of at least 3 points, got a ring of 2")],
    "mask": [
        (runs([1, 2]), COUNTS + " [1, 2] for 2 x 4"),
        (runs("zz"), COUNTS + " 'zz' for 2 x 4"),
        # signed, not ASCII, ending within a number, an unterminated number, empty
        *((runs(counts), COUNTS) for counts in ([5, -1], "é", "4T", "o" * 20 + "0", "")),
        (runs([0.5, 3.5]), A_MASK + " counts [0.5, 3.5]"),
        ({"size": [2, 4]}, A_MASK + " counts None"),
        (runs([0], 0, 2), SIZE + " [0, 2]"),
        (runs([1 << 40], 1 << 20, 1 << 20), SIZE),
        *((pixels, A_MASK) for pixels in ([[0, 2]], [[1], [1, 0]])),
        (np.ones((2, 2, 3)), A_MASK + " float64 of shape (2, 2, 3)"),
        (runs([12], 3, 4), "a mask of its image's size 2 x 4, got 3 x 4"),
    ],
    "keypoints": [
        *((joints, TRIPLES) for joints in ([1, 2], [(1, 2), (3, 4, 2)], "nose", 7, {"nose": [1, 2]})),
        ([(1, None), (1, 2), (3, 4)], "keypoints of finite coordinates"),
        ([1, 2, 3], "keypoints with v of 0, 1 or 2"),
        ([(1, 2), (3, 4)], "3 keypoints, as most annotations of its class have, got 2"),
    ],
}  # fmt: skip


def test_unusable_records_are_named_or_skipped():
    for kind, cases in BAD.items():
        between = [
            ((RIGHT[kind], shape, RIGHT[kind]), LeftOut("record 2 (id 2): expected " + words)) for shape, words in cases
        ]
        read = lambda given, kind=kind, **more: marks(kind, *given, image_size={1: (4, 2)}, **more)  # noqa: E731
        assert differing(read, None, between) == []
        with pytest.warns(KalosWarning, match="They are skipped"):
            kept = read((RIGHT[kind], cases[0][0], RIGHT[kind]), on_invalid="skip")
        alone = marks(kind, RIGHT[kind], RIGHT[kind], image_size={1: (4, 2)})
        assert (kept.id.tolist(), lines(kept.select(rows=[1]))) == ([1, 3], lines(alone.select(rows=[1])))


def test_other_faults_are_errors_also_where_broken_shapes_are_left_out():
    rows = [{"id": 1, "image": 1, "rater": "ann", "category": None, "box": [0, 0, 1, 1]}]
    with pytest.raises(InputError, match="a category of the source, got nothing"):
        Annotations.from_rows(rows, on_invalid="skip")


def test_annotations_without_the_kind_that_is_compared_are_named():
    for name, kind in (("mask_iou", "mask"), ("pose", "keypoints"), ("polygon_giou", "polygon")):
        other = {"id": 8, "image": 1, "rater": "bob", "category": "cat", "box": [0, 0, 1, 1]}
        table = Annotations.from_rows([other | {"id": 7, "rater": "ann", kind: RIGHT[kind]}, other])
        with pytest.raises(InputError, match=rf"{name} compares shapes of kind '{kind}': .* 1 of 2 .* \(ids 8\)"):
            agreement(table, name)
