"""Variations on FiftyOne: name every difference and tag it on the labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kalos_core.arrays import give_back_memory
from kalos_core.display import number_of
from kalos_core.fiftyone.dataset.objects import read_labels
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.kinds.columns import columns_of
from kalos_core.fiftyone.kinds.matched import matched_arrays
from kalos_core.fiftyone.kinds.variations.kind import (
    FINDINGS,
    OTHERS,
    VARIATIONS,
    VariationRun,
    VariationRunSettings,
    label_values,
    variation_details,
    variation_metrics,
)
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.life import COMPARING, STORING, Found, analysing, store
from kalos_core.fiftyone.runs.progress import RunArguments
from kalos_core.options import takes
from kalos_core.results import plain_values
from kalos_core.variation import variations
from kalos_core.variation.find import VariationSettings

COUNTING = 0.5
"""Fraction of the work completed when counting at other thresholds begins."""


@dataclass(frozen=True)
class VariationRunArguments(VariationRunSettings, RunArguments):
    """Arguments of `find_variations`."""


@takes(VariationRunArguments)
def find_variations(samples: Any, run_key: str, settings: VariationRunArguments) -> VariationRun:
    """Name every difference between raters and tag it on the labels; see `kalos_core.variations`.

    The run writes these attributes on every label:

    - ``<run_key>``: the most serious variation type with respect to any other rater;
    - ``<run_key>_similarity``: the lowest similarity to a partner, None without a partner;
    - ``<run_key>_match``: the ids of the partners;
    - lists with an entry for each finding, one per other rater: ``<run_key>_all`` (the types), ``<run_key>_raters``
      (the other raters), ``<run_key>_classes`` (the classes of their annotations, "" without one) and
      ``<run_key>_similarities``;
    - ``<run_key>_merged_by``: the raters who annotated the whole of a merged finding; absent without any;
    - ``<run_key>_missed_by``: the raters who annotated nothing there; absent without any.

    Parameters
    ----------
    samples, run_key, progress
        As in `compute_agreement`.

    Returns
    -------
    Run
        Its `result` is a `Variations`; its `details` are described in `variation_details`.

    Raises
    ------
    InputError
        If the input cannot be used; nothing is written in this case.

    Examples
    --------
    >>> import fiftyone as fo
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
    >>> dataset.values("ann.detections.first_all"), dataset.values("ann.detections.first_classes")
    ([[['wrong_class']]], [[['dog']]])
    >>> dataset.delete()
    """
    with analysing(samples, run_key, settings.progress) as report:
        labels = read_labels(samples, settings.part(Selection), [settings.similarity])
        told = settings.part(VariationRunSettings, similarity=labels.similarities[0])
        report(COMPARING, f"Comparing {number_of(len(labels.annotations), 'annotation')}")
        result = variations(labels.annotations, **told.part(VariationSettings).record())
        give_back_memory()
        report(COUNTING, f"Counting at {number_of(len(told.thresholds), 'threshold')}")
        details = variation_details(result, told.thresholds)
        give_back_memory()
        report(STORING, f"Writing {number_of(len(result), 'finding')}")
        found = Found(
            settings=plain_values(told.record()),
            metrics=variation_metrics(result),
            details=details,
            result=result,
            arrays=lambda: matched_arrays(labels, result.pairs) | columns_of(result, FINDINGS, but=OTHERS),
            on_labels=label_values(result, RunNames(run_key)),
        )
        return store(VARIATIONS, labels, run_key, found, report)
