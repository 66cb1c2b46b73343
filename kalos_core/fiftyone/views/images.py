"""Views behind the figures of agreement: what a click on a bar, a class or a rater leads to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fiftyone import ViewField as F
from numpy.typing import NDArray

from kalos_core.fiftyone.filtering import pair_image_alphas, part_image_alphas
from kalos_core.fiftyone.raters import label_fields
from kalos_core.fiftyone.runs import RunNames, load_figures, load_run_view


def image_alphas(
    samples: Any, run_key: str, *, category: str | None = None, rater: str | None = None
) -> tuple[list[str], list[float | None]]:
    """Sample ids of a run and their alpha, None where undefined, in the order of the view.

    With a class or a rater, that of the units in which somebody chose the class, or of the rater's pairs: see
    `filtered_figures`.
    """
    view = _agreement_view(samples, run_key)
    if category is not None or rater is not None:
        ids, values = part_image_alphas(samples, run_key, category, rater)
        return ids, [None if np.isnan(value) else value for value in values.tolist()]
    ids, alphas = view.values(["id", RunNames(run_key).alpha])
    return ids, alphas


def view_of_alpha(
    samples: Any, run_key: str, low: float, high: float, *, category: str | None = None, rater: str | None = None
) -> Any:
    """Samples of a run with low <= alpha < high (<= for high at 1) as `image_alphas` answers it, lowest first."""
    if category is not None or rater is not None:
        ids, values = part_image_alphas(samples, run_key, category, rater)
        inside = (values >= low) & ((values <= high) if high >= 1 else (values < high))
        return _lowest_first(samples, run_key, ids, np.where(inside, values, np.nan))
    alpha = F(RunNames(run_key).alpha)
    below = alpha <= high if high >= 1 else alpha < high
    view = _agreement_view(samples, run_key).exists(RunNames(run_key).alpha)  # None compares below every number
    return view.match((alpha >= low) & below).sort_by(RunNames(run_key).alpha)


def view_worst_first(
    samples: Any, run_key: str, limit: int | None = None, *, category: str | None = None, rater: str | None = None
) -> Any:
    """Samples of a run with a defined alpha, lowest first; the alpha is that of `image_alphas`."""
    if category is not None or rater is not None:
        view = _lowest_first(samples, run_key, *part_image_alphas(samples, run_key, category, rater))
    else:
        name = RunNames(run_key).alpha
        view = _agreement_view(samples, run_key).exists(name).sort_by(name)
    return view if limit is None else view.limit(limit)


def view_of_class(samples: Any, run_key: str, category: str) -> Any:
    """Samples of a run in which a class occurs and its units have an alpha, the lowest such alpha first."""
    return view_worst_first(samples, run_key, category=category)


def view_of_rater(samples: Any, run_key: str, rater: str) -> Any:
    """Samples of a run on which a rater can be compared, those first where they agree least with the others."""
    return view_worst_first(samples, run_key, rater=rater)


def view_of_pair(samples: Any, run_key: str, rater_a: str, rater_b: str) -> Any:
    """Samples of a run that both raters were asked for, those first where these two agree least."""
    return _lowest_first(samples, run_key, *pair_image_alphas(samples, run_key, rater_a, rater_b))


def view_of_tag(samples: Any, run_key: str, tag: str) -> Any:
    """Samples of a run that have a tag."""
    return load_run_view(samples, run_key).match_tags(tag)


def _lowest_first(samples: Any, run_key: str, ids: list[str], alphas: NDArray[np.float64]) -> Any:
    view = load_run_view(samples, run_key)
    there = [ids[place] for place in np.argsort(alphas, kind="stable") if np.isfinite(alphas[place])]
    return view.select(there, ordered=True) if there else view.limit(0)


@dataclass(frozen=True)
class ImageRow:
    """One image of a ranking: its sample, file name, alpha and number of labels of all raters."""

    sample_id: str
    file: str
    alpha: float
    labels: int


def worst_images(
    samples: Any, run_key: str, limit: int = 25, *, category: str | None = None, rater: str | None = None
) -> list[ImageRow]:
    """The images of a run that the raters agree on least, worst first; the alpha is that of `image_alphas`."""
    run = load_figures(samples, run_key)
    view = view_worst_first(samples, run_key, limit, category=category, rater=rater)
    alpha_of = dict(zip(*image_alphas(samples, run_key, category=category, rater=rater), strict=True))
    paths = label_fields(view)
    lists = [f"{paths[field]}.id" for field in run.label_fields if field in paths]
    ids, files, *labels = view.values(["id", "filepath", *lists])
    counts = [sum(len(per_field[row] or ()) for per_field in labels) for row in range(len(ids))]
    return [
        ImageRow(sample_id, Path(path).name, alpha, count)
        for sample_id, path, count in zip(ids, files, counts, strict=True)
        if (alpha := alpha_of[sample_id]) is not None
    ]


def _agreement_view(samples: Any, run_key: str) -> Any:
    load_figures(samples, run_key, "agreement")
    return load_run_view(samples, run_key)
