"""Detections in crowd regions of the ground truth, which count neither for nor against, as in COCO."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.annotations.columns import codes_in
from kalos_core.arrays import blocks_of_runs
from kalos_core.shapes import Boxes, Masks, Polygons
from kalos_core.shapes.joining import join_columns
from kalos_core.similarity.base import ratio
from kalos_core.similarity.masks import rasterise, shared_pixels
from kalos_core.similarity.polygons import intersection_area


@dataclass(frozen=True, eq=False)
class CrowdOverlaps:
    """Share of C detections that lies in a crowd region of their class.

    If several regions of one rater overlap a detection, the one with the largest share counts.

    Parameters
    ----------
    found : (C,) int
        Row of the detection.
    truth : (C,) int
        Rater of the crowd region.
    share : (C,) float64 in (0, 1]
        Share of the detection's area that lies in the region.
    """

    found: NDArray[np.intp]
    truth: NDArray[np.intp]
    share: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.found)


def crowd_overlaps(
    crowds: Annotations | None, detections: Annotations, similarity: str, kind: str, floor: float
) -> CrowdOverlaps:
    """Find detections with at least a share `floor` of their area in a crowd region of their image and class.

    Parameters
    ----------
    crowds : Annotations or None
        See `Annotations.crowd_regions`.
    detections : Annotations
        From the same or another table; images and classes are matched by id and name.
    similarity, kind : str
        As in `Pairs`. The kind decides how areas are compared:

        * boxes by their boxes,
        * polygons by exact areas, or by pixels if the region is a mask,
        * masks by pixels, and polygons too under ``polygon_raster_iou``, which equals pycocotools,
        * any other kind by boxes. So are regions with only a box, and pixels of images of unknown size.
    floor : float in [0, 1]

    Examples
    --------
    >>> cat = {"image": 1, "category": "cat"}
    >>> crowds = Annotations.from_rows([{**cat, "rater": "ann", "box": [0, 0, 10, 10]}])
    >>> found = Annotations.from_rows([{**cat, "rater": "bob", "box": [8, 0, 4, 4]}])
    >>> overlaps = crowd_overlaps(crowds, found, "box_iou", "box", 0.5)
    >>> overlaps.found.tolist(), overlaps.truth.tolist(), overlaps.share.tolist()
    ([0], [0], [0.5])
    """
    none = np.zeros(0, np.intp)
    parts = [(none, none, np.zeros(0))]
    if crowds is not None:
        image = codes_in(detections.images, crowds.images)[crowds.image]
        category = codes_in(detections.categories, crowds.categories)[crowds.category]
        order = np.argsort(detections.image, kind="stable")
        sorted_image = detections.image[order]
        first = np.searchsorted(sorted_image, image)
        count = np.searchsorted(sorted_image, image, side="right") - first
        for crowd, position in blocks_of_runs(first, count):
            found = order[position]
            alike = category[crowd] == detections.category[found]
            crowd, found = crowd[alike], found[alike]
            share = _shares(detections, found, crowds, crowd, similarity, kind)
            near = (share >= floor) & (share > 0)
            parts.append((found[near], crowds.rater[crowd[near]], share[near]))
    found, truth, share = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.lexsort((-share, truth, found))  # the largest share of each detection and rater first
    found, truth, share = found[order], truth[order], share[order]
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (found[1:] != found[:-1]) | (truth[1:] != truth[:-1])
    return CrowdOverlaps(found[fresh], truth[fresh], share[fresh])


def _shares(
    detections: Annotations,
    found: NDArray[np.intp],
    crowds: Annotations,
    crowd: NDArray[np.intp],
    similarity: str,
    kind: str,
) -> NDArray[np.float64]:
    """(P,) share of each detection's area that lies in its crowd region."""
    overlap, area = _of_boxes(detections, found, crowds, crowd)
    if kind not in ("polygon", "mask"):
        return ratio(overlap, area)
    share = ratio(overlap, area)
    near = np.flatnonzero(overlap > 0)  # few
    found, crowd = found[near], crowd[near]
    outlined = _present(crowds, "polygon")[crowd]
    exact = outlined & (kind == "polygon") & (similarity != "polygon_raster_iou")
    size = crowds.image_size[crowds.image]
    if "mask" in crowds.shapes:  # a mask knows its image size
        size = np.where(_present(crowds, "mask")[:, None], _masks(crowds).size, size)
    drawn = ~exact & (outlined | _present(crowds, "mask")[crowd]) & np.isfinite(size[crowd]).all(axis=1)
    share[near[exact]] = _of_polygons(detections, found[exact], crowds, crowd[exact])
    share[near[drawn]] = _of_pixels(detections, found[drawn], crowds, crowd[drawn], kind, size)
    return share


