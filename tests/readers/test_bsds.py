"""Segmentations of BSDS500: MATLAB files as the data set has them, a cell of structures."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from PIL import Image
from scipy.io import savemat

from kalos_core import InputError, pixel_agreement
from kalos_core.readers import read_bsds

LEFT_RIGHT = np.array([[1, 1, 2, 2], [1, 1, 2, 2]], np.uint16)
THREE = np.array([[1, 2, 3, 3], [1, 2, 3, 3]], np.uint16)


def write(path, *regions, **changes):
    """groundTruth{k}.Segmentation (uint16) and .Boundaries (logical), as README of BSDS500 describes them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    cells = np.empty((1, len(regions)), object)
    for number, region in enumerate(regions):
        edges = np.zeros(region.shape, bool)
        edges[:, 1:] = region[:, 1:] != region[:, :-1]
        cells[0, number] = {"Segmentation": region, "Boundaries": edges}
    savemat(path, {"groundTruth": cells} | changes)
    return path


def test_a_tree_as_it_is_published(tmp_path):
    write(tmp_path / "groundTruth/train/2092.mat", LEFT_RIGHT, THREE)
    write(tmp_path / "groundTruth/test/2018.mat", LEFT_RIGHT, THREE, LEFT_RIGHT)
    (tmp_path / "images/test").mkdir(parents=True)
    Image.new("RGB", (4, 2)).save(tmp_path / "images/test/2018.jpg")
    found = read_bsds(tmp_path / "groundTruth", image_folder=tmp_path / "images")
    assert (len(found), found.images.tolist()) == (2, ["test/2018", "train/2092"])
    stacks = list(found.stacks())
    assert [stack.raters.tolist() for stack in stacks] == [["1", "2", "3"], ["1", "2"]]
    assert all(stack.raters_are_local for stack in stacks)
    assert stacks[1].masks[1].astype(int).tolist() == [[0, 1, 1, 0]] * 2
    assert stacks[0].image_pixels.shape == (2, 4, 3)
    assert stacks[1].image_pixels is None
    assert [stack.labels[0].tolist() for stack in found.label_stacks()] == [LEFT_RIGHT.tolist()] * 2


def test_the_stacks_are_those_of_the_analyses(tmp_path):
    write(tmp_path / "a.mat", LEFT_RIGHT, LEFT_RIGHT)
    assert pixel_agreement(list(read_bsds(tmp_path).stacks())).mean_f1 == 1


@settings(deadline=None, max_examples=20)
@given(st.lists(npst.arrays(np.uint16, (3, 5), elements=st.integers(1, 9)), min_size=1, max_size=3))
def test_any_regions_come_back(tmp_path_factory, regions):
    path = write(tmp_path_factory.mktemp("bsds") / "a.mat", *regions)
    assert next(read_bsds(path).label_stacks()).labels.tolist() == [region.tolist() for region in regions]


def cells_of(*entries):
    cells = np.empty((1, len(entries)), object)
    cells[0, :] = entries
    return cells


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected a readable MATLAB file of BSDS500, got"),
        (b"nothing of the kind" * 20, "expected a readable MATLAB file of BSDS500, got"),
        (
            b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + b"\x89HDF",
            "expected a readable MATLAB file of BSDS500, got",
        ),
        ({"other": 1}, "expected a cell array 'groundTruth', got none"),
        ({"groundTruth": 3}, "expected a cell array 'groundTruth', got another"),
        ({"groundTruth": cells_of({"other": 1})}, "segmenter 1: expected a field 'Boundaries' of height x width"),
        ({"groundTruth": cells_of({"Boundaries": "x"})}, "segmenter 1: expected a field 'Boundaries' of height x"),
        (
            {"groundTruth": cells_of({"Boundaries": np.ones((2, 3))}, {"Boundaries": np.ones((3, 3))})},
            "expected segmentations of one width and height, got 3 x 2, 3 x 3",
        ),
    ],
)
def test_files_that_cannot_be_used(tmp_path, content, message):
    path = tmp_path / "a.mat"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        savemat(path, content)
    found = read_bsds(tmp_path)  # only names are read
    with pytest.raises(InputError, match=rf"a\.mat[:,] {re.escape(message)}"):
        list(found.stacks())


def test_where_there_is_no_file(tmp_path):
    for path in (tmp_path, tmp_path / "absent.mat", tmp_path / "a.txt"):
        with pytest.raises(InputError, match=r"expected a \.mat file of BSDS500 or a folder of them, got none"):
            read_bsds(path)
    write(tmp_path / "a.mat", THREE)
    with pytest.raises(InputError, match=r"image_folder: expected a folder, got .*, which is none"):
        read_bsds(tmp_path, image_folder=tmp_path / "absent")
