"""Layout of scenes: the objects of a scene, their sizes and positions, and groups of objects.

The ground reaches from the horizon (depth 0) to the lower edge of the image (depth 1). Objects
that are nearer are larger and drawn later. In the sky, depth is only the height of an object.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from demo.drawing import animals, things, vehicles
from demo.drawing.parts import Sprite, place, silhouette

Rng = np.random.Generator
SPRITES: dict[str, Callable[[Rng], Sprite]] = {
    "person": animals.person,
    "dog": animals.dog,
    "sheep": animals.sheep,
    "cow": animals.cow,
    "chicken": animals.chicken,
    "gull": animals.gull,
    "car": vehicles.car,
    "van": vehicles.van,
    "bus": vehicles.bus,
    "truck": vehicles.truck,
    "bicycle": vehicles.bicycle,
    "tractor": vehicles.tractor,
    "sailing boat": things.sailing_boat,
    "motor boat": things.motor_boat,
    "buoy": things.buoy,
    "lighthouse": things.lighthouse,
    "traffic light": things.traffic_light,
    "bench": things.bench,
    "kite": things.kite,
    "ball": things.ball,
    "tree": things.tree,
}
CATEGORIES = tuple(SPRITES)

OUTLINE_TOLERANCE = 0.005, 0.35, 1.1  # share of the longer side; at least, at most, pixels
SMALLEST_SIDE = 7.0  # pixels, of an object's box
VISIBLE = 0.55  # minimum share of an object that is in the image and not hidden


@dataclass(frozen=True)
class Habitat:
    """Position of a category in a theme.

    depth : lowest and highest depth of its foot, 0 = horizon, 1 = lower edge; in the sky, the
        share of the sky's height, 0 = top
    weight : frequency, relative to the theme's other categories
    group : smallest and largest number of objects in a group
    most : maximum number in a scene
    size : pixels per metre at depth 1 (or in the sky), relative to the theme
    """

    category: str
    depth: tuple[float, float]
    weight: float = 1.0
    group: tuple[int, int] = (1, 1)
    most: int = 9
    size: float = 1.0
    sky: bool = False


@dataclass(frozen=True)
class Theme:
    """Kind of scene.

    horizon : lowest and highest share of the image's height at which the ground begins
    scale : pixels per metre at depth 1 in an image 480 pixels high
    far : share of that scale at depth 0
    """

    name: str
    horizon: tuple[float, float]
    scale: float
    far: float
    habitats: tuple[Habitat, ...]


THEMES = (
    Theme(
        "street",
        (0.47, 0.56),
        58,
        0.62,
        (
            Habitat("car", (0.3, 0.42), 1.3, (1, 2)),
            Habitat("car", (0.66, 0.76), 1.4, (1, 2)),
            Habitat("van", (0.3, 0.42), 1.1, (1, 2)),
            Habitat("van", (0.66, 0.76), 1.1),
            Habitat("bus", (0.3, 0.4), 1.1, most=1),
            Habitat("truck", (0.3, 0.42), 0.9, most=2),
            Habitat("truck", (0.66, 0.74), 0.6, most=2),
            Habitat("bicycle", (0.82, 0.97), 0.9, (1, 2), size=1.15),
            Habitat("person", (0.05, 0.12), 1.1, (1, 3)),
            Habitat("person", (0.85, 0.97), 1.0, (1, 3)),
            Habitat("dog", (0.86, 0.98), 0.7),
            Habitat("traffic light", (0.1, 0.14), 0.7, most=2),
            Habitat("traffic light", (0.83, 0.87), 0.4, most=2),
            Habitat("tree", (0.06, 0.1), 0.8, (1, 2), size=0.8),
        ),
    ),
    Theme(
        "park",
        (0.36, 0.5),
        88,
        0.22,
        (
            Habitat("tree", (0.04, 0.5), 1.8, (1, 3), size=0.85),
            Habitat("bench", (0.3, 0.85), 2.0, most=2),
            Habitat("person", (0.1, 0.95), 1.5, (1, 3)),
            Habitat("dog", (0.2, 0.98), 1.2, (1, 2)),
            Habitat("ball", (0.4, 0.97), 1.5, (1, 2)),
            Habitat("bicycle", (0.2, 0.9), 0.7),
            Habitat("kite", (0.25, 0.8), 1.5, (1, 2), size=0.6, sky=True),
        ),
    ),
    Theme(
        "harbour",
        (0.34, 0.48),
        48,
        0.2,
        (
            Habitat("sailing boat", (0.03, 0.85), 2.0, (1, 3)),
            Habitat("motor boat", (0.05, 0.9), 1.8, (1, 2)),
            Habitat("buoy", (0.15, 0.95), 1.3, (1, 2), size=1.1),
            Habitat("gull", (0.2, 0.95), 1.4, (1, 3), size=0.75, sky=True),
            Habitat("lighthouse", (0.02, 0.16), 1.2, most=1, size=1.6),
        ),
    ),
    Theme(
        "farm",
        (0.36, 0.48),
        86,
        0.26,
        (
            Habitat("sheep", (0.26, 0.96), 1.4, (2, 4)),
            Habitat("cow", (0.24, 0.9), 1.3, (1, 2), size=0.85),
            Habitat("chicken", (0.4, 0.98), 1.6, (1, 3), size=1.1),
            Habitat("dog", (0.3, 0.97), 0.9),
            Habitat("tractor", (0.22, 0.7), 1.6, most=1, size=0.9),
            Habitat("person", (0.22, 0.9), 0.9),
            Habitat("tree", (0.0, 0.24), 0.9, (1, 2)),
        ),
    ),
)


@dataclass(frozen=True)
class Placed:
    """Placed object, in pixels.

    order : y of the foot, which sets the drawing order; 0 in the sky
    outline : silhouette, not yet cut at the image's edge
    """

    category: str
    sprite: Sprite
    outline: shapely.Polygon
    order: float


def horizon_of(theme: Theme, height: int, rng: Rng) -> float:
    """Return the y of the horizon in pixels."""
    return float(rng.uniform(*theme.horizon)) * height


def compose(theme: Theme, size: tuple[int, int], horizon: float, wanted: int, rng: Rng) -> tuple[Placed, ...]:
    """Place up to `wanted` objects, farthest first; none hides almost all of another."""
    zoom = float(rng.uniform(0.78, 1.22)) * size[1] / 480
    weights = np.array([habitat.weight for habitat in theme.habitats])
    placed: list[Placed] = []
    for _ in range(wanted * 6):
        if len(placed) >= wanted:
            break
        habitat = theme.habitats[rng.choice(len(weights), p=weights / weights.sum())]
        same = sum(one.category == habitat.category for one in placed)
        group = min(
            int(rng.integers(habitat.group[0], habitat.group[1] + 1)),
            wanted - len(placed),
            habitat.most - same,
        )
        _add_group(placed, habitat, theme, size, horizon, zoom, group, rng)
    return tuple(sorted(placed, key=lambda one: one.order))


def _add_group(
    placed: list[Placed],
    habitat: Habitat,
    theme: Theme,
    size: tuple[int, int],
    horizon: float,
    zoom: float,
    group: int,
    rng: Rng,
) -> None:
    """Place one object at random, and the rest of its group next to it, if there is space."""
    x, depth = float(rng.uniform(0.02, 0.98)) * size[0], float(rng.uniform(*habitat.depth))
    side = 1 if x < size[0] / 2 else -1
    flip = bool(rng.random() < 0.5)
    if theme.name == "street":
        flip = depth < 0.5
    for _ in range(group):
        one = _stand(habitat, theme, size, horizon, zoom, (x, depth), flip, rng)
        if not fits(one, placed, size):
            return
        placed.append(one)
        left, _, right, _ = one.outline.bounds
        x += side * (right - left) * float(rng.uniform(0.72, 1.08))
        depth = float(np.clip(depth + rng.normal(0, 0.012), *habitat.depth))


def _stand(
    habitat: Habitat,
    theme: Theme,
    size: tuple[int, int],
    horizon: float,
    zoom: float,
    spot: tuple[float, float],
    flip: bool,
    rng: Rng,
) -> Placed:
    """Return an object of the habitat's category at `spot` (x in pixels, depth)."""
    x, depth = spot
    if habitat.sky:
        y, order = depth * horizon, 0.0
        scale = theme.scale * zoom * habitat.size * float(rng.uniform(0.45, 1.0))
    else:
        y = order = horizon + depth * (size[1] - horizon)
        scale = theme.scale * zoom * habitat.size * (theme.far + (1 - theme.far) * depth)
    scale *= float(rng.uniform(0.92, 1.08))
    sprite = place(SPRITES[habitat.category](rng), x, y, scale, flip)
    return Placed(habitat.category, sprite, _outline(sprite), order)