def _present(table: Annotations, kind: str) -> NDArray[np.bool_]:
    """(N,) whether an annotation has a shape of this kind."""
    column = table.shapes.get(kind)
    return np.zeros(len(table), np.bool_) if column is None else ~column.absent()


def _of_boxes(
    detections: Annotations, found: NDArray[np.intp], crowds: Annotations, crowd: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(P,) intersection area of two boxes, and (P,) area of the first; 0 if one of them is missing."""
    if "box" not in detections.shapes or "box" not in crowds.shapes:
        return np.zeros(len(found)), np.ones(len(found))
    own, other = (_boxes(table)[rows] for table, rows in ((detections, found), (crowds, crowd)))
    sides = np.minimum(own[:, 2:], other[:, 2:]) - np.maximum(own[:, :2], other[:, :2])
    overlap = np.nan_to_num(np.maximum(sides, 0)).prod(axis=1)
    return overlap, np.nan_to_num(own[:, 2:] - own[:, :2]).prod(axis=1)


def _boxes(table: Annotations) -> NDArray[np.float64]:
    column: Any = table.shapes["box"]
    boxes: Boxes = column
    return boxes.corners


def _of_polygons(
    detections: Annotations, found: NDArray[np.intp], crowds: Annotations, crowd: NDArray[np.intp]
) -> NDArray[np.float64]:
    if not len(found):
        return np.zeros(0)
    own, other = _polygons(detections), _polygons(crowds)
    shared = intersection_area(own.geometries[found], other.geometries[crowd])
    return np.minimum(ratio(shared, own.area()[found]), 1.0)


def _polygons(table: Annotations) -> Polygons:
    column: Any = table.shapes["polygon"]
    found: Polygons = column
    return found


def _of_pixels(
    detections: Annotations,
    found: NDArray[np.intp],
    crowds: Annotations,
    crowd: NDArray[np.intp],
    kind: str,
    size: NDArray[np.float64],
) -> NDArray[np.float64]:
    """(P,) share of each detection inside its region, rasterised on canvases of width and height (P, 2)."""
    if not len(found):
        return np.zeros(0)
    regions, of_crowd = _rastered(crowds, crowd, kind, size[crowd])
    shapes, of_found = _rastered(detections, found, kind, size[crowd])
    return ratio(shared_pixels(shapes, of_found, regions, of_crowd), shapes.area()[of_found])


def _masks(table: Annotations) -> Masks:
    column: Any = table.shapes["mask"]
    found: Masks = column
    return found


def _rastered(
    table: Annotations, rows: NDArray[np.intp], kind: str, size: NDArray[np.float64]
) -> tuple[Masks, NDArray[np.intp]]:
    """Masks of all rows (P,), with polygons rasterised at a size (P, 2), and the index of each row's mask."""
    chosen, first, index = np.unique(rows, return_index=True, return_inverse=True)
    outlined = _present(table, "polygon")[chosen]
    if kind == "mask":
        outlined &= ~_present(table, "mask")[chosen]
    parts = []
    if outlined.any():
        canvas = size[first[outlined]].astype(np.intp)
        parts.append(rasterise(_polygons(table).take(chosen[outlined]), canvas))
    if not outlined.all():
        parts.append(_masks(table).take(chosen[~outlined]))
    order = np.argsort(np.argsort(~outlined, kind="stable"))
    joined: Any = join_columns("mask", parts)
    return joined.take(order), index
