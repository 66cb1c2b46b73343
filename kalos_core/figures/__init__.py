"""Plots of results: plain values in, plotly figures out. The App, notebooks and reports show the same ones.

A title states the finding. No template, background or font colour is set, so that a figure follows the theme of
whatever shows it.

What takes a result starts with ``plot_``; the others are its parts, and their titles. ``result.plot(name)`` calls
it, too.

============================  ===============================  =========================================
figure                        drawn from                       in the paper
============================  ===============================  =========================================
`plot_accuracy`               SolverAccuracy                   KαLOS Fig. 3, 4, 18
`plot_agreement`              Agreement or NarrowedAgreement   KαLOS Fig. 20
`plot_agreement_curves`       DetectorRanking                  Lampert et al. Fig. 5
`plot_angles`                 NoiseModel                       KαLOS Fig. 10
`plot_areas`                  NoiseModel                       KαLOS Fig. 13, 14
`plot_boundaries`             BoundaryQuality                  label convergence Fig. 7
`plot_boundary_evaluation`    BoundaryEvaluation
`plot_bounds`                 DetectorRanking
`plot_calibration`            Separation or Calibration        KαLOS Fig. 19
`plot_cases`                  SolverCases                      KαLOS Fig. 5
`plot_class_difficulty`       ClassDifficulty                  KαLOS Fig. 22
`plot_cohen`                  QuestionCurve
`plot_collaboration`          Collaboration                    KαLOS Fig. 24
`plot_concordance`            Concordance
`plot_confusion`              LabelTruth
`plot_confusions`             NoiseModel                       KαLOS Fig. 12
`plot_convergence`            LabelConvergence or Replicates
`plot_correlations`           PixelAgreement
`plot_counts`                 any with counts
`plot_curves`                 DetectorRanking                  Lampert et al. Fig. 7
`plot_detector_correlations`  DetectorRanking
`plot_directions`             ModifiedMap or ConvergenceStudy
`plot_events`                 GeneratedRaters
`plot_experiments`            Experiments
`plot_fidelity`               Fidelity
`plot_histogram`              any
`plot_independence`           Independence
`plot_intra_rater`            IntraRater
`plot_label_agreement`        LabelAgreement
`plot_loss`                   SignalLossTable                  KαLOS Table 3
`plot_majority`               MajorityAgreement                Nowak & Rüger Fig. 4
`plot_next_to_rate`           NextToRate
`plot_performance`            RaterPerformance
`plot_ranking`                Rankings
`plot_rater_accuracy`         RaterAccuracy
`plot_rater_events`           RaterEvents
`plot_rater_pairs`            BoundaryAgreement or RegionAgreement
`plot_rater_performance`      PixelAgreement
`plot_rater_return`           RaterReturn                      KαLOS Fig. 6
`plot_rater_tree`             PixelAgreement                   Lampert et al. Fig. 4
`plot_ratio`                  PixelAgreement                   Lampert et al. Fig. 3
`plot_reference`              DetectorRanking                  Lampert et al. Fig. 6
`plot_regression`             names -> LabelConvergence        label convergence Fig. 3
`plot_rejection`              Rejection
`plot_removal`                RemovalExperiment                Nørregaard & Derczynski Fig. 6
`plot_residuals`              NoiseModel
`plot_response`               MagnitudeResponse                KαLOS Fig. 1d
`plot_running`                RunningCurve
`plot_schools`                SchoolImpact                     KαLOS Fig. 7
`plot_sensitivity`            Sensitivity                      KαLOS Fig. 21
`plot_shared_rankings`        Rankings
`plot_shares`                 VariationShares                  KαLOS Fig. 9; label convergence Fig. 4, 6
`plot_size_errors`            NoiseModel                       KαLOS Fig. 11
`plot_sizes`                  LabelConvergence.sizes()
`plot_skill`                  LabelTruth
`plot_study`                  ConvergenceStudy                 label convergence Fig. 1
`plot_tau`                    Rankings
`plot_team`                   TeamAgreement
`plot_teams`                  TeamComparison
`plot_tolerances`             BoundaryDistance
`plot_values`                 any
`plot_variations`             Variations
`plot_vitality`               RaterVitality                    KαLOS Fig. 23
`plot_weights`                RemovalExperiment                Nørregaard & Derczynski Fig. 7
============================  ===============================  =========================================

* How to read each figure of a run: `CAPTIONS`, `Caption`.
* Words for alpha: `band`, `convergence_band`, `BANDS`, `BAND_SOURCES`.
* Words and colours of plots: `alpha_text`, `percent_text`, `signed`, `significant`, `with_interval`,
  `EVENT_LABELS`, `OUTCOME_LABELS`, `RATER_COLOURS`, `STAGE_LABELS`, `VARIATION_LABELS`.
* Agreement: `plot_agreement`, `plot_next_to_rate`, `agreement_title`, `alpha_bins`, `alpha_histogram`, `alpha_scale`,
  `BIN_WIDTH`.
* Calibration: `plot_calibration`, `calibration_figure`, `calibration_title`, `OBSERVED_COLOUR`.
* Classes: `plot_class_difficulty`, `class_difficulty_bars`, `class_difficulty_title`, `hardest_classes`, `left_out`,
  `LEAST_IMAGES`, `MOST_CLASSES`.
* Colours: `COLOURS`, `NEUTRAL`.
* Label convergence: `plot_boundaries`, `plot_convergence`, `plot_directions`, `plot_regression`, `plot_shares`,
  `plot_sizes`, `plot_study`, `NamedLine`, `boundary_histogram`, `boundary_title`, `convergence_title`, `fit_title`,
  `interval_bars`, `replicate_scatter`, `shares_over_thresholds`, `shares_title`, `size_curve`.
* Directions of mAP: `directions_heatmap`, `directions_title`.
* Differences of generated raters: `plot_events`, `plot_rater_events`, `event_bars`, `events_title`, `image_event_bars`,
  `stage_rows`, `EVENT_COLOURS`.
* Experiments of the noise model: `plot_accuracy`, `plot_cases`, `plot_experiments`, `plot_loss`, `plot_rater_return`,
  `plot_response`, `plot_schools`, `loss_rows`.
* Any result with a table: `plot_counts`, `plot_histogram`, `plot_values`, `count_bars_of`.
* Files and print: `save_figure`, `print_theme`.
* Boundaries and regions: `plot_rater_pairs`, `plot_tolerances`.
* Square tables: `square_heatmap`.
* Image-level labels: `plot_cohen`, `plot_confusion`, `plot_label_agreement`, `plot_majority`, `plot_rater_accuracy`,
  `plot_rejection`, `plot_skill`, `plot_teams`, `accuracy_heatmap`, `accuracy_title`, `cohen_title`, `doubt_of_weights`,
  `kappa_bars`, `kappa_title`, `least_first`, `majority_dots`, `majority_order`, `majority_title`, `rejection_title`,
  `skill_title`, `team_bars`.
* The noise model: `plot_angles`, `plot_areas`, `plot_confusions`, `plot_fidelity`, `plot_residuals`,
  `plot_size_errors`, `fidelity_dots`, `fidelity_rows`, `fidelity_title`, `fit_rows`, `origin_rows`, `FIDELITY_LABELS`.
* Pixel agreement: `plot_correlations`, `plot_performance`, `plot_rater_performance`, `plot_rater_tree`, `plot_ratio`,
  `correlation_bars`, `correlation_title`, `performance_dots`, `performance_title`, `pixel_title`, `rater_tree`,
  `ratio_curve`, `ratio_title`, `significance`, `smyth_note`, `tree_title`.
* Published values: `PublishedAlpha`, `PublishedCalibration`, `PUBLISHED_ALPHAS`, `PUBLISHED_CALIBRATIONS`.
* Rankings of classifiers and detectors: `plot_agreement_curves`, `plot_boundary_evaluation`, `plot_bounds`,
  `plot_concordance`, `plot_curves`, `plot_detector_correlations`, `plot_ranking`, `plot_reference`,
  `plot_shared_rankings`, `plot_tau`, `agreement_curves`, `agreement_curves_title`, `boundaries_title`, `bounds_bars`,
  `bounds_title`, `bump_chart`, `concordance_title`, `curves_title`, `detector_correlation_dots`,
  `detector_correlation_title`, `precision_curves`, `ranking_title`, `reference_title`, `shared_chart`, `shared_title`,
  `tau_heatmap`, `tau_title`.
* Raters: `plot_collaboration`, `plot_intra_rater`, `plot_team`, `plot_vitality`, `collaboration_heatmap`,
  `collaboration_title`, `session_bars`, `session_title`, `team_title`, `vitality_bars`, `vitality_title`.
* Sensitivity: `plot_sensitivity`, `sensitivity_curve`, `sensitivity_title`.
* Sparse agreement: `plot_independence`, `plot_removal`, `plot_running`, `plot_weights`, `independence_title`,
  `running_figure`, `running_title`.
* Variations: `plot_variations`, `variation_bars`, `variations_title`.
"""

