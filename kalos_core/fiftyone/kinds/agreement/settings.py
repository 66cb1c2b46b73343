"""Settings, metrics and details of an agreement run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Any, TypedDict, cast

from kalos_core._agreement import Agreement, AgreementSettings
from kalos_core.chance.distances import MetricName
from kalos_core.diagnostics import Diagnosis
from kalos_core.diagnostics.thresholds import THRESHOLDS
from kalos_core.errors import check_iterable, check_text
from kalos_core.fiftyone.runs.progress import RunArguments
from kalos_core.fiftyone.runs.table import Run
from kalos_core.nominal import GradeAgreement
from kalos_core.options import Option
from kalos_core.pixels.boundaries import TOLERANCE, Tolerance
from kalos_core.similarity.base import Thresholds

Attributes = Sequence[str] | Mapping[str, str | Sequence[str | float] | None]
"""Names of attributes, or name -> metric, or name -> values from lowest to highest; None for the default."""


class AttributeRecord(TypedDict):
    """An attribute to compare, its metric, and the given order of its values."""

    name: str
    metric: MetricName | None
    order: list[Any] | None


def attribute_records(attributes: Any, name: str = "attributes") -> list[AttributeRecord]:
    """Convert attributes to records of plain values; records are returned unchanged.

    Examples
    --------
    >>> attribute_records({"malignancy": "interval", "margin": ["poor", "sharp"]})[1]
    {'name': 'margin', 'metric': None, 'order': ['poor', 'sharp']}
    """
    if isinstance(attributes, Mapping):
        return [_record(check_text(of, name), how) for of, how in attributes.items()]
    given = check_iterable(attributes, name, "names, or a mapping of names to metrics or orders")
    return [cast(AttributeRecord, of) if isinstance(of, dict) else _record(check_text(of, name), None) for of in given]


def _record(name: str, how: Any) -> AttributeRecord:
    if how is None or isinstance(how, str):
        return {"name": name, "metric": cast("MetricName | None", how), "order": None}  # checked when it is used
    order = list(check_iterable(how, "attributes", f"a metric of {name}, or its values from lowest to highest"))
    return {"name": name, "metric": None, "order": order}


@dataclass(frozen=True)
class AgreementRunSettings(AgreementSettings):
    """Settings of an agreement and of the additional comparisons of its run.

    Examples
    --------
    >>> AgreementRunSettings(attributes=["grade"]).record()["attributes"]
    [{'name': 'grade', 'metric': None, 'order': None}]
    """

    _: KW_ONLY
    thresholds: Thresholds = THRESHOLDS
    boundaries: Annotated[
        bool,
        Option(
            "Compare boundaries",
            "Distances in pixels between the outlines of the same object by two raters. The similarity must compare "
            "polygons or masks.",
        ),
    ] = False
    tolerance: Tolerance = TOLERANCE
    attributes: Annotated[
        Attributes,
        Option(
            "Attributes",
            "Values that raters gave the same object in addition to its class: names, or name to metric, or name to "
            "values from lowest to highest.",
            type="names, or mapping",
            check=attribute_records,
        ),
    ] = ()


@dataclass(frozen=True)
class AgreementRunArguments(AgreementRunSettings, RunArguments):
    """Arguments of `compute_agreement`."""


def matching(settings: Mapping[str, Any]) -> AgreementSettings:
    """Return the matching settings of a run from its stored settings."""
    return AgreementRunSettings.of(settings).part(AgreementSettings)


@dataclass(frozen=True, eq=False, repr=False)
class AgreementDetails(Diagnosis):
    """Details of an agreement run: the diagnostics, and the agreement on the compared attributes."""

    attributes: list[GradeAgreement] = field(default_factory=list)


AgreementRun = Run[dict[str, Any], dict[str, Any], AgreementDetails, Agreement]
