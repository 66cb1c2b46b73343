"""The metrics of label convergence from the replicates a run stored: no label is read and nothing is matched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypedDict, cast

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
from kalos_core.convergence.interval import PAPER_COST, PAPER_SOLVER, SHARES
from kalos_core.errors import InputError
from kalos_core.fiftyone.runs.records import plain
from kalos_core.fiftyone.runs.stored import load_arrays, load_details
from kalos_core.fiftyone.runs.table import Arrays
from kalos_core.pairs import Pairs

WHOLE = "all images"
"""The name of what is no tag."""

OF_EACH_SIZE = 100
"""Subsets of each other size, at most: large subsets take long, and a curve needs no more."""

MOST_SHOWN = 20
"""Tags that are shown, those with the most images."""


Ends = list[float | None]


class LineRecord(TypedDict):
    """A line as plain values, without what it was fitted on."""

    slope: float
    intercept: float
    correlation: float
    source: str


class ModelRecord(TypedDict):
    """A model and its mAP, as it was typed."""

    name: str
    map: float


class ConvergenceSettings(TypedDict):
    """As in `kalos_core.label_convergence`."""

    similarity: str
    thresholds: list[float]
    subsets: int
    fraction: float
    seed: int
    line: LineRecord | None
    models: list[ModelRecord]
    predictions: str | None
    tags: bool


class LineMetrics(LineRecord):
    """A line with its name, and the share of the spread it explains."""

    name: str
    explained: float


class SizeMetrics(TypedDict):
    """A row of `LabelConvergence.by_size`, over all thresholds."""

    share: float
    images: int
    subsets: int
    convergence: float
    std: float | None
    low: float | None
    high: float | None
    percentile_low: float | None
    percentile_high: float | None
    map: float
    alpha: float


class PartMetrics(TypedDict):
    """All images, or those with a tag: at once, and the interval of subsets, or the reason why there is none."""

    name: str
    images: int
    images_per_subset: int | None
    reason: str
    whole: float | None
    mean: float | None
    std: float | None
    interval: Ends
    predicted: float | None


class ModelMetrics(TypedDict, total=False):
    """A model, where it stands against the interval, and what that means; by rater where it is a field."""

    name: str
    map: float
    place: str
    meaning: str
    by_rater: dict[str, float | None]


class ConvergenceSummary(TypedDict):
    """The summary of label convergence: of all images at once, then over subsets; None for what is undefined."""

    whole: float | None
    mean: float | None
    std: float | None
    interval: Ends
    route: str
    images: int
    images_per_subset: int
    subsets: int
    thresholds: list[float]
    raters: list[str]
    summary: list[dict[str, Any]]
    models: list[ModelMetrics]
    checklist: list[dict[str, Any]]


class ConvergenceMetrics(ConvergenceSummary):
    """The summary, as it is part of the data set's own document."""

    annotations: int


class ConvergenceDetails(ConvergenceSummary):
    """All metrics of label convergence: what `convergence_metrics` answers."""

    lines: list[LineMetrics]
    parts: list[PartMetrics]
    sizes: list[SizeMetrics]
    matrix: list[list[float | None]]


@dataclass(frozen=True, eq=False)
class Subsets:
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
    """All that metrics are computed from. T thresholds, R raters.

    Parameters
    ----------
    parts : tuple of Subsets
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
    sizes : list of dict
        Of all images, see `SizeMetrics`.
    """

    parts: tuple[Subsets, ...]
    raters: tuple[str, ...]
    directions: NDArray[np.float64]
    models: Mapping[str, float]
    predictions: str | None
    predicted: NDArray[np.float64]
    checklist: list[dict[str, Any]]
    sizes: list[SizeMetrics]

    @property
    def whole(self) -> Replicates:
        """The replicates of all images."""
        replicates = self.parts[0].replicates
        assert replicates is not None  # without them there is no run
        return replicates


