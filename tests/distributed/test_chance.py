"""Calibration over shards: every distance of one machine, with the same references from other images."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kalos_core
from kalos_core import Annotations, InputError, KalosWarning
from kalos_core.distributed import calibrate, write_shards
from tests.distributed.equality import assert_same, every_size, shards_of
from tests.distributed.scenes import in_order, limited, scene


def masks():
    """Masks on canvases of two sizes, of which small shards have one."""
    rng = np.random.default_rng(2)
    rows = []
    for image in range(23):
        height, width = (8, 10) if image % 5 else (16, 12)
        for rater in ("ann", "bob", "cid")[: 2 + image % 2]:
            canvas = np.zeros((height, width), bool)
            top, left = rng.integers(0, 4, 2)
            canvas[top : top + 4, left : left + 5] = True
            rows.append({"image": image, "rater": rater, "category": "cat", "mask": canvas})
    return Annotations.from_rows(rows, assigned="drew")


TABLES = {
    "boxes": (scene, ["box_iou", "centroid_box", "box_giou"]),
    "mixed ids": (lambda: scene(ids="mixed"), ["box_iou"]),
    "limits": (limited, ["box_iou"]),
    "masks": (masks, ["mask_iou", "box_iou"]),
}


@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
@every_size
@pytest.mark.parametrize(("make", "similarities"), TABLES.values(), ids=TABLES)
def test_as_on_one_machine(tmp_path, size, make, similarities):
    table, chosen = in_order(make()), {"repeats": 2, "bootstrap": 10, "seed": 3}
    whole = kalos_core.calibrate(table, similarities, **chosen)
    assert_same(whole, calibrate(shards_of(table, tmp_path / "s", size), similarities=similarities, **chosen))


def test_pixels_and_one_image_of_unknown_size(tmp_path):
    table = in_order(scene())
    shards = write_shards(table, tmp_path / "s", 6)
    assert_same(kalos_core.calibrate(table, coordinates="pixels"), calibrate(shards, coordinates="pixels"))
    size = table.image_size.copy()
    size[table.image[-1]] = np.nan
    unknown = replace(table, image_size=size)
    with pytest.warns(KalosWarning, match="the sizes of 1 of 23 images are unknown") as warned:
        found = [kalos_core.calibrate(unknown), calibrate(write_shards(unknown, tmp_path / "u", 6))]
    assert (len(warned), found[0].best.coordinates) == (2, "pixels")
    assert_same(*found)


def test_one_image_is_refused(tmp_path):
    with pytest.raises(InputError, match="expected at least two images with raters assigned"):
        calibrate(write_shards(scene().select(images=[1]), tmp_path / "s"))
