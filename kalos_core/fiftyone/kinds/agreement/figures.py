"""What is shown of an agreement: figures, each with its finding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from kalos_core.fiftyone.kinds.agreement.details import (
    ClassDetails,
    CollaborationDetails,
    SensitivityDetails,
    SessionDetails,
    VitalityDetails,
)
from kalos_core.fiftyone.kinds.agreement.lens import PartMetrics
from kalos_core.fiftyone.runs.table import Part, Run
from kalos_core.figures import (
    alpha_histogram,
    alpha_scale,
    class_difficulty_bars,
    class_difficulty_title,
    collaboration_heatmap,
    collaboration_title,
    left_out,
    sensitivity_curve,
    sensitivity_title,
    session_bars,
    session_title,
    team_title,
    vitality_bars,
    vitality_title,
)

OF_ALL = "Of all labels: the filter does not apply here."


def figures(run: Run[Any, Any, Any, Any], part: PartMetrics | None = None) -> dict[str, Part]:
    """The figures of a run, or of a part of it that `filtered_metrics` answered.

    ``histogram``, ``scale``, ``sensitivity``, ``classes``, ``vitality``, ``collaboration``; ``intra_rater`` and
    ``team`` where raters have sessions.
    """
    metrics, details = run.metrics, run.details
    shown: Any = details if part is None else part
    category, rater = (None, None) if part is None else (part["category"], part["rater"])
    whole = (metrics if part is None else part)["global_alpha"]
    parts = {
        "histogram": Part("", alpha_histogram(shown["image_alpha"], global_alpha=whole)),
        "scale": Part("", alpha_scale(metrics["alpha"], metrics["alpha_interval"], run.settings["similarity"])),
        "sensitivity": _sensitivity(details["sensitivity"]),
        "classes": _classes(shown["class_difficulty"], category),
        "vitality": _vitality(details["vitality"], rater),
        "collaboration": _collaboration(shown["collaboration"]),
    }
    persons, team = details["intra_rater"], details["team_agreement"]
    if "reason" not in persons:
        parts["intra_rater"] = _sessions(session_title, persons, persons["person"], "mean alpha across own sessions")
        parts["team"] = _sessions(team_title, team, team["session"], "mean alpha within the session")
    if category or rater:
        for name in ("sensitivity", "vitality", "intra_rater", "team"):
            if name in parts:
                parts[name] = replace(parts[name], note=OF_ALL)
    return parts


def _sensitivity(found: SensitivityDetails) -> Part:
    if "reason" in found:
        return Part(found["reason"])
    anchor, strict = found["anchor"], found["strict"]
    return Part(
        sensitivity_title(found["delta"], anchor, strict, found["delta_interval"]),
        sensitivity_curve(
            found["threshold"], found["alpha"], found["alpha_interval"], anchor, strict, calibrated=found["calibrated"]
        ),
    )


def _classes(found: ClassDetails, selected: str | None) -> Part:
    if "reason" in found:
        return Part(found["reason"])
    names, alphas, images = found["category"], found["alpha"], found["images"]
    return Part(
        class_difficulty_title(names, alphas, images),
        class_difficulty_bars(names, alphas, images, found["alpha_interval"], selected=selected),
        left_out(alphas, images),
    )


def _vitality(found: VitalityDetails, selected: str | None) -> Part:
    if "reason" in found:
        return Part(found["reason"])
    raters, values = found["rater"], found["vitality"]
    bars = vitality_bars(
        raters,
        values,
        found["images"],
        found["vitality_interval"],
        selected,
        global_vitality=found["global_rematched"],
    )
    return Part(vitality_title(raters, values), bars)


def _collaboration(found: CollaborationDetails) -> Part:
    if "reason" in found:
        return Part(found["reason"])
    raters, alphas = found["raters"], found["alpha"]
    return Part(
        collaboration_title(raters, alphas),
        collaboration_heatmap(raters, alphas, found["order"], global_alpha=found["global_alpha"]),
    )


def _sessions(title: Callable[..., str], found: SessionDetails, names: Sequence[str], axis: str) -> Part:
    alphas = found["alpha"]
    return Part(title(names, alphas), session_bars(names, alphas, found["images"], found["alpha_interval"], axis))