def convergence_metrics(
    samples: Any,
    run_key: str,
    *,
    least: float | None = None,
    greatest: float | None = None,
    models: str | Mapping[str, float] | None = None,
) -> ConvergenceDetails:
    """The metrics of a stored run of `estimate_convergence`, at some of its thresholds and with other models placed.

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
        ``whole``: label convergence of all images at once, the number to quote; its ``mean``, ``std`` and ``interval``
        over subsets; its ``route``, and the ``images``, ``images_per_subset``, ``subsets`` and ``thresholds`` it is
        over; ``summary``: rows as of `LabelConvergence.summary`; ``lines``:
        ``name``, ``slope``, ``intercept``, ``correlation``, ``explained`` and ``source``, the fitted one first;
        ``parts``: all images and each tag with its interval, or the ``reason`` why it has none; ``sizes``: rows of
        `LabelConvergence.by_size`, over all thresholds of the run; ``models``: ``name``,
        ``map``, ``place`` and ``meaning``, and ``by_rater`` for a field of predictions; ``matrix``: mAP with the rater
        of the row as ground truth and the rater of the column as detections; ``checklist``: rows of
        `check_convergence`. None for what is undefined.

    Raises
    ------
    InputError
        If the run has no such thresholds, or for models that cannot be read.
    """
    return metrics_of(_load(samples, run_key), least, greatest, read_models(models))


def _load(samples: Any, run_key: str) -> Estimate:
    run = load_details(samples, run_key, "convergence")
    return unpack_estimate(run.settings, run.details, load_arrays(samples, run_key))


def replicate_points(
    samples: Any, run_key: str, least: float | None = None, greatest: float | None = None
) -> dict[str, NDArray[np.float64]]:
    """What the scatter of a run shows: ``alpha``, ``map`` and ``threshold`` of each replicate and threshold, flat."""
    chosen = _between(_load(samples, run_key).whole, least, greatest)
    return {
        "alpha": chosen.alpha.ravel(),
        "map": chosen.map.ravel(),
        "threshold": np.tile(chosen.thresholds, len(chosen.map)),
    }


def metrics_of(
    estimate: Estimate,
    least: float | None = None,
    greatest: float | None = None,
    more: Mapping[str, float] | None = None,
) -> ConvergenceDetails:
    """The metrics that `convergence_metrics` describes."""
    whole = _between(estimate.whole, least, greatest)
    chosen = np.isin(estimate.whole.thresholds, whole.thresholds)
    found, models = whole.convergence, _placed(estimate, whole, chosen, more or {})
    return {
        "whole": plain(whole.whole_convergence),
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
        "lines": [_line_metrics(name, line) for name, line in _lines(whole)],
        "parts": [_part_metrics(part, least, greatest, chosen) for part in estimate.parts],
        "sizes": estimate.sizes,
        "models": models,
        "matrix": plain(estimate.directions[chosen].mean(axis=0)),
        "checklist": estimate.checklist,
    }


def _between(replicates: Replicates, least: float | None, greatest: float | None) -> Replicates:
    known = replicates.thresholds
    return replicates.between(
        float(known.min()) if least is None else least, float(known.max()) if greatest is None else greatest
    )


def _placed(
    estimate: Estimate, whole: Replicates, chosen: NDArray[np.bool_], more: Mapping[str, float]
) -> list[ModelMetrics]:
    """Every model with its place; the field of predictions last."""
    spread = whole.convergence
    models = [_place(spread, name, value) for name, value in {**estimate.models, **more}.items()]
    if estimate.predictions is not None:
        by_rater = estimate.predicted[chosen].mean(axis=0)
        own = _place(spread, estimate.predictions, float(np.nanmean(by_rater)))
        own["by_rater"] = dict(zip(estimate.raters, plain(by_rater), strict=True))
        models.append(own)
    return models


def _place(spread: Spread, name: str, value: float) -> ModelMetrics:
    return {"name": name, "map": value, "place": spread.position(value), "meaning": spread.meaning(value)}


def _lines(replicates: Replicates) -> list[tuple[str, Line]]:
    found = [("fitted here", line) for line in [replicates.fitted] if line is not None]
    if replicates.line is not None:
        name = "published" if replicates.line.source == PUBLISHED_LINE.source else "given"
        found.append((name, replicates.line))
    return found


def _line_metrics(name: str, line: Line) -> LineMetrics:
    return {"name": name, **line_record(line), "explained": line.explained}


def _part_metrics(part: Subsets, least: float | None, greatest: float | None, chosen: NDArray[np.bool_]) -> PartMetrics:
    replicates = None if part.replicates is None else _between(part.replicates, least, greatest)
    found = None if replicates is None else replicates.convergence
    return {
        "name": part.name,
        "images": part.images,
        "images_per_subset": None if replicates is None else replicates.images_per_replicate,
        "reason": part.reason,
        "whole": None if replicates is None else plain(replicates.whole_convergence),
        "mean": None if found is None else plain(found.mean),
        "std": None if found is None else plain(found.std),
        "interval": [None, None] if found is None else plain(found.interval),
        "predicted": plain(float(part.predicted[chosen].mean())),
    }


