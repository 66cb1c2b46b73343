"""What a run of variations stores: the numbers of its summary, those behind it, and its findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.joining import narrow
from kalos_core.fiftyone.kinds.matched import nested
from kalos_core.fiftyone.runs.arrays import text_array
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.records import plain
from kalos_core.variation import Variations, boundary_quality, variation_shares


class VariationSettings(TypedDict):
    """As in `kalos_core.variations`."""

    similarity: str
    threshold: float
    max_merge: int


class Confusion(TypedDict):
    """Two classes taken for one another, and how often."""

    category_a: str
    category_b: str
    count: int


class VariationMetrics(TypedDict):
    """The summary of a search for variations."""

    counts: dict[str, int]
    confusions: list[Confusion]
    by_rater: dict[str, dict[str, int]]
    identical_share: float | None
    findings: int
    images: int
    annotations: int
    raters: list[str]


class ShareDetails(TypedDict, total=False):
    """`variation_shares` as plain values, or why there are none. T thresholds."""

    reason: str
    threshold: list[float]
    counts: list[list[int]]
    equilibrium: float | None
    no_equilibrium: str


class BoundaryDetails(TypedDict):
    """`boundary_quality` as plain values. B bins."""

    edges: list[float]
    counts: list[int]
    findings: int
    median: float | None
    identical: int


class VariationDetails(TypedDict):
    """What lies behind a search for variations; ``split_by``: how many wholes of others each rater split into parts."""

    shares: ShareDetails
    boundary: BoundaryDetails
    split_by: dict[str, int]


def variation_metrics(result: Variations) -> VariationMetrics:
    """The summary of a search for variations."""
    annotations = result.annotations
    confusions = result.confusions()
    return {
        "counts": result.counts(),
        "confusions": [
            {"category_a": a, "category_b": b, "count": int(count)}
            for a, b, count in zip(confusions.category_a, confusions.category_b, confusions.count, strict=True)
        ],
        "by_rater": result.counts_by_rater(),
        "identical_share": plain(result.identical_share),
        "findings": len(result),
        "images": len(annotations.images),
        "annotations": len(annotations),
        "raters": list(annotations.raters),
    }


def variation_details(result: Variations, thresholds: Sequence[float]) -> VariationDetails:
    """What lies behind a search for variations as plain values, None for what is undefined.

    Parameters
    ----------
    result : Variations
    thresholds : (T,) float
        Where findings are counted, besides at the result's own; empty for none.

    Examples
    --------
    >>> from kalos_core import Annotations, variations
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 10, h]} for r, h in [("a", 10), ("b", 7)]]
    >>> found = variation_details(variations(Annotations.from_rows(rows)), [0.9])
    >>> found["shares"]["threshold"], found["shares"]["counts"]
    ([0.5, 0.9], [[1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1]])
    >>> round(found["shares"]["equilibrium"], 4), found["boundary"]["findings"], found["boundary"]["identical"]
    (0.6333, 1, 0)
    """
    quality = boundary_quality(result)
    boundary = BoundaryDetails(
        edges=plain(quality.edges),
        counts=plain(quality.counts),
        findings=len(quality.distance),
        median=plain(quality.median),
        identical=quality.identical,
    )
    return {"shares": _shares(result, thresholds), "boundary": boundary, "split_by": _split_by(result)}


def _split_by(result: Variations) -> dict[str, int]:
    merged = np.isin(result.type, ("merged", "merged_wrong_class"))
    parts_on_b = np.array([len(rows) > 1 for rows in result.rows_b], dtype=np.bool_)
    raters = np.where(parts_on_b, result.rater_b, result.rater_a)[merged]
    counts = np.bincount(raters, minlength=len(result.annotations.raters))
    return {str(name): int(count) for name, count in zip(result.annotations.raters, counts, strict=True)}


def _shares(result: Variations, thresholds: Sequence[float]) -> ShareDetails:
    if not len(thresholds):
        return {"reason": "thresholds: not asked for in this run"}
    table = variation_shares(
        result.annotations,
        [result.threshold, *thresholds],
        result.similarity_name,
        result.max_merge,
        pairs=result.pairs,
    )
    return {
        "threshold": plain(table.threshold),
        "counts": plain(table.counts),
        "equilibrium": plain(table.equilibrium),
        "no_equilibrium": table.no_equilibrium,
    }


def label_values(result: Variations, names: RunNames) -> dict[str, Sequence[Any]]:
    """Attribute -> (N,) values: what each label is towards the others, in all its findings and in one word."""
    annotations, own = result.annotations, result.of_annotations()
    finding, row, other_row = result.members
    once = np.append(True, (finding[1:] != finding[:-1]) | (row[1:] != row[:-1]))[: len(row)]  # parts are of one class
    finding, row, other_row = finding[once], row[once], other_row[once]
    has_other = other_row >= 0
    count, ids = len(annotations), annotations.id
    other = np.where(
        annotations.rater[row] == result.rater_a[finding], result.rater_b[finding], result.rater_a[finding]
    )
    partner_class = annotations.categories[annotations.category[other_row]].tolist() if len(annotations) else []
    classes = [name if there else "" for name, there in zip(partner_class, has_other.tolist(), strict=True)]
    return {
        names.main: [name or None for name in own.type.tolist()],
        names.similarity: plain(own.similarity),
        names.match: [[ids[row] for row in rows] for rows in own.matches],
        names.all: nested(row, result.type[finding].tolist(), count),
        names.raters: nested(row, annotations.raters[other].tolist(), count),
        names.classes: nested(row, classes, count),
        names.similarities: nested(row, plain(result.similarity[finding]), count),
    }


def merged_arrays(result: Variations) -> dict[str, NDArray[Any]]:
    """The findings of a whole and its parts as flat arrays: one entry a finding, and one an annotation of it."""
    annotations = result.annotations
    chosen = np.flatnonzero(np.isin(result.type, ("merged", "merged_wrong_class")))
    lead = [(result.rows_a[finding][0], result.rows_b[finding][0]) for finding in chosen]
    members = [
        (number, row, side)
        for number, finding in enumerate(chosen.tolist())
        for side, rows in enumerate((result.rows_a[finding], result.rows_b[finding]))
        for row in rows
    ]
    of_finding = np.array(lead, dtype=np.intp).reshape(-1, 2)
    table = np.array(members, dtype=np.intp).reshape(-1, 3)
    return {
        "merged/type": text_array(result.type[chosen]),
        "merged/image": narrow(result.image[chosen]),
        "merged/similarity": result.similarity[chosen],
        "merged/rater": narrow(np.column_stack([result.rater_a[chosen], result.rater_b[chosen]])),
        "merged/category": narrow(annotations.category[of_finding]),
        "merged/member_finding": narrow(table[:, 0]),
        "merged/member_side": narrow(table[:, 2]),
        "merged/member_id": text_array(annotations.id[table[:, 1]]),
        "merged/raters": text_array(annotations.raters),
        "merged/categories": text_array(annotations.categories),
    }
