"""All experiments of the paper on one data set (KαLOS §5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import TYPE_CHECKING, Annotated

import numpy as np

from kalos_core.annotations import Annotations
from kalos_core.errors import InputError
from kalos_core.noise.experiments.response import (
    COUNTED_AT,
    COUNTS,
    LOSS,
    RESPONSE,
    MagnitudeResponse,
    RaterReturn,
    SchoolImpact,
    SignalLossTable,
    magnitude_response,
    return_on_raters,
    school_impact,
    signal_loss_table,
)
from kalos_core.noise.experiments.solvers import (
    MAGNITUDES,
    PermutationStability,
    SolverAccuracy,
    SolverCases,
    permutation_stability,
    solver_accuracy,
)
from kalos_core.noise.experiments.tables import Claim
from kalos_core.noise.model import NoiseModel
from kalos_core.options import Option, Seed, Settings, no_progress, takes
from kalos_core.results import Result

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[float, str], None]
"""``progress(share, label)``, called with the fraction completed, from 0 to 1."""

ON_PERMUTED = 5
"""Number of synthetic raters in the permuted table."""


@dataclass(frozen=True, eq=False, repr=False)
class Experiments(Result):
    """Result of `run_experiments`: one table per question.

    Figures: ``"rand index"``, ``"cases"``, ``"stability"``, ``"raters"``, ``"schools"``, ``"response"``, ``"loss"``.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": "ann", "category": "cat", "box": [x, 20, 9, 9]} for x in (10, 40, 70)]
    >>> table = Annotations.from_rows(rows, image_size={1: (100, 100)})
    >>> result = run_experiments(table, magnitudes=[0.5, 1], counts=[2, 7], repeats=1)
    >>> list(result.tables())
    ['accuracy', 'cases', 'stability', 'raters', 'schools', 'response', 'loss']
    >>> result.claims()[0].source
    '§5, experiment 1'
    """

    _call = "run_experiments(annotations)"
    _shows_table = False

    accuracy: SolverAccuracy
    cases: SolverCases
    stability: PermutationStability
    raters: RaterReturn
    schools: SchoolImpact
    response: MagnitudeResponse
    loss: SignalLossTable
    again: tuple[tuple[RaterReturn, SchoolImpact, MagnitudeResponse, SignalLossTable], ...] = ()
    """The last four tables for further draws of synthetic raters, since a single draw is weak evidence."""

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return each table of the first draw by name."""
        return {entry.name: getattr(self, entry.name).to_pandas() for entry in fields(self)[:-1]}

    def claims(self) -> list[Claim]:
        """Return the statements of the paper, judged in each draw."""
        of_solvers = [claim for found in (self.accuracy, self.cases, self.stability) for claim in found.claims()]
        drawn = [(self.raters, self.schools, self.response, self.loss), *self.again]
        claims = [[claim for found in draw for claim in found.claims()] for draw in drawn]
        return [*of_solvers, *map(Claim.over, zip(*claims, strict=True))]

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return "\n".join(map(str, self.claims()))

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per statement of the paper: its source, whether it holds here, and the numbers found."""
        import pandas as pd

        return pd.DataFrame([vars(claim) | {"holds": claim.verdict} for claim in self.claims()])


@dataclass(frozen=True)
class ExperimentSettings(Settings):
    """Settings of the experiments."""

    model: NoiseModel | None = None
    _: KW_ONLY
    magnitudes: Annotated[
        Sequence[float] | None,
        Option(
            "Magnitudes",
            "Magnitudes of noise, instead of those of each experiment; 0 is added for the response of alpha.",
            low=0,
            required=True,
            ordered=True,
            type="floats, optional",
        ),
    ] = None
    counts: Annotated[
        Sequence[int],
        Option(
            "Numbers of raters",
            "Numbers of raters in experiment 5.",
            low=2,
            required=True,
            ordered=True,
            type="ints of at least 2",
        ),
    ] = COUNTS
    repeats: Annotated[
        int, Option("Repeats", "Number of draws of each setting; statements are judged in each.", low=1)
    ] = 3
    seed: Seed = 0
    progress: Progress | None = None


@takes(ExperimentSettings)
def run_experiments(annotations: Annotations, settings: ExperimentSettings) -> Experiments:
    """Run every experiment of section 5 of the paper, its Fig. 1d and its Table 3 on the annotations of a data set.

    Parameters
    ----------
    annotations : Annotations
        With boxes and image sizes. The first rater with annotations is the reference; the first two are the references
        of two schools of thought, if there are two.
    model : NoiseModel, optional
        Default: the shipped model.
    progress : callable, optional

    Returns
    -------
    Experiments

    Raises
    ------
    InputError
        For the reasons of `NoiseModel.generate`; for a table without annotations, no magnitude above 0, fewer than two
        raters in `counts`, or no repeat.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": "ann", "category": "cat", "box": [x, 20, 9, 9]} for x in (10, 40, 70)]
    >>> table = Annotations.from_rows(rows, image_size={1: (100, 100)})
    >>> run_experiments(table, magnitudes=[1], counts=[2], repeats=1).response.alpha[0].item()
    1.0
    """
    if settings.magnitudes == (0.0,):
        raise InputError("magnitudes: expected one above 0, got only 0")
    chosen = NoiseModel.default() if settings.model is None else settings.model
    annotating = annotations.raters[np.unique(annotations.rater)].tolist()
    if not annotating:
        raise InputError("annotations: expected annotations to generate raters from, got none")
    first, two = annotating[0], annotating[:2]
    repeats, seed = settings.repeats, settings.seed
    report = settings.progress or no_progress

    def given_or(usual: Sequence[float]) -> Sequence[float]:
        return usual if settings.magnitudes is None else settings.magnitudes

    report(0.0, "Solvers against the truth")
    accuracy, cases = solver_accuracy(
        chosen, annotations, first, magnitudes=given_or(MAGNITUDES), repeats=repeats, seed=seed
    )
    report(0.6, "Solvers on permuted tables")
    generated = chosen.generate(annotations, ON_PERMUTED, 1.0, seed, reference=first).annotations
    tables = {f"{ON_PERMUTED} synthetic raters": generated}
    if len(two) > 1:
        tables["as given"] = annotations
    stability = permutation_stability(tables, seed=seed)
    lost = [lam for lam in given_or(tuple(LOSS)) if lam > 0]
    drawn = []
    for draw in range(repeats):
        report(0.7 + 0.3 * draw / repeats, f"Raters, schools and magnitudes: draw {draw + 1:,} of {repeats:,}")
        own = seed + draw
        drawn.append(
            (
                return_on_raters(
                    chosen, annotations, first, counts=settings.counts, magnitudes=given_or(COUNTED_AT), seed=own
                ),
                school_impact(chosen, annotations, two, seed=own),
                magnitude_response(chosen, annotations, first, magnitudes=[0.0, *given_or(RESPONSE)], seed=own),
                signal_loss_table(chosen, annotations, first, magnitudes=lost, seed=own),
            )
        )
    report(1.0, "Done")
    return Experiments(accuracy, cases, stability, *drawn[0], again=tuple(drawn[1:]))
