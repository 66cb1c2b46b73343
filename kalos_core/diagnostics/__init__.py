"""What lies behind one number: thresholds, classes, raters, pairs of raters and sessions (KαLOS §13).

All but `sensitivity` take an `Agreement` and read the similarities it carries; nothing is compared twice. Everything
heeds who is assigned to which image and class; what is undefined is NaN, is left out of means and never counts as 1.

* all of these at once: `diagnose` -> `Diagnosis`
* thresholds: `sensitivity` -> `Sensitivity`, `image_alphas`
* classes: `class_difficulty` -> `ClassDifficulty`, `class_image_alpha`
* raters: `rater_vitality` -> `RaterVitality`
* pairs of raters: `collaboration` -> `Collaboration`, `pair_image_alpha`
* one class, one rater, or both: `narrowed` -> `NarrowedAgreement`
* which images to give to one more rater: `next_to_rate` -> `NextToRate`
* two agreements: `compare` -> `Comparison`, `Differences`
* what images are sorted by: `AlphasByImage` -> `PartAlphas`
* sessions: `intra_rater` -> `IntraRater`, `team_agreement` -> `TeamAgreement`, `rater_labels`
"""

from kalos_core.diagnostics.by_image import AlphasByImage, PartAlphas
from kalos_core.diagnostics.classes import ClassDifficulty, class_difficulty, class_image_alpha
from kalos_core.diagnostics.comparison import Comparison, Differences, compare
from kalos_core.diagnostics.diagnosis import Diagnosis, diagnose
from kalos_core.diagnostics.narrowing import NarrowedAgreement, narrowed
from kalos_core.diagnostics.rater_pairs import Collaboration, collaboration, pair_image_alpha
from kalos_core.diagnostics.rerating import NextToRate, next_to_rate
from kalos_core.diagnostics.sessions import IntraRater, TeamAgreement, intra_rater, rater_labels, team_agreement
from kalos_core.diagnostics.thresholds import Sensitivity, image_alphas, sensitivity
from kalos_core.diagnostics.vitality import RaterVitality, rater_vitality

__all__ = [
    "AlphasByImage",
    "ClassDifficulty",
    "Collaboration",
    "Comparison",
    "Diagnosis",
    "Differences",
    "IntraRater",
    "NarrowedAgreement",
    "NextToRate",
    "PartAlphas",
    "RaterVitality",
    "Sensitivity",
    "TeamAgreement",
    "class_difficulty",
    "class_image_alpha",
    "collaboration",
    "compare",
    "diagnose",
    "image_alphas",
    "intra_rater",
    "narrowed",
    "next_to_rate",
    "pair_image_alpha",
    "rater_labels",
    "rater_vitality",
    "sensitivity",
    "team_agreement",
]
