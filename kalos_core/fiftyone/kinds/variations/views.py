"""Views behind the numbers of variations: only the labels of some findings, found by what the labels carry."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fiftyone import ViewField as F
from numpy.typing import NDArray

from kalos_core.errors import InputError
from kalos_core.fiftyone.dataset.expressions import any_of, files_of, list_of, only_labels, text, together
from kalos_core.fiftyone.runs.arrays import as_texts
from kalos_core.fiftyone.runs.changes import part_of
from kalos_core.fiftyone.runs.stored import load_arrays, load_metrics, load_run_view
from kalos_core.variation import VARIATION_TYPES

MERGED_TYPES = ("merged", "merged_wrong_class")
WRONG_TYPES = ("wrong_class", "merged_wrong_class")


def view_of_variation(samples: Any, run_key: str, kind: str, *, rater: str | None = None) -> Any:
    """Only the labels that take part in findings of one variation type, and the samples that have any.

    `rater`: only findings towards this rater.
    """
    if kind not in VARIATION_TYPES:
        raise InputError(f"variation type: expected one of {', '.join(VARIATION_TYPES)}, got {kind!r}")
    run = load_metrics(samples, run_key, "variations")
    if rater is None:
        return _only(samples, run_key, list_of(run.names.all).contains(kind))
    towards = together(run.names.all, run.names.raters)
    return _only(samples, run_key, any_of(towards, (F()[0] == kind) & (F()[1] == text(rater))))


def view_of_confusion(samples: Any, run_key: str, category_a: str, category_b: str) -> Any:
    """Only the labels of findings in which these two classes were taken for one another."""
    names = load_metrics(samples, run_key, "variations").names
    findings = together(names.all, names.classes)

    def taken_for(own: str, other: str) -> Any:
        return (F("label") == text(own)) & any_of(findings, F()[0].is_in(WRONG_TYPES) & (F()[1] == text(other)))

    return _only(samples, run_key, taken_for(category_a, category_b) | taken_for(category_b, category_a))


def view_of_boundary(samples: Any, run_key: str, low: float, high: float) -> Any:
    """Only the labels of correct findings whose outlines are low <= 1 - similarity < high apart.

    <= for the greatest distance that the run's threshold allows, as the last bin of `boundary_quality` has both edges.
    """
    run = load_metrics(samples, run_key, "variations")
    distance = 1 - F()[1]
    below = distance <= high if high >= 1 - run.settings["threshold"] else distance < high
    findings = together(run.names.all, run.names.similarities)
    return _only(samples, run_key, any_of(findings, (F()[0] == "correct") & (distance >= low) & below))


def view_of_copies(samples: Any, run_key: str) -> Any:
    """Only the labels of correct findings with the very same outline: many of them mean that labels were copied."""
    names = load_metrics(samples, run_key, "variations").names
    findings = together(names.all, names.similarities)
    return _only(samples, run_key, any_of(findings, (F()[0] == "correct") & (F()[1] == 1)))


def view_of_merged(samples: Any, run_key: str, finding: int | None = None) -> Any:
    """Only wholes and their parts: of all findings of `merged_findings`, or of the one with this number."""
    run = load_metrics(samples, run_key, "variations")
    if finding is None:
        merged = list_of(run.names.all).filter(F().is_in(MERGED_TYPES)).length() > 0
        return _only(samples, run_key, merged)
    stored = part_of(load_arrays(samples, run_key), "merged/")
    if not 0 <= finding < len(stored["image"]):
        raise InputError(f"finding: expected the number of a merged finding of the run {run_key!r}, got {finding!r}")
    fields, raters = run.label_fields, stored["rater"][finding].tolist()
    of_finding = stored["member_finding"] == finding
    ids = as_texts(stored["member_id"][of_finding])
    members: dict[str, list[str]] = {field: [] for field in fields}  # by field: one that was cloned shares its ids
    for side, label_id in zip(stored["member_side"][of_finding].tolist(), ids, strict=True):
        members[fields[raters[side] if len(fields) > 1 else 0]].append(label_id)
    sample_id = _image_ids(samples, run_key)[stored["image"][finding]]
    view = load_run_view(samples, run_key).select(sample_id)
    return only_labels(view, fields, {field: F("_id").to_string().is_in(labels) for field, labels in members.items()})


def _only(samples: Any, run_key: str, condition: Any) -> Any:
    return only_labels(load_run_view(samples, run_key), load_metrics(samples, run_key).label_fields, condition)


def _image_ids(samples: Any, run_key: str) -> list[str]:
    return as_texts(load_arrays(samples, run_key)["image_ids"])


@dataclass(frozen=True)
class MergedFinding:
    """Several annotations of one rater that together match one annotation of another: the parts and the whole.

    Parameters
    ----------
    finding : int
        Its number in the stored run.
    kind : str
        "merged" or "merged_wrong_class".
    sample_id, file : str
        The image.
    whole_rater, whole_category : str
        Who made one annotation, and of which class.
    parts_rater, parts_category : str
        Who made several, all of this class.
    parts : int
        How many.
    similarity : float
        Of the whole to the union of the parts.
    """

    finding: int
    kind: str
    sample_id: str
    file: str
    whole_rater: str
    whole_category: str
    parts_rater: str
    parts_category: str
    parts: int
    similarity: float


def merged_findings(samples: Any, run_key: str, limit: int | None = None) -> list[MergedFinding]:
    """The findings of a run with a whole and its parts: the most parts first, of as many the least similar first."""
    load_metrics(samples, run_key, "variations")
    stored = part_of(load_arrays(samples, run_key), "merged/")
    count = len(stored["image"])
    sizes = np.zeros((count, 2), np.intp)
    np.add.at(sizes, (stored["member_finding"], stored["member_side"]), 1)
    order = np.lexsort((stored["similarity"], -sizes.max(axis=1, initial=0)))
    ids, files = _image_ids(samples, run_key), {}
    rows: list[MergedFinding] = []
    view = load_run_view(samples, run_key)
    at_once = count if limit is None else max(limit, 1)
    for begin in range(0, count, at_once or 1):  # a sample that was deleted since makes room for the next finding
        part = order[begin : begin + at_once].tolist()
        files = files_of(view, list(dict.fromkeys(ids[stored["image"][finding]] for finding in part)))
        rows += [
            _row(stored, sizes, finding, sample_id, files[sample_id])
            for finding in part
            if (sample_id := ids[stored["image"][finding]]) in files
        ]
        if limit is not None and len(rows) >= limit:
            break
    return rows[:limit]


def _row(
    stored: dict[str, NDArray[Any]], sizes: NDArray[np.intp], finding: int, sample_id: str, path: str
) -> MergedFinding:
    whole = 0 if sizes[finding, 1] > 1 else 1
    raters, categories = as_texts(stored["raters"]), as_texts(stored["categories"])
    of_rater, of_category = stored["rater"][finding], stored["category"][finding]
    return MergedFinding(
        finding=finding,
        kind=stored["type"][finding].decode(),
        sample_id=sample_id,
        file=Path(path).name,
        whole_rater=raters[of_rater[whole]],
        whole_category=categories[of_category[whole]],
        parts_rater=raters[of_rater[1 - whole]],
        parts_category=categories[of_category[1 - whole]],
        parts=int(sizes[finding].max()),
        similarity=float(stored["similarity"][finding]),
    )
