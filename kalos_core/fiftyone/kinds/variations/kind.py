"""Variations as a kind of run: settings, stored arrays, label attributes, and findings within a filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kalos_core.variation
from kalos_core.display import VARIATION_LABELS
from kalos_core.fiftyone.dataset.filter import Filter
from kalos_core.fiftyone.dataset.writing import Values, nested, or_none
from kalos_core.fiftyone.kinds.columns import made_from
from kalos_core.fiftyone.kinds.matched import matched_again, read_compared, stored_table
from kalos_core.fiftyone.kinds.variations.views import (
    view_of_boundary,
    view_of_confusion,
    view_of_copies,
    view_of_findings,
    view_of_merged,
    view_of_variation,
)
from kalos_core.fiftyone.runs.kept import kept
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.records import Undefined
from kalos_core.fiftyone.runs.stored import load_metrics
from kalos_core.fiftyone.runs.table import Arrays, Changes, Demo, Kind, Run, register
from kalos_core.pairs import Pairs
from kalos_core.results import plain_values
from kalos_core.similarity import get_similarity
from kalos_core.variation import (
    TOUCHING,
    VARIATION_TYPES,
    BoundaryQuality,
    Merged,
    NarrowedVariations,
    Variations,
    VariationShares,
    boundary_quality,
    variation_shares,
    variations,
)
from kalos_core.variation.find import VariationSettings
from kalos_core.variation.rates import ADDITIONAL, MISSING
from kalos_core.variation.shares import CountedAt

THRESHOLDS = tuple(step / 20 for step in range(2, 19))
"""Default thresholds at which findings are counted: 0.1 to 0.9 in steps of 0.05."""


@dataclass(frozen=True)
class VariationRunSettings(VariationSettings):
    """Settings of a search for variations, and further thresholds at which findings are counted; () for none."""

    thresholds: CountedAt = field(default=THRESHOLDS, kw_only=True)


@dataclass(frozen=True, eq=False)
class VariationDetails:
    """Details of a search for variations; ``split_by`` counts the wholes of others that each rater split into parts."""

    shares: VariationShares | Undefined
    boundary: BoundaryQuality
    merged: Merged
    split_by: dict[str, int]


def variation_metrics(result: Variations) -> dict[str, Any]:
    """Return the summary of a search for variations: counts by type and rater, and confused classes."""
    annotations = result.annotations
    return {
        "counts": result.counts(),
        "confusions": result.confusions().to_pandas().to_dict("records"),
        "by_rater": result.counts_by_rater(),
        "identical_share": plain_values(result.identical_share),
        "findings": len(result),
        "images": len(annotations.images),
        "annotations": len(annotations),
        "raters": list(annotations.raters),
    }


def variation_details(result: Variations, thresholds: Sequence[float] | NDArray[np.float64]) -> VariationDetails:
    """Compute the details of a search for variations.

    Parameters
    ----------
    result : Variations
    thresholds : (T,) float
        Thresholds at which findings are counted, in addition to that of the result; empty for none.

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
    shares: VariationShares | Undefined = Undefined("thresholds: none were given for this run")
    if len(thresholds):
        levels = [result.threshold, *thresholds]
        shares = variation_shares(
            result.annotations, levels, get_similarity(result.similarity_name), result.max_merge, pairs=result.pairs
        )
    return VariationDetails(shares, boundary_quality(result), result.merged, result.split_by())


