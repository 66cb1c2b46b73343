"""Plots of results: plain values in, plotly figures out. Shared by the App, notebooks and reports.

A title states the finding. Figures set no template, background or font colour, so they follow the theme of the
environment. `save_figure` writes a figure to a file; `print_theme` makes it black and white.

Functions that take a result start with ``plot_``; ``result.plot(name)`` also calls them (`kalos_core.figures.plots`).
The modules contain their parts and titles for callers with plain values.
The imports below are the only list of these names: `__all__` and the API reference are made from them.
"""

from kalos_core.figures.agreement import plot_agreement as plot_agreement
from kalos_core.figures.agreement import plot_next_to_rate as plot_next_to_rate
from kalos_core.figures.boundaries import plot_rater_pairs as plot_rater_pairs
from kalos_core.figures.boundaries import plot_tolerances as plot_tolerances
from kalos_core.figures.calibration import plot_calibration as plot_calibration
from kalos_core.figures.classes import plot_class_difficulty as plot_class_difficulty
from kalos_core.figures.convergence import plot_boundaries as plot_boundaries
from kalos_core.figures.convergence import plot_convergence as plot_convergence
from kalos_core.figures.convergence import plot_directions as plot_directions
from kalos_core.figures.convergence import plot_regression as plot_regression
from kalos_core.figures.convergence import plot_shares as plot_shares
from kalos_core.figures.convergence import plot_sizes as plot_sizes
from kalos_core.figures.convergence import plot_study as plot_study
from kalos_core.figures.events import plot_events as plot_events
from kalos_core.figures.events import plot_rater_events as plot_rater_events
from kalos_core.figures.experiments import plot_accuracy as plot_accuracy
from kalos_core.figures.experiments import plot_cases as plot_cases
from kalos_core.figures.experiments import plot_experiments as plot_experiments
from kalos_core.figures.experiments import plot_loss as plot_loss
from kalos_core.figures.experiments import plot_rater_return as plot_rater_return
from kalos_core.figures.experiments import plot_response as plot_response
from kalos_core.figures.experiments import plot_schools as plot_schools
from kalos_core.figures.labels import plot_cohen as plot_cohen
from kalos_core.figures.labels import plot_confusion as plot_confusion
from kalos_core.figures.labels import plot_label_agreement as plot_label_agreement
from kalos_core.figures.labels import plot_majority as plot_majority
from kalos_core.figures.labels import plot_rater_accuracy as plot_rater_accuracy
from kalos_core.figures.labels import plot_rejection as plot_rejection
from kalos_core.figures.labels import plot_skill as plot_skill
from kalos_core.figures.labels import plot_teams as plot_teams
from kalos_core.figures.noise import plot_angles as plot_angles
from kalos_core.figures.noise import plot_areas as plot_areas
from kalos_core.figures.noise import plot_confusions as plot_confusions
from kalos_core.figures.noise import plot_fidelity as plot_fidelity
from kalos_core.figures.noise import plot_opposition as plot_opposition
from kalos_core.figures.noise import plot_residuals as plot_residuals
from kalos_core.figures.noise import plot_size_errors as plot_size_errors
from kalos_core.figures.pixels import plot_correlations as plot_correlations
from kalos_core.figures.pixels import plot_performance as plot_performance
from kalos_core.figures.pixels import plot_rater_performance as plot_rater_performance
from kalos_core.figures.pixels import plot_rater_tree as plot_rater_tree
from kalos_core.figures.pixels import plot_ratio as plot_ratio
from kalos_core.figures.printing import print_theme as print_theme
from kalos_core.figures.printing import save_figure as save_figure
from kalos_core.figures.ranking import plot_agreement_curves as plot_agreement_curves
from kalos_core.figures.ranking import plot_boundary_evaluation as plot_boundary_evaluation
from kalos_core.figures.ranking import plot_bounds as plot_bounds
from kalos_core.figures.ranking import plot_concordance as plot_concordance
from kalos_core.figures.ranking import plot_curves as plot_curves
from kalos_core.figures.ranking import plot_detector_correlations as plot_detector_correlations
from kalos_core.figures.ranking import plot_ranking as plot_ranking
from kalos_core.figures.ranking import plot_reference as plot_reference
from kalos_core.figures.ranking import plot_shared_rankings as plot_shared_rankings
from kalos_core.figures.ranking import plot_tau as plot_tau
from kalos_core.figures.raters import plot_collaboration as plot_collaboration
from kalos_core.figures.raters import plot_intra_rater as plot_intra_rater
from kalos_core.figures.raters import plot_team as plot_team
from kalos_core.figures.raters import plot_vitality as plot_vitality
from kalos_core.figures.sensitivity import plot_sensitivity as plot_sensitivity
from kalos_core.figures.sparse import plot_independence as plot_independence
from kalos_core.figures.sparse import plot_removal as plot_removal
from kalos_core.figures.sparse import plot_running as plot_running
from kalos_core.figures.sparse import plot_weights as plot_weights
from kalos_core.figures.tables import plot_counts as plot_counts
from kalos_core.figures.tables import plot_histogram as plot_histogram
from kalos_core.figures.tables import plot_values as plot_values
from kalos_core.figures.variations import plot_variations as plot_variations
from kalos_core.names import public_names

__all__ = public_names(vars())
