"""Correspondence of annotations: from pairs of annotations of different raters to a unit for every annotation.

Every solver is invariant to the order of raters, annotations and images. Candidates are sorted in a strict order:
by cost, then similarity. Ties are broken by the geometry of the two shapes, class, rater name and the source's id.

=========  =================================================================  ====================================
solver     joins                                                              two annotations of a unit
=========  =================================================================  ====================================
`greedy`   the best pair first, if its clusters share no rater                are linked by a chain of candidates
`shm`      one rater after another, with as many pairs as possible            are linked by a chain of candidates
`ahc`      the two clusters whose worst pair is best                          are a candidate
`mgm`      pairs with a small sum of costs over units (optional library)      are a candidate
=========  =================================================================  ====================================

* units: `correspond`
* solvers: `SOLVERS`, `usable_solvers`, `Solver`, `greedy`, `shm`, `shm_by_name`, `ahc`, `mgm`
* costs: `COSTS`, `Cost`, `soft_cost`, `neg_cost`
* the strict order: `strict_order`, `rank_rows`
* sizes of units, and their dependence on the solver: `UnitSizes` (`Agreement.unit_sizes`)
"""

from kalos_core.correspondence.agglomerative import ahc as ahc
from kalos_core.correspondence.best_first import greedy as greedy
from kalos_core.correspondence.costs import COSTS as COSTS
from kalos_core.correspondence.costs import Cost as Cost
from kalos_core.correspondence.costs import neg_cost as neg_cost
from kalos_core.correspondence.costs import soft_cost as soft_cost
from kalos_core.correspondence.multigraph import mgm as mgm
from kalos_core.correspondence.order import rank_rows as rank_rows
from kalos_core.correspondence.order import strict_order as strict_order
from kalos_core.correspondence.sequential import shm as shm
from kalos_core.correspondence.sequential import shm_by_name as shm_by_name
from kalos_core.correspondence.sizes import UnitSizes as UnitSizes
from kalos_core.correspondence.units import SOLVERS as SOLVERS
from kalos_core.correspondence.units import Solver as Solver
from kalos_core.correspondence.units import correspond as correspond
from kalos_core.correspondence.units import usable_solvers as usable_solvers
from kalos_core.names import public_names

__all__ = public_names(vars())
