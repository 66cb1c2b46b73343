"""Agreement on an attribute of matched annotations: values that raters gave an object that they both annotated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from kalos_core._agreement import Agreement, check_agreement
from kalos_core.chance import METRICS
from kalos_core.chance.distances import MetricName
from kalos_core.errors import InputError, lookup
from kalos_core.limits import check_replicates
from kalos_core.nominal.graded import GradeAgreement, GradeSettings, agreement_of_grades
from kalos_core.nominal.values import encode_grades
from kalos_core.options import Option, checked, takes

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class AttributeSettings(GradeSettings):
    """Settings of the agreement on an attribute; the metric may depend on its values."""

    metric: Annotated[
        MetricName | None,
        Option(
            "Metric",
            "Metric of alpha; by default 'ordinal' for numbers and where there is an `order`, else 'nominal'.",
            choices=METRICS,
        ),
    ] = None  # type: ignore[assignment] # narrowed before it is used


@takes(AttributeSettings)
def attribute_agreement(agreement: Agreement, name: str, settings: AttributeSettings) -> GradeAgreement:
    """Compute the agreement of raters on an attribute of matched annotations, such as the malignancy of a nodule.

    The units are those of the agreement. A unit counts if at least two raters annotated it and gave the attribute.
    Whether there is an object at all is a matter of the agreement itself; a rater who annotated nothing has no grade.

    Parameters
    ----------
    agreement : Agreement
    name : str
        One of `Annotations.attributes`.

    Returns
    -------
    GradeAgreement
        Each row of its `values` is a unit. If raters are local to their image, there is no Conger's kappa, which needs
        the shares of each rater. Use the one-way `intraclass_correlation` of its `values` in this case.

    Raises
    ------
    InputError
        For an attribute that no annotation has, or values that do not fit the metric.

    Examples
    --------
    >>> from kalos_core import Annotations, agreement
    >>> rows = [
    ...     {"image": i, "rater": r, "category": "nodule", "box": [0, 0, 9, 9], "attributes": {"malignancy": grade}}
    ...     for r, grades in (("ann", [1, 3, 5, 4]), ("bob", [2, 3, 5, 5]))
    ...     for i, grade in enumerate(grades)
    ... ]
    >>> found = attribute_agreement(agreement(Annotations.from_rows(rows)), "malignancy", bootstrap=0)
    >>> round(found.alpha, 3), found.items
    (0.889, 4)
    """
    check_agreement(agreement)
    table = agreement.annotations
    if not table.attributes:
        raise InputError("agreement: expected annotations with attributes (Annotations.attributes), got none")
    given = lookup(table.attributes, name, "name")
    check_replicates(settings.bootstrap, len(table.images))
    values = np.full((len(agreement.units), len(table.raters)), None, dtype=object)
    values[agreement.unit_of, table.rater] = given
    metric = settings.metric or ("nominal" if settings.order is None and not _are_numbers(given) else "ordinal")
    grades = encode_grades(values, metric, settings.order)
    told = settings.part(GradeSettings, metric=metric)
    return agreement_of_grades(grades, told, agreement.units.image, name, not table.raters_are_local)


def _are_numbers(values: Iterable[Any]) -> bool:
    """Check whether all values present are numbers; booleans count as names."""
    return all(value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)) for value in values)


@checked
def attributes_table(found: Iterable[GradeAgreement]) -> pd.DataFrame:
    """Return the coefficients of several attributes, one row per coefficient.

    Examples
    --------
    >>> from kalos_core import Annotations, agreement
    >>> rows = [
    ...     {"image": i, "rater": r, "category": "cat", "box": [0, 0, 9, 9], "attributes": {"age": i + (r == i == 2)}}
    ...     for r in (1, 2)
    ...     for i in range(4)
    ... ]
    >>> found = attributes_table([attribute_agreement(agreement(Annotations.from_rows(rows)), "age", bootstrap=0)])
    >>> found[["attribute", "coefficient"]].values.tolist()
    [['age', 'alpha, ordinal'], ['age', 'AC2, quadratic'], ['age', "Conger's kappa, quadratic"]]
    """
    import pandas as pd

    columns = ["attribute", "coefficient", "value", "value_low", "value_high", "reason"]
    tables = [each.to_pandas().assign(attribute=each.name)[columns] for each in found]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)
