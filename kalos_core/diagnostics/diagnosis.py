"""All diagnostics of an agreement at once, each with its result or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, agreement_of
from kalos_core.arrays import give_back_memory
from kalos_core.diagnostics.classes import ClassDifficulty
from kalos_core.diagnostics.rater_pairs import Collaboration
from kalos_core.diagnostics.sessions import IntraRater, TeamAgreement, intra_rater, team_agreement
from kalos_core.diagnostics.sums import ImageSums
from kalos_core.diagnostics.thresholds import THRESHOLDS, Sensitivity, sensitivity
from kalos_core.diagnostics.vitality import RaterVitality
from kalos_core.errors import InputError, Undefined, or_reason
from kalos_core.options import checked
from kalos_core.results import Parts
from kalos_core.similarity.base import Thresholds

STRICT = 0.9
"""Strict threshold of localization sensitivity, unless the agreement's own threshold is stricter."""


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Parts):
    """Image alphas of an agreement, and each diagnostic or the reason why there is none.

    Figures: ``"class_difficulty"``, ``"sensitivity"``, ``"collaboration"``, ``"vitality"``, ``"intra_rater"``,
    ``"team_agreement"``, if they are defined.

    Parameters
    ----------
    image_alpha : (I,) float64
    class_difficulty, sensitivity, collaboration, vitality, intra_rater, team_agreement
        Results of the functions of these names, or `Undefined`.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
    >>> found = diagnose(agreement(Annotations.from_rows(rows)))
    >>> found.sensitivity.image_alpha.shape, found.without_image_alphas().sensitivity.image_alpha.shape
    ((9, 1), (9, 0))
    """

    _call = "diagnose(agreement)"

    image_alpha: NDArray[np.float64]
    class_difficulty: ClassDifficulty | Undefined
    sensitivity: Sensitivity | Undefined
    collaboration: Collaboration | Undefined
    vitality: RaterVitality | Undefined
    intra_rater: IntraRater | Undefined
    team_agreement: TeamAgreement | Undefined

    def without_image_alphas(self) -> Diagnosis:
        """Copy without image alphas at each threshold, which hold a number for each image and threshold."""
        if isinstance(self.sensitivity, Undefined):
            return self
        nothing = np.empty((len(self.sensitivity.threshold), 0))
        return replace(self, sensitivity=replace(self.sensitivity, image_alpha=nothing))


@checked
def diagnose(
    result: Agreement,
    thresholds: Thresholds = THRESHOLDS,
    calibrated: float | None = None,
    sums: ImageSums | None = None,
) -> Diagnosis:
    """Compute all diagnostics of an agreement; those its raters do not allow are `Undefined`, with the reason.

    Parameters
    ----------
    result : Agreement
        Its pairs are reused for the sensitivity if they reach down to the least of `thresholds` and to `calibrated`.
    thresholds : (T,) float
        Thresholds of the sensitivity curve; empty for no curve.
    calibrated : float, optional
        Threshold chosen from a calibration, at which the loss begins; by default the threshold of the result.
    sums : ImageSums, optional
        Precomputed sums of the result.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
    >>> found = diagnose(agreement(Annotations.from_rows(rows)), [])
    >>> found.class_difficulty.alpha.tolist(), found.vitality.reason[:44]
    ([1.0], 'vitality: expected at least three raters, si')
    """
    result = agreement_of(result)
    chosen = result.configuration
    anchor = chosen.threshold if calibrated is None else calibrated

    def curve(agreed: Agreement) -> Sensitivity:
        if not len(thresholds):
            raise InputError("sensitivity: expected thresholds to be given, got none")
        found = sensitivity(
            agreed.source,
            thresholds,
            anchor=anchor,
            strict=max(STRICT, anchor),
            similarity=chosen.similarity if agreed.of_shards is None else agreed.of_shards.measure,
            solver=chosen.solver,
            cost=chosen.cost,
            bootstrap=chosen.bootstrap,
            seed=chosen.seed,
            pairs=agreed.pairs if min(anchor, *thresholds) >= agreed.pairs.floor and not agreed.of_shards else None,
        )
        return replace(found, calibrated=calibrated is not None)

    over_thresholds = or_reason(curve, result)
    sums = ImageSums.of(result) if sums is None else sums
    give_back_memory()
    return Diagnosis(
        image_alpha=result.image_alpha,
        sensitivity=over_thresholds,
        class_difficulty=sums.class_difficulty,
        vitality=sums.vitality,
        collaboration=sums.collaboration,
        intra_rater=or_reason(intra_rater, result),
        team_agreement=or_reason(team_agreement, result),
    )
