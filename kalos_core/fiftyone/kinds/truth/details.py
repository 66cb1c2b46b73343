"""Details that a run of estimated truth stores."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kalos_core.consensus import CountedTruth, InstanceConsensus
from kalos_core.nominal import LabelTruth


@dataclass(frozen=True, eq=False)
class ObjectTruth:
    """Numbers of an `InstanceConsensus`: `counts` by outcome, the mean `score`, and `sensitivity` and `ppv` by rater.

    If the run estimated who is right, `estimate` holds the skill and confusion of each rater. `overruled` is then the
    number of units that are decided against the majority of their raters.
    """

    counts: dict[str, int]
    score: float
    sensitivity: NDArray[np.float64]
    ppv: NDArray[np.float64]
    estimate: LabelTruth | None = None
    overruled: int = 0

    @classmethod
    def of(cls, found: InstanceConsensus) -> ObjectTruth:
        """Return the numbers of one consensus."""
        score = float(found.score.mean()) if len(found.score) else float("nan")
        numbers = cls(found.counts(), score, found.sensitivity, found.ppv)
        if found.truth is None:
            return numbers
        estimate, overruled = found.truth.estimate.without_items(), int(found.truth.overruled.sum())
        return replace(numbers, estimate=estimate, overruled=overruled)


@dataclass(frozen=True, eq=False)
class TruthDetails:
    """Details of a run of estimated truth.

    Parameters
    ----------
    truths : dict
        Name of an estimate -> its numbers; pixels of several classes have one for each class, such as "staple, road".
    outliers : dict
        Class -> outlying raters over all images, whom ``"excl-0.5"`` leaves out.
    notes : list of str
        Notes on the estimates of single images.
    """

    truths: dict[str, CountedTruth | ObjectTruth]
    outliers: dict[str, list[str]]
    notes: list[str]
