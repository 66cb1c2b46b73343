"""Agreement of several raters on vision data: who marked what where, how much they agree, and how they differ.

Flat tables of annotations go in, flat tables of agreement come out::

    annotations = read_coco("labels.json")
    print(agreement(annotations))
    print(variations(annotations).counts())
"""

from kalos_core.agreement import Agreement, Configuration, agreement
from kalos_core.annotations import Annotations
from kalos_core.calibration import Calibration, Separation, calibrate
from kalos_core.convergence import (
    FEW_IMAGES,
    PUBLISHED_LINE,
    Criterion,
    LabelConvergence,
    Line,
    ModifiedMap,
    PredictionMap,
    Replicates,
    Spread,
    check_convergence,
    fit_line,
    label_convergence,
    map_of_predictions,
    modified_map,
    read_models,
)
from kalos_core.correspondence import COSTS, SOLVERS, usable_solvers
from kalos_core.diagnostics import (
    ClassDifficulty,
    Collaboration,
    IntraRater,
    RaterVitality,
    Sensitivity,
    TeamAgreement,
    class_difficulty,
    class_image_alpha,
    collaboration,
    intra_rater,
    pair_image_alpha,
    rater_labels,
    rater_vitality,
    sensitivity,
    team_agreement,
)
from kalos_core.errors import InputError, KalosError, KalosWarning
from kalos_core.pairs import Pairs, compute_pairs
from kalos_core.readers import read_coco, read_cvat, read_label_studio, read_lidc, read_vindr, write_coco
from kalos_core.readers.vocabulary import Vocabulary
from kalos_core.reliability import NO_OBJECT, NOT_ASSIGNED, Units
from kalos_core.similarity import SIMILARITIES, Similarity, register_similarity
from kalos_core.variations import (
    VARIATION_TYPES,
    BoundaryQuality,
    Variations,
    VariationShares,
    boundary_quality,
    variation_shares,
    variations,
)

__version__ = "0.1.0"

__all__ = [
    "COSTS",
    "FEW_IMAGES",
    "NOT_ASSIGNED",
    "NO_OBJECT",
    "PUBLISHED_LINE",
    "SIMILARITIES",
    "SOLVERS",
    "VARIATION_TYPES",
    "Agreement",
    "Annotations",
    "BoundaryQuality",
    "Calibration",
    "ClassDifficulty",
    "Collaboration",
    "Configuration",
    "Criterion",
    "InputError",
    "IntraRater",
    "KalosError",
    "KalosWarning",
    "LabelConvergence",
    "Line",
    "ModifiedMap",
    "Pairs",
    "PredictionMap",
    "RaterVitality",
    "Replicates",
    "Sensitivity",
    "Separation",
    "Similarity",
    "Spread",
    "TeamAgreement",
    "Units",
    "VariationShares",
    "Variations",
    "Vocabulary",
    "agreement",
    "boundary_quality",
    "calibrate",
    "check_convergence",
    "class_difficulty",
    "class_image_alpha",
    "collaboration",
    "compute_pairs",
    "fit_line",
    "intra_rater",
    "label_convergence",
    "map_of_predictions",
    "modified_map",
    "pair_image_alpha",
    "rater_labels",
    "rater_vitality",
    "read_coco",
    "read_cvat",
    "read_label_studio",
    "read_lidc",
    "read_models",
    "read_vindr",
    "register_similarity",
    "sensitivity",
    "team_agreement",
    "usable_solvers",
    "variation_shares",
    "variations",
    "write_coco",
]
