"""Views behind the figures of variations: only the labels of some findings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.errors import InputError
from kalos_core.fiftyone.runs import load_arrays, load_figures, load_run_view
from kalos_core.variation import VARIATION_TYPES

MERGED_TYPES = ("merged", "merged_wrong_class")


def view_of_variation(samples: Any, run_key: str, kind: str) -> Any:
    """Only the labels that take part in findings of one variation type, and the samples that have any."""
    if kind not in VARIATION_TYPES:
        raise InputError(f"variation type: expected one of {', '.join(VARIATION_TYPES)}, got {kind!r}")
    stored = _stored_findings(samples, run_key)
    return _view_of_findings(samples, run_key, stored, stored["finding_type"] == kind)


def view_of_confusion(samples: Any, run_key: str, category_a: str, category_b: str) -> Any:
    """Only the labels of findings in which these two classes were taken for one another."""
    stored = _stored_findings(samples, run_key)
    first = stored["categories"][stored["finding_category_a"]]
    second = stored["categories"][stored["finding_category_b"]]
    wrong = np.isin(stored["finding_type"], ("wrong_class", "merged_wrong_class"))
    either = ((first == category_a) & (second == category_b)) | ((first == category_b) & (second == category_a))
    return _view_of_findings(samples, run_key, stored, wrong & either)


def view_of_boundary(samples: Any, run_key: str, low: float, high: float) -> Any:
    """Only the labels of correct findings whose outlines are low <= 1 - similarity < high apart.

    <= for the greatest distance that the run's threshold allows, as the last bin of `boundary_quality` has both edges.
    """
    stored = _stored_findings(samples, run_key, "finding_similarity")
    widest = 1 - load_figures(samples, run_key).settings["threshold"]
    distance = _distance_of_correct(stored)
    below = distance <= high if high >= widest else distance < high
    return _view_of_findings(samples, run_key, stored, (distance >= low) & below)


def view_of_copies(samples: Any, run_key: str) -> Any:
    """Only the labels of correct findings with the very same outline: many of them mean that labels were copied."""
    stored = _stored_findings(samples, run_key, "finding_similarity")
    return _view_of_findings(samples, run_key, stored, _distance_of_correct(stored) == 0)


def _distance_of_correct(stored: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
    """(F,) 1 - similarity of correct findings, NaN for the others."""
    return np.where(stored["finding_type"] == "correct", 1 - stored["finding_similarity"], np.nan)


@dataclass(frozen=True)
class MergedFinding:
    """Several marks of one rater that together match one mark of another: the parts and the whole.

    Parameters
    ----------
    finding : int
        Its number in the stored run.
    kind : str
        "merged" or "merged_wrong_class".
    sample_id, file : str
        The image.
    whole_rater, whole_category : str
        Who drew one mark, and of which class.
    parts_rater, parts_category : str
        Who drew several marks, all of this class.
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
    stored = _stored_findings(samples, run_key, "finding_similarity", "finding_image", "mark_side")
    merged = np.isin(stored["finding_type"], MERGED_TYPES)
    marks = merged[stored["mark_finding"]]
    on_side = [marks & (stored["mark_side"] == side) for side in (0, 1)]
    sizes = [np.bincount(stored["mark_finding"][there], minlength=len(merged)) for there in on_side]
    parts = np.maximum(*sizes)
    files = dict(zip(*load_run_view(samples, run_key).values(["id", "filepath"]), strict=True))
    chosen = np.flatnonzero(merged)
    order = np.lexsort((stored["finding_similarity"][chosen], -parts[chosen]))
    rows = []
    for finding in chosen[order].tolist():
        sample_id = str(stored["image_ids"][stored["finding_image"][finding]])
        if sample_id not in files:  # deleted since
            continue
        whole, several = ("a", "b") if sizes[1][finding] > 1 else ("b", "a")
        rows.append(
            MergedFinding(
                finding=finding,
                kind=str(stored["finding_type"][finding]),
                sample_id=sample_id,
                file=Path(files[sample_id]).name,
                whole_rater=_named(stored, "rater", whole, finding),
                whole_category=_named(stored, "category", whole, finding),
                parts_rater=_named(stored, "rater", several, finding),
                parts_category=_named(stored, "category", several, finding),
                parts=int(parts[finding]),
                similarity=float(stored["finding_similarity"][finding]),
            )
        )
    return rows[:limit]


def _named(stored: dict[str, NDArray[Any]], what: str, side: str, finding: int) -> str:
    vocabulary = {"rater": "raters", "category": "categories"}[what]
    return str(stored[vocabulary][stored[f"finding_{what}_{side}"][finding]])


def view_of_merged(samples: Any, run_key: str, finding: int | None = None) -> Any:
    """Only wholes and their parts: of all findings of `merged_findings`, or of the one with this number."""
    stored = _stored_findings(samples, run_key)
    merged = np.isin(stored["finding_type"], MERGED_TYPES)
    if finding is None:
        return _view_of_findings(samples, run_key, stored, merged)
    if not 0 <= finding < len(merged) or not merged[finding]:
        raise InputError(f"finding: expected the number of a merged finding of the run {run_key!r}, got {finding!r}")
    return _view_of_findings(samples, run_key, stored, np.arange(len(merged)) == finding)


def _stored_findings(samples: Any, run_key: str, *needed: str) -> dict[str, NDArray[Any]]:
    """The findings a run stored; `needed` are arrays that runs of older versions have not."""
    load_figures(samples, run_key, "variations")
    stored = load_arrays(samples, run_key)
    if not stored.keys() >= {*needed}:
        raise InputError(
            f"run {run_key!r}: made by an older version, which stored less of its findings; make a new run"
        )
    return stored


def _view_of_findings(samples: Any, run_key: str, stored: dict[str, NDArray[Any]], chosen: NDArray[np.bool_]) -> Any:
    rows = np.unique(stored["mark_row"][chosen[stored["mark_finding"]]])
    label_ids = stored["label_ids"][rows].tolist()
    fields = list(load_figures(samples, run_key).label_fields)
    view = load_run_view(samples, run_key)
    return view.select_labels(ids=label_ids, fields=fields) if label_ids else view.limit(0)
