"""Segmentations of BSDS500: MATLAB files as in the data set, a cell of structures."""

import numpy as np

from kalos_core.readers import read_bsds
from tests.readers.cases import differing, write
from tests.readers.test_matlab import in_cells, saved

LEFT_RIGHT = np.array([[1, 1, 2, 2], [1, 1, 2, 2]], np.uint16)
THREE = np.array([[1, 2, 3, 3], [1, 2, 3, 3]], np.uint16)


def cells_of(*entries):
    return saved({"groundTruth": in_cells(entries)})


def regions(*labels):
    """Return groundTruth{k}.Segmentation (uint16) and .Boundaries (logical), as in the README of BSDS500."""
    edges = [np.diff(each, axis=1, prepend=each[:, :1]) != 0 for each in labels]
    return cells_of(*({"Segmentation": a, "Boundaries": b} for a, b in zip(labels, edges, strict=True)))


def stacks(path, **options):
    return list(read_bsds(path, **options).stacks())


UNREADABLE = "expected a readable MATLAB file of BSDS500, got"
OTHER_SIZES = {"Boundaries": np.ones((2, 3))}, {"Boundaries": np.ones((3, 3))}
REFUSED = [
    (b"nothing of the kind" * 20, UNREADABLE),
    (b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + b"\x89HDF", UNREADABLE),
    (saved({"other": 1}), "expected a cell array 'groundTruth', got none"),
    (cells_of({"other": 1}), "segmenter 1: expected a field 'Boundaries' of height x width"),
    (cells_of(*OTHER_SIZES), "expected segmentations of one width and height, got 3 x 2, 3 x 3"),
]


def test_a_tree_as_it_is_published(tmp_path):
    mat = {"train/2092.mat": regions(LEFT_RIGHT, THREE), "test/2018.mat": regions(LEFT_RIGHT, THREE, LEFT_RIGHT)}
    images = write(tmp_path / "images", {"test/2018.png": np.zeros((2, 4, 3), np.uint8)})
    found = read_bsds(write(tmp_path / "groundTruth", mat), image_folder=images)
    assert (len(found), found.images.tolist()) == (2, ["test/2018", "train/2092"])
    first, second = found.stacks()
    assert (first.raters.tolist(), second.raters.tolist()) == (["1", "2", "3"], ["1", "2"])
    assert first.raters_are_local
    assert second.masks.astype(int).tolist() == [[[0, 0, 1, 0]] * 2, [[0, 1, 1, 0]] * 2]
    assert (first.image_pixels.shape, second.image_pixels) == ((2, 4, 3), None)
    assert [stack.labels[0].tolist() for stack in found.label_stacks()] == [LEFT_RIGHT.tolist()] * 2


def test_unusable_input(tmp_path):
    assert differing(stacks, tmp_path, REFUSED, "a.mat") == []
    words = "expected a .mat file of BSDS500 or a folder of them, got none"
    none = [(path, words) for path in (write(tmp_path, {"b/a.txt": ""}) / "b", tmp_path / "absent.mat")]
    absent = (tmp_path, {"image_folder": tmp_path / "absent"}, "image_folder: expected a folder, got")
    assert differing(read_bsds, None, [*none, absent]) == []
