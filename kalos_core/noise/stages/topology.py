"""Second stage: annotations are split in two, or merged into one (KαLOS §9.3.4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import expand_runs, first_at_all
from kalos_core.noise.draft import LOWER, UPPER, Draft
from kalos_core.noise.draws import draw_angle, draw_change, draw_opposition, towards
from kalos_core.noise.events import DONE, IMPOSSIBLE, LOST, MERGE, SPLIT
from kalos_core.noise.parameters import Topology
from kalos_core.noise.scene import Scene

MOST_DRAWS = 100
"""Maximum number of redraws of fragments that would not be counted as such."""

OPPOSITE = (0.001, 0.999)
"""Shares of pi to which an angle is clipped for its density, which may be infinite at the ends."""


def split_and_merge(draft: Draft, params: Topology) -> None:
    """Draw annotations by size; split each, or merge it with its most likely partner of its class in the image.

    Fragments have the fitted geometry at any magnitude: a split cannot be partial.
    """
    scene, rng = draft.scene, draft.rng
    target = np.flatnonzero(draft.happens(params.susceptibility.probability(scene.area), len(scene)))
    target = rng.permutation(target)
    splits = rng.random(len(target)) < params.split.probability
    partner = target.copy()
    partner[~splits] = likeliest_partners(scene, params, target[~splits], draft.overlap)
    if draft.overlap > 0:  # split those without a partner, to keep the fitted number of events
        splits |= partner < 0
        partner[splits] = target[splits]
    possible = partner >= 0
    got = np.zeros(len(target), np.bool_)
    got[possible] = consume_both(draft.free, np.stack([target, partner], axis=1)[possible])
    _split(draft, params, target[splits & got])
    _merge(draft, target[~splits & got], partner[~splits & got])
    late = possible & ~got
    for event, outcome, rows in (
        (SPLIT, LOST, late & splits),
        (MERGE, LOST, late & ~splits),
        (MERGE, IMPOSSIBLE, ~possible),
    ):
        draft.record(
            event,
            scene.image[target[rows]],
            outcome=outcome,
            reference_a=target[rows],
            reference_b=-1 if event == SPLIT else partner[rows],
            category_from=scene.category[target[rows]],
        )


def consume_both(free: NDArray[np.bool_], lines: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which events (T,) get both of their annotations (T, 2), one by one; mark these as not `free` (N,).

    Examples
    --------
    >>> free = np.ones(4, bool)
    >>> consume_both(free, np.array([[0, 1], [1, 2], [2, 3]])).tolist(), free.tolist()
    ([True, False, True], [False, False, False, False])
    """
    got = np.zeros(len(lines), np.bool_)
    left = np.flatnonzero(free[lines].all(axis=1))
    scratch = np.empty(len(free), np.intp)
    while len(left):
        first = left[first_at_all(lines[left], scratch)]
        got[first] = True
        free[lines[first]] = False
        left = left[free[lines[left]].all(axis=1)]
    return got


def _split(draft: Draft, params: Topology, target: NDArray[np.intp]) -> None:
    """Add the fragments of each target; those that would not be counted as such are redrawn, see `Draft.overlap`."""
    scene = draft.scene
    moves = _fragments(draft, params, target)
    redrawn = np.zeros(len(target), np.intp)
    unlike = _unlike_fragments(draft, target, moves, np.arange(len(target)))
    for _ in range(MOST_DRAWS):
        if not len(unlike):
            break
        moves[unlike] = _fragments(draft, params, target[unlike])
        redrawn[unlike] += 1
        unlike = _unlike_fragments(draft, target, moves, unlike)
    step, scale, other_step, other_scale = np.moveaxis(moves, 1, 0)
    lower, category = _is_lower(scene, target, step), scene.category[target]
    corners, step, scale = scene.moved(target, step, scale)
    other_corners = scene.moved(target, other_step, other_scale)[0]
    parts = [np.where(side, LOWER, UPPER) for side in (lower, ~lower)]
    row_a = draft.add_annotations(corners, source=target, part=parts[0], category=category)
    row_b = draft.add_annotations(other_corners, source=target, part=parts[1], category=category)
    draft.record(
        SPLIT,
        scene.image[target],
        step,
        scale,
        reference_a=target,
        row_a=row_a,
        row_b=row_b,
        category_from=category,
        category_to=category,
        redrawn=redrawn,
    )


def _fragments(draft: Draft, params: Topology, target: NDArray[np.intp]) -> NDArray[np.float64]:
    """Draw step and scale of the first fragment, then of the second (M, 4, 2)."""
    area, rng = draft.scene.area[target], draft.rng
    angle = draw_angle(params.first_angle, len(target), rng)
    step = towards(angle, np.abs(draw_change(params.first_translation, area, rng)))
    first = [np.abs(draw_change(distribution, area, rng)) for distribution in (params.first_width, params.first_height)]
    scale = np.exp(np.minimum(params.enlargement.kappa - np.stack(first, axis=1), 0))
    opposite = angle + draw_opposition(params.opposition, len(target), rng)
    other_step = towards(opposite, np.abs(draw_change(params.second_distance, area, rng)))
    second = [
        np.abs(draw_change(distribution, area, rng)) for distribution in (params.second_width, params.second_height)
    ]
    return np.stack([step, scale, other_step, np.exp(-np.stack(second, axis=1))], axis=1)


