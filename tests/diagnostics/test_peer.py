"""Every diagnostic vs. the public `kalos` package 0.8.0, on four synthetic raters and on a real data set.

It counts an image without an alpha as 1. Here there are none: all raters are assigned to everything, or at least
two raters to each image.
"""

import copy
import json
from itertools import combinations

import numpy as np
import pytest

from kalos_core import agreement, class_difficulty, collaboration, rater_vitality, read_coco, sensitivity
from tests.diagnostics.naive import several_raters

pytestmark = pytest.mark.filterwarnings("ignore")

NAMES = {"box_iou": "bbox_iou_similarity", "polygon_iou": "segm_iou_similarity"}
COSTS = {"soft": "category_lenient", "neg": "negative_score"}


@pytest.fixture
def peer(peer_package):
    """Return the results of the package for COCO content."""
    core, loading = peer_package("kalos.iaa.core"), peer_package("kalos.utils.data_loading")

    def answer(coco, similarity="box_iou", cost="soft", threshold=0.5):
        data = loading.preprocess_data(copy.deepcopy(coco))
        raters = sorted({name for image in data.values() for name in image["rater_list"]})
        names = {category["id"]: category["name"] for category in coco["categories"]}
        return core.calculate_iaa(
            data, names, "greedy", NAMES[similarity], COSTS[cost], threshold, True, True, True, raters
        )

    return answer


@pytest.fixture(params=[("box_iou", "soft", False), ("box_iou", "neg", True), ("polygon_iou", "soft", True)])
def both(request, peer):
    similarity, cost, sparse = request.param
    coco = several_raters(seed=3, sparse=sparse)
    result = agreement(read_coco(coco), similarity, cost=cost, bootstrap=0)
    assert np.isfinite(result.image_alpha).all()
    return result, peer(coco, similarity, cost)


def test_every_diagnostic_is_the_same(both):
    result, theirs = both
    vitality, classes, pairs = rater_vitality(result), class_difficulty(result), collaboration(result)
    found, expected = [result.alpha, result.global_alpha], [*theirs[:2]]
    for row, rater in enumerate(vitality.rater):
        found += [vitality.images[row], vitality.vitality[row], vitality.global_vitality[row]]
        expected += [len(theirs[2][rater]), np.mean(theirs[2][rater]), theirs[3][rater]]
    assert set(classes.category) == set(theirs[4]) == set(theirs[5])
    for row, name in enumerate(classes.category):
        found += [classes.images[row], classes.alpha[row], classes.global_alpha[row]]
        expected += [len(theirs[4][name]["alphas"]), np.mean(theirs[4][name]["alphas"]), theirs[5][name]["alpha"]]
    for (one, first), (two, second) in combinations(enumerate(pairs.raters), 2):
        found += [pairs.images[one, two], pairs.alpha[one, two], pairs.global_alpha[one, two]]
        expected += [len(theirs[7][first][second]), np.mean(theirs[7][first][second]), theirs[8][first][second]]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_a_real_data_set(peer, lvis_path, lvis):
    theirs = peer(json.loads(lvis_path.read_text(encoding="utf-8")))
    result = agreement(lvis, "box_iou", bootstrap=0)
    found = class_difficulty(result)
    assert set(found.category) == set(theirs[4])
    for row, name in enumerate(found.category):
        assert found.alpha[row] == pytest.approx(np.mean(theirs[4][name]["alphas"]), abs=1e-9)
        assert found.global_alpha[row] == pytest.approx(theirs[5][name]["alpha"], abs=1e-9)
    assert collaboration(result).alpha[0, 1] == pytest.approx(np.mean(theirs[7]["r1"]["r2"]), abs=1e-9)
    assert collaboration(result).global_alpha[0, 1] == pytest.approx(theirs[8]["r1"]["r2"], abs=1e-9)


def test_sensitivity(peer):
    coco = several_raters(seed=4, images=12)
    curve = sensitivity(read_coco(coco), [0.3, 0.6, 0.8], bootstrap=0)
    for row, threshold in enumerate([0.3, 0.6, 0.8]):
        theirs = peer(coco, threshold=threshold)
        assert curve.alpha[row] == pytest.approx(theirs[0], abs=1e-9)
        assert curve.global_alpha[row] == pytest.approx(theirs[1], abs=1e-9)