def shown_parts(parts: Sequence[PartMetrics]) -> list[PartMetrics]:
    """All images first, then the tags with the most images, by name."""
    whole, *tags = parts
    with_interval = [part for part in tags if part["mean"] is not None]
    largest = sorted(with_interval, key=lambda part: -part["images"])[:MOST_SHOWN]
    return [whole, *sorted(largest, key=lambda part: part["name"])]


# ---- computed, stored and read back ----


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
        similarity=settings["similarity"],
        thresholds=settings["thresholds"],
        line=line_of(settings),
        pairs=pairs,
        progress=progress,
    )


def sizes_of(result: LabelConvergence) -> list[SizeMetrics]:
    """How label convergence depends on the size of subsets; only their own size where others leave subsets empty."""
    shares = [share for share in SHARES if round(share * result.images)]
    samples = min(len(result.drawn), OF_EACH_SIZE)
    try:
        table = result.by_size(shares, samples)
    except InputError:
        table = result.by_size((), samples)
    return cast(list[SizeMetrics], plain(table.to_dict("records")))


def line_record(line: Line) -> LineRecord:
    """A line as plain values, without what it was fitted on."""
    return cast(LineRecord, {name: value for name, value in asdict(line).items() if name != "residuals"})


def line_of(settings: ConvergenceSettings) -> Line:
    """The line a run was told; by default the published one."""
    return PUBLISHED_LINE if settings["line"] is None else Line(**settings["line"], residuals=np.zeros(0))


def arrays_of(estimate: Estimate) -> dict[str, NDArray[np.float64]]:
    """What is stored of an estimate beside its metrics: the replicates, NaN for a tag that has none."""
    whole = estimate.whole
    nothing = np.full(whole.map.shape, np.nan)
    parts = [part.replicates for part in estimate.parts]
    at_once = [(None, None) if part is None else (part.whole_map, part.whole_alpha) for part in parts]
    return {
        "part_map": np.stack([nothing if part is None else part.map for part in parts]),
        "part_alpha": np.stack([nothing if part is None else part.alpha for part in parts]),
        "part_whole": np.array([[nothing[0] if values is None else values for values in part] for part in at_once]),
        "part_predicted": np.stack([part.predicted for part in estimate.parts]),
        "directions": estimate.directions,
        "predicted": estimate.predicted,
    }


def unpack_estimate(settings: ConvergenceSettings, stored: ConvergenceDetails, arrays: Arrays) -> Estimate:
    """The estimate of a run, from the metrics and arrays it stored."""
    raters = tuple(stored["raters"])
    thresholds = np.array(settings["thresholds"])
    configuration = Configuration(
        settings["similarity"], float(thresholds[0]), PAPER_SOLVER, PAPER_COST, 0, settings["seed"]
    )
    columns = [arrays[f"part_{name}"] for name in ("map", "alpha", "whole", "predicted")]
    parts = []
    for about, precision, alpha, whole, predicted in zip(stored["parts"], *columns, strict=True):
        replicates = None
        size = about["images_per_subset"]
        if size is not None:
            replicates = Replicates(
                thresholds,
                precision,
                alpha,
                len(raters),
                about["images"],
                size,
                configuration,
                line_of(settings),
                *whole,
            )
        parts.append(Subsets(about["name"], about["images"], replicates, predicted, about["reason"]))
    return Estimate(
        parts=tuple(parts),
        raters=raters,
        directions=arrays["directions"],
        models=models_of(settings["models"]),
        predictions=settings["predictions"],
        predicted=arrays["predicted"],
        checklist=list(stored["checklist"]),
        sizes=list(stored["sizes"]),
    )


def models_of(records: Sequence[ModelRecord]) -> dict[str, float]:
    """Stored models as a mapping; stored is a list, since a name may hold what a key of a database may not."""
    return {record["name"]: record["map"] for record in records}


def by_rater(found: PredictionMap | None, thresholds: int, raters: int) -> NDArray[np.float64]:
    """(T, R) mAP of predictions, NaN without any."""
    return np.full((thresholds, raters), np.nan) if found is None else found.by_rater
