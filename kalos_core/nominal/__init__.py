"""Image-level labels and grades of several raters, in one table, and the agreement of the raters.

After Nowak & Rüger, *How reliable are annotations via crowdsourcing?* (MIR 2010).

* The table: `LabelTable`, `OPTIONAL`; readers build it with `RawLabels` and `build_table`, with `OnRepeat`, `OnEmpty`,
  `OnUnknown`. Labels that exclude each other: `Groups`, as text `read_groups`. Labels that seem to: `suggest_groups`,
  `SuggestedGroup`, `SuggestedGroups`, `SUGGESTED`. Answers that break a group: `check_groups`, `GroupBreaches`.
  Answers left out by rule: `reject_answers`, `Rejection`.
* Agreement on each question: `label_agreement`, `LabelAgreement`, `running_label_agreement`.
* Coefficients of values: `nominal_alpha`, `conger_kappa`, `cohen_kappa`, `cohen_matrix`, `encode_values`; of counts,
  which `label_counts` makes of values: `alpha_of_counts`, `fleiss_kappa`, `free_marginal_kappa`, `gwet_ac1`,
  `observed_agreement`; in words: `landis_koch`, `LANDIS_KOCH`.
* Grades, which have an order or are numbers: alpha and kappas by `METRICS` and `KAPPA_WEIGHTS`; `gwet_ac2`;
  `intraclass_correlation`, `IntraclassCorrelation`, `FORMS`; with intervals in one result: `grade_agreement`,
  `GradeAgreement`; of an attribute of matched annotations: `attribute_agreement`, and of several
  `attributes_table`, `least_agreed_first`.
* Raters who grade higher or lower than the others: `grade_direction`, `GradeDirection`.
* The majority: `majority_vote`, `Majority`, `UNDECIDED`, `merge_raters`, `MERGED`, `majority_labels`,
  `MajorityLabels`, `majority_agreement`, `MajorityAgreement`.
* Estimated ground truth and skill of raters: `dawid_skene`, `LabelTruth`, `SKILL_MODELS`, in words `MODELS`.
* Raters and items: `rater_accuracy`, `RaterAccuracy`, `item_accuracy`, `ItemAccuracy`.
* Items in dispute: `find_disputes`, `Disputes`, `QUORUM`.
* All of it in one call: `label_findings`, `LabelFindings`, `QuestionCurve`, `QuestionGrades`.
* Teams, such as experts and a crowd: `compare_teams`, `TeamComparison`, `COMPARISONS`.
"""

