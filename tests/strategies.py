"""Strategies: small tables with many exact ties, and the same table in another order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from kalos_core import SIMILARITIES, Annotations

RECTANGLE = ((0, 0), (1, 0), (1, 1), (0, 1))
TRIANGLE = ((0, 0), (1, 0), (0, 1))
STEPS = ((0, 0), (1, 0), (1, 0.5), (0.5, 0.5), (0.5, 1), (0, 1))  # an L
BOW_TIE = ((0, 0), (1, 1), (1, 0), (0, 1))  # self-intersecting: two triangles
FORMS = (RECTANGLE, TRIANGLE, STEPS, BOW_TIE)

SIMILARITIES_OF_TABLES = [
    name for name, measure in SIMILARITIES.items() if measure.kind in ("box", "polygon") and not measure.prepare
]
"""Similarities with all requirements met by `tables`: shapes, but no sizes of images."""


def ring(form: int, x: float, y: float, width: float, height: float, start: int = 0, backwards: bool = False) -> list:
    """Return one of `FORMS` at a position, with any start vertex and direction: the same outline each time."""
    points = [(x + width * u, y + height * v) for u, v in FORMS[form]]
    start %= len(points)
    points = points[start:] + points[:start]
    return [coordinate for point in (points[::-1] if backwards else points) for coordinate in point]


def rings() -> st.SearchStrategy[list]:
    """Return rings on a small integer grid, so that equal shapes and equal overlaps are common."""
    place, size = st.integers(0, 4), st.sampled_from([2, 4])
    form = st.integers(0, len(FORMS) - 1)
    return st.builds(ring, form, place, place, size, size, st.integers(0, 5), st.booleans())


def bounds(polygon: list) -> list[float]:
    """Return the box x, y, width, height around a polygon."""
    points = np.concatenate([np.reshape(part, (-1, 2)) for part in polygon])
    low, high = points.min(axis=0), points.max(axis=0)
    return [*low.tolist(), *(high - low).tolist()]


@st.composite
def tables(
    draw: Callable[[st.SearchStrategy[Any]], Any],
    *,
    images: int = 3,
    raters: int = 4,
    categories: int = 3,
    marks: int = 14,
    everyone: bool = False,
    limits: bool = False,
    exclusions: bool = False,
    copies: int = 1,
) -> Annotations:
    """Draw tables of boxes and polygons on a small grid, up to the given number of each.

    `copies`: number of copies of every image, which intervals need.
    `everyone`: all raters are assigned to all images. `limits`: some raters are assigned to some classes only.
    `exclusions`: some raters are not assigned to some class on some image.
    """
    image_names = [f"{name}.jpg" for name in range(draw(st.integers(1, images)))]
    rater_names = draw(st.permutations(["ann", "bob", "cid", "dan", "eve"][: draw(st.integers(2, raters))]))
    class_names = draw(st.permutations(["cat", "dog", "emu", "fox"][: draw(st.integers(1, categories))]))
    names = {"images": image_names, "raters": rater_names, "categories": class_names}
    one_mark = st.tuples(*map(st.sampled_from, names.values()), st.lists(rings(), min_size=1, max_size=2))
    drawn = draw(st.lists(one_mark, max_size=marks))
    asked = None
    if limits:
        asked = {
            rater: draw(st.lists(st.sampled_from(class_names), min_size=1, unique=True))
            for rater in draw(st.lists(st.sampled_from(rater_names), unique=True))
        }
        drawn = [mark for mark in drawn if mark[2] in asked.get(mark[1], class_names)]
    ids = draw(st.permutations(range(1, len(drawn) * copies + 1)))
    again = {image: [image.replace(".", f"{copy}.") for copy in ["", *"abcdefg"][:copies]] for image in image_names}
    drawn = [(copy, *mark) for image, *mark in drawn for copy in again[image]]
    rows = [
        {"id": key, "image": image, "rater": rater, "category": name, "polygon": polygon, "box": bounds(polygon)}
        for key, (image, rater, name, polygon) in zip(ids, drawn, strict=True)
    ]
    assigned: Any = "all"
    if not everyone:
        assigned = {
            image: sorted(
                {row["rater"] for row in rows if row["image"] == image}
                | draw(st.sets(st.sampled_from(rater_names), max_size=len(rater_names)))
            )
            for image in image_names
        }
        assigned = {copy: asked_there for image, asked_there in assigned.items() for copy in again[image]}
    excluded = draw(st.lists(st.tuples(*map(st.sampled_from, names.values())))) if exclusions else []
    excluded = [(copy, *rest) for image, *rest in excluded for copy in again[image]]
    names["images"] = [copy for copies_ in again.values() for copy in copies_]
    return Annotations.from_rows(rows, **names, assigned=assigned, assigned_categories=asked, exclusions=excluded)


def reordered(annotations: Annotations, seed: int) -> Annotations:
    """Return the same table with rows, images, raters and categories in another order; ids stay with their rows."""
    rng = np.random.default_rng(seed)
    n, i, r, k = (
        rng.permutation(len(entries))
        for entries in (annotations.id, annotations.images, annotations.raters, annotations.categories)
    )
    limits = annotations.assigned_categories
    return Annotations(
        image=np.argsort(i)[annotations.image[n]],
        rater=np.argsort(r)[annotations.rater[n]],
        category=np.argsort(k)[annotations.category[n]],
        id=annotations.id[n],
        shapes={kind: column.take(n) for kind, column in annotations.shapes.items()},
        images=annotations.images[i],
        files=annotations.files[i],
        raters=annotations.raters[r],
        categories=annotations.categories[k],
        image_size=annotations.image_size[i],
        assigned=annotations.assigned[np.ix_(i, r)],
        assigned_categories=None if limits is None else limits[np.ix_(r, k)],
        excluded=np.stack(
            [np.argsort(order)[codes] for order, codes in zip((i, r, k), annotations.excluded.T, strict=True)], axis=1
        ),
    )


def partition(annotations: Annotations, unit_of: np.ndarray) -> set[frozenset]:
    """Return the units as sets of ids, without their numbers."""
    members: dict[int, set] = {}
    for key, unit in zip(annotations.id.tolist(), unit_of.tolist(), strict=True):
        members.setdefault(unit, set()).add(key)
    return {frozenset(ids) for ids in members.values()}
