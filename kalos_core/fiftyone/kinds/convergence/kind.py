"""Label convergence as a kind of run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kalos_core.annotations import Annotations
from kalos_core.convergence import ConvergenceStudy, LabelConvergence, label_convergence
from kalos_core.fiftyone.kinds.convergence.metrics import ConvergenceMetrics, ConvergenceSettings, line_of
from kalos_core.fiftyone.kinds.matched import matched_again, read_compared
from kalos_core.fiftyone.runs.changes import Changes
from kalos_core.fiftyone.runs.stored import load_run_view
from kalos_core.fiftyone.runs.table import Demo, Kind, Run, register
from kalos_core.pairs import Pairs
from kalos_core.similarity import get_similarity

ConvergenceRun = Run[ConvergenceSettings, ConvergenceMetrics, ConvergenceStudy, LabelConvergence]


def converge(
    annotations: Annotations,
    settings: ConvergenceSettings,
    pairs: Pairs,
    progress: Callable[[float, str], None] | None = None,
) -> LabelConvergence:
    """Label convergence of annotations with the settings of a run."""
    return label_convergence(
        annotations,
        settings["subsets"],
        settings["fraction"],
        settings["seed"],
        similarity=get_similarity(settings["similarity"]),
        thresholds=settings["thresholds"],
        line=line_of(settings),
        pairs=pairs,
        progress=progress,
    )


def view_of_tag(samples: Any, run_key: str, tag: str) -> Any:
    """Samples of a run that have a tag."""
    return load_run_view(samples, run_key, "convergence").match_tags(tag)


def _restore(changes: Changes) -> LabelConvergence:
    annotations, pairs = matched_again(changes, changes.run.settings["similarity"])
    return converge(annotations, changes.run.settings, pairs)


def _again(run: ConvergenceRun) -> dict[str, Any]:
    models = {entry["name"]: entry["map"] for entry in run.settings["models"]}
    return {**run.settings, "line": line_of(run.settings), "models": models}


CONVERGENCE: Kind[ConvergenceSettings, ConvergenceMetrics, ConvergenceStudy, LabelConvergence] = register(
    Kind(
        name="convergence",
        title="Label convergence",
        operator="estimate_convergence",
        section="Ceiling",
        suffix="convergence",
        again=_again,
        read=read_compared,
        restore=_restore,
        demo=Demo(lambda run: f"Ceiling of any model: {run.result}", {"fraction": 0.5, "tags": True}),  # of few images
        views={"tag": view_of_tag},
        details=ConvergenceStudy,
    )
)
