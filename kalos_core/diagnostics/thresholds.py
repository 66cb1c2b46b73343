"""Localization sensitivity: how agreement falls as annotations must lie closer together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import agreement, check_comparable
from kalos_core.annotations import Annotations
from kalos_core.diagnostics.parts import Part
from kalos_core.errors import InputError, check_whole
from kalos_core.pairs import Pairs, compute_pairs
from kalos_core.resampling import interval_columns, intervals, join_cells, resample
from kalos_core.similarity import Rows, Similarity, check_threshold

if TYPE_CHECKING:
    import pandas as pd

THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Where agreement is computed unless other thresholds are given."""


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Agreement over T thresholds, and what is lost to imprecise boundaries.

    Parameters
    ----------
    threshold : (T,) float64
        Least similarities, as given.
    alpha, global_alpha : (T,) float64
    alpha_interval, global_alpha_interval : (T, 2) float64
    images : (T,) int
        Over how many images the mean is.
    anchor, strict : float
    delta, global_delta : float
        Agreement at `anchor` minus agreement at `strict`.
    delta_interval, global_delta_interval : (2,) float64
        Both thresholds on the same drawn images.

    Examples
    --------
    >>> from kalos_core import Annotations, sensitivity
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
    >>> frame = sensitivity(Annotations.from_rows(rows), [0.5, 0.75]).to_pandas()
    >>> frame["alpha"].tolist()
    [1.0, 1.0]
    """

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

    def __len__(self) -> int:
        return len(self.threshold)

    def to_pandas(self) -> pd.DataFrame:
        """One row a threshold."""
        import pandas as pd

        return pd.DataFrame(
            {
                "threshold": self.threshold,
                "alpha": self.alpha,
                "global_alpha": self.global_alpha,
                **interval_columns(alpha=self.alpha_interval, global_alpha=self.global_alpha_interval),
                "images": self.images,
            }
        )


def sensitivity(
    annotations: Annotations,
    thresholds: Sequence[float] | NDArray[np.float64] = THRESHOLDS,
    *,
    anchor: float = 0.5,
    strict: float = 0.9,
    similarity: str | Similarity | Rows = "box_iou",
    solver: str = "greedy",
    cost: str = "soft",
    bootstrap: int = 1000,
    seed: int = 0,
    pairs: Pairs | None = None,
) -> Sensitivity:
    """Localization sensitivity (KαLOS §13): alpha over thresholds, delta = alpha(anchor) - alpha(strict).

    Disagreement about what is there stays whatever the threshold is; what is lost between the anchor and a strict
    threshold is imprecision of outlines. Similarities are computed once, from the lowest threshold.

    Parameters
    ----------
    annotations : Annotations
    thresholds : (T,) floats in [0, 1]
        Least similarities; the table has a row for each.
    anchor : float in [0, 1]
        The calibrated threshold, or the usual one.
    strict : float in [0, 1]
        A stricter threshold. The paper leaves it open; .9 is where its polygons fall off (§14.1). Neither needs to be
        among `thresholds`.
    similarity, solver, cost, bootstrap, seed, pairs
        As in `agreement`; `pairs` computed from the lowest of all these thresholds or lower.

    Returns
    -------
    Sensitivity

    Raises
    ------
    InputError
        For no threshold, one outside [0, 1], a `strict` below `anchor`, and whatever `agreement` refuses.

    Examples
    --------
    Two boxes of one object with an IoU of .8:

    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 10, h]} for r, h in [("ann", 10), ("bob", 8)]]
    >>> curve = sensitivity(Annotations.from_rows(rows), [0.5, 0.75, 0.9])
    >>> curve.alpha.tolist(), curve.delta
    ([1.0, 1.0, -0.5], 1.5)
    """
    check_comparable(annotations)
    if np.ndim(thresholds) != 1:
        raise InputError(f"thresholds: expected a list of similarities, got {thresholds!r}")
    requested = np.array([check_threshold(value, "thresholds") for value in thresholds], dtype=np.float64)
    if not len(requested):
        raise InputError("thresholds: expected at least one, got none")
    anchor, strict = check_threshold(anchor, "anchor"), check_threshold(strict, "strict")
    if strict < anchor:
        raise InputError(f"strict: expected a threshold of at least the anchor {anchor:g}, got {strict:g}")
    every_threshold = np.unique([*requested, anchor, strict])
    if pairs is None:
        pairs = compute_pairs(annotations, similarity, float(every_threshold[0]))
    parts = []
    for statistic, value in enumerate(every_threshold.tolist()):
        cells = Part.of(agreement(annotations, similarity, value, solver, cost, 0, seed, pairs=pairs)).cells()
        parts.append(replace(cells, statistic=np.full(len(cells), statistic)))
    cells = join_cells(parts)
    drawn = resample(cells, len(every_threshold), check_whole(bootstrap, "bootstrap"), seed, annotations.image_rank)
    mean, whole, images = (
        cells.mean(len(every_threshold)),
        cells.whole(len(every_threshold)),
        cells.count(len(every_threshold)),
    )
    at = np.searchsorted(every_threshold, requested)
    one, two = np.searchsorted(every_threshold, [anchor, strict])
    return Sensitivity(
        threshold=requested,
        alpha=mean[at],
        alpha_interval=intervals(drawn.mean)[at],
        global_alpha=whole[at],
        global_alpha_interval=intervals(drawn.whole)[at],
        images=images[at],
        anchor=anchor,
        strict=strict,
        delta=float(mean[one] - mean[two]),
        delta_interval=intervals(drawn.mean[:, [one]] - drawn.mean[:, [two]])[0],
        global_delta=float(whole[one] - whole[two]),
        global_delta_interval=intervals(drawn.whole[:, [one]] - drawn.whole[:, [two]])[0],
    )
