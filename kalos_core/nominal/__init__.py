"""Labels of whole items by several raters: the table they come in, and what agreement there is in it."""

from kalos_core.nominal.build import RawLabels, build_table
from kalos_core.nominal.table import OPTIONAL, LabelTable, check_table

__all__ = ["OPTIONAL", "LabelTable", "RawLabels", "build_table", "check_table"]
