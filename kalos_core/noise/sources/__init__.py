"""External knowledge for a noise model: which classes are similar, and what could be mistaken for an object.

Every source works offline. Your own source needs only the few members of `ClassSource` or `FalsePositiveSource`.

* Confusion of classes: `ClassSource`, `ConfusionClasses`, `EmbeddingClasses`, `TaxonomyClasses`; `Transitions`.
* Places of additions: `FalsePositiveSource`, `TransplantedFalsePositives`, `DetectedFalsePositives`,
  `ImageFalsePositives`, and the `Proposals` of each.
"""

from kalos_core.names import public_names
from kalos_core.noise.sources.classes import ClassSource as ClassSource
from kalos_core.noise.sources.classes import ConfusionClasses as ConfusionClasses
from kalos_core.noise.sources.classes import EmbeddingClasses as EmbeddingClasses
from kalos_core.noise.sources.classes import TaxonomyClasses as TaxonomyClasses
from kalos_core.noise.sources.classes import Transitions as Transitions
from kalos_core.noise.sources.false_positives import DetectedFalsePositives as DetectedFalsePositives
from kalos_core.noise.sources.false_positives import FalsePositiveSource as FalsePositiveSource
from kalos_core.noise.sources.false_positives import ImageFalsePositives as ImageFalsePositives
from kalos_core.noise.sources.false_positives import Proposals as Proposals
from kalos_core.noise.sources.false_positives import TransplantedFalsePositives as TransplantedFalsePositives

__all__ = public_names(vars())
