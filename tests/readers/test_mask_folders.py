"""Mask folders: written by Pillow and tifffile, read back."""

import numpy as np
import pytest
import tifffile
from PIL import Image

from kalos_core.errors import InputError
from kalos_core.pixels import class_pixel_agreement, pixel_agreement
from kalos_core.readers import read_mask_folders

ONE, TWO = np.array([[0, 1], [1, 1]], np.uint8), np.array([[0, 0], [1, 1]], np.uint8)


def write(root, masks):
    for (rater, name), array in masks.items():
        file = root / rater / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".png":
            Image.fromarray(array).save(file)
        else:
            tifffile.imwrite(file, array)
    return root


@pytest.fixture
def folder(tmp_path):
    return write(
        tmp_path / "masks",
        {
            ("ann", "a.png"): ONE * 255,
            ("bob", "a.tif"): TWO.astype(np.uint16),
            ("ann", "sub/b.png"): ONE.astype(bool),
            ("bob", ".hidden.png"): ONE,
        },
    )


def test_png_and_tiff_bits_and_bytes(folder):
    found = read_mask_folders(folder)
    assert found.images.tolist() == ["a", "sub/b"]
    assert found.raters.tolist() == ["ann", "bob"]
    first, second = found.stacks()
    assert first.masks.astype(int).tolist() == [ONE.tolist(), TWO.tolist()]
    assert second.raters.tolist() == ["ann"]
    assert len(found) == 2


def test_a_missing_file_is_not_assigned_or_an_empty_mask(folder):
    by_files = pixel_agreement(read_mask_folders(folder).stacks(), ["ann", "bob"])
    everyone = pixel_agreement(read_mask_folders(folder, assigned="all").stacks(), ["ann", "bob"])
    assert (by_files.alone, everyone.alone) == (1, 0)
    assert (by_files.sums.marked[0, 1], everyone.sums.marked[0, 1]) == (3, 6)
    listed = read_mask_folders(folder, assigned={"a": ["ann", "bob"], "sub/b": ["bob", "ann"]})
    assert listed.assigned.tolist() == [[True, True], [True, True]]


def test_images_and_a_value_to_ignore(tmp_path):
    folder = write(tmp_path / "m", {("ann", "a.png"): ONE * 2, ("bob", "a.png"): TWO + TWO * 8})
    write(tmp_path, {("pictures", "a.png"): np.dstack([ONE * 9] * 3)})
    found = read_mask_folders(folder, image_folder=tmp_path / "pictures", ignore_value=9)
    (stack,) = found.label_stacks()
    assert stack.ignore.tolist() == [[False, False], [True, True]]
    assert stack.labels.tolist() == [[[0, 2], [0, 0]], [[0, 0], [0, 0]]]
    assert stack.image_pixels.shape == (2, 2, 3)
    assert class_pixel_agreement([stack], {2: "road"}).smyth_bound == 0.25


@pytest.mark.parametrize("value", ["x", 1.5, [9], True])
def test_a_value_to_ignore_that_no_mask_can_have_is_refused(tmp_path, value):
    folder = write(tmp_path / "m", {("ann", "a.png"): ONE, ("bob", "a.png"): TWO})
    with pytest.raises(InputError, match="ignore_value: expected a whole number of at least"):
        read_mask_folders(folder, ignore_value=value)


def test_a_file_of_several_images_is_refused(tmp_path):
    first, second = (Image.fromarray(np.full((1, 2), value, np.uint8)) for value in (0, 255))
    for rater in ("ann", "bob"):
        (tmp_path / rater).mkdir()
        first.save(tmp_path / rater / "a.tif", save_all=True, append_images=[second])
    with pytest.raises(InputError, match=r"a\.tif: expected one image in a file, got 2"):
        list(read_mask_folders(tmp_path).stacks())


def test_palettes_are_read_as_numbers(tmp_path):
    folder = write(tmp_path, {("ann", "a.png"): ONE, ("bob", "a.png"): TWO})
    indexed = Image.fromarray(ONE * 3).convert("P")
    indexed.save(folder / "ann" / "a.png")
    (stack,) = read_mask_folders(folder).label_stacks()
    assert stack.labels[0].tolist() == np.asarray(indexed).tolist()


