"""What a run of estimated truth stores: settings, metrics and details."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from kalos_core.consensus import CountedTruth, InstanceConsensus
from kalos_core.fiftyone.kinds.masked import MaskSettings


class PixelTruthSettings(MaskSettings):
    """How the truth of pixels was estimated: with local raters, outliers were decided image by image."""

    of: Literal["pixels"]
    methods: list[str]
    maps: bool


class ObjectTruthSettings(TypedDict):
    """How raters were matched on objects, and what became of the units."""

    of: Literal["objects"]
    similarity: str
    threshold: float
    solver: str
    cost: str
    ties: str
    region: str
    quorum: list[float]


TruthSettings = PixelTruthSettings | ObjectTruthSettings


class TruthMetrics(TypedDict):
    """The summary of a run.

    `fields`: truth -> its field; `maps`: truth and what its map shows -> field; `raters`: none where they have no names
    over the images; `images`: how many have a truth of pixels, or somebody assigned who annotates objects.
    """

    of: Literal["pixels", "objects"]
    fields: dict[str, str]
    maps: dict[str, str]
    raters: list[str]
    images: int
    classes: list[str]


@dataclass(frozen=True, eq=False)
class ObjectTruth:
    """The numbers of an `InstanceConsensus`: `counts` by outcome, the mean `score`, and what it says of each rater."""

    counts: dict[str, int]
    score: float
    sensitivity: NDArray[np.float64]
    ppv: NDArray[np.float64]

    @classmethod
    def of(cls, found: InstanceConsensus) -> ObjectTruth:
        """Of one consensus."""
        score = float(found.score.mean()) if len(found.score) else float("nan")
        return cls(found.counts(), score, found.sensitivity, found.ppv)


@dataclass(frozen=True, eq=False)
class TruthDetails:
    """What a run knows of its truths.

    Parameters
    ----------
    truths : dict
        What each is called -> its numbers; of pixels of several classes a truth for each, such as "staple, road".
    outliers : dict
        Class -> the raters who stand out over all images, whom ``"excl-0.5"`` leaves out.
    notes : list of str
        On the truths of single images.
    """

    truths: dict[str, CountedTruth | ObjectTruth]
    outliers: dict[str, list[str]]
    notes: list[str]
