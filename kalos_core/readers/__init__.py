"""One file per format: labels of several raters in, `Annotations` out; and the COCO writer."""

from kalos_core.readers.coco import read_coco, write_coco

__all__ = ["read_coco", "write_coco"]
