"""Drawn scenes with exactly known objects: the images of the demo.

Streets, parks, harbours and farmyards in flat colours. Every object is painted from the same
polygons as its outline. No files are read; the same seed draws the same images.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from PIL import Image

from demo.drawing.backdrops import BACKDROPS
from demo.drawing.canvas import MOODS, Canvas, Mood
from demo.drawing.parts import NIGHT
from demo.layout import CATEGORIES, THEMES, Placed, Theme, compose, horizon_of

__all__ = ["CATEGORIES", "Plan", "Scene", "SceneObject", "draw_scenes", "objects_of", "paint", "plan_scene"]

EMPTY_EVERY = 17  # each 17th scene has no object
FEWEST, MOST = 3, 9  # objects of a scene that is not empty


@dataclass(frozen=True, eq=False)
class SceneObject:
    """Object in the image.

    category : one of `CATEGORIES`
    polygon : (V, 2) float64, x and y in pixels, closed implicitly; its whole outline inside the image,
        including parts that a nearer object hides
    """

    category: str
    polygon: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scene:
    """Image and its objects, farthest first."""

    name: str
    theme: str
    image: Image.Image
    objects: tuple[SceneObject, ...]


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything needed to paint a scene.

    horizon : y where the ground begins, pixels
    seed : seed of the random parts of the backdrop
    placed : objects, farthest first
    """

    name: str
    theme: Theme
    mood: Mood
    size: tuple[int, int]
    horizon: float
    seed: tuple[int, ...]
    placed: tuple[Placed, ...]


def draw_scenes(count: int = 72, seed: int = 0, size: tuple[int, int] = (640, 480)) -> list[Scene]:
    """Draw `count` scenes of `size` (width, height) pixels; scene i is the same for any `count`."""
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}.")
    if min(size) < 120:
        raise ValueError(f"size must be at least 120 x 120 pixels, got {size[0]} x {size[1]}.")
    plans = (plan_scene(index, seed, size) for index in range(count))
    return [Scene(plan.name, plan.theme.name, paint(plan), objects_of(plan)) for plan in plans]


def plan_scene(index: int, seed: int = 0, size: tuple[int, int] = (640, 480)) -> Plan:
    """Plan the content of scene `index`."""
    rng = np.random.default_rng([seed, index])
    theme = THEMES[index % len(THEMES)]
    mood = MOODS[rng.choice(len(MOODS), p=[0.34, 0.2, 0.16, 0.2, 0.1])]
    horizon = horizon_of(theme, size[1], rng)
    empty = index % EMPTY_EVERY == EMPTY_EVERY - 1
    wanted = 0 if empty else int(rng.integers(FEWEST, MOST + 1))
    placed = compose(theme, size, horizon, wanted, rng)
    name = f"{theme.name}-{index:03d}"
    return Plan(name, theme, mood, size, horizon, (seed, index, 1), placed)


def paint(plan: Plan, skip: Collection[int] = ()) -> Image.Image:
    """Paint `plan`, without the objects numbered in `skip` (their shadows stay)."""
    canvas = Canvas(plan.size)
    BACKDROPS[plan.theme.name](canvas, plan.mood, plan.horizon, np.random.default_rng(plan.seed))
    for one in plan.placed:
        _shadow(canvas, one)
    for number, one in enumerate(plan.placed):
        if number not in skip:
            canvas.sprite(one.sprite)
    return canvas.finish(plan.mood)


def objects_of(plan: Plan) -> tuple[SceneObject, ...]:
    """Return the objects of `plan`, with outlines cut at the edge of the image."""
    return tuple(SceneObject(one.category, _inside(one.outline, plan.size)) for one in plan.placed)


def _inside(outline: shapely.Polygon, size: tuple[int, int]) -> NDArray[np.float64]:
    """Return the largest piece of `outline` inside the image, (V, 2)."""
    pieces = shapely.get_parts(outline & shapely.box(0, 0, *size))
    largest = pieces[int(np.argmax(shapely.area(pieces)))]
    return shapely.get_coordinates(largest.exterior)[:-1]


def _shadow(canvas: Canvas, one: Placed) -> None:
    """Paint a soft shadow on the ground under an object; none under flying objects."""
    if one.order == 0:
        return
    left, _, right, _ = one.outline.bounds
    wide = (right - left) * (0.3 if one.category == "tree" else 0.5)
    canvas.oval((left + right) / 2, one.order, wide, 0.1 * wide + 1, NIGHT, 0.16)