from kalos_core.chance import KAPPA_WEIGHTS as KAPPA_WEIGHTS
from kalos_core.chance import METRICS as METRICS
from kalos_core.names import public_names
from kalos_core.nominal.accuracy import ItemAccuracy as ItemAccuracy
from kalos_core.nominal.accuracy import RaterAccuracy as RaterAccuracy
from kalos_core.nominal.accuracy import item_accuracy as item_accuracy
from kalos_core.nominal.accuracy import rater_accuracy as rater_accuracy
from kalos_core.nominal.attributes import attribute_agreement as attribute_agreement
from kalos_core.nominal.attributes import attributes_table as attributes_table
from kalos_core.nominal.build import OPTIONAL as OPTIONAL
from kalos_core.nominal.build import OnEmpty as OnEmpty
from kalos_core.nominal.build import OnRepeat as OnRepeat
from kalos_core.nominal.build import OnUnknown as OnUnknown
from kalos_core.nominal.build import RawLabels as RawLabels
from kalos_core.nominal.coefficients import LANDIS_KOCH as LANDIS_KOCH
from kalos_core.nominal.coefficients import alpha_of_counts as alpha_of_counts
from kalos_core.nominal.coefficients import cohen_kappa as cohen_kappa
from kalos_core.nominal.coefficients import cohen_matrix as cohen_matrix
from kalos_core.nominal.coefficients import conger_kappa as conger_kappa
from kalos_core.nominal.coefficients import fleiss_kappa as fleiss_kappa
from kalos_core.nominal.coefficients import free_marginal_kappa as free_marginal_kappa
from kalos_core.nominal.coefficients import gwet_ac1 as gwet_ac1
from kalos_core.nominal.coefficients import gwet_ac2 as gwet_ac2
from kalos_core.nominal.coefficients import label_counts as label_counts
from kalos_core.nominal.coefficients import landis_koch as landis_koch
from kalos_core.nominal.coefficients import nominal_alpha as nominal_alpha
from kalos_core.nominal.coefficients import observed_agreement as observed_agreement
from kalos_core.nominal.direction import GradeDirection as GradeDirection
from kalos_core.nominal.direction import grade_direction as grade_direction
from kalos_core.nominal.disputes import QUORUM as QUORUM
from kalos_core.nominal.disputes import Disputes as Disputes
from kalos_core.nominal.disputes import find_disputes as find_disputes
from kalos_core.nominal.findings import LabelFindings as LabelFindings
from kalos_core.nominal.findings import QuestionCurve as QuestionCurve
from kalos_core.nominal.findings import QuestionGrades as QuestionGrades
from kalos_core.nominal.findings import label_findings as label_findings
from kalos_core.nominal.graded import GradeAgreement as GradeAgreement
from kalos_core.nominal.graded import grade_agreement as grade_agreement
from kalos_core.nominal.graded import least_agreed_first as least_agreed_first
from kalos_core.nominal.grouping import SUGGESTED as SUGGESTED
from kalos_core.nominal.grouping import Groups as Groups
from kalos_core.nominal.grouping import read_groups as read_groups
from kalos_core.nominal.groups import GroupBreaches as GroupBreaches
from kalos_core.nominal.groups import check_groups as check_groups
from kalos_core.nominal.intraclass import FORMS as FORMS
from kalos_core.nominal.intraclass import IntraclassCorrelation as IntraclassCorrelation
from kalos_core.nominal.intraclass import intraclass_correlation as intraclass_correlation
from kalos_core.nominal.majority import MERGED as MERGED
from kalos_core.nominal.majority import UNDECIDED as UNDECIDED
from kalos_core.nominal.majority import Majority as Majority
from kalos_core.nominal.majority import MajorityAgreement as MajorityAgreement
from kalos_core.nominal.majority import MajorityLabels as MajorityLabels
from kalos_core.nominal.majority import majority_agreement as majority_agreement
from kalos_core.nominal.majority import majority_labels as majority_labels
from kalos_core.nominal.majority import majority_vote as majority_vote
from kalos_core.nominal.majority import merge_raters as merge_raters
from kalos_core.nominal.questions import LabelAgreement as LabelAgreement
from kalos_core.nominal.questions import label_agreement as label_agreement
from kalos_core.nominal.questions import running_label_agreement as running_label_agreement
from kalos_core.nominal.rejection import Rejection as Rejection
from kalos_core.nominal.rejection import reject_answers as reject_answers
from kalos_core.nominal.skill import MODELS as MODELS
from kalos_core.nominal.skill import SKILL_MODELS as SKILL_MODELS
from kalos_core.nominal.skill import LabelTruth as LabelTruth
from kalos_core.nominal.skill import dawid_skene as dawid_skene
from kalos_core.nominal.suggestions import SuggestedGroup as SuggestedGroup
from kalos_core.nominal.suggestions import SuggestedGroups as SuggestedGroups
from kalos_core.nominal.suggestions import suggest_groups as suggest_groups
from kalos_core.nominal.table import LabelTable as LabelTable
from kalos_core.nominal.table import build_table as build_table
from kalos_core.nominal.teams import COMPARISONS as COMPARISONS
from kalos_core.nominal.teams import TeamComparison as TeamComparison
from kalos_core.nominal.teams import compare_teams as compare_teams
from kalos_core.nominal.values import encode_values as encode_values

__all__ = public_names(vars())
