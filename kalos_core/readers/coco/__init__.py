"""COCO detection, segmentation and keypoint files of several raters: the reader and the writer."""

from kalos_core.names import public_names
from kalos_core.readers.coco.columns import RATER_FIELDS as RATER_FIELDS
from kalos_core.readers.coco.reading import read_coco as read_coco
from kalos_core.readers.coco.settings import Assignment as Assignment
from kalos_core.readers.coco.streaming import stream_coco as stream_coco
from kalos_core.readers.coco.writing import write_coco as write_coco

__all__ = public_names(vars())
