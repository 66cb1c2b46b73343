"""What the noise model cannot know: which classes are alike, and where something could be mistaken for an object.

Every source works offline; one of your own needs the few members of `ClassSource` or `GhostSource`.
"""

from kalos_core.noise.sources.classes import (
    ClassSource,
    ConfusionClasses,
    EmbeddingClasses,
    TaxonomyClasses,
    Transitions,
)
from kalos_core.noise.sources.ghosts import DetectedGhosts, GhostSource, PictureGhosts, Proposals, TransplantedGhosts

__all__ = [
    "ClassSource",
    "ConfusionClasses",
    "DetectedGhosts",
    "EmbeddingClasses",
    "GhostSource",
    "PictureGhosts",
    "Proposals",
    "TaxonomyClasses",
    "Transitions",
    "TransplantedGhosts",
]
