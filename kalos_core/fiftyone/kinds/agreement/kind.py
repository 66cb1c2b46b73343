"""Agreement as a kind of run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, cast

from kalos_core._agreement import Agreement, agreement
from kalos_core.diagnostics import Diagnosis
from kalos_core.errors import Undefined
from kalos_core.fiftyone.kinds.agreement.rerating import view_of_next
from kalos_core.fiftyone.kinds.agreement.views import (
    view_of_alpha,
    view_of_class,
    view_of_pair,
    view_of_threshold,
    view_worst_first,
)
from kalos_core.fiftyone.kinds.matched import matched_again, read_compared
from kalos_core.fiftyone.runs.changes import Changes
from kalos_core.fiftyone.runs.records import Ends, plain
from kalos_core.fiftyone.runs.table import Demo, Kind, Run, register
from kalos_core.nominal import GradeAgreement


class AgreementSettings(TypedDict):
    """How raters were matched, as in `kalos_core.agreement`."""

    similarity: str
    threshold: float
    solver: str
    cost: str
    bootstrap: int
    seed: int


class AttributeRecord(TypedDict):
    """An attribute that is compared, by which metric, and the stated order of its values."""

    name: str
    metric: str | None
    order: list[Any] | None


class AgreementMetrics(TypedDict):
    """`Agreement.summary` with the thresholds of the sensitivity; None for what is undefined.

    `tolerance`: of the surface Dice of boundaries, None where these were not compared. `attributes`: those that were
    compared.
    """

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
    tolerance: float | None
    attributes: list[AttributeRecord]


@dataclass(frozen=True, eq=False, repr=False)
class AgreementDetails(Diagnosis):
    """What lies behind an agreement: its diagnostics, and the attributes of its labels that were compared."""

    attributes: list[GradeAgreement] = field(default_factory=list)


def agreement_metrics(
    result: Agreement, details: Diagnosis, tolerance: float | None = None, attributes: Sequence[AttributeRecord] = ()
) -> AgreementMetrics:
    """The summary of an agreement."""
    curve = details.sensitivity
    thresholds = [] if isinstance(curve, Undefined) else plain(curve.threshold)
    beside = {"thresholds": thresholds, "tolerance": tolerance, "attributes": list(attributes)}
    return cast(AgreementMetrics, {**plain(result.summary()), **beside})


AgreementRun = Run[AgreementSettings, AgreementMetrics, AgreementDetails, Agreement]


def _restore(changes: Changes) -> Agreement:
    settings = changes.run.settings
    annotations, pairs = matched_again(changes, settings["similarity"])
    return agreement(annotations, **settings, pairs=pairs)


def _again(run: Run[Any, Any, Any, Any]) -> dict[str, Any]:
    tolerance = run.metrics.get("tolerance")  # a run of an earlier version has none
    boundaries = {} if tolerance is None else {"boundaries": True, "tolerance": tolerance}
    compared = run.metrics.get("attributes", ())
    attributes = {of["name"]: of["order"] if of["order"] is not None else of["metric"] for of in compared}
    return {**run.settings, "thresholds": run.metrics["thresholds"], **boundaries, "attributes": attributes}


def _written(run: Run[Any, Any, Any, Any]) -> str:
    boundary = "" if run.metrics.get("tolerance") is None else f" and {run.names.boundary!r}"
    attributes = f" and {run.names.attributes!r}" if run.metrics.get("attributes") else ""
    own = f"{run.names.alpha!r}{boundary}{attributes} on samples, with those of classes, raters and thresholds"
    return f"{own}, and {run.names.unit!r} on labels"


AGREEMENT: Kind[AgreementSettings, AgreementMetrics, AgreementDetails, Agreement] = register(
    Kind(
        name="agreement",
        title="Agreement",
        operator="compute_agreement",
        section="Overview",
        suffix="agreement",
        again=_again,
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
