"""Localization sensitivity: decrease of agreement with a stricter similarity threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, AgreementSettings, Empty, check_agreement, check_comparable, compared
from kalos_core.annotations import Annotations
from kalos_core.calibration import Calibration, Separation
from kalos_core.correspondence.costs import CostName
from kalos_core.correspondence.units import SolverName, correspond
from kalos_core.diagnostics.parts import Part
from kalos_core.display import with_interval
from kalos_core.errors import InputError, repr_of, warn
from kalos_core.inference import intervals
from kalos_core.limits import check_replicates
from kalos_core.options import Option, Replicates, Seed, Settings, checked, takes
from kalos_core.pairs import Pairs, compute_pairs, pairs_from
from kalos_core.reliability import build_units
from kalos_core.resampling import Cells, Draws, Resampled, join_images
from kalos_core.results import Result
from kalos_core.sharding import Sharded
from kalos_core.similarity import Similarity, get_similarity
from kalos_core.similarity.base import Thresholds
from kalos_core.similarity.fitting import ComparedBy, sent

THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Default thresholds of the curve."""

USUAL_ANCHOR = 0.5
"""Threshold at which the loss begins if there is no calibration."""


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Result):
    """Agreement at T thresholds, and the loss due to imprecise boundaries.

    Figures: ``"thresholds"``.

    Parameters
    ----------
    threshold : (T,) float64
        Smallest similarities, as given.
    alpha, global_alpha : (T,) float64
    alpha_interval, global_alpha_interval : (T, 2) float64
    images : (T,) int
        Number of images behind the mean.
    anchor, strict : float
    delta, global_delta : float
        Agreement at `anchor` minus agreement at `strict`.
    delta_interval, global_delta_interval : (2,) float64
        Both thresholds on the same drawn images.
    image_alpha : (T, I) float64
        Alpha of each image at each threshold; NaN if undefined.
    calibrated : bool
        Whether the anchor is the τ*_s of a calibration.

    Examples
    --------
    >>> from kalos_core import Annotations, sensitivity
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
    >>> frame = sensitivity(Annotations.from_rows(rows), [0.5, 0.75]).to_pandas()
    >>> frame["alpha"].tolist()
    [1.0, 1.0]
    """

    _call = "sensitivity(annotations)"
    _columns = "threshold alpha global_alpha alpha_interval global_alpha_interval images"

    threshold: NDArray[np.float64]
    alpha: NDArray[np.float64]
    alpha_interval: NDArray[np.float64]
    global_alpha: NDArray[np.float64]
    global_alpha_interval: NDArray[np.float64]
    images: NDArray[np.intp]
    anchor: float
    strict: float
    delta: float
    delta_interval: NDArray[np.float64]
    global_delta: float
    global_delta_interval: NDArray[np.float64]
    image_alpha: NDArray[np.float64]
    calibrated: bool = False

    def __len__(self) -> int:
        return len(self.threshold)

    @property
    def headline(self) -> str:
        """Summary of the result in one line."""
        over = f"from threshold {self.anchor:g} to {self.strict:g}"
        if np.isnan(self.delta):
            return f"How alpha changes {over} is undefined"
        return f"Alpha changes by {with_interval(self.delta, self.delta_interval)} {over}"


@dataclass(frozen=True)
class SensitivitySettings(Settings):
    """Settings of `sensitivity`: thresholds, and settings of `agreement`.

    Examples
    --------
    >>> SensitivitySettings([0.5, 0.75]).at(0.75).notation
    'KαLOS(auto, τ_s=0.75, S=greedy, ψ_soft)'
    """

    thresholds: Thresholds = THRESHOLDS
    _: KW_ONLY
    anchor: Annotated[
        float | None,
        Option(
            "Anchor",
            "Threshold at which the loss begins. By default τ*_s of the `calibration`, or 0.5 without one.",
            low=0,
            high=1,
        ),
    ] = None
    strict: Annotated[
        float,
        Option(
            "Strict threshold",
            "Threshold at which the loss ends. Open in the paper, whose polygons fall off at .9 (§14.1).",
            low=0,
            high=1,
        ),
    ] = 0.9
    similarity: ComparedBy = "auto"
    solver: SolverName = "greedy"
    cost: CostName = "soft"
    bootstrap: Replicates = 1000
    seed: Seed = 0
    empty: Empty = "count"

    def at(self, threshold: float) -> AgreementSettings:
        """Return the settings of the agreement at a threshold."""
        return self.part(AgreementSettings, threshold=threshold)


@dataclass(frozen=True)
class SensitivityArguments(SensitivitySettings):
    """Arguments of `sensitivity`: its settings, precomputed pairs and a calibration."""

    _: KW_ONLY
    pairs: Pairs | None = None
    calibration: Calibration | Separation | None = None


