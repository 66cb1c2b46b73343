"""First stage: annotations that are missed, and annotations added where there is no object (KαLOS §9.3.3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import run_starts
from kalos_core.errors import InputError
from kalos_core.noise.draft import Draft
from kalos_core.noise.events import ADDITION, DELETION, DONE, IMPOSSIBLE, LOST
from kalos_core.noise.parameters import Unmatched

MOST_EVENTS, MOST_FOR_EACH = 1e6, 100
"""Expected on all images together, and for each annotation where that is more: beyond, nothing of the reference is
left, or the rate was fitted on images with far fewer annotations."""

LEAST_WEIGHT = 1e-300
"""Of a proposal: one of weight 0 would wait for ever, and so, in floats, would a smaller one than this."""


def miss_and_add(draft: Draft, params: Unmatched) -> None:
    """Draw a number of events for every image, and let each delete or add an annotation.

    An addition takes one of the free proposals of its image that are left, by the selection weight. A deletion draws
    one of all annotations of its image by that weight; if that is gone already, it is lost.

    The rate counts the unmatched annotations of one rater. Where changes of position keep an overlap, events make the
    unmatched annotations of both raters: as many are missed as added, each annotation with the same chance and at most
    once. Where the rate says what is added to an image without annotations, no deletion is tried there, and nothing is
    added where nobody has seen anything.
    """
    scene, rng = draft.scene, draft.rng
    matched, n = draft.overlap > 0, scene.annotation_count
    rate = np.where(scene.assigned, draft.magnitude * params.rate.expected(n), 0.0)
    if params.rate.empty is not None:
        rate = np.where((n == 0) & ~scene.seen, 0.0, rate)
    _check_rate(rate * (2 if matched else 1), draft)
    if params.rate.dispersion > 0:
        rate = rate * rng.gamma(1 / params.rate.dispersion, params.rate.dispersion, len(rate))
    share = params.deletion.probability
    if matched:
        alone = (n == 0) if params.rate.empty is not None else np.zeros(len(n), np.bool_)
        chance = np.divide(2 * share * rate, n, out=np.zeros_like(rate), where=n > 0)
        deletions = rng.binomial(n, np.minimum(chance, 1.0))
        additions = rng.poisson(np.where(alone, rate, 2 * (1 - share) * rate))
        _delete_each_once(draft, params, deletions)
    else:
        events = rng.poisson(rate)
        deletions = rng.binomial(events, share)
        additions = events - deletions
        _delete(draft, params, deletions)
    _add(draft, params, additions)


def _check_rate(rate: NDArray[np.float64], draft: Draft) -> None:
    scene = draft.scene
    most = max(MOST_EVENTS, MOST_FOR_EACH * len(scene))
    if not rate.sum() <= most:
        worst = int(np.argmax(rate))
        raise InputError(
            f"unmatched.rate: expected at most {most:.3g} events on all images, got {rate.sum():.3g} at magnitude "
            f"{draft.magnitude:g}, {rate[worst]:.3g} on one of {scene.annotation_count[worst]:,} annotations; "
            "choose a lower magnitude, or fit the model on images with as many annotations"
        )


def _delete(draft: Draft, params: Unmatched, count: NDArray[np.intp]) -> None:
    scene = draft.scene
    order, start = scene.by_image
    image = np.repeat(np.arange(len(count)), count)
    empty = scene.annotation_count[image] == 0
    draft.record(DELETION, image[empty], outcome=IMPOSSIBLE)
    image = image[~empty]
    weight = np.append(0.0, np.cumsum(params.selection.probability(scene.area)[order]))
    low, high = weight[start[image]], weight[start[image + 1]]
    index = np.searchsorted(weight, low + draft.rng.random(len(image)) * (high - low), side="right") - 1
    target = order[np.clip(index, start[image], start[image + 1] - 1)]  # a rounding error may lead to another image
    got = draft.consume(target)
    draft.record(
        DELETION,
        image,
        outcome=np.where(got, DONE, LOST),
        reference_a=target,
        category_from=scene.category[target],
    )


def _delete_each_once(draft: Draft, params: Unmatched, count: NDArray[np.intp]) -> None:
    """Delete so many annotations (I,) of each image, at most as many as it has."""
    scene = draft.scene
    chosen = _weighted(scene.image, params.selection.probability(scene.area), count, draft.rng)
    draft.free[chosen] = False
    draft.record(DELETION, scene.image[chosen], reference_a=chosen, category_from=scene.category[chosen])


def _weighted(
    image: NDArray[np.intp], weight: NDArray[np.float64], count: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.intp]:
    """Rows, ascending, of a weighted draw without replacement of so many (I,) of each image."""
    # the smallest of exponential waiting times, each with a weight as its rate
    waiting = rng.exponential(size=len(weight)) / np.maximum(weight, LEAST_WEIGHT)
    order = np.lexsort((waiting, image))
    there = np.bincount(image, minlength=len(count))
    rank = np.arange(len(order)) - run_starts(there)[image[order]]
    return np.sort(order[rank < count[image[order]]])


def _add(draft: Draft, params: Unmatched, count: NDArray[np.intp]) -> None:
    scene, rng = draft.scene, draft.rng
    pool_image = scene.proposals.image[scene.free]
    chosen = _weighted(pool_image, params.selection.probability(scene.proposed_area), count, rng)
    chosen = scene.free[chosen]
    image = scene.proposals.image[chosen]
    seen = _context(draft, image)
    category = scene.transitions.draw(seen, rng)
    category = np.where(category < 0, seen, category)  # the only class there is
    rows = draft.add_annotations(scene.proposals.corners[chosen], proposal=chosen, category=category)
    draft.record(ADDITION, image, row_a=rows, category_from=seen, category_to=category)
    pool = np.bincount(pool_image, minlength=len(count))
    missing = np.repeat(np.arange(len(count)), np.maximum(count - pool, 0))
    draft.record(ADDITION, missing, outcome=IMPOSSIBLE)


def _context(draft: Draft, image: NDArray[np.intp]) -> NDArray[np.intp]:
    """(M,) a class of each image, drawn from its distinct ones, on an empty image from all that occur."""
    categories, start = draft.scene.classes
    everywhere = np.unique(categories)
    count = np.diff(start)[image]
    share = draft.rng.random(len(image))
    own = categories[np.minimum(start[image] + (share * count).astype(np.intp), len(categories) - 1)]
    return np.where(count > 0, own, everywhere[(share * len(everywhere)).astype(np.intp)])
