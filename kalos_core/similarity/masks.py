"""Similarities of masks, computed on run lengths without decoding pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.annotations.shapes.masks import decode_counts
from kalos_core.arrays import expand_runs, run_starts, total
from kalos_core.options import checked
from kalos_core.shapes import Masks, Polygons
from kalos_core.similarity.base import Similarity, check_image_sizes, iou_bound, ratio

RUNS_AT_ONCE = 1 << 18
"""Number of runs looked up at a time, so that temporary arrays stay small."""


@checked
def mask_iou(
    left: Masks,
    left_rows: NDArray[np.intp],
    right: Masks,
    right_rows: NDArray[np.intp],
    floor: float = 0.0,
) -> NDArray[np.float64]:
    """Compute the intersection over union of masks, in pixels of the image's own grid (KαLOS §3.3).

    Equal to `pycocotools.mask.iou`. Masks on canvases of different sizes, which only calibration compares, are aligned
    at their top left corners: the smaller canvas is padded. Pixels are only counted for pairs whose upper bound
    (`iou_bound`) reaches the floor. The runs of the mask with fewer runs are looked up among those of the other.

    Parameters
    ----------
    left, right : Masks
    left_rows, right_rows : (P,) int
    floor : float
        Pairs certain to stay below this value get 0.

    Returns
    -------
    (P,) float64 in [0, 1]
        0 where a mask has no pixel, even compared with itself.

    Examples
    --------
    >>> masks = Masks.from_arrays([[[1, 1, 0]], [[0, 1, 1]], [[0, 0, 0]]])
    >>> mask_iou(masks, np.array([0, 0, 2]), masks, np.array([0, 1, 2])).tolist()
    [1.0, 0.3333333333333333, 0.0]
    """
    limit = iou_bound(left, left_rows, right, right_rows)
    worth = np.flatnonzero((limit > 0) & (limit >= floor))
    left_rows, right_rows = left_rows[worth], right_rows[worth]
    shared = shared_pixels(left, left_rows, right, right_rows)
    iou = np.zeros(len(limit))
    iou[worth] = ratio(shared, left.area()[left_rows] + right.area()[right_rows] - shared)
    return iou


def polygon_raster_iou() -> Similarity:
    """Return the IoU of polygons that pycocotools rasterises on the image's own grid, as in COCO and LVIS.

    `polygon_iou` is the better measure, as its areas are exact. Use this one to reproduce numbers of pycocotools.
    Overlapping rings of an annotation are united; a ring that crosses itself is filled by the even-odd rule.

    Examples
    --------
    A triangle of area 32, and the same triangle two columns to the right: 28 pixels each, of which they share 15.

    >>> from kalos_core.pairs import compute_pairs
    >>> rows = [
    ...     {"image": 1, "rater": rater, "category": "cat", "polygon": [[x, 0, x + 8, 0, x + 8, 8]]}
    ...     for rater, x in (("ann", 0), ("bob", 2))
    ... ]
    >>> annotations = Annotations.from_rows(rows, image_size={1: (20, 20)})
    >>> compute_pairs(annotations, "polygon_raster_iou", floor=0.1).similarity.round(3).tolist()
    [0.366]
    """

    def prepare(annotations: Annotations, polygons: Polygons) -> Masks:
        check_image_sizes("polygon_raster_iou", annotations)
        return rasterise(polygons, annotations.image_size[annotations.image].astype(np.intp))

    label = "IoU of rasterised polygons"
    return Similarity("polygon_raster_iou", "polygon", label, mask_iou, additive=True, bound=iou_bound, prepare=prepare)


def rasterise(polygons: Polygons, size: NDArray[np.intp]) -> Masks:
    """Rasterise N polygons with pycocotools, each on a canvas of its own width and height (N, 2).

    Examples
    --------
    >>> rasterise(Polygons.from_rings([[[1, 0, 3, 0, 3, 2, 1, 2]]]), np.array([[4, 3]])).area().tolist()
    [4.0]
    """
    from pycocotools import mask  # slow to import, and only needed here

    texts: dict[int, bytes] = {}
    for row, (width, height) in enumerate(size.tolist()):
        rings: Any = [ring.ravel().tolist() for ring in polygons.rings(row)]  # not covered by pycocotools' type hints
        outline: Any = mask.merge(mask.frPyObjects(rings, height, width))
        texts[row] = outline["counts"]
    counts = decode_counts(texts)
    flat = [counts[row] for row in range(len(polygons))]
    return Masks.from_counts(
        size, np.concatenate([np.zeros(0, np.int64), *flat]), run_starts([len(part) for part in flat])
    )


def shared_pixels(
    left: Masks, left_rows: NDArray[np.intp], right: Masks, right_rows: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the (P,) numbers of pixels that two masks share."""
    kept_left, first = np.unique(left_rows, return_inverse=True)
    kept_right, second = np.unique(right_rows, return_inverse=True)
    strips = _Strips.of(left.take(kept_left), right.take(kept_right))
    second = second + len(kept_left)
    swap = strips.count[first] > strips.count[second]
    walked, searched = np.where(swap, second, first), np.where(swap, first, second)
    shared = np.zeros(len(first))
    part = np.cumsum(strips.count[walked]) // RUNS_AT_ONCE
    for pairs in np.split(np.arange(len(first)), np.flatnonzero(np.diff(part)) + 1):
        shared[pairs] = strips.shared(walked[pairs], searched[pairs])
    return shared


@dataclass(frozen=True, eq=False)
class _Strips:
    """Runs of M masks within single columns, as positions on one line: mask after mask, column after column."""

    start: NDArray[np.intp]
    """(T,) ascending."""
    stop: NDArray[np.intp]
    before: NDArray[np.intp]
    """(T + 1,) cumulative number of pixels before each strip."""
    mask_start: NDArray[np.intp]
    """(M + 1,) offset of the first strip of each mask."""
    span: int
    """Number of positions per mask."""

    @classmethod
    def of(cls, *columns: Masks) -> _Strips:
        """Return the strips of all masks, one column of masks after the other."""
        width, height = np.concatenate([masks.size for masks in columns]).max(axis=0, initial=0).tolist()
        starts, stops, counts = [], [], []
        offset = 0
        for masks in columns:
            mask, column, top, bottom = masks.strips(np.arange(len(masks)))
            position = ((mask + offset) * width + column) * height
            starts.append(position + top)
            stops.append(position + bottom)
            counts.append(np.bincount(mask, minlength=len(masks)))
            offset += len(masks)
        start, stop = np.concatenate(starts), np.concatenate(stops)
        return cls(start, stop, run_starts(stop - start), run_starts(np.concatenate(counts)), width * height)

    @property
    def count(self) -> NDArray[np.intp]:
        """(M,) number of strips of each mask."""
        return np.diff(self.mask_start)

    def shared(self, walked: NDArray[np.intp], searched: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the (P,) numbers of shared pixels: strips of one mask are shifted to the positions of the other."""
        pair, strip = expand_runs(self.mask_start[walked], self.count[walked])
        move = ((searched - walked) * self.span)[pair]
        pixels = self._pixels_before(self.stop[strip] + move) - self._pixels_before(self.start[strip] + move)
        return total(pair, pixels, len(walked))

    def _pixels_before(self, position: NDArray[np.intp]) -> NDArray[np.intp]:
        begun = np.searchsorted(self.start, position)
        beyond = np.append(0, self.stop)[begun] - position  # remainder of the last strip that has begun
        return self.before[begun] - np.maximum(beyond, 0)
