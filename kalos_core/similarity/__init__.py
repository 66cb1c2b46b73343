"""Similarity of two shapes: 1 = the same place, 0 = apart. The table `SIMILARITIES` lists all of them.

A similarity compares rows of two columns of one shape kind. It receives the smallest value that matters (`floor`) and
may return 0 for a pair that is certain to stay below it.

* the table: `SIMILARITIES`, `get_similarity`, `register_similarity`
* definition of a similarity: `Similarity`, `Compare`, `Rows`, `Bound`, `ROUNDING`
* boxes: `box_iou`, `box_giou`, `centroid_box`
* polygons and masks: `polygon_iou`, `polygon_giou`, `polygon_raster_iou`, `mask_iou`, `iou_bound`
* keypoints: `pose`, `oks`
* volumes and cuboids: `volume_iou`, `volume_grid_iou`, `cuboid_iou`
* any shape: `centroid`
"""

from kalos_core.names import public_names
from kalos_core.similarity import table as _table  # noqa: F401 - fills `SIMILARITIES`
from kalos_core.similarity.base import ROUNDING as ROUNDING
from kalos_core.similarity.base import SIMILARITIES as SIMILARITIES
from kalos_core.similarity.base import Bound as Bound
from kalos_core.similarity.base import Compare as Compare
from kalos_core.similarity.base import Rows as Rows
from kalos_core.similarity.base import Similarity as Similarity
from kalos_core.similarity.base import get_similarity as get_similarity
from kalos_core.similarity.base import iou_bound as iou_bound
from kalos_core.similarity.base import register_similarity as register_similarity
from kalos_core.similarity.boxes import box_giou as box_giou
from kalos_core.similarity.boxes import box_iou as box_iou
from kalos_core.similarity.boxes import centroid_box as centroid_box
from kalos_core.similarity.centroids import centroid as centroid
from kalos_core.similarity.cuboids import cuboid_iou as cuboid_iou
from kalos_core.similarity.keypoints import oks as oks
from kalos_core.similarity.keypoints import pose as pose
from kalos_core.similarity.masks import mask_iou as mask_iou
from kalos_core.similarity.masks import polygon_raster_iou as polygon_raster_iou
from kalos_core.similarity.polygons import polygon_giou as polygon_giou
from kalos_core.similarity.polygons import polygon_iou as polygon_iou
from kalos_core.similarity.volumes import volume_grid_iou as volume_grid_iou
from kalos_core.similarity.volumes import volume_iou as volume_iou

__all__ = public_names(vars())
