"""Label convergence: the ceiling that disagreement puts on any model's mAP (Tschirschwitz & Rodehorst, WACV 2025)."""

from kalos_core.convergence.interval import LabelConvergence, Spread, label_convergence
from kalos_core.convergence.modified import SIZES, THRESHOLDS, ModifiedMap, modified_map
from kalos_core.convergence.regression import PUBLISHED, Line, fit_line

__all__ = [
    "PUBLISHED",
    "SIZES",
    "THRESHOLDS",
    "LabelConvergence",
    "Line",
    "ModifiedMap",
    "Spread",
    "fit_line",
    "label_convergence",
    "modified_map",
]
