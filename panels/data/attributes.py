"""What raters said of the same object besides its class: agreement on each attribute, and the images behind it."""

from dataclasses import dataclass
from typing import Any

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.kinds.agreement.attributes import AttributeRow
from kalos_core.fiftyone.runs.analyses import AnyRun
from kalos_core.nominal import least_agreed_first

MOST_ROWS = 10


@dataclass(frozen=True)
class Attribute:
    """`value`, `interval` and `reason` are of alpha, Gwet's AC and Conger's kappa; `units` have two values or more."""

    name: str
    metric: str
    title: str
    value: Any
    interval: Any
    reason: Any
    units: int
    rows: tuple[AttributeRow, ...]


def attributes_of(dataset: Any, run: AnyRun) -> tuple[Attribute, ...]:
    """The attributes that a run of agreement compared, the least agreed first."""
    if not run.settings["attributes"]:
        return ()
    found = []
    for of in least_agreed_first(kf.load_details(dataset, run.key).details.attributes):
        rows = kf.attribute_rows(dataset, run.key, of.name, MOST_ROWS)
        about = (of.name, of.metric, of.headline, of.value, of.interval, of.reason, of.items)
        found.append(Attribute(*about, tuple(rows)))
    return tuple(found)
