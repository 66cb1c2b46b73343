"""A scorecard for each rater of an analysis."""

from __future__ import annotations

from typing import Any

from kalos_core.fiftyone.dataset.lens import Lens
from kalos_core.fiftyone.kinds.agreement.lens import narrowed_metrics
from kalos_core.fiftyone.kinds.variations.lens import narrowed_variations
from kalos_core.fiftyone.runs.kept import kept
from kalos_core.fiftyone.runs.stored import find_analysis, load_details
from kalos_core.variation import Scorecard, rater_scorecards


def rater_scorecard(samples: Any, key: str, lens: Lens = Lens()) -> Scorecard:  # noqa: B008
    """A card for each rater: agreement with the others, findings, confusions, merges and splits, and examples.

    All come from what the runs stored: no label is read. Sessions are those of all images.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Of an analysis, or of one of its runs.
    lens : Lens
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
    everybody = Lens(lens.category, None, lens.tag, lens.samples)

    def made() -> Scorecard:
        sessions = load_details(samples, agreement.key).details.intra_rater if agreement else None
        part = narrowed_metrics(samples, agreement.key, everybody) if agreement else None
        found = narrowed_variations(samples, variations.key, everybody) if variations else None
        return rater_scorecards(part, found, sessions)

    if lead is None or everybody.limits_images:
        return made()
    of = variations and (variations.key, variations.made_at)  # one of the two may be made again
    return kept(samples, lead, ("scorecards", of, everybody.category), made)
