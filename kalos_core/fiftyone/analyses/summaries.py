"""Summaries of an analysis: overview sentences, rater scorecards, and threshold advice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import kalos_core.calibration
import kalos_core.statements
from kalos_core.calibration import ThresholdAdvice
from kalos_core.errors import InputError
from kalos_core.fiftyone.dataset.filter import Filter, check_filter
from kalos_core.fiftyone.deciding.kinds import is_decidable
from kalos_core.fiftyone.deciding.queue import DisputeCount, count_disputes
from kalos_core.fiftyone.kinds.agreement.stored import narrowed_metrics
from kalos_core.fiftyone.kinds.pixels.kind import pixel_classes
from kalos_core.fiftyone.kinds.variations.kind import narrowed_variations
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.fiftyone.runs.kept import kept
from kalos_core.fiftyone.runs.stored import count_changes, find_analysis, load_details
from kalos_core.statements import Statement, statements_on_labels, statements_on_pixels
from kalos_core.variation import Scorecard, rater_scorecards


def rater_scorecard(samples: Any, key: str, filter: Filter = Filter()) -> Scorecard:  # noqa: B008
    """Return a card for each rater: agreement with the others, findings, confusions, merges and splits, and examples.

    Everything is read from the stored runs; no label is read. Sessions always cover all images.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Key of an analysis, or of one of its runs.
    filter : Filter
        Its rater is ignored: there is a card for each rater.

    Returns
    -------
    Scorecard
        Entries that need an agreement or variations run are NaN or empty if there is none.

    Raises
    ------
    InputError
        If there is no such analysis, or its runs do not have the class.

    Examples
    --------
    >>> import fiftyone as fo
    >>> from kalos_core.fiftyone import analyse
    >>> dataset = fo.Dataset()
    >>> def boxes(*left):
    ...     found = [fo.Detection(label="cat", bounding_box=[x, 0.1, 0.2, 0.3]) for x in left]
    ...     return fo.Detections(detections=found)
    >>> sample = fo.Sample("a.jpg", raters=["ann", "bob"], ann=boxes(0.1), bob=boxes(0.1, 0.6))
    >>> _ = dataset.add_sample(sample)
    >>> _ = analyse(dataset, "first", kinds=["agreement", "variations"], raters=("ann", "bob"))
    >>> [(card.rater, card.labels, card.rates["additional"]) for card in rater_scorecard(dataset, "first")]
    [('ann', 1, 0.0), ('bob', 2, 50.0)]
    >>> dataset.delete()
    """
    analysis, filter = find_analysis(samples, key), check_filter(filter)
    agreement, variations = analysis.run("agreement"), analysis.run("variations")
    lead = agreement or variations
    everybody = Filter(filter.category, None, filter.tag, filter.samples)

    def made() -> Scorecard:
        sessions = load_details(samples, agreement.key).details.intra_rater if agreement else None
        part = narrowed_metrics(samples, agreement.key, everybody) if agreement else None
        found = narrowed_variations(samples, variations.key, everybody) if variations else None
        return rater_scorecards(part, found, sessions)

    if lead is None or everybody.limits_images:
        return made()
    of = variations and (variations.key, variations.made_at)  # either run may be replaced
    return kept(samples, lead, ("scorecards", of, everybody.category), made)


def overview_of(samples: Any, key: str, filter: Filter = Filter()) -> list[Statement]:  # noqa: B008
    """Return the main findings of an analysis as a few sentences, each linked to the section with its evidence.

    The ceiling, the disputes and the edits always refer to all images, see `CANNOT_FOLLOW`.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Key of an analysis, or of one of its runs.
    filter : Filter

    Returns
    -------
    list of Statement

    Raises
    ------
    InputError
        If there is no such analysis, or its runs do not have the class or rater.

    Examples
    --------
    >>> import fiftyone as fo
    >>> from kalos_core.fiftyone import analyse
    >>> dataset = fo.Dataset()
    >>> def boxes(*left):
    ...     found = [fo.Detection(label="cat", bounding_box=[x, 0.1, 0.2, 0.3]) for x in left]
    ...     return fo.Detections(detections=found)
    >>> sample = fo.Sample("a.jpg", raters=["ann", "bob"], ann=boxes(0.1), bob=boxes(0.1, 0.6))
    >>> _ = dataset.add_sample(sample)
    >>> _ = analyse(dataset, "first", kinds=["agreement", "variations"], raters=("ann", "bob"))
    >>> [said.leads_to for said in overview_of(dataset, "first")]
    ['Images', 'Variations', 'Decide', 'Runs']
    >>> dataset.delete()
    """
    analysis, filter = find_analysis(samples, key), check_filter(filter)
    newest = analysis.run("agreement") or next(iter(analysis.runs.values()))
    disputes, changed = disputes_by_run(samples, analysis), count_changes(samples, newest.key)
    return sentences_of(samples, analysis, filter, disputes, changed)


def disputes_by_run(samples: Any, analysis: Analysis) -> dict[str, DisputeCount]:
    """Return the number of decisions needed by each run of an analysis with units in dispute, by run key."""
    return {run.key: count_disputes(samples, run.key) for run in analysis.runs.values() if is_decidable(run)}


def sentences_of(
    samples: Any, analysis: Analysis, filter: Filter, disputes: Mapping[str, DisputeCount], changed: int
) -> list[Statement]:
    """Return the sentences of `overview_of`, for given counts of disputes and edited samples."""
    agreement, variations, ceiling = map(analysis.run, ("agreement", "variations", "convergence"))
    counts = disputes.values()
    return [
        *_of_labels(samples, analysis),
        *_of_masks(samples, analysis),
        *kalos_core.statements.statements(
            narrowed_metrics(samples, agreement.key, filter) if agreement else None,
            narrowed_variations(samples, variations.key, filter) if variations else None,
            ceiling.metrics["whole"] if ceiling else None,
            (sum(of.all for of in counts), sum(of.decided for of in counts)) if counts else None,
            changed,
            ceiling.metrics["how"] if ceiling else "",
            advice_of(samples, analysis),
        ),
    ]


def _of_labels(samples: Any, analysis: Analysis) -> list[Statement]:
    run = analysis.run("image_labels")
    if run is None:
        return []
    details, metrics = load_details(samples, run.key).details, run.metrics
    return statements_on_labels(
        details.agreement, details.accuracy, details.directions, metrics["disputed"], metrics["images"]
    )


def _of_masks(samples: Any, analysis: Analysis) -> list[Statement]:
    run = analysis.run("pixels")
    return [] if run is None else statements_on_pixels(pixel_classes(load_details(samples, run.key).details))


def advice_of(samples: Any, analysis: Analysis) -> ThresholdAdvice | None:
    """Return the threshold advice of a calibration with the similarity in use; None if there is none."""
    run, used = analysis.run("calibration"), analysis.run("agreement") or analysis.run("variations")
    if run is None or used is None:
        return None
    found, similarity = load_details(samples, run.key).details, used.settings["similarity"]
    if similarity not in [entry.name for entry in found]:
        return None
    return kalos_core.calibration.threshold_advice(found, similarity, used.settings["threshold"])


def threshold_advice(samples: Any, key: str) -> ThresholdAdvice:
    """Return threshold advice for the settings of the agreement run, or of the variations run if there is none.

    See `kalos_core.calibration.threshold_advice`.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Key of an analysis with a calibration, or of one of its runs.

    Returns
    -------
    ThresholdAdvice
        Its `settings` are arguments of `analyse` for a new run.

    Raises
    ------
    InputError
        If there is no such analysis, it has no calibration, or its calibration has only other similarities.
    """
    analysis = find_analysis(samples, key)
    used, calibration = analysis.run("agreement") or analysis.run("variations"), analysis.run("calibration")
    if used is None or calibration is None:
        missing = "calibration" if calibration is None else "agreement or variations"
        raise InputError(f"analysis: expected one with {missing}, got {key!r}, which has none")
    found = load_details(samples, calibration.key).details
    return kalos_core.calibration.threshold_advice(found, used.settings["similarity"], used.settings["threshold"])
