"""Rater vitality by hand and in a plain loop."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kalos_core import InputError, agreement, rater_vitality
from tests.diagnostics.naive import alpha_of, among, columns, marks, mean
from tests.expanded import expanded
from tests.strategies import tables

THREE = ("ann", "bob", "cid")


def test_two_agree_and_the_third_annotated_elsewhere():
    #        0     50          images 0-3: n = 6, diagonal 1 + 1, cat 3, none 3: 1 - (4/6)/(18/30) = -1/9
    #  ann   cat   none        without cid, matched again: cat cat, 1. The row dropped: cat cat | none none, also 1
    #  bob   cat   none        without ann: cat none | none cat, n = 4, 1 - 1/((16 - 8)/12) = -1/2
    #  cid   none  cat         images 4-7: three cats at 0, 1 whoever is left out
    # all in one: n = 36, cat 24, none 12: 1 - (16/36)/((1296 - 720)/1260) = 1/36; without cid 1; without ann n = 24,
    # cat 16, none 8: 1 - (16/24)/((576 - 320)/552) = -7/16
    rows = [
        (rater, "cat", 50 if (rater, image // 4) == ("cid", 0) else 0, image) for rater in THREE for image in range(8)
    ]
    found = rater_vitality(agreement(marks(*rows, raters=THREE, images=range(8)), bootstrap=10_000))
    lost = np.array([-1 / 9 + 1 / 2, -1 / 9 + 1 / 2, -1 / 9 - 1])
    np.testing.assert_allclose(found.vitality, lost / 2)
    expected = [1 / 36 + 7 / 16, 1 / 36 + 7 / 16, 1 / 36 - 1]
    np.testing.assert_allclose(found.global_vitality, expected)
    np.testing.assert_allclose(found.global_rematched, expected)
    assert found.images.tolist() == [8, 8, 8]
    frame = found.to_pandas()
    assert (frame["rater"].tolist(), frame["images"].tolist()) == (list(THREE), [8, 8, 8])
    assert frame["global_rematched_high"].tolist() == found.global_rematched_interval[:, 1].tolist()
    # k of eight draws of images 0-3 is none in .0039, at most one in .0352; of 8 images .0057 lie outside
    np.testing.assert_allclose(found.vitality_interval, np.sort(lost[:, None] * [1 / 8, 7 / 8]))


def test_the_dropped_row_leaves_agreement_on_absence_and_rematching_does_not():
    #        0     50    90         row of cid dropped: cat cat | cat none | none none: n = 6, diagonal 2 + 0 + 2,
    #  ann   cat   cat   none       cat 3, none 3: 1 - (2/6)/(18/30) = 4/9
    #  bob   cat   none  none       matched again: cat cat | cat none: 0
    #  cid   cat   none  dog
    result = agreement(
        marks(("ann", "cat", 0), ("bob", "cat", 0), ("cid", "cat", 0), ("ann", "cat", 50), ("cid", "dog", 90),
              raters=THREE),
        bootstrap=0,
    )  # fmt: skip
    found = rater_vitality(result)
    assert found.global_vitality[2] == pytest.approx(result.global_alpha - 4 / 9)
    assert found.global_rematched[2] == pytest.approx(result.global_alpha)
    assert found.vitality[2] == pytest.approx(result.alpha)


def test_only_images_with_two_others_count_for_the_mean():
    #  image 1: all three; image 2: ann and bob alone; cid's mean and global figures leave image 2 as it is
    result = agreement(
        marks(("ann", "cat", 0), ("bob", "cat", 0), ("cid", "cat", 50), ("ann", "cat", 0, 2), images=(1, 2),
              raters=THREE, assigned={2: ["ann", "bob"]}),
        bootstrap=0,
    )  # fmt: skip
    found = rater_vitality(result)
    assert found.images.tolist() == [1, 1, 1]
    # without cid: cat cat in image 1, cat none in image 2: 0
    assert found.global_rematched[2] == pytest.approx(result.global_alpha - 0)
    # without ann: image 1 cat none | none cat, image 2 has one rater left: -1/2
    assert found.global_rematched[0] == pytest.approx(result.global_alpha + 1 / 2)


def test_a_rater_without_whom_no_pair_is_left_is_undefined():
    result = agreement(marks(("ann", "cat", 0), raters=THREE, assigned={1: ["ann", "bob"]}))
    found = rater_vitality(result)
    assert np.isnan(found.vitality).all()
    assert found.images.tolist() == [0, 0, 0]
    np.testing.assert_array_equal(found.global_rematched, [np.nan, np.nan, 0])
    np.testing.assert_array_equal(found.global_vitality, [np.nan, np.nan, 0])


def without(result, rater):
    return [other for other in range(len(result.annotations.raters)) if other != rater]


@settings(max_examples=12)
@given(tables(images=4, limits=True, exclusions=True), st.integers(0, 9))
def test_every_number_as_a_plain_loop(annotations, seed):
    assume(len(annotations.raters) > 2)
    result = agreement(annotations, "polygon_iou", 0.25, bootstrap=8, seed=seed)
    assume(np.isfinite(result.alpha))
    found = rater_vitality(result)
    images = range(len(annotations.images))
    part = annotations.assigned_any_class.copy()
    part[annotations.image, annotations.rater] = True  # assigned, or annotated without assignment
    for rater in range(len(annotations.raters)):
        rest = without(result, rater)
        alone = among(result, rest)
        counts = part[:, rater] & (part.sum(axis=1) >= 3)
        lost = np.where(counts, result.image_alpha - alone.image_alpha, np.nan)
        np.testing.assert_allclose(found.vitality[rater], mean(lost), atol=1e-12)
        assert found.images[rater] == np.isfinite(lost).sum()
        dropped = result.global_alpha - alpha_of(columns(result, images)[:, rest])
        np.testing.assert_allclose(found.global_vitality[rater], dropped, atol=1e-12)
        rematched = result.global_alpha - alone.global_alpha
        np.testing.assert_allclose(found.global_rematched[rater], rematched, atol=1e-12)


@settings(max_examples=8)
@given(tables(images=4, everyone=True, copies=4), st.integers(0, 9))
def test_intervals_as_a_plain_loop(annotations, seed):
    # all raters are assigned to everything: every image is defined and can be drawn
    assume(len(annotations.raters) > 2)
    result = agreement(annotations, threshold=0.25, bootstrap=8, seed=seed)
    assume(np.isfinite(result.alpha))
    found = rater_vitality(result)
    count = len(annotations.images)
    rng = np.random.default_rng(seed)
    draws = [rng.integers(0, count, count) for _ in range(8)]
    for rater in range(len(annotations.raters)):
        rest = without(result, rater)
        alone = among(result, rest)
        lost = result.image_alpha - alone.image_alpha
        means = [lost[images].mean() for images in draws]
        np.testing.assert_allclose(found.vitality_interval[rater], expanded(means, count), atol=1e-12)
        wholes = [alpha_of(columns(result, images)) for images in draws]
        dropped = [
            whole - alpha_of(columns(result, images)[:, rest]) for whole, images in zip(wholes, draws, strict=True)
        ]
        rematched = [whole - alpha_of(columns(alone, images)) for whole, images in zip(wholes, draws, strict=True)]
        for interval, replicates in (
            (found.global_vitality_interval, dropped),
            (found.global_rematched_interval, rematched),
        ):
            np.testing.assert_allclose(interval[rater], expanded(replicates, count), atol=1e-9)


def test_two_raters_are_refused_with_the_reason():
    with pytest.raises(InputError, match=r"vitality: expected at least three raters, .* two must be left, got 2"):
        rater_vitality(agreement(marks(("ann", "cat", 0))))
