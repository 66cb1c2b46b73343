"""The figures of label convergence from the replicates a run stored: no labels are read and no marks are matched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Configuration
from kalos_core.annotations import Annotations
from kalos_core.convergence import (
    PUBLISHED_LINE,
    LabelConvergence,
    Line,
    PredictionMap,
    Replicates,
    Spread,
    label_convergence,
    read_models,
)
from kalos_core.convergence.interval import PAPER_COST, PAPER_SOLVER
from kalos_core.fiftyone.diagnostics import plain
from kalos_core.fiftyone.runs import Run, load_arrays, load_diagnostics, load_figures
from kalos_core.pairs import Pairs

WHOLE = "all images"
"""The name of what is no tag."""


@dataclass(frozen=True, eq=False)
class Part:
    """The replicates of all images, or of those with a tag. T thresholds.

    Parameters
    ----------
    name : str
        The tag; `WHOLE` for all images.
    images : int
    replicates : Replicates or None
    predicted : (T,) float64
        mAP of the predictions, mean over the raters; NaN without any.
    reason : str
        Why there are no replicates.
    """

    name: str
    images: int
    replicates: Replicates | None
    predicted: NDArray[np.float64]
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Estimate:
    """All that figures are computed from. T thresholds, R raters.

    Parameters
    ----------
    parts : tuple of Part
        All images first, then the tags.
    raters : tuple of str
    directions : (T, R, R) float64
        Modified mAP of all images, as of `ModifiedMap`.
    models : dict
        Name -> mAP, as typed.
    predictions : str or None
        The field of a model.
    predicted : (T, R) float64
        mAP of the predictions with each rater as ground truth, on all images; NaN without any.
    checklist : list of dict
        `Criterion` as plain values.
    """

    parts: tuple[Part, ...]
    raters: tuple[str, ...]
    directions: NDArray[np.float64]
    models: Mapping[str, float]
    predictions: str | None
    predicted: NDArray[np.float64]
    checklist: list[dict[str, Any]]

    @property
    def whole(self) -> Replicates:
        """The replicates of all images."""
        replicates = self.parts[0].replicates
        assert replicates is not None  # without them there is no run
        return replicates


def convergence_figures(
    samples: Any,
    run_key: str,
    *,
    least: float | None = None,
    greatest: float | None = None,
    models: str | Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """The figures of a stored run of `estimate_convergence`, at some of its thresholds and with other models placed.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
    least, greatest : float, optional
        Thresholds of the run from one to the other, both included; by default all.
    models : str or mapping, optional
        Placed beside those of the run, such as ``"YOLO 0.412, DETR 0.437"``: see `read_models`. Their mAP has to be of
        the same thresholds.

    Returns
    -------
    dict
        ``mean``, ``std``, ``interval`` and ``route`` of label convergence, ``images``, ``images_per_subset``,
        ``subsets`` and ``thresholds`` it is over; ``summary``: rows as of `LabelConvergence.summary`; ``lines``:
        ``name``, ``slope``, ``intercept``, ``correlation``, ``explained`` and ``source``, the fitted one first;
        ``parts``: all images and each tag with its interval, or the ``reason`` why it has none; ``models``: ``name``,
        ``map``, ``place`` and ``meaning``, and ``by_rater`` for a field of predictions; ``matrix``: mAP with the rater
        of the row as ground truth and the rater of the column as detections; ``checklist``: rows of
        `check_convergence`. None for what is undefined.

    Raises
    ------
    InputError
        If the run has no such thresholds, or for models that cannot be read.
    """
    run = load_figures(samples, run_key, "convergence")
    stored = load_diagnostics(samples, run_key)
    estimate = unpack_estimate(run, stored, load_arrays(samples, run_key))
    return figures_of(estimate, least, greatest, read_models(models))


def replicate_points(
    samples: Any, run_key: str, least: float | None = None, greatest: float | None = None
) -> dict[str, NDArray[np.float64]]:
    """What the scatter of a run shows: ``alpha``, ``map`` and ``threshold`` of each replicate and threshold, flat."""
    run = load_figures(samples, run_key, "convergence")
    estimate = unpack_estimate(run, load_diagnostics(samples, run_key), load_arrays(samples, run_key))
    chosen = _between(estimate.whole, least, greatest)
    return {
        "alpha": chosen.alpha.ravel(),
        "map": chosen.map.ravel(),
        "threshold": np.tile(chosen.thresholds, len(chosen.map)),
    }


def figures_of(
    estimate: Estimate,
    least: float | None = None,
    greatest: float | None = None,
    more: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """The figures that `convergence_figures` describes."""
    whole = _between(estimate.whole, least, greatest)
    chosen = np.isin(estimate.whole.thresholds, whole.thresholds)
    found, models = whole.convergence, _placed(estimate, whole, chosen, more or {})
    return {
        "mean": plain(found.mean),
        "std": plain(found.std),
        "interval": plain(found.interval),
        "route": whole.route,
        "images": whole.images,
        "images_per_subset": whole.images_per_replicate,
        "subsets": len(whole.map),
        "thresholds": whole.thresholds.tolist(),
        "raters": list(estimate.raters),
        "summary": [plain(row) for row in whole.summary().to_dict("records")],
        "lines": [_line_figures(name, line) for name, line in _lines(whole)],
        "parts": [_part_figures(part, least, greatest, chosen) for part in estimate.parts],
        "models": models,
        "matrix": plain(estimate.directions[chosen].mean(axis=0)),
        "checklist": estimate.checklist,
    }


def _between(replicates: Replicates, least: float | None, greatest: float | None) -> Replicates:
    levels = replicates.thresholds
    return replicates.between(
        float(levels.min()) if least is None else least, float(levels.max()) if greatest is None else greatest
    )


def _placed(
    estimate: Estimate, whole: Replicates, chosen: NDArray[np.bool_], more: Mapping[str, float]
) -> list[dict[str, Any]]:
    """Every model with its place; the field of predictions last."""
    spread = whole.convergence
    models = [_place(spread, name, value) for name, value in {**estimate.models, **more}.items()]
    if estimate.predictions is not None:
        by_rater = estimate.predicted[chosen].mean(axis=0)
        own = _place(spread, estimate.predictions, float(np.nanmean(by_rater)))
        own["by_rater"] = dict(zip(estimate.raters, plain(by_rater), strict=True))
        models.append(own)
    return models


def _place(spread: Spread, name: str, value: float) -> dict[str, Any]:
    return {"name": name, "map": value, "place": spread.position(value), "meaning": spread.meaning(value)}


def _lines(replicates: Replicates) -> list[tuple[str, Line]]:
    found = [("fitted here", line) for line in [replicates.fitted] if line is not None]
    if replicates.line is not None:
        name = "published" if replicates.line.source == PUBLISHED_LINE.source else "given"
        found.append((name, replicates.line))
    return found


def _line_figures(name: str, line: Line) -> dict[str, Any]:
    return {"name": name, **line_record(line), "explained": line.explained}


def _part_figures(part: Part, least: float | None, greatest: float | None, chosen: NDArray[np.bool_]) -> dict[str, Any]:
    about: dict[str, Any] = {"name": part.name, "images": part.images, "images_per_subset": None, "reason": part.reason}
    predicted = plain(float(part.predicted[chosen].mean()))
    if part.replicates is None:
        return {**about, "mean": None, "std": None, "interval": [None, None], "predicted": predicted}
    replicates = _between(part.replicates, least, greatest)
    found = replicates.convergence
    return {
        **about,
        "images_per_subset": replicates.images_per_replicate,
        "mean": plain(found.mean),
        "std": plain(found.std),
        "interval": plain(found.interval),
        "predicted": predicted,
    }


# ---- computed, stored and read back ----


def converge(
    annotations: Annotations,
    settings: Mapping[str, Any],
    pairs: Pairs,
    progress: Callable[[float, str], None] | None = None,
) -> LabelConvergence:
    """Label convergence of annotations with the settings of a run."""
    return label_convergence(
        annotations,
        settings["subsets"],
        settings["fraction"],
        settings["seed"],
        similarity=settings["similarity"],
        thresholds=settings["thresholds"],
        line=line_of(settings),
        pairs=pairs,
        progress=progress,
    )


def line_record(line: Line) -> dict[str, Any]:
    """A line as plain values, without what it was fitted on."""
    return {name: value for name, value in asdict(line).items() if name != "residuals"}


def line_of(settings: Mapping[str, Any]) -> Line:
    """The line a run was told; by default the published one."""
    return PUBLISHED_LINE if settings["line"] is None else Line(**settings["line"], residuals=np.zeros(0))


def arrays_of(estimate: Estimate) -> dict[str, NDArray[np.float64]]:
    """What is stored of an estimate beside its figures: the replicates, NaN for a tag that has none."""
    whole = estimate.whole
    nothing = np.full(whole.map.shape, np.nan)
    parts = [part.replicates for part in estimate.parts]
    return {
        "part_map": np.stack([nothing if part is None else part.map for part in parts]),
        "part_alpha": np.stack([nothing if part is None else part.alpha for part in parts]),
        "part_predicted": np.stack([part.predicted for part in estimate.parts]),
        "directions": estimate.directions,
        "predicted": estimate.predicted,
    }


def unpack_estimate(run: Run, figures: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Estimate:
    """The estimate of a run, from the figures and arrays it stored."""
    settings, raters = run.settings, tuple(figures["raters"])
    levels = np.array(settings["thresholds"])
    configuration = Configuration(
        settings["similarity"], float(levels[0]), PAPER_SOLVER, PAPER_COST, 0, settings["seed"]
    )
    columns = (figures["parts"], arrays["part_map"], arrays["part_alpha"], arrays["part_predicted"])
    parts = []
    for about, precision, alpha, predicted in zip(*columns, strict=True):
        replicates = None
        if not about["reason"]:
            size = about["images_per_subset"]
            replicates = Replicates(
                levels, precision, alpha, len(raters), about["images"], size, configuration, line_of(settings)
            )
        parts.append(Part(about["name"], about["images"], replicates, predicted, about["reason"]))
    return Estimate(
        parts=tuple(parts),
        raters=raters,
        directions=arrays["directions"],
        models=models_of(settings["models"]),
        predictions=settings["predictions"],
        predicted=arrays["predicted"],
        checklist=list(figures["checklist"]),
    )


def models_of(records: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Stored models as a mapping; stored is a list, since a name may hold what a key of a database may not."""
    return {record["name"]: record["map"] for record in records}


def by_rater(found: PredictionMap | None, levels: int, raters: int) -> NDArray[np.float64]:
    """(T, R) mAP of predictions, NaN without any."""
    return np.full((levels, raters), np.nan) if found is None else found.by_rater