@takes(SensitivityArguments)
def sensitivity(annotations: Annotations | Sharded[Annotations], settings: SensitivityArguments) -> Sensitivity:
    """Compute localization sensitivity (KαLOS §13): alpha over thresholds, delta = alpha(anchor) - alpha(strict).

    Disagreement about existence and class does not depend on the threshold. The loss between the anchor and a strict
    threshold measures imprecise outlines. Similarities are computed once, from the lowest threshold. The anchor and the
    strict threshold need not be among the thresholds.

    Parameters
    ----------
    annotations : Annotations, or shards of them
    pairs : Pairs, optional
        Precomputed pairs, at the lowest of all these thresholds or lower; not supported for shards.
    calibration : Calibration or Separation, optional
        Result of `calibrate` for this similarity. The paper's delta begins at its τ* (KαLOS §13).

    Returns
    -------
    Sensitivity

    Warns
    -----
    KalosWarning
        If the anchor is an untrusted τ* (`Separation.why`).

    Raises
    ------
    InputError
        If there is no threshold, a threshold is outside [0, 1], or `strict` is below `anchor`. If both `anchor` and
        `calibration` are given, or the calibration lacks this similarity or a τ* for it. Any error of `agreement`.

    Examples
    --------
    Two boxes of one object with an IoU of .8:

    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 10, h]} for r, h in [("ann", 10), ("bob", 8)]]
    >>> curve = sensitivity(Annotations.from_rows(rows), [0.5, 0.75, 0.9])
    >>> curve.alpha.tolist(), curve.delta
    ([1.0, 1.0, -0.5], 1.5)
    """
    known = check_comparable(annotations, settings.pairs)
    measure, chosen = settings.at(0.0).for_kinds(annotations)
    plan = _plan_curve(settings, measure.name, settings.calibration)
    check_replicates(chosen.bootstrap, len(known.images))
    if isinstance(annotations, Sharded):
        task = partial(_shard_cells, measure=sent(measure), thresholds=plan.every.tolist(), settings=chosen)
        parts = annotations.parts(task, "Thresholds")
        joined = [join_images(cells, annotations.starts) for cells in zip(*parts, strict=True)]
        return _sensitivity_of(plan, dict(zip(plan.every.tolist(), joined, strict=True)).__getitem__, known, chosen)
    near = pairs_from(annotations, measure, float(plan.every[0]), settings.pairs)
    table = compared(annotations, chosen.empty)
    return _sensitivity_of(plan, partial(_cells_at, table, near, settings=chosen), table, chosen)


def _shard_cells(
    annotations: Annotations, measure: str | Similarity, thresholds: Sequence[float], settings: AgreementSettings
) -> list[Cells]:
    """Cells of the images of a shard at each threshold."""
    near = compute_pairs(annotations, get_similarity(measure), thresholds[0])
    table = compared(annotations, settings.empty)
    return [_cells_at(table, near, value, settings) for value in thresholds]


@dataclass(frozen=True, eq=False)
class CurvePlan:
    """Thresholds at which `sensitivity` computes alpha: the requested ones, the anchor and the strict one."""

    requested: NDArray[np.float64]
    anchor: float
    strict: float
    calibrated: bool

    @property
    def every(self) -> NDArray[np.float64]:
        """All distinct thresholds, ascending."""
        return np.unique([*self.requested, self.anchor, self.strict])


def _plan_curve(
    settings: SensitivitySettings, similarity: str, calibration: Calibration | Separation | None
) -> CurvePlan:
    """Check the arguments of `sensitivity` together; `similarity` is a name."""
    requested, strict = np.array(settings.thresholds, dtype=np.float64), settings.strict
    if not len(requested):
        raise InputError("thresholds: expected at least one, got none")
    start = _anchor(settings.anchor, calibration, similarity)
    if strict < start:
        raise InputError(f"strict: expected a threshold of at least the anchor {start:g}, got {strict:g}")
    return CurvePlan(requested, start, strict, calibration is not None)


