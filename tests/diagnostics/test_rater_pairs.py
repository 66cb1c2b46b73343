"""Agreement of every two raters by hand and in a plain loop, and their clustering."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from kalos_core import InputError, agreement, collaboration, read_coco
from kalos_core.diagnostics import pair_image_alpha
from tests.diagnostics.naive import among, marks, several_raters
from tests.strategies import tables

FOUR = ("ann", "bob", "cid", "dan")


def test_two_worked_schools():
    """ann and cid annotate the same, as do bob and dan; the groups share one of two objects on half of the images."""
    # of one school all equal, 1; across: cat cat | dog none | none dog, n = 6, diagonal 2, cat 2, dog 2, none 2:
    # 1 - (4/6) / ((36 - 12)/30) = 1/6, and 1 on four images with the cat alone; of all units n = 32, cat 16, dog 8,
    # none 8: 1 - (1/2) / ((1024 - 256 - 128)/992) = .225
    rows = [(rater, "cat", 0, image) for rater in FOUR for image in range(8)]
    rows += [(rater, "dog", x, image) for rater, x in zip(FOUR, (50, 90, 50, 90), strict=True) for image in range(4)]
    result = agreement(marks(*rows, raters=FOUR, images=range(8)), bootstrap=10_000)
    found = collaboration(result)
    of_schools = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1]], bool)
    np.testing.assert_allclose(found.alpha, np.where(of_schools, 1, 7 / 12))
    np.testing.assert_allclose(found.global_alpha, np.where(of_schools, 1, 0.225))
    assert (found.images == 8).all()
    # groups are adjacent
    order = found.raters[found.order].tolist()
    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset({"ann", "cid"}), frozenset({"bob", "dan"})}
    np.testing.assert_allclose(found.linkage[:, 2], [0, 0, 5 / 12])
    assert np.isnan(found.alpha_interval[[0, 1], [0, 1]]).all()
    frame = found.to_pandas()
    assert frame["rater_a"].tolist() == ["ann", "ann", "ann", "bob", "bob", "cid"]
    assert frame["rater_b"].tolist() == ["bob", "cid", "dan", "cid", "dan", "dan"]
    # k of eight draws of an image with dogs is none in .0039, at most one in .0352; of 8 images .0057 lie outside
    ends = np.where(of_schools[np.triu_indices(4, 1)], np.nan, np.array([[1 - 5 / 6 * 7 / 8], [1 - 5 / 6 / 8]]))
    np.testing.assert_allclose(frame[["alpha_low", "alpha_high"]].T, ends)
    for raters in (("ann", "eve"), ("ann", "ann")):
        with pytest.raises(InputError, match=r"expected two of .* got '"):
            pair_image_alpha(result, *raters)


def test_raters_without_common_images_are_undefined_and_placed_at_chance():
    assigned = {1: ["ann", "bob"], 2: ["bob", "cid"]}
    rows = [("ann", "cat", 0), ("bob", "cat", 0), ("bob", "cat", 0, 2), ("cid", "cat", 0, 2)]
    found = collaboration(agreement(marks(*rows, raters=FOUR, images=(1, 2), assigned=assigned)))
    nan = np.nan
    np.testing.assert_array_equal(found.alpha, [[1, 1, nan, nan], [1, 1, 1, nan], [nan, 1, 1, nan], [nan] * 4])
    assert found.images.tolist() == [[1, 1, 0, 0], [1, 2, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]]
    # bob joins one of the others at 0, the third joins at the mean of 0 and 1, dan at 1
    np.testing.assert_allclose(found.linkage[:, 2], [0, 0.5, 1])
    assert sorted(found.order.tolist()) == [0, 1, 2, 3]
    assert found.order.tolist().index(3) in (0, 3)


@settings(max_examples=12)
@given(tables(images=4, limits=True, exclusions=True), st.integers(0, 9))
def test_every_number_as_a_plain_loop(annotations, seed):
    result = agreement(annotations, "polygon_iou", 0.25, bootstrap=0, seed=seed)
    found = collaboration(result)
    raters = range(len(annotations.raters))
    for one in raters:
        drew = np.bincount(annotations.image[annotations.rater == one], minlength=len(annotations.images)) > 0
        assert found.images[one, one] == (annotations.assigned_any_class[:, one] | drew).sum()
        for two in raters:
            if one >= two:
                continue
            alone = among(result, [one, two])
            np.testing.assert_allclose(found.alpha[[one, two], [two, one]], alone.alpha, atol=1e-12)
            np.testing.assert_allclose(found.global_alpha[[one, two], [two, one]], alone.global_alpha, atol=1e-12)
            assert found.images[one, two] == found.images[two, one] == alone.defined_images
            of_images = pair_image_alpha(result, annotations.raters[one], annotations.raters[two])
            np.testing.assert_allclose(of_images, alone.image_alpha, atol=1e-12)
    distance = 1 - np.where(np.isnan(found.alpha), 0, found.alpha)
    np.fill_diagonal(distance, 0)
    heights = hierarchy.linkage(squareform(distance, checks=False), "average")[:, 2]
    np.testing.assert_allclose(np.sort(found.linkage[:, 2]), np.sort(heights), atol=1e-12)
    assert sorted(found.order.tolist()) == list(raters)


def test_many_raters():
    # more raters than bits in a word, all pairs at once
    annotations = read_coco(several_raters(raters=70, images=2))
    result = agreement(annotations, bootstrap=0)
    found = collaboration(result)
    for one, two in ((0, 69), (64, 3), (20, 21)):
        assert found.alpha[one, two] == pytest.approx(among(result, [one, two]).alpha, abs=1e-12)
