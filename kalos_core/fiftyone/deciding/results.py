"""Results of decisions: training list, questions for the guideline, tags, and handing over open disputes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import fiftyone as fo

from kalos_core.decisions.objects import against_in
from kalos_core.errors import InputError, KalosError, check_text
from kalos_core.fiftyone.dataset.database import (
    check_server,
    collection,
    files_of,
    journaled,
    reload_samples,
    server,
    with_tag,
)
from kalos_core.fiftyone.dataset.document import read_info, update_info
from kalos_core.fiftyone.deciding.decide import decisions, latest, stored_decisions
from kalos_core.fiftyone.deciding.kinds import deciding_of, load_decidable
from kalos_core.fiftyone.deciding.queue import view_of_queue
from kalos_core.fiftyone.internals import forget_unlisted, has_annotation_results, root_of
from kalos_core.fiftyone.kinds.agreement.values import OPEN
from kalos_core.fiftyone.runs.explaining import explained
from kalos_core.fiftyone.runs.upkeep import LEFT_BEHIND
from kalos_core.fiftyone.runs.writers import is_alive, writing_now
from kalos_core.text import markdown_source

if TYPE_CHECKING:
    import pandas as pd


ANNOTATED = {
    fo.Detections: "detections",
    fo.Polylines: "polygons",
    fo.Keypoints: "keypoints",
    fo.Segmentation: "segmentation",
    fo.Classification: "classification",
    fo.Classifications: "classifications",
}
"""Type of a label field -> its name in FiftyOne's ``annotate``."""


def training_list(samples: Any, key: str) -> pd.DataFrame:
    """Return the decisions against each rater: on what, how often, and the labels; see `kalos_core.decisions`.

    Uses the labels as the run matched them, even if they were corrected since; no label is read.

    Returns
    -------
    pandas.DataFrame
        ``rater``, ``category`` (given by the rater; "no object"), ``decided`` (the decided category or "no object"),
        ``count``, ``units`` (decided units the rater was assigned to), ``rate`` (``count`` as a share of ``units``),
        and ``labels`` (ids of all labels of the counted units). The most frequent come first.
    """
    run = load_decidable(samples, key)
    deciding = deciding_of(samples, run)
    return against_in(deciding.of_all(), decisions(samples, run.key), deciding.LISTED)


def guideline_questions(samples: Any, key: str) -> str:
    """Return the questions for the guideline as Markdown, grouped by classes, the most frequent first.

    Each question has its note, the answer of every rater, the file and the sample. Text from data is escaped.
    """
    run = load_decidable(samples, key)
    asked = [
        (sample_id, entry)
        for sample_id, stored in stored_decisions(samples, run.key)
        for entry in latest(stored)
        if entry["decision"] == "guideline"
    ]
    if not asked:
        return "# Questions about the guideline\n\nNone.\n"
    matched = deciding_of(samples, run).of_all()
    files = files_of(run.view, [sample_id for sample_id, _ in asked])
    groups: dict[tuple[str, ...], list[list[str]]] = {}
    for sample_id, entry in sorted(asked, key=lambda one: one[1]["when"]):
        given = matched.values(matched.units_of(entry["labels"]))
        classes = tuple(sorted({name for of_rater in given.values() for name in of_rater}))
        values = "; ".join(
            f"{markdown_source(rater)}: {markdown_source(', '.join(of_rater)) or deciding_of(samples, run).LISTED}"
            for rater, of_rater in given.items()
        )
        asker = f" ({markdown_source(entry['who'])})" if entry["who"] else ""
        file = markdown_source(Path(files[sample_id]).name) if sample_id in files else "deleted since"
        question = markdown_source(entry["note"], None) or "no note"
        groups.setdefault(classes, []).append(
            [f"- {question}{asker}", f"  - {values}", f"  - {file}, sample {sample_id}"]
        )
    lines = ["# Questions about the guideline"]
    for classes, questions in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        lines += ["", f"## {' or '.join(map(markdown_source, classes))} ({len(questions):,})", ""]
        lines += [line for question in questions for line in question]
    return "\n".join(lines) + "\n"


