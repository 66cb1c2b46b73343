"""COCO detection, segmentation and keypoint files of several raters: the reader and the writer."""

from kalos_core.readers.coco.columns import RATER_FIELDS
from kalos_core.readers.coco.reading import read_coco
from kalos_core.readers.coco.settings import Assignment
from kalos_core.readers.coco.streaming import stream_coco
from kalos_core.readers.coco.writing import write_coco

__all__ = ["RATER_FIELDS", "Assignment", "read_coco", "stream_coco", "write_coco"]
