"""Empirical noise generator (KαLOS §9): a model of how raters differ, fitted to real raters, that generates raters.

A difference is one of four kinds: another position or size, another class, missed or added, split or merged.

* The model: `NoiseModel` with `fit`, `generate`, `tests` and JSON; `DISTRIBUTIONS`, the names of its distributions, and
  `Provenance`, the source of each.
* Results: `GeneratedRaters` with `Events`, `RaterEvents` and `SignalLoss`; `InjectedNoise`, the same addressed by the
  ids of annotations stored elsewhere; `FitTests`; `Fidelity` with `FidelityRow`, a comparison of generated with real
  raters.
* Which classes are confused with one another: `ClassSource`, `ConfusionClasses`, `EmbeddingClasses`,
  `TaxonomyClasses`.
* Where false positives are added: `FalsePositiveSource`, `TransplantedFalsePositives`, `DetectedFalsePositives`,
  `ImageFalsePositives`, and the `Proposals` of each.

The experiments of the paper are in `kalos_core.noise.experiments`.
"""

from kalos_core.names import public_names
from kalos_core.noise.events import Events as Events
from kalos_core.noise.events import RaterEvents as RaterEvents
from kalos_core.noise.events import SignalLoss as SignalLoss
from kalos_core.noise.fidelity import Fidelity as Fidelity
from kalos_core.noise.fidelity import FidelityRow as FidelityRow
from kalos_core.noise.fit.goodness import FitTests as FitTests
from kalos_core.noise.generated import GeneratedRaters as GeneratedRaters
from kalos_core.noise.injected import InjectedNoise as InjectedNoise
from kalos_core.noise.model import NoiseModel as NoiseModel
from kalos_core.noise.parameters import DISTRIBUTIONS as DISTRIBUTIONS
from kalos_core.noise.parameters import Provenance as Provenance
from kalos_core.noise.sources import ClassSource as ClassSource
from kalos_core.noise.sources import ConfusionClasses as ConfusionClasses
from kalos_core.noise.sources import DetectedFalsePositives as DetectedFalsePositives
from kalos_core.noise.sources import EmbeddingClasses as EmbeddingClasses
from kalos_core.noise.sources import FalsePositiveSource as FalsePositiveSource
from kalos_core.noise.sources import ImageFalsePositives as ImageFalsePositives
from kalos_core.noise.sources import Proposals as Proposals
from kalos_core.noise.sources import TaxonomyClasses as TaxonomyClasses
from kalos_core.noise.sources import TransplantedFalsePositives as TransplantedFalsePositives

__all__ = public_names(vars())
