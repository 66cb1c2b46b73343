"""Findings of a stored run as a lens leaves them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import kalos_core.variation
from kalos_core.annotations.joining import from_arrays, narrow
from kalos_core.arrays import run_starts
from kalos_core.fiftyone.dataset.lens import Lens
from kalos_core.fiftyone.kinds.matched import TABLE
from kalos_core.fiftyone.runs.changes import part_of
from kalos_core.fiftyone.runs.kept import kept
from kalos_core.fiftyone.runs.stored import load_arrays, load_metrics
from kalos_core.fiftyone.runs.table import Arrays
from kalos_core.pairs import Pairs
from kalos_core.variation import TOUCHING, NarrowedVariations, Variations

FINDINGS = "findings/"
"""What the names of the arrays of findings begin with."""


def narrowed_variations(samples: Any, run_key: str, lens: Lens = Lens()) -> NarrowedVariations:  # noqa: B008
    """The findings of a run as a lens leaves them; see `kalos_core.variation.narrowed_variations`.

    All come from what the run stored: no label is read and nothing is searched again.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        Of a search for variations.
    lens : Lens
        Its class and its rater are names of the run.

    Returns
    -------
    NarrowedVariations

    Raises
    ------
    InputError
        For a class or rater the run does not know.
    """
    run = load_metrics(samples, run_key, "variations")
    found = kept(samples, run, "findings", lambda: stored_variations(load_arrays(samples, run.key), run.settings))
    if lens.limits_images:
        images = lens.images_in(samples, found.annotations.images)
        return kalos_core.variation.narrowed_variations(found, lens.category, lens.rater, images)
    part = lens.category, lens.rater
    return kept(samples, run, part, lambda: kalos_core.variation.narrowed_variations(found, *part))


def finding_arrays(found: Variations) -> dict[str, NDArray[Any]]:
    """Findings as arrays that can be stored, which `stored_variations` reads beside the table of annotations."""
    columns = {name: narrow(getattr(found, name)) for name in ("image", "rater_a", "rater_b", "side_row")}
    columns |= {"type_code": found.type_code, "similarity": found.similarity}
    columns["side_size"] = narrow(np.diff(found.side_start))
    return {FINDINGS + name: array for name, array in columns.items()}


def stored_variations(arrays: Arrays, settings: Any) -> Variations:
    """The variations of a run as they were found, without shapes and pairs."""
    columns = part_of(arrays, FINDINGS)
    codes = {name: columns[name].astype(np.intp) for name in ("image", "rater_a", "rater_b", "side_row")}
    nothing = np.zeros(0, np.intp)
    return Variations(
        annotations=from_arrays(part_of(arrays, TABLE, without=".")),
        pairs=Pairs(nothing, nothing, np.zeros(0), settings["similarity"], TOUCHING),
        similarity_name=settings["similarity"],
        threshold=settings["threshold"],
        max_merge=settings["max_merge"],
        type_code=columns["type_code"],
        similarity=columns["similarity"],
        side_start=run_starts(columns["side_size"].astype(np.intp)),
        **codes,
    )
