"""The empirical noise generator (KαLOS §9): how raters differ, fitted to real ones, and raters generated from it.

A difference is of one of four kinds: an annotation in another position or of another size, of another class, missed or
added, split or merged.

* The model: `NoiseModel` with `fit`, `generate`, `tests` and JSON; `DISTRIBUTIONS`, the names of its distributions, and
  `Provenance`, where each is from.
* What it returns: `GeneratedRaters` with `Events`, `RaterEvents` and `SignalLoss`; `InjectedNoise`, the same by the ids
  of annotations that are stored somewhere else; `FitTests`; `Fidelity`, whether generated raters
  differ as the real ones do, with `FidelityRow`.
* Which classes are mistaken for one another: `ClassSource`, `ConfusionClasses`, `EmbeddingClasses`, `TaxonomyClasses`.
* Where false positives are added: `FalsePositiveSource`, `TransplantedFalsePositives`, `DetectedFalsePositives`,
  `ImageFalsePositives`, and the `Proposals` of each.

The experiments of the paper are in `kalos_core.noise.experiments`.
"""

from kalos_core.noise.events import Events, RaterEvents, SignalLoss
from kalos_core.noise.fidelity import Fidelity, FidelityRow
from kalos_core.noise.fit.goodness import FitTests
from kalos_core.noise.generated import GeneratedRaters
from kalos_core.noise.injected import InjectedNoise
from kalos_core.noise.model import NoiseModel
from kalos_core.noise.parameters import DISTRIBUTIONS, Provenance
from kalos_core.noise.sources import (
    ClassSource,
    ConfusionClasses,
    DetectedFalsePositives,
    EmbeddingClasses,
    FalsePositiveSource,
    ImageFalsePositives,
    Proposals,
    TaxonomyClasses,
    TransplantedFalsePositives,
)

__all__ = [
    "DISTRIBUTIONS",
    "ClassSource",
    "ConfusionClasses",
    "DetectedFalsePositives",
    "EmbeddingClasses",
    "Events",
    "FalsePositiveSource",
    "Fidelity",
    "FidelityRow",
    "FitTests",
    "GeneratedRaters",
    "ImageFalsePositives",
    "InjectedNoise",
    "NoiseModel",
    "Proposals",
    "Provenance",
    "RaterEvents",
    "SignalLoss",
    "TaxonomyClasses",
    "TransplantedFalsePositives",
]
