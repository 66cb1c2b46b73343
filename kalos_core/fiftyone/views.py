"""Views behind the figures: what a click on a bar, a pair of classes or a row leads to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bson import ObjectId
from fiftyone import ViewField as F
from numpy.typing import NDArray

from kalos_core.errors import InputError
from kalos_core.fiftyone.filtering import pair_image_alphas, part_image_alphas
from kalos_core.fiftyone.labels import Labels, read_labels
from kalos_core.fiftyone.raters import label_fields
from kalos_core.fiftyone.runs import RunNames, load_arrays, load_figures, load_run_view
from kalos_core.variations import VARIATION_TYPES


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


def view_of_variation(samples: Any, run_key: str, kind: str) -> Any:
    """Only the labels that take part in findings of one variation type, and the samples that have any."""
    if kind not in VARIATION_TYPES:
        raise InputError(f"variation type: expected one of {', '.join(VARIATION_TYPES)}, got {kind!r}")
    stored = _stored_findings(samples, run_key)
    return _view_of_findings(samples, run_key, stored, stored["finding_type"] == kind)


def view_of_confusion(samples: Any, run_key: str, category_a: str, category_b: str) -> Any:
    """Only the labels of findings in which these two classes were taken for one another."""
    stored = _stored_findings(samples, run_key)
    first = stored["categories"][stored["finding_category_a"]]
    second = stored["categories"][stored["finding_category_b"]]
    wrong = np.isin(stored["finding_type"], ("wrong_class", "merged_wrong_class"))
    either = ((first == category_a) & (second == category_b)) | ((first == category_b) & (second == category_a))
    return _view_of_findings(samples, run_key, stored, wrong & either)


def _agreement_view(samples: Any, run_key: str) -> Any:
    load_figures(samples, run_key, "agreement")
    return load_run_view(samples, run_key)


def _stored_findings(samples: Any, run_key: str) -> dict[str, NDArray[Any]]:
    load_figures(samples, run_key, "variations")
    return load_arrays(samples, run_key)


def _view_of_findings(samples: Any, run_key: str, stored: dict[str, NDArray[Any]], chosen: NDArray[np.bool_]) -> Any:
    rows = np.unique(stored["mark_row"][chosen[stored["mark_finding"]]])
    label_ids = stored["label_ids"][rows].tolist()
    fields = list(load_figures(samples, run_key).label_fields)
    view = load_run_view(samples, run_key)
    return view.select_labels(ids=label_ids, fields=fields) if label_ids else view.limit(0)


class NotInRun(InputError):
    """A sample that a run did not read."""


@dataclass(frozen=True)
class Cell:
    """What one rater gave one unit.

    Parameters
    ----------
    state : str
        "drawn", "no object" (asked, drew nothing) or "not assigned".
    category : str
        Class, "" unless drawn.
    variation : str
        Variation type of the label; `missing` where no mark of the unit has a partner by this rater; "" where unknown.
    similarity : float, optional
        Least similarity to a partner.
    label_id, field : str
        Where the label is, "" unless drawn.
    """

    state: str
    category: str = ""
    variation: str = ""
    similarity: float | None = None
    label_id: str = ""
    field: str = ""


@dataclass(frozen=True)
class SampleReport:
    """One image: its alpha, and a table of units x raters."""

    alpha: float | None
    raters: tuple[str, ...]
    units: tuple[int, ...]
    cells: tuple[tuple[Cell, ...], ...]


def sample_report(samples: Any, sample_id: str, agreement_key: str, variations_key: str | None = None) -> SampleReport:
    """Units x raters of one image as two runs left them on its labels.

    Raises
    ------
    NotInRun
        If the image is not part of the run.
    """
    run = load_figures(samples, agreement_key, "agreement")
    view = _one_sample(samples, agreement_key, sample_id)
    if not len(view):
        raise NotInRun(f"sample {sample_id}: not part of the run {agreement_key!r}")
    labels = read_labels(view, run.choice, again=True)
    compared: set[str] = set()
    if variations_key:
        named = load_figures(samples, variations_key, "variations")
        compared = set(named.figures["raters"] if len(_one_sample(samples, variations_key, sample_id)) else ())
    stored = _attributes(view, labels, agreement_key, variations_key)
    annotations = labels.annotations
    rater_of = dict(zip(annotations.id, annotations.raters[annotations.rater], strict=True))
    units = sorted({stored[key].unit for key in annotations.id if stored[key].unit is not None})
    column = {unit: number for number, unit in enumerate(units)}
    partners: list[set[str]] = [set() for _ in units]
    for key in annotations.id:
        if stored[key].unit is not None:
            partners[column[stored[key].unit]] |= {
                rater_of[match] for match in stored[key].matches if match in rater_of
            }
    grid = [
        [
            _empty(asked, rater in compared and rater not in matched)
            for rater, asked in zip(annotations.raters, annotations.assigned[0], strict=True)
        ]
        for matched in partners
    ]
    for row, key in enumerate(annotations.id):
        own = stored[key]
        if own.unit is not None:
            grid[column[own.unit]][annotations.rater[row]] = Cell(
                state="drawn",
                category=str(annotations.categories[annotations.category[row]]),
                variation=own.variation or "",
                similarity=own.similarity,
                label_id=key,
                field=labels.fields[labels.path_of[row]],
            )
    return SampleReport(
        alpha=view.values(RunNames(agreement_key).alpha)[0],
        raters=tuple(annotations.raters),
        units=tuple(units),
        cells=tuple(map(tuple, grid)),
    )


def _one_sample(samples: Any, run_key: str, sample_id: str) -> Any:
    view = load_run_view(samples, run_key)
    return view.select(sample_id) if ObjectId.is_valid(sample_id) else view.limit(0)


def _empty(asked: bool, missing: bool) -> Cell:
    if not asked:
        return Cell(state="not assigned")
    return Cell(state="no object", variation="missing" if missing else "")


@dataclass(frozen=True)
class _Stored:
    """What two runs wrote on one label."""

    unit: Any = None
    variation: str | None = None
    similarity: float | None = None
    matches: Sequence[str] = ()


def _attributes(view: Any, labels: Labels, agreement_key: str, variations_key: str | None) -> dict[str, _Stored]:
    """Label id -> what is stored on it."""
    found: dict[str, _Stored] = {}
    for path in labels.paths:
        names = [RunNames(agreement_key).unit]
        if variations_key:
            own = RunNames(variations_key)
            names += [own.variation, own.similarity, own.match]
        ids, *columns = [values[0] or [] for values in view.values([f"{path}.{name}" for name in ("id", *names)])]
        for place, label_id in enumerate(ids):
            unit, *rest = [values[place] if place < len(values) else None for values in columns]
            variation, similarity, matches = rest or (None, None, None)
            found[label_id] = _Stored(unit, variation, similarity, matches or ())
    return found
