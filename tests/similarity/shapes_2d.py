"""Random boxes, polygons, masks and poses, and all pairs of two columns of shapes."""

import numpy as np

from kalos_core.shapes import Boxes, Keypoints, Masks, Polygons
from tests.strategies import FORMS, ring

IMAGE_SIZE = 120.0


def random_boxes(rng, count, shift=0.0, scale=1):
    numbers = np.column_stack([rng.random((count, 2)) * 60, rng.random((count, 2)) * 40 + 1]) * scale
    return Boxes.from_xywh(numbers + np.array([shift, shift, 0, 0]))


def random_polygons(rng, count, shift=0.0, scale=1):
    return Polygons.from_rings(
        [
            [
                (np.reshape(ring(rng.integers(len(FORMS)), *rng.random(2) * 60, *rng.random(2) * 40 + 1), (-1, 2)))
                * scale
                + shift
            ]
            for _ in range(count)
        ]
    )


def random_masks(rng, count, shift=0.0, scale=1):
    """Return spotted rectangles on the smallest sufficient canvas."""
    canvases = []
    for _ in range(count):
        canvas = np.zeros((100, 100), bool)
        x, y = rng.integers(0, 60, 2)
        canvas[y : y + rng.integers(1, 40), x : x + rng.integers(1, 40)] = True
        canvas &= rng.random(canvas.shape) < rng.choice([0.7, 1.0])
        canvas[y, x] = True
        canvases.append(np.pad(np.kron(canvas, np.ones((scale, scale), bool)), ((int(shift) % 97, 0), (int(shift), 0))))
    return Masks.from_arrays(canvases)


def random_poses(rng, count, shift=0.0, scale=1):
    """Return seventeen keypoints each; two in three are labelled, the first two always."""
    points = (rng.random((count, 1, 2)) * 60 + rng.random((count, 17, 2)) * 40) * scale + shift
    visible = rng.random((count, 17)) < 0.7
    visible[:, :2] = True
    points = np.where(visible[..., None], points, np.nan)
    return Keypoints(points, visible, np.full((count, 2), IMAGE_SIZE * scale), np.ones(count, bool))


def every_pair(n, m):
    left, right = np.divmod(np.arange(n * m), m)
    return left, right
