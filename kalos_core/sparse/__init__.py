"""Sparse probability of agreement: how likely two raters agree on an item if each item has only some of the raters.

After Nørregaard & Derczynski, *Sparse Probability of Agreement*. All functions take counts (I, C), the number of
raters that put each item into each category, as an array or a `scipy.sparse` matrix.

* Counts: `Counts`, `tally`, `Tally`.
* Agreement: `sparse_agreement`, `SparseAgreement`, `ratio_interval`; weights of items: `WEIGHTS`, `agreement_variance`.
* Its assumption: `check_independence`, `Independence`.
* While annotations arrive: `running_agreement`, `RunningAgreement`, `RunningCurve`.
* Over the units of an `Agreement`: `unit_agreement`, `UnitAgreement`.
* The paper's experiment: `removal_experiment`, `RemovalExperiment`.
"""

from kalos_core.chance import Counts as Counts
from kalos_core.chance import Tally as Tally
from kalos_core.chance import tally as tally
from kalos_core.names import public_names
from kalos_core.sparse.estimate import SparseAgreement as SparseAgreement
from kalos_core.sparse.estimate import ratio_interval as ratio_interval
from kalos_core.sparse.estimate import sparse_agreement as sparse_agreement
from kalos_core.sparse.independence import Independence as Independence
from kalos_core.sparse.independence import check_independence as check_independence
from kalos_core.sparse.removal import RemovalExperiment as RemovalExperiment
from kalos_core.sparse.removal import removal_experiment as removal_experiment
from kalos_core.sparse.running import RunningAgreement as RunningAgreement
from kalos_core.sparse.running import RunningCurve as RunningCurve
from kalos_core.sparse.running import running_agreement as running_agreement
from kalos_core.sparse.units import UnitAgreement as UnitAgreement
from kalos_core.sparse.units import unit_agreement as unit_agreement
from kalos_core.sparse.weights import WEIGHTS as WEIGHTS
from kalos_core.sparse.weights import agreement_variance as agreement_variance

__all__ = public_names(vars())
