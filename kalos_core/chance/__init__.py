"""Chance-corrected agreement, 1 - D_o / D_e: counts, distances, observed and expected disagreement, coefficients.

Values are a reliability matrix of codes (I, R), with -1 for missing values, or counts (I, C) of them: `Counts`,
`Tally`. `tally` checks and reads counts, `tally_unseen` skips the check for labels. See also `tally_of_codes`,
`join_tallies` and `number_of_values`.

A `Distance` says how far two categories differ: `Unequal` for nominal values, `metric_distance` by `METRICS` for
alpha, `weight_distance` by `KAPPA_WEIGHTS` for kappas and AC. A distance is summed over the pairs of an item and over
all pairs, with tables of categories up to `FEW_CATEGORIES`.

`chance_corrected` computes a coefficient from observed disagreement (`Observed`, from `observe` or
`observe_counts`) and expected disagreement:

| coefficient | D_o: two values of an item | D_e: two random values |
|---|---|---|
| alpha | `Observed.by_value` | from all values (`expected_of_values`) |
| Fleiss' kappa | `Observed.by_item` | from `mean_shares` (`Distance.of_all`) |
| free-marginal kappa | `Observed.by_item` | from all categories equally (`expected_of_categories`) |
| AC1, AC2 | `Observed.by_item` | from guessing raters (`expected_of_guesses`) |
| Conger's kappa, Cohen's | `Observed.by_item` | from the shares of each rater (`expected_of_raters`) |

`alpha_of_codes`, `alpha_of_tally`, `conger_of_codes` and `cohen_of_codes` combine these steps. Functions for sums
that can be added, over images, shards or replicates: `coincidences`, `alpha_of_coincidences`, `alpha_of_sums`,
`alpha_of_totals`, `cohen_of_sums`.
`check_upright` and `refuse_labels` refuse transposed tables and labels given as counts.
"""

from kalos_core.chance.checks import check_upright as check_upright
from kalos_core.chance.checks import refuse_labels as refuse_labels
from kalos_core.chance.checks import tally as tally
from kalos_core.chance.coefficients import alpha_of_codes as alpha_of_codes
from kalos_core.chance.coefficients import alpha_of_coincidences as alpha_of_coincidences
from kalos_core.chance.coefficients import alpha_of_sums as alpha_of_sums
from kalos_core.chance.coefficients import alpha_of_tally as alpha_of_tally
from kalos_core.chance.coefficients import alpha_of_totals as alpha_of_totals
from kalos_core.chance.coefficients import cohen_of_codes as cohen_of_codes
from kalos_core.chance.coefficients import cohen_of_sums as cohen_of_sums
from kalos_core.chance.coefficients import conger_of_codes as conger_of_codes
from kalos_core.chance.counts import Counts as Counts
from kalos_core.chance.counts import Tally as Tally
from kalos_core.chance.counts import join_tallies as join_tallies
from kalos_core.chance.counts import tally_of_codes as tally_of_codes
from kalos_core.chance.counts import tally_unseen as tally_unseen
from kalos_core.chance.disagreement import Observed as Observed
from kalos_core.chance.disagreement import chance_corrected as chance_corrected
from kalos_core.chance.disagreement import coincidences as coincidences
from kalos_core.chance.disagreement import expected_of_categories as expected_of_categories
from kalos_core.chance.disagreement import expected_of_guesses as expected_of_guesses
from kalos_core.chance.disagreement import expected_of_raters as expected_of_raters
from kalos_core.chance.disagreement import expected_of_values as expected_of_values
from kalos_core.chance.disagreement import mean_shares as mean_shares
from kalos_core.chance.disagreement import observe as observe
from kalos_core.chance.disagreement import observe_counts as observe_counts
from kalos_core.chance.distances import FEW_CATEGORIES as FEW_CATEGORIES
from kalos_core.chance.distances import KAPPA_WEIGHTS as KAPPA_WEIGHTS
from kalos_core.chance.distances import METRICS as METRICS
from kalos_core.chance.distances import Distance as Distance
from kalos_core.chance.distances import Unequal as Unequal
from kalos_core.chance.distances import metric_distance as metric_distance
from kalos_core.chance.distances import number_of_values as number_of_values
from kalos_core.chance.distances import weight_distance as weight_distance
from kalos_core.names import public_names

__all__ = public_names(vars())
