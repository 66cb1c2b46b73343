"""What a run of agreement stores: the numbers of its summary, and those that lie behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement
from kalos_core.diagnostics import (
    ClassDifficulty,
    Collaboration,
    IntraRater,
    RaterVitality,
    Sensitivity,
    TeamAgreement,
    class_difficulty,
    collaboration,
    intra_rater,
    rater_vitality,
    sensitivity,
    team_agreement,
)
from kalos_core.errors import InputError
from kalos_core.fiftyone.runs.records import Ends, Undefined, or_reason, plain

STRICT = 0.9
"""The strict threshold of localization sensitivity, unless the run's own is stricter."""


class AgreementSettings(TypedDict):
    """How raters were matched, as in `kalos_core.agreement`."""

    similarity: str
    threshold: float
    solver: str
    cost: str
    bootstrap: int
    seed: int


class AgreementMetrics(TypedDict):
    """`Agreement.summary` with the thresholds of the sensitivity; None for what is undefined."""

    notation: str
    alpha: float | None
    alpha_interval: Ends
    median_alpha: float | None
    global_alpha: float | None
    global_alpha_interval: Ends
    band: str
    convergence_band: str
    alpha_without_empty: float | None
    images: int
    defined_images: int
    undefined_images: int
    empty_images: int
    annotations: int
    units: int
    raters: list[str]
    note: str
    thresholds: list[float]


@dataclass(frozen=True, eq=False)
class AgreementDetails:
    """Alpha of every image, and each diagnostic of an agreement or why there is none."""

    image_alpha: NDArray[np.float64]
    sensitivity: Sensitivity | Undefined
    class_difficulty: ClassDifficulty | Undefined
    vitality: RaterVitality | Undefined
    collaboration: Collaboration | Undefined
    intra_rater: IntraRater | Undefined
    team_agreement: TeamAgreement | Undefined

    def stored(self) -> AgreementDetails:
        """The same without alphas of images at each threshold, which stand on the samples."""
        if isinstance(self.sensitivity, Undefined):
            return self
        nothing = np.empty((len(self.sensitivity.threshold), 0))
        return replace(self, sensitivity=replace(self.sensitivity, image_alpha=nothing))


def agreement_metrics(result: Agreement, details: AgreementDetails) -> AgreementMetrics:
    """The summary of an agreement."""
    curve = details.sensitivity
    thresholds = [] if isinstance(curve, Undefined) else plain(curve.threshold)
    return cast(AgreementMetrics, {**plain(result.summary()), "thresholds": thresholds})


def agreement_details(
    result: Agreement, thresholds: Sequence[float], calibrated: float | None = None
) -> AgreementDetails:
    """All diagnostics of an agreement.

    Parameters
    ----------
    result : Agreement
        Its pairs go down to the least of `thresholds`, and to `calibrated`.
    thresholds : (T,) float
        Of the sensitivity curve; empty for none.
    calibrated : float, optional
        The threshold that was chosen from a calibration: the loss begins there, else at the threshold of the result.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
    >>> details = agreement_details(agreement(Annotations.from_rows(rows)), [])
    >>> details.class_difficulty.alpha.tolist(), details.vitality.reason[:44]
    ([1.0], 'vitality: expected at least three raters, si')
    """
    chosen = result.configuration
    anchor = chosen.threshold if calibrated is None else calibrated

    def curve(agreed: Agreement) -> Sensitivity:
        if not len(thresholds):
            raise InputError("sensitivity: not asked for in this run (thresholds)")
        found = sensitivity(
            agreed.annotations,
            thresholds,
            anchor=anchor,
            strict=max(STRICT, anchor),
            similarity=chosen.similarity,
            solver=chosen.solver,
            cost=chosen.cost,
            bootstrap=chosen.bootstrap,
            seed=chosen.seed,
            pairs=agreed.pairs,
        )
        return replace(found, calibrated=calibrated is not None)

    return AgreementDetails(
        image_alpha=result.image_alpha,
        sensitivity=or_reason(curve, result),
        class_difficulty=or_reason(class_difficulty, result),
        vitality=or_reason(rater_vitality, result),
        collaboration=or_reason(collaboration, result),
        intra_rater=or_reason(intra_rater, result),
        team_agreement=or_reason(team_agreement, result),
    )
