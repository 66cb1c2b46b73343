"""Experiments 1 to 4: how well solvers match annotations of one object, and how stable they are (KαLOS §5.1)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import agreement
from kalos_core.annotations import Annotations
from kalos_core.correspondence import COSTS, usable_solvers
from kalos_core.correspondence.units import SolverName
from kalos_core.display import number_of
from kalos_core.errors import InputError, lookup
from kalos_core.noise.experiments.tables import Claim, Magnitudes, RaterCounts
from kalos_core.noise.experiments.truth import Truth
from kalos_core.noise.fit.goodness import Permutations
from kalos_core.noise.model import NoiseModel
from kalos_core.options import Option, Seed, checked
from kalos_core.results import Result
from kalos_core.similarity.base import Threshold

if TYPE_CHECKING:
    import pandas as pd

MAGNITUDES = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
RATERS = (1, 3, 5)
"""Numbers of synthetic raters; a single one is compared with the reference."""

QUANTILES = (0.05, 0.5, 0.95)
PERMUTATIONS = 8
HIGH_PRECISION = 0.97


@dataclass(frozen=True, eq=False, repr=False)
class SolverAccuracy(Result):
    """One row per solver, cost, number of raters, magnitude and repeat. See `Score` for the metrics.

    `out_of_reach` counts the pairs of the same object below the threshold; they are in `fn` for every solver.

    Figures: ``"rand index"``, ``"f1"``.
    """

    solver: NDArray[np.str_]
    cost: NDArray[np.str_]
    raters: NDArray[np.intp]
    magnitude: NDArray[np.float64]
    repeat: NDArray[np.intp]
    tp: NDArray[np.intp]
    fp: NDArray[np.intp]
    fn: NDArray[np.intp]
    tn: NDArray[np.intp]
    out_of_reach: NDArray[np.intp]
    rand_index: NDArray[np.float64]
    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    f1: NDArray[np.float64]

    def mean(self, column: str, **chosen: str | int) -> float:
        """Return the mean of a column over the rows with these values: ``mean("f1", solver="greedy", raters=3)``."""
        rows = np.ones(len(self.solver), np.bool_)
        for name, value in chosen.items():
            rows &= getattr(self, name) == value
        return float(lookup(vars(self), column, "column")[rows].mean())

    def claims(self) -> list[Claim]:
        """Judge experiments 1 and 2, and the comparison of costs in §10."""
        solvers = list(dict.fromkeys(self.solver.tolist()))
        claims = [self._best(), self._costs(), self._precision()]
        if "ahc" in solvers:
            claims.insert(1, self._worst(solvers))
        if "mgm" in solvers:
            claims.append(self._cautious())
        return claims

    def _by_solver(self, column: str) -> dict[str, float]:
        return {name: self.mean(column, solver=name, cost="soft") for name in dict.fromkeys(self.solver.tolist())}

    def _best(self) -> Claim:
        found = self._by_solver("rand_index")
        best = sorted(found, key=found.__getitem__, reverse=True)[:2]
        statement = "greedy and sequential Hungarian have the highest filtered Rand index"
        return Claim("§5, experiment 1", statement, set(best) == {"greedy", "shm"}, _summary(found))

    def _worst(self, solvers: list[str]) -> Claim:
        magnitudes = np.unique(self.magnitude)
        lowest = [
            min(solvers, key=lambda name: self.mean("rand_index", solver=name, cost="soft", magnitude=lam))
            for lam in magnitudes.tolist()
        ]
        times = sum(name == "ahc" for name in lowest)
        found = f"lowest at {times} of {number_of(len(magnitudes), 'magnitude')}"
        return Claim(
            "§5, experiment 1", "agglomerative is worst at every magnitude of noise", times == len(lowest), found
        )

    def _precision(self) -> Claim:
        least = {name: float(self.precision[self.solver == name].min()) for name in self._by_solver("precision")}
        statement = "every solver and cost has a precision of about .97 or more; what differs is recall"
        return Claim("§5, experiment 2", statement, min(least.values()) >= HIGH_PRECISION, f"least: {_summary(least)}")

    def _cautious(self) -> Claim:
        recall, precision = self._by_solver("recall"), self._by_solver("precision")
        holds = recall["mgm"] < min(recall["greedy"], recall["shm"]) and precision["mgm"] >= precision["greedy"]
        statement = "multi-graph matching gives up recall for precision"
        found = f"recall {_summary(recall)}; precision {_summary(precision)}"
        return Claim("§5, experiments 1 and 2", statement, holds, found)

    def _costs(self) -> Claim:
        greedy = self.solver == "greedy"
        soft, neg = greedy & (self.cost == "soft"), greedy & (self.cost == "neg")
        better = self.f1[soft] >= self.f1[neg]
        gain = float((self.f1[soft] - self.f1[neg]).mean())
        statement = "with greedy, the cost that looks at classes is slightly better throughout"
        found = f"F1 at least as high in {better.sum()} of {number_of(len(better), 'setting')}, {gain:+.4f} on average"
        return Claim("§10", statement, bool(better.all() and gain > 0), found)


@dataclass(frozen=True, eq=False, repr=False)
class SolverCases(Result):
    """One row per pair of annotations that a solver matched or could have matched (KαLOS §5.1, experiment 3).

    Figures: ``"cases"``.
    """

    solver: NDArray[np.str_]
    magnitude: NDArray[np.float64]
    case: NDArray[np.str_]
    similarity: NDArray[np.float64]

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per solver, magnitude and case: number of pairs, and quantiles of their similarities."""
        groups = super().to_pandas().groupby(["solver", "magnitude", "case"], sort=False)["similarity"]
        return groups.describe(percentiles=QUANTILES).drop(columns=["mean", "std"]).reset_index()

    def count(self, solver: str, case: str) -> int:
        """Return the number of pairs."""
        return int(((self.solver == solver) & (self.case == case)).sum())

    def claims(self) -> list[Claim]:
        """Judge the statements of experiment 3 about greedy and about cuckoo eggs."""
        solvers = list(dict.fromkeys(self.solver.tolist()))
        low = {name: self._quantile(name, "true positive", 0.05) for name in solvers}
        missed = {name: self._quantile(name, "missed", 0.5) for name in solvers}
        others = [value for name, value in missed.items() if name != "greedy" and not np.isnan(value)]
        eggs = {name: self.count(name, "cuckoo egg") / max(self.count(name, "true positive"), 1) for name in solvers}
        source = "§5, experiment 3"
        return [
            Claim(
                source,
                "greedy has the lowest true positives: they spread over the widest range of similarity",
                low["greedy"] <= min(low.values()),
                f"5 % of the true positives lie below {_summary(low)}",
            ),
            Claim(
                source,
                "pairs that greedy misses have low similarity; pairs that others miss often have a high one",
                None if not others or np.isnan(missed["greedy"]) else missed["greedy"] <= min(others),
                f"median similarity of missed pairs: {_summary(missed)}",
            ),
            Claim(
                source,
                "cuckoo eggs are rare",
                max(eggs.values()) < 0.02,
                f"per true positive: {_summary(eggs)}",
            ),
        ]

    def _quantile(self, solver: str, case: str, share: float) -> float:
        values = self.similarity[(self.solver == solver) & (self.case == case)]
        return float(np.quantile(values, share)) if len(values) else float("nan")


