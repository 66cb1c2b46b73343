"""Similarity of cuboids of any orientation, from the exact volume of their intersection."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.options import checked
from kalos_core.shapes import Cuboids
from kalos_core.similarity.base import ROUNDING, ratio

PAIRS_AT_ONCE = 4096
"""Number of pairs clipped together; it bounds the memory of their faces."""

SIDES = [(axis, side) for axis in range(3) for side in (-1.0, 1.0)]
"""The six faces of a cuboid, as (axis, direction)."""

SAME_PLANE = 1e-9
"""Tolerance, relative to the smallest dimension, within which two parallel faces lie in one plane; far above rounding
errors."""

PARALLEL = 1 - 5e-13
"""Cosine at which two planes count as parallel: an angle of about 1e-6 radians."""


@checked
def cuboid_iou(
    left: Cuboids,
    left_rows: NDArray[np.intp],
    right: Cuboids,
    right_rows: NDArray[np.intp],
    floor: float = 0.0,
) -> NDArray[np.float64]:
    """Compute the intersection over union of cuboids of any orientation.

    The intersection of two cuboids is a convex body. Its faces are the six faces of each cuboid, clipped by the planes
    of the other (Sutherland and Hodgman 1974). Its volume is a third of the sum over faces of area times distance from
    any point (divergence theorem).

    Parameters
    ----------
    left, right : Cuboids
    left_rows, right_rows : (P,) int
    floor : float
        Pairs certain to stay below this value get 0.

    Returns
    -------
    (P,) float64 in [0, 1]
        0 where a cuboid has no volume, even compared with itself.

    Notes
    -----
    FiftyOne's own `compute_cuboid_iou` reads the three angles as a rotation vector. It gives the same value for cuboids
    rotated about one axis, and a different value for cuboids rotated about several axes.

    Examples
    --------
    Two unit cubes at the same place, the second rotated by 45 degrees: their intersection is an octagonal prism.

    >>> cubes = Cuboids.from_rows([[0, 0, 0, 1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1, 0, 0, np.pi / 4]])
    >>> iou = cuboid_iou(cubes, np.array([0, 0]), cubes, np.array([0, 1]))
    >>> octagon = 2 * (2**0.5 - 1)
    >>> float(iou[0]), abs(float(iou[1]) - octagon / (2 - octagon)) < 1e-12
    (1.0, True)
    """
    limit = cuboid_bound(left, left_rows, right, right_rows)
    worth = np.flatnonzero((limit > 0) & (limit >= floor))
    first, second = left.rows()[left_rows[worth]], right.rows()[right_rows[worth]]
    swap, same = _comes_after(first, second)
    iou = np.zeros(len(left_rows))
    iou[worth[same]] = 1.0
    worth, swap = worth[~same], swap[~same, None]
    a, b = (
        Cuboids.from_rows(rows)
        for rows in (np.where(swap, second[~same], first[~same]), np.where(swap, first[~same], second[~same]))
    )
    shared = np.zeros(len(worth))
    for start in range(0, len(worth), PAIRS_AT_ONCE):
        rows = np.arange(start, min(start + PAIRS_AT_ONCE, len(worth)))
        shared[rows] = shared_volume(a.take(rows), b.take(rows))
    iou[worth] = np.minimum(ratio(shared, a.volume() + b.volume() - shared), 1.0)
    return iou


def cuboid_bound(
    left: Cuboids, left_rows: NDArray[np.intp], right: Cuboids, right_rows: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return (P,) upper bounds on the IoU of two cuboids, from their volumes and extents alone."""
    a, b = left.extent()[left_rows], right.extent()[right_rows]
    sides = np.maximum(np.minimum(a[:, 3:], b[:, 3:]) - np.maximum(a[:, :3], b[:, :3]), 0)
    volume_a, volume_b = left.volume()[left_rows], right.volume()[right_rows]
    most = np.minimum(np.minimum(volume_a, volume_b), sides.prod(axis=1))
    return ratio(most, volume_a + volume_b - most) * (1 + ROUNDING)