def _sensitivity_of(
    plan: CurvePlan, cells_at: Callable[[float], Cells], annotations: Annotations, settings: AgreementSettings
) -> Sensitivity:
    """Compute `sensitivity` from the cells at each threshold; reads only the assignment of the annotations."""
    every_threshold = plan.every
    images = _drawn_from(annotations, map(cells_at, every_threshold.tolist()), settings.empty)
    curve, resampled = [], []
    for value in every_threshold.tolist():  # one by one: all at once need many times the memory of the annotations
        cells = cells_at(value).seen()
        curve.append((cells.mean(1)[0], cells.whole(1)[0], cells.count(1)[0], cells.pairable(1)[0], cells.value))
        if settings.bootstrap and len(images):
            resampled.append(Resampled(cells, 1, images, annotations.image_rank))
    mean, whole, count, pairable, image_alpha = (np.stack(part, axis=-1) for part in zip(*curve, strict=True))
    # one draw for all thresholds, since drawing takes as long as summing
    draws = Draws(images, settings.bootstrap, settings.seed) if resampled else ()
    drawn = [[one.of(times) for one in resampled] for times in draws]
    none = np.zeros((0, len(curve)))
    means = np.concatenate([none, *(np.hstack([one.mean for one in part]) for part in drawn)])
    wholes = np.concatenate([none, *(np.hstack([one.whole for one in part]) for part in drawn)])
    at = np.searchsorted(every_threshold, plan.requested)
    one, two = np.searchsorted(every_threshold, [plan.anchor, plan.strict])
    return Sensitivity(
        threshold=plan.requested,
        alpha=mean[at],
        alpha_interval=intervals(means, count)[at],
        global_alpha=whole[at],
        global_alpha_interval=intervals(wholes, pairable)[at],
        images=count[at],
        anchor=plan.anchor,
        strict=plan.strict,
        delta=float(mean[one] - mean[two]),
        delta_interval=intervals(means[:, [one]] - means[:, [two]], count[one])[0],
        global_delta=float(whole[one] - whole[two]),
        global_delta_interval=intervals(wholes[:, [one]] - wholes[:, [two]], pairable[one])[0],
        image_alpha=image_alpha.T[at],
        calibrated=plan.calibrated,
    )


def _drawn_from(annotations: Annotations, curve: Iterable[Cells], empty: str) -> NDArray[np.intp]:
    """Ranks of the images with a value or a pairable value in any of the cells of a curve."""
    if annotations.assigned_categories is None and not len(annotations.excluded) and empty == "count":
        there = annotations.comparable_images  # for any units, all assigned raters have a value in each
    else:
        there = np.any([cells.drawable for cells in curve], axis=0)
    return np.sort(annotations.image_rank[there])


@checked
def image_alphas(agreement: Agreement, thresholds: Thresholds) -> NDArray[np.float64]:
    """Compute alpha of each image at several thresholds, with the settings of the agreement.

    Parameters
    ----------
    agreement : Agreement
        Its pairs are reused if they reach down to the lowest threshold, and recomputed otherwise.
    thresholds : (T,) floats in [0, 1]
        Smallest similarities.

    Returns
    -------
    (T, I) float64
        Rows in the order of the thresholds; NaN if alpha of an image is undefined.

    Raises
    ------
    InputError
        If there is no threshold or one outside [0, 1]. If pairs have to be recomputed for a similarity that is not in
        `SIMILARITIES`.

    Examples
    --------
    Two boxes of one object with an IoU of .8:

    >>> from kalos_core._agreement import agreement
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 10, h]} for r, h in [("ann", 10), ("bob", 8)]]
    >>> image_alphas(agreement(Annotations.from_rows(rows)), [0.3, 0.9]).tolist()
    [[1.0], [-0.5]]
    """
    check_agreement(agreement)
    if not len(thresholds):
        raise InputError("thresholds: expected at least one, got none")
    settings, pairs = agreement.configuration, agreement.pairs
    if min(thresholds) < pairs.floor:
        pairs = compute_pairs(agreement.annotations, get_similarity(settings.measure), min(thresholds))
    return np.stack([_cells_at(agreement.annotations, pairs, value, settings).seen().value for value in thresholds])


def _cells_at(annotations: Annotations, pairs: Pairs, threshold: float, settings: AgreementSettings) -> Cells:
    """Cells of all images, matched at a threshold."""
    units = build_units(annotations, correspond(annotations, pairs, threshold, settings.solver, settings.cost))
    return Part(annotations, units).cells()


def _anchor(anchor: float | None, calibration: Calibration | Separation | None, similarity: str) -> float:
    """Threshold at which the loss begins: as given, else τ*_s of the calibration, else the default."""
    if calibration is None:
        return USUAL_ANCHOR if anchor is None else anchor
    if anchor is not None:
        raise InputError(f"anchor: expected it from the calibration or as a number, got both ({repr_of(anchor)})")
    found = calibration[similarity] if isinstance(calibration, Calibration) else calibration
    if found.name != similarity:
        raise InputError(f"calibration: expected one of {similarity!r}, got {repr_of(found.name)}")
    if not np.isfinite(found.tau):
        raise InputError(f"calibration: expected a τ* of {similarity}, got none: {found.reason}")
    if not found.trusted:
        warn(f"calibration: the anchor {found.threshold:.3g} is not to be trusted: {found.why}")
    return found.threshold
