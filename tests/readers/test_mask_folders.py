"""Mask folders: written by Pillow and tifffile, read back."""

import numpy as np
import pytest
import tifffile
from PIL import Image

from kalos_core.pixels import class_pixel_agreement, pixel_agreement
from kalos_core.readers import read_mask_folders
from tests.readers.cases import differing, write

ONE, TWO = np.array([[0, 1], [1, 1]], np.uint8), np.array([[0, 0], [1, 1]], np.uint8)
BITS = {"ann/a.png": ONE * 255, "bob/a.tif": TWO.astype(np.uint16), "ann/sub/b.png": ONE.astype(bool),
        "bob/.hidden.png": ONE}  # fmt: skip
PAIR = {"ann/a.png": ONE, "bob/a.png": TWO}


def stacks(path, **options):
    return list(read_mask_folders(path, **options).stacks())


def stack_lines(found):
    """Return one line per stack: each rater and the rows of the mask."""
    masks = [zip(stack.raters, stack.masks.astype(int), strict=True) for stack in found]
    return [
        "; ".join(f"{rater} {'/'.join(''.join(map(str, row)) for row in mask)}" for rater, mask in of) for of in masks
    ]


CASES = [
    (BITS, ["ann 01/11; bob 00/11", "ann 01/11"]),
    (BITS, {"assigned": "all"}, ["ann 01/11; bob 00/11", "ann 01/11; bob 00/00"]),
    (BITS, {"assigned": {"sub/b": ["bob", "ann"]}}, ["ann 01/11; bob 00/11", "ann 01/11; bob 00/00"]),
    (BITS, {"assigned": "some"}, "assigned: expected 'files', 'all' or lists"),
    (BITS, {"assigned": {"c": ["ann"], "a": ["eve"]}}, "expected images and raters with files, got 'c', 'eve'"),
    (BITS, {"assigned": {"a": ["ann"]}}, "got masks of 'bob' on 'a'"),
    (PAIR, {"ignore_value": 1.5}, "ignore_value: expected a whole number of at least"),
    (PAIR | {"ann/a.png": np.dstack([ONE, TWO, TWO])}, "a.png: expected a mask of one channel, got 3; for colours"),
    (PAIR | {"ann/a.png": np.dstack([ONE] * 3)}, ["ann 01/11; bob 00/11"]),
    (PAIR | {"ann/a.png": ONE[:1]}, "image 'a': expected masks of one width and height, got 2 x 1 by 'ann', 2 x 2 by"),
    (PAIR | {"ann/a.png": ONE * 7}, "mask of 'ann': expected 0 and 1, or 0 and 255, got values such as 7"),
    (PAIR | {"ann/a.png": b"\x89PNG\r\n\x1a\nnothing"}, "a.png: expected a readable image"),
    ({"masks/ann/a.png": ONE, "masks/bob/a.png": TWO, "images/a.png": ONE}, ["ann 01/11; bob 00/11"]),
    (PAIR | {"ann/a.tif": ONE}, "expected one file, got a.png and a.tif"),
    (PAIR | {"cid/a.jpg": ""}, "rater 'cid': expected PNG or TIFF files in "),
    ({"a.png": ONE}, "at least two raters, got none"),
]


def test_files(tmp_path):
    assert differing(stacks, tmp_path, CASES, show=stack_lines) == []
    wrong = [(tmp_path / "nowhere", "folders: expected a folder"), (3, "folders: expected a path, got int")]
    homes = {"ann": tmp_path / "0" / "ann", "bob": tmp_path / "0" / "bob"}
    assert differing(stacks, None, [*wrong, (homes, CASES[0][1])], show=stack_lines) == []


def test_names_and_a_missing_file_which_is_not_assigned_or_an_empty_mask(tmp_path):
    found = read_mask_folders(write(tmp_path, BITS))
    assert (len(found), found.images.tolist(), found.raters.tolist()) == (2, ["a", "sub/b"], ["ann", "bob"])
    assert repr(found) == "MaskFolders(2 images, 3 files, 2 raters: ann, bob)"
    by_files = pixel_agreement(found.stacks(), ["ann", "bob"])
    everyone = pixel_agreement(read_mask_folders(tmp_path, assigned="all").stacks(), ["ann", "bob"])
    assert (by_files.alone, everyone.alone) == (1, 0)
    assert (by_files.sums.marked[0, 1], everyone.sums.marked[0, 1]) == (3, 6)


