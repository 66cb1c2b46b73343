"""Masks of several raters: small ones with numbers worked out by hand, and painted ones for screenshots.

The small ones are one row of four pixels on three images:

=====  =======  =======  ==========  ==================
image  ann      bob      cid         rater counts
=====  =======  =======  ==========  ==================
0      0 0 1 1  0 1 1 1  0 0 0 1     0 1 2 3
1      1 1 0 0  1 0 0 0  (assigned)  2 1 0 0
2      1 0 0 0  -        -           1 0 0 0, ann alone
=====  =======  =======  ==========  ==================

cid was assigned to image 1 and marked nothing. Of the pixels that any rater marked (5), at least two raters marked
3 and all three 1. F1 of ann and bob: 2 (2 + 1) / (4 + 4) = .75.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fiftyone as fo
import numpy as np
import shapely
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import gaussian_filter

from demo.outlines import redraw
from demo.scenes import draw_scenes
from kalos_core.shapes import Polygons
from kalos_core.shapes.raster import pixels_of, rasterise

RATERS = ("ann", "bob", "cid")
IMAGES: list[dict[str, list[int] | None]] = [
    {"ann": [0, 0, 1, 1], "bob": [0, 1, 1, 1], "cid": [0, 0, 0, 1]},
    {"ann": [1, 1, 0, 0], "bob": [1, 0, 0, 0], "cid": None},
    {"ann": [1, 0, 0, 0]},
]
RATER_COUNTS = [[[0, 1, 2, 3]], [[2, 1, 0, 0]], [[1, 0, 0, 0]]]
RATIO = [1, 3 / 5, 1 / 5]


GOOD = [[0.1, 0.5, 0.8, 0.9], [0.85, 0.7, 0.2, 0.1], [0.9, 0.2, 0.1, 0.1]]
"""Scores of a detector that ranks ann's pixels first; the other one, `poor`, is the opposite."""


CLASSES = {1: "road", 2: "car"}
"""Classes of the maps below."""


def painted(*squares: tuple[int, int, int, int, int]) -> NDArray[np.uint8]:
    """Return a map of 20 x 30 pixels with squares of a class: x, y, width, height, value."""
    found = np.zeros((20, 30), np.uint8)
    for x, y, across, down, value in squares:
        found[y : y + down, x : x + across] = value
    return found


MAPS = [
    {  # cid has a car where the others have road; only ann has one more road
        "ann": painted((0, 0, 6, 6, 1), (20, 10, 4, 5, 1)),
        "bob": painted((0, 0, 6, 6, 1)),
        "cid": painted((0, 0, 6, 6, 2)),
    },
    {  # all agree except for a thin rim
        "ann": painted((5, 5, 8, 8, 2)),
        "bob": painted((5, 5, 8, 8, 2)),
        "cid": painted((5, 5, 9, 8, 2)),
    },
    {  # one of two missed it
        "ann": painted((10, 2, 5, 4, 2)),
        "bob": painted(),
    },
]


def row(marks: list[int] | None, full: int = 1) -> fo.Segmentation | None:
    return None if marks is None else fo.Segmentation(mask=full * np.array([marks], np.uint8))


def small(full: int = 1, **more: Any) -> list[fo.Sample]:
    """Return the three images, with masks in the database."""
    return [
        fo.Sample(
            f"/images/{number}.png",
            metadata=fo.ImageMetadata(width=4, height=1),
            raters=list(masks),
            **{name: row(marks, full) for name, marks in masks.items()},
            **more,
        )
        for number, masks in enumerate(IMAGES)
    ]


def add_maps(dataset: fo.Dataset) -> fo.Dataset:
    """Add the score maps of `good` and `poor` to the data set, in the database."""
    dataset.set_values("good", [fo.Heatmap(map=np.array([scores])) for scores in GOOD])
    dataset.set_values("poor", [fo.Heatmap(map=1 - np.array([scores])) for scores in GOOD])
    return dataset


def mapped() -> list[fo.Sample]:
    """Return the three images with their score maps."""
    samples = small()
    for sample, scores in zip(samples, GOOD, strict=True):
        sample["good"], sample["poor"] = (fo.Heatmap(map=np.array([of])) for of in (scores, [1 - s for s in scores]))
    return samples


def drawn_stack(folder: Path, images: int = 8, size: tuple[int, int] = (320, 240)) -> None:
    """Write images of the demo with masks of five raters: ``images/``, ``masks/rater/``, ``scores/detector/``.

    The raters are increasingly loose; the last marks with a large margin, and is an outlier. One of two detectors blurs
    the objects; the other sees only large ones, and one that does not exist.
    """
    scenes = [scene for scene in draw_scenes(images + 1, size=size) if scene.objects][:images]
    rng = np.random.default_rng(0)
    for scene in scenes:
        _save(folder / "images" / f"{scene.name}.png", np.asarray(scene.image))
        outlines = [shapely.Polygon(one.polygon) for one in scene.objects]
        for number, rater in enumerate(("ann", "bob", "cid", "dan", "eve")):
            hands = [redraw(outline, 0.5 + 0.4 * number, rng) for outline in outlines if rng.random() > 0.04 * number]
            margin = 9 if rater == "eve" else 0
            mask = _pixels([hand.buffer(margin) for hand in hands], size)
            _save(folder / "masks" / rater / f"{scene.name}.png", mask.astype(np.uint8) * 255)
        there = _pixels(outlines, size).astype(np.float64)
        noise = gaussian_filter(rng.random(there.shape), 6)
        noise = (noise - noise.min()) / np.ptp(noise)
        sharp = 0.8 * gaussian_filter(there, 3) + 0.2 * noise
        broad = 0.6 * gaussian_filter(there, 14) + 0.4 * noise
        for detector, scores in (("sharp", sharp), ("broad", broad)):
            _save(folder / "scores" / detector / f"{scene.name}.png", as_bytes(scores))


def add_scores(dataset: fo.Dataset, folder: Path) -> list[str]:
    """Add the score maps of the detectors as `Heatmap` fields; return their names."""
    names = ["sharp", "broad"]
    for name in names:
        dataset.add_sample_field(name, fo.EmbeddedDocumentField, embedded_doc_type=fo.Heatmap)
        files = {path.stem: str(path) for path in (folder / "scores" / name).glob("*.png")}
        maps = [fo.Heatmap(map_path=files[Path(path).stem]) for path in dataset.values("filepath")]
        dataset.set_values(name, maps)
    return names


def _pixels(outlines: list[shapely.Polygon], size: tuple[int, int]) -> NDArray[np.bool_]:
    if not outlines:
        return np.zeros(size[::-1], np.bool_)
    rings = [[shapely.get_coordinates(outline.exterior)[:-1]] for outline in outlines]
    masks = rasterise(Polygons.from_rings(rings), np.tile(size, (len(rings), 1)))
    return np.asarray(np.logical_or.reduce([pixels_of(masks, number) for number in range(len(rings))]))


def as_bytes(scores: NDArray[np.float64]) -> NDArray[np.uint8]:
    return np.rint(255 * np.clip(scores, 0, 1)).astype(np.uint8)


def _save(path: Path, pixels: NDArray[np.uint8]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)
