"""The experiments that the noise generator exists for: solvers and alpha where the truth is known (KαLOS §5).

* All of them: `run_experiments`, `Experiments`, each judged by `Claim`.
* Solvers where the truth is known: `solver_accuracy`, `SolverAccuracy`, `SolverCases`, `CASES`, `Truth`, `Score`; the
  order of raters: `permutation_stability`, `PermutationStability`.
* What alpha answers to: `magnitude_response`, `MagnitudeResponse`; `school_impact`, `SchoolImpact`; `return_on_raters`,
  `RaterReturn`; `signal_loss_table`, `SignalLossTable`.
"""

from kalos_core.noise.experiments.response import (
    MagnitudeResponse,
    RaterReturn,
    SchoolImpact,
    SignalLossTable,
    magnitude_response,
    return_on_raters,
    school_impact,
    signal_loss_table,
)
from kalos_core.noise.experiments.run import Experiments, run_experiments
from kalos_core.noise.experiments.solvers import (
    PermutationStability,
    SolverAccuracy,
    SolverCases,
    permutation_stability,
    solver_accuracy,
)
from kalos_core.noise.experiments.tables import Claim
from kalos_core.noise.experiments.truth import CASES, Score, Truth

__all__ = [
    "CASES",
    "Claim",
    "Experiments",
    "MagnitudeResponse",
    "PermutationStability",
    "RaterReturn",
    "SchoolImpact",
    "Score",
    "SignalLossTable",
    "SolverAccuracy",
    "SolverCases",
    "Truth",
    "magnitude_response",
    "permutation_stability",
    "return_on_raters",
    "run_experiments",
    "school_impact",
    "signal_loss_table",
    "solver_accuracy",
]
