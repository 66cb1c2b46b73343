"""Agreement on image-level labels as a kind of run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.arrays import by_item
from kalos_core.fiftyone.dataset.database import FieldArguments
from kalos_core.fiftyone.dataset.raters import IMAGE_LABELS, sources_of
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.kinds.image_labels.queue import queue_values
from kalos_core.fiftyone.kinds.image_labels.settings import LabelRunSettings
from kalos_core.fiftyone.kinds.image_labels.truth import truth_schema, truth_values
from kalos_core.fiftyone.kinds.image_labels.views import view_of_disputes
from kalos_core.fiftyone.kinds.labelled import (
    majority_schema,
    majority_values,
    read_compared,
    table_again,
    view_least_sure_first,
    view_of_difference,
)
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.progress import Progress
from kalos_core.fiftyone.runs.table import Changes, Kind, Run, register
from kalos_core.nominal import (
    GradeDirection,
    LabelAgreement,
    LabelFindings,
    LabelTable,
    LabelTruth,
    MajorityAgreement,
    QuestionCurve,
    QuestionGrades,
    RaterAccuracy,
    Rejection,
    TeamComparison,
    label_findings,
)
from kalos_core.nominal.answers import split_reference
from kalos_core.nominal.decisions import ConceptVotes
from kalos_core.nominal.findings import FindingsSettings
from kalos_core.nominal.questions import check_comparable
from kalos_core.results import plain_values


@dataclass(frozen=True, eq=False)
class LabelDetails:
    """Details of a run on image-level labels: results of the library, without numbers of single images."""

    agreement: LabelAgreement
    majority: MajorityAgreement
    accuracy: RaterAccuracy
    curves: list[QuestionCurve]
    teams: TeamComparison | None
    rejection: Rejection | None
    truth: list[LabelTruth] = field(default_factory=list)
    grades: list[QuestionGrades] = field(default_factory=list)
    directions: list[GradeDirection] = field(default_factory=list)


def find_all(
    answers: LabelTable, selection: Selection, settings: LabelRunSettings, progress: Progress
) -> LabelFindings:
    """Compute all findings from the answers of raters and of the reference, with the settings of a run."""
    table, reference = split_reference(answers, selection.reference)
    told = settings.part(FindingsSettings).record()
    return label_findings(check_comparable(table), reference=reference, progress=progress, **told)


def label_metrics(found: LabelFindings, quorum: float) -> dict[str, Any]:
    """Return the summary, a few numbers in the document of the data set; undefined values are None."""
    table = found.table
    return {
        "images": len(np.unique(table.item)),
        "answers": len(table),
        "raters": table.raters.tolist(),
        "questions": len(table.questions),
        "with_majority": plain_values(found.majority.means),
        "accuracy": plain_values(found.accuracy.mean),
        "disputed": int(found.disputes.below(quorum).sum()),
        "quorum": quorum,
        "ties": int(found.agreement.ties.sum()),
        "breaches": len(found.breaches),
        "breaches_by_rater": [{"rater": name, "answers": times} for name, times in found.breaches.by_rater().items()],
        "rejected": 0 if found.rejection is None else len(found.rejection),
        "truth": [_truth_metrics(truth) for truth in found.truth],
    }


def _truth_metrics(truth: LabelTruth) -> dict[str, Any]:
    """Return the mean confidence and the number of ties of the estimated labels of a question."""
    known = truth.answers > 0
    sure = float(truth.confidence[known].mean()) if known.any() else None
    return {"question": truth.question, "sure": sure, "tied": int(truth.tied.sum())}


def label_details(found: LabelFindings) -> LabelDetails:
    """Return all numbers that are not in the summary."""
    rejection = found.rejection and replace(found.rejection, rejected=np.zeros(0, np.bool_))
    majority = found.majority.without_items()
    truth = [of.without_items() for of in found.truth]
    return LabelDetails(
        agreement=found.agreement,
        majority=majority,
        accuracy=found.accuracy,
        curves=list(found.curves),
        teams=found.teams,
        rejection=rejection,
        truth=truth,
        grades=list(found.grades),
        directions=list(found.directions),
    )


# ---- fields and arrays for views ----


def sample_schema(names: RunNames, settings: LabelRunSettings) -> dict[str, FieldArguments]:
    """Declare the fields of `sample_values`."""
    numbers, disputes = (names.agreement, names.accuracy, names.to_reference), (names.questions, names.concepts)
    return {
        **names.declared(*numbers, names.disputed, *disputes, names.queue, names.disputes, names.decisions),
        **majority_schema(names, settings.groups),
        **(truth_schema(names, settings.groups) if settings.truth else {}),
    }


def sample_values(found: LabelFindings, names: RunNames, settings: LabelRunSettings) -> dict[str, Iterable[Any]]:
    """Return field -> (I,) values; agreement and dispute need the answers of at least two raters on an image."""
    table, disputes, votes = found.table, found.disputes, ConceptVotes.of(found.table)
    mixed, items = votes.chose < votes.decided, len(found.table.items)
    agreement, disputed = plain_values(disputes.agreement), disputes.below(settings.quorum).tolist()
    return {
        names.agreement: agreement,
        names.accuracy: plain_values(found.items.accuracy),
        names.to_reference: plain_values(found.items.to_reference),
        names.disputed: [flag if value is not None else None for flag, value in zip(disputed, agreement, strict=True)],
        names.questions: by_item(disputes.item, object_array(table.questions)[disputes.question], items),
        names.concepts: by_item(votes.item[mixed], table.concepts[votes.concept[mixed]], items),
        **queue_values(found, names, settings),
        **majority_values(table, names, settings.groups),
        **(truth_values(found.truth, table, names, settings.groups) if found.truth else {}),
    }


def dispute_arrays(found: LabelFindings) -> dict[str, NDArray[Any]]:
    """Return arrays of rejected answers, of disputed images with their questions, and of numbers of all images.

    Disputed images are sorted by increasing agreement.
    """
    disputes = found.disputes
    order = np.lexsort((disputes.share, disputes.agreement[disputes.item]))
    rows = order[np.sort(np.unique(disputes.item[order], return_index=True)[1])]
    none = np.zeros(len(found.table), np.bool_)
    return {
        "rejected": none if found.rejection is None else found.rejection.rejected,
        "disputed/item": disputes.item[rows],
        "disputed/question": disputes.question[rows],
        "agreement": disputes.agreement,
        "item_all": found.majority.item_all,
        "item_chosen": found.majority.item_chosen,
    }


LabelRun = Run[dict[str, Any], dict[str, Any], LabelDetails, LabelFindings]


def _restore(changes: Changes) -> LabelFindings:
    settings = LabelRunSettings.of(changes.run.settings)
    return find_all(table_again(changes), changes.run.selection, settings, lambda *_: None)


def _groups(samples: Any, selection: Selection) -> dict[str, Any]:
    """Return the setting for labels that do not exclude each other, if a rater may give an image several."""
    sources = sources_of(samples, selection, IMAGE_LABELS)
    return {"groups": None} if any(source.labels and source.attribute is None for source in sources) else {}


LABEL_AGREEMENT: Kind[dict[str, Any], dict[str, Any], LabelDetails, LabelFindings] = register(
    Kind(
        name="image_labels",
        title="Image-level labels",
        operator="compute_label_agreement",
        section="Questions",
        suffix="labels",
        in_analysis=_groups,
        family=IMAGE_LABELS,
        read=read_compared,
        restore=_restore,
        views={
            "disputes": view_of_disputes,
            "difference": view_of_difference,
            "least sure first": view_least_sure_first,
        },
        details=LabelDetails,
    )
)
