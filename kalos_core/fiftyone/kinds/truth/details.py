"""What a run of estimated truth stores: settings, metrics and details."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kalos_core.consensus import CountedTruth, InstanceConsensus
from kalos_core.nominal import LabelTruth


@dataclass(frozen=True, eq=False)
class ObjectTruth:
    """The numbers of an `InstanceConsensus`: `counts` by outcome, the mean `score`, and what it says of each rater.

    `estimate`: skill and confusion of each rater, where who is right was estimated; `overruled`: how many units it
    decides otherwise than most of their raters.
    """

    counts: dict[str, int]
    score: float
    sensitivity: NDArray[np.float64]
    ppv: NDArray[np.float64]
    estimate: LabelTruth | None = None
    overruled: int = 0

    @classmethod
    def of(cls, found: InstanceConsensus) -> ObjectTruth:
        """Of one consensus."""
        score = float(found.score.mean()) if len(found.score) else float("nan")
        numbers = cls(found.counts(), score, found.sensitivity, found.ppv)
        if found.truth is None:
            return numbers
        estimate, overruled = found.truth.estimate.without_items(), int(found.truth.overruled.sum())
        return replace(numbers, estimate=estimate, overruled=overruled)


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
