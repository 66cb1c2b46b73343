"""Drawn scenes: the promised properties of images, and outlines that match the paint."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from numpy.typing import NDArray
from PIL import Image

from demo.scenes import CATEGORIES, Plan, draw_scenes, objects_of, paint, plan_scene

SIZE = (640, 480)
OPEN_WORK = {"bicycle": 0.35, "bench": 0.75}  # objects with gaps, which the outline encloses


@pytest.fixture(scope="module")
def plans() -> list[Plan]:
    return [plan_scene(index) for index in range(72)]


def covered(outline: shapely.Geometry, size: tuple[int, int]) -> NDArray[np.bool_]:
    """Return the pixels (H, W) whose centres are inside `outline`."""
    x, y = np.meshgrid(np.arange(size[0]) + 0.5, np.arange(size[1]) + 0.5)
    return np.asarray(shapely.contains_xy(outline, x, y))


def changed(first: Image.Image, second: Image.Image) -> NDArray[np.bool_]:
    """Return the pixels (H, W) in which two images differ."""
    return np.asarray((np.asarray(first) != np.asarray(second)).any(axis=2))


def test_the_default_set_is_large_and_varied(plans: list[Plan]) -> None:
    counts = np.array([len(plan.placed) for plan in plans])
    drawn = [one.category for plan in plans for one in plan.placed]
    assert len(plans) >= 60
    assert len({plan.name for plan in plans}) == len(plans)
    assert {plan.theme.name for plan in plans} == {"street", "park", "harbour", "farm"}
    assert set(drawn) == set(CATEGORIES)
    assert min(drawn.count(category) for category in CATEGORIES) >= 5
    assert set(counts) == {0, 3, 4, 5, 6, 7, 8, 9}


def test_same_seed_same_scenes_and_count_does_not_matter() -> None:
    two, three = draw_scenes(2, seed=5), draw_scenes(3, seed=5)
    for old, new in zip(two, three, strict=False):
        assert old.name == new.name
        assert not changed(old.image, new.image).any()
        for one, other in zip(old.objects, new.objects, strict=True):
            assert one.category == other.category
            np.testing.assert_array_equal(one.polygon, other.polygon)


def test_every_outline_is_valid_and_inside_the_image(plans: list[Plan]) -> None:
    for plan in plans:
        for one in objects_of(plan):
            outline = shapely.Polygon(one.polygon)
            assert one.polygon.dtype == np.float64
            assert 4 <= len(one.polygon) <= 100
            assert outline.is_valid
            assert outline.area > 20
            assert (one.polygon >= 0).all()
            assert (one.polygon <= SIZE).all()


def test_an_outline_is_where_its_object_is_painted() -> None:
    for index in range(4):  # one scene of each theme
        plan = plan_scene(index)
        whole = paint(plan)
        for number, one in enumerate(plan.placed):
            paint_of_it = changed(whole, paint(plan, skip={number}))
            near = covered(one.outline.buffer(2.0), SIZE)
            assert not (paint_of_it & ~near).any(), one.category
            nearer = shapely.union_all([other.outline for other in plan.placed[number + 1 :]])
            visible = covered(one.outline.buffer(-1.0).difference(nearer.buffer(2.0)), SIZE)
            share = (paint_of_it & visible).sum() / max(1, visible.sum())
            assert share > OPEN_WORK.get(one.category, 0.9), (one.category, share)
