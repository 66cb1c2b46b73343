"""Label convergence: the ceiling that disagreement puts on any model's mAP (Tschirschwitz & Rodehorst, WACV 2025).

* ceiling: `label_convergence` -> `LabelConvergence`, with its `Replicates` and their `Spread`; `SHARES`,
  `MEANINGS`
* raters against raters: `modified_map` -> `ModifiedMap`; `THRESHOLDS`, `SIZES`
* line from alpha to mAP, for one data set or several pooled: `fit_line` -> `Line`, `PUBLISHED_LINE`
* models: `map_of_predictions` -> `PredictionMap`, `read_models`
* study of tags, models and the check-list: `convergence_study` -> `ConvergenceStudy`, made of `TagConvergence`,
  `PlacedModel` and `SubsetSize`
* check-list of exclusion criteria: `check_convergence` -> `Criteria`, one `Criterion` for each condition
"""

from kalos_core.convergence.criteria import Criteria as Criteria
from kalos_core.convergence.criteria import Criterion as Criterion
from kalos_core.convergence.criteria import check_convergence as check_convergence
from kalos_core.convergence.interval import SHARES as SHARES
from kalos_core.convergence.interval import LabelConvergence as LabelConvergence
from kalos_core.convergence.interval import SubsetSize as SubsetSize
from kalos_core.convergence.interval import label_convergence as label_convergence
from kalos_core.convergence.models import read_models as read_models
from kalos_core.convergence.modified import SIZES as SIZES
from kalos_core.convergence.modified import THRESHOLDS as THRESHOLDS
from kalos_core.convergence.modified import ModifiedMap as ModifiedMap
from kalos_core.convergence.modified import modified_map as modified_map
from kalos_core.convergence.predictions import PredictionMap as PredictionMap
from kalos_core.convergence.predictions import map_of_predictions as map_of_predictions
from kalos_core.convergence.regression import PUBLISHED_LINE as PUBLISHED_LINE
from kalos_core.convergence.regression import Line as Line
from kalos_core.convergence.regression import fit_line as fit_line
from kalos_core.convergence.replicates import Replicates as Replicates
from kalos_core.convergence.spread import MEANINGS as MEANINGS
from kalos_core.convergence.spread import Spread as Spread
from kalos_core.convergence.study import ConvergenceStudy as ConvergenceStudy
from kalos_core.convergence.study import PlacedModel as PlacedModel
from kalos_core.convergence.study import TagConvergence as TagConvergence
from kalos_core.convergence.study import convergence_study as convergence_study
from kalos_core.names import public_names

__all__ = public_names(vars())
