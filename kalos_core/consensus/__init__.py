"""Ground-truth estimation from several raters: for pixels, classes of pixels, and objects.

* Pixels: `estimate_truths` estimates `Truths` for all images of a study, by the name of a method in `TRUTH_METHODS`.
  Outliers are decided over all images (`study_outliers`). For one image use `estimate_truth`, or `vote`, `vote_any`,
  `vote_without_outliers`, `staple`, `simple`, `lsml`; each returns a `Truth`.
  `CountedTruth` compares raters with the ground truths of many images.
* Label maps: `class_truth` -> `ClassTruth`; all classes at once: `staple_classes` -> `ClassStaple`.
* Objects: `instance_consensus` -> `InstanceConsensus`, `OUTCOMES`; class and existence of units: `unit_truth` ->
  `UnitTruth`.
"""

from kalos_core.consensus._lsml import lsml as lsml
from kalos_core.consensus._simple import simple as simple
from kalos_core.consensus._staple import staple as staple
from kalos_core.consensus.classes import ClassTruth as ClassTruth
from kalos_core.consensus.classes import class_truth as class_truth
from kalos_core.consensus.counted import CountedTruth as CountedTruth
from kalos_core.consensus.instances import OUTCOMES as OUTCOMES
from kalos_core.consensus.instances import InstanceConsensus as InstanceConsensus
from kalos_core.consensus.instances import instance_consensus as instance_consensus
from kalos_core.consensus.methods import TRUTH_METHODS as TRUTH_METHODS
from kalos_core.consensus.methods import estimate_truth as estimate_truth
from kalos_core.consensus.multiclass import ClassStaple as ClassStaple
from kalos_core.consensus.multiclass import staple_classes as staple_classes
from kalos_core.consensus.objects import UnitTruth as UnitTruth
from kalos_core.consensus.objects import unit_truth as unit_truth
from kalos_core.consensus.study import Truths as Truths
from kalos_core.consensus.study import estimate_truths as estimate_truths
from kalos_core.consensus.study import study_outliers as study_outliers
from kalos_core.consensus.truth import Truth as Truth
from kalos_core.consensus.voting import vote as vote
from kalos_core.consensus.voting import vote_any as vote_any
from kalos_core.consensus.voting import vote_without_outliers as vote_without_outliers
from kalos_core.names import public_names

__all__ = public_names(vars())
