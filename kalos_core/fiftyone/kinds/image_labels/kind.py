"""Agreement on image-level labels as a kind of run."""

from __future__ import annotations

from typing import Any

from kalos_core.fiftyone.kinds.image_labels.details import LabelDetails, LabelMetrics, LabelSettings, find_all
from kalos_core.fiftyone.kinds.image_labels.views import view_of_disputes
from kalos_core.fiftyone.kinds.labelled import read_compared, table_again, view_of_difference
from kalos_core.fiftyone.runs.changes import Changes
from kalos_core.fiftyone.runs.table import Kind, Run, register
from kalos_core.nominal import LabelFindings

LabelRun = Run[LabelSettings, LabelMetrics, LabelDetails, LabelFindings]


def _restore(changes: Changes) -> LabelFindings:
    return find_all(table_again(changes), changes.run.selection, changes.run.settings, lambda *_: None)


def _written(run: Run[Any, Any, Any, Any]) -> str:
    names = run.names
    return (
        f"{names.agreement!r} and {names.disputed!r} on samples, with the questions and concepts in dispute and "
        f"{names.majority!r}"
    )


LABEL_AGREEMENT: Kind[LabelSettings, LabelMetrics, LabelDetails, LabelFindings] = register(
    Kind(
        name="image_labels",
        title="Image-level labels",
        operator="compute_label_agreement",
        section="labels",
        read=read_compared,
        restore=_restore,
        written=_written,
        figures="kalos_core.fiftyone.kinds.image_labels.figures",
        views={"disputes": view_of_disputes, "difference": view_of_difference},
        details=LabelDetails,
    )
)
