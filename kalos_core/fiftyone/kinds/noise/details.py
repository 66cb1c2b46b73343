"""What a run of synthetic raters stores: the numbers of its summary, and those that lie behind it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kalos_core.annotations import Annotations
from kalos_core.errors import listed
from kalos_core.fiftyone.runs.records import Undefined
from kalos_core.noise import (
    Fidelity,
    FitTests,
    GeneratedRaters,
    InjectedNoise,
    NoiseModel,
    RaterEvents,
    SignalLoss,
)
from kalos_core.noise.experiments import SignalLossTable, signal_loss_table
from kalos_core.results import plain_values

MOST_DRAWS, ANNOTATIONS_DRAWN = 10, 100_000
"""How often all raters are generated to compare them with the real ones: less often where annotations are many."""

RATERS_OF_LOSS = 5
"""Raters that are generated at each magnitude of the paper's table, as there; fewer where annotations are many."""

MOST_PERMUTATIONS, IMAGES_DRAWN = 999, 5_000_000
"""Draws of the tests of fit, and images in all of them together."""


@dataclass(frozen=True, eq=False)
class NoiseDetails:
    """What lies behind the summary.

    Parameters
    ----------
    raters : RaterEvents
    loss : SignalLoss
        Of the raters that were made.
    loss_by_magnitude : SignalLossTable
        Of others by the same model at the magnitudes of the paper's table.
    model : str
        The noise model as JSON, which `NoiseModel.from_json` reads.
    fidelity, rate_tests : Fidelity and FitTests
        Whether generated raters differ as those it was fitted to do, and how well the number of unmatched ones fits.
    """

    raters: RaterEvents
    loss: SignalLoss
    loss_by_magnitude: SignalLossTable
    model: str
    fidelity: Fidelity | Undefined
    rate_tests: FitTests | Undefined


def noise_metrics(result: GeneratedRaters, noise: InjectedNoise, model: str) -> dict[str, Any]:
    """The summary of synthetic raters.

    ``fields`` and ``raters`` are of each of them; ``reference_annotations`` are those of the ``references``,
    ``generated_from`` counts them once for each rater, ``annotations`` are those of the raters; ``events``: kind ->
    outcome -> number; ``signal_loss`` is the share lost over the first three stages; ``changed`` is the number of
    events other than shifts that were done, ``changed_images`` that of images with any; ``model``: what to call it.
    """
    raters, original = result.by_rater(), result.original
    return {
        "fields": noise.fields.tolist(),
        "raters": raters.rater.tolist(),
        "references": raters.original.tolist(),
        "images": len(original.images),
        "reference_annotations": len(original),
        "generated_from": int(raters.given.sum()),
        "annotations": len(result.annotations),
        "events": raters.by_kind(),
        "signal_loss": plain_values(result.signal_loss().ratio),
        "changed": raters.changed,
        "changed_images": int((noise.changes > 0).sum()),
        "model": model,
        "class_source": result.class_source,
        "false_positive_source": result.false_positive_source,
        "seed": result.seed,
    }


def noise_details(result: GeneratedRaters, model: NoiseModel, real: Annotations, seed: int) -> NoiseDetails:
    """What lies behind the summary of synthetic raters. `real`: the labels that were read."""
    draws = int(np.clip(ANNOTATIONS_DRAWN // max(len(real), 1), 1, MOST_DRAWS))
    boxes = replace(result.original, shapes={"box": result.original.shapes["box"]})
    reference = str(boxes.raters[0])
    return NoiseDetails(
        result.by_rater(),
        result.signal_loss(),
        signal_loss_table(model, boxes, reference, raters=min(draws, RATERS_OF_LOSS), seed=seed),
        model.to_json(),
        *_compared(model, real, draws, seed),
    )


def _compared(
    model: NoiseModel, real: Annotations, draws: int, seed: int
) -> tuple[Fidelity | Undefined, FitTests | Undefined]:
    """Generated raters beside the real ones, of a model that was fitted to them."""
    if model.observations is None:
        among = f"only {listed(real.raters)} here" if len(real.raters) < 2 else "this one is not"
        why = Undefined(
            "Whether generated raters differ as the real ones do is compared where the noise model is fitted on the "
            f"raters of this data set, two or more: {among}"
        )
        return why, why
    permutations = int(np.clip(IMAGES_DRAWN // max(len(real.images), 1), 99, MOST_PERMUTATIONS))
    return model.fidelity(real, draws, seed), model.rate_tests(permutations, seed)
