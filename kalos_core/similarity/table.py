"""The table of similarities."""

from __future__ import annotations

from typing import Literal

from kalos_core.similarity.base import SIMILARITIES, Similarity, iou_bound
from kalos_core.similarity.boxes import box_giou, box_iou, centroid_box
from kalos_core.similarity.centroids import Centroids, centroid
from kalos_core.similarity.cuboids import cuboid_bound, cuboid_iou
from kalos_core.similarity.keypoints import oks, pose, with_image_sizes
from kalos_core.similarity.masks import mask_iou, polygon_raster_iou
from kalos_core.similarity.polygons import polygon_giou, polygon_giou_bound, polygon_iou
from kalos_core.similarity.volumes import volume_bound, volume_grid_iou, volume_iou

SimilarityName = Literal[
    "auto",
    "box_iou",
    "box_giou",
    "centroid_box",
    "polygon_iou",
    "polygon_giou",
    "polygon_raster_iou",
    "mask_iou",
    "centroid",
    "pose",
    "oks",
    "volume_iou",
    "volume_iou_128",
    "cuboid_iou",
]
"""Names in `SIMILARITIES`, and "auto"; a type checker knows these only, not those of `register_similarity`."""

SIMILARITIES.update(
    (measure.name, measure)
    for measure in (
        Similarity("box_iou", "box", "IoU of boxes", box_iou, help="intersection over union of the boxes"),
        Similarity(
            "box_giou",
            "box",
            "GIoU of boxes",
            box_giou,
            help="like IoU, but also measures the gap between boxes that do not overlap",
        ),
        Similarity(
            "centroid_box",
            "box",
            "distance of centres in boxes",
            centroid_box,
            help="distance of the centres over the diagonal of the larger box",
        ),
        Similarity(
            "polygon_iou",
            "polygon",
            "IoU of polygons",
            polygon_iou,
            additive=True,
            bound=iou_bound,
            help="exact intersection over union of the areas",
        ),
        Similarity(
            "polygon_giou",
            "polygon",
            "GIoU of polygons",
            polygon_giou,
            bound=polygon_giou_bound,
            help="like IoU, but also measures the gap between polygons that do not overlap",
        ),
        polygon_raster_iou(),
        Similarity(
            "mask_iou",
            "mask",
            "IoU of masks",
            mask_iou,
            additive=True,
            bound=iou_bound,
            help="intersection over union of the pixels",
        ),
        Similarity(
            "centroid",
            "",
            "distance of centroids",
            centroid,
            prepare=Centroids.of,
            help="distance of the centres of area over the diagonal of the image",
        ),
        Similarity(
            "pose",
            "keypoints",
            "error of keypoints",
            pose,
            merges=False,
            prepare=with_image_sizes,
            help="mean distance of joints; a joint that only one rater sees counts in full",
        ),
        oks(),
        Similarity(
            "volume_iou",
            "volume",
            "IoU of volumes",
            volume_iou,
            additive=True,
            bound=volume_bound,
            help="intersection over union of the volumes",
        ),
        volume_grid_iou(),
        Similarity(
            "cuboid_iou",
            "cuboid",
            "IoU of cuboids",
            cuboid_iou,
            merges=False,
            bound=cuboid_bound,
            help="intersection over union of the volumes, including rotation",
        ),
    )
)