def test_images_and_a_value_to_ignore(tmp_path):
    folder = write(tmp_path / "m", {"ann/a.png": ONE * 2, "bob/a.png": TWO + TWO * 8})
    write(tmp_path, {"pictures/a.png": np.dstack([ONE * 9] * 3)})
    found = read_mask_folders(folder, image_folder=tmp_path / "pictures", ignore_value=9)
    (stack,) = found.label_stacks()
    assert stack.ignore.tolist() == [[False, False], [True, True]]
    assert stack.labels.tolist() == [[[0, 2], [0, 0]], [[0, 0], [0, 0]]]
    assert stack.image_pixels.shape == (2, 2, 3)
    assert class_pixel_agreement([stack], {2: "road"}).smyth_bound == 0.25


COLORS = np.array([[0, 0, 0], [250, 50, 83], [0, 0, 9]], np.uint8)
CVAT = {"ann/SegmentationClass/a.png": COLORS[ONE], "bob/SegmentationClass/a.png": COLORS[ONE + TWO],
        "ann/SegmentationObject/a.png": COLORS[TWO], "bob/labelmap.txt": "# label\nbackground:0,0,0::\n"}  # fmt: skip


def label_maps(path):
    return [str(stack.labels.tolist()) for stack in read_mask_folders(path).label_stacks()]


def test_colors_by_a_label_map(tmp_path):
    both = CVAT | {"bob/labelmap.txt": "road:0,0,9::\nbackground:0,0,0::\ncar:250,50,83::\n"}
    cases = [
        (both, ["[[[0, 2], [2, 2]], [[0, 2], [1, 1]]]"]),
        (CVAT, "a.png: expected colours of the label map (background (0, 0, 0)), got (250, 50, 83)"),
        (both | {"ann/labelmap.txt": "bus:250,50,83::\n"}, "bob/labelmap.txt, line 3: expected 'bus' for (250, 50"),
        (PAIR | {"ann/a.png": ONE * 255}, "image 'a': expected one value for a class, got 1 by 'bob' and 255 by 'ann'"),
    ]
    assert differing(label_maps, tmp_path, cases, show=list) == []


def test_palettes_are_read_as_numbers_and_several_images_in_a_file_are_refused(tmp_path):
    folder = write(tmp_path, PAIR)
    indexed = Image.fromarray(ONE * 3).convert("P")
    indexed.save(folder / "ann" / "a.png")
    (stack,) = read_mask_folders(folder).label_stacks()
    assert stack.labels[0].tolist() == np.asarray(indexed).tolist()
    (folder / "ann" / "a.png").unlink()
    Image.fromarray(ONE).save(folder / "ann" / "a.tif", save_all=True, append_images=[Image.fromarray(TWO)])
    assert differing(stacks, None, [(folder, "a.tif: expected one image in a file, got 2")]) == []


def test_near_infrared_and_more_channels_are_read_with_all_their_bits(tmp_path):
    folder = write(tmp_path / "m", PAIR)
    rng = np.random.default_rng(0)
    wide = rng.integers(0, 4000, (2, 2, 4), np.uint16)
    (tmp_path / "images").mkdir()
    file, names = tmp_path / "images" / "a.tif", ["blue", "green", "red", "near-infrared"]
    for pixels, options in (
        (wide, {"photometric": "rgb"}),  # Pillow keeps 8 bits of these
        (wide, {"photometric": "minisblack", "planarconfig": "contig"}),  # Pillow cannot read these
    ):
        tifffile.imwrite(file, pixels, **options)
        (stack,) = stacks(folder, image_folder=tmp_path / "images", channels=names)
        np.testing.assert_array_equal(stack.image_pixels, pixels)
        assert stack.channels == tuple(names)
    tifffile.imwrite(file, np.moveaxis(wide, 2, 0), photometric="rgb", planarconfig="separate")
    found = read_mask_folders(folder, image_folder=tmp_path / "images", channels=names)
    np.testing.assert_array_equal(found.image_pixels("a"), wide)
    compared = pixel_agreement(found.stacks(), channels=["near-infrared"]).correlations
    share = (ONE + TWO).ravel() / 2
    assert compared[0].name == "near-infrared"
    assert compared[0].r == pytest.approx(np.corrcoef(share, wide[..., 3].ravel())[0, 1])
    options = {"image_folder": tmp_path / "images", "channels": ["red"]}
    assert (
        differing(stacks, None, [(folder, options, "channels: expected 4 different names, none reserved, got 'red'")])
        == []
    )


def test_folders_of_raters_without_names(tmp_path):
    found = read_mask_folders(write(tmp_path, BITS), raters_are_local=True)
    assert all(stack.raters_are_local for stack in found.stacks())
    agreement = pixel_agreement(found.stacks())
    assert (agreement.raters_are_local, agreement.alone, len(agreement.raters)) == (True, 1, 0)
