"""Every diagnostic against the public `kalos` package 0.8.0, on four synthetic raters and on a real data set.

It counts an image without an alpha as 1; everybody here is asked for everything, or at least two raters for each image,
so that there is none.
"""

import copy
import json

import numpy as np
import pytest

from kalos_core import agreement, class_difficulty, collaboration, rater_vitality, read_coco, sensitivity
from tests.diagnostics.naive import several_raters

pytestmark = pytest.mark.filterwarnings("ignore")

NAMES = {"box_iou": "bbox_iou_similarity", "polygon_iou": "segm_iou_similarity"}
COSTS = {"soft": "category_lenient", "neg": "negative_score"}


@pytest.fixture
def peer(peer_package):
    """What the package answers about COCO content."""
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


def test_the_alphas_are_the_same(both):
    result, theirs = both
    assert result.alpha == pytest.approx(theirs[0], abs=1e-9)
    assert result.global_alpha == pytest.approx(theirs[1], abs=1e-9)


def test_vitality(both):
    result, theirs = both
    found = rater_vitality(result)
    for row, rater in enumerate(found.rater):
        assert found.images[row] == len(theirs[2][rater])
        assert found.vitality[row] == pytest.approx(np.mean(theirs[2][rater]), abs=1e-9)
        assert found.global_vitality[row] == pytest.approx(theirs[3][rater], abs=1e-9)


def test_class_difficulty(both):
    result, theirs = both
    found = class_difficulty(result)
    assert set(found.category) == set(theirs[4]) == set(theirs[5])
    for row, name in enumerate(found.category):
        assert found.images[row] == len(theirs[4][name]["alphas"])
        assert found.alpha[row] == pytest.approx(np.mean(theirs[4][name]["alphas"]), abs=1e-9)
        assert found.global_alpha[row] == pytest.approx(theirs[5][name]["alpha"], abs=1e-9)


def test_collaboration(both):
    result, theirs = both
    found = collaboration(result)
    for one, first in enumerate(found.raters):
        for two, second in enumerate(found.raters):
            if first < second:
                assert found.images[one, two] == len(theirs[7][first][second])
                assert found.alpha[one, two] == pytest.approx(np.mean(theirs[7][first][second]), abs=1e-9)
                assert found.global_alpha[one, two] == pytest.approx(theirs[8][first][second], abs=1e-9)


def test_a_real_data_set(peer, lvis_path, lvis):
    theirs = peer(json.loads(lvis_path.read_text(encoding="utf-8")))
    result = agreement(lvis, bootstrap=0)
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
