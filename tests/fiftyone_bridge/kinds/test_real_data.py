"""The doubly annotated part of LVIS through FiftyOne: the numbers are those of the file, and of the published tool."""

from collections.abc import Iterator
from pathlib import Path

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core import Annotations, agreement, variations
from tests.tiers import extended

PUBLISHED = {  # by the package `kalos` 0.8.0, threshold .5: mean and global alpha
    ("box_iou", "soft"): (0.688879, 0.648286),
    ("box_iou", "neg"): (0.679935, 0.637584),
    ("polygon_iou", "soft"): (0.703012, 0.652082),
    ("polygon_iou", "neg"): (0.690955, 0.640874),
}
CORRECT = {0.5: 1398, 0.75: 1222}


@pytest.fixture(scope="module")
def dataset(lvis_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[fo.Dataset]:
    loaded = kf.load_raters(lvis_path, "lvis", canvas=tmp_path_factory.mktemp("canvas")).dataset
    yield loaded
    loaded.delete()


@pytest.fixture(scope="module")
def read(dataset: fo.Dataset) -> Annotations:
    return kf.read_annotations(dataset)


def test_all_of_it(lvis, read):
    assert (len(read), len(read.images), list(read.raters)) == (3521, 200, list(lvis.raters))
    assert [Path(file).name for file in lvis.files] == list(read.files)
    np.testing.assert_array_equal(read.assigned, lvis.assigned)
    for kind, tolerance in [("polygon", 1e-9), ("box", 0.01)]:  # LVIS rounds its boxes; polylines have none
        areas = [np.sort(table.shapes[kind].area()) for table in (read, lvis)]
        np.testing.assert_allclose(*areas, rtol=tolerance)


@pytest.mark.parametrize(("similarity", "cost"), PUBLISHED)
def test_agreement(lvis, read, similarity, cost):
    result = agreement(read, similarity, cost=cost, bootstrap=0)
    assert (result.alpha, result.global_alpha) == pytest.approx(PUBLISHED[similarity, cost], abs=1e-6)
    expected = agreement(lvis, similarity, cost=cost, bootstrap=0)
    np.testing.assert_allclose(result.image_alpha, expected.image_alpha, atol=1e-12)


@pytest.mark.parametrize("threshold", CORRECT)
def test_variations(lvis, read, threshold):
    counts = variations(read, threshold=threshold, max_merge=1).counts()
    assert counts["correct"] == CORRECT[threshold]
    assert counts == variations(lvis, threshold=threshold, max_merge=1).counts()
    assert variations(read, threshold=threshold).counts() == variations(lvis, threshold=threshold).counts()


@extended
def test_runs(dataset, read):
    run = kf.compute_agreement(dataset, "run", bootstrap=0)
    found = kf.find_variations(dataset, "found")
    assert run.settings["similarity"] == found.settings["similarity"] == "polygon_iou"
    alphas = [np.nan if alpha is None else alpha for alpha in dataset.values("run_alpha")]
    np.testing.assert_array_equal(alphas, run.result.image_alpha)
    fields = list(kf.rater_fields(dataset).values())
    units = [unit for field in fields for unit in dataset.values(f"{field}.polylines.run_unit", unwind=True)]
    assert sum(unit is not None for unit in units) == len(read)
    assert max(unit for unit in units if unit is not None) == len(run.result.units) - 1
    for kind in ("correct", "merged", "wrong_class"):
        view, chosen = kf.view_of_variation(dataset, "found", kind), np.flatnonzero(found.result.type == kind)
        rows = {row for of in (found.result.rows_a, found.result.rows_b) for number in chosen for row in of[number]}
        assert sum(view.count(f"{field}.polylines") for field in fields) == len(rows)
    for key in ("run", "found"):
        assert kf.load_run(dataset, key).stale == ()
        kf.delete_run(dataset, key)
