"""What a run of agreement stores: the numbers of its summary; its details are a `Diagnosis`."""

from __future__ import annotations

from typing import TypedDict, cast

from kalos_core._agreement import Agreement
from kalos_core.diagnostics import Diagnosis
from kalos_core.errors import Undefined
from kalos_core.fiftyone.runs.records import Ends, plain


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


def agreement_metrics(result: Agreement, details: Diagnosis) -> AgreementMetrics:
    """The summary of an agreement."""
    curve = details.sensitivity
    thresholds = [] if isinstance(curve, Undefined) else plain(curve.threshold)
    return cast(AgreementMetrics, {**plain(result.summary()), "thresholds": thresholds})
