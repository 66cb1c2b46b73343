"""The table of similarities."""

from __future__ import annotations

from kalos_core.similarity.base import SIMILARITIES, Similarity, iou_bound
from kalos_core.similarity.boxes import box_giou, box_iou, centroid_box
from kalos_core.similarity.centroids import Centroids, centroid
from kalos_core.similarity.cuboids import cuboid_bound, cuboid_iou
from kalos_core.similarity.keypoints import oks, pose, with_image_sizes
from kalos_core.similarity.masks import mask_iou, polygon_raster_iou
from kalos_core.similarity.polygons import polygon_giou, polygon_giou_bound, polygon_iou
from kalos_core.similarity.volumes import volume_bound, volume_grid_iou, volume_iou

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
