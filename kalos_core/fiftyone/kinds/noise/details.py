"""What a run of synthetic raters stores: the numbers of its summary, and those of each rater and distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, cast

import numpy as np

from kalos_core.annotations import object_array
from kalos_core.fiftyone.kinds.noise.injected import InjectedNoise
from kalos_core.fiftyone.runs.records import plain
from kalos_core.noise import Fidelity, GeneratedRaters, NoiseModel
from kalos_core.noise.events import DONE, EVENTS, LOST, OUTCOMES, SHIFT


class NoiseSettings(TypedDict):
    """What the labels were read for, the fields of the reference, and how many raters are from each reference."""

    similarity: str
    reference_fields: list[str]
    schools: list[int]


class LossRow(TypedDict):
    """What became of the events of a stage, or of the first three together; the share is None without any."""

    stage: str
    attempted: int
    done: int
    lost: int
    impossible: int
    share_lost: float | None


class NoiseMetrics(TypedDict):
    """The summary of synthetic raters.

    ``fields``, ``raters`` and ``magnitude`` are of each of them; ``reference_annotations`` are those of the
    ``references``, ``generated_from`` counts them once for each rater, ``annotations`` are those of the raters;
    ``events``: kind -> outcome -> number; ``signal_loss`` is the share lost over the first three stages; ``changed`` is
    the number of events other than shifts that were done, ``changed_images`` that of images with any.
    """

    fields: list[str]
    raters: list[str]
    magnitude: list[float]
    references: list[str]
    images: int
    reference_annotations: int
    generated_from: int
    annotations: int
    events: dict[str, dict[str, int]]
    loss: list[LossRow]
    signal_loss: float | None
    changed: int
    changed_images: int
    model: str
    class_source: str
    false_positive_source: str
    seed: int


class RaterRow(TypedDict):
    """How many labels a rater has, how many events of each kind were done, and how many of all were lost."""

    field: str
    rater: str
    reference: str
    magnitude: float
    labels: int
    deletion: int
    addition: int
    split: int
    merge: int
    wrong_class: int
    shift: int
    lost: int


class DistributionRow(TypedDict):
    """Where a distribution of the model is from."""

    distribution: str
    source: str
    rows: int
    reason: str


class FidelityDetails(TypedDict):
    """A `Fidelity` as plain values: Q quantities, D draws."""

    quantity: list[str]
    real: list[float | None]
    low: list[float | None]
    high: list[float | None]
    synthetic: list[float | None]
    inside: list[bool]
    by_draw: list[list[float | None]]
    pairs: int
    images: int


class NoiseDetails(TypedDict):
    """What lies behind the summary.

    ``model`` is the noise model as JSON; ``fidelity`` whether generated raters differ as those it was fitted to do,
    None of a model that was not fitted.
    """

    raters: list[RaterRow]
    distributions: list[DistributionRow]
    model: str
    fidelity: FidelityDetails | None


def noise_metrics(result: GeneratedRaters, noise: InjectedNoise, model: str) -> NoiseMetrics:
    """The summary of synthetic raters. `model`: what to call the noise model."""
    counts, loss, original = result.events.counts(), result.signal_loss(), result.original
    rows = loss.to_pandas().to_dict("records")
    return {
        "fields": noise.fields.tolist(),
        "raters": [str(name) for name in result.annotations.raters],
        "magnitude": result.magnitude.tolist(),
        "references": [str(name) for name in original.raters],
        "images": len(original.images),
        "reference_annotations": len(original),
        "generated_from": int(np.bincount(result.reference.rater)[result.reference_rater].sum()),
        "annotations": len(result.annotations),
        "events": counts,
        "loss": [cast(LossRow, {str(name): plain(value) for name, value in row.items()}) for row in rows],
        "signal_loss": plain(loss.ratio),
        "changed": sum(counts[name][OUTCOMES[DONE]] for name in EVENTS if name != EVENTS[SHIFT]),
        "changed_images": int((noise.changes > 0).sum()),
        "model": model,
        "class_source": result.class_source,
        "false_positive_source": result.false_positive_source,
        "seed": result.seed,
    }


def noise_details(
    result: GeneratedRaters, noise: InjectedNoise, model: NoiseModel, fidelity: Fidelity | None = None
) -> NoiseDetails:
    """What lies behind the summary of synthetic raters."""
    return {
        "raters": [_rater_row(result, noise.fields.tolist(), number) for number in range(len(noise.fields))],
        "distributions": [
            {"distribution": name, "source": origin.source, "rows": origin.rows, "reason": origin.reason}
            for name, origin in model.provenance.items()
        ],
        "model": model.to_json(),
        "fidelity": None if fidelity is None else _fidelity_details(fidelity),
    }


def _fidelity_details(found: Fidelity) -> FidelityDetails:
    more = {"synthetic": plain(found.synthetic), "inside": found.inside.tolist()}
    return cast(FidelityDetails, {**plain(found), **more})


def stored_fidelity(details: FidelityDetails) -> Fidelity:
    """As it was compared."""
    real, low, high, by_draw = (
        np.array(each, np.float64) for each in (details["real"], details["low"], details["high"], details["by_draw"])
    )
    quantity = object_array(details["quantity"])
    return Fidelity(quantity, real, low, high, by_draw, details["pairs"], details["images"])


def _rater_row(result: GeneratedRaters, fields: Sequence[str], number: int) -> RaterRow:
    events = result.events
    own = events.rater == number
    done = {kind: int((own & (events.event == kind) & (events.outcome == OUTCOMES[DONE])).sum()) for kind in EVENTS}
    return {
        "field": fields[number],
        "rater": str(result.annotations.raters[number]),
        "reference": str(result.reference.raters[result.reference_rater[number]]),
        "magnitude": float(result.magnitude[number]),
        "labels": int((result.annotations.rater == number).sum()),
        **done,  # type: ignore[typeddict-item]
        "lost": int((own & (events.outcome == OUTCOMES[LOST])).sum()),
    }
