"""Image-level labels and grades of several raters: one table of them, and the agreement in it.

After Nowak & Rüger, *How reliable are annotations via crowdsourcing?* (MIR 2010).

* The table: `LabelTable`, `OPTIONAL`; readers make it by `RawLabels` and `build_table`, with `OnRepeat`,
  `OnEmpty`, `OnUnknown`. Labels that exclude each other: `Groups`, as text `read_groups`; `suggest_groups`,
  `SuggestedGroup`, `SuggestedGroups`, `SUGGESTED`: which seem to; `check_groups`, `GroupBreaches`: answers that break
  such a group; `reject_answers`, `Rejection`: answers left out by rule.
* Agreement on each question: `label_agreement`, `LabelAgreement`, `running_label_agreement`.
* Coefficients of values: `nominal_alpha`, `conger_kappa`, `cohen_kappa`, `cohen_matrix`, `encode_values`; of counts,
  which `label_counts` makes of values: `alpha_of_counts`, `fleiss_kappa`, `free_marginal_kappa`, `gwet_ac1`,
  `observed_agreement`; in words: `landis_koch`, `LANDIS_KOCH`.
* Grades, which have an order or are numbers: alpha and kappas by `METRICS` and `KAPPA_WEIGHTS`; `gwet_ac2`;
  `intraclass_correlation`, `IntraclassCorrelation`, `FORMS`; with intervals in one result: `grade_agreement`,
  `GradeAgreement`; of an attribute of matched annotations: `attribute_agreement`, and of several
  `attributes_table`, `least_agreed_first`.
* The majority: `majority_vote`, `Majority`, `UNDECIDED`, `merge_raters`, `MERGED`, `majority_labels`,
  `MajorityLabels`, `majority_agreement`, `MajorityAgreement`.
* Who is right, and how sure: `dawid_skene`, `LabelTruth`, `SKILL_MODELS`, in words `MODELS`.
* Raters and items: `rater_accuracy`, `RaterAccuracy`, `item_accuracy`, `ItemAccuracy`.
* What is in dispute: `find_disputes`, `Disputes`, `QUORUM`.
* All of it in one call: `label_findings`, `LabelFindings`, `QuestionCurve`, `QuestionGrades`.
* Teams, such as experts and a crowd: `compare_teams`, `TeamComparison`, `COMPARISONS`.
"""

from kalos_core.chance import KAPPA_WEIGHTS, METRICS
from kalos_core.nominal.accuracy import ItemAccuracy, RaterAccuracy, item_accuracy, rater_accuracy
from kalos_core.nominal.attributes import attribute_agreement, attributes_table
from kalos_core.nominal.build import OPTIONAL, OnEmpty, OnRepeat, OnUnknown, RawLabels
from kalos_core.nominal.coefficients import (
    LANDIS_KOCH,
    alpha_of_counts,
    cohen_kappa,
    cohen_matrix,
    conger_kappa,
    fleiss_kappa,
    free_marginal_kappa,
    gwet_ac1,
    gwet_ac2,
    label_counts,
    landis_koch,
    nominal_alpha,
    observed_agreement,
)
from kalos_core.nominal.disputes import QUORUM, Disputes, find_disputes
from kalos_core.nominal.findings import LabelFindings, QuestionCurve, QuestionGrades, label_findings
from kalos_core.nominal.graded import GradeAgreement, grade_agreement, least_agreed_first
from kalos_core.nominal.grouping import SUGGESTED, Groups, read_groups
from kalos_core.nominal.groups import GroupBreaches, check_groups
from kalos_core.nominal.intraclass import FORMS, IntraclassCorrelation, intraclass_correlation
from kalos_core.nominal.majority import (
    MERGED,
    UNDECIDED,
    Majority,
    MajorityAgreement,
    MajorityLabels,
    majority_agreement,
    majority_labels,
    majority_vote,
    merge_raters,
)
from kalos_core.nominal.questions import LabelAgreement, label_agreement, running_label_agreement
from kalos_core.nominal.rejection import Rejection, reject_answers
from kalos_core.nominal.skill import MODELS, SKILL_MODELS, LabelTruth, dawid_skene
from kalos_core.nominal.suggestions import SuggestedGroup, SuggestedGroups, suggest_groups
from kalos_core.nominal.table import LabelTable, build_table
from kalos_core.nominal.teams import COMPARISONS, TeamComparison, compare_teams
from kalos_core.nominal.values import encode_values

__all__ = [
    "COMPARISONS",
    "FORMS",
    "KAPPA_WEIGHTS",
    "LANDIS_KOCH",
    "MERGED",
    "METRICS",
    "MODELS",
    "OPTIONAL",
    "QUORUM",
    "SKILL_MODELS",
    "SUGGESTED",
    "UNDECIDED",
    "Disputes",
    "GradeAgreement",
    "GroupBreaches",
    "Groups",
    "IntraclassCorrelation",
    "ItemAccuracy",
    "LabelAgreement",
    "LabelFindings",
    "LabelTable",
    "LabelTruth",
    "Majority",
    "MajorityAgreement",
    "MajorityLabels",
    "OnEmpty",
    "OnRepeat",
    "OnUnknown",
    "QuestionCurve",
    "QuestionGrades",
    "RaterAccuracy",
    "RawLabels",
    "Rejection",
    "SuggestedGroup",
    "SuggestedGroups",
    "TeamComparison",
    "alpha_of_counts",
    "attribute_agreement",
    "attributes_table",
    "build_table",
    "check_groups",
    "cohen_kappa",
    "cohen_matrix",
    "compare_teams",
    "conger_kappa",
    "dawid_skene",
    "encode_values",
    "find_disputes",
    "fleiss_kappa",
    "free_marginal_kappa",
    "grade_agreement",
    "gwet_ac1",
    "gwet_ac2",
    "intraclass_correlation",
    "item_accuracy",
    "label_agreement",
    "label_counts",
    "label_findings",
    "landis_koch",
    "least_agreed_first",
    "majority_agreement",
    "majority_labels",
    "majority_vote",
    "merge_raters",
    "nominal_alpha",
    "observed_agreement",
    "rater_accuracy",
    "read_groups",
    "reject_answers",
    "running_label_agreement",
    "suggest_groups",
]
