"""What an analysis says at a glance: the sentences of its overview, a card for each rater, advice on its threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import kalos_core.calibration
import kalos_core.statements
from kalos_core.calibration import ThresholdAdvice
from kalos_core.errors import InputError
from kalos_core.fiftyone.dataset.filter import Filter
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
    """A card for each rater: agreement with the others, findings, confusions, merges and splits, and examples.

    All come from what the runs stored: no label is read. Sessions are those of all images.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Of an analysis, or of one of its runs.
    filter : Filter
        Its rater is not heeded: there is a card for each.

    Returns
    -------
    Scorecard
        Without an agreement or variations, what they would say is NaN or empty.

    Raises
    ------
    InputError
        If there is no such analysis, or for a class that its runs do not know.

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
    analysis = find_analysis(samples, key)
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
    of = variations and (variations.key, variations.made_at)  # one of the two may be made again
    return kept(samples, lead, ("scorecards", of, everybody.category), made)


def overview_of(samples: Any, key: str, filter: Filter = Filter()) -> list[Statement]:  # noqa: B008
    """The few sentences that matter about an analysis, each with the section that shows what lies behind it.

    The ceiling, the disputes and what was edited are of all images: see `CANNOT_FOLLOW`.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Of an analysis, or of one of its runs.
    filter : Filter

    Returns
    -------
    list of Statement

    Raises
    ------
    InputError
        If there is no such analysis, or for a class or rater that its runs do not know.

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
    analysis = find_analysis(samples, key)
    newest = analysis.run("agreement") or next(iter(analysis.runs.values()))
    disputes, changed = disputes_by_run(samples, analysis), count_changes(samples, newest.key)
    return sentences_of(samples, analysis, filter, disputes, changed)


def disputes_by_run(samples: Any, analysis: Analysis) -> dict[str, DisputeCount]:
    """Key of each run of an analysis with units in dispute -> how many decisions it needs."""
    return {run.key: count_disputes(samples, run.key) for run in analysis.runs.values() if is_decidable(run)}


def sentences_of(
    samples: Any, analysis: Analysis, filter: Filter, disputes: Mapping[str, DisputeCount], changed: int
) -> list[Statement]:
    """As `overview_of`, with the disputes and the edited samples as they were counted."""
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
    """Of a calibration that has the similarity in use; None where there is none."""
    run, used = analysis.run("calibration"), analysis.run("agreement") or analysis.run("variations")
    if run is None or used is None:
        return None
    found, similarity = load_details(samples, run.key).details, used.settings["similarity"]
    if similarity not in [entry.name for entry in found]:
        return None
    return kalos_core.calibration.threshold_advice(found, similarity, used.settings["threshold"])


def threshold_advice(samples: Any, key: str) -> ThresholdAdvice:
    """See `kalos_core.calibration.threshold_advice`: of the settings of the agreement, else of the variations.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Of an analysis with a calibration, or of one of its runs.

    Returns
    -------
    ThresholdAdvice
        Its `settings` are arguments of `analyse` for a new run.

    Raises
    ------
    InputError
        If there is no such analysis, no calibration in it, or one of other similarities only.
    """
    analysis = find_analysis(samples, key)
    used, calibration = analysis.run("agreement") or analysis.run("variations"), analysis.run("calibration")
    if used is None or calibration is None:
        missing = "calibration" if calibration is None else "agreement or variations"
        raise InputError(f"analysis: expected one with {missing}, got {key!r}, which has none")
    found = load_details(samples, calibration.key).details
    return kalos_core.calibration.threshold_advice(found, used.settings["similarity"], used.settings["threshold"])
