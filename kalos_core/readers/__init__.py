"""Readers of labels of several raters, one module per format, and the COCO writer.

* any format: `read_labels`, `FORMATS`
* objects in images: `read_boxes` (any table of boxes), `read_coco`, `read_cvat`, `read_datumaro`, `read_dota`,
  `read_label_studio`, `read_labelme`, `read_via`, `read_vindr`, `read_voc`, `read_yolo`, `read_zooniverse`;
  `write_coco`; `stream_coco` for files larger than memory
* nodules in scans: `read_lidc`
* image-level labels: `read_long_labels`, `read_wide_labels`; choices, answers and tags of annotation tools:
  `read_label_studio_choices`, `read_zooniverse_answers`, `read_cvat_tags`
* masks: `read_mask_folders` -> `MaskFolders`, `read_bsds` -> `BsdsFiles`
* in memory: `read_supervision`; for FiftyOne data sets, `kalos_core.fiftyone.read_annotations`
"""

from kalos_core.names import public_names
from kalos_core.readers.box_tables import read_boxes as read_boxes
from kalos_core.readers.bsds import BsdsFiles as BsdsFiles
from kalos_core.readers.bsds import read_bsds as read_bsds
from kalos_core.readers.coco import read_coco as read_coco
from kalos_core.readers.coco import stream_coco as stream_coco
from kalos_core.readers.coco import write_coco as write_coco
from kalos_core.readers.cvat import read_cvat as read_cvat
from kalos_core.readers.cvat import read_cvat_tags as read_cvat_tags
from kalos_core.readers.datumaro import read_datumaro as read_datumaro
from kalos_core.readers.dota import read_dota as read_dota
from kalos_core.readers.formats import FORMATS as FORMATS
from kalos_core.readers.formats import read_labels as read_labels
from kalos_core.readers.label_studio import read_label_studio as read_label_studio
from kalos_core.readers.label_studio import read_label_studio_choices as read_label_studio_choices
from kalos_core.readers.label_tables import read_long_labels as read_long_labels
from kalos_core.readers.label_tables import read_wide_labels as read_wide_labels
from kalos_core.readers.labelme import read_labelme as read_labelme
from kalos_core.readers.lidc import read_lidc as read_lidc
from kalos_core.readers.mask_folders import MaskFolders as MaskFolders
from kalos_core.readers.mask_folders import read_mask_folders as read_mask_folders
from kalos_core.readers.supervision import read_supervision as read_supervision
from kalos_core.readers.via import read_via as read_via
from kalos_core.readers.vindr import read_vindr as read_vindr
from kalos_core.readers.voc import read_voc as read_voc
from kalos_core.readers.yolo import read_yolo as read_yolo
from kalos_core.readers.zooniverse import read_zooniverse as read_zooniverse
from kalos_core.readers.zooniverse import read_zooniverse_answers as read_zooniverse_answers

__all__ = public_names(vars())
