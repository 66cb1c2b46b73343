"""From disagreement to decision: the units in dispute, what was decided about each, and the labels that follow.

* `disputes` -> `Disputes`: the units that raters do not agree about, those first that teach most
* `Decision`, one of `DECISIONS`, about the annotations of one unit; of image-level labels one of `LABEL_DECISIONS`
* `resolve` -> `Resolved`: one table of annotations made of what raters agree on and of what was decided
* `decided_against`: who was decided against, on what: the training list
* `disputed_answers` -> `DisputedAnswer`: images and questions that raters answer differently; `resolve_labels` ->
  `ResolvedLabels`: the labels that follow
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
