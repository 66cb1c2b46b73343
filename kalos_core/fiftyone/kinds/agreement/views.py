"""Views behind the numbers of agreement, for clicks on a bar, a class, a rater or a pair of raters.

All views are stages on the fields that the run wrote on samples, which the database evaluates.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from fiftyone import ViewExpression
from fiftyone import ViewField as F

from kalos_core.errors import InputError, check_number, index_of, listed
from kalos_core.fiftyone.dataset.database import files_of
from kalos_core.fiftyone.dataset.expressions import text, together
from kalos_core.fiftyone.dataset.filter import Filter, check_filter
from kalos_core.fiftyone.dataset.raters import label_fields
from kalos_core.fiftyone.runs.analyses import AnyRun
from kalos_core.fiftyone.runs.stored import load_metrics

if TYPE_CHECKING:
    from typing_extensions import Unpack


class PartArguments(TypedDict, total=False):
    """Selects an alpha of an image: of a class, of a rater's pairs, of both, or of all labels at another threshold.

    The threshold is one of the run's sensitivity analysis; by default, it is the run's own threshold.
    """

    category: str | None
    rater: str | None
    threshold: float | None


def alpha_of(
    run: AnyRun, category: str | None = None, rater: str | None = None, threshold: float | None = None
) -> ViewExpression:
    """Return the database expression for an alpha of an image; None where undefined."""
    names, raters = run.names, run.metrics["raters"]
    if threshold is not None:
        if category is not None or rater is not None:
            raise InputError("threshold: expected it for all classes and raters, got it for some")
        return F(names.threshold_alphas)[_at_threshold(run.metrics["thresholds"], threshold)]
    if category is not None:
        paired = together(names.class_names, names.class_alphas if rater is None else names.class_rater_alphas)
        of_class = paired.filter(F()[0] == text(category)).map(F()[1])[0]
        return of_class if rater is None else of_class[index_of(raters, rater, "rater")]
    if rater is not None:
        return F(names.rater_alphas)[index_of(raters, rater, "rater")]
    return F(names.alpha)


def pair_alpha_of(run: AnyRun, rater_a: str, rater_b: str) -> ViewExpression:
    """Return the database expression for the alpha of two raters, matched without the other raters."""
    raters = run.metrics["raters"]
    first, second = sorted(index_of(raters, name, "rater") for name in (rater_a, rater_b))
    if first == second:
        raise InputError(f"raters: expected two raters, got {rater_a!r} twice")
    before = first * len(raters) - first * (first + 1) // 2  # as `numpy.triu_indices` orders them
    return F(run.names.pair_alphas)[before + second - first - 1]


def _at_threshold(thresholds: list[float], value: float) -> int:
    near = np.flatnonzero(np.isclose(thresholds, check_number(value, "threshold", 0, 1)))
    if not len(near):
        raise InputError(f"threshold: expected one of {listed(thresholds, 30) or 'no threshold'}, got {value!r}")
    return int(near[0])


def _sorted(view: Any, alpha: ViewExpression) -> Any:
    """Return samples with a defined alpha, by increasing alpha and then by id, so that limits are deterministic."""
    return view.match(alpha != None).sort_by([(alpha, 1), ("id", 1)])  # noqa: E711


def view_of_alpha(samples: Any, run_key: str, low: float, high: float, **part: Unpack[PartArguments]) -> Any:
    """Return samples with low <= alpha < high (<= if high is 1), as in `image_alphas`, lowest alpha first."""
    run = load_metrics(samples, run_key, "agreement")
    alpha = alpha_of(run, **part)
    below = alpha <= high if high >= 1 else alpha < high
    return _narrowed(_sorted(run.view.match((alpha >= low) & below), alpha), run, part.get("category"))


def view_worst_first(samples: Any, run_key: str, limit: int | None = None, **part: Unpack[PartArguments]) -> Any:
    """Return samples with a defined alpha, lowest first; with a class, only its labels are shown."""
    run = load_metrics(samples, run_key, "agreement")
    found = _sorted(run.view, alpha_of(run, **part))
    return _narrowed(found if limit is None else found.limit(limit), run, part.get("category"))


def view_of_threshold(samples: Any, run_key: str, threshold: float) -> Any:
    """Return the samples of a run, lowest alpha at one of its thresholds first."""
    return view_worst_first(samples, run_key, threshold=threshold)


def view_of_class(samples: Any, run_key: str, category: str) -> Any:
    """Return samples in which a class occurs, with only its labels, lowest alpha of the class first."""
    return view_worst_first(samples, run_key, category=category)


def view_of_pair(samples: Any, run_key: str, rater_a: str, rater_b: str) -> Any:
    """Return samples to which both raters are assigned, with only their labels, lowest alpha of the pair first."""
    run = load_metrics(samples, run_key, "agreement")
    return _of_raters(_sorted(run.view, pair_alpha_of(run, rater_a, rater_b)), run, [rater_a, rater_b])


def view_of_unit_boundaries(samples: Any, run_key: str) -> Any:
    """Return samples with a unit whose boundaries were compared, largest mean boundary distance first."""
    run = load_metrics(samples, run_key, "agreement")
    return run.view.exists(run.names.boundary).sort_by(run.names.boundary, reverse=True)


def _narrowed(view: Any, run: AnyRun, category: str | None) -> Any:
    """Show only the labels of a class; a selected rater stays visible next to the others."""
    if category is None:
        return view
    for field in _fields(view, run):
        view = view.filter_labels(field, F("label") == text(category), only_matches=False)
    return view


def _of_raters(view: Any, run: AnyRun, raters: list[str]) -> Any:
    if run.selection.field is not None:
        attribute = F(run.selection.rater_attribute).to_string()
        either = ViewExpression.any([attribute == text(rater) for rater in raters])
        return view.filter_labels(run.selection.field, either, only_matches=False)
    fields = dict(zip(run.metrics["raters"], run.label_fields, strict=True))
    return view.exclude_fields([fields[name] for name in fields if name not in raters])


def _fields(view: Any, run: AnyRun) -> list[str]:
    there = label_fields(view)
    return [field for field in run.label_fields if field in there]


@dataclass(frozen=True)
class ImageRow:
    """One ranked image: its sample id, file name, alpha, number of labels of all raters, and file path."""

    sample_id: str
    file: str
    alpha: float
    labels: int
    path: str


def worst_images(
    samples: Any,
    run_key: str,
    limit: int = 25,
    filter: Filter = Filter(),  # noqa: B008  frozen
    threshold: float | None = None,
) -> list[ImageRow]:
    """Return the images of a run within a filter, lowest agreement first."""
    run, filter = load_metrics(samples, run_key, "agreement"), check_filter(filter)
    alpha, view = alpha_of(run, filter.category, filter.rater, threshold), filter.within(run.view)
    paths = label_fields(view)
    counts = [F(paths[field]).length() for field in run.label_fields if field in paths]
    # each of several values is a separate query; only the first one scans all images
    worst = view.select(_sorted(view, alpha).limit(limit).values("id"), ordered=True)
    files, (ids, alphas, *labels) = files_of(worst), worst.values(["id", alpha, *counts])
    totals = [sum(of_image) for of_image in zip(*labels, strict=True)] if labels else [0] * len(ids)
    return [
        ImageRow(sample_id, Path(files[sample_id]).name, value, total, files[sample_id])
        for sample_id, value, total in zip(ids, alphas, totals, strict=True)
    ]


def image_alphas(samples: Any, run_key: str, **part: Unpack[PartArguments]) -> tuple[list[str], list[float | None]]:
    """Return the sample ids of a run and their alphas, None where undefined, in the order of the view."""
    run = load_metrics(samples, run_key, "agreement")
    ids, alphas = run.view.values(["id", alpha_of(run, **part)])
    return ids, alphas
