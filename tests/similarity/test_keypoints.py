"""`pose` and `oks`: by hand, one by one, vs. the authors' package and COCO's own evaluation."""

import contextlib
import io

import numpy as np
import pytest
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval, Params

from kalos_core import Annotations, InputError, KalosWarning
from kalos_core.shapes import Keypoints
from kalos_core.similarity import get_similarity, oks, pose
from kalos_core.similarity.keypoints import COCO_SIGMAS, USUAL_SIGMA, ScaledPoses
from tests.similarity.shapes_2d import every_pair, random_poses

SIZE = {1: (100, 50)}


def table(*marks, size=SIZE, **more):
    rows = [
        {"id": number + 1, "image": 1, "rater": f"r{number}", "category": "cat", "keypoints": points, **more}
        for number, points in enumerate(marks)
    ]
    return Annotations.from_rows(rows, image_size=size)


def values(annotations, measure):
    measure = get_similarity(measure)
    column = measure.column(annotations)
    left, right = every_pair(len(annotations), len(annotations))
    return measure.values(column, left, column, right).reshape(len(annotations), -1)


def test_pose_by_hand():
    # 30 of 100 wide and 20 of 50 high apart: .3, .4 -> .5 / sqrt(2); the second labelled by one only: 1; mean of two
    found = values(table([[10, 10], [50, 50]], [[40, 30], None], [None, None]), "pose")
    half = 1 - (0.5 / np.sqrt(2) + 1) / 2
    np.testing.assert_allclose(found, [[1, half, 0], [half, 1, 0], [0, 0, 1]], atol=1e-15)


def test_a_pose_far_outside_of_the_image_is_zero():
    with pytest.warns(KalosWarning, match="1 annotations reach beyond their image"):
        annotations = table([[0, 0]], [[500, 300]])
    assert values(annotations, "pose")[0, 1] == 0
    with pytest.raises(InputError, match=r"pose: expected the size of every image that has annotations, .*\(1\)"):
        values(table([[1, 1]], [[1, 2]], size=None), "pose")


def test_pose_of_two_images_is_in_each_ones_own_coordinates():
    rows = [{"image": i, "rater": "ann", "category": "cat", "keypoints": [[20 * i, 10 * i]]} for i in (1, 2)]
    annotations = Annotations.from_rows(rows, image_size={1: (100, 50), 2: (200, 100)})
    assert values(annotations, "pose")[0, 1] == 1


def one_by_one(a, b):
    """Compute N-MPJPE as in KαLOS §14, for coordinates relative to the image with visibilities."""
    errors = []
    for (ax, ay, av), (bx, by, bv) in zip(a, b, strict=True):
        if av and bv:
            errors.append(((ax - bx) ** 2 + (ay - by) ** 2) ** 0.5 / 2**0.5)
        elif av or bv:
            errors.append(1.0)
    return 1 - sum(errors) / len(errors) if errors else 1.0


def relative(poses):
    points = np.nan_to_num(poses.points / poses.size[:, None])
    return np.concatenate([points, poses.visible[..., None]], axis=2)


@pytest.mark.parametrize("seed", range(2))
def test_pose_equals_one_by_one_and_the_authors_package(peer_package, seed):
    poses = random_poses(np.random.default_rng(seed), 12)
    left, right = every_pair(12, 12)
    found = pose(poses, left, poses, right)
    given = relative(poses)
    expected = [one_by_one(given[i], given[j]) for i, j in zip(left, right, strict=True)]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    theirs = peer_package("kalos.iaa.similarity_functions").image_normalized_mpjpe_similarity
    marks = [{"keypoints": mark.ravel().tolist()} for mark in given]
    expected = [theirs(marks[i], marks[j]) for i, j in zip(left, right, strict=True)]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_oks_by_hand():
    # s2 = sqrt(100 * 400) = 200, k = 2 * .1: exp(-(3² + 4²) / (2 * 200 * .04)) for one, 0 for what one alone has
    rows = [
        {"image": 1, "rater": rater, "category": "cat", "box": [0, 0, side, side], "keypoints": points}
        for rater, side, points in [("ann", 10, [[0, 0], [9, 9]]), ("bob", 20, [[3, 4], None])]
    ]
    found = values(Annotations.from_rows(rows), oks([0.1, 0.1], "close"))
    np.testing.assert_allclose(found, [[1, np.exp(-25 / 16) / 2], [np.exp(-25 / 16) / 2, 1]], atol=1e-15)


def test_oks_equals_cocos_evaluation_where_all_is_labelled_and_areas_are_equal():
    rng = np.random.default_rng(0)
    points = rng.random((6, 17, 2)) * 100
    flat = np.concatenate([points, np.full((6, 17, 1), 2.0)], axis=2).reshape(6, -1).tolist()
    base = {"image_id": 1, "category_id": 1, "area": 900.0, "bbox": [0, 0, 30, 30], "iscrowd": 0}
    truth = COCO()
    truth.dataset = {
        "info": {},
        "images": [{"id": 1}],
        "categories": [{"id": 1}],
        "annotations": [{**base, "id": i + 1, "keypoints": flat[i], "num_keypoints": 17} for i in range(6)],
    }
    with contextlib.redirect_stdout(io.StringIO()):
        truth.createIndex()
        evaluation = COCOeval(truth, truth.loadRes([{**base, "keypoints": flat[i], "score": -i} for i in range(6)]),
                              "keypoints")  # fmt: skip
        evaluation._prepare()
    expected = evaluation.computeOks(1, 1)
    np.testing.assert_allclose(values(table(*flat, size=None, box=[0, 0, 30, 30]), "oks"), expected, atol=1e-12)


def test_the_area_is_that_of_the_most_exact_shape():
    shapes = [
        {"polygon": [[0, 0, 4, 0, 4, 2]], "mask": np.ones((1, 5), bool)},
        {"mask": np.ones((1, 5), bool)},
        {"box": [0, 0, 3, 3]},
        {},
    ]
    rows = [
        {"image": i, "rater": "ann", "category": "cat", "keypoints": [[0, 0], [2, 5]], **shape}
        for i, shape in enumerate(shapes)
    ]
    column = oks().column(Annotations.from_rows(rows))
    assert isinstance(column, ScaledPoses)
    assert column.scale.tolist() == [4, 5, 9, 10]
    assert column.sigmas.tolist() == [USUAL_SIGMA] * 2


def test_sigmas():
    assert len(COCO_SIGMAS) == 17
    assert pytest.approx(0.0669, abs=1e-4) == USUAL_SIGMA
    np.testing.assert_allclose(COCO_SIGMAS, Params("keypoints").kpt_oks_sigmas)
    with pytest.raises(InputError, match="sigmas: expected 1, one a keypoint, got 3"):
        oks([0.1] * 3, "three").column(table([[1, 1]]))
    for wrong in ([0.1, 0], [[0.1]]):
        with pytest.raises(InputError, match="sigmas: expected positive numbers, one a keypoint, got"):
            oks(wrong)


def test_the_union_of_poses_is_the_mean_of_what_is_labelled():
    nan = (np.nan, np.nan)
    points = np.array([[(0, 0), (2, 2), nan], [(4, 2), nan, nan]], float)
    poses = Keypoints(points, ~np.isnan(points[..., 0]), np.full((2, 2), 9.0), np.array([True, True]))
    joined = poses.union(np.array([[0, 1]]))
    np.testing.assert_array_equal(joined.points, [[(2, 1), (2, 2), nan]])
    assert joined.visible.tolist() == [[True, True, False]]
