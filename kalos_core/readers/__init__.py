"""One file per format: labels of several raters in, `Annotations` out; and the COCO writer.

* any format: `read_labels`, `FORMATS`
* objects in images: `read_boxes` (any table of boxes), `read_coco`, `read_cvat`, `read_datumaro`, `read_dota`,
  `read_label_studio`, `read_labelme`, `read_via`, `read_vindr`, `read_voc`, `read_yolo`, `read_zooniverse`;
  `write_coco`; `stream_coco` for files larger than memory
* nodules in scans: `read_lidc`
* image-level labels: `read_long_labels`, `read_wide_labels`; choices, answers and tags of annotation tools:
  `read_label_studio_choices`, `read_zooniverse_answers`, `read_cvat_tags`
* masks: `read_mask_folders` -> `MaskFolders`, `read_bsds` -> `BsdsFiles`
* in memory: `read_supervision`; of FiftyOne data sets `kalos_core.fiftyone.read_annotations`
"""

from kalos_core.readers.box_tables import read_boxes
from kalos_core.readers.bsds import BsdsFiles, read_bsds
from kalos_core.readers.coco import read_coco, stream_coco, write_coco
from kalos_core.readers.cvat import read_cvat, read_cvat_tags
from kalos_core.readers.datumaro import read_datumaro
from kalos_core.readers.dota import read_dota
from kalos_core.readers.formats import FORMATS, read_labels
from kalos_core.readers.label_studio import read_label_studio, read_label_studio_choices
from kalos_core.readers.label_tables import read_long_labels, read_wide_labels
from kalos_core.readers.labelme import read_labelme
from kalos_core.readers.lidc import read_lidc
from kalos_core.readers.mask_folders import MaskFolders, read_mask_folders
from kalos_core.readers.supervision import read_supervision
from kalos_core.readers.via import read_via
from kalos_core.readers.vindr import read_vindr
from kalos_core.readers.voc import read_voc
from kalos_core.readers.yolo import read_yolo
from kalos_core.readers.zooniverse import read_zooniverse, read_zooniverse_answers

__all__ = [
    "FORMATS",
    "BsdsFiles",
    "MaskFolders",
    "read_boxes",
    "read_bsds",
    "read_coco",
    "read_cvat",
    "read_cvat_tags",
    "read_datumaro",
    "read_dota",
    "read_label_studio",
    "read_label_studio_choices",
    "read_labelme",
    "read_labels",
    "read_lidc",
    "read_long_labels",
    "read_mask_folders",
    "read_supervision",
    "read_via",
    "read_vindr",
    "read_voc",
    "read_wide_labels",
    "read_yolo",
    "read_zooniverse",
    "read_zooniverse_answers",
    "stream_coco",
    "write_coco",
]
