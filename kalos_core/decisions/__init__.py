"""From disagreement to decision: units in dispute, the decisions about them, and the resulting labels.

* `disputes` -> `Disputes`: the units that raters disagree about, most informative first
* `Decision`: one of `DECISIONS` about the annotations of a unit; for image-level labels, one of `LABEL_DECISIONS`
* `resolve` -> `Resolved`: one table of annotations, from agreement and decisions
* `decided_against`: how often each rater was decided against, on which classes; use it for training
* `disputed_answers` -> `DisputedAnswer`: images and questions that raters answer differently; `resolve_labels` ->
  `ResolvedLabels`: the resulting labels
"""

from kalos_core.decisions.decision import DECISIONS as DECISIONS
from kalos_core.decisions.decision import LABEL_DECISIONS as LABEL_DECISIONS
from kalos_core.decisions.decision import UNDECIDED as UNDECIDED
from kalos_core.decisions.decision import Decision as Decision
from kalos_core.decisions.labels import DisputedAnswer as DisputedAnswer
from kalos_core.decisions.labels import ResolvedLabels as ResolvedLabels
from kalos_core.decisions.labels import disputed_answers as disputed_answers
from kalos_core.decisions.labels import resolve_labels as resolve_labels
from kalos_core.decisions.objects import Disputes as Disputes
from kalos_core.decisions.objects import Resolved as Resolved
from kalos_core.decisions.objects import decided_against as decided_against
from kalos_core.decisions.objects import disputes as disputes
from kalos_core.decisions.objects import resolve as resolve
from kalos_core.names import public_names

__all__ = public_names(vars())
