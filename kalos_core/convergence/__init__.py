"""Label convergence: the ceiling that disagreement puts on any model's mAP (Tschirschwitz & Rodehorst, WACV 2025).

* the ceiling: `label_convergence` -> `LabelConvergence`, its `Replicates` and their `Spread`; `SHARES`, `FEW_IMAGES`,
  `MEANINGS`
* raters against raters: `modified_map` -> `ModifiedMap`; `THRESHOLDS`, `SIZES`
* from alpha to mAP, of one data set or several pooled: `fit_line` -> `Line`, `PUBLISHED_LINE`
* models: `map_of_predictions` -> `PredictionMap`, `read_models`
* of tags, with models placed and the check-list: `convergence_study` -> `ConvergenceStudy`, of `TagConvergence`,
  `PlacedModel` and `SubsetSize`
* may it be used: `check_convergence`, a `Criterion`, `Criteria` for each condition
"""

from kalos_core.convergence.criteria import Criteria, Criterion, check_convergence
from kalos_core.convergence.interval import FEW_IMAGES, SHARES, LabelConvergence, SubsetSize, label_convergence
from kalos_core.convergence.models import read_models
from kalos_core.convergence.modified import SIZES, THRESHOLDS, ModifiedMap, modified_map
from kalos_core.convergence.predictions import PredictionMap, map_of_predictions
from kalos_core.convergence.regression import PUBLISHED_LINE, Line, fit_line
from kalos_core.convergence.replicates import Replicates
from kalos_core.convergence.spread import MEANINGS, Spread
from kalos_core.convergence.study import ConvergenceStudy, PlacedModel, TagConvergence, convergence_study

__all__ = [
    "FEW_IMAGES",
    "MEANINGS",
    "PUBLISHED_LINE",
    "SHARES",
    "SIZES",
    "THRESHOLDS",
    "ConvergenceStudy",
    "Criteria",
    "Criterion",
    "LabelConvergence",
    "Line",
    "ModifiedMap",
    "PlacedModel",
    "PredictionMap",
    "Replicates",
    "Spread",
    "SubsetSize",
    "TagConvergence",
    "check_convergence",
    "convergence_study",
    "fit_line",
    "label_convergence",
    "map_of_predictions",
    "modified_map",
    "read_models",
]
