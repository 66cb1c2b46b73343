"""Agreement beyond chance, 1 - D_o / D_e: counts, distances, observed and expected disagreement, and the coefficients.

* Values: a reliability matrix of codes (I, R), -1 where missing; counts (I, C): `Counts`, `tally`, `Tally`,
  `join_tallies`, `tally_of_codes`, `tally_unseen`, `number_of_values`.
* Distances of categories: `Distance`, `Unequal`, `SquaredDifference`; by `METRICS`: `metric_distance`, by
  `KAPPA_WEIGHTS`: `weight_distance`.
* Observed disagreement: `Observed`, `observe`, `observe_counts`; `coincidences`.
* Expected disagreement: `expected_of_values` (alpha), `expected_of_guesses` (Gwet), `expected_of_raters` (Conger,
  Cohen); `Distance.of_all` of shares (`mean_shares`) is that of Fleiss.
* Coefficients: `chance_corrected`; `alpha_of_codes`, `alpha_of_coincidences`, `alpha_of_sums`,
  `alpha_of_tally`, `alpha_of_totals`; `conger_of_codes`, `cohen_of_codes`, `cohen_of_sums`.
* Tables given the wrong way: `check_upright`, `refuse_labels`.
"""

from kalos_core.chance.checks import check_upright, refuse_labels, tally
from kalos_core.chance.coefficients import (
    alpha_of_codes,
    alpha_of_coincidences,
    alpha_of_sums,
    alpha_of_tally,
    alpha_of_totals,
    cohen_of_codes,
    cohen_of_sums,
    conger_of_codes,
)
from kalos_core.chance.counts import Counts, Tally, join_tallies, tally_of_codes, tally_unseen
from kalos_core.chance.disagreement import (
    Observed,
    chance_corrected,
    coincidences,
    expected_of_guesses,
    expected_of_raters,
    expected_of_values,
    mean_shares,
    observe,
    observe_counts,
)
from kalos_core.chance.distances import (
    FEW_CATEGORIES,
    KAPPA_WEIGHTS,
    METRICS,
    Distance,
    SquaredDifference,
    Unequal,
    metric_distance,
    number_of_values,
    weight_distance,
)

__all__ = [
    "FEW_CATEGORIES",
    "KAPPA_WEIGHTS",
    "METRICS",
    "Counts",
    "Distance",
    "Observed",
    "SquaredDifference",
    "Tally",
    "Unequal",
    "alpha_of_codes",
    "alpha_of_coincidences",
    "alpha_of_sums",
    "alpha_of_tally",
    "alpha_of_totals",
    "chance_corrected",
    "check_upright",
    "cohen_of_codes",
    "cohen_of_sums",
    "coincidences",
    "conger_of_codes",
    "expected_of_guesses",
    "expected_of_raters",
    "expected_of_values",
    "join_tallies",
    "mean_shares",
    "metric_distance",
    "number_of_values",
    "observe",
    "observe_counts",
    "refuse_labels",
    "tally",
    "tally_of_codes",
    "tally_unseen",
    "weight_distance",
]
