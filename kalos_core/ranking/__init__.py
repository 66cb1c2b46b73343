"""How classifiers, detectors and models rank under each truth, and how far these rankings agree.

* Classifiers of image-level labels: `rank_systems`, `SystemRanking`, `SystemScores`, `ConceptTruths`.
* Detectors of pixels: `DetectorAccumulator`, `DetectorRanking`, `rank_over_classes`; precision over a range of skew:
  `skew_range`, `mean_precision`, `curve_area`.
* Models that detect objects: `rank_models`, `ModelRanking`.
* What they share: `Rankings`, `concordance`, `Concordance`.
"""

from kalos_core.ranking.accumulator import DetectorAccumulator
from kalos_core.ranking.detectors import DetectorRanking, rank_over_classes
from kalos_core.ranking.models import ModelRanking, rank_models
from kalos_core.ranking.ranks import Concordance, Rankings, concordance
from kalos_core.ranking.scores import ConceptTruths, SystemScores
from kalos_core.ranking.skew import curve_area, mean_precision, skew_range
from kalos_core.ranking.systems import SystemRanking, rank_systems

__all__ = [
    "ConceptTruths",
    "Concordance",
    "DetectorAccumulator",
    "DetectorRanking",
    "ModelRanking",
    "Rankings",
    "SystemRanking",
    "SystemScores",
    "concordance",
    "curve_area",
    "mean_precision",
    "rank_models",
    "rank_over_classes",
    "rank_systems",
    "skew_range",
]