from kalos_core._agreement import BAND_SOURCES, BANDS, band, convergence_band
from kalos_core.display import (
    EVENT_LABELS,
    OUTCOME_LABELS,
    RATER_COLOURS,
    STAGE_LABELS,
    VARIATION_LABELS,
    alpha_text,
    percent_text,
    signed,
    significant,
    with_interval,
)
from kalos_core.figures.agreement import (
    BIN_WIDTH,
    agreement_title,
    alpha_bins,
    alpha_histogram,
    alpha_scale,
    plot_agreement,
    plot_next_to_rate,
)
from kalos_core.figures.boundaries import plot_rater_pairs, plot_tolerances
from kalos_core.figures.calibration import (
    OBSERVED_COLOUR,
    calibration_figure,
    calibration_title,
    plot_calibration,
)
from kalos_core.figures.captions import CAPTIONS, Caption
from kalos_core.figures.classes import (
    LEAST_IMAGES,
    MOST_CLASSES,
    class_difficulty_bars,
    class_difficulty_title,
    hardest_classes,
    left_out,
    plot_class_difficulty,
)
from kalos_core.figures.common import COLOURS, NEUTRAL
from kalos_core.figures.convergence import (
    NamedLine,
    boundary_histogram,
    boundary_title,
    convergence_title,
    fit_title,
    interval_bars,
    plot_boundaries,
    plot_convergence,
    plot_directions,
    plot_regression,
    plot_shares,
    plot_sizes,
    plot_study,
    replicate_scatter,
    shares_over_thresholds,
    shares_title,
    size_curve,
)
from kalos_core.figures.directions import directions_heatmap, directions_title
from kalos_core.figures.events import (
    EVENT_COLOURS,
    event_bars,
    events_title,
    image_event_bars,
    plot_events,
    plot_rater_events,
    stage_rows,
)
from kalos_core.figures.experiments import (
    loss_rows,
    plot_accuracy,
    plot_cases,
    plot_experiments,
    plot_loss,
    plot_rater_return,
    plot_response,
    plot_schools,
)
from kalos_core.figures.heatmaps import square_heatmap
from kalos_core.figures.labels import (
    accuracy_heatmap,
    accuracy_title,
    cohen_title,
    doubt_of_weights,
    kappa_bars,
    kappa_title,
    least_first,
    majority_dots,
    majority_order,
    majority_title,
    plot_cohen,
    plot_confusion,
    plot_label_agreement,
    plot_majority,
    plot_rater_accuracy,
    plot_rejection,
    plot_skill,
    plot_teams,
    rejection_title,
    skill_title,
    team_bars,
)
from kalos_core.figures.noise import (
    FIDELITY_LABELS,
    fidelity_dots,
    fidelity_rows,
    fidelity_title,
    fit_rows,
    origin_rows,
    plot_angles,
    plot_areas,
    plot_confusions,
    plot_fidelity,
    plot_residuals,
    plot_size_errors,
)
from kalos_core.figures.pixels import (
    correlation_bars,
    correlation_title,
    performance_dots,
    performance_title,
    pixel_title,
    plot_correlations,
    plot_performance,
    plot_rater_performance,
    plot_rater_tree,
    plot_ratio,
    rater_tree,
    ratio_curve,
    ratio_title,
    significance,
    smyth_note,
    tree_title,
)
from kalos_core.figures.printing import print_theme, save_figure
from kalos_core.figures.published import (
    PUBLISHED_ALPHAS,
    PUBLISHED_CALIBRATIONS,
    PublishedAlpha,
    PublishedCalibration,
)
from kalos_core.figures.ranking import (
    agreement_curves,
    agreement_curves_title,
    boundaries_title,
    bounds_bars,
    bounds_title,
    bump_chart,
    concordance_title,
    curves_title,
    detector_correlation_dots,
    detector_correlation_title,
    plot_agreement_curves,
    plot_boundary_evaluation,
    plot_bounds,
    plot_concordance,
    plot_curves,
    plot_detector_correlations,
    plot_ranking,
    plot_reference,
    plot_shared_rankings,
    plot_tau,
    precision_curves,
    ranking_title,
    reference_title,
    shared_chart,
    shared_title,
    tau_heatmap,
    tau_title,
)
from kalos_core.figures.raters import (
    collaboration_heatmap,
    collaboration_title,
    plot_collaboration,
    plot_intra_rater,
    plot_team,
    plot_vitality,
    session_bars,
    session_title,
    team_title,
    vitality_bars,
    vitality_title,
)
from kalos_core.figures.sensitivity import plot_sensitivity, sensitivity_curve, sensitivity_title
from kalos_core.figures.sparse import (
    independence_title,
    plot_independence,
    plot_removal,
    plot_running,
    plot_weights,
    running_figure,
    running_title,
)
from kalos_core.figures.tables import count_bars_of, plot_counts, plot_histogram, plot_values
from kalos_core.figures.variations import plot_variations, variation_bars, variations_title