@dataclass(frozen=True, eq=False, repr=False)
class PermutationStability(Result):
    """One row per data set and solver: whether units depend on the order of raters and annotations.

    `least` and `mean` are the adjusted Rand index between the units of permuted tables and those of the original table.

    Figures: ``"stability"``.
    """

    data: NDArray[np.str_]
    solver: NDArray[np.str_]
    permutations: NDArray[np.intp]
    least: NDArray[np.float64]
    mean: NDArray[np.float64]

    def claims(self) -> list[Claim]:
        """Judge the statements of experiment 4."""
        least = {name: float(self.least[self.solver == name].min()) for name in dict.fromkeys(self.solver.tolist())}
        others = [value for name, value in least.items() if name != "greedy"]
        source = "§5, experiment 4"
        return [
            Claim(source, "greedy does not depend on any order", least["greedy"] == 1, f"least {least['greedy']:g}"),
            Claim(
                source,
                "the other solvers depend on the order",
                all(value < 1 for value in others),
                f"least: {_summary(least)}. The solvers here break ties independently of the order",
            ),
        ]


Repeats = Annotated[int, Option("Repeats", "Number of draws of each setting.", low=1)]


@checked
def solver_accuracy(
    model: NoiseModel,
    annotations: Annotations,
    reference: str | None = None,
    *,
    magnitudes: Magnitudes = MAGNITUDES,
    raters: RaterCounts = RATERS,
    repeats: Repeats = 1,
    threshold: Threshold = 0.5,
    seed: Seed = 0,
) -> tuple[SolverAccuracy, SolverCases]:
    """Match synthetic raters with every solver and compare with the ground truth (KαLOS §5.1, experiments 1 to 3).

    Parameters
    ----------
    model : NoiseModel
    annotations : Annotations
    reference : str, optional
        The rater to generate from; not needed if only one rater has annotations.
    magnitudes : sequence of float
    raters : sequence of int
        Numbers of synthetic raters; a single one is compared with the reference.
    repeats : int
        Number of draws of each setting.
    threshold : float
    seed : int

    Returns
    -------
    SolverAccuracy, SolverCases
        The cases are those of the largest number of raters, with the soft cost.

    Raises
    ------
    InputError
        For the reasons of `NoiseModel.generate`; for no magnitude, number of raters or repeat.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": "ann", "category": "cat", "box": [x, 20, 9, 9]} for x in (10, 40, 70)]
    >>> table = Annotations.from_rows(rows, image_size={1: (100, 100)})
    >>> accuracy, _ = solver_accuracy(NoiseModel.default(), table, magnitudes=[0], raters=[2])
    >>> accuracy.mean("f1", solver="greedy")
    1.0
    """
    lines: list[tuple[object, ...]] = []
    cases: list[tuple[str, float, NDArray[np.str_], NDArray[np.float64]]] = []
    for count in raters:
        for repeat in range(repeats):
            for magnitude in magnitudes:
                among = [0.0, magnitude] if count == 1 else [magnitude] * count
                generated = model.generate(annotations, len(among), among, seed + repeat, reference=reference)
                truth = Truth.of(generated.annotations, generated.object, threshold=threshold)
                for solver in usable_solvers():
                    for cost in COSTS:
                        units = agreement(
                            generated.annotations, "box_iou", threshold, solver, cost, 0, pairs=truth.pairs
                        ).unit_of
                        score = truth.score(units)
                        found = (score.tp, score.fp, score.fn, score.tn, truth.out_of_reach)
                        rates = (score.rand_index, score.precision, score.recall, score.f1)
                        lines.append((solver, cost, count, magnitude, repeat, *found, *rates))
                        if cost == "soft" and count == raters[-1]:
                            cases.append((solver, magnitude, *truth.cases(units)))
    return SolverAccuracy(*map(np.array, zip(*lines, strict=True))), _cases(cases)


