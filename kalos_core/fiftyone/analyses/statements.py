"""The sentences of the overview of an analysis."""

from __future__ import annotations

from typing import Any

import kalos_core.statements
from kalos_core.fiftyone.dataset.lens import Lens
from kalos_core.fiftyone.deciding.queue import count_disputes
from kalos_core.fiftyone.kinds.agreement.lens import narrowed_metrics
from kalos_core.fiftyone.kinds.variations.lens import narrowed_variations
from kalos_core.fiftyone.runs.stored import count_changes, find_analysis
from kalos_core.statements import Statement


def overview_of(samples: Any, key: str, lens: Lens = Lens()) -> list[Statement]:  # noqa: B008
    """The few sentences that matter about an analysis, each with the section that shows what lies behind it.

    The ceiling, the disputes and what was edited are of all images: see `CANNOT_FOLLOW`.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Of an analysis, or of one of its runs.
    lens : Lens

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
    agreement, variations, ceiling = map(analysis.run, ("agreement", "variations", "convergence"))
    part = narrowed_metrics(samples, agreement.key, lens) if agreement else None
    found = narrowed_variations(samples, variations.key, lens) if variations else None
    counted = count_disputes(samples, agreement.key) if agreement else None
    newest = agreement or next(iter(analysis.runs.values()))
    return kalos_core.statements.statements(
        part,
        found,
        ceiling.metrics["whole"] if ceiling else None,
        (counted.all, counted.decided) if counted else None,
        count_changes(samples, newest.key),
    )
