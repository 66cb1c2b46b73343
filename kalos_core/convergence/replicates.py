"""Replicates of label convergence and the metrics derived from them, at all or some thresholds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import AgreementSettings
from kalos_core.convergence.regression import PUBLISHED_LINE, SAME_ALPHA, Line, fit_line
from kalos_core.convergence.spread import Spread, interval_of_all
from kalos_core.display import number_of, points_text
from kalos_core.errors import InputError
from kalos_core.results import Result, crossed

if TYPE_CHECKING:
    import pandas as pd

SAME_THRESHOLD = 1e-6
"""Thresholds closer than this are equal up to rounding."""


@dataclass(frozen=True, eq=False, repr=False)
class Replicates(Result):
    """B replicates of modified mAP and alpha at T thresholds, and metrics derived from them without annotations.

    Figures: ``"replicates"``, ``"regression"``.

    Parameters
    ----------
    thresholds : (T,) float64
    map : (B, T) float64
        Mean of both directions; with more than two raters, mean over all ordered pairs of raters.
    alpha : (B, T) float64
        Mean image alpha.
    raters : int
    images : int
        Number of images that replicates were drawn from.
    images_per_replicate : int
    configuration : AgreementSettings
        Settings of `alpha`, at the first threshold.
    line : Line or None
        Line that maps alpha to mAP; None if no line belongs to this alpha.
    whole_map, whole_alpha : (T,) float64, optional
        `map` and `alpha` on all images at once, that is, without subsets. Both depend on the number of images, so the
        mean of the replicates differs from them.
    halves_map, halves_alpha : (H, T) float64, optional
        `map` and `alpha` of halves of the images, from which `interval` is computed.

    Examples
    --------
    >>> map_, alpha = np.array([[0.8, 0.4], [0.7, 0.5], [0.9, 0.3]]), np.array([[0.7, 0.3], [0.6, 0.2], [0.8, 0.4]])
    >>> found = Replicates(np.array([0.5, 0.9]), map_, alpha, 2, 100, 10, AgreementSettings(), None)
    >>> round(found.convergence.mean, 3), round(found.between(0.5, 0.6).convergence.mean, 3)
    (0.6, 0.8)
    """

    _call = "label_convergence(annotations).replicates"

    thresholds: NDArray[np.float64]
    map: NDArray[np.float64]
    alpha: NDArray[np.float64]
    raters: int
    images: int
    images_per_replicate: int
    configuration: AgreementSettings
    line: Line | None
    whole_map: NDArray[np.float64] | None = None
    whole_alpha: NDArray[np.float64] | None = None
    halves_map: NDArray[np.float64] | None = None
    halves_alpha: NDArray[np.float64] | None = None

    def between(self, least: float | None = None, greatest: float | None = None) -> Replicates:
        """Restrict to thresholds from `least` to `greatest`, both included; by default to the range of this result.

        Raises
        ------
        InputError
            If no threshold lies in the range.
        """
        chosen = self.chosen(least, greatest)
        thresholds = self.thresholds[chosen]
        return replace(
            self,
            thresholds=thresholds,
            map=self.map[:, chosen],
            alpha=self.alpha[:, chosen],
            whole_map=None if self.whole_map is None else self.whole_map[chosen],
            whole_alpha=None if self.whole_alpha is None else self.whole_alpha[chosen],
            halves_map=None if self.halves_map is None else self.halves_map[:, chosen],
            halves_alpha=None if self.halves_alpha is None else self.halves_alpha[:, chosen],
            configuration=replace(self.configuration, threshold=float(thresholds[0])),
        )

    def chosen(self, least: float | None = None, greatest: float | None = None) -> NDArray[np.bool_]:
        """(T,) whether each threshold lies between `least` and `greatest`."""
        thresholds = self.thresholds
        least = float(thresholds.min()) if least is None else least
        greatest = float(thresholds.max()) if greatest is None else greatest
        chosen = (thresholds >= least - SAME_THRESHOLD) & (thresholds <= greatest + SAME_THRESHOLD)
        if not chosen.any():
            raise InputError(
                f"thresholds: expected some from {thresholds.min():g} to {thresholds.max():g}, "
                f"got {least:g} to {greatest:g}"
            )
        return chosen

    @property
    def measured(self) -> Spread:
        """Modified mAP, mean over the thresholds and, with more than two raters, over ordered pairs of raters."""
        return Spread(self.map.mean(axis=1))

    @property
    def inferred(self) -> Spread | None:
        """MAP inferred from alpha with `line`, mean over the thresholds; None without a line."""
        return None if self.line is None else self.inferred_with(self.line)

    def inferred_with(self, line: Line) -> Spread:
        """MAP inferred from alpha with any line, such as `PUBLISHED_LINE` or `fitted` of another result."""
        return Spread(line.map_of(self.alpha).mean(axis=1))

    @property
    def is_measured(self) -> bool:
        """Whether `convergence` is measured: for two raters, or where no line belongs to alpha."""
        return self.raters == 2 or self.line is None

    @property
    def convergence(self) -> Spread:
        """Label convergence as in the paper: measured for two raters, else inferred from alpha if there is a line."""
        inferred = self.inferred
        return self.measured if self.raters == 2 or inferred is None else inferred

    @property
    def whole_convergence(self) -> float:
        """`convergence` of all images at once, the number to quote; NaN if unknown."""
        return self._whole[0 if self.is_measured else 1]

    @property
    def interval(self) -> NDArray[np.float64]:
        """(2,) 95 % interval of `whole_convergence`, against which models are placed; see `interval_of_all`."""
        halves = self.halves_map if self.line is None or self.is_measured else self._mapped(self.halves_alpha)
        if halves is None:
            return np.full(2, np.nan)
        return interval_of_all(self.whole_convergence, halves.mean(axis=1), self.images // 2, self.images)

    def _mapped(self, alpha: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        return None if alpha is None or self.line is None else self.line.map_of(alpha)

    @property
    def _whole(self) -> tuple[float, float, float]:
        """Modified mAP, mAP inferred from alpha, and alpha of all images, each averaged over the thresholds."""
        precision, alpha = (
            np.full(len(self.thresholds), np.nan) if values is None else values
            for values in (self.whole_map, self.whole_alpha)
        )
        inferred = np.full(1, np.nan) if self.line is None else self.line.map_of(alpha)
        return float(precision.mean()), float(inferred.mean()), float(alpha.mean())

    @property
    def how(self) -> str:
        """Short description of how `whole_convergence` was obtained; begins with "measured" or "inferred"."""
        if self.raters == 2:
            return "measured between the two raters"
        every = f"pairs of the {self.raters} raters"
        if self.line is None:
            return f"measured, mean over {every}"
        line = "the line of the paper (LVIS, COCO, Open Images)" if self._is_published else "a given line"
        pairs = self._whole[0]
        beside = "" if np.isnan(pairs) else f"; {every} reach {points_text(pairs)} on average, measured"
        return f"inferred from alpha with {line}{beside}"

    @property
    def route(self) -> str:
        """Description of how `convergence` was obtained, with the configuration and the origin of the line."""
        if self.raters == 2:
            return "measured: modified mAP of both directions"
        if self.line is None:
            return (
                "measured: mean modified mAP of all ordered pairs of raters, which is not the paper's number for more "
                f"than two raters (no line belongs to {self.configuration.notation} of such annotations)"
            )
        return f"inferred from alpha of all raters, {self.configuration.notation}, with {self.line.source}"

    @property
    def _is_published(self) -> bool:
        return self.line is not None and self.line.source == PUBLISHED_LINE.source

    @property
    def fitted(self) -> Line | None:
        """Line fitted on all replicates and thresholds; None if alpha is constant or there are more than two raters.

        More than two raters have no single mAP to fit.
        """
        defined = self.alpha[np.isfinite(self.alpha)]
        if self.raters > 2 or len(defined) < 3 or np.ptp(defined) <= SAME_ALPHA:
            return None
        count, thresholds = self.alpha.shape
        source = (
            f"fitted on {number_of(count, 'subset')} x {number_of(thresholds, 'threshold')}, α = "
            f"{self.configuration.notation}"
        )
        return fit_line(self.alpha.ravel(), self.map.ravel(), source)

    @property
    def lines(self) -> dict[str, Line]:
        """Lines from alpha to mAP by name: ``fitted here`` if possible, and ``published`` or ``given``."""
        known = "published" if self._is_published else "given"
        lines = {"fitted here": self.fitted, known: self.line}
        return {name: line for name, line in lines.items() if line is not None}

    def summary(self) -> pd.DataFrame:
        """Return one row each for measured mAP, inferred mAP and alpha, with the columns of Table 3 of the paper.

        `whole` is the value on all images, NaN if unknown. It comes first because the others depend on the size of the
        subsets. `low` and `high` are mean -+ 1.96 std, the interval of the paper. `is_convergence` marks the row of
        `convergence`.
        """
        import pandas as pd

        metrics = [
            ("modified mAP", self.measured),
            ("mAP inferred from alpha", self.inferred),
            ("alpha", Spread(self.alpha.mean(axis=1))),
        ]
        rows = [
            {
                "figure": name,
                "is_convergence": position == (0 if self.is_measured else 1),
                "images": self.images,
                "whole": whole,
                "sample_size": self.images_per_replicate,
                **spread.row(),
            }
            for position, ((name, spread), whole) in enumerate(zip(metrics, self._whole, strict=True))
            if spread is not None
        ]
        return pd.DataFrame(rows)

    @property
    def headline(self) -> str:
        """Summary of the result in one line."""
        return (
            f"{number_of(len(self.map), 'replicate')} on {self.images_per_replicate:,} of "
            f"{number_of(self.images, 'image')}"
        )

    def to_pandas(self) -> pd.DataFrame:
        """Return one row for each replicate and threshold: modified mAP and alpha."""
        axes = {"replicate": range(len(self.alpha)), "threshold": self.thresholds}
        return crossed(axes, map=self.map, alpha=self.alpha)

    def _table(self) -> pd.DataFrame:
        return self.summary()
