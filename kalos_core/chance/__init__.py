"""Agreement beyond chance, 1 - D_o / D_e: counts, distances, observed and expected disagreement, and the coefficients.

Values are a reliability matrix of codes (I, R), -1 where missing, or counts (I, C) of them: `Counts`, `Tally`; `tally`
checks and reads counts, `tally_unseen` does not look for labels; `tally_of_codes`, `join_tallies`, `number_of_values`.

How far two categories differ is a `Distance`: `Unequal` for nominal values; `metric_distance` by `METRICS`, for alpha;
`weight_distance` by `KAPPA_WEIGHTS`, for kappas and AC. It sums itself over the pairs of an item and over all pairs, by
tables of categories up to `FEW_CATEGORIES`.

`chance_corrected` makes a coefficient of observed disagreement (`Observed`, from `observe` or `observe_counts`) and
expected disagreement:

| coefficient | D_o: two values of an item | D_e: two values drawn |
|---|---|---|
| alpha | `Observed.by_value` | from all values (`expected_of_values`) |
| Fleiss' kappa | `Observed.by_item` | from `mean_shares` (`Distance.of_all`) |
| free-marginal kappa | `Observed.by_item` | from all categories alike (`expected_of_categories`) |
| AC1, AC2 | `Observed.by_item` | by raters who guess (`expected_of_guesses`) |
| Conger's kappa, Cohen's | `Observed.by_item` | from the shares of each rater (`expected_of_raters`) |

`alpha_of_codes`, `alpha_of_tally`, `conger_of_codes`, `cohen_of_codes` do so. From sums that can be added, of images,
shards or replicates: `coincidences`, `alpha_of_coincidences`, `alpha_of_sums`, `alpha_of_totals`, `cohen_of_sums`.
`check_upright` and `refuse_labels` refuse tables that were given the wrong way.
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
    expected_of_categories,
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
    "expected_of_categories",
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
