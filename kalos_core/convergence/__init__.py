"""Label convergence: the ceiling that disagreement puts on any model's mAP (Tschirschwitz & Rodehorst, WACV 2025)."""

from kalos_core.convergence.modified import SIZES, THRESHOLDS, ModifiedMap, modified_map

__all__ = ["SIZES", "THRESHOLDS", "ModifiedMap", "modified_map"]
