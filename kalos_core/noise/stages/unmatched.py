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

    A deletion draws one of all annotations of its image by the selection weight; if that is gone already, it is lost.
    An addition takes one of the free proposals of its image that are left, by the same weight.
    """
    scene, rng = draft.scene, draft.rng
    rate = np.where(scene.assigned, draft.magnitude * params.rate.expected(scene.annotation_count), 0.0)
    most = max(MOST_EVENTS, MOST_FOR_EACH * len(scene))
    if not rate.sum() <= most:
        worst = int(np.argmax(rate))
        raise InputError(
            f"unmatched.rate: expected at most {most:.3g} events on all images, got {rate.sum():.3g} at magnitude "
            f"{draft.magnitude:g}, {rate[worst]:.3g} on one of {scene.annotation_count[worst]:,} annotations; "
            "choose a lower magnitude, or fit the model on images with as many annotations"
        )
    events = rng.poisson(rate)
    deletions = rng.binomial(events, params.deletion.probability)
    _delete(draft, params, deletions)
    _add(draft, params, events - deletions)


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


def _add(draft: Draft, params: Unmatched, count: NDArray[np.intp]) -> None:
    scene, rng = draft.scene, draft.rng
    # the smallest of exponential waiting times, each with a weight as its rate: a weighted draw without replacement
    weight = np.maximum(params.selection.probability(scene.proposed_area), LEAST_WEIGHT)
    waiting = rng.exponential(size=len(weight)) / weight
    pool_image = scene.proposals.image[scene.free]
    order = np.lexsort((waiting, pool_image))
    pool = np.bincount(pool_image, minlength=len(count))
    rank = np.arange(len(order)) - run_starts(pool)[pool_image[order]]
    chosen = np.sort(scene.free[order[rank < count[pool_image[order]]]])
    image = scene.proposals.image[chosen]
    seen = _context(draft, image)
    category = scene.transitions.draw(seen, rng)
    category = np.where(category < 0, seen, category)  # the only class there is
    rows = draft.add_annotations(scene.proposals.corners[chosen], proposal=chosen, category=category)
    draft.record(ADDITION, image, row_a=rows, category_from=seen, category_to=category)
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
