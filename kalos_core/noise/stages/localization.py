"""Last stage: every annotation that is left moves and changes its size (KαLOS §9.3.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.noise.draft import Draft
from kalos_core.noise.draws import draw_angle, draw_change, towards
from kalos_core.noise.events import LOST, SHIFT
from kalos_core.noise.parameters import Category, Localization

MOST_GROWTH = 50.0
"""ln scale beyond the size of any image: draws are cut to it, since their exponential may be no number."""


def shift_rest(draft: Draft, params: Localization) -> None:
    """Move and scale every untouched annotation; the others count as lost."""
    scene = draft.scene
    rest, late = np.flatnonzero(draft.free), np.flatnonzero(~draft.free)
    corners, shift, scale = shifted(draft, params, rest)
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
    )
    draft.record(SHIFT, scene.image[late], outcome=LOST, reference_a=late, category_from=scene.category[late])
    draft.free[rest] = False


def shifted(
    draft: Draft, params: Localization | Category, target: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Corners (M, 4) in pixels of moved annotations, and by how much: shift (M, 2) relative to the image, scale (M, 2).

    The drawn changes are multiplied by the magnitude. The shift and scale are those that remain after the rules of the
    image's edges (`Scene.moved`).
    """
    scene, rng = draft.scene, draft.rng
    area = scene.area[target]
    distance = draft.magnitude * np.abs(draw_change(params.translation, area, rng))
    step = towards(draw_angle(params.angle, len(target), rng), distance)
    growth = []
    for distribution in (params.width, params.height):
        sign = rng.choice([-1.0, 1.0], len(target))
        growth.append(sign * draft.magnitude * draw_change(distribution, area, rng))
    return scene.moved(target, step, np.exp(np.clip(np.stack(growth, axis=1), -MOST_GROWTH, MOST_GROWTH)))