def shared_volume(a: Cuboids, b: Cuboids) -> NDArray[np.float64]:
    """Return the (P,) volumes of the intersections of P cuboids with P others.

    Examples
    --------
    >>> a = Cuboids.from_rows([[0, 0, 0, 2, 2, 2, 0, 0, 0]])
    >>> b = Cuboids.from_rows([[1, 1, 1, 2, 2, 2, 0, 0, 0]])
    >>> shared_volume(a, b).round(12).tolist()
    [1.0]
    """
    near = SAME_PLANE * np.minimum(a.dimensions.min(axis=1), b.dimensions.min(axis=1))
    ours = _clipped_part(a, b, near)
    theirs = _clipped_part(b, a, -near)  # faces in the same plane are already counted in `ours`
    return np.maximum(ours + theirs, 0.0)


def _clipped_part(body: Cuboids, other: Cuboids, slack: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the (P,) contributions to the shared volume of the faces of `body`, clipped by the planes of `other`.

    `slack` is the distance by which a face may lie beyond a plane parallel to it; if negative, the face must lie before
    the plane. Two faces back to back both count, and cancel. Distances are measured from the midpoint of both centres.
    """
    to_own = body.axes.transpose(0, 2, 1)
    apart = _along(to_own, (other.location - body.location)[:, None])
    axes = to_own @ other.axes
    half = body.dimensions / 2
    part = np.zeros(len(body))
    for axis, side in SIDES:
        face = _face(half, axis, side) - apart[:, None, :]
        for plane, direction in SIDES:
            facing = side * direction * axes[:, axis, plane]
            reach = other.dimensions[:, plane] / 2
            reach = reach + np.where(facing > PARALLEL, slack, 0) + np.where(facing < -PARALLEL, np.abs(slack), 0)
            face = _clip(face, direction * axes[:, :, plane], reach)
        part += _area(face, axis) * (half[:, axis] - side * apart[:, axis] / 2) / 3
    return part


def _face(half: NDArray[np.float64], axis: int, side: float) -> NDArray[np.float64]:
    """Return the (P, 4, 3) corners, in order, of one face of cuboids around the origin with the given half sizes."""
    signs = np.empty((4, 3))
    signs[:, axis] = side
    signs[:, (axis + 1) % 3] = (-1, 1, 1, -1)
    signs[:, (axis + 2) % 3] = (-1, -1, 1, 1)
    return signs * half[:, None, :]


def _clip(polygon: NDArray[np.float64], normal: NDArray[np.float64], reach: NDArray[np.float64]) -> NDArray[np.float64]:
    """Clip (P, K, 3) convex polygons at distance `reach` along `normal` and return (P, L, 3) polygons.

    A polygon with fewer than L corners repeats its first corner. An empty polygon has no extent.
    """
    beyond = _along(polygon, normal[:, None]) - reach[:, None]
    following, beyond_following = np.roll(polygon, -1, axis=1), np.roll(beyond, -1, axis=1)
    inside = beyond <= 0
    crosses = inside != (beyond_following <= 0)
    share = np.divide(beyond, beyond - beyond_following, out=np.zeros_like(beyond), where=crosses)
    cut = polygon + share[:, :, None] * (following - polygon)
    corners = np.stack([polygon, cut], axis=2).reshape(len(polygon), -1, 3)
    kept = np.stack([inside, crosses], axis=2).reshape(len(polygon), -1)
    count = kept.sum(axis=1)
    order = np.argsort(~kept, axis=1, kind="stable")[:, : max(count.max(initial=1), 1)]
    order = np.where(np.arange(order.shape[1]) < count[:, None], order, order[:, :1])
    return np.take_along_axis(corners, order[:, :, None], axis=1)


def _area(polygon: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Return the (P,) areas of convex polygons perpendicular to an axis."""
    first, second = ((polygon - polygon[:, :1])[:, :, (axis + step) % 3] for step in (1, 2))
    turned = first * np.roll(second, -1, axis=1) - np.roll(first, -1, axis=1) * second
    return np.asarray(np.abs(sum(turned.T)) / 2)  # corner by corner: rounding must not depend on repeated corners


def _along(vectors: NDArray[np.float64], direction: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return dot products of vectors (..., 3), summed in a fixed order so that they do not depend on the batch."""
    x, y, z = np.moveaxis(vectors * direction, -1, 0)
    return np.asarray(x + y + z)


def _comes_after(a: NDArray[np.float64], b: NDArray[np.float64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return (P,) masks: where the row of a is lexicographically larger than that of b, and where both are equal."""
    differs = a != b
    position = differs.argmax(axis=1)
    line = np.arange(len(a))
    return a[line, position] > b[line, position], ~differs.any(axis=1)
