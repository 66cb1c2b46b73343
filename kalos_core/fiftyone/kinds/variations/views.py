"""Views behind the numbers of variations: only the labels of some findings, found by what the labels carry.

Those samples first that have most of these findings; see `_counted`.
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
"""Who of a merged finding a rater is: who drew the whole, or who drew the parts."""

DIFFERENCES = tuple(kind for kind in VARIATION_TYPES if kind != "correct")


def view_of_variation(samples: Any, run_key: str, kind: str, *, rater: str | None = None) -> Any:
    """Only the labels that take part in findings of one variation type, and the samples that have any.

    `rater`: only findings towards this rater.
    """
    if kind not in VARIATION_TYPES:
        raise InputError(f"variation type: expected one of {', '.join(VARIATION_TYPES)}, got {kind!r}")
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
    """Only the labels of findings of some types, those of both sides, by default of all differences.

    `rater`: only the findings of this rater, with types as seen from there, as `Variations.counts_by_rater` has them:
    only the rater annotated what is *additional*, only others what is *missing*; in findings of `DIRECTED` the rater
    drew the whole (*merges*) or the parts (*splits*), which needs a rater. `category`: only findings with this class on
    either side.
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
    both = [kind for kind in kinds if kind not in ALONE]  # of labels of both sides
    own = _of_class(run, category, F()[0].is_in([*both, *ALONE] if "additional" in kinds else both))
    seen = F()[0].is_in([*both, *ALONE] if "missing" in kinds else both)
    others = _of_class(run, category, seen & (F()[1] == text(rater)))
    return _by_owner(run, rater, own, others)


def _of_direction(run: AnyRun, rater: str, category: str | None, *, merges: bool) -> Any:
    """Wholes that a rater drew and their parts by others, or parts that the rater drew and the wholes of others.

    Of a merged finding between this rater and another, the label of the other names this rater among those who merged
    exactly where this rater drew the whole.
    """
    lookup(dict.fromkeys(run.metrics["raters"]), rater, "rater")
    is_merged, by = F()[0].is_in(MERGED_TYPES), list_of(run.names.merged_by)
    has_whole, has_parts = by.contains([text(rater)]), by.difference([text(rater)]).length() > 0
    own = (has_whole if merges else has_parts).if_else(_of_class(run, category, is_merged), [])
    towards = _of_class(run, category, is_merged & (F()[1] == text(rater)))
    others = (has_whole if merges else ~has_whole).if_else(towards, [])
    return _by_owner(run, rater, own, others)


def _by_owner(run: AnyRun, rater: str, own: Any, others: Any) -> Any:
    """Labels of a rater with some findings, and those of the others with other findings."""
    if run.selection.field is not None:
        is_own = F(run.selection.rater_attribute).to_string() == text(rater)
        return _only(run, is_own.if_else(own, others))
    fields = dict(zip(run.metrics["raters"], run.label_fields, strict=True))
    return _only(run, {fields[name]: own if name == rater else others for name in fields})


def _of_class(run: AnyRun, category: str | None, condition: Any) -> ViewExpression:
    """The findings of a label that fulfil a condition, with a class on either side if one is given."""
    found = together(run.names.all, run.names.raters, run.names.classes).filter(condition)
    if category is None:
        return found
    return (F("label") == text(category)).if_else(found, found.filter(F()[2] == text(category)))


def view_of_confusion(samples: Any, run_key: str, category_a: str, category_b: str) -> Any:
    """Only the labels of findings in which these two classes were taken for one another."""
    run = load_metrics(samples, run_key, "variations")
    either = [text(category_a), text(category_b)]  # never one twice: of a wrong class are those of two
    findings = together(run.names.all, run.names.raters, run.names.classes)
    found = findings.filter(F()[0].is_in(WRONG_TYPES) & F()[2].is_in(either))
    return _only(run, F("label").is_in(either).if_else(found, []))


def view_of_boundary(samples: Any, run_key: str, low: float, high: float) -> Any:
    """Only the labels of correct findings whose outlines are low <= 1 - similarity < high apart.

    <= for the greatest distance that the run's threshold allows, as the last bin of `boundary_quality` has both edges.
    """
    run = load_metrics(samples, run_key, "variations")
    distance = 1 - F()[1]
    below = distance <= high if high >= 1 - run.settings["threshold"] else distance < high
    return _of_correct(run, (distance >= low) & below)


def view_of_copies(samples: Any, run_key: str) -> Any:
    """Only the labels of correct findings with the very same outline: many of them mean that labels were copied."""
    return _of_correct(load_metrics(samples, run_key, "variations"), F()[1] == 1)


def _of_correct(run: AnyRun, similar: Any) -> Any:
    findings = together(run.names.all, run.names.similarities)
    return _only(run, findings.filter((F()[0] == "correct") & similar))


def view_of_merged(samples: Any, run_key: str, finding: int | None = None) -> Any:
    """Only wholes and their parts: of all findings of `merged_findings`, or of the one with this number."""
    run = load_details(samples, run_key, "variations")
    if finding is None:
        return _only(run, together(run.names.all, run.names.raters).filter(F()[0].is_in(MERGED_TYPES)))
    found, fields = run.details.merged, run.label_fields
    if not 0 <= finding < len(found):
        raise InputError(f"finding: expected the number of a merged finding of the run {run_key!r}, got {finding!r}")
    members: dict[str, list[str]] = {field: [] for field in fields}  # by field: one that was cloned shares its ids
    for rater, ids in found.members(finding).items():
        members[fields[run.metrics["raters"].index(rater) if len(fields) > 1 else 0]] += ids
    view = run.view.select(found.image[finding])
    return only_labels(view, fields, {field: F("_id").to_string().is_in(ids) for field, ids in members.items()})


def _only(run: AnyRun, wanted: Any, counted: Any = None) -> Any:
    """Only the labels with wanted findings, tuples of `together`; samples with most of those counted first.

    One expression of a label's tuples for all fields, or a mapping of field to expression.
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
    """Twice the number of findings on a sample; `findings`: path of labels -> those wanted of one, `of_any`: of any.

    Both labels of a pair have its finding, and one label has that of an object which is missing. A whole and all of
    its parts have theirs, which counts where it is of the whole: the label that matches several of the other rater,
    whose own labels are those without findings towards that rater.
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
    run = load_details(samples, run_key, "variations")
    found: Merged = run.details.merged
    table = found.to_pandas().rename(columns={"number": "finding", "type": "kind", "image": "sample_id"})
    rows: Any = table.itertuples(index=False)
    there = with_files(run.view, rows, attrgetter("sample_id"), limit)
    return [MergedFinding(**row._asdict(), file=file) for row, file in there]
