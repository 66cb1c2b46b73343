"""Doubly annotated part of LVIS in FiftyOne: the numbers are those of the file."""

from collections.abc import Iterator
from pathlib import Path

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core import Annotations, agreement, variations


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


@pytest.mark.parametrize("similarity", ["box_iou", "polygon_iou"])
def test_results_are_those_of_the_file(lvis, read, similarity):
    """The library's tests have these numbers, confirmed by the package `kalos` 0.8.0."""
    found, expected = (agreement(table, similarity, bootstrap=0) for table in (read, lvis))
    np.testing.assert_allclose(found.image_alpha, expected.image_alpha, atol=1e-12)
    assert variations(read).counts() == variations(lvis).counts()
