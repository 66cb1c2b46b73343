"""Crowd regions are ignored regions: by hand, and equal to pycocotools to 1e-12."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kalos_core import Annotations, modified_map
from kalos_core.convergence import map_of_predictions
from kalos_core.convergence.crowds import crowd_overlaps
from kalos_core.similarity.masks import rasterise
from tests.convergence.coco import crowd_rows, evaluate
from tests.convergence.test_modified import COARSE, MEASURES, a_comparable, check, in_pixels
from tests.strategies import tables

CAT = {"image": 1, "category": "cat"}


def with_crowds(annotations, chosen):
    """Return the table with some of its annotations as crowd regions."""
    return replace(
        annotations.select(rows=~chosen), crowd_regions=annotations.select(rows=chosen) if chosen.any() else None
    )


def boxes(rater, *starts, width=10):
    rows = [{**CAT, "rater": rater, "box": [x, 0, width, 10], "id": f"{rater}{x}"} for x in starts]
    return Annotations.from_rows(rows, images=[1], raters=["ann", "bob"], categories=["cat", "dog"], assigned="all")


def test_by_hand():
    # ann: one cat, and a crowd from 100 to 200; bob: first a cat in the crowd, then ann's cat
    rows = [{**CAT, "rater": rater, "box": [x, 0, 10, 10]} for rater, x in (("ann", 0), ("bob", 150), ("bob", 0))]
    table = Annotations.from_rows(rows)
    assert modified_map(table).directions[0, 0, 1] == 0.5  # precision 1/2 at every recall
    regions = boxes("ann", 100, width=100)
    crowded = replace(table, crowd_regions=regions)
    assert modified_map(crowded).directions[0, 0, 1] == 1.0  # annotations in the crowd do not count
    assert modified_map(crowded).directions[0, 1, 0] == modified_map(table).directions[0, 1, 0]  # bob has no crowd
    # half of one of bob's boxes is in the crowd: ignored up to a threshold of one half
    half = replace(table, crowd_regions=boxes("ann", 155, width=100))
    result = modified_map(half, thresholds=(0.5, 0.55))
    assert result.directions[:, 0, 1].tolist() == [1.0, 0.5]
    for ties in ("shuffle", "joint"):
        assert modified_map(crowded, ties=ties).directions[0, 0, 1] == 1.0
    other = replace(regions, category=np.array([1]))  # a crowd of dogs
    assert modified_map(replace(table, crowd_regions=other)).directions[0, 0, 1] == 0.5


def test_predictions_by_hand():
    truth = replace(boxes("ann", 0), crowd_regions=boxes("ann", 100, width=100))
    found = Annotations.from_rows([{**CAT, "rater": "net", "box": [x, 0, 10, 10]} for x in (150, 0, 120)])
    assert map_of_predictions(truth, found, [0.9, 0.5, 0.7]).by_rater[:, 0].tolist() == [1.0] * 10
    without = replace(truth, crowd_regions=None)
    np.testing.assert_allclose(map_of_predictions(without, found, [0.9, 0.5, 0.7]).by_rater[:, 0], 1 / 3)


@pytest.mark.parametrize("kind", MEASURES)
@settings(max_examples=10)
@given(tables(raters=3, limits=True, marks=18), st.data())
def test_equal_to_pycocotools(kind, annotations, data):
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=len(annotations), max_size=len(annotations))), bool)
    table = with_crowds(in_pixels(annotations), chosen)
    if a_comparable(table):
        check(table, kind)


@settings(max_examples=15)
@given(tables(raters=3, marks=18).filter(len), st.data())
def test_predictions_equal_to_pycocotools(annotations, data):
    table = in_pixels(annotations)
    crowds = data.draw(st.sampled_from([0, 2]))
    chosen = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(table), max_size=len(table)))) < crowds
    scores = np.array(data.draw(st.lists(st.sampled_from([0.1, 0.5, 0.9]), min_size=len(table), max_size=len(table))))
    last = len(table.raters) - 1
    of_model = table.rater == last
    found = table.select(rows=of_model, raters=[last])
    truth = with_crowds(table, chosen).select(raters=np.arange(last))
    if not len(truth):
        return
    for kind, measure in MEASURES.items():
        result = map_of_predictions(truth, found, scores[of_model], similarity=measure, thresholds=COARSE)
        for rater in range(last):
            marks = np.flatnonzero(truth.rater == rater)
            own = np.flatnonzero(truth.assigned[found.image, rater])
            expected = np.full(len(COARSE), np.nan)
            if len(marks):
                images = np.flatnonzero(truth.assigned[:, rater])
                classes = evaluate(truth, marks, found, own, scores[of_model][own], images, COARSE, kind,
                                   crowds=crowd_rows(truth, rater))  # fmt: skip
                expected = np.nanmean(classes, axis=1)
            np.testing.assert_allclose(result.by_rater[:, rater], expected, rtol=0, atol=1e-12)


def test_a_crowd_of_pixels_under_exact_polygons():
    # a crowd as in COCO, a mask, and polygons compared by exact areas: 6 of 8 columns are in it
    pixels = np.zeros((10, 20), bool)
    pixels[:, :8] = True
    region = Annotations.from_rows([{**CAT, "rater": "ann", "mask": pixels}])
    square = [2, 0, 10, 0, 10, 5, 2, 5]
    found = Annotations.from_rows([{**CAT, "rater": "bob", "polygon": [square]}], image_size={1: (20, 10)})
    for name in ("polygon_iou", "polygon_raster_iou"):
        assert crowd_overlaps(region, found, name, "polygon", 0.5).share.tolist() == [0.75]
    outlined = Annotations.from_rows([{**CAT, "rater": "ann", "polygon": [[0, 0, 8, 0, 8, 10, 0, 10]]}])
    for name in ("polygon_iou", "polygon_giou"):
        assert crowd_overlaps(outlined, found, name, "polygon", 0.5).share.tolist() == [0.75]
    mask = rasterise(found.shapes["polygon"], np.array([[20, 10]])).rle(0)
    drawn = Annotations.from_rows([{**CAT, "rater": "bob", "mask": mask}])
    assert crowd_overlaps(region, drawn, "mask_iou", "mask", 0.5).share.tolist() == [0.75]
    # for other kinds, and for regions with only a box, boxes are compared
    assert crowd_overlaps(boxes("ann", 0, width=8), found, "polygon_iou", "polygon", 0.5).share.tolist() == [0.75]
    assert crowd_overlaps(region, found, "oks", "keypoints", 0.5).share.tolist() == [0.75]
    assert len(crowd_overlaps(region, found, "oks", "keypoints", 0.8)) == 0
    assert len(crowd_overlaps(None, found, "", "", 0)) == 0


def test_regions_follow_a_selection():
    table = replace(boxes("ann", 0, 20), crowd_regions=boxes("ann", 100))
    assert len(table.select(rows=[0]).crowd_regions) == 1
    assert table.select(raters=["bob"]).crowd_regions is None
    turned = table.select(raters=["bob", "ann"]).crowd_regions
    assert turned.raters[turned.rater].tolist() == ["ann"]
