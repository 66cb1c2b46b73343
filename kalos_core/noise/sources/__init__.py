"""What a noise model cannot know: which classes are alike, and where something could be mistaken for an object.

Every source works offline; one of your own needs the few members of `ClassSource` or `FalsePositiveSource`.

* Which classes are mistaken: `ClassSource`, `ConfusionClasses`, `EmbeddingClasses`, `TaxonomyClasses`; `Transitions`.
* Where annotations are added: `FalsePositiveSource`, `TransplantedFalsePositives`, `DetectedFalsePositives`,
  `ImageFalsePositives`, and the `Proposals` of each.
"""

from kalos_core.noise.sources.classes import (
    ClassSource,
    ConfusionClasses,
    EmbeddingClasses,
    TaxonomyClasses,
    Transitions,
)
from kalos_core.noise.sources.false_positives import (
    DetectedFalsePositives,
    FalsePositiveSource,
    ImageFalsePositives,
    Proposals,
    TransplantedFalsePositives,
)

__all__ = [
    "ClassSource",
    "ConfusionClasses",
    "DetectedFalsePositives",
    "EmbeddingClasses",
    "FalsePositiveSource",
    "ImageFalsePositives",
    "Proposals",
    "TaxonomyClasses",
    "Transitions",
    "TransplantedFalsePositives",
]
