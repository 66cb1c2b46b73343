"""Third stage: annotations get another class, and a shift of their own (KαLOS §9.3.2)."""

from __future__ import annotations

import numpy as np

from kalos_core.noise.draft import Draft
from kalos_core.noise.events import DONE, IMPOSSIBLE, LOST, WRONG_CLASS
from kalos_core.noise.parameters import Category
from kalos_core.noise.stages.localization import shifted


def mistake_categories(draft: Draft, params: Category) -> None:
    """Draw annotations with equal probability, give them another class and move them."""
    scene = draft.scene
    target = np.flatnonzero(draft.happens(params.occurrence.probability, len(scene)))
    category = scene.transitions.draw(scene.category[target], draft.rng)
    possible = category >= 0
    got = np.zeros(len(target), np.bool_)
    got[possible] = draft.consume(target[possible])
    done, category = target[got], category[got]
    corners, shift, scale, redrawn = shifted(draft, params, done)
    rows = draft.add_annotations(corners, source=done, category=category)
    draft.record(
        WRONG_CLASS,
        scene.image[done],
        shift,
        scale,
        outcome=DONE,
        reference_a=done,
        row_a=rows,
        category_from=scene.category[done],
        category_to=category,
        redrawn=redrawn,
    )
    for outcome, rest in ((LOST, target[possible & ~got]), (IMPOSSIBLE, target[~possible])):
        draft.record(
            WRONG_CLASS, scene.image[rest], outcome=outcome, reference_a=rest, category_from=scene.category[rest]
        )
