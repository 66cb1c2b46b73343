"""`centroid`: each kind by hand and by shapely, and its requirements."""

import numpy as np
import pytest

from kalos_core import Annotations, InputError, KalosWarning, agreement, variations
from kalos_core.shapes import Boxes, Keypoints, Masks, Polygons
from kalos_core.similarity import get_similarity
from kalos_core.similarity.centroids import Centroids
from tests.similarity.shapes_2d import random_polygons

CAT = {"image": 1, "category": "cat"}
SIZE = {1: (60, 80)}


def test_of_each_kind_by_hand():
    triangle, line = [0, 0, 6, 0, 0, 3], [1, 1, 5, 1, 3, 1]
    assert Centroids(Polygons.from_rings([[triangle]]), np.ones(1)).points.tolist() == [[2, 1]]
    assert np.isnan(Centroids(Polygons.from_rings([[line]]), np.ones(1)).points).all()
    assert Centroids(Boxes.from_xywh([[0, 0, 6, 4]]), np.ones(1)).points.tolist() == [[3, 2]]
    # pixels in the middle of (0, 0), (1, 0) and (1, 1): x = (.5 + 1.5 + 1.5) / 3, y = (.5 + .5 + 1.5) / 3
    masks = Masks.from_arrays([[[1, 1], [0, 1]], [[0, 0], [0, 0]]])
    np.testing.assert_allclose(Centroids(masks, np.ones(2)).points, [[3.5 / 3, 2.5 / 3], [np.nan, np.nan]])
    poses = Keypoints(
        np.array([[[0.0, 0], [4, 2]], [[np.nan] * 2] * 2]), np.array([[True] * 2, [False] * 2]), np.ones((2, 2)),
        np.array([True, True]),
    )  # fmt: skip
    np.testing.assert_array_equal(Centroids(poses, np.ones(2)).points, [[2, 1], [np.nan, np.nan]])


def test_of_polygons_and_masks_by_other_means():
    rng = np.random.default_rng(0)
    polygons = random_polygons(rng, 20)
    expected = [shape.centroid.coords[0] for shape in polygons.geometries]
    np.testing.assert_allclose(Centroids(polygons, np.ones(20)).points, expected)
    drawn = rng.random((20, 7, 9)) < 0.4
    expected = [np.argwhere(canvas).mean(axis=0)[::-1] + 0.5 for canvas in drawn]
    np.testing.assert_allclose(Centroids(Masks.from_arrays(drawn), np.ones(20)).points, expected, atol=1e-12)


def test_the_most_exact_shape_of_all_annotations_over_the_diagonal_of_the_image():
    # centroids of the triangles (2, 1) and (5, 5): 5 of 100; centres of boxes would differ
    polygons = [[0, 0, 6, 0, 0, 3], [3, 4, 9, 4, 3, 7]]
    rows = [{**CAT, "rater": str(i), "box": [9 * i, 0, 1, 1], "polygon": [ring]} for i, ring in enumerate(polygons)]
    annotations = Annotations.from_rows(rows, image_size=SIZE)
    measure = get_similarity("centroid")
    column = measure.column(annotations)
    found = measure.values(column, np.array([0, 0]), column, np.array([1, 0]))
    np.testing.assert_allclose(found, [1 - np.hypot(3, 4) / 100, 1], atol=1e-15)


def test_points_beside_boxes_are_compared_by_their_places_or_not_at_all():
    """The box around a point has no area: its IoU with an equal one is 0."""
    shapes = {"car": {"box": [0, 0, 6, 8]}, "tip": {"keypoints": [[30, 40]]}}
    cells = [(rater, name) for rater in ("ann", "bob") for name in shapes]
    rows = [{"image": 1, "rater": rater, "category": name, **shapes[name]} for rater, name in cells]
    table = Annotations.from_rows(rows, image_size={1: (100, 100)})
    for similarity in ("auto", "box_iou", "box_giou"):
        with pytest.raises(InputError, match=r"2 of 4 annotations without.*use similarity='centroid'"):
            agreement(table, similarity)
    assert agreement(table, "centroid", 0.9, bootstrap=0).units.values.tolist() == [[0, 0], [1, 1]]
    shapes["tip"] = {"keypoints": [[30, 40], [50, 60]]}  # its box can be compared, with a warning
    posed = [{"image": 1, "rater": rater, "category": name, **shapes[name]} for rater, name in cells]
    with pytest.warns(KalosWarning, match="2 of 4 annotations have key points and are compared by the boxes"):
        assert agreement(Annotations.from_rows(posed), bootstrap=0).alpha == 1


def test_across_images_the_diagonal_of_the_left_one():
    column = Centroids(Boxes.from_xywh([[0, 0, 2, 2], [3, 4, 2, 2]]), np.array([10.0, 50.0]))
    found = get_similarity("centroid").values(column, np.array([0, 1]), column, np.array([1, 0]))
    np.testing.assert_allclose(found, [0.5, 0.9])


def test_images_of_unknown_size_are_named():
    rows = [{**CAT, "rater": f"r{i}", "image": f"{i}.jpg", "box": [0, 0, 2, 2]} for i in range(7)]
    with pytest.raises(InputError, match=r"centroid: expected the size of every image .* 6 images \(1.jpg, .* 1 more"):
        agreement(Annotations.from_rows(rows, image_size={"0.jpg": (9, 9)}, assigned="all"), "centroid")
    rows = [{**CAT, "rater": rater, "box": [0, 0, 2, 2]} for rater in ("ann", "bob")]
    empty = Annotations.from_rows(rows, images=[1, 2], image_size=SIZE)  # unknown for images without annotations
    assert agreement(empty, "centroid", bootstrap=0).alpha == 1


@pytest.mark.parametrize("kind", ["box", "polygon", "mask", "keypoints"])
def test_annotations_of_every_kind_are_joined_to_one(kind):
    #  ann  +-------+    centre 6, 5; bob in two halves: their union's centre is 6, 5 too
    #  bob  +--++---+
    def shape(x, w):
        canvas = np.zeros((80, 60), bool)
        canvas[:10, x : x + w] = True
        return {
            "box": {"box": [x, 0, w, 10]},
            "polygon": {"polygon": [[x, 0, x + w, 0, x + w, 10, x, 10]]},
            "mask": {"mask": canvas},
            "keypoints": {"keypoints": [[x, 0], [x + w, 10]]},
        }[kind]

    marks = [("ann", 0, 12), ("bob", 0, 6), ("bob", 6, 6)]
    annotations = Annotations.from_rows([{**CAT, "rater": r, **shape(x, w)} for r, x, w in marks], image_size=SIZE)
    found = variations(annotations, "centroid", 0.99)
    assert (found.type.tolist(), found.similarity.tolist()) == (["merged"], [1.0])


def test_kinds_it_cannot_compare_are_named():
    rows = [{**CAT, "rater": rater, "cuboid": [0, 0, 0, 1, 1, 1, 0, 0, 0]} for rater in ("ann", "bob")]
    with pytest.raises(InputError, match="centroid: expected boxes, polygons, masks or keypoints, got cuboids"):
        agreement(Annotations.from_rows(rows, image_size=SIZE), "centroid")
