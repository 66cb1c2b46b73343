"""Diagnostics behind an agreement: thresholds, classes, raters, pairs of raters and sessions (KαLOS §13).

All but `sensitivity` take an `Agreement` and reuse its similarities; nothing is compared twice. All respect the
assignment of raters to images and classes. Undefined values are NaN, are excluded from means and never count as 1.

* all diagnostics at once: `diagnose` -> `Diagnosis`
* thresholds: `sensitivity` -> `Sensitivity`, `image_alphas`
* classes: `class_difficulty` -> `ClassDifficulty`, `class_image_alpha`
* raters: `rater_vitality` -> `RaterVitality`
* pairs of raters: `collaboration` -> `Collaboration`, `pair_image_alpha`
* one class, one rater, or both: `narrowed` -> `NarrowedAgreement`
* images that need another rater: `next_to_rate` -> `NextToRate`
* two agreements: `compare` -> `Comparison`, `Differences`
* values for sorting images: `AlphasByImage` -> `PartAlphas`
* sessions: `intra_rater` -> `IntraRater`, `team_agreement` -> `TeamAgreement`, `rater_labels`
"""

from kalos_core.diagnostics.by_image import AlphasByImage as AlphasByImage
from kalos_core.diagnostics.by_image import PartAlphas as PartAlphas
from kalos_core.diagnostics.classes import ClassDifficulty as ClassDifficulty
from kalos_core.diagnostics.classes import class_difficulty as class_difficulty
from kalos_core.diagnostics.classes import class_image_alpha as class_image_alpha
from kalos_core.diagnostics.comparison import Comparison as Comparison
from kalos_core.diagnostics.comparison import Differences as Differences
from kalos_core.diagnostics.comparison import compare as compare
from kalos_core.diagnostics.diagnosis import Diagnosis as Diagnosis
from kalos_core.diagnostics.diagnosis import diagnose as diagnose
from kalos_core.diagnostics.narrowing import NarrowedAgreement as NarrowedAgreement
from kalos_core.diagnostics.narrowing import narrowed as narrowed
from kalos_core.diagnostics.rater_pairs import Collaboration as Collaboration
from kalos_core.diagnostics.rater_pairs import collaboration as collaboration
from kalos_core.diagnostics.rater_pairs import pair_image_alpha as pair_image_alpha
from kalos_core.diagnostics.rerating import NextToRate as NextToRate
from kalos_core.diagnostics.rerating import next_to_rate as next_to_rate
from kalos_core.diagnostics.sessions import IntraRater as IntraRater
from kalos_core.diagnostics.sessions import TeamAgreement as TeamAgreement
from kalos_core.diagnostics.sessions import intra_rater as intra_rater
from kalos_core.diagnostics.sessions import rater_labels as rater_labels
from kalos_core.diagnostics.sessions import team_agreement as team_agreement
from kalos_core.diagnostics.thresholds import Sensitivity as Sensitivity
from kalos_core.diagnostics.thresholds import image_alphas as image_alphas
from kalos_core.diagnostics.thresholds import sensitivity as sensitivity
from kalos_core.diagnostics.vitality import RaterVitality as RaterVitality
from kalos_core.diagnostics.vitality import rater_vitality as rater_vitality
from kalos_core.names import public_names

__all__ = public_names(vars())
