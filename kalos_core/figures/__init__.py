"""Figures of results: plain values in, plotly figures out. The App, notebooks and reports draw the same ones.

A title states the finding. No template, background or font colour is set, so that a figure follows the theme of
whatever shows it.
"""

from kalos_core.agreement import BANDS, band
from kalos_core.figures.agreement import (
    BIN_WIDTH,
    agreement_title,
    alpha_bins,
    alpha_histogram,
    alpha_scale,
    plot_agreement,
)
from kalos_core.figures.calibration import (
    DISTANCE_EDGES,
    OBSERVED_COLOUR,
    calibration_figure,
    calibration_title,
    distance_curve,
    distance_shares,
    plot_calibration,
)
from kalos_core.figures.classes import (
    LEAST_IMAGES,
    MOST_CLASSES,
    class_difficulty_bars,
    class_difficulty_title,
    hardest_classes,
    left_out,
    plot_class_difficulty,
)
from kalos_core.figures.common import COLOURS, NEUTRAL, RATER_COLOURS, signed, significant, with_interval
from kalos_core.figures.convergence import (
    DrawnLine,
    boundary_histogram,
    boundary_title,
    convergence_title,
    interval_bars,
    plot_boundaries,
    plot_convergence,
    plot_shares,
    replicate_scatter,
    shares_over_thresholds,
    shares_title,
)
from kalos_core.figures.directions import directions_heatmap, directions_title
from kalos_core.figures.published import (
    PUBLISHED_ALPHAS,
    PUBLISHED_CALIBRATIONS,
    PublishedAlpha,
    PublishedCalibration,
)
from kalos_core.figures.raters import (
    collaboration_heatmap,
    collaboration_title,
    plot_collaboration,
    plot_intra_rater,
    plot_vitality,
    session_bars,
    session_title,
    team_title,
    vitality_bars,
    vitality_title,
)
from kalos_core.figures.sensitivity import plot_sensitivity, sensitivity_curve, sensitivity_title
from kalos_core.figures.variations import VARIATION_LABELS, plot_variations, variation_bars, variations_title

__all__ = [
    "BANDS",
    "BIN_WIDTH",
    "COLOURS",
    "DISTANCE_EDGES",
    "LEAST_IMAGES",
    "MOST_CLASSES",
    "NEUTRAL",
    "OBSERVED_COLOUR",
    "PUBLISHED_ALPHAS",
    "PUBLISHED_CALIBRATIONS",
    "RATER_COLOURS",
    "VARIATION_LABELS",
    "DrawnLine",
    "PublishedAlpha",
    "PublishedCalibration",
    "agreement_title",
    "alpha_bins",
    "alpha_histogram",
    "alpha_scale",
    "band",
    "boundary_histogram",
    "boundary_title",
    "calibration_figure",
    "calibration_title",
    "class_difficulty_bars",
    "class_difficulty_title",
    "collaboration_heatmap",
    "collaboration_title",
    "convergence_title",
    "directions_heatmap",
    "directions_title",
    "distance_curve",
    "distance_shares",
    "hardest_classes",
    "interval_bars",
    "left_out",
    "plot_agreement",
    "plot_boundaries",
    "plot_calibration",
    "plot_class_difficulty",
    "plot_collaboration",
    "plot_convergence",
    "plot_intra_rater",
    "plot_sensitivity",
    "plot_shares",
    "plot_variations",
    "plot_vitality",
    "replicate_scatter",
    "sensitivity_curve",
    "sensitivity_title",
    "session_bars",
    "session_title",
    "shares_over_thresholds",
    "shares_title",
    "signed",
    "significant",
    "team_title",
    "variation_bars",
    "variations_title",
    "vitality_bars",
    "vitality_title",
    "with_interval",
]
