"""One truth from several raters: of pixels, of classes of pixels, and of objects.

* Of pixels: `estimate_truths`, `Truths` of all images of a study by the name of a method in `TRUTH_METHODS`,
  outliers decided over all of them (`study_outliers`); `estimate_truth` of one image, or `vote`, `vote_any`,
  `vote_without_outliers`, `staple`, `simple`, `lsml`; each gives a `Truth`.
  Raters against the truths of many images: `CountedTruth`.
* Of label maps: `class_truth`, `ClassTruth`; all classes at once: `staple_classes`, `ClassStaple`.
* Of objects: `instance_consensus`, `InstanceConsensus`, `OUTCOMES`; who is right about them: `unit_truth`, `UnitTruth`.
"""

from kalos_core.consensus._lsml import lsml
from kalos_core.consensus._simple import simple
from kalos_core.consensus._staple import staple
from kalos_core.consensus.classes import ClassTruth, class_truth
from kalos_core.consensus.counted import CountedTruth
from kalos_core.consensus.instances import OUTCOMES, InstanceConsensus, instance_consensus
from kalos_core.consensus.methods import TRUTH_METHODS, estimate_truth
from kalos_core.consensus.multiclass import ClassStaple, staple_classes
from kalos_core.consensus.objects import UnitTruth, unit_truth
from kalos_core.consensus.study import Truths, estimate_truths, study_outliers
from kalos_core.consensus.truth import Truth
from kalos_core.consensus.voting import vote, vote_any, vote_without_outliers

__all__ = [
    "OUTCOMES",
    "TRUTH_METHODS",
    "ClassStaple",
    "ClassTruth",
    "CountedTruth",
    "InstanceConsensus",
    "Truth",
    "Truths",
    "UnitTruth",
    "class_truth",
    "estimate_truth",
    "estimate_truths",
    "instance_consensus",
    "lsml",
    "simple",
    "staple",
    "staple_classes",
    "study_outliers",
    "unit_truth",
    "vote",
    "vote_any",
    "vote_without_outliers",
]
