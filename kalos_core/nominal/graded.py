"""Agreement on grades in one result: alpha and the weighted coefficients, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated, Any

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import ArrayLike, NDArray

from kalos_core.arrays import divide, object_array
from kalos_core.chance import (
    FEW_CATEGORIES,
    Distance,
    Tally,
    Unequal,
    alpha_of_coincidences,
    alpha_of_tally,
    alpha_of_totals,
    chance_corrected,
    check_upright,
    coincidences,
    expected_of_guesses,
    expected_of_raters,
    metric_distance,
    number_of_values,
    tally_of_codes,
    weight_distance,
)
from kalos_core.chance.distances import KappaWeights
from kalos_core.display import with_interval
from kalos_core.inference import intervals, intervals_below_one
from kalos_core.limits import check_replicates
from kalos_core.nominal.levels import GradeMetric
from kalos_core.nominal.values import Grades, encode_grades
from kalos_core.options import Option, Replicates, Seed, Settings, checked, takes
from kalos_core.resampling import Draws
from kalos_core.results import Result
from kalos_core.text import plain


@dataclass(frozen=True, eq=False, repr=False)
class GradeAgreement(Result):
    """Agreement of raters on grades: of items (`grade_agreement`) or of annotations (`attribute_agreement`).

    Table: one row per coefficient.

    Figures: ``"coefficients"``.

    Parameters
    ----------
    name : str
        Name of the attribute; "" if the grades are of items.
    metric : str
        Metric of alpha.
    coefficient : (3,) object
        Alpha, Gwet's AC and Conger's kappa, with their metric or weights.
    value : (3,) float64, at most 1
        NaN if undefined.
    interval : (3, 2) float64
        95 % bootstrap interval; NaN without one.
    reason : (3,) object
        Reason why a coefficient is undefined; "" if it is defined.
    items : int
        Number of items, or units, with at least two grades; the others are ignored.
    codes : (I, R) int
        Grade that each rater gave each item, or unit of annotations: position in `grades`, -1 if there is none.
    grades : (K,) object
        Grades from lowest to highest.
    levels : (K,) float64
        Numbers of the grades; their positions if an order was stated, or for names.

    Examples
    --------
    >>> found = grade_agreement([[1, 1], [2, 2], [3, 4]], bootstrap=0)
    >>> round(found.alpha, 4), found.grades.tolist(), found.items
    (0.9495, [1, 2, 3, 4], 3)
    """

    _call = "grade_agreement(values)"
    _columns = "coefficient value value_interval:interval reason"

    name: str
    metric: str
    coefficient: NDArray[np.object_]
    value: NDArray[np.float64]
    interval: NDArray[np.float64]
    reason: NDArray[np.object_]
    items: int
    codes: NDArray[np.intp]
    grades: NDArray[np.object_]
    levels: NDArray[np.float64]

    @property
    def alpha(self) -> float:
        """Krippendorff's alpha; NaN if undefined."""
        return float(self.value[0])

    @property
    def alpha_interval(self) -> NDArray[np.float64]:
        """(2,) interval of `alpha`."""
        return np.asarray(self.interval[0])

    @property
    def values(self) -> NDArray[np.float64]:
        """(I, R) numbers of the grades, NaN where missing; input for `nominal_alpha` and `intraclass_correlation`."""
        return np.append(self.levels, np.nan)[self.codes]

    @property
    def differences(self) -> NDArray[np.float64]:
        """(I,) mean difference of the grades of two raters of an item; NaN if fewer than two graded it.

        For the nominal metric, the share of pairs of raters who differ; otherwise, the mean difference of their
        `levels`.

        Examples
        --------
        >>> grade_agreement([[1, 1, 4], [2, 2, 2], [3, None, None]], bootstrap=0).differences.tolist()
        [2.0, 0.0, nan]
        >>> grade_agreement([["x", "y", "x"], ["x", "x", None]], "nominal", bootstrap=0).differences.round(3).tolist()
        [0.667, 0.0]
        """
        columns, levels = np.ascontiguousarray(self.codes.T), self.levels
        number = number_of_values(columns)
        distance = Unequal() if self.metric == "nominal" else Distance(lambda a, b: np.abs(levels[a] - levels[b]))
        return divide(distance.of_raters(columns), number * (number - 1))

    def without_items(self) -> GradeAgreement:
        """Return the same result without the grades of each item, for storage where those are already stored."""
        return replace(self, codes=self.codes[:0])

    @property
    def headline(self) -> str:
        """The finding, in words."""
        what = f"{plain(self.name)}: " if self.name else ""
        found = with_interval(self.alpha, self.alpha_interval)
        return (
            f"{what}{self.metric} alpha {found} over {self.items:,} {'units' if self.name else 'items'} that two graded"
        )


