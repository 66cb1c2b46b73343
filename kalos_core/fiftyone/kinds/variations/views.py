"""Views behind the numbers of variations: only the labels of some findings, selected by attributes of the labels.

Samples with most of these findings come first; see `_counted`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from fiftyone import ViewExpression
from fiftyone import ViewField as F

from kalos_core.errors import InputError, lookup
from kalos_core.fiftyone.dataset.expressions import list_of, only_labels, text, together, with_files
from kalos_core.fiftyone.dataset.raters import label_fields
from kalos_core.fiftyone.runs.analyses import AnyRun
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.stored import load_details, load_metrics
from kalos_core.variation import VARIATION_TYPES, Merged

MERGED_TYPES = ("merged", "merged_wrong_class")
WRONG_TYPES = ("wrong_class", "merged_wrong_class")
ALONE = ("missing", "additional")
DIRECTED = ("merges", "splits")
"""Roles of a rater in a merged finding: the one who annotated the whole, or the one who annotated the parts."""

DIFFERENCES = tuple(kind for kind in VARIATION_TYPES if kind != "correct")


def view_of_variation(samples: Any, run_key: str, kind: str, *, rater: str | None = None) -> Any:
    """Return a view of only the labels with findings of one variation type.

    With `rater`, only findings with respect to this rater count.
    """
    lookup(dict.fromkeys(VARIATION_TYPES), kind, "variation type")
    run = load_metrics(samples, run_key, "variations")
    of_kind = together(run.names.all, run.names.raters).filter(F()[0] == kind)
    if rater is None:
        return _only(run, of_kind)
    towards = of_kind.filter(F()[1] == text(rater))
    if kind not in MERGED_TYPES:
        return _only(run, towards)
    own = ~list_of(run.names.raters).contains([text(rater)])  # the whole may be on either side
    return _only(run, towards, own.if_else(of_kind, towards))


def view_of_findings(
    samples: Any,
    run_key: str,
    kinds: Sequence[str] = DIFFERENCES,
    *,
    rater: str | None = None,
    category: str | None = None,
) -> Any:
    """Return a view of only the labels of findings of some types, on both sides; by default, of all differences.

    With `rater`, only the findings of this rater count, with types from the rater's side as in
    `Variations.counts_by_rater`. Only the rater annotated what is *additional*, and only others what is *missing*. In
    findings of `DIRECTED`, the rater annotated the whole (*merges*) or the parts (*splits*); these need a rater. With
    `category`, only findings with this class on either side count.
    """
    run = load_metrics(samples, run_key, "variations")
    for kind in kinds:
        lookup(dict.fromkeys([*VARIATION_TYPES, *DIRECTED]), kind, "variation type")
    if rater is not None and (directed := set(DIRECTED).intersection(kinds)):
        if len(directed) < len(kinds) or len(directed) > 1:
            raise InputError(f"kinds: expected one of {', '.join(DIRECTED)} alone, got {', '.join(kinds)}")
        return _of_direction(run, rater, category, merges="merges" in directed)
    if rater is None:
        return _only(run, _of_class(run, category, F()[0].is_in(list(kinds))))
    lookup(dict.fromkeys(run.metrics["raters"]), rater, "rater")
    both = [kind for kind in kinds if kind not in ALONE]  # findings with labels on both sides
    own = _of_class(run, category, F()[0].is_in([*both, *ALONE] if "additional" in kinds else both))
    seen = F()[0].is_in([*both, *ALONE] if "missing" in kinds else both)
    others = _of_class(run, category, seen & (F()[1] == text(rater)))
    return _by_owner(run, rater, own, others)


def _of_direction(run: AnyRun, rater: str, category: str | None, *, merges: bool) -> Any:
    """Return wholes by a rater with their parts by others, or parts by the rater with the wholes by others.

    In a merged finding between this rater and another, the label of the other names this rater in ``merged_by`` exactly
    if this rater annotated the whole.
    """
    lookup(dict.fromkeys(run.metrics["raters"]), rater, "rater")
    is_merged, by = F()[0].is_in(MERGED_TYPES), list_of(run.names.merged_by)
    has_whole, has_parts = by.contains([text(rater)]), by.difference([text(rater)]).length() > 0
    own = (has_whole if merges else has_parts).if_else(_of_class(run, category, is_merged), [])
    towards = _of_class(run, category, is_merged & (F()[1] == text(rater)))
    others = (has_whole if merges else ~has_whole).if_else(towards, [])
    return _by_owner(run, rater, own, others)


def _by_owner(run: AnyRun, rater: str, own: Any, others: Any) -> Any:
    """Return labels of a rater with findings `own`, and labels of the others with findings `others`."""
    if run.selection.field is not None:
        is_own = F(run.selection.rater_attribute).to_string() == text(rater)
        return _only(run, is_own.if_else(own, others))
    fields = dict(zip(run.metrics["raters"], run.label_fields, strict=True))
    return _only(run, {fields[name]: own if name == rater else others for name in fields})


def _of_class(run: AnyRun, category: str | None, condition: Any) -> ViewExpression:
    """Return the findings of a label that satisfy a condition, with a class on either side if one is given."""
    found = together(run.names.all, run.names.raters, run.names.classes).filter(condition)
    if category is None:
        return found
    return (F("label") == text(category)).if_else(found, found.filter(F()[2] == text(category)))


def view_of_confusion(samples: Any, run_key: str, category_a: str, category_b: str) -> Any:
    """Return a view of only the labels of findings in which two classes were confused with each other."""
    run = load_metrics(samples, run_key, "variations")
    either = [text(category_a), text(category_b)]  # a wrong class always involves two classes
    findings = together(run.names.all, run.names.raters, run.names.classes)
    found = findings.filter(F()[0].is_in(WRONG_TYPES) & F()[2].is_in(either))
    return _only(run, F("label").is_in(either).if_else(found, []))


def view_of_boundary(samples: Any, run_key: str, low: float, high: float) -> Any:
    """Return a view of only the labels of correct findings with low <= 1 - similarity < high.

    The upper comparison is <= at the greatest distance that the threshold of the run allows, because the last bin of
    `boundary_quality` includes both edges.
    """
    run = load_metrics(samples, run_key, "variations")
    distance = 1 - F()[1]
    below = distance <= high if high >= 1 - run.settings["threshold"] else distance < high
    return _of_correct(run, (distance >= low) & below)


def view_of_copies(samples: Any, run_key: str) -> Any:
    """Return a view of only the labels of correct findings with identical outlines; many suggest copied labels."""
    return _of_correct(load_metrics(samples, run_key, "variations"), F()[1] == 1)


def _of_correct(run: AnyRun, similar: Any) -> Any:
    findings = together(run.names.all, run.names.similarities)
    return _only(run, findings.filter((F()[0] == "correct") & similar))


def view_of_merged(samples: Any, run_key: str, finding: int | None = None) -> Any:
    """Return a view of only wholes and their parts, of all `merged_findings` or of the one with this number."""
    run = load_details(samples, run_key, "variations")
    if finding is None:
        return _only(run, together(run.names.all, run.names.raters).filter(F()[0].is_in(MERGED_TYPES)))
    found, fields = run.details.merged, run.label_fields
    if not 0 <= finding < len(found):
        raise InputError(f"finding: expected the number of a merged finding of the run {run_key!r}, got {finding!r}")
    members: dict[str, list[str]] = {field: [] for field in fields}  # by field, because cloned fields share ids
    for rater, ids in found.members(finding).items():
        members[fields[run.metrics["raters"].index(rater) if len(fields) > 1 else 0]] += ids
    view = run.view.select(found.image[finding])
    return only_labels(view, fields, {field: F("_id").to_string().is_in(ids) for field, ids in members.items()})


def _only(run: AnyRun, wanted: Any, counted: Any = None) -> Any:
    """Return a view of only the labels with wanted findings, samples with most counted findings first.

    `wanted` is one expression over the tuples of `together` of a label for all fields, or a mapping field ->
    expression.
    """
    view = run.view
    each = wanted if isinstance(wanted, dict) else dict.fromkeys(run.label_fields, wanted)
    paths = label_fields(view)
    there = {paths[field]: of_label for field, of_label in each.items() if field in paths}
    if there:
        of_any = counted if counted is not None else None if isinstance(wanted, dict) else wanted
        view = view.sort_by([(_counted(run.names, there, of_any), -1), ("id", 1)])
    return only_labels(view, each, {field: of_label.length() > 0 for field, of_label in each.items()})


def _counted(names: RunNames, findings: dict[str, Any], of_any: Any) -> ViewExpression:
    """Return twice the number of findings on a sample, as an expression.

    `findings` maps a path of labels to the wanted findings of one label; `of_any` is an expression for any label.

    The finding of a pair is on both labels, and the finding of a missing object is on one label. A merged finding is on
    the whole and on all parts, and is counted on the whole: the label that matches several labels of the other rater.
    Labels of the other rater are those without findings with respect to that rater.
    """
    is_one_of_several = {
        "$and": [
            {"$in": [{"$toString": "$$other._id"}, {"$ifNull": [f"$$label.{names.match}", []]}]},
            {"$not": {"$in": [{"$arrayElemAt": ["$$finding", 1]}, {"$ifNull": [f"$$other.{names.raters}", []]}]}},
        ]
    }
    several = {"$size": {"$filter": {"input": "$$all", "as": "other", "cond": is_one_of_several}}}
    type_of = {"$arrayElemAt": ["$$finding", 0]}
    weight = {
        "$switch": {
            "branches": [
                {"case": {"$in": [type_of, ALONE]}, "then": 2},
                {"case": {"$in": [type_of, MERGED_TYPES]}, "then": {"$cond": [{"$gt": [several, 1]}, 2, 0]}},
            ],
            "default": 1,
        }
    }
    lists = [(list_of(path), of_label) for path, of_label in findings.items()]
    sums = []
    for labels, of_label in lists if of_any is None else [("$$all", of_any)]:
        mapped = {"$map": {"input": of_label.to_mongo(prefix="$$label"), "as": "finding", "in": weight}}
        sums.append({"$sum": {"$map": {"input": labels, "as": "label", "in": {"$sum": mapped}}}})
    every = {"$concatArrays": [list_of(path) for path in findings]}
    return ViewExpression({"$let": {"vars": {"all": every}, "in": {"$add": sums}}})


@dataclass(frozen=True)
class MergedFinding:
    """A merged finding: annotations of one rater (the parts) that together match one annotation of another (the whole).

    Parameters
    ----------
    finding : int
        Number of the finding in the stored run.
    kind : str
        "merged" or "merged_wrong_class".
    sample_id, file : str
        Id and file name of the image.
    whole_rater, whole_category : str
        Rater and class of the whole.
    parts_rater, parts_category : str
        Rater and class of the parts.
    parts : int
        Number of parts.
    similarity : float
        Similarity of the whole to the union of the parts.
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
    """Return the merged findings of a run, by decreasing number of parts and then by increasing similarity."""
    run = load_details(samples, run_key, "variations")
    found: Merged = run.details.merged
    table = found.to_pandas().rename(columns={"number": "finding", "type": "kind", "image": "sample_id"})
    rows: Any = table.itertuples(index=False)
    there = with_files(run.view, rows, attrgetter("sample_id"), limit)
    return [MergedFinding(**row._asdict(), file=file) for row, file in there]
