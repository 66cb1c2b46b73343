"""Label convergence as a kind of run."""

from __future__ import annotations

from typing import Any

from kalos_core.convergence import ConvergenceStudy, LabelConvergence, label_convergence
from kalos_core.fiftyone.kinds.convergence.stored import ConvergenceRunSettings
from kalos_core.fiftyone.kinds.matched import matched_again, read_compared
from kalos_core.fiftyone.runs.stored import load_metrics
from kalos_core.fiftyone.runs.table import Changes, Demo, Kind, Run, register

ConvergenceRun = Run[dict[str, Any], dict[str, Any], ConvergenceStudy, LabelConvergence]


def view_of_tag(samples: Any, run_key: str, tag: str) -> Any:
    """Samples of a run that have a tag."""
    return load_metrics(samples, run_key, "convergence").view.match_tags(tag)


def _restore(changes: Changes) -> LabelConvergence:
    annotations, pairs = matched_again(changes, changes.run.settings["similarity"])
    return label_convergence(annotations, **ConvergenceRunSettings.of(changes.run.settings).of_library(), pairs=pairs)


CONVERGENCE: Kind[dict[str, Any], dict[str, Any], ConvergenceStudy, LabelConvergence] = register(
    Kind(
        name="convergence",
        title="Label convergence",
        operator="estimate_convergence",
        section="Ceiling",
        suffix="convergence",
        read=read_compared,
        restore=_restore,
        demo=Demo(lambda run: f"Ceiling of any model: {run.result}", {"fraction": 0.5, "tags": True}),  # of few images
        views={"tag": view_of_tag},
        details=ConvergenceStudy,
    )
)
