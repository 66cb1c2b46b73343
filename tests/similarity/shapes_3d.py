"""Random volumes and cuboids."""

from types import SimpleNamespace

import numpy as np

from kalos_core.arrays import run_starts
from kalos_core.shapes import Cuboids, Volumes
from kalos_core.shapes.volumes import Scans
from tests.strategies import FORMS, ring

SCANS = Scans(
    position=np.concatenate([np.arange(10) * 2.5, np.arange(5) * 1.0]),
    start=np.array([0, 10, 15]),
    pixel_spacing=np.array([0.5, np.nan]),
    size=np.array([[8192.0, 8192], [64, 32]]),
    span=np.array([[0.0, 22.5], [0, 4]]),
)
"""Two scans: ten slices of 8192 x 8192 pixels, and five of 64 x 32 with unknown pixel spacing."""


def volumes(marks, scan=0, scans=SCANS):
    """Return annotations of one scan, or of one each, as lists of (slice, points, inclusion) or (slice, points)."""
    contours = [
        (contour[0], np.reshape(contour[1], (-1, 2)), (*contour, True)[2]) for mark in marks for contour in mark
    ]
    return Volumes(
        np.concatenate([np.zeros((0, 2)), *(points for _, points, _ in contours)]),
        run_starts([len(points) for _, points, _ in contours]),
        np.array([number for number, _, _ in contours], np.intp),
        np.array([inclusion for _, _, inclusion in contours], np.bool_),
        run_starts([len(mark) for mark in marks]),
        np.broadcast_to(np.asarray(scan, np.intp), len(marks)),
        scans,
    )


def random_volumes(rng, count, shift=0.0, scale=1):
    """Return stacks of one to four slices, some of them with a hole."""
    marks = []
    for _ in range(count):
        form, x, y, width, height = (
            rng.integers(len(FORMS)),
            *(rng.random(2) * 60 * scale + shift),
            *((rng.random(2) * 40 + 1) * scale),
        )
        first, slices = rng.integers(6), rng.integers(1, 5)
        marks.append([(first + k, ring(form, x + k * scale, y, width, height, rng.integers(6))) for k in range(slices)])
        if rng.random() < 0.5:
            marks[-1].append((first, ring(0, x + width / 8, y + height / 8, width / 8, height / 8), False))
    return volumes(marks)


def random_cuboids(rng, count, shift=0.0, scale=1):
    location, dimensions = rng.random((count, 3)) * 6 * scale + shift, (rng.random((count, 3)) * 4 + 0.5) * scale
    numbers = [location, dimensions, rng.random((count, 3)) * 6 - 3]
    return Cuboids.from_rows(np.concatenate(numbers, axis=1))


KINDS = {
    "volume": SimpleNamespace(
        random=random_volumes,
        flat=lambda: volumes([[(0, [1, 1, 5, 1, 3, 1])], [(0, [0, 0, 8, 0, 8, 8, 0, 8])]]),
        empty=lambda: volumes([]),
    ),
    "cuboid": SimpleNamespace(
        random=random_cuboids,
        flat=lambda: Cuboids.from_rows([[1, 1, 1, 5, 0, 5, 0, 0, 0], [0, 0, 0, 8, 8, 8, 0, 0, 1]]),
        empty=lambda: Cuboids.from_rows([]),
    ),
}
