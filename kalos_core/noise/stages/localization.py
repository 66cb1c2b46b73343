"""Last stage: all remaining annotations are moved and scaled (KαLOS §9.3.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.noise.draft import Draft
from kalos_core.noise.draws import draw_angle, draw_change, towards
from kalos_core.noise.events import LOST, SHIFT
from kalos_core.noise.parameters import Category, Localization

MOST_DRAWS, MOST_HALVINGS = 100, 60
"""Maximum number of redraws, then of halvings, of a change that separates an annotation from its reference."""

MOST_GROWTH = 50.0
"""Limit of ln scale, beyond the size of any image; larger draws might have an infinite exponential."""


def shift_rest(draft: Draft, params: Localization) -> None:
    """Move and scale every untouched annotation; the others count as lost."""
    scene = draft.scene
    rest, late = np.flatnonzero(draft.free), np.flatnonzero(~draft.free)
    corners, shift, scale, redrawn = shifted(draft, params, rest)
    category = scene.category[rest]
    rows = draft.add_annotations(corners, source=rest, category=category)
    draft.record(
        SHIFT,
        scene.image[rest],
        shift,
        scale,
        reference_a=rest,
        row_a=rows,
        category_from=category,
        category_to=category,
        redrawn=redrawn,
    )
    draft.record(SHIFT, scene.image[late], outcome=LOST, reference_a=late, category_from=scene.category[late])
    draft.free[rest] = False


def shifted(
    draft: Draft, params: Localization | Category, target: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.intp]]:
    """Draw changes; return the corners (M, 4) in pixels, the shift and scale, and (M,) the number of redraws.

    The drawn changes are multiplied by the magnitude. The shift (M, 2), relative to the image, and the scale (M, 2) are
    those after applying the limits of the image (`Scene.moved`). A change that at magnitude 1 leaves less than
    `Draft.overlap` is drawn again; after `MOST_DRAWS` redraws it is halved until it leaves enough.
    """
    scene = draft.scene
    step, growth = _draw(draft, params, target)
    redrawn = np.zeros(len(target), np.intp)

    def parted(rows: NDArray[np.intp]) -> NDArray[np.intp]:
        corners = scene.moved(target[rows], step[rows], np.exp(growth[rows]))[0]
        return rows[scene.overlap(target[rows], corners) < draft.overlap]

    apart = parted(np.arange(len(target))) if draft.overlap > 0 else np.zeros(0, np.intp)
    for _ in range(MOST_DRAWS):
        if not len(apart):
            break
        step[apart], growth[apart] = _draw(draft, params, target[apart])
        redrawn[apart] += 1
        apart = parted(apart)
    for _ in range(MOST_HALVINGS):
        if not len(apart):
            break
        step[apart] /= 2
        growth[apart] /= 2
        apart = parted(apart)
    scale = np.exp(np.clip(draft.magnitude * growth, -MOST_GROWTH, MOST_GROWTH))
    return *scene.moved(target, draft.magnitude * step, scale), redrawn


def _draw(
    draft: Draft, params: Localization | Category, target: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw the step (M, 2), relative to the image, and the ln scale (M, 2), at magnitude 1."""
    area, rng = draft.scene.area[target], draft.rng
    tail = None
    if draft.coupling > 0:
        tail = np.where(rng.random(len(target)) < draft.coupling, rng.random(len(target)), np.nan)
    distance = np.abs(draw_change(params.translation, area, rng, tail))
    step = towards(draw_angle(params.angle, len(target), rng), distance)
    growth = []
    for distribution in (params.width, params.height):
        sign = rng.choice([-1.0, 1.0], len(target))
        growth.append(sign * draw_change(distribution, area, rng, tail))
    return step, np.clip(np.stack(growth, axis=1), -MOST_GROWTH, MOST_GROWTH)
