"""Cuboids vs. FiftyOne: its corners, and its IoU."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from fiftyone.utils import utils3d

from kalos_core.similarity.cuboids import cuboid_iou
from tests.similarity.shapes_3d import random_cuboids


def test_corners_are_where_fiftyone_puts_them():
    column = random_cuboids(np.random.default_rng(0), 10)
    for row, corners in enumerate(column.corners()):
        theirs = utils3d.corners_from_euler(column.location[row], column.rotation[row], column.dimensions[row]).T
        ours, theirs = (points[np.lexsort(points.round(9).T)] for points in (corners, theirs))
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_equals_fiftyone(seed):
    column = random_cuboids(np.random.default_rng(seed), 25)
    # a rotation matrix: FiftyOne would interpret three angles as a rotation vector
    labels = [
        SimpleNamespace(location=where, dimensions=size, rotation=axes)
        for where, size, axes in zip(column.location, column.dimensions, column.axes, strict=True)
    ]
    left, right = np.triu_indices(25, 1)
    values = cuboid_iou(column, left, column, right)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns if two cuboids hardly touch
        theirs = [utils3d.compute_cuboid_iou(labels[a], labels[b]) for a, b in zip(left, right, strict=True)]
    assert (values > 0).sum() > 50
    np.testing.assert_allclose(values, theirs, atol=1e-9)
