"""Figures of an agreement, each with its finding."""

from __future__ import annotations

from functools import partial

from kalos_core.diagnostics import NarrowedAgreement
from kalos_core.errors import Undefined
from kalos_core.fiftyone.kinds.agreement.settings import AgreementRun
from kalos_core.fiftyone.runs.table import Maker, Part
from kalos_core.figures.agreement import alpha_histogram, alpha_scale
from kalos_core.figures.classes import left_out

OF_ALL = "This figure shows all labels: the filter does not apply to it."


def figures(run: AgreementRun, part: NarrowedAgreement | None = None) -> dict[str, Maker]:
    """Return the figures of a run, or of a part of it that `narrowed_metrics` returned.

    The names are ``histogram``, ``scale``, ``sensitivity``, ``classes``, ``vitality`` and ``collaboration``, and
    ``intra_rater`` and ``team`` if raters have sessions.
    """
    metrics, details = run.metrics, run.details
    shown = details if part is None else part
    category, rater = (None, None) if part is None else (part.category, part.rater)
    whole = metrics["global_alpha"] if part is None else part.global_alpha
    classes = shown.class_difficulty
    others = "" if isinstance(classes, Undefined) else left_out(classes.alpha, classes.images.tolist())
    of_all = OF_ALL if category or rater else ""
    makers: dict[str, Maker] = {
        "histogram": lambda: Part("", alpha_histogram(shown.image_alpha, global_alpha=whole)),
        "scale": lambda: Part("", alpha_scale(metrics["alpha"], metrics["alpha_interval"], run.settings["similarity"])),
        "sensitivity": partial(Part.of, details.sensitivity, note=of_all),
        "classes": partial(Part.of, classes, note=others, selected=category),
        "vitality": partial(Part.of, details.vitality, note=of_all, selected=rater),
        "collaboration": partial(Part.of, shown.collaboration),
    }
    if not isinstance(details.intra_rater, Undefined):
        makers["intra_rater"] = partial(Part.of, details.intra_rater, note=of_all)
        makers["team"] = partial(Part.of, details.team_agreement, note=of_all)
    return makers
