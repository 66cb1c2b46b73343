"""Agreement of several raters on vision data: who annotated what, how far they agree, and how they differ.

Flat tables of annotations go in, flat tables of agreement come out::

    annotations = read_coco("labels.json")
    print(agreement(annotations))
    print(variations(annotations).counts())

The names of this package are those of daily use. The rest is in its subpackages and modules:

============================  ======================================================================================
`kalos_core.readers`          files of other programs -> `Annotations` and tables of image-level labels; COCO writer
`kalos_core.annotations`      `Annotations`, the frozen table of all annotations of all raters
`kalos_core.shapes`           columns of boxes, polygons, masks, keypoints, volumes and cuboids
`kalos_core.similarity`       how similar two shapes are; the table `SIMILARITIES`
`kalos_core.pairs`            similarities of all pairs of annotations of different raters, computed once
`kalos_core.correspondence`   which annotations mean the same object; the table `SOLVERS`
`kalos_core.reliability`      units, values, and Krippendorff's alpha
`kalos_core.resampling`       bootstrap intervals from sums per image
`kalos_core.diagnostics`      agreement by threshold, class, rater, pair of raters and session
`kalos_core.calibration`      the threshold and the similarity that tell agreement from chance
`kalos_core.variation`        wrong class, merged, missing, additional: each difference between two raters
`kalos_core.convergence`      label convergence: the mAP that labels allow a model to reach
`kalos_core.nominal`          image-level labels: coefficients, majorities, accuracy, teams, disputes
`kalos_core.sparse`           agreement where each item has only some of the raters
`kalos_core.pixels`           agreement about pixels
`kalos_core.consensus`        one reference estimated from several raters; the table `TRUTH_METHODS`
`kalos_core.decisions`        units in dispute, what was decided about each, and the labels that follow
`kalos_core.ranking`          how classifiers, detectors and models rank under each reference
`kalos_core.distributed`      data sets past one machine: shards, which functions take in place of a table
`kalos_core.noise`            how raters differ, fitted to real ones, and synthetic raters; `experiments` with them
`kalos_core.display`          names of types and numbers as people read them
`kalos_core.results`          how results show themselves: `repr`, tables, HTML, figures, JSON
`kalos_core.drawing`          images with the outlines of every rater
`kalos_core.figures`          results as plotly figures
`kalos_core.report`           a report as one HTML page, a sheet for one rater
`kalos_core.fiftyone`         the bridge to FiftyOne data sets
`kalos_core.cli`              the command line `kalos-core`
============================  ======================================================================================
"""

from kalos_core._agreement import Agreement, AgreementSettings, agreement
from kalos_core.annotations import Annotations, overview
from kalos_core.calibration import calibrate
from kalos_core.consensus import (
    TRUTH_METHODS,
    Truth,
    class_truth,
    estimate_truth,
    estimate_truths,
    instance_consensus,
    staple,
    staple_classes,
    unit_truth,
    vote,
)
from kalos_core.convergence import check_convergence, label_convergence, map_of_predictions, modified_map, read_models
from kalos_core.correspondence import COSTS, SOLVERS, usable_solvers
from kalos_core.diagnostics import (
    class_difficulty,
    collaboration,
    compare,
    intra_rater,
    next_to_rate,
    rater_vitality,
    sensitivity,
    team_agreement,
)
from kalos_core.drawing import draw_image, draw_unit
from kalos_core.errors import InputError, KalosError, KalosWarning
from kalos_core.noise import NoiseModel
from kalos_core.noise.experiments import run_experiments
from kalos_core.nominal import (
    LabelTable,
    attribute_agreement,
    cohen_kappa,
    compare_teams,
    dawid_skene,
    find_disputes,
    fleiss_kappa,
    grade_agreement,
    intraclass_correlation,
    item_accuracy,
    label_agreement,
    label_counts,
    majority_agreement,
    majority_vote,
    nominal_alpha,
    rater_accuracy,
    reject_answers,
    suggest_groups,
)
from kalos_core.pairs import compute_pairs
from kalos_core.pixels import (
    LabelStack,
    MaskStack,
    PixelAccumulator,
    boundary_agreement,
    boundary_distance,
    class_pixel_agreement,
    disputed_regions,
    mask_stacks,
    pixel_agreement,
    region_agreement,
    unit_boundaries,
)
from kalos_core.ranking import (
    ConceptTruths,
    DetectorAccumulator,
    SystemScores,
    rank_models,
    rank_over_classes,
    rank_systems,
)
from kalos_core.readers import (
    read_boxes,
    read_coco,
    read_cvat,
    read_label_studio,
    read_labelme,
    read_lidc,
    read_long_labels,
    read_mask_folders,
    read_via,
    read_vindr,
    read_wide_labels,
    write_coco,
)
from kalos_core.readers.vocabulary import Vocabulary
from kalos_core.reliability import NO_OBJECT, NOT_ASSIGNED
from kalos_core.similarity import SIMILARITIES, Similarity, register_similarity
from kalos_core.sparse import (
    WEIGHTS,
    RunningAgreement,
    check_independence,
    removal_experiment,
    running_agreement,
    sparse_agreement,
    unit_agreement,
)
from kalos_core.variation import VARIATION_TYPES, boundary_quality, variation_shares, variations

