"""Experiments that need ground truth: accuracy of the solvers, and response of alpha to noise (KαLOS §5).

* All experiments: `run_experiments`, `Experiments`; each statement of the paper is a `Claim`.
* Solvers against the ground truth: `solver_accuracy`, `SolverAccuracy`, `SolverCases`, `CASES`, `Truth`, `Score`; under
  permuted raters: `permutation_stability`, `PermutationStability`.
* Response of alpha: `magnitude_response`, `MagnitudeResponse`; `school_impact`, `SchoolImpact`; `return_on_raters`,
  `RaterReturn`; `signal_loss_table`, `SignalLossTable`.
"""

from kalos_core.names import public_names
from kalos_core.noise.experiments.response import MagnitudeResponse as MagnitudeResponse
from kalos_core.noise.experiments.response import RaterReturn as RaterReturn
from kalos_core.noise.experiments.response import SchoolImpact as SchoolImpact
from kalos_core.noise.experiments.response import SignalLossTable as SignalLossTable
from kalos_core.noise.experiments.response import magnitude_response as magnitude_response
from kalos_core.noise.experiments.response import return_on_raters as return_on_raters
from kalos_core.noise.experiments.response import school_impact as school_impact
from kalos_core.noise.experiments.response import signal_loss_table as signal_loss_table
from kalos_core.noise.experiments.run import Experiments as Experiments
from kalos_core.noise.experiments.run import run_experiments as run_experiments
from kalos_core.noise.experiments.solvers import PermutationStability as PermutationStability
from kalos_core.noise.experiments.solvers import SolverAccuracy as SolverAccuracy
from kalos_core.noise.experiments.solvers import SolverCases as SolverCases
from kalos_core.noise.experiments.solvers import permutation_stability as permutation_stability
from kalos_core.noise.experiments.solvers import solver_accuracy as solver_accuracy
from kalos_core.noise.experiments.tables import Claim as Claim
from kalos_core.noise.experiments.truth import CASES as CASES
from kalos_core.noise.experiments.truth import Score as Score
from kalos_core.noise.experiments.truth import Truth as Truth

__all__ = public_names(vars())