def tag_disputes(samples: Any, key: str, tag: str, *, open_only: bool = True) -> int:
    """Tag the samples with units in dispute and the labels of these units; return the number of samples.

    No run becomes stale. ``dataset.match_tags(tag)`` and ``dataset.match_labels(tags=tag)`` find them.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Key of a run with units in dispute.
    tag : str
    open_only : bool
        Whether to tag only open units, which are neither decided nor waiting for the guideline.
    """
    if not check_text(tag, "tag").strip():
        raise InputError(f"tag: expected a text, got {tag!r}")
    run = load_decidable(samples, key)
    names, paths = run.names, deciding_of(samples, run).paths
    wanted = {"$eq": ["$$entry.state", OPEN]} if open_only else True
    there = {"$filter": {"input": f"${names.queue}", "as": "entry", "cond": wanted}}
    units = {"$map": {"input": there, "as": "entry", "in": "$$entry.unit"}}
    changed: dict[str, Any] = {"tags": with_tag(tag, "$tags")}
    for field, path in paths.items():
        tagged = {"$mergeObjects": ["$$label", {"tags": with_tag(tag, "$$label.tags")}]}
        chosen = {"$cond": [{"$in": [f"$$label.{names.unit}", units]}, tagged, "$$label"]}
        mapped = {"$map": {"input": f"${path}", "as": "label", "in": chosen}}
        whole = {"$mergeObjects": [f"${field}", {path.partition(".")[2]: mapped}]}
        changed[field] = {"$cond": [{"$isArray": f"${path}"}, whole, f"${field}"]}  # keep absent fields absent
    where = {names.queue: {"$type": "array", "$ne": []}, **({names.disputes: {"$gt": 0}} if open_only else {})}
    answer = journaled(collection(samples)).update_many(where, [{"$set": changed}])
    reload_samples(samples)
    return int(answer.matched_count)


def hand_over(
    samples: Any,
    key: str,
    anno_key: str,
    *,
    backend: str | None = None,
    field: str | None = None,
    category: str | None = None,
    rater: str | None = None,
    **options: Any,
) -> Any:
    """Send the samples with open disputes to other annotators with FiftyOne's ``annotate``; no label is changed.

    They get the images, lowest agreement first, and annotate a new field. ``dataset.load_annotations(anno_key)``
    fetches it; a back end with a server must run until then. The new labels can be read like those of a rater.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Key of a run with units in dispute.
    anno_key : str
        Key of FiftyOne's annotation run.
    backend : str, optional
        Such as "cvat" or "labelstudio"; by default that of FiftyOne's configuration.
    field : str, optional
        The new label field; by default named `anno_key`.
    category, rater : str, optional
        Only samples with such disputes, as in `next_dispute`.
    **options
        Further options of ``annotate``; ``label_type`` and ``classes`` override those determined here.

    Returns
    -------
    fiftyone.utils.annotations.AnnotationResults

    Raises
    ------
    InputError
        If no dispute is open, the field already exists, or the back end refuses the samples; nothing is kept then.
    KalosError
        If the database died meanwhile; nothing is kept in it then.
    """
    run = load_decidable(samples, key)
    dataset, name = root_of(samples), anno_key if field is None else field
    if dataset.has_field(name):
        raise InputError(f"field: {name!r} exists already; choose another name")
    view = view_of_queue(samples, run.key, category, rater)
    if not len(view):
        raise InputError(f"key: expected a run with matching open disputes, got {run.key!r}, which has none")
    document = dataset.get_field(run.label_fields[0]).document_type
    own: dict[str, Any] = {"label_type": ANNOTATED[document], "attributes": False}
    own |= deciding_of(samples, run).classes
    before, known = dataset.list_annotation_runs(), server()
    with writing_now() as writer, explained(samples, "nothing is handed over"):
        update_info(dataset, handing_over={"key": anno_key, "writer": dict(writer)})
        try:
            found = view.annotate(anno_key, label_field=name, backend=backend, **{**own, **options})
            check_server(known)
        except Exception as error:  # each back end has its own exceptions
            if anno_key not in before and anno_key in dataset.list_annotation_runs():
                dataset.delete_annotation_run(anno_key)
            forget_unlisted(dataset, anno_key, writer["work"])
            update_info(dataset, handing_over=None)
            if isinstance(error, KalosError):
                raise
            asked = backend or fo.annotation_config.default_backend
            raise InputError(f"backend: {asked!r} did not accept the samples: {_said(error)}") from error
        update_info(dataset, handing_over=None)
    return found


def settle_hand_over(dataset: Any) -> None:
    """Remove the annotation run of a process that died before FiftyOne stored the results of the back end.

    This includes its record and its file if FiftyOne does not list them.
    """
    record = read_info(dataset).get("handing_over")
    if record is None or is_alive(record["writer"]):
        return
    key = record["key"]
    if key in dataset.list_annotation_runs() and not has_annotation_results(dataset, key):
        dataset.delete_annotation_run(key)
    forget_unlisted(dataset, key, record["writer"]["work"])
    update_info(dataset, handing_over=None)


LEFT_BEHIND.append(settle_hand_over)


def _said(error: Exception) -> str:
    """Return the message of a foreign exception; an `EOFError` means that a login was requested on a terminal."""
    return "no login is configured" if isinstance(error, EOFError) else f"{type(error).__name__}: {error}"
