"""Variations on FiftyOne: every difference named and tagged on the labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import fiftyone as fo
import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.fiftyone.analyses.steps import COMPARING, READING, WRITING
from kalos_core.fiftyone.analyses.storing import pack_result
from kalos_core.fiftyone.diagnostics import narrow, plain
from kalos_core.fiftyone.labels import (
    LabelAttribute,
    LabelChoice,
    check_samples,
    read_labels,
    similarity_to_store,
    write_values,
)
from kalos_core.fiftyone.progress import Progress, Report
from kalos_core.fiftyone.runs import Run, RunNames, check_run_key, label_schema, writing
from kalos_core.similarity import check_threshold
from kalos_core.variation import Variations, boundary_quality, variation_shares, variations

THRESHOLDS = tuple(step / 20 for step in range(2, 19))
"""Where findings are counted unless other thresholds are given: .1 to .9 in steps of .05."""

COUNTING = 0.5
"""Share of the work done when findings are counted at other thresholds."""


def find_variations(
    samples: Any,
    run_key: str,
    *,
    similarity: str | None = None,
    threshold: float = 0.5,
    max_merge: int = 4,
    thresholds: Sequence[float] = THRESHOLDS,
    choice: LabelChoice | None = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> Run:
    """Name every difference between raters and tag it on the labels; see `kalos_core.variations`.

    Writes three attributes of every label: ``<run_key>`` (its most serious variation type towards any other rater),
    ``<run_key>_similarity`` (the least similarity to a partner, None without one) and ``<run_key>_match`` (ids of the
    partners).

    Parameters
    ----------
    samples, run_key, similarity, choice, progress, **options
        As in `compute_agreement`.
    threshold, max_merge
        As in `kalos_core.variations`.
    thresholds : sequence of float
        Where the findings of each type are counted, besides at `threshold`; empty for none.

    Returns
    -------
    Run
        Its `result` is a `Variations`; its `diagnostics` are described at `variation_diagnostics`.

    Raises
    ------
    InputError
        For input that cannot be used; nothing is written then.

    Examples
    --------
    >>> dataset = fo.Dataset()
    >>> box = [0.1, 0.1, 0.5, 0.5]
    >>> _ = dataset.add_sample(
    ...     fo.Sample(
    ...         "a.jpg",
    ...         raters=["ann", "bob"],
    ...         ann=fo.Detections(detections=[fo.Detection(label="cat", bounding_box=box)]),
    ...         bob=fo.Detections(detections=[fo.Detection(label="dog", bounding_box=box)]),
    ...     )
    ... )
    >>> run = find_variations(dataset, "first", raters=("ann", "bob"))
    >>> run.result.counts()["wrong_class"], dataset.values("ann.detections.first")
    (1, [['wrong_class']])
    >>> dataset.delete()
    """
    choice = LabelChoice.of(choice, options)
    with Report(progress) as report:
        check_samples(samples)
        check_run_key(samples, run_key)
        for value in thresholds:
            check_threshold(value, "thresholds")
        report(READING, "Reading labels")
        measure = similarity_to_store(samples, choice, similarity)
        labels = read_labels(samples, choice, [measure])
        report(COMPARING, f"Comparing {len(labels.annotations):,} annotations")
        result = variations(labels.annotations, measure, threshold, max_merge)
        report(COUNTING, f"Counting at {len(thresholds):,} thresholds")
        diagnostics = variation_diagnostics(result, thresholds)
        settings = {
            "similarity": result.similarity_name,
            "threshold": result.threshold,
            "max_merge": result.max_merge,
        }
        names = RunNames(run_key)
        attributes: dict[str, Mapping[str, Any]] = {
            names.variation: {"ftype": fo.StringField},
            names.similarity: {"ftype": fo.FloatField},
            names.match: {"ftype": fo.ListField, "subfield": fo.StringField},
        }
        report(WRITING, f"Writing {len(result):,} findings")
        with writing(labels, run_key, "variations", settings, label_schema(labels, attributes)) as draft:
            write_values(labels, _variation_attributes(names, labels.annotations, result))
            draft.figures = variation_figures(result)
            draft.diagnostics = diagnostics
            draft.arrays = pack_result(labels, result.pairs, **_findings(result))
        report(1.0, "Done")
    return Run(run_key, "variations", settings, labels.choice, draft.figures, labels.fields, diagnostics, result)


def variation_figures(result: Variations) -> dict[str, Any]:
    """The figures of a search for variations as plain values."""
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


def variation_diagnostics(result: Variations, thresholds: Sequence[float]) -> dict[str, Any]:
    """What lies behind a search for variations as plain values, None for what is undefined.

    Parameters
    ----------
    result : Variations
    thresholds : (T,) float
        Where findings are counted, besides at the result's own; empty for none.

    Returns
    -------
    dict
        ``shares``: ``threshold`` (T,), ``counts`` (T, 6), ``equilibrium`` and ``no_equilibrium`` of
        `variation_shares`, or ``reason`` where no thresholds were given. ``boundary``: ``edges`` (B + 1,), ``counts``
        (B,), ``findings``, ``median`` and ``identical`` of `boundary_quality`.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 10, h]} for r, h in [("a", 10), ("b", 7)]]
    >>> found = variation_diagnostics(variations(Annotations.from_rows(rows)), [0.9])
    >>> found["shares"]["threshold"], found["shares"]["counts"]
    ([0.5, 0.9], [[1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1]])
    >>> round(found["shares"]["equilibrium"], 4), found["boundary"]["findings"], found["boundary"]["identical"]
    (0.6333, 1, 0)
    """
    return {"shares": _shares(result, thresholds), "boundary": _boundary(result)}


def _shares(result: Variations, thresholds: Sequence[float]) -> dict[str, Any]:
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
        **plain(table),
        "equilibrium": plain(table.equilibrium),
        "no_equilibrium": table.no_equilibrium,
    }


def _boundary(result: Variations) -> dict[str, Any]:
    quality = boundary_quality(result)
    return {
        "edges": plain(quality.edges),
        "counts": plain(quality.counts),
        "findings": len(quality.distance),
        "median": plain(quality.median),
        "identical": quality.identical,
    }


def _variation_attributes(names: RunNames, annotations: Annotations, result: Variations) -> list[LabelAttribute]:
    own = result.of_annotations()
    ids = annotations.id
    return [
        LabelAttribute(names.variation, [name or None for name in own.type.tolist()]),
        LabelAttribute(names.similarity, plain(own.similarity)),
        LabelAttribute(names.match, [[ids[row] for row in rows] for rows in own.matches]),
    ]


def _findings(result: Variations) -> dict[str, NDArray[Any]]:
    """The findings as flat arrays: one entry a finding, and one a mark that belongs to it."""
    category = result.annotations.category
    lead = [rows_a or rows_b for rows_a, rows_b in zip(result.rows_a, result.rows_b, strict=True)]
    other = [rows_b or rows_a for rows_a, rows_b in zip(result.rows_a, result.rows_b, strict=True)]
    sides = (result.rows_a, result.rows_b)
    marks = [
        (f, row, side)
        for f, both in enumerate(zip(*sides, strict=True))
        for side, rows in enumerate(both)
        for row in rows
    ]
    table = np.array(marks, dtype=np.intp).reshape(-1, 3)
    return {
        "finding_type": result.type,
        "finding_image": narrow(result.image),
        "finding_similarity": result.similarity,
        "finding_rater_a": result.rater_a,
        "finding_rater_b": result.rater_b,
        "finding_category_a": category[[rows[0] for rows in lead]],
        "finding_category_b": category[[rows[0] for rows in other]],
        "mark_finding": table[:, 0],
        "mark_row": table[:, 1],
        "mark_side": narrow(table[:, 2]),
        "categories": result.annotations.categories.astype(str),
        "raters": result.annotations.raters.astype(str),
    }