__all__ = [
    "BANDS",
    "BAND_SOURCES",
    "BIN_WIDTH",
    "CAPTIONS",
    "COLOURS",
    "EVENT_COLOURS",
    "EVENT_LABELS",
    "FIDELITY_LABELS",
    "LEAST_IMAGES",
    "MOST_CLASSES",
    "NEUTRAL",
    "OBSERVED_COLOUR",
    "OUTCOME_LABELS",
    "PUBLISHED_ALPHAS",
    "PUBLISHED_CALIBRATIONS",
    "RATER_COLOURS",
    "STAGE_LABELS",
    "VARIATION_LABELS",
    "Caption",
    "NamedLine",
    "PublishedAlpha",
    "PublishedCalibration",
    "accuracy_heatmap",
    "accuracy_title",
    "agreement_curves",
    "agreement_curves_title",
    "agreement_title",
    "alpha_bins",
    "alpha_histogram",
    "alpha_scale",
    "alpha_text",
    "band",
    "boundaries_title",
    "boundary_histogram",
    "boundary_title",
    "bounds_bars",
    "bounds_title",
    "bump_chart",
    "calibration_figure",
    "calibration_title",
    "class_difficulty_bars",
    "class_difficulty_title",
    "cohen_title",
    "collaboration_heatmap",
    "collaboration_title",
    "concordance_title",
    "convergence_band",
    "convergence_title",
    "correlation_bars",
    "correlation_title",
    "count_bars_of",
    "curves_title",
    "detector_correlation_dots",
    "detector_correlation_title",
    "directions_heatmap",
    "directions_title",
    "doubt_of_weights",
    "event_bars",
    "events_title",
    "fidelity_dots",
    "fidelity_rows",
    "fidelity_title",
    "fit_rows",
    "fit_title",
    "hardest_classes",
    "image_event_bars",
    "independence_title",
    "interval_bars",
    "kappa_bars",
    "kappa_title",
    "least_first",
    "left_out",
    "loss_rows",
    "majority_dots",
    "majority_order",
    "majority_title",
    "origin_rows",
    "percent_text",
    "performance_dots",
    "performance_title",
    "pixel_title",
    "plot_accuracy",
    "plot_agreement",
    "plot_agreement_curves",
    "plot_angles",
    "plot_areas",
    "plot_boundaries",
    "plot_boundary_evaluation",
    "plot_bounds",
    "plot_calibration",
    "plot_cases",
    "plot_class_difficulty",
    "plot_cohen",
    "plot_collaboration",
    "plot_concordance",
    "plot_confusion",
    "plot_confusions",
    "plot_convergence",
    "plot_correlations",
    "plot_counts",
    "plot_curves",
    "plot_detector_correlations",
    "plot_directions",
    "plot_events",
    "plot_experiments",
    "plot_fidelity",
    "plot_histogram",
    "plot_independence",
    "plot_intra_rater",
    "plot_label_agreement",
    "plot_loss",
    "plot_majority",
    "plot_next_to_rate",
    "plot_performance",
    "plot_ranking",
    "plot_rater_accuracy",
    "plot_rater_events",
    "plot_rater_pairs",
    "plot_rater_performance",
    "plot_rater_return",
    "plot_rater_tree",
    "plot_ratio",
    "plot_reference",
    "plot_regression",
    "plot_rejection",
    "plot_removal",
    "plot_residuals",
    "plot_response",
    "plot_running",
    "plot_schools",
    "plot_sensitivity",
    "plot_shared_rankings",
    "plot_shares",
    "plot_size_errors",
    "plot_sizes",
    "plot_skill",
    "plot_study",
    "plot_tau",
    "plot_team",
    "plot_teams",
    "plot_tolerances",
    "plot_values",
    "plot_variations",
    "plot_vitality",
    "plot_weights",
    "precision_curves",
    "print_theme",
    "ranking_title",
    "rater_tree",
    "ratio_curve",
    "ratio_title",
    "reference_title",
    "rejection_title",
    "replicate_scatter",
    "running_figure",
    "running_title",
    "save_figure",
    "sensitivity_curve",
    "sensitivity_title",
    "session_bars",
    "session_title",
    "shared_chart",
    "shared_title",
    "shares_over_thresholds",
    "shares_title",
    "signed",
    "significance",
    "significant",
    "size_curve",
    "skill_title",
    "smyth_note",
    "square_heatmap",
    "stage_rows",
    "tau_heatmap",
    "tau_title",
    "team_bars",
    "team_title",
    "tree_title",
    "variation_bars",
    "variations_title",
    "vitality_bars",
    "vitality_title",
    "with_interval",
]