@checked
def least_agreed_first(found: Iterable[GradeAgreement]) -> list[GradeAgreement]:
    """Sort by alpha, with undefined values last.

    Examples
    --------
    >>> found = [grade_agreement(values, bootstrap=0) for values in ([[1, None]], [[1, 1], [2, 2]], [[1, 2], [2, 1]])]
    >>> [of.alpha for of in least_agreed_first(found)]
    [-0.5, 1.0, nan]
    """
    return sorted(found, key=lambda of: (np.isnan(of.alpha), of.alpha))


GradeWeights = Annotated[
    KappaWeights,
    Option(
        "Weights of grades",
        "Weights of AC2 and Conger's kappa, over the grades that occur or those of `order`.",
        type="name in `KAPPA_WEIGHTS`, or (K, K) numbers from 0 to 1",
        check=lambda given, _: given,
        flag="kappa_weights",
    ),
]

GradeOrder = Annotated[
    Sequence[str | float] | None,
    Option(
        "Order of grades",
        "Values from lowest to highest; needed for text, which has no order of its own.",
        type="sequence, optional",
        check=lambda given, _: given,
    ),
]


@dataclass(frozen=True)
class GradeSettings(Settings):
    """Settings of agreement on grades."""

    metric: GradeMetric = "ordinal"
    _: KW_ONLY
    order: GradeOrder = None
    weights: GradeWeights = "quadratic"
    bootstrap: Replicates = 1000
    seed: Seed = 0


@takes(GradeSettings)
def grade_agreement(values: ArrayLike, settings: GradeSettings) -> GradeAgreement:
    """Compute the agreement of raters on grades: Krippendorff's alpha by a metric, and weighted AC and kappa.

    For "nominal" the other coefficients are AC1 and the unweighted kappa of Conger. Neither is meant for measurements:
    with more than `MOST_GRADES` different numbers, only alpha is computed.

    Parameters
    ----------
    values : (I, R)
        Items by raters, as for `nominal_alpha`.

    Returns
    -------
    GradeAgreement

    Raises
    ------
    InputError
        For the reasons of `nominal_alpha` and `conger_kappa`.

    Examples
    --------
    >>> values = [["low", "low"], ["mid", "high"], ["high", "high"], ["low", "mid"]]
    >>> found = grade_agreement(values, order=["low", "mid", "high"], bootstrap=0)
    >>> found.to_pandas()[["coefficient", "value"]].round(3).values.tolist()
    [['alpha, ordinal', 0.708], ['AC2, quadratic', 0.636], ["Conger's kappa, quadratic", 0.692]]
    """
    grades = encode_grades(values, settings.metric, settings.order)
    check_replicates(settings.bootstrap, len(grades.codes))
    check_upright(grades.codes, settings.metric, grades.levels)
    return agreement_of_grades(grades, settings, np.arange(len(grades.codes)))


def agreement_of_grades(
    grades: Grades, settings: GradeSettings, group: NDArray[np.intp], name: str = "", same_raters: bool = True
) -> GradeAgreement:
    """Compute `grade_agreement` of grades, with whole groups of items sampled with replacement.

    Parameters
    ----------
    group : (I,) int
        Group of each item.
    name : str
        Name of the attribute.
    same_raters : bool
        Whether a column is the same rater in all items; otherwise there is no Conger's kappa.
    """
    metric, weights = settings.metric, settings.weights
    is_nominal, how = metric == "nominal", weights if isinstance(weights, str) else "own weights"
    distance = Unequal() if is_nominal else weight_distance(weights, grades.levels)
    sums = _Sums.of(grades, metric, distance, group)
    value = sums.coefficients(np.ones((1, sums.groups)))[0]
    used = np.unique(group[(grades.codes >= 0).sum(axis=1) >= 2])
    drawn = [np.zeros((0, 3))]
    for times in Draws(used, settings.bootstrap, settings.seed):
        every = np.zeros((len(times), sums.groups))
        every[:, used] = times
        drawn.append(sums.coefficients(every))
    replicates = np.concatenate(drawn)
    interval = intervals(replicates, len(used))
    interval[1] = intervals_below_one(value[1:2], replicates[:, 1:2], len(used))[0]
    why = NO_PAIR if not len(used) else MANY if len(grades.levels) > MOST_GRADES else ONE_GRADE
    reason = ["" if np.isfinite(each) else why for each in value]
    if not same_raters:
        value[2], interval[2], reason[2] = np.nan, np.nan, "undefined for raters that are local to their image"
    names = ("AC1", "Conger's kappa") if is_nominal else (f"AC2, {how}", f"Conger's kappa, {how}")
    return GradeAgreement(
        name=name,
        metric=metric,
        coefficient=object_array([f"alpha, {metric}", *names]),
        value=value,
        interval=interval,
        reason=object_array(reason),
        items=int(((grades.codes >= 0).sum(axis=1) >= 2).sum()),
        codes=grades.codes,
        grades=grades.names,
        levels=grades.levels,
    )


MOST_GRADES = 256
"""Maximum number of different grades for AC and kappa; measurements have more."""

