"""Variation types by threshold, and boundary distances where raters agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import check_comparable
from kalos_core.annotations import Annotations
from kalos_core.display import alpha_text, number_of
from kalos_core.errors import InputError
from kalos_core.options import Option, Settings, checked, takes
from kalos_core.pairs import Pairs
from kalos_core.results import Result, crossed
from kalos_core.sharding import Sharded, kinds_of, parts_of
from kalos_core.similarity.fitting import ComparedBy, measure_for, sent
from kalos_core.variation.find import MaxMerge, searches, touching_pairs
from kalos_core.variation.rates import ADDITIONAL, CORRECT, MISSING, VARIATION_TYPES
from kalos_core.variation.tables import Variations

if TYPE_CHECKING:
    import pandas as pd

THRESHOLDS = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Thresholds of KαLOS Fig. 9."""

MOST_BINS = 10_000
"""Maximum number of bins of a histogram; more could not be distinguished."""


@dataclass(frozen=True, eq=False, repr=False)
class VariationShares(Result):
    """Number of findings of each type at T thresholds.

    Figures: ``"thresholds"``.

    Parameters
    ----------
    threshold : (T,) float64, ascending
    counts : (T, 6) int
        Number of findings of each of `VARIATION_TYPES`.

    Examples
    --------
    >>> shares = VariationShares(np.array([0.5, 0.75]), np.array([[6, 0, 0, 0, 1, 1], [3, 0, 0, 0, 4, 4]]))
    >>> shares.shares[0].tolist()
    [0.75, 0.0, 0.0, 0.0, 0.125, 0.125]

    Matched minus unmatched findings fall from 4 to -5:

    >>> round(shares.equilibrium, 4)
    0.6111
    """

    _call = "variation_shares(annotations)"

    threshold: NDArray[np.float64]
    counts: NDArray[np.intp]

    @property
    def shares(self) -> NDArray[np.float64]:
        """(T, 6) share of all findings at each threshold; NaN if there are none."""
        findings = self.counts.sum(axis=1, keepdims=True)
        return np.asarray(self.counts / np.where(findings, findings, np.nan))

    @property
    def unmatched(self) -> NDArray[np.intp]:
        """(T,) number of findings that only one of two raters annotated."""
        return np.asarray(self.counts[:, [MISSING, ADDITIONAL]].sum(axis=1))

    @property
    def matched(self) -> NDArray[np.intp]:
        """(T,) number of all other findings, of the same class or not."""
        return np.asarray(self.counts.sum(axis=1) - self.unmatched)

    @property
    def equilibrium(self) -> float:
        """Threshold from which unmatched findings outnumber matched ones (KαLOS Fig. 9).

        Linearly interpolated between thresholds. NaN if there is none, for the reason in `no_equilibrium`.
        """
        if self.no_equilibrium:
            return float("nan")
        ahead = self.matched - self.unmatched
        after = int(np.flatnonzero(ahead < 0)[0])
        fall = ahead[after - 1] - ahead[after]
        step = self.threshold[after] - self.threshold[after - 1]
        return float(self.threshold[after - 1] + step * ahead[after - 1] / fall)

    @property
    def no_equilibrium(self) -> str:
        """Reason why there is no equilibrium; "" if there is one."""
        ahead = self.matched - self.unmatched
        if not self.counts.any():
            return "there are no findings"
        if ahead[0] < 0:
            return f"unmatched findings outnumber matched ones at all thresholds from {self.threshold[0]:g}"
        if (ahead >= 0).all():
            return f"matched findings are never outnumbered, up to threshold {self.threshold[-1]:g}"
        return ""

    @property
    def headline(self) -> str:
        """Finding, in words."""
        if self.no_equilibrium:
            return f"No equilibrium threshold: {self.no_equilibrium}"
        return f"Unmatched findings outnumber matched ones from threshold {self.equilibrium:.2f}"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row for each threshold and type."""
        return crossed({"threshold": self.threshold, "type": VARIATION_TYPES}, count=self.counts, share=self.shares)


CountedAt = Annotated[
    Sequence[float] | NDArray[np.float64],
    Option(
        "Thresholds",
        "Thresholds at which to count the findings of each type.",
        above=0,
        high=1,
        type="(T,) floats in (0, 1]",
    ),
]


@dataclass(frozen=True)
class ShareArguments(Settings):
    """Arguments of `variation_shares`: thresholds, and the settings of `variations`."""

    thresholds: CountedAt = THRESHOLDS
    similarity: ComparedBy = "auto"
    max_merge: MaxMerge = 4
    pairs: Pairs | None = field(default=None, kw_only=True)


@takes(ShareArguments)
def variation_shares(annotations: Annotations | Sharded[Annotations], settings: ShareArguments) -> VariationShares:
    """Count variation types at several thresholds (label convergence Fig. 4 and 6; KαLOS Fig. 9).

    Similarities are computed once for all thresholds. The result has the distinct thresholds in ascending order.

    Parameters
    ----------
    annotations : Annotations, or shards of them
    pairs : Pairs, optional
        As in `variations`.

    Returns
    -------
    VariationShares

    Raises
    ------
    InputError
        As in `variations`, or if there are no thresholds.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 10, h]} for r, h in [("a", 10), ("b", 7)]]
    >>> found = variation_shares(Annotations.from_rows(rows), [0.5, 0.9])
    >>> found.matched.tolist(), found.unmatched.tolist(), round(found.equilibrium, 4)
    ([1, 0], [0, 2], 0.6333)
    """
    levels = np.unique(settings.thresholds)
    if not len(levels):
        raise InputError("thresholds: expected at least one similarity, got none")
    measure = measure_for(settings.similarity, kinds_of(annotations))
    check_comparable(annotations, settings.pairs)
    chosen = replace(settings, similarity=sent(measure))
    parts = parts_of(annotations, partial(_counts, levels=levels, settings=chosen), "Variations")
    return VariationShares(levels, np.sum(parts, axis=0))


def _counts(annotations: Annotations, levels: NDArray[np.float64], settings: ShareArguments) -> NDArray[np.intp]:
    """Return (T, V) the findings of each type at each threshold."""
    measure = measure_for(settings.similarity, annotations)
    near = touching_pairs(annotations, measure, settings.pairs)
    counts = np.zeros((len(levels), len(VARIATION_TYPES)), np.intp)
    for number, (_, _, search) in enumerate(searches(annotations, measure, near, levels.tolist(), settings.max_merge)):
        counts[number % len(levels)] += search.counts()
    return counts


@dataclass(frozen=True, eq=False, repr=False)
class BoundaryQuality(Result):
    """Distances between the outlines of correct findings, 1 - similarity, in B bins.

    Figures: ``"distances"``.

    Parameters
    ----------
    edges : (B + 1,) float64
        Edges of the bins, from 0 to the largest distance that the threshold allows.
    counts : (B,) int
        Number of correct findings in each bin; bins include the lower edge, the last one both.
    median : float
        Median distance; NaN without a correct finding.
    identical : int
        Number of correct findings with a similarity of exactly 1; many suggest that labels were copied.

    Examples
    --------
    >>> from kalos_core import variations
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 10, h]} for r, h in [("a", 10), ("b", 7.5)]]
    >>> quality = boundary_quality(variations(Annotations.from_rows(rows)), bins=5)
    >>> quality.counts.tolist(), quality.findings, round(quality.median, 3), quality.identical
    ([0, 0, 1, 0, 0], 1, 0.25, 0)
    """

    _call = "boundary_quality(variations(annotations))"

    edges: NDArray[np.float64]
    counts: NDArray[np.intp]
    median: float
    identical: int

    @property
    def findings(self) -> int:
        """Number of correct findings."""
        return int(self.counts.sum())

    @property
    def headline(self) -> str:
        """Finding, in words."""
        count, apart = int(self.counts.sum()), alpha_text(self.median)
        findings = number_of(count, "correct finding")
        return f"Outlines of {findings} are {apart} apart (median); {self.identical:,} identical"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per bin."""
        import pandas as pd

        return pd.DataFrame({"low": self.edges[:-1], "high": self.edges[1:], "count": self.counts})


Bins = Annotated[int, Option("Bins", "Bins of equal width.", low=1, high=MOST_BINS)]


@checked
def boundary_quality(found: Variations, bins: Bins = 20) -> BoundaryQuality:
    """Compute a histogram of the distances of correct findings (label convergence Fig. 7).

    Parameters
    ----------
    found : Variations
    bins : int, 1 to `MOST_BINS`

    Examples
    --------
    >>> from kalos_core import variations
    >>> rows = [{"image": 1, "rater": rater, "category": "cat", "box": [0, 0, 10, 10]} for rater in ("ann", "bob")]
    >>> boundary_quality(variations(Annotations.from_rows(rows)), bins=2).counts.tolist()
    [1, 0]
    """
    distance = 1 - found.similarity[found.type_code == CORRECT]
    widest = 1 - found.threshold or 1.0  # at threshold 1, all distances are 0
    counts, edges = np.histogram(distance, np.linspace(0, widest, bins + 1))
    median = float(np.median(distance)) if len(distance) else float("nan")
    return BoundaryQuality(edges, counts, median, int((distance == 0).sum()))
