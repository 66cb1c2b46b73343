"""Variations on FiftyOne: every difference named and tagged on the labels."""

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
"""Share of the work done when findings are counted at other thresholds."""


@dataclass(frozen=True)
class VariationRunArguments(VariationRunSettings, RunArguments):
    """What `find_variations` takes."""


@takes(VariationRunArguments)
def find_variations(samples: Any, run_key: str, settings: VariationRunArguments) -> VariationRun:
    """Name every difference between raters and tag it on the labels; see `kalos_core.variations`.

    Writes attributes of every label: ``<run_key>`` (its most serious variation type towards any other rater),
    ``<run_key>_similarity`` (the least similarity to a partner, None without one) and ``<run_key>_match`` (ids of the
    partners); and of all its findings, one towards each other rater, ``<run_key>_all`` (the types),
    ``<run_key>_raters`` (towards whom), ``<run_key>_classes`` (what class their annotation has, "" without one) and
    ``<run_key>_similarities``. Where they are empty, there are neither ``<run_key>_merged_by`` (who drew the whole that
    is several annotations of another) nor ``<run_key>_missed_by`` (the raters who have nothing there).

    Parameters
    ----------
    samples, run_key, progress
        As in `compute_agreement`.

    Returns
    -------
    Run
        Its `result` is a `Variations`; its `details` are described at `variation_details`.

    Raises
    ------
    InputError
        For input that cannot be used; nothing is written then.

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
