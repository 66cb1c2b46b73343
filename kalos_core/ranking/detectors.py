"""Evaluation of pixel detectors under each truth: curves, areas, ranks, bounds (Lampert et al. §III-C, D)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import mean_of_defined
from kalos_core.display import number_of, percent_text
from kalos_core.errors import InputError, listed
from kalos_core.options import checked
from kalos_core.pixels.moments import Correlation
from kalos_core.ranking.ranks import Rankings
from kalos_core.ranking.skew import curve_area, mean_precision, sample_curve
from kalos_core.results import Result, crossed

if TYPE_CHECKING:
    import pandas as pd

AREA = "area under mean precision"
"""The measure that detectors are ranked by."""


@dataclass(frozen=True, eq=False, repr=False)
class DetectorRanking(Result):
    """Result of `DetectorAccumulator`: T references (R of them raters), S detectors, L thresholds.

    Figures: ``"ranking"``, ``"tau"``, ``"shared"``, ``"bounds"``, ``"correlations"``, ``"curves"``, ``"agreement"``,
    ``"reference"``.

    Parameters
    ----------
    truths, detectors, raters : (T,), (S,), (R,) object
        Names; the raters are the first of the truths.
    bounding : (B,) object
        Names of the truths by vote that `bounds` are taken from.
    thresholds : (L,) float64
        Descending.
    tpr, fpr : (T, S, L) float64
        Rates at each threshold; TPR is NaN under a truth that marks nothing, FPR under one that marks everything.
    skew : (2,) float64
        Range of the fraction of positives over which precision is averaged.
    images : (T,) int
        Number of images of each truth.
    cco, cci : (S,) tuples of Correlation
        Correlations of a detector's scores with the share of raters who marked a pixel, on pixels that any rater marked
        (CCO), and on all pixels (CCI). r is None where undefined, with the reason.
    least_share : (T,) float64, optional
        Share of the raters for a truth at a threshold of agreement; NaN for all other truths.
    raters_are_local : bool
        Whether raters have no names that hold over several images.
    outliers : tuple of str, optional
        Raters that the truth ``"excl-0.5"`` leaves out, if given.
    image_ids : (I,) object, optional
        Images that the bootstrap draws from, in order.
    seed : int
        Seed of the bootstrap.
    replicates : (B, T, S) float64, optional
        `area` in each bootstrap replicate over images, at the same range of skew; B is 0 without a bootstrap.
    no_intervals : str
        Reason why requested intervals are missing, as a sentence; otherwise empty.
    area : (T, S) float64
        Area under `precision` over recall (TPR); by default computed from the rates.

    Examples
    --------
    Two detectors, one of which finds the pixels that the raters agree on:

    >>> from kalos_core.ranking import DetectorAccumulator
    >>> accumulator = DetectorAccumulator(methods=("any", "0.75"))
    >>> scores = {"sure": [[0.9, 0.6, 0.4, 0.1]], "broad": [[0.6, 0.9, 0.3, 0.2]]}
    >>> accumulator.add(scores, {"ann": [[1, 1, 0, 0]], "bob": [[1, 0, 0, 0]]})
    >>> result = accumulator.result(skew=(0.1, 0.5))
    >>> result.truths.tolist(), result.area.round(3).tolist()
    (['ann', 'bob', 'any', '0.75'], [[1.0, 1.0], [1.0, 0.351], [1.0, 1.0], [1.0, 0.351]])
    >>> result.bounds.round(3).tolist(), bool(result.distinguishable[0, 1])
    ([[1.0, 1.0], [0.351, 1.0]], False)
    """

    _call = "DetectorAccumulator.result()"

    truths: NDArray[np.object_]
    detectors: NDArray[np.object_]
    raters: NDArray[np.object_]
    bounding: NDArray[np.object_]
    thresholds: NDArray[np.float64]
    tpr: NDArray[np.float64]
    fpr: NDArray[np.float64]
    skew: NDArray[np.float64]
    images: NDArray[np.intp]
    cco: tuple[Correlation, ...]
    cci: tuple[Correlation, ...]
    least_share: NDArray[np.float64] | None = None
    raters_are_local: bool = False
    outliers: tuple[str, ...] | None = None
    image_ids: NDArray[np.object_] | None = None
    seed: int = 0
    replicates: NDArray[np.float64] | None = None
    no_intervals: str = ""
    area: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))

    def __post_init__(self) -> None:
        if not self.area.size:
            object.__setattr__(self, "area", curve_area(self.tpr, self.fpr, self.skew.tolist()))

    @property
    def by_agreement(self) -> NDArray[np.intp]:
        """Indices of the truths at thresholds of agreement, ascending from 1/N to all raters (Eq. 5)."""
        if self.least_share is None:
            return np.zeros(0, np.intp)
        order = np.argsort(self.least_share, kind="stable")
        return order[np.isfinite(self.least_share[order])]

    @cached_property
    def precision(self) -> NDArray[np.float64]:
        """(T, S, L) precision averaged over the range of skew (Eq. 7); NaN where nothing is detected."""
        return mean_precision(self.tpr, self.fpr, self.skew.tolist())

    def sampled(self, points: int = 200) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (P,) equally spaced recalls up to 1 and the (T, S, P) precision there, for plots."""
        recall = np.arange(1, points + 1) / points
        skew = self.skew.tolist()
        found = [
            [sample_curve(tpr, fpr, skew, recall) for tpr, fpr in zip(*of_truth, strict=True)]
            for of_truth in zip(self.tpr, self.fpr, strict=True)
        ]
        return recall, np.array(found)

    @cached_property
    def ranking(self) -> Rankings:
        """Detectors ranked by area under each truth."""
        nothing, all_ = (np.isnan(rate).all(axis=(1, 2)) for rate in (self.tpr, self.fpr))
        reasons = [f"{AREA} is undefined under {truth}: it marks no pixel" for truth in self.truths[nothing]]
        reasons += [
            f"{AREA} is undefined under {truth}: it marks every pixel" for truth in self.truths[all_ & ~nothing]
        ]
        reasons += [self.no_intervals] if self.no_intervals else []
        return Rankings(
            AREA,
            *(self.truths, self.detectors),
            self.area,
            undefined=tuple(reasons),
            replicates=self.replicates,
            images=len(_ids(self)),
        )

    @property
    def area_interval(self) -> NDArray[np.float64]:
        """(T, S, 2) 95 % bootstrap interval of `area` over images; NaN without a bootstrap."""
        return self.ranking.interval

    @property
    def bounds(self) -> NDArray[np.float64]:
        """(S, 2) smallest and largest area under the truths by vote, NaN where none is defined.

        In the paper's data, the truth "any" gives a lower bound of the areas under single raters, and a truth of high
        agreement an upper bound (§V-B). `raters_outside` counts the exceptions.
        """
        areas = self.area[np.isin(self.truths, self.bounding)]
        areas = areas[np.isfinite(areas).all(axis=1)]
        if not len(areas):
            return np.full((len(self.detectors), 2), np.nan)
        return np.stack([areas.min(axis=0), areas.max(axis=0)], axis=1)

    @property
    def raters_outside(self) -> NDArray[np.intp]:
        """(S,) number of single raters under which the area of a detector lies outside its bounds."""
        areas, (low, high) = self.area[np.isin(self.truths, self.raters)], self.bounds.T
        return np.asarray(((areas < low) | (areas > high)).sum(axis=0))

    @property
    def raters_compared(self) -> NDArray[np.intp]:
        """(S,) number of single raters under which the area of a detector can be compared with its bounds."""
        areas = self.area[np.isin(self.truths, self.raters)]
        return np.asarray((np.isfinite(areas) & np.isfinite(self.bounds[:, 0])).sum(axis=0))

    @property
    def notes(self) -> tuple[str, ...]:
        """Caveats of `distinguishable`: how often the bounds fail, or that they cannot be tested."""
        if self.raters_are_local:
            return ("Raters have no names across images, so the bounds cannot be tested under single raters.",)
        outside, compared = int(self.raters_outside.sum()), int(self.raters_compared.sum())
        if not outside:
            return ()
        of = f"of {number_of(compared, 'area')} under single raters"
        return (
            f"{number_of(outside, f'{of} lies', f'{of} lie')} outside the bounds: detectors with disjoint bounds "
            "may still rank differently under some raters.",
        )

    @property
    def overlap(self) -> NDArray[np.float64]:
        """(S, S) overlap of the bounds of two detectors, relative to their union; NaN where undefined."""
        low, high = self.bounds.T
        shared = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
        covered = np.maximum(high[:, None], high) - np.minimum(low[:, None], low)
        overlap = np.divide(np.clip(shared, 0, None), covered, out=np.ones_like(covered), where=covered != 0)
        return np.asarray(overlap)

    @property
    def distinguishable(self) -> NDArray[np.bool_]:
        """(S, S) whether the bounds of two detectors are disjoint; if the bounds hold, one is better. See `notes`."""
        low, high = self.bounds.T
        above = low[:, None] > high
        return np.asarray(above | above.T)

    @property
    def headline(self) -> str:
        """One-line summary of the result."""
        counted = (
            f"{number_of(len(self.detectors), 'detector')} ranked under {number_of(len(self.truths), 'reference')}"
        )
        return "; ".join(filter(None, [counted, sureness_text(self.ranking)]))

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per truth and detector: area and rank with intervals, `best_share`, and number of images."""
        ends = {f"value_{side}": f"area_{side}" for side in ("low", "high")}
        table = self.ranking.to_pandas().rename(columns={"system": "detector", "value": "area"} | ends)
        table["images"] = np.repeat(self.images, len(self.detectors))
        return table

    def by_detector(self) -> pd.DataFrame:
        """Return one row per detector: correlations with agreement (Table III) with p values, and bounds.

        `cci_minus_cco` is the paper's CCI - CCO. Together with the size of both, it measures how reliable a detector is
        (§III-C).
        """
        import pandas as pd

        cco, cci = (np.array([each.r for each in found], np.float64) for found in (self.cco, self.cci))  # None is NaN
        return pd.DataFrame(
            {
                "detector": self.detectors,
                "cco": cco,
                "cco_p": np.array([each.p for each in self.cco], np.float64),
                "cci": cci,
                "cci_p": np.array([each.p for each in self.cci], np.float64),
                "cci_minus_cco": cci - cco,
                "low": self.bounds[:, 0],
                "high": self.bounds[:, 1],
                "raters_outside": self.raters_outside,
                "raters_compared": self.raters_compared,
            }
        )

    def curves(self) -> pd.DataFrame:
        """Return one row per truth, detector and threshold at which more is detected than above it."""
        rising = (np.diff(self.tpr, axis=2, prepend=0) > 0) | (np.diff(self.fpr, axis=2, prepend=0) > 0)
        axes = {"truth": self.truths, "detector": self.detectors, "threshold": self.thresholds}
        every = crossed(axes, tpr=self.tpr, fpr=self.fpr, precision=self.precision)
        return every[rising.ravel()].reset_index(drop=True)


@checked
def rank_over_classes(by_class: Mapping[str, DetectorRanking]) -> Rankings:
    """Rank detectors of several classes under each truth by the mean area over the classes.

    Parameters
    ----------
    by_class : mapping of class to DetectorRanking
        One result per class, from the detectors' score maps and the masks of that class (`LabelStack.of_class`), for
        the same truths and detectors.

    Returns
    -------
    Rankings
        The mean is over the classes that a truth marks; NaN where it marks none. It has replicates if all classes have
        the same images, `bootstrap` and `seed`, so that each draw contains all classes.

    Raises
    ------
    InputError
        Without a class, or for a class with different truths or detectors than the first.

    Examples
    --------
    >>> from kalos_core.pixels import LabelStack
    >>> from kalos_core.ranking import DetectorAccumulator
    >>> labels = LabelStack.of({"ann": [[1, 2, 2, 0]], "bob": [[1, 1, 2, 0]]})
    >>> scores = {1: {"net": [[0.9, 0.1, 0, 0]]}, 2: {"net": [[0.1, 0.2, 0.8, 0.3]]}}
    >>> found = {}
    >>> for value, name in {1: "road", 2: "car"}.items():
    ...     accumulator = DetectorAccumulator(methods=["any"])
    ...     accumulator.add(scores[value], labels.of_class(value))
    ...     found[name] = accumulator.result(skew=(0.1, 0.5))
    >>> rank_over_classes(found).values.round(3).tolist()
    [[0.845], [1.0], [0.845]]
    """
    if not by_class:
        raise InputError("by_class: expected at least one class, got none")
    first = next(iter(by_class.values()))
    for name, found in by_class.items():
        for what in ("truths", "detectors"):
            actual, expected = getattr(found, what).tolist(), getattr(first, what).tolist()
            if actual != expected:
                raise InputError(f"by_class, {name!r}: expected the {what} {listed(expected)}, got {listed(actual)}")
    values = mean_of_defined(np.stack([found.area for found in by_class.values()]))
    without = first.truths[np.isnan(values).all(axis=1)]
    reasons = tuple(f"{AREA} is undefined under {truth}: no class is marked in part" for truth in without)
    reasons += tuple(f"{name}: {found.no_intervals}" for name, found in by_class.items() if found.no_intervals)
    return Rankings(
        f"mean {AREA}",
        *(first.truths, first.detectors),
        values,
        undefined=reasons,
        replicates=_joint_replicates(by_class),
        images=len(_ids(first)),
    )


def _joint_replicates(by_class: Mapping[str, DetectorRanking]) -> NDArray[np.float64] | None:
    """Return the (B, T, S) means over the classes in each replicate; None if classes were not drawn together."""
    drawn = [found.replicates for found in by_class.values() if found.replicates is not None]
    draws = {(repr(_ids(found)), found.seed) for found in by_class.values()}
    if len(drawn) < len(by_class) or len(draws) > 1 or len({len(replicates) for replicates in drawn}) > 1:
        return None
    return mean_of_defined(np.stack(drawn))


def _ids(found: DetectorRanking) -> list[object]:
    return [] if found.image_ids is None else found.image_ids.tolist()


def sureness_text(ranking: Rankings) -> str:
    r"""Describe the share of replicates in which the best system stays best; empty without replicates or competitors.

    Examples
    --------
    >>> names, drawn = (np.array(["ann"]), np.array(["net", "svm"])), np.array([[[0.9, 0.8]], [[0.7, 0.8]]])
    >>> sureness_text(Rankings(AREA, *names, np.array([[0.9, 0.8]]), replicates=drawn)).replace("\xa0", " ")
    'the best is best in 50 % of replicates'
    """
    found = ranking.sureness
    if found is None:
        return ""
    low, high = map(percent_text, found)
    if len(ranking.truths) == 1 or low == high:
        return f"the best is best in {low} of replicates"
    return f"the best of each is best in {low} to {high} of replicates"
