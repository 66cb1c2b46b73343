"""The empirical noise generator (KαLOS §9): how raters differ, fitted to real ones, and raters drawn from it.

A difference is of one of four kinds: a mark in another place or of another size, of another class, missed or added,
split or merged. `NoiseModel` holds the distributions of all four; `NoiseModel.fit` estimates them from the raters of a data set.
"""

from kalos_core.noise.events import Events, SignalLoss
from kalos_core.noise.fit.goodness import FitTests
from kalos_core.noise.generated import GeneratedRaters
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
    "FitTests",
    "GeneratedRaters",
    "ImageFalsePositives",
    "NoiseModel",
    "Proposals",
    "Provenance",
    "SignalLoss",
    "TaxonomyClasses",
    "TransplantedFalsePositives",
]