def label_values(result: Variations, names: RunNames) -> Values:
    """Return attributes of labels: all findings of each label, and its most serious variation type."""
    annotations = result.annotations

    def values(rows: NDArray[np.intp]) -> dict[str, list[Any]]:
        own = result.of_annotations(rows)
        owner = np.repeat(np.arange(len(rows)), np.diff(own.start))
        there = own.other >= 0
        once = np.ones(len(owner), np.bool_)  # the first of several parts, which have the same class
        once[1:] = (owner[1:] != owner[:-1]) | (own.finding[1:] != own.finding[:-1])
        finding, count = own.finding[once], np.bincount(owner[once], minlength=len(rows))
        raters = result.rater_a[finding], result.rater_b[finding]
        other = np.where(annotations.rater[rows[owner[once]]] == raters[0], raters[1], raters[0])
        names_of = annotations.raters[other]
        kind = result.type_code[finding]
        sizes = result.side_sizes[finding]
        is_a = annotations.rater[rows[owner[once]]] == raters[0]
        has_whole = np.where(is_a, sizes[:, 0], sizes[:, 1]) == 1
        merger = np.where(has_whole, annotations.raters[annotations.rater[rows[owner[once]]]], names_of)
        classes = np.full(len(owner), "", dtype=object)
        classes[there] = annotations.categories[annotations.category[own.other[there]]]
        return {
            names.main: [name or None for name in own.type.tolist()],
            names.similarity: or_none(own.similarity),
            names.match: nested(annotations.id[own.other[there]], np.bincount(owner[there], minlength=len(rows))),
            names.all: nested(np.array(VARIATION_TYPES)[result.type_code[finding]], count),
            names.raters: nested(names_of, count),
            names.classes: nested(classes[once], count),
            names.similarities: nested(result.similarity[finding], count),
            names.merged_by: _distinct(merger, result.is_merged[finding], owner[once], len(rows)),
            names.missed_by: _distinct(names_of, np.isin(kind, (MISSING, ADDITIONAL)), owner[once], len(rows)),
        }

    return values


def _distinct(names: NDArray[np.object_], there: NDArray[np.bool_], owner: NDArray[np.intp], rows: int) -> list[Any]:
    """Return the distinct names of the selected findings of each label; None without any."""
    found: list[list[str] | None] = [None] * rows
    for row, name in zip(owner[there].tolist(), names[there].tolist(), strict=True):
        own = found[row] = found[row] or []
        if name not in own:
            own.append(name)
    return found


VariationRun = Run[dict[str, Any], dict[str, Any], VariationDetails, Variations]


def _restore(changes: Changes) -> Variations:
    told = VariationRunSettings.of(changes.run.settings).part(VariationSettings)
    annotations, pairs = matched_again(changes, changes.run.settings["similarity"])
    return variations(annotations, **told.record(), pairs=pairs)


def _findings(run: Run[Any, Any, Any, Any]) -> str:
    counts = run.metrics["counts"].items()
    return "Findings: " + ", ".join(f"{count:,} {VARIATION_LABELS[name]}" for name, count in counts)


VARIATIONS: Kind[dict[str, Any], dict[str, Any], VariationDetails, Variations] = register(
    Kind(
        name="variations",
        title="Variations",
        operator="find_variations",
        section="Variations",
        suffix="variations",
        read=read_compared,
        restore=_restore,
        demo=Demo(_findings),
        views={
            "variation": view_of_variation,
            "confusion": view_of_confusion,
            "boundary": view_of_boundary,
            "copies": view_of_copies,
            "merged": view_of_merged,
            "findings": view_of_findings,
        },
        details=VariationDetails,
    )
)


FINDINGS = "findings/"
"""Prefix of the names of the arrays of findings."""

OTHERS = ("annotations", "pairs")
"""Fields of `Variations` that are stored in other arrays."""


def narrowed_variations(samples: Any, run_key: str, filter: Filter = Filter()) -> NarrowedVariations:  # noqa: B008
    """Return the findings of a run within a filter; see `kalos_core.variation.narrowed_variations`.

    All come from what the run stored: no label is read and nothing is searched again.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        Key of a run that searched for variations.
    filter : Filter
        Its class and its rater are names in the run.

    Returns
    -------
    NarrowedVariations

    Raises
    ------
    InputError
        If the run has no such class or rater.
    """
    run = load_metrics(samples, run_key, "variations")
    found = kept(samples, run, "findings", lambda: stored_variations(run.arrays, run.settings["similarity"]))
    if filter.limits_images:
        images = filter.images_in(samples, found.annotations.images)
        return kalos_core.variation.narrowed_variations(found, filter.category, filter.rater, images)
    part = filter.category, filter.rater
    return kept(samples, run, part, lambda: kalos_core.variation.narrowed_variations(found, *part))


def stored_variations(arrays: Arrays, similarity: str) -> Variations:
    """Return the stored findings, without shapes and without similarities of pairs."""
    nothing = np.zeros(0, np.intp)
    pairs = Pairs(nothing, nothing, np.zeros(0), similarity, TOUCHING)
    table = stored_table(arrays, with_shapes=False)
    return made_from(Variations, arrays, FINDINGS, annotations=table, pairs=pairs, similarity_name=similarity)