def _unlike_fragments(
    draft: Draft, target: NDArray[np.intp], moves: NDArray[np.float64], rows: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return the rows whose fragments would not count as merged: these match the whole together, but not alone."""
    if draft.overlap == 0:
        return rows[:0]
    scene, of = draft.scene, target[rows]
    first, second = (scene.moved(of, moves[rows, at], moves[rows, at + 1])[0] for at in (0, 2))
    together = scene.overlap(of, _enclosing(first, second)) >= draft.overlap
    alone = np.maximum(scene.overlap(of, first), scene.overlap(of, second)) >= draft.overlap
    return rows[~together | alone]


def _is_lower(scene: Scene, target: NDArray[np.intp], step: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Check whether the first fragment is at lower coordinates along the longer side of its whole (M,)."""
    sides = scene.corners[target, 2:] - scene.corners[target, :2]
    return np.asarray(np.where(sides[:, 0] >= sides[:, 1], step[:, 0], step[:, 1]) < 0)


def _merge(draft: Draft, target: NDArray[np.intp], partner: NDArray[np.intp]) -> None:
    scene = draft.scene
    source, other = np.minimum(target, partner), np.maximum(target, partner)
    corners = _enclosing(scene.corners[source], scene.corners[other])
    rows = draft.add_annotations(corners, source=source, partner=other, category=scene.category[source])
    draft.record(
        MERGE,
        scene.image[source],
        outcome=DONE,
        reference_a=source,
        reference_b=other,
        row_a=rows,
        category_from=scene.category[source],
        category_to=scene.category[source],
    )


def _enclosing(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate([np.minimum(a[:, :2], b[:, :2]), np.maximum(a[:, 2:], b[:, 2:])], axis=1)


def likeliest_partners(
    scene: Scene, params: Topology, target: NDArray[np.intp], overlap: float = 0.0
) -> NDArray[np.intp]:
    """Return the partner (T,) of its class and image that each target most likely forms fragments with; -1 if none.

    With an `overlap`, partners are excluded if either of the two alone overlaps with their union by that much.
    """
    key = scene.image * len(scene.transitions.categories) + scene.category
    order = np.argsort(key, kind="stable")
    first = np.searchsorted(key[order], key[target], side="left")
    count = np.searchsorted(key[order], key[target], side="right") - first
    owner, index = expand_runs(first, count)
    other = order[index]
    apart = other != target[owner]
    if overlap > 0:
        union = _enclosing(scene.corners[target[owner]], scene.corners[other])
        apart &= np.maximum(scene.overlap(target[owner], union), scene.overlap(other, union)) < overlap
    owner, other = owner[apart], other[apart]
    score = fragment_score(scene, params, target[owner], other)
    best = np.lexsort((score, owner))
    found = np.full(len(target), -1)
    found[owner[best]] = other[best]  # sorted by score: the best of each owner is written last
    return found


def fragment_score(
    scene: Scene, params: Topology, first: NDArray[np.intp], second: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Compute ln of the likelihood (P,) that two annotations are fragments of their enclosing box (KαLOS Eq. 20).

    Either may be the first fragment.
    """
    low, high = scene.centre - scene.size / 2, scene.centre + scene.size / 2
    corners = np.concatenate([low, high], axis=1)
    whole = _enclosing(corners[first], corners[second])
    centre, size = (whole[:, :2] + whole[:, 2:]) / 2, whole[:, 2:] - whole[:, :2]
    area = size.prod(axis=1)
    step = [scene.centre[rows] - centre for rows in (first, second)]
    shrunk = [np.log(size / np.maximum(scene.size[rows], 1e-12)) for rows in (first, second)]  # -ln scale
    angle = [np.arctan2(by[:, 1], by[:, 0]) for by in step]
    turn = np.abs((angle[0] - angle[1] + np.pi) % (2 * np.pi) - np.pi) / np.pi
    distance = [np.hypot(*by.T) for by in step]
    kappa = params.enlargement.kappa
    either = [
        params.first_translation.log_density(distance[a], area)
        + params.first_width.log_density(np.maximum(kappa + shrunk[a][:, 0], 0), area)
        + params.first_height.log_density(np.maximum(kappa + shrunk[a][:, 1], 0), area)
        + params.second_distance.log_density(distance[b], area)
        + params.second_width.log_density(np.maximum(shrunk[b][:, 0], 0), area)
        + params.second_height.log_density(np.maximum(shrunk[b][:, 1], 0), area)
        for a, b in ((0, 1), (1, 0))
    ]
    return np.logaddexp(*either) + params.opposition.log_density(np.clip(turn, *OPPOSITE))
