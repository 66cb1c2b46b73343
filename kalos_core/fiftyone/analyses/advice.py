"""What the calibration of an analysis means for the similarity and the threshold that it uses."""

from __future__ import annotations

from typing import Any

import kalos_core.calibration
from kalos_core.calibration import ThresholdAdvice
from kalos_core.errors import InputError
from kalos_core.fiftyone.runs.stored import find_analysis, load_details


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
