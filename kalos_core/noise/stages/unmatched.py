"""First stage: annotations are missed, and added where there is no object (KαLOS §9.3.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import run_starts
from kalos_core.errors import InputError
from kalos_core.noise.draft import Draft
from kalos_core.noise.events import ADDITION, DELETION, DONE, IMPOSSIBLE, LOST
from kalos_core.noise.parameters import Unmatched, share_law
from kalos_core.noise.scene import Scene

MOST_EVENTS, MOST_FOR_EACH = 1e6, 100
"""Maximum expected events on all images together, or for each annotation if that is more. Beyond it nothing of the
reference is left, or the rate was fitted on images with far fewer annotations."""

TRIES = 20
"""Maximum draws of a class that the image does not have; classes confused with one of the image are often there."""

LEAST_WEIGHT = 1e-300
"""Minimum weight of a proposal, so that its waiting time is finite."""


@dataclass(frozen=True, eq=False)
class _Groups:
    """Groups in which events are counted: the annotations of a class in an image or, as in the paper, of an image.

    Parameters
    ----------
    of_row : (N,) int
        Group of each annotation.
    image, category, count : (G,) int
        Data of each group; class -1 for all classes of an image, and for an image without annotations.
    """

    of_row: NDArray[np.intp]
    image: NDArray[np.intp]
    category: NDArray[np.intp]
    count: NDArray[np.intp]

    @classmethod
    def of(cls, scene: Scene, by_class: bool) -> _Groups:
        images = len(scene.annotation_count)
        if not by_class:
            return cls(scene.image, np.arange(images), np.full(images, -1), scene.annotation_count)
        classes = len(scene.transitions.categories)
        key, of_row, count = np.unique(scene.image * classes + scene.category, return_inverse=True, return_counts=True)
        empty = np.flatnonzero(scene.annotation_count == 0)
        return cls(
            of_row.reshape(-1),
            np.concatenate([key // max(classes, 1), empty]),
            np.concatenate([key % max(classes, 1), np.full(len(empty), -1)]),
            np.concatenate([count, np.zeros(len(empty), np.intp)]),
        )


def miss_and_add(draft: Draft, params: Unmatched) -> None:
    """Draw numbers of events, for each class of an image or each image; each event deletes or adds an annotation.

    An addition takes one of the remaining free proposals of its image, by the selection weight. A deletion draws one of
    all annotations of its group by that weight; if the annotation was deleted before, the event is lost.

    The rate counts the unmatched annotations of one rater. If changes of position keep an overlap, events make the
    unmatched annotations of both raters: as many are missed as added, each annotation with the same probability and at
    most once. If the rate covers images without annotations, no deletion is tried there, and nothing is added to images
    that no rater has annotated.
    """
    scene, rng, rate_of = draft.scene, draft.rng, params.rate
    groups = _Groups.of(scene, params.own_class.share is not None)
    matched, n, image = draft.overlap > 0, groups.count, groups.image
    rate = np.where(scene.assigned[image], draft.magnitude * rate_of.expected(n), 0.0)
    if rate_of.empty is not None:
        rate = np.where((n == 0) & ~scene.seen[image], 0.0, rate)
    _check_rate(rate * (2 if matched else 1), draft)
    hard = _hardness(draft, params, groups, rate)
    if matched:
        deletions, additions = _missed_and_added(draft, params, groups, rate, hard)
        _delete_each_once(draft, params, groups, deletions)
    else:
        events = rng.poisson(rate * hard)
        deletions = rng.binomial(events, params.deletion.probability)
        additions = events - deletions
        _delete(draft, params, groups, deletions)
    _add(draft, params, groups, additions)


def _hardness(draft: Draft, params: Unmatched, groups: _Groups, rate: NDArray[np.float64]) -> NDArray[np.float64]:
    """Draw factors (G,) of mean 1: for the image, and for the class in it, so that no more than all can be missed."""
    rng, rate_of = draft.rng, params.rate
    factor = np.ones(len(rate))
    if rate_of.dispersion > 0:
        factor = rng.gamma(1 / rate_of.dispersion, rate_of.dispersion, len(draft.scene.assigned))[groups.image]
    share = np.divide(rate, groups.count, out=np.zeros_like(rate), where=groups.count > 0)
    drawn = np.flatnonzero((share > 0) & (share < 1) & (rate_of.class_dispersion > 0))
    factor[drawn] *= rng.beta(*share_law(share[drawn], rate_of.class_dispersion)) / share[drawn]
    return factor


def _missed_and_added(
    draft: Draft, params: Unmatched, groups: _Groups, rate: NDArray[np.float64], hard: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Draw the numbers (G,) of missed and added annotations per group; on average equal if half are deletions."""
    rng, n, share, own = draft.rng, groups.count, params.deletion.probability, params.own_class
    chance = np.minimum(np.divide(2 * share * rate * hard, n, out=np.zeros_like(rate), where=n > 0), 1.0)
    deletions = rng.binomial(n, chance)
    added = 2 * (1 - share) * rate * hard
    if own.share:
        of_class = np.where(draft.scene.assigned[groups.image], draft.magnitude * params.added.expected(n), 0.0)
        added = 2 * (1 - share) * of_class * hard / own.share
        added = np.maximum(added - own.stays * chance**n, 0.0)  # classes that stay are part of the additions
    alone = (n == 0) & (params.rate.empty is not None)
    additions = rng.poisson(np.where(alone, rate * hard, added))
    lost = np.flatnonzero((n > 0) & (deletions == n) & (additions == 0))
    additions[lost] = rng.random(len(lost)) < own.stays
    return deletions, additions


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