def _cases(parts: list[tuple[str, float, NDArray[np.str_], NDArray[np.float64]]]) -> SolverCases:
    sizes = [len(part[3]) for part in parts]
    return SolverCases(
        solver=np.repeat([part[0] for part in parts], sizes),
        magnitude=np.repeat([part[1] for part in parts], sizes),
        case=np.concatenate([part[2] for part in parts]),
        similarity=np.concatenate([part[3] for part in parts]),
    )


@checked
def permutation_stability(
    tables: Mapping[str, Annotations],
    permutations: Permutations = PERMUTATIONS,
    threshold: Threshold = 0.5,
    seed: Seed = 0,
) -> PermutationStability:
    """Match tables again with raters and annotations in other orders (KαLOS §5.1, experiment 4).

    Parameters
    ----------
    tables : mapping of a name to Annotations
    permutations : int
    threshold : float
    seed : int

    Examples
    --------
    >>> rows = [{"image": 1, "rater": rater, "category": "cat", "box": [0, 0, 9, 9]} for rater in "abc"]
    >>> permutation_stability({"three": Annotations.from_rows(rows)}, 2).least.tolist()[0]
    1.0
    """
    from sklearn.metrics import adjusted_rand_score

    if not tables:
        raise InputError("tables: expected at least one table, got none")
    rng = np.random.default_rng(seed)
    lines = []
    for name, table in tables.items():
        orders = [(rng.permutation(len(table)), rng.permutation(len(table.raters))) for _ in range(permutations)]
        for solver in usable_solvers():
            units = _units(table, threshold, solver)
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "The number of unique classes")  # meant for classes, not units
                scores = [
                    adjusted_rand_score(units[rows], _units(table.select(rows, raters=raters), threshold, solver))
                    for rows, raters in orders
                ]
            lines.append((name, solver, permutations, min(scores), float(np.mean(scores))))
    return PermutationStability(*map(np.array, zip(*lines, strict=True)))


def _units(table: Annotations, threshold: float, solver: SolverName) -> NDArray[np.intp]:
    return agreement(table, "box_iou", threshold, solver, "soft", 0).unit_of


def _summary(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in values.items())
