"""Similarity of two shapes: 1 = the same place, 0 = apart. The table `SIMILARITIES` names what there is.

A similarity compares rows of two columns of one shape kind. It is given the smallest value that matters (`floor`) and
may answer 0 for a pair that is certain to stay below.

* the table: `SIMILARITIES`, `get_similarity`, `register_similarity`
* what a similarity is: `Similarity`, `Compare`, `Rows`, `Bound`, `check_threshold`, `ROUNDING`
* boxes: `box_iou`, `box_giou`, `centroid_box`
* polygons and masks: `polygon_iou`, `polygon_giou`, `polygon_raster_iou`, `mask_iou`, `iou_bound`
* keypoints: `pose`, `oks`
* volumes and cuboids: `volume_iou`, `volume_grid_iou`, `cuboid_iou`
* any shape: `centroid`
"""

from __future__ import annotations

from kalos_core.similarity.base import (
    ROUNDING,
    SIMILARITIES,
    Bound,
    Compare,
    Rows,
    Similarity,
    check_threshold,
    get_similarity,
    iou_bound,
    register_similarity,
)
from kalos_core.similarity.boxes import box_giou, box_iou, centroid_box
from kalos_core.similarity.centroids import Centroids, centroid
from kalos_core.similarity.cuboids import cuboid_bound, cuboid_iou
from kalos_core.similarity.keypoints import oks, pose, with_image_sizes
from kalos_core.similarity.masks import mask_iou, polygon_raster_iou
from kalos_core.similarity.polygons import polygon_giou, polygon_giou_bound, polygon_iou
from kalos_core.similarity.volumes import volume_bound, volume_grid_iou, volume_iou

__all__ = [
    "ROUNDING",
    "SIMILARITIES",
    "Bound",
    "Compare",
    "Rows",
    "Similarity",
    "box_giou",
    "box_iou",
    "centroid",
    "centroid_box",
    "check_threshold",
    "cuboid_iou",
    "get_similarity",
    "iou_bound",
    "mask_iou",
    "oks",
    "polygon_giou",
    "polygon_iou",
    "polygon_raster_iou",
    "pose",
    "register_similarity",
    "volume_grid_iou",
    "volume_iou",
]

SIMILARITIES.update(
    (measure.name, measure)
    for measure in (
        Similarity("box_iou", "box", "IoU of boxes", box_iou),
        Similarity("box_giou", "box", "GIoU of boxes", box_giou),
        Similarity("centroid_box", "box", "distance of centres in boxes", centroid_box),
        Similarity("polygon_iou", "polygon", "IoU of polygons", polygon_iou, additive=True, bound=iou_bound),
        Similarity("polygon_giou", "polygon", "GIoU of polygons", polygon_giou, bound=polygon_giou_bound),
        polygon_raster_iou(),
        Similarity("mask_iou", "mask", "IoU of masks", mask_iou, additive=True, bound=iou_bound),
        Similarity("centroid", "", "distance of centroids", centroid, prepare=Centroids.of),
        Similarity("pose", "keypoints", "error of keypoints", pose, merges=False, prepare=with_image_sizes),
        oks(),
        Similarity("volume_iou", "volume", "IoU of volumes", volume_iou, additive=True, bound=volume_bound),
        volume_grid_iou(),
        Similarity("cuboid_iou", "cuboid", "IoU of cuboids", cuboid_iou, merges=False, bound=cuboid_bound),
    )
)
