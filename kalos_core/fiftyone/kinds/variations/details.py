"""What a run of variations stores: the numbers of its summary, those behind it, and its findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, cast

import numpy as np

from kalos_core.fiftyone.kinds.matched import nested
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.records import Undefined, plain
from kalos_core.variation import (
    BoundaryQuality,
    Merged,
    Variations,
    VariationShares,
    boundary_quality,
    variation_shares,
)


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


@dataclass(frozen=True, eq=False)
class VariationDetails:
    """What lies behind a search for variations; ``split_by``: how many wholes of others each rater split into parts."""

    shares: VariationShares | Undefined
    boundary: BoundaryQuality
    merged: Merged
    split_by: dict[str, int]


def variation_metrics(result: Variations) -> VariationMetrics:
    """The summary of a search for variations."""
    annotations = result.annotations
    confusions = result.confusions().to_pandas().to_dict("records")
    return {
        "counts": result.counts(),
        "confusions": cast(list[Confusion], confusions),
        "by_rater": result.counts_by_rater(),
        "identical_share": plain(result.identical_share),
        "findings": len(result),
        "images": len(annotations.images),
        "annotations": len(annotations),
        "raters": list(annotations.raters),
    }


def variation_details(result: Variations, thresholds: Sequence[float]) -> VariationDetails:
    """What lies behind a search for variations.

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
    >>> found.shares.threshold.tolist(), found.shares.counts.tolist()
    ([0.5, 0.9], [[1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1]])
    >>> round(found.shares.equilibrium, 4), found.boundary.findings, found.boundary.identical
    (0.6333, 1, 0)
    """
    shares: VariationShares | Undefined = Undefined("thresholds: not asked for in this run")
    if len(thresholds):
        levels = [result.threshold, *thresholds]
        shares = variation_shares(
            result.annotations, levels, result.similarity_name, result.max_merge, pairs=result.pairs
        )
    return VariationDetails(shares, boundary_quality(result), result.merged, result.split_by())


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
