"""Metrics and details that a run of synthetic raters stores."""

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
"""Maximum number of times that all raters are generated for the comparison with real ones, and of annotations."""

RATERS_OF_LOSS = 5
"""Raters generated at each magnitude of the paper's table, as in the paper; fewer for many annotations."""

MOST_PERMUTATIONS, IMAGES_DRAWN = 999, 5_000_000
"""Maximum number of permutations of the goodness-of-fit tests, and of images over all permutations."""


@dataclass(frozen=True, eq=False)
class NoiseDetails:
    """Details of a run of synthetic raters.

    Parameters
    ----------
    raters : RaterEvents
    loss : SignalLoss
        Signal loss of the generated raters.
    loss_by_magnitude : SignalLossTable
        Signal loss of additional raters by the same model, at the magnitudes of the paper's table.
    model : str
        The noise model as JSON, which `NoiseModel.from_json` reads.
    fidelity, rate_tests : Fidelity and FitTests
        Whether generated raters differ as the real ones do, and how well the number of unmatched annotations fits.
    """

    raters: RaterEvents
    loss: SignalLoss
    loss_by_magnitude: SignalLossTable
    model: str
    fidelity: Fidelity | Undefined
    rate_tests: FitTests | Undefined


def noise_metrics(result: GeneratedRaters, noise: InjectedNoise, model: str) -> dict[str, Any]:
    """Return the summary of synthetic raters.

    ``fields`` and ``raters`` have an entry for each rater. ``reference_annotations`` counts the annotations of the
    ``references``, ``generated_from`` counts them once for each rater, and ``annotations`` counts those of the raters.
    ``events`` maps kind -> outcome -> number. ``signal_loss`` is the share lost over the first three stages.
    ``changed`` is the number of completed events other than shifts, and ``changed_images`` the number of images with
    such events. ``model`` is a title.
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
    """Return the details of synthetic raters; `real` holds the labels that were read."""
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
    """Compare generated raters with the real ones, if the model was fitted to them."""
    if model.observations is None:
        among = f"only {listed(real.raters)} here" if len(real.raters) < 2 else "this one is not"
        why = Undefined(
            "Generated raters are compared with the real ones only if the noise model is fitted to two or more raters "
            f"of this data set: {among}"
        )
        return why, why
    permutations = int(np.clip(IMAGES_DRAWN // max(len(real.images), 1), 99, MOST_PERMUTATIONS))
    return model.fidelity(real, draws, seed), model.rate_tests(permutations, seed)
