"""Views behind the figures of labels of whole images: what a click on a question, a concept or two raters leads to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fiftyone import ViewField as F
from numpy.typing import NDArray

from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.image_labels.findings import stored_table
from kalos_core.fiftyone.runs import RunNames, load_arrays, load_figures, load_run_view
from kalos_core.nominal import MERGED, LabelTable, find_disputes, merge_raters
from kalos_core.nominal.build import OPTIONAL
from kalos_core.reliability import NOT_ASSIGNED


@dataclass(frozen=True)
class DisputedImage:
    """An image whose labels raters dispute.

    Parameters
    ----------
    sample_id, file : str
    agreement : float
        How likely two of its raters answer a question alike, mean over the questions.
    all_decisions, chosen : float or None
        Share of raters with the majority, over all decisions and where somebody chose the concept.
    question : str
        The one agreed on least.
    answers : str
        What raters answered to it, the most frequent first, such as ``"cat 2, dog 1"``.
    """

    sample_id: str
    file: str
    agreement: float
    all_decisions: float | None
    chosen: float | None
    question: str
    answers: str


def view_of_disputes(samples: Any, run_key: str, *, question: str | None = None, concept: str | None = None) -> Any:
    """Samples of a run whose labels raters dispute, the least agreed first.

    Of all: those in dispute by the run's quorum. Of a question: those on which its answers differ. Of a concept: those
    where some raters chose it and others did not.
    """
    table = stored_table(load_arrays(samples, _of_labels(samples, run_key)))
    if question is not None:
        items = find_disputes(table).of(question)
    elif concept is not None:
        items = _disputed_concept(table, concept)
    else:
        found = find_disputes(table)
        below = found.below(load_figures(samples, run_key).settings["quorum"])
        items = np.array([item for item in found.of() if below[item]], np.intp)
    return _ordered(samples, run_key, table, items)


def view_of_label_agreement(samples: Any, run_key: str, low: float, high: float) -> Any:
    """Samples of a run with low <= agreement < high (<= high at 1), lowest first."""
    name = RunNames(_of_labels(samples, run_key)).agreement
    value = F(name)
    below = value <= high if high >= 1 else value < high
    view = load_run_view(samples, run_key).exists(name)  # None compares below every number
    return view.match((value >= low) & below).sort_by(name)


def view_of_difference(samples: Any, run_key: str, rater_a: str, rater_b: str) -> Any:
    """Samples of a run, of agreement or of a ranking, that two raters answered differently; "majority" is one, too."""
    run = load_figures(samples, run_key)
    if run.kind not in ("labels", "ranking"):
        raise InputError(f"run key: expected a run on labels of whole images, got {run_key!r} of kind {run.kind!r}")
    table = stored_table(load_arrays(samples, run_key))
    differs = np.zeros(len(table.items), np.bool_)
    answers = [_with_majority(table, name) for name in (rater_a, rater_b)]
    for question in table.questions:
        one, other = (part.values(question)[:, 0] for part in answers)
        differs |= (one != other) & (one != NOT_ASSIGNED) & (other != NOT_ASSIGNED)
    return _ordered(samples, run_key, table, np.flatnonzero(differs))


def disputed_images(samples: Any, run_key: str, limit: int = 25) -> list[DisputedImage]:
    """The images of a run that raters agree on least, with what they answered, the least agreed first."""
    arrays = load_arrays(samples, _of_labels(samples, run_key))
    table = stored_table(arrays)
    found = find_disputes(table)
    order = np.lexsort((found.share, found.agreement[found.item]))
    rows = order[np.sort(np.unique(found.item[order], return_index=True)[1])][:limit]
    ids = table.items[found.item[rows]].tolist()
    paths = dict(zip(*load_run_view(samples, run_key).select(ids).values(["id", "filepath"]), strict=True))
    images = []
    for row in rows[[image in paths for image in ids]] if ids else []:
        item, question = int(found.item[row]), table.questions[found.question[row]]
        images.append(
            DisputedImage(
                sample_id=str(table.items[item]),
                file=Path(paths[table.items[item]]).name,
                agreement=float(found.agreement[item]),
                all_decisions=_or_none(arrays["item_all"][item]),
                chosen=_or_none(arrays["item_chosen"][item]),
                question=question,
                answers=_told(table, question, item),
            )
        )
    return images


def label_image_values(samples: Any, run_key: str) -> dict[str, NDArray[np.float64]]:
    """Of every image of a run: ``agreement``, and ``all`` and ``chosen``, the share of raters with the majority."""
    arrays = load_arrays(samples, _of_labels(samples, run_key))
    return {"agreement": arrays["agreement"], "all": arrays["item_all"], "chosen": arrays["item_chosen"]}


def _of_labels(samples: Any, run_key: str) -> str:
    load_figures(samples, run_key, "labels")  # refuses other runs
    return run_key


def _disputed_concept(table: LabelTable, concept: str) -> NDArray[np.intp]:
    names = table.concepts.tolist()
    if concept not in names:
        raise InputError(f"concept: expected one of {listed(map(repr, names), 20)}, got {concept!r}")
    group = table.group_of[names.index(concept)]
    question = concept if group == OPTIONAL else str(table.groups[group])
    option = 1 if group == OPTIONAL else table.options(question).index(concept)
    counts = table.counts(question)
    chose = counts[:, [option]].toarray()[:, 0]
    asked = np.asarray(counts.sum(axis=1)).ravel()
    split = np.flatnonzero((chose > 0) & (chose < asked))
    share = np.maximum(chose, asked - chose)[split] / asked[split]
    return split[np.argsort(share, kind="stable")]


def _with_majority(table: LabelTable, name: str) -> LabelTable:
    if name == MERGED and name not in table.raters.tolist():
        return merge_raters(table)
    return table.select(raters=[name])


def _ordered(samples: Any, run_key: str, table: LabelTable, items: NDArray[np.intp]) -> Any:
    view = load_run_view(samples, run_key)
    ids = table.items[items].tolist()
    return view.select(ids, ordered=True) if ids else view.limit(0)


def _told(table: LabelTable, question: str, item: int) -> str:
    counts = table.counts(question)[[item]].toarray()[0]
    options = table.options(question)
    return ", ".join(f"{options[code]} {counts[code]}" for code in np.argsort(-counts, kind="stable") if counts[code])


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