__version__ = "0.2.0"

__all__ = [
    "COSTS",
    "NOT_ASSIGNED",
    "NO_OBJECT",
    "SIMILARITIES",
    "SOLVERS",
    "TRUTH_METHODS",
    "VARIATION_TYPES",
    "WEIGHTS",
    "Agreement",
    "AgreementSettings",
    "Annotations",
    "ConceptTruths",
    "DetectorAccumulator",
    "InputError",
    "KalosError",
    "KalosWarning",
    "LabelStack",
    "LabelTable",
    "MaskStack",
    "NoiseModel",
    "PixelAccumulator",
    "RunningAgreement",
    "Similarity",
    "SystemScores",
    "Truth",
    "Vocabulary",
    "agreement",
    "attribute_agreement",
    "boundary_agreement",
    "boundary_distance",
    "boundary_quality",
    "calibrate",
    "check_convergence",
    "check_independence",
    "class_difficulty",
    "class_pixel_agreement",
    "class_truth",
    "cohen_kappa",
    "collaboration",
    "compare",
    "compare_teams",
    "compute_pairs",
    "dawid_skene",
    "disputed_regions",
    "draw_image",
    "draw_unit",
    "estimate_truth",
    "estimate_truths",
    "find_disputes",
    "fleiss_kappa",
    "grade_agreement",
    "instance_consensus",
    "intra_rater",
    "intraclass_correlation",
    "item_accuracy",
    "label_agreement",
    "label_convergence",
    "label_counts",
    "majority_agreement",
    "majority_vote",
    "map_of_predictions",
    "mask_stacks",
    "modified_map",
    "next_to_rate",
    "nominal_alpha",
    "overview",
    "pixel_agreement",
    "rank_models",
    "rank_over_classes",
    "rank_systems",
    "rater_accuracy",
    "rater_vitality",
    "read_boxes",
    "read_coco",
    "read_cvat",
    "read_label_studio",
    "read_labelme",
    "read_lidc",
    "read_long_labels",
    "read_mask_folders",
    "read_models",
    "read_via",
    "read_vindr",
    "read_wide_labels",
    "region_agreement",
    "register_similarity",
    "reject_answers",
    "removal_experiment",
    "run_experiments",
    "running_agreement",
    "sensitivity",
    "sparse_agreement",
    "staple",
    "staple_classes",
    "suggest_groups",
    "team_agreement",
    "unit_agreement",
    "unit_boundaries",
    "unit_truth",
    "usable_solvers",
    "variation_shares",
    "variations",
    "vote",
    "write_coco",
]