def _outline(sprite: Sprite) -> shapely.Polygon:
    """Return the silhouette with as few corners as its size needs."""
    exact = silhouette(sprite)
    left, top, right, bottom = exact.bounds
    share, least, most = OUTLINE_TOLERANCE
    tolerance = min(most, max(least, share * max(right - left, bottom - top)))
    return shapely.simplify(exact, tolerance)


def fits(one: Placed, others: Sequence[Placed], size: tuple[int, int]) -> bool:
    """Return whether `one` and all `others` would stay large and visible enough."""
    left, top, right, bottom = one.outline.bounds
    if min(right - left, bottom - top) < SMALLEST_SIDE or top < 0:
        return False
    return all(share >= VISIBLE for share in visible_shares([*others, one], size))


def visible_shares(placed: Sequence[Placed], size: tuple[int, int]) -> list[float]:
    """Return, for each object, the share of its outline that is inside the image and not hidden."""
    frame = shapely.box(0, 0, *size)
    ranked = sorted(range(len(placed)), key=lambda index: placed[index].order)
    shares = [0.0] * len(placed)
    nearer: BaseGeometry = shapely.Polygon()
    for index in reversed(ranked):
        outline = placed[index].outline
        shares[index] = (outline & frame).difference(nearer).area / outline.area
        nearer = nearer | outline
    return shares