def spoil(folder, name):
    if name == "colour":
        Image.fromarray(np.dstack([ONE] * 3)).save(folder / "ann" / "a.png")
    elif name == "size":
        Image.fromarray(ONE[:1]).save(folder / "ann" / "a.png")
    elif name == "values":
        Image.fromarray(ONE * 7).save(folder / "ann" / "a.png")
    elif name == "broken":
        (folder / "ann" / "a.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    elif name == "twice":
        Image.fromarray(ONE).save(folder / "ann" / "a.tif")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("colour", "a.png: expected a mask of one channel, got 3"),
        ("size", "image 'a': expected masks of one width and height, got 2 x 1 by 'ann', 2 x 2 by 'bob'"),
        ("values", "mask of 'ann': expected 0 and 1, or 0 and 255, got values such as 7"),
        ("broken", "a.png: expected a readable image"),
        ("twice", "expected one file, got a.png and a.tif"),
    ],
)
def test_files_that_cannot_be_used_are_named(folder, name, message):
    spoil(folder, name)
    with pytest.raises(InputError, match=message):
        list(read_mask_folders(folder).stacks())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"assigned": "some"}, "assigned: expected 'files', 'all' or lists"),
        ({"assigned": {"c": []}}, "expected images with masks and raters with folders, got 'c'"),
        ({"assigned": {"a": ["eve"], "sub/b": []}}, "got 'eve'"),
        ({"assigned": {"a": ["ann", "bob"]}}, "expected a list for every image, got none for 'sub/b'"),
        ({"assigned": {"a": ["ann"], "sub/b": ["ann"]}}, "got masks of 'bob' on 'a'"),
        ({"image_folder": "nowhere"}, "image_folder: expected a folder"),
    ],
)
def test_options_that_cannot_be_used_are_named(folder, options, message):
    with pytest.raises(InputError, match=message):
        read_mask_folders(folder, **options)


def test_folders_that_cannot_be_used_are_named(tmp_path, folder):
    with pytest.raises(InputError, match="folders: expected a folder"):
        read_mask_folders(tmp_path / "nowhere")
    with pytest.raises(InputError, match="at least two raters, got none"):
        read_mask_folders(folder / "ann" / "sub")
    (folder / "cid").mkdir()
    with pytest.raises(InputError, match=r"rater 'cid': expected PNG or TIFF files in .*, got none"):
        read_mask_folders(folder)
    with pytest.raises(InputError, match="folders: expected a path, got int"):
        read_mask_folders(3)
    found = read_mask_folders({"ann": folder / "ann", "bob": folder / "bob"})
    assert found.raters.tolist() == ["ann", "bob"]


def test_near_infrared_and_more_channels_are_read_with_all_their_bits(tmp_path):
    folder = write(tmp_path / "m", {("ann", "a.png"): ONE, ("bob", "a.png"): TWO})
    rng = np.random.default_rng(0)
    wide = rng.integers(0, 4000, (2, 2, 4), np.uint16)
    (tmp_path / "images").mkdir()
    file, names = tmp_path / "images" / "a.tif", ["blue", "green", "red", "near-infrared"]
    for pixels, options in (
        (wide, {"photometric": "rgb"}),  # of which Pillow keeps 8 bits
        (wide, {"photometric": "minisblack", "planarconfig": "contig"}),  # which Pillow does not know
        (rng.integers(0, 256, (2, 2, 4), np.uint8), {"photometric": "rgb"}),
    ):
        tifffile.imwrite(file, pixels, **options)
        (stack,) = read_mask_folders(folder, image_folder=tmp_path / "images", channels=names).stacks()
        np.testing.assert_array_equal(stack.image_pixels, pixels)
        assert stack.channels == tuple(names)
    tifffile.imwrite(file, np.moveaxis(wide, 2, 0), photometric="rgb", planarconfig="separate")
    found = read_mask_folders(folder, image_folder=tmp_path / "images", channels=names)
    np.testing.assert_array_equal(found.image_pixels("a"), wide)
    compared = pixel_agreement(found.stacks(), channels=["near-infrared"]).correlations
    share = (ONE + TWO).ravel() / 2
    assert compared[0].name == "near-infrared"
    assert compared[0].r == pytest.approx(np.corrcoef(share, wide[..., 3].ravel())[0, 1])
    (stack,) = found.label_stacks()
    assert stack.channels == tuple(names)
    with pytest.raises(InputError, match="channels: expected 4 names of their own, got 'red'"):
        list(read_mask_folders(folder, image_folder=tmp_path / "images", channels=["red"]).stacks())


def test_folders_of_raters_without_names(folder):
    found = read_mask_folders(folder, raters_are_local=True)
    assert all(stack.raters_are_local for stack in found.stacks())
    agreement = pixel_agreement(found.stacks())
    assert (agreement.raters_are_local, agreement.alone, len(agreement.raters)) == (True, 1, 0)
