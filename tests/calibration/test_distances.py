"""Nearest distances vs. hand-worked cases, a plain loop and the peer; and how raters of other images are drawn."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalos_core import Annotations, InputError
from kalos_core.calibration.distances import Drawn, draw_references, expected_distances, observed_distances
from kalos_core.similarity import Similarity, get_similarity
from tests.strategies import reordered, tables

both = pytest.mark.parametrize("name", ["box_iou", "polygon_iou"])  # without and with an upper bound


def mark(image, rater, x, width=10.0, **more):
    return {"image": image, "rater": rater, "category": "cat", "box": [x, 0, width, 10], **more}


def loop(annotations, measure, row, candidates):
    """Return 1 - the largest similarity of a row to candidate rows, one by one."""
    column = measure.column(annotations)
    one = [measure.values(column, np.array([row]), column, np.array([other]))[0] for other in candidates]
    return 1 - max([0.0, *one])


# ---- observed ----


def test_observed_distances_by_hand():
    #   0        10       20       30
    #   +--------+        +--------+       ann: two boxes
    #   +------+          (8 wide)         bob: one, 0.2 from the first and 1 from the second
    #                                      cid: looked, annotated nothing; dan: not assigned
    #                                      eve: assigned to the image, and to no class
    rows = [mark(1, "ann", 0), mark(1, "ann", 20), {**mark(1, "bob", 0, 8.0), "category": "dog"}]
    raters = ["ann", "bob", "cid", "dan", "eve"]
    assigned = {1: ["ann", "bob", "cid", "eve"]}
    annotations = Annotations.from_rows(rows, raters=raters, assigned=assigned, assigned_categories={"eve": []})
    found = observed_distances(annotations, get_similarity("box_iou"))
    assert found.row.tolist() == [0, 0, 1, 1, 2, 2]
    np.testing.assert_allclose(found.distance, [0.2, 1, 1, 1, 0.2, 1])


@both
@given(annotations=tables(limits=True))
def test_observed_distances_equal_a_plain_loop(name, annotations):
    measure = get_similarity(name)
    expected = [
        (row, loop(annotations, measure, row, np.flatnonzero((annotations.image == image) & (annotations.rater == r))))
        for row, (image, own) in enumerate(zip(annotations.image, annotations.rater, strict=True))
        for r in np.flatnonzero(annotations.assigned_any_class[image])
        if r != own
    ]
    found = observed_distances(annotations, measure)
    assert list(zip(found.row.tolist(), found.distance.tolist(), strict=True)) == expected


@both
def test_observed_distances_equal_those_of_the_peer(peer_package, name, lvis, lvis_path):
    peer_package("kalos")
    from kalos.iaa.empirical_disagreement import calculate_do_de
    from kalos.iaa.similarity_functions import SIMILARITY_FUNCTIONS
    from kalos.utils.data_loading import preprocess_data

    peer_name = {"box_iou": "bbox_iou_similarity", "polygon_iou": "segm_iou_similarity"}[name]
    coco = json.loads(lvis_path.read_text(encoding="utf-8"))
    few = [image["id"] for image in coco["images"]][:25]
    coco["images"] = [image for image in coco["images"] if image["id"] in few]
    coco["annotations"] = [found for found in coco["annotations"] if found["image_id"] in few]
    theirs = calculate_do_de(preprocess_data(coco), SIMILARITY_FUNCTIONS[peer_name])["d_o"]
    part = lvis.select(images=np.isin(lvis.images, few))
    ours = observed_distances(part, get_similarity(name)).distance
    np.testing.assert_allclose(np.sort(ours), np.sort(theirs), atol=1e-9)


def test_a_bound_spares_most_comparisons_and_changes_nothing(lvis):
    plain = replace(get_similarity("polygon_iou"), bound=None)
    part, compared = lvis.select(images=np.arange(40)), []

    def compare(left, left_rows, right, right_rows, floor):
        compared.append(len(left_rows))
        return get_similarity("polygon_iou").compare(left, left_rows, right, right_rows, floor)

    every = observed_distances(part, replace(plain, compare=compare)).distance
    all_pairs = sum(compared)
    compared.clear()
    best = observed_distances(part, replace(get_similarity("polygon_iou"), compare=compare)).distance
    assert best.tolist() == every.tolist()
    assert sum(compared) < all_pairs / 5


# ---- expected ----


@both
@given(annotations=tables(limits=True), seed=st.integers(0, 99))
def test_expected_distances_equal_a_plain_loop(name, annotations, seed):
    rng = np.random.default_rng(seed)
    shape = (2, len(annotations))
    drawn = Drawn(rng.integers(0, len(annotations.images), shape), rng.integers(0, len(annotations.raters), shape))
    measure = get_similarity(name)
    expected = [
        loop(annotations, measure, row, np.flatnonzero((annotations.image == image) & (annotations.rater == rater)))
        for images, raters in zip(drawn.image, drawn.rater, strict=True)
        for row, (image, rater) in enumerate(zip(images, raters, strict=True))
    ]
    found = expected_distances(annotations, measure, drawn, "pixels")
    assert found.distance.tolist() == expected
    assert found.row.tolist() == [*range(len(annotations))] * 2


def test_the_target_is_the_left_side():
    def only_from_ann(annotations, left, right):
        names = annotations.raters[annotations.rater]
        return ((names[left] == "ann") & (names[right] == "bob")).astype(float)

    annotations = Annotations.from_rows([mark("a", "ann", 0), mark("b", "bob", 0)], assigned="all")
    drawn = Drawn(np.array([[1, 0]]), np.array([[1, 0]]))
    assert expected_distances(annotations, Similarity.of_function(only_from_ann), drawn).distance.tolist() == [0, 1]


@given(annotations=tables(limits=True), seed=st.integers(0, 99))
def test_another_image_and_a_rater_assigned_there_are_drawn(annotations, seed):
    if annotations.assigned_any_class.any(axis=1).sum() < 2:
        with pytest.raises(InputError, match="at least two images with raters assigned"):
            draw_references(annotations, 1, seed)
        return
    drawn = draw_references(annotations, 3, seed)
    assert drawn.image.shape == drawn.rater.shape == (3, len(annotations))
    assert (drawn.image != annotations.image).all()
    assert annotations.assigned_any_class[drawn.image, drawn.rater].all()
    # all annotations of one rater in one image meet the same rater
    key = annotations.image * len(annotations.raters) + annotations.rater
    for images, raters in zip(drawn.image, drawn.rater, strict=True):
        assert len(set(zip(key, images, raters, strict=True))) == len(set(key))


@given(annotations=tables(everyone=True), seed=st.integers(0, 99))
def test_a_seed_draws_the_same_whatever_the_order(annotations, seed):
    if len(annotations.images) < 2:
        return

    def by_id(table):
        drawn = draw_references(table, 2, seed=7)
        columns = (table.id, *table.images[drawn.image], *table.raters[drawn.rater])
        return sorted(zip(*(column.tolist() for column in columns), strict=True))

    assert by_id(annotations) == by_id(reordered(annotations, seed))
