"""Consensus of units: small tables by hand, loops, and the path through COCO and evaluation."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalos_core import Annotations, agreement, read_coco, write_coco
from kalos_core.consensus import OUTCOMES, instance_consensus, staple
from kalos_core.consensus.fusing import voted_pixels
from kalos_core.errors import InputError
from kalos_core.shapes import Masks
from kalos_core.shapes.raster import pixels_of
from tests.strategies import tables


def boxes(*annotations, **more):
    keys = ("rater", "category", "box")
    rows = [{"image": 1, **dict(zip(keys, annotation, strict=True))} for annotation in annotations]
    return Annotations.from_rows(rows, **{"assigned": "all"} | more)


def of_three(kind, shapes, similarity="box_iou", **more):
    """Return the agreement on a cat with a shape from each of up to three raters."""
    rows = [
        {"image": 1, "rater": rater, "category": "cat", kind: shape}
        for rater, shape in zip(("ann", "bob", "cid"), shapes, strict=False)
    ]
    return agreement(Annotations.from_rows(rows, **more), similarity, bootstrap=0)


def test_quorum_class_shape_score_and_provenance_by_hand():
    table = boxes(
        ("ann", "cat", [0, 0, 10, 10]),
        ("bob", "cat", [0, 0, 10, 8]),
        ("cid", "dog", [0, 0, 10, 12]),
        ("ann", "dog", [50, 0, 10, 10]),
        ("bob", "cat", [50, 0, 10, 10]),
        ("cid", "cat", [90, 0, 10, 10]),
        raters=["ann", "bob", "cid", "dan"],
        assigned={1: ["ann", "bob", "cid"]},
    )
    result = agreement(table, bootstrap=0)
    found = instance_consensus(result, quorum=0.5)
    assert found.counts() == {"kept": 1, "below quorum": 1, "tied class": 1}
    assert found.annotations.shapes["box"].xywh().tolist() == [[0, 0, 10, 10]]
    assert found.annotations.categories[found.annotations.category].tolist() == ["cat"]
    assert found.score.tolist() == [1.0]  # dan is not assigned
    assert found.sources(0) == [1, 2, 3]
    frame = found.to_pandas()
    assert sorted(frame["outcome"]) == sorted(OUTCOMES)
    tie = frame[frame["outcome"] == "tied class"].iloc[0]
    assert (tie["classes"], tie["annotations"], tie["score"]) == ("cat, dog", [4, 5], pytest.approx(2 / 3))
    assert found.tied.sum() == 1
    assert found.sensitivity.tolist() == pytest.approx([1, 1, 1, np.nan], nan_ok=True)  # dan is assigned to no object
    assert found.ppv.tolist() == pytest.approx([1 / 2, 1 / 2, 1 / 2, np.nan], nan_ok=True)
    first = instance_consensus(result, ties="first")
    assert first.counts()["tied class"] == 0
    assert first.annotations.category.tolist() == [0, 0]
    assert first.tied.sum() == 1
    assert len(instance_consensus(result, quorum=0.1, ties="first").annotations) == 3
    assert len(instance_consensus(result, quorum=1).annotations) == 1


def test_weights_pull_the_mean_box():
    found = instance_consensus(of_three("box", [[0, 0, 10, 10], [0, 0, 10, 6]]), weights=[3, 1])
    assert found.annotations.shapes["box"].xywh().tolist() == [[0, 0, 10, 9]]


def test_keypoints_are_medians_of_those_labelled():
    none = (0, 0, 0)
    poses = [[(0, 0, 2), (10, 0, 2), none], [(1, 2, 2), (12, 0, 2), (5, 5, 2)], [(5, 3, 2), none, none]]
    rows = [
        {"image": 1, "rater": rater, "category": "man", "keypoints": points, "box": [0, 0, 20, 20]}
        for rater, points in zip(("ann", "bob", "cid"), poses, strict=True)
    ]
    result = agreement(Annotations.from_rows(rows), "box_iou", bootstrap=0)
    poses = instance_consensus(result).annotations.shapes["keypoints"]
    assert poses.visible.tolist() == [[True, True, False]]
    assert poses.points[0, :2].tolist() == [[1, 2], [11, 0]]


def test_regions_by_vote_and_by_staple():
    arrays = np.random.default_rng(0).random((3, 7, 9)) < 0.6
    result = of_three("mask", arrays)
    voted = instance_consensus(result).annotations.shapes["mask"]
    assert pixels_of(voted, 0).tolist() == (arrays.sum(axis=0) >= 2).tolist()
    likely = instance_consensus(result, region="staple").annotations.shapes["mask"]
    rows, columns = (np.flatnonzero(arrays.any(axis=(0, axis))) for axis in (2, 1))
    window = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    expected = np.zeros((7, 9), bool)
    expected[window] = staple(arrays[(slice(None), *window)]).mask
    assert pixels_of(likely, 0).tolist() == expected.tolist()


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2**12 - 1)), min_size=1, max_size=9))
def test_voted_pixels_are_those_of_a_count(annotations):
    arrays = [np.array([code >> bit & 1 for bit in range(12)], bool).reshape(3, 4) for _, code in annotations]
    owner = np.array([who for who, _ in annotations])
    found = voted_pixels(Masks.from_arrays(arrays), owner, np.array([[4, 3]] * 3))
    for who in range(3):
        mine = [array for array, other in zip(arrays, owner, strict=True) if other == who]
        expected = np.sum(mine, axis=0) * 2 >= len(mine) if mine else np.zeros((3, 4), bool)
        assert pixels_of(found, who).tolist() == (expected & (len(mine) > 0)).tolist()


def test_polygons_become_masks():
    polygons = [[[0, 0, 4, 0, 4, height, 0, height]] for height in (4, 3, 4)]
    found = instance_consensus(of_three("polygon", polygons, image_size={1: (6, 5)})).annotations
    assert set(found.shapes) == {"box", "mask"}
    assert found.shapes["mask"].bounds().tolist() == [[0, 0, 4, 4]]
    with pytest.raises(InputError, match="expected the width and height of every image with polygons, got none of 1"):
        instance_consensus(of_three("polygon", polygons))


@given(tables(raters=4, marks=10, limits=True), st.sampled_from([0.3, 0.5, 0.75, 1.0]))
def test_a_loop_over_units_says_the_same(table, quorum):
    if len(table.raters) < 2 or "polygon" not in table.shapes:
        return
    table = replace(table, shapes={"box": table.shapes["box"]})
    result = agreement(table, bootstrap=0)
    found = instance_consensus(result, quorum)
    kept = []
    for unit, values in enumerate(result.units.values.tolist()):
        rows = np.flatnonzero(result.unit_of == unit)
        assert found.members_of_unit(unit) == table.id[rows].tolist()
        annotated, assigned = sum(v >= 0 for v in values), sum(v >= -1 for v in values)
        classes = [v for v in values if v >= 0]
        best = [c for c in set(classes) if classes.count(c) == max(map(classes.count, classes))]
        if annotated / assigned >= quorum and len(best) == 1:
            kept.append((unit, best[0], annotated / assigned, table.shapes["box"].corners[rows].mean(axis=0)))
    assert found.unit.tolist() == [unit for unit, *_ in kept]
    assert found.annotations.category.tolist() == [best for _, best, *_ in kept]
    assert found.score.tolist() == [score for *_, score, _ in kept]
    if kept:
        np.testing.assert_allclose(found.annotations.shapes["box"].corners, [box for *_, box in kept], atol=1e-12)


def test_through_coco_with_scores_and_sources(tmp_path):
    table = boxes(("ann", "cat", [0, 0, 10, 10]), ("bob", "cat", [0, 0, 10, 8]), ("ann", "dog", [50, 0, 10, 10]))
    found = instance_consensus(agreement(table, bootstrap=0))
    path = write_coco(found.annotations, tmp_path / "consensus.json", fields=found.fields())
    annotations = json.loads(path.read_text())["annotations"]
    assert [(annotation["score"], annotation["sources"]) for annotation in annotations] == [(1.0, [1, 2]), (0.5, [3])]
    again = read_coco(path)
    assert again.raters.tolist() == ["consensus"]
    np.testing.assert_array_equal(again.shapes["box"].corners, found.annotations.shapes["box"].corners)


CUBOIDS = of_three("cuboid", [[0, 0, 0, 1, 1, 1, 0, 0, 0]] * 2, "cuboid_iou")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"quorum": 0}, "quorum: expected a number above 0"),
        ({"ties": "last"}, "ties: expected one of 'apart', 'first', got 'last'"),
        ({"region": "mean"}, "region: expected one of 'staple', 'vote'"),
        ({"weights": [1]}, "weights: expected a number above 0 for each of 2 raters"),
        ({"weights": [1, 0]}, "weights"),
        ({"agreement": boxes()}, "agreement: expected Agreement, the result of"),
        ({"agreement": CUBOIDS}, "expected shapes among box, polygon, mask, keypoints, got cuboid"),
    ],
)
def test_unusable_input_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        instance_consensus(**{"agreement": of_three("box", [[0, 0, 9, 9]] * 2)} | arguments)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"bbox": [1]}, "got one of COCO's own, 'bbox'"),
        ({"score": []}, r"a value for each of 1 annotations .*, got 0 of 'score'"),
    ],
)
def test_fields_that_cannot_be_written(fields, message, tmp_path):
    with pytest.raises(InputError, match=message):
        write_coco(boxes(("ann", "cat", [0, 0, 9, 9])), tmp_path / "labels.json", fields)
    assert not list(tmp_path.iterdir())
