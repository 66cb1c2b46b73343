"""`Annotations`, the frozen table of all marks of all raters, and how readers make one."""

from kalos_core.annotations.build import RawTable, build_annotations
from kalos_core.annotations.table import Annotations, as_name, id_array, object_array

__all__ = ["Annotations", "RawTable", "as_name", "build_annotations", "id_array", "object_array"]
