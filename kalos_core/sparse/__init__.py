"""Sparse probability of agreement: how likely two raters agree on an item when each item has only some of the raters.

After Nørregaard & Derczynski, *Sparse Probability of Agreement*. Everything is computed from counts (I, C): how many
raters put each item into each category, as an array or a `scipy.sparse` matrix.

* Counts: `Counts`, `tally`, `Tally`.
* Agreement: `sparse_agreement`, `SparseAgreement`, `ratio_interval`; weights of items: `WEIGHTS`, `agreement_variance`.
* What it assumes: `check_independence`, `Independence`.
* While annotations arrive: `running_agreement`, `RunningAgreement`, `RunningCurve`.
* Over the units of an `Agreement`: `unit_agreement`, `UnitAgreement`.
* The paper's experiment: `removal_experiment`, `RemovalExperiment`.
"""

from kalos_core.chance import Counts, Tally, tally
from kalos_core.sparse.estimate import SparseAgreement, ratio_interval, sparse_agreement
from kalos_core.sparse.independence import Independence, check_independence
from kalos_core.sparse.removal import RemovalExperiment, removal_experiment
from kalos_core.sparse.running import RunningAgreement, RunningCurve, running_agreement
from kalos_core.sparse.units import UnitAgreement, unit_agreement
from kalos_core.sparse.weights import WEIGHTS, agreement_variance

__all__ = [
    "WEIGHTS",
    "Counts",
    "Independence",
    "RemovalExperiment",
    "RunningAgreement",
    "RunningCurve",
    "SparseAgreement",
    "Tally",
    "UnitAgreement",
    "agreement_variance",
    "check_independence",
    "ratio_interval",
    "removal_experiment",
    "running_agreement",
    "sparse_agreement",
    "tally",
    "unit_agreement",
]
