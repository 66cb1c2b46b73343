"""Estimated truth as a kind of run."""

from __future__ import annotations

from typing import Any

from kalos_core.consensus import CountedTruth
from kalos_core.fiftyone.dataset.raters import MASKS
from kalos_core.fiftyone.kinds.masked import newer_files, read_masks_or_objects
from kalos_core.fiftyone.kinds.matched import matched_again
from kalos_core.fiftyone.kinds.truth.details import TruthDetails
from kalos_core.fiftyone.kinds.truth.objects import ObjectTruths, consensus_of, match_objects
from kalos_core.fiftyone.kinds.truth.settings import TruthRunSettings
from kalos_core.fiftyone.runs.table import Changes, Kind, Run, register

Result = dict[str, CountedTruth] | ObjectTruths
TruthRun = Run[dict[str, Any], dict[str, Any], TruthDetails, Result]
"""A run of estimated truth. In its metrics, ``fields`` maps an estimate to its field, and ``maps`` maps an estimate
with the content of its map to a field. ``raters`` is empty if raters have no names across images. ``images`` is the
number of images with an estimate of pixels, or with an assigned rater for objects."""


def _restore(changes: Changes) -> Result:
    """Return the stored estimates of pixels, or the estimates of the current objects."""
    if changes.run.settings["of"] == "pixels":
        stored: dict[str, CountedTruth] = changes.run.details.truths
        return stored
    annotations, pairs = matched_again(changes, changes.run.settings["similarity"])
    settings = TruthRunSettings(**changes.run.settings)
    return consensus_of(match_objects(annotations, settings, pairs), settings)


TRUTH: Kind[dict[str, Any], dict[str, Any], TruthDetails, Result] = register(
    Kind(
        name="truth",
        title="Estimated truth",
        operator="estimate_truth",
        section="Truth",
        family=MASKS,
        read=read_masks_or_objects,
        restore=_restore,
        details=TruthDetails,
        newer=newer_files,
        fixed_because=(
            "whose fields may be references or raters of other runs; the same settings give the same labels under "
            "another key"
        ),
    )
)
