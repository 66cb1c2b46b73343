"""Commands on image-level labels and on sparse agreement: labels, sparse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kalos_core import LabelTable, agreement, check_independence, sparse_agreement, unit_agreement
from kalos_core.cli.answers import Answer, Order
from kalos_core.cli.commands import Command
from kalos_core.cli.objects import agreement_of
from kalos_core.cli.options import INPUT, Flag, Given, options_of
from kalos_core.cli.reading import OF_ANNOTATIONS, OF_TABLES, TABLES, format_option, is_table, table_of
from kalos_core.display import bracketed, number_of
from kalos_core.errors import index_of
from kalos_core.nominal import LabelTruth, label_findings
from kalos_core.nominal.decisions import mean_of_finite
from kalos_core.readers import FORMATS
from kalos_core.sparse import Independence

if TYPE_CHECKING:
    import pandas as pd

TABLE = (
    "labels",
    "image-level labels: CSV or TSV file with one row per label (long), or one row per item and one column per rater "
    "(wide); an export of Label Studio with choices, or of Zooniverse with answers; a folder of CVAT files with tags, "
    "one file per rater",
)

_REFERENCE = Flag(
    "reference",
    str | dict[Any, Any],
    "Rater that the others are compared with and that is excluded from agreement; or a mapping of items to labels.",
)


def _labels(given: Given) -> Answer:
    table, reference = _without_reference(table_of(given, given["labels"]), given.get("reference"))
    progress: dict[str, Any] = {} if given.progress is None else {"progress": given.progress}
    options = given.of(label_findings, without=("reference",))
    found = label_findings(table, reference=reference, **options, **progress)
    of_questions = found.agreement
    tables = {
        "questions": of_questions.to_pandas(),
        "raters": found.accuracy.raters_to_pandas(),
        "pairs": found.accuracy.to_pandas(),
        "concepts": found.majority.to_pandas(),
        "items": found.items.to_pandas(),
        "disputes": found.disputes.to_pandas(),
        "breaches": found.breaches.to_pandas(),
    }
    if found.teams is not None:
        tables["teams"] = found.teams.to_pandas()
    if found.rejection is not None:
        tables["rejected"] = found.rejection.to_pandas()
    if found.grades:
        tables["grades"] = _by_question([(of.question, of.to_pandas()) for of in found.grades])
    if found.truth:
        parts = {"truth": LabelTruth.to_pandas, "skill": LabelTruth.raters_to_pandas}
        for name, part in (parts | {"confusion": LabelTruth.confusion_to_pandas}).items():
            tables[name] = _by_question([(truth.question, part(truth)) for truth in found.truth])
    alpha = of_questions.alpha
    mean = mean_of_finite(alpha)
    results = {
        "mean_alpha": mean,
        "alpha": dict(zip(of_questions.question.tolist(), alpha.tolist(), strict=True)),
        "mean_accuracy": found.accuracy.mean,
        "disputes": len(found.disputes),
        "breaches": of_questions.breaches,
        "items": len(found.table.items),
        "raters": found.table.raters,
    }
    known = int(np.isfinite(alpha).sum())
    text = (
        f"{number_of(len(found.table), 'answer')} of {number_of(len(found.table.raters), 'rater')} on "
        f"{number_of(len(found.table.items), 'item')}: "
        f"mean alpha {mean:.3f} over {known:,} of {number_of(len(alpha), 'question')}, "
        f"{number_of(len(found.disputes), 'dispute')}"
    )
    least_first = {"questions": Order("alpha"), "raters": Order("to_majority"), "skill": Order("skill")}
    shown = {name: by for name, by in least_first.items() if name in tables}
    headlines = [f"{truth.question}: {truth.headline}" for truth in found.truth]
    return Answer("\n".join([text, *headlines]), results, tables, shown, mean)


def _by_question(frames: Sequence[tuple[str, pd.DataFrame]]) -> pd.DataFrame:
    """Concatenate tables of questions."""
    import pandas as pd

    return pd.concat(dict(frames), names=["question"]).reset_index(level=0).reset_index(drop=True)


def _without_reference(table: LabelTable, reference: Any) -> tuple[LabelTable, Any]:
    """Separate the rater who is the reference from the table."""
    if not isinstance(reference, str):
        return table, reference
    raters = table.raters.tolist()
    index_of(raters, reference, "reference")
    return table.select(raters=[name for name in raters if name != reference]), table.select(raters=[reference])


def _sparse(given: Given) -> Answer:
    return _sparse_labels(given) if is_table(given, given["labels"]) else _sparse_objects(given)


def _sparse_labels(given: Given) -> Answer:
    table = table_of(given, given["labels"])
    counts = table.counts(given.get("question"))
    found = sparse_agreement(counts, **given.of(sparse_agreement))
    items = found.to_pandas()
    items.insert(0, "item", table.items)
    independence = check_independence(counts, **given.of(check_independence))
    return _sparse_answer(found.value, found.interval, independence, items)


def _sparse_objects(given: Given) -> Answer:
    result = agreement_of(given, given["labels"])
    found = unit_agreement(result, **given.of(unit_agreement))
    items = found.to_pandas()
    items["image"] = result.annotations.images[found.image]
    return _sparse_answer(found.value, found.interval, found.independence, items, f" of {result.notation}")


def _sparse_answer(
    value: float, interval: Any, independence: Independence, items: pd.DataFrame, of: str = ""
) -> Answer:
    results = {
        "value": value,
        "interval": interval,
        "independence": {"rho": independence.rho, "p": independence.p, "doubtful": independence.doubtful},
    }
    found = f"probability that two raters agree: {value:.3f}{bracketed(interval)}"
    text = f"{found} over {number_of(len(items), 'item')}{of}\n{independence!r}"
    return Answer(text, results, {"items": items, "counts": independence.to_pandas()}, {"counts": Order()}, value)


_QUESTION = Flag("question", str, "Group or concept of image-level labels; required if there are several.", group=INPUT)

COMMANDS = (
    Command(
        "labels",
        "how far raters agree on image-level labels, by question, rater and item",
        _labels,
        (TABLE,),
        (_REFERENCE, *options_of(label_findings, without=("reference",)), *OF_TABLES),
        score="mean alpha of the questions",
        example="labels.csv --reference ann --truth one_coin",
        tables=(
            "questions",
            "raters",
            "pairs",
            "concepts",
            "items",
            "disputes",
            "breaches",
            "teams",
            "rejected",
            "grades",
            "truth",
            "skill",
            "confusion",
        ),
    ),
    Command(
        "sparse",
        "agreement where each item has only some of the raters: of image-level labels, or of objects",
        _sparse,
        (("labels", "annotations of objects in any format, or image-level labels in any format of kalos-core labels"),),
        (
            format_option(*TABLES, *FORMATS),
            *options_of(sparse_agreement, only=("weights",)),
            _QUESTION,
            *options_of(check_independence),
            *options_of(agreement),
            *OF_TABLES,
            *OF_ANNOTATIONS,
        ),
        score="sparse agreement",
        example="labels.csv --weights flat",
        tables=("items", "counts"),
    ),
)
