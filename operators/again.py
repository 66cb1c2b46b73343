"""Conversion of the settings of a run to the params of its form, to repeat the run with a few changes."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core.fiftyone.dataset.opened import fitting_similarities
from kalos_core.fiftyone.dataset.raters import ASSIGNED_FIELD
from kalos_core.options import arguments_of

from .forms import BY_ATTRIBUTE, RATERS_IN_FIELD

ASKED_OF_LABELS = (
    *("raters", "field", "rater_attribute", "reference", "classes", "min_confidence", "groups", "teams", "truth"),
    *("reject_broken", "most_breaches", "least_accuracy", "quorum", "width", "weights", "metric", "order", "bootstrap"),
)
"""Python arguments that the form of image-level labels covers."""

ASKED_OF_TRUTH = ("raters", "reference", "classes", "of", "quorum", "model", "similarity", "threshold")
"""Python arguments that the form of a truth of objects covers."""


def form_of_labels(run: Any) -> dict[str, Any]:
    """Return the params of the form of image-level labels.

    Raises
    ------
    InputError
        If the run has arguments that the form does not cover, such as a seed, or names that cannot be typed into it.
    """
    refuse_unasked(run, ASKED_OF_LABELS)
    settings, given = run.settings, selected_in_form(run.selection, "classes", "min_confidence")
    given["more"] = "classes" in given or "min_confidence" in given
    given |= {name: settings[name] for name in ("quorum", "width", "weights", "bootstrap")}
    given |= {"exclusive": settings["groups"] == "label", **_groups(settings), **_levels(settings)}
    rules = {name: settings[name] for name in ("reject_broken", "most_breaches", "least_accuracy")}
    given |= {"reject": any(rules.values()), **(rules if any(rules.values()) else {})}
    for place, (name, raters) in zip(("first", "second"), (settings["teams"] or {}).items(), strict=False):
        given |= {"compare_teams": True, f"{place}_name": name, f"{place}_team": raters}
    if settings["truth"] is not None:
        given |= {"estimate": True, "truth": settings["truth"]}
    return {name: value for name, value in given.items() if value is not None}


def form_of_truth(dataset: Any, run: Any) -> dict[str, Any]:
    """Return the params of the form of a truth of objects.

    Raises
    ------
    InputError
        If the run has arguments that the form does not cover, such as a smallest area.
    """
    assignment = () if dataset.has_field(ASSIGNED_FIELD) or run.selection.assigned == "auto" else ("assigned",)
    refuse_unasked(run, [*ASKED_OF_TRUTH, *assignment])
    settings, usual = run.settings, fitting_similarities(dataset, run.selection)[0]
    name = "threshold" if settings["similarity"] == usual else f"threshold_of_{settings['similarity']}"
    return {
        **selected_in_form(run.selection, "classes", *assignment),
        **({} if settings["model"] is None else {"model": settings["model"]}),
        "of": "objects",
        "quorum": ", ".join(f"{share:g}" for share in np.ravel(settings["quorum"])),
        "similarity": settings["similarity"],
        name: settings["threshold"],
    }


def _groups(settings: Any) -> dict[str, Any]:
    """Return the groups as typed text; nothing if all labels exclude each other."""
    return {} if settings["groups"] == "label" else {"named": True, "groups": _typed(settings["groups"] or {})}


def _levels(settings: Any) -> dict[str, str]:
    """Return the metric and the order as typed text.

    The form takes an order by question only with a metric by question. If all questions are ordinal, the metric is
    therefore given for each of them.
    """
    metric, order = settings["metric"], settings["order"] or []
    by_question = isinstance(order, dict)
    if metric == "ordinal" and by_question:
        metric = dict.fromkeys(["label"] if settings["groups"] == "label" else settings["groups"] or (), "ordinal")
    metrics = {} if isinstance(metric, str) else {name: [of] for name, of in metric.items()}
    given = {"metric": "by question", "metrics": _typed(metrics)} if metrics else {"metric": metric}
    if order:
        given["order"] = _typed(order) if isinstance(order, dict) else _typed_names(order)
    return given


def _typed(groups: Mapping[str, Sequence[str]]) -> str:
    """Return names with their labels as typed text."""
    return "; ".join(f"{_typed_names([name])}: {_typed_names(of)}" for name, of in groups.items())


def _typed_names(names: Sequence[str]) -> str:
    """Return names as typed text; refuse names that would be parsed differently."""
    unfit = [name for name in names if name != name.strip() or any(sign in name for sign in ",;:\n")]
    if unfit:
        raise InputError(
            f"groups: expected names without commas, semicolons and colons, got {unfit[0]!r}, which the form cannot "
            "take; use kf.compute_label_agreement in Python"
        )
    return ", ".join(names)


def selected_in_form(selection: kf.Selection, *limits: str) -> dict[str, Any]:
    """Return the selection of a run as params of its form; `limits` are the limits that the form has."""
    given: dict[str, Any] = {"raters": selection.raters}
    if selection.field is not None:
        how = {"storage": BY_ATTRIBUTE, "field": selection.field, "rater_attribute": selection.rater_attribute}
        given = {**how, RATERS_IN_FIELD: selection.raters}
    given |= {"reference": selection.reference, **{name: getattr(selection, name) for name in limits}}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items() if value}


def refuse_unasked(run: Any, asked: Collection[str]) -> None:
    """Raise an error if a run has arguments that its form does not cover.

    Parameters
    ----------
    run : Run
    asked : names
        Arguments of the function of the run that the form covers.
    """
    function = kf.KINDS[run.kind].operator
    arguments = arguments_of(getattr(kf, function))
    usual = {name: list(of) if isinstance(of, tuple) else of for name, of in arguments.items()}
    settings = {name: value for name, value in run.settings.items() if name in usual and value != usual[name]}
    unasked = {name: value for name, value in {**settings, **run.selection.arguments()}.items() if name not in asked}
    if unasked:
        named = ", ".join(f"{name}={value!r}" for name, value in unasked.items())
        raise InputError(
            f"run: {run.key!r} was made with {named}, which the form does not ask for, so its result would differ; "
            f"use kf.{function} in Python"
        )
