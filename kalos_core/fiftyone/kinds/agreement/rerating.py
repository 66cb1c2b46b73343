"""Ranking of the images of a run for one more rater, from stored results, and its order on the samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from bson import ObjectId

from kalos_core.diagnostics import NextToRate
from kalos_core.diagnostics import next_to_rate as find_next
from kalos_core.diagnostics.rerating import NextSettings
from kalos_core.errors import InputError, check_text
from kalos_core.fiftyone.dataset.database import (
    collection,
    journaled,
    reload_samples,
    with_tag,
)
from kalos_core.fiftyone.kinds.agreement.stored import stored_agreement
from kalos_core.fiftyone.runs.explaining import explained
from kalos_core.fiftyone.runs.stored import load_metrics
from kalos_core.fiftyone.runs.upkeep import writing_beside
from kalos_core.options import Option, takes

REPLICATES = 1000
"""Number of bootstrap replicates if the run has no intervals."""


def _check_tag(tag: str | None, name: str) -> str | None:
    if tag is not None and not check_text(tag, name).strip():
        raise InputError(f"{name}: expected a text, got {tag!r}")
    return tag


@dataclass(frozen=True)
class NextRunSettings(NextSettings):
    """Settings of `next_to_rate`: which images to find, whether to write their order, and how to tag them."""

    write: Annotated[
        bool, Option("Write their order on the samples", "A field of the run, by which the grid can be sorted.")
    ] = False
    tag: Annotated[
        str | None,
        Option(
            "Tag these samples, too",
            "The tag helps to find or assign them; it stays when the run is deleted.",
            check=_check_tag,
        ),
    ] = None


@takes(NextRunSettings)
def next_to_rate(samples: Any, key: str, settings: NextRunSettings) -> NextToRate:
    """Rank the images of a run for one more rater, so that the interval on alpha narrows most for each label.

    With `write`, their order, from 1, is written to the sample field ``<key>_next`` and replaces that of an earlier
    call. The field is deleted with the run, and `view_of_next` shows the images in this order. No label is read, and
    no run becomes stale.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Key of an agreement run.

    Returns
    -------
    NextToRate
        The result for the labels at the time of the run; samples deleted since leave a gap in the order.

    Raises
    ------
    InputError
        If the run or the statistic is unknown, or if another process is renaming or deleting the run.

    Examples
    --------
    Raters agree on a cat and a dog, but not on the third image, where a third rater helps most:

    >>> import fiftyone as fo
    >>> dataset = fo.Dataset()
    >>> def image(*given):
    ...     both = [fo.Detections(detections=[fo.Detection(label=name, bounding_box=[0, 0, 1, 1])]) for name in given]
    ...     size = fo.ImageMetadata(width=9, height=9)
    ...     return fo.Sample("".join(given) + ".jpg", metadata=size, raters=["ann", "bob"], ann=both[0], bob=both[1])
    >>> pairs = [("cat", "cat"), ("dog", "dog"), ("cat", "dog")]
    >>> _ = dataset.add_samples([image(*pair) for pair in pairs], progress=False)
    >>> from kalos_core.fiftyone import compute_agreement
    >>> _ = compute_agreement(dataset, "first", raters=("ann", "bob"))
    >>> found = next_to_rate(dataset, "first", write=True)
    >>> dataset.values("first_next"), view_of_next(dataset, "first").values("first_next")
    ([2, 3, 1], [1, 2, 3])
    >>> dataset.delete()
    """
    run = load_metrics(samples, key, "agreement")
    matched = stored_agreement(samples, run.key, run.settings["bootstrap"] or REPLICATES)
    found = find_next(matched, settings.n, settings.statistic)
    if not settings.write and settings.tag is None:
        return found
    order = [ObjectId(image) for image in found.image]
    with explained(samples, "the order is not written"), writing_beside(samples, run.key):
        _write(samples, run.names.next, order, settings.tag)
    return found


def _write(samples: Any, field: str, order: list[ObjectId], tag: str | None) -> None:
    """Write the rank of each sample, None for samples outside the order, and tag the ranked ones, in one request."""
    at = {"$indexOfArray": [order, "$_id"]}
    changed: dict[str, Any] = {field: {"$cond": [{"$in": ["$_id", order]}, {"$add": [at, 1]}, None]}}
    if tag is not None:
        changed["tags"] = {"$cond": [{"$in": ["$_id", order]}, with_tag(tag, "$tags"), "$tags"]}
    journaled(collection(samples)).update_many({field: {"$exists": True}}, [{"$set": changed}])
    reload_samples(samples)


def view_of_next(samples: Any, run_key: str) -> Any:
    """Return the samples of a run for one more rater, in the order in which they narrow the interval on alpha most.

    Raises
    ------
    InputError
        If `next_to_rate` was not called for this run.
    """
    run = load_metrics(samples, run_key, "agreement")
    if collection(samples).find_one({run.names.next: {"$ne": None}}, {"_id": True}) is None:
        raise InputError(f"run key: expected a run with images selected by next_to_rate, got {run.key!r}")
    return run.view.exists(run.names.next).sort_by(run.names.next)
