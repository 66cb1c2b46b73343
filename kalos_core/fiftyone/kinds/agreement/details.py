"""What a run of agreement stores: the numbers of its summary, and those that lie behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypedDict

from kalos_core._agreement import Agreement
from kalos_core.diagnostics import (
    class_difficulty,
    collaboration,
    intra_rater,
    rater_vitality,
    sensitivity,
    team_agreement,
)
from kalos_core.errors import InputError
from kalos_core.fiftyone.runs.plain import plain

STRICT = 0.9
"""The strict threshold of localization sensitivity, unless the run's own is stricter."""

Ends = list[float | None]
"""Both ends of an interval; None where undefined."""


class AgreementSettings(TypedDict):
    """How raters were matched, as in `kalos_core.agreement`."""

    similarity: str
    threshold: float
    solver: str
    cost: str
    bootstrap: int
    seed: int


class AgreementMetrics(TypedDict):
    """The summary of an agreement; None for what is undefined."""

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


class SensitivityDetails(TypedDict, total=False):
    """`kalos_core.Sensitivity` as plain values but for the alphas of images, or why there is none."""

    reason: str
    threshold: list[float]
    alpha: list[float | None]
    alpha_interval: list[Ends]
    anchor: float
    calibrated: bool
    strict: float
    delta: float | None
    delta_interval: Ends


class ClassDetails(TypedDict, total=False):
    """`kalos_core.ClassDifficulty` as plain values, or why there is none."""

    reason: str
    category: list[str]
    alpha: list[float | None]
    alpha_interval: list[Ends]
    global_alpha: list[float | None]
    global_alpha_interval: list[Ends]
    images: list[int]
    units: list[int]


class VitalityDetails(TypedDict, total=False):
    """`kalos_core.RaterVitality` as plain values, or why there is none."""

    reason: str
    rater: list[str]
    vitality: list[float | None]
    vitality_interval: list[Ends]
    images: list[int]
    global_rematched: list[float | None]
    global_rematched_interval: list[Ends]


class CollaborationDetails(TypedDict, total=False):
    """`kalos_core.Collaboration` as plain values, or why there is none."""

    reason: str
    raters: list[str]
    alpha: list[list[float | None]]
    alpha_interval: list[list[Ends]]
    global_alpha: list[list[float | None]]
    global_alpha_interval: list[list[Ends]]
    images: list[list[int]]
    order: list[int]


class SessionDetails(TypedDict, total=False):
    """`kalos_core.IntraRater` or `kalos_core.TeamAgreement` as plain values, or why there is none."""

    reason: str
    person: list[str]
    session: list[str]
    alpha: list[float | None]
    alpha_interval: list[Ends]
    images: list[int]


class AgreementDetails(TypedDict):
    """Alpha of every image, and all diagnostics of an agreement."""

    image_alpha: list[float | None]
    sensitivity: SensitivityDetails
    class_difficulty: ClassDetails
    vitality: VitalityDetails
    collaboration: CollaborationDetails
    intra_rater: SessionDetails
    team_agreement: SessionDetails


def agreement_metrics(result: Agreement) -> AgreementMetrics:
    """The summary of an agreement."""
    annotations = result.annotations
    return {
        "notation": result.notation,
        "alpha": plain(result.alpha),
        "alpha_interval": plain(result.alpha_interval),
        "median_alpha": plain(result.median_alpha),
        "global_alpha": plain(result.global_alpha),
        "global_alpha_interval": plain(result.global_alpha_interval),
        "band": result.band,
        "convergence_band": result.convergence_band,
        "alpha_without_empty": plain(result.alpha_without_empty),
        "images": len(annotations.images),
        "defined_images": result.defined_images,
        "undefined_images": result.undefined_images,
        "empty_images": result.empty_images,
        "annotations": len(annotations),
        "units": len(result.units),
        "raters": list(annotations.raters),
    }


def agreement_details(
    result: Agreement, thresholds: Sequence[float], calibrated: float | None = None
) -> AgreementDetails:
    """All diagnostics of an agreement as plain values, None for what is undefined.

    Parameters
    ----------
    result : Agreement
        Its pairs go down to the least of `thresholds`, and to `calibrated`.
    thresholds : (T,) float
        Of the sensitivity curve; empty for none.
    calibrated : float, optional
        The threshold that was chosen from a calibration: the loss begins there, else at the threshold of the result.

    Returns
    -------
    dict
        Of each diagnostic the fields of its result in `kalos_core.diagnostics`, or ``{"reason": ...}`` where it is
        refused.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
    >>> details = agreement_details(agreement(Annotations.from_rows(rows)), [])
    >>> details["class_difficulty"]["alpha"], details["vitality"]["reason"][:44]
    ([1.0], 'vitality: expected at least three raters, si')
    """
    chosen = result.configuration
    anchor = chosen.threshold if calibrated is None else calibrated

    def curve(agreed: Agreement) -> Any:
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

    over_thresholds = _or_reason(curve, result)
    over_thresholds.pop("image_alpha", None)  # as many values as images for each threshold, which nothing shows
    return {
        "image_alpha": plain(result.image_alpha),
        "sensitivity": over_thresholds,
        "class_difficulty": _or_reason(class_difficulty, result),
        "vitality": _or_reason(rater_vitality, result),
        "collaboration": _or_reason(collaboration, result),
        "intra_rater": _or_reason(intra_rater, result),
        "team_agreement": _or_reason(team_agreement, result),
    }


def _or_reason(part: Callable[[Agreement], Any], result: Agreement) -> Any:
    """The fields of a diagnostic; why there is none where it is undefined for these raters."""
    try:
        return plain(part(result))
    except InputError as error:
        return {"reason": str(error)}