MANY = f"more than {MOST_GRADES} different grades: for measurements, use intraclass_correlation"

NO_PAIR, ONE_GRADE = "no item has two grades", "all grades are the same, or of too few raters"


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums of the three coefficients by groups (G,) of items, so that draws of groups only add them up.

    Parameters
    ----------
    grades : Grades
    metric : str
    distance : Distance
        1 - weight.
    group : (I,) int
    groups : int
        G
    found : Tally
        Counts of the grades of each item.
    pairable : sparse, optional
        (G, 1 + K) for alpha: disagreement of items as alpha weights it, and n_c. Ordinal distances depend on the items
        drawn, so for an ordinal metric these are (G, K * K) coincidences, or None if there are many grades.
    linear : (G, 3 + K + R * K) sparse
        For items with two raters: the sum of the mean disagreement, and their number. Then the number of items with any
        grade, and the shares of the grades in them. Then how often each rater gave each grade.
    """

    grades: Grades
    metric: str
    distance: Distance
    group: NDArray[np.intp]
    groups: int
    found: Tally
    pairable: scipy.sparse.csr_array | None
    linear: scipy.sparse.csr_array

    @classmethod
    def of(cls, grades: Grades, metric: str, distance: Distance, group: NDArray[np.intp]) -> _Sums:
        """Compute the sums of codes (I, R)."""
        codes, size = grades.codes, len(grades.levels)
        groups = int(group.max(initial=-1)) + 1
        found = tally_of_codes(codes, size)
        several, pairs = found.usable, np.maximum(found.annotations * (found.annotations - 1), 1)
        item, rater = np.nonzero(codes >= 0)
        share = found.count / found.annotations[found.item]
        columns = (
            (group, np.zeros(len(group), np.intp), distance.of_items(found) / pairs * several),
            (group, np.ones(len(group), np.intp), several),
            (group, np.full(len(group), 2), found.annotations > 0),
            (group[found.item], 3 + found.category, share),
            (group[item], 3 + size + rater * size + codes[item, rater], np.ones(len(item))),
        )
        shape = (groups, 3 + size + codes.shape[1] * size)
        if metric == "ordinal":
            pairable = coincidences(found, group, groups) if size <= FEW_CATEGORIES else None
        else:
            pairable = _pairable_of(found, metric_distance(metric, grades.levels, np.zeros(size)), group, groups)
        return cls(grades, metric, distance, group, groups, found, pairable, _sparse(columns, shape))

    def coefficients(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Compute alpha, AC and Conger's kappa (B, 3) if each group counts the given number of times (B, G)."""
        return np.column_stack([self._alphas(times), *self._weighted(times)])

    def _alphas(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        levels, size = self.grades.levels, len(self.grades.levels)
        if self.pairable is None:
            often = (row[self.group].astype(np.int64) for row in times)
            return np.array([alpha_of_tally(replace(self.found, times=row), self.metric, levels) for row in often])
        sums = np.asarray(times @ self.pairable)
        if self.metric == "ordinal":
            return np.array([alpha_of_coincidences(row.reshape(size, size), self.metric, levels) for row in sums])
        totals, distance = sums[:, 1:], metric_distance(self.metric, levels, np.zeros(size))
        return alpha_of_totals(sums[:, 0], totals, distance)

    def _weighted(self, times: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        size = len(self.grades.levels)
        if size > MOST_GRADES:
            return np.full(len(times), np.nan), np.full(len(times), np.nan)
        sums = np.asarray(times @ self.linear)
        counts = sums[:, 3 + size :].reshape(len(sums), self.grades.codes.shape[1], size)
        with np.errstate(divide="ignore", invalid="ignore"):
            observed = sums[:, 0] / sums[:, 1]
            share = sums[:, 3 : 3 + size] / sums[:, 2:3]
        of_guesses, of_raters = expected_of_guesses(share, self.distance), expected_of_raters(counts, self.distance)
        return chance_corrected(observed, of_guesses), chance_corrected(observed, of_raters)


def _pairable_of(found: Tally, distance: Distance, group: NDArray[np.intp], groups: int) -> scipy.sparse.csr_array:
    """Sum the disagreement of the items of each group as alpha weights it, and n_c (G, 1 + K)."""
    apart = distance.of_items(found) / np.maximum(found.annotations - 1, 1)
    often = found.count * found.usable[found.item]
    columns = ((group, np.zeros(len(group), np.intp), apart), (group[found.item], 1 + found.category, often))
    return _sparse(columns, (groups, 1 + found.categories))


def _sparse(
    columns: Sequence[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[Any]]], shape: tuple[int, int]
) -> scipy.sparse.csr_array:
    """Build a table from rows, columns and amounts; amounts in the same cell are added."""
    row, column, amount = (np.concatenate([part[side] for part in columns]) for side in range(3))
    return scipy.sparse.coo_array((amount.astype(np.float64), (row, column)), shape=shape).tocsr()
