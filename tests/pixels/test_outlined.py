"""Surface Dice as a similarity: by hand, and vs. the distances of all pixels of both boundaries."""

import numpy as np
import pytest
from scipy import ndimage
from scipy.spatial.distance import cdist

from kalos_core import Annotations, agreement, boundary_distance, variations
from kalos_core.pixels import surface_dice
from kalos_core.shapes import Masks, Polygons
from kalos_core.similarity import SIMILARITIES, register_similarity

SIZE = (20, 24)


def square(x, y=0, side=10):
    return [x, y, x + side, y, x + side, y + side, x, y + side]


def polygons(*rings):
    return Polygons.from_rings([[ring] for ring in rings])


def compared(measure, column, pairs):
    left, right = np.array(pairs, np.intp).T
    return measure.values(column, left, column, right)


@pytest.mark.parametrize(
    ("shift", "tolerance", "share"),
    [
        (0, 0, 1),
        (3, 0, 14 / 40),  # 7 of the upper side, and 7 of the lower one
        (3, 1, 18 / 40),  # 8 of these, and 1 at both ends of the upright side within the other square
        (3, 3, 1),
        (12, 1, 0),
    ],
)
def test_squares_side_by_side(shift, tolerance, share):
    (found,) = compared(surface_dice(tolerance), polygons(square(0), square(shift)), [(0, 1)])
    assert found == pytest.approx(share, abs=2e-3)


@pytest.mark.parametrize(("seed", "tolerance"), [(0, 0), (1, 1), (2, 2.5), (3, 1)])
def test_masks_as_all_distances_of_their_pixels(seed, tolerance):
    rng = np.random.default_rng(seed)
    smooth = ndimage.gaussian_filter(rng.random((4, *SIZE)), (0, 2, 2))
    masks = smooth > np.quantile(smooth, 0.7, axis=(1, 2), keepdims=True)
    pairs = [(a, b) for a in range(4) for b in range(4)]
    found = compared(surface_dice(tolerance, "mask"), Masks.from_arrays(list(masks)), pairs)
    edges = [np.argwhere(mask & ~ndimage.binary_erosion(mask)) for mask in masks]
    for (a, b), value in zip(pairs, found, strict=True):
        apart = cdist(edges[a], edges[b])
        near = (apart.min(axis=1) <= tolerance).sum() + (apart.min(axis=0) <= tolerance).sum()
        assert value == pytest.approx(near / (len(edges[a]) + len(edges[b])))


def test_polygons_as_boundary_distance():
    rng = np.random.default_rng(1)
    corners = [rng.random((3, 2)) * 12 + rng.random(2) * 30 for _ in range(8)]
    pairs = [(a, b) for a in range(8) for b in range(a, 8)]
    found = compared(surface_dice(1.5), polygons(*(each.ravel().tolist() for each in corners)), pairs)
    expected = [boundary_distance(corners[a], corners[b]).surface_dice(1.5) for a, b in pairs]
    np.testing.assert_allclose(found, expected)
    assert 0 < (found > 0).sum() < len(pairs)


def test_it_matches_and_merges_by_name_and_is_symmetric():
    marks = [("ann", 0), ("ann", 40), ("bob", 1), ("bob", 55)]
    rows = [{"image": 1, "rater": rater, "category": "cat", "polygon": [square(x)]} for rater, x in marks]
    annotations = Annotations.from_rows(rows)
    found = agreement(annotations, surface_dice(2), bootstrap=0)
    assert found.pairs.name == "polygon_surface_dice"
    assert (found.pairs.left.tolist(), found.pairs.right.tolist()) == ([0], [2])
    register_similarity(surface_dice(2, name="rims"))
    try:
        assert variations(annotations, "rims").counts()["correct"] == 1
    finally:
        del SIMILARITIES["rims"]
    one, other = compared(surface_dice(2), polygons(square(0), square(4, 3)), [(0, 1), (1, 0)])
    assert one == pytest.approx(other, abs=1e-3)


def test_a_mask_of_nothing_is_like_nothing():
    empty = Masks.from_arrays([np.zeros(SIZE, bool), np.zeros(SIZE, bool), np.ones(SIZE, bool)])
    assert compared(surface_dice(9, "mask"), empty, [(0, 1), (0, 2), (2, 2)]).tolist() == [0, 0, 1]
