"""Agreement as a kind of run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypedDict, cast

from kalos_core._agreement import Agreement, agreement
from kalos_core.diagnostics import Diagnosis
from kalos_core.errors import Undefined
from kalos_core.fiftyone.kinds.agreement.rerating import view_of_next
from kalos_core.fiftyone.kinds.agreement.settings import matching
from kalos_core.fiftyone.kinds.agreement.views import (
    view_of_alpha,
    view_of_class,
    view_of_pair,
    view_of_threshold,
    view_worst_first,
)
from kalos_core.fiftyone.kinds.matched import matched_again, read_compared
from kalos_core.fiftyone.runs.changes import Changes
from kalos_core.fiftyone.runs.records import Ends
from kalos_core.fiftyone.runs.table import Demo, Kind, Run, register
from kalos_core.nominal import GradeAgreement
from kalos_core.results import plain_values


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


@dataclass(frozen=True, eq=False, repr=False)
class AgreementDetails(Diagnosis):
    """What lies behind an agreement: its diagnostics, and the attributes of its labels that were compared."""

    attributes: list[GradeAgreement] = field(default_factory=list)


def agreement_metrics(result: Agreement, details: Diagnosis) -> AgreementMetrics:
    """The summary of an agreement."""
    curve = details.sensitivity
    thresholds = [] if isinstance(curve, Undefined) else plain_values(curve.threshold)
    return cast(AgreementMetrics, {**plain_values(result.summary()), "thresholds": thresholds})


AgreementRun = Run[dict[str, Any], AgreementMetrics, AgreementDetails, Agreement]


def _restore(changes: Changes) -> Agreement:
    chosen = matching(changes.run.settings)
    annotations, pairs = matched_again(changes, chosen.measure)
    return agreement(annotations, **chosen.record(), pairs=pairs)


def _written(run: Run[Any, Any, Any, Any]) -> str:
    boundary = f" and {run.names.boundary!r}" if run.settings["boundaries"] else ""
    attributes = f" and {run.names.attributes!r}" if run.settings["attributes"] else ""
    own = f"{run.names.alpha!r}{boundary}{attributes} on samples, with those of classes, raters and thresholds"
    return f"{own}, and {run.names.unit!r} on labels"


AGREEMENT: Kind[dict[str, Any], AgreementMetrics, AgreementDetails, Agreement] = register(
    Kind(
        name="agreement",
        title="Agreement",
        operator="compute_agreement",
        section="Overview",
        suffix="agreement",
        read=read_compared,
        restore=_restore,
        written=_written,
        demo=Demo(lambda run: f"\n{run.result}"),
        views={
            "alpha": view_of_alpha,
            "worst first": view_worst_first,
            "class": view_of_class,
            "pair": view_of_pair,
            "threshold": view_of_threshold,
            "next to rate": view_of_next,
        },
        details=AgreementDetails,
    )
)
