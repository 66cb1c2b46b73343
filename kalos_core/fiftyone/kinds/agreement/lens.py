"""Metrics of a part of a stored run: one class, one rater, or one rater's view of one class."""

from __future__ import annotations

from typing import Any

from kalos_core._agreement import Configuration
from kalos_core.diagnostics.narrowing import NarrowedAgreement, narrowed_part
from kalos_core.diagnostics.parts import Part
from kalos_core.fiftyone.kinds.agreement.stored import stored_units
from kalos_core.fiftyone.runs.stored import load_arrays, load_details
from kalos_core.reliability import build_units


def filtered_metrics(
    samples: Any, run_key: str, category: str | None = None, rater: str | None = None
) -> NarrowedAgreement:
    """The metrics of a run, of all of it or of one class, one rater, or both; see `kalos_core.diagnostics.narrowing`.

    All come from the units the run stored: no label is read and nothing is matched again.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        Of an agreement.
    category, rater : str, optional
        Names of the run.

    Returns
    -------
    NarrowedAgreement
        Images in the order in which the run read them.

    Raises
    ------
    InputError
        For a class or rater the run does not know.
    """
    arrays = load_arrays(samples, run_key, "agreement")
    run = load_details(samples, run_key)
    annotations, unit_of = stored_units(arrays)
    part = Part(annotations, build_units(annotations, unit_of))
    classes, pairs = run.details.class_difficulty, run.details.collaboration
    return narrowed_part(part, Configuration(**run.settings), classes, pairs, category, rater)
