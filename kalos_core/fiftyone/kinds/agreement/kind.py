"""Agreement as a kind of run."""

from __future__ import annotations

from typing import Any

from kalos_core._agreement import Agreement, agreement
from kalos_core.fiftyone.kinds.agreement.rerating import view_of_next
from kalos_core.fiftyone.kinds.agreement.settings import (
    AgreementDetails,
    matching,
)
from kalos_core.fiftyone.kinds.agreement.views import (
    view_of_alpha,
    view_of_class,
    view_of_pair,
    view_of_threshold,
    view_worst_first,
)
from kalos_core.fiftyone.kinds.matched import matched_again, read_compared
from kalos_core.fiftyone.runs.table import Changes, Demo, Kind, register


def _restore(changes: Changes) -> Agreement:
    chosen = matching(changes.run.settings)
    annotations, pairs = matched_again(changes, chosen.measure)
    return agreement(annotations, **chosen.record(), pairs=pairs)


AGREEMENT: Kind[dict[str, Any], dict[str, Any], AgreementDetails, Agreement] = register(
    Kind(
        name="agreement",
        title="Agreement",
        operator="compute_agreement",
        section="Overview",
        suffix="agreement",
        read=read_compared,
        restore=_restore,
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
