"""Four simulated raters who differ in care: an illustration of disagreement between people.

The habits below are invented so that each kind of disagreement is visible; they are not fitted to
real raters. The origin of each annotation is kept under `source`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely

from demo.layout import THEMES
from demo.outlines import around, neighbours, redraw, tidy
from demo.scenes import CATEGORIES, Scene, SceneObject

Labels = dict[str, Any]
Rng = np.random.Generator
Annotation = tuple[str, str, shapely.Polygon]  # category, source, outline

AS_DRAWN, WRONG_CLASS, MERGED, ADDITIONAL = "as drawn", "wrong class", "merged", "additional"
DESCRIPTION = "KaLOS demo: drawn scenes, four simulated raters (an illustration, not real people)"

# Categories that are easily confused, if both are plausible in the scene.
CONFUSED: dict[str, tuple[str, ...]] = {
    "car": ("van",),
    "van": ("car", "truck"),
    "truck": ("bus", "van"),
    "bus": ("truck",),
    "tractor": ("truck",),
    "dog": ("sheep",),
    "sheep": ("dog", "cow"),
    "cow": ("sheep",),
    "sailing boat": ("motor boat",),
    "motor boat": ("sailing boat",),
    "buoy": ("lighthouse", "ball"),
    "lighthouse": ("buoy",),
    "gull": ("kite",),
    "kite": ("gull",),
}
_FLYING = {"gull", "kite"}  # plausible anywhere
_FOUND = {theme.name: {h.category for h in theme.habitats} | _FLYING for theme in THEMES}


@dataclass(frozen=True)
class Habits:
    """Behaviour of a rater. All except `looseness`, `small` and `reach` are probabilities in [0, 1].

    assigned : share of the images assigned to this rater
    looseness : imprecision of outlines, see `outlines.redraw`
    misses : probability of missing an object
    misses_small : the same for an object that covers less than `small` square pixels
    confuses : probability of naming a look-alike, if the category has one
    merges : probability of annotating neighbours of one category as one object
    reach : maximum distance of neighbours, as a share of their size
    adds : probability of annotating an object that does not exist, for each image with objects
    """

    name: str
    assigned: float = 1.0
    looseness: float = 0.5
    misses: float = 0.02
    misses_small: float = 0.04
    small: float = 1100.0
    confuses: float = 0.02
    merges: float = 0.0
    reach: float = 0.12
    adds: float = 0.0


RATERS = (
    Habits("ana", looseness=0.3, misses=0.01, misses_small=0.02, confuses=0.01),
    Habits("ben", looseness=1.4, misses=0.02, misses_small=0.42, confuses=0.03, adds=0.03),
    Habits("chen", assigned=5 / 6, looseness=0.6, confuses=0.32, adds=0.03),
    Habits("dara", assigned=2 / 3, looseness=0.8, merges=0.6, adds=0.3),
)


def simulate(scenes: Sequence[Scene], seed: int = 0) -> Labels:
    """Simulate annotations of the four raters on `scenes`, as one COCO dict.

    In addition to COCO's own keys, images carry `rater_list` (who is assigned to them) and annotations
    carry `rater_id` (a name) and `source` ("as drawn", "wrong class", "merged", "additional").
    """
    assigned = assign(len(scenes), seed)
    images = [
        _image(number, scene, who) for number, (scene, who) in enumerate(zip(scenes, assigned, strict=True), start=1)
    ]
    annotations: list[Labels] = []
    for number, (scene, who) in enumerate(zip(scenes, assigned, strict=True), start=1):
        for rank, rater in enumerate(RATERS):
            if rater.name not in who:
                continue
            rng = np.random.default_rng([seed, number, rank])
            for annotation in label(scene, rater, rng):
                annotations.append(_annotation(len(annotations) + 1, number, rater.name, annotation))
    categories = [{"id": i, "name": name} for i, name in enumerate(CATEGORIES, start=1)]
    return {
        "info": {"description": DESCRIPTION},
        "images": images,
        "categories": categories,
        "annotations": annotations,
    }


def assign(count: int, seed: int = 0) -> list[list[str]]:
    """Return, for each of `count` images, the names of the assigned raters."""
    lists: list[list[str]] = [[] for _ in range(count)]
    for rank, rater in enumerate(RATERS):
        order = np.random.default_rng([seed, 0, rank]).permutation(count)
        for index in order[: round(rater.assigned * count)]:
            lists[index].append(rater.name)
    return lists


def label(scene: Scene, rater: Habits, rng: Rng) -> Iterator[Annotation]:
    """Yield the annotations of one rater on one scene."""
    size = scene.image.size
    for annotation in _attempts(scene, rater, rng):
        category, source, outline = annotation
        annotated = tidy(redraw(outline, rater.looseness, rng), size)
        if annotated is not None:
            yield category, source, annotated


def _attempts(scene: Scene, rater: Habits, rng: Rng) -> Iterator[Annotation]:
    """Yield the annotations that the rater intends, with exact outlines."""
    possible = _FOUND[scene.theme]
    merged, rest = _merge(scene.objects, rater, rng)
    yield from merged
    for one in rest:
        outline = shapely.Polygon(one.polygon)
        small = outline.area < rater.small
        if rng.random() < (rater.misses_small if small else rater.misses):
            continue
        look_alikes = [name for name in CONFUSED.get(one.category, ()) if name in possible]
        if look_alikes and rng.random() < rater.confuses:
            yield look_alikes[rng.integers(len(look_alikes))], WRONG_CLASS, outline
        else:
            yield one.category, AS_DRAWN, outline
    if scene.objects and rng.random() < rater.adds:
        yield from _nothing_there(scene, rng)


def _merge(objects: Sequence[SceneObject], rater: Habits, rng: Rng) -> tuple[list[Annotation], list[SceneObject]]:
    """Return the groups annotated as one, and the remaining objects."""
    merged: list[Annotation] = []
    left: list[SceneObject] = []
    for category in dict.fromkeys(one.category for one in objects):
        same = [one for one in objects if one.category == category]
        outlines = [shapely.Polygon(one.polygon) for one in same]
        for group in neighbours(outlines, rater.reach):
            if len(group) > 1 and rng.random() < rater.merges:
                members = [outlines[i] for i in group]
                gap = rater.reach * max(float(np.sqrt(shape.area)) for shape in members)
                merged.append((category, MERGED, around(members, gap)))
            else:
                left.extend(same[i] for i in group)
    return merged, left


def _nothing_there(scene: Scene, rng: Rng) -> Iterator[Annotation]:
    """Yield an annotation without an object: the outline of one, moved to an empty position."""
    taken = shapely.union_all([shapely.Polygon(one.polygon) for one in scene.objects])
    frame = shapely.box(0, 0, *scene.image.size)
    for _ in range(20):
        one = scene.objects[rng.integers(len(scene.objects))]
        shift = rng.uniform((-0.7, -0.08), (0.7, 0.08)) * scene.image.size
        moved = shapely.Polygon(one.polygon + shift)
        if frame.contains(moved) and not moved.intersects(taken):
            yield one.category, ADDITIONAL, moved
            return


def _image(number: int, scene: Scene, raters: Sequence[str]) -> Labels:
    width, height = scene.image.size
    return {
        "id": number,
        "file_name": f"{scene.name}.jpg",
        "width": width,
        "height": height,
        "rater_list": list(raters),
    }


def _annotation(number: int, image: int, rater: str, annotation: Annotation) -> Labels:
    category, source, outline = annotation
    corners = shapely.get_coordinates(outline.exterior)[:-1].round(2)
    left, top, right, bottom = outline.bounds
    return {
        "id": number,
        "image_id": image,
        "category_id": CATEGORIES.index(category) + 1,
        "bbox": [round(v, 2) for v in (left, top, right - left, bottom - top)],
        "segmentation": [corners.ravel().tolist()],
        "area": round(outline.area, 2),
        "iscrowd": 0,
        "rater_id": rater,
        "source": source,
    }