def _delete(draft: Draft, params: Unmatched, groups: _Groups, count: NDArray[np.intp]) -> None:
    scene = draft.scene
    order, start = np.argsort(groups.of_row, kind="stable"), run_starts(groups.count)
    group = np.repeat(np.arange(len(count)), count)
    empty = groups.count[group] == 0
    draft.record(DELETION, groups.image[group[empty]], outcome=IMPOSSIBLE)
    group = group[~empty]
    weight = np.append(0.0, np.cumsum(params.selection.probability(scene.area)[order]))
    low, high = weight[start[group]], weight[start[group + 1]]
    index = np.searchsorted(weight, low + draft.rng.random(len(group)) * (high - low), side="right") - 1
    target = order[np.clip(index, start[group], start[group + 1] - 1)]  # a rounding error may lead to another group
    got = draft.consume(target)
    draft.record(
        DELETION,
        groups.image[group],
        outcome=np.where(got, DONE, LOST),
        reference_a=target,
        category_from=scene.category[target],
    )


def _delete_each_once(draft: Draft, params: Unmatched, groups: _Groups, count: NDArray[np.intp]) -> None:
    """Delete the given number of annotations (G,) of each group, which is at most all of them."""
    scene = draft.scene
    chosen = _weighted(groups.of_row, params.selection.probability(scene.area), count, draft.rng)
    draft.free[chosen] = False
    draft.record(DELETION, scene.image[chosen], reference_a=chosen, category_from=scene.category[chosen])


def _weighted(
    group: NDArray[np.intp], weight: NDArray[np.float64], count: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.intp]:
    """Draw the given number (G,) of rows from each group, weighted and without replacement; return them ascending."""
    # take the smallest exponential waiting times, with the weights as rates
    waiting = rng.exponential(size=len(weight)) / np.maximum(weight, LEAST_WEIGHT)
    order = np.lexsort((waiting, group))
    there = np.bincount(group, minlength=len(count))
    rank = np.arange(len(order)) - run_starts(there)[group[order]]
    return np.sort(order[rank < count[group[order]]])


def _add(draft: Draft, params: Unmatched, groups: _Groups, count: NDArray[np.intp]) -> None:
    """Add the given number of annotations (G,) for each group, as long as their images have proposals left."""
    scene, rng = draft.scene, draft.rng
    wanted = rng.permutation(np.repeat(np.arange(len(count)), count))  # random choice if not all of an image fit
    wanted = wanted[np.argsort(groups.image[wanted], kind="stable")]
    of_image = np.bincount(groups.image[wanted], minlength=len(scene.assigned))
    pool_image = scene.proposals.image[scene.free]
    pool = np.bincount(pool_image, minlength=len(of_image))
    chosen = _weighted(pool_image, params.selection.probability(scene.proposed_area), of_image, rng)
    chosen = chosen[np.argsort(pool_image[chosen], kind="stable")]
    place = np.arange(len(wanted)) - run_starts(of_image)[groups.image[wanted]]
    wanted = wanted[place < pool[groups.image[wanted]]]  # keep as many of each image as were chosen
    image, chosen = groups.image[wanted], scene.free[chosen]
    seen, category = _classes(draft, params, groups, wanted)
    rows = draft.add_annotations(scene.proposals.corners[chosen], proposal=chosen, category=category)
    draft.record(ADDITION, image, row_a=rows, category_from=seen, category_to=category)
    missing = np.repeat(np.arange(len(of_image)), np.maximum(of_image - pool, 0))
    draft.record(ADDITION, missing, outcome=IMPOSSIBLE)


def _classes(
    draft: Draft, params: Unmatched, groups: _Groups, wanted: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the class of the image that each addition is based on (M,), and its own class (M,)."""
    scene, rng, share = draft.scene, draft.rng, params.own_class.share
    seen = np.where(groups.category[wanted] >= 0, groups.category[wanted], _context(draft, groups.image[wanted]))
    if share is None:
        category = scene.transitions.draw(seen, rng)
        return seen, np.where(category < 0, seen, category)  # if there is no other class
    category = seen.copy()
    other = np.flatnonzero((rng.random(len(wanted)) >= share) & (groups.category[wanted] >= 0))
    for _ in range(TRIES):
        drawn = scene.transitions.draw(seen[other], rng)
        known = drawn >= 0
        category[other[known]] = drawn[known]
        other = other[known & scene.has(groups.image[wanted[other]], drawn)]
    return seen, category


def _context(draft: Draft, image: NDArray[np.intp]) -> NDArray[np.intp]:
    """Draw a class (M,) from the distinct ones of each image; for an empty image, from all that occur."""
    categories, start = draft.scene.classes
    everywhere = np.unique(categories)
    count = np.diff(start)[image]
    share = draft.rng.random(len(image))
    own = categories[np.minimum(start[image] + (share * count).astype(np.intp), len(categories) - 1)]
    return np.where(count > 0, own, everywhere[(share * len(everywhere)).astype(np.intp)])
