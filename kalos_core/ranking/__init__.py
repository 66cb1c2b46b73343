"""Rankings of classifiers, detectors and models under each reference, and the agreement of these rankings.

* Classifiers of image-level labels: `rank_systems`, `SystemRanking`, `SystemScores`, `ConceptTruths`.
* Detectors of pixels: `DetectorAccumulator`, `DetectorRanking`, `rank_over_classes`; precision over a range of skew:
  `skew_range`, `mean_precision`, `curve_area`.
* Detectors of boundaries, by the Berkeley benchmark: `boundary_evaluation`, `BoundaryEvaluation`.
* Models that detect objects: `rank_models`, `ModelRanking`.
* Common to all: `Rankings`, `concordance`, `Concordance`; truths that give the same ranking: `shared_rankings`,
  `SharedRanking`.
"""

from kalos_core.names import public_names
from kalos_core.ranking.accumulator import DetectorAccumulator as DetectorAccumulator
from kalos_core.ranking.boundaries import BoundaryEvaluation as BoundaryEvaluation
from kalos_core.ranking.boundaries import boundary_evaluation as boundary_evaluation
from kalos_core.ranking.detectors import DetectorRanking as DetectorRanking
from kalos_core.ranking.detectors import rank_over_classes as rank_over_classes
from kalos_core.ranking.models import ModelRanking as ModelRanking
from kalos_core.ranking.models import rank_models as rank_models
from kalos_core.ranking.ranks import Concordance as Concordance
from kalos_core.ranking.ranks import Rankings as Rankings
from kalos_core.ranking.ranks import concordance as concordance
from kalos_core.ranking.scores import ConceptTruths as ConceptTruths
from kalos_core.ranking.scores import SystemScores as SystemScores
from kalos_core.ranking.shared import SharedRanking as SharedRanking
from kalos_core.ranking.shared import shared_rankings as shared_rankings
from kalos_core.ranking.skew import curve_area as curve_area
from kalos_core.ranking.skew import mean_precision as mean_precision
from kalos_core.ranking.skew import skew_range as skew_range
from kalos_core.ranking.systems import SystemRanking as SystemRanking
from kalos_core.ranking.systems import rank_systems as rank_systems

__all__ = public_names(vars())
