"""How classifiers, detectors and models rank under each truth, and how far these rankings agree.

* Classifiers of image-level labels: `rank_systems`, `SystemRanking`, `SystemScores`, `ConceptTruths`.
* Detectors of pixels: `DetectorAccumulator`, `DetectorRanking`, `rank_over_classes`; precision over a range of skew:
  `skew_range`, `mean_precision`, `curve_area`.
* Detectors of boundaries, by the Berkeley benchmark: `boundary_evaluation`, `BoundaryEvaluation`.
* Models that detect objects: `rank_models`, `ModelRanking`.
* What they share: `Rankings`, `concordance`, `Concordance`; which truths give one ranking: `shared_rankings`,
  `SharedRanking`.
"""

from kalos_core.ranking.accumulator import DetectorAccumulator
from kalos_core.ranking.boundaries import BoundaryEvaluation, boundary_evaluation
from kalos_core.ranking.detectors import DetectorRanking, rank_over_classes
from kalos_core.ranking.models import ModelRanking, rank_models
from kalos_core.ranking.ranks import Concordance, Rankings, concordance
from kalos_core.ranking.scores import ConceptTruths, SystemScores
from kalos_core.ranking.shared import SharedRanking, shared_rankings
from kalos_core.ranking.skew import curve_area, mean_precision, skew_range
from kalos_core.ranking.systems import SystemRanking, rank_systems

__all__ = [
    "BoundaryEvaluation",
    "ConceptTruths",
    "Concordance",
    "DetectorAccumulator",
    "DetectorRanking",
    "ModelRanking",
    "Rankings",
    "SharedRanking",
    "SystemRanking",
    "SystemScores",
    "boundary_evaluation",
    "concordance",
    "curve_area",
    "mean_precision",
    "rank_models",
    "rank_over_classes",
    "rank_systems",
    "shared_rankings",
    "skew_range",
]
