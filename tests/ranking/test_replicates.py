"""Bootstrap replicates over images, of areas and ranks of detectors."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from kalos_core import InputError
from kalos_core.ranking import Rankings, rank_over_classes
from kalos_core.resampling import draws
from tests.expanded import expanded
from tests.ranking.images import counted, random_images

HALF = (0.5, 0.5)

PRECISE = {"scores": {"net": [[0.9, 0.1]], "edge": [[0.1, 0.9]]}, "masks": {"ann": [[1, 0]]}}
"""Image in which the net is right and the edge detector wrong."""

REVERSED = {"scores": {"net": [[0.1, 0.9]], "edge": [[0.9, 0.1]]}, "masks": {"ann": [[1, 0]]}}
"""The opposite."""


def drawn_again(images, bootstrap, seed=0, **arguments):
    """Return (B, T, S) areas, with every replicate counted again from the drawn images."""
    truths = counted(*images, **arguments).truths.tolist()
    areas = []
    for row in np.concatenate(list(draws(len(images), bootstrap, seed))).astype(int):
        found = counted(*[images[at] for at in np.repeat(np.arange(len(images)), row)], **arguments)
        of_truth = dict(zip(found.truths.tolist(), found.area, strict=True))
        areas.append([of_truth.get(name, np.full(len(found.detectors), np.nan)) for name in truths])
    return np.array(areas)


def test_by_hand():
    # both images once: the curve goes from (.5, .5) to (1, 1), precision 1/2 all along; the first image twice: 1; the
    # second twice: false alarms come first, a / (a + 1) over recall a, 1 - ln 2
    result = counted(PRECISE, REVERSED, skew=HALF, bootstrap=4)
    times = np.concatenate(list(draws(2, 4, 0))).astype(int).tolist()
    area = {(1, 1): 0.5, (2, 0): 1.0, (0, 2): 1 - np.log(2)}
    np.testing.assert_allclose(result.replicates[:, 0], [[area[a, b], area[b, a]] for a, b in times])
    # in one replicate both are drawn, and the two tie; in one the net loses, in two it wins
    assert sorted(map(tuple, times)) == [(0, 2), (1, 1), (2, 0), (2, 0)]
    assert result.ranking.best_share.tolist() == [[0.625, 0.375]]
    assert result.ranking.images == 2
    assert np.isnan(result.area_interval).all()
    assert np.isnan(result.ranking.rank_interval).all()
    # as if they were of eight images: .00574 of three gaps between four replicates lie outside
    ranked = replace(result.ranking, images=8)
    net = sorted([1 - np.log(2), 0.5, 1, 1])
    np.testing.assert_allclose(ranked.interval[0, 0], [net[0] + 0.0172 * (net[1] - net[0]), 1], atol=1e-4)
    np.testing.assert_allclose(ranked.rank_interval[0, 0], [1, 2 - 0.0172 * 0.5], atol=1e-4)
    none = counted(PRECISE, REVERSED)
    columns = ["area_low", "area_high", "rank_low", "rank_high", "best_share"]
    assert none.to_pandas()[columns].isna().all(axis=None)
    assert none.headline == "2 detectors ranked under 1 reference"


@pytest.mark.parametrize(
    ("skew", "seed", "tolerance"),
    [((0.1, 0.5), 1, 0), ((0.0, 0.3), 1, 0), ((0.2, 0.2), 2, 0.1), ((0.0, 1.0), 2, 0)],
)
def test_every_replicate_is_the_area_of_the_images_drawn(skew, seed, tolerance):
    images = list(random_images(seed, 8, ("net", "edge", "wide"), gaps=True))
    arguments = {"skew": skew, "levels": 9, "tolerance": tolerance, "methods": ("any", "staple"), "seed": seed}
    found = counted(*images, bootstrap=6, **arguments)
    np.testing.assert_allclose(found.replicates, drawn_again(images, 6, **arguments), atol=1e-7)
    for place in np.ndindex(found.area.shape):
        np.testing.assert_allclose(found.area_interval[place], expanded(found.replicates[(..., *place)], 8))


def test_ranks_and_shares_are_those_of_a_loop():
    rng = np.random.default_rng(5)
    drawn = rng.integers(0, 4, (40, 2, 3)) / 4  # many ties
    drawn[::7, 0] = np.nan
    for less_is_better in (False, True):
        names = np.array(["ann", "bob"], object), np.array(["x", "y", "z"], object)
        found = Rankings("m", *names, drawn[1], less_is_better, replicates=drawn, images=9)
        for truth in range(2):
            known = [row for row in drawn[:, truth] if np.isfinite(row).all()]
            ranks = np.array([stats.rankdata(row if less_is_better else -row) for row in known])
            wins = np.array([(row == row.min()) / (row == row.min()).sum() for row in ranks])
            np.testing.assert_allclose(found.best_share[truth], wins.mean(axis=0))
            np.testing.assert_allclose(found.rank_interval[truth], [expanded(own, 9) for own in ranks.T])


def test_a_truth_that_marks_nothing_is_left_out_of_the_shares():
    empty = {**PRECISE, "masks": {"ann": [[0, 0]]}}
    found = counted(PRECISE, empty, skew=HALF, bootstrap=50)
    assert np.isnan(found.replicates).all(axis=(1, 2)).any()
    assert found.ranking.best_share.tolist() == [[1.0, 0.0]]
    never = counted(empty, skew=HALF, bootstrap=5)
    assert np.isnan(never.ranking.best_share).all()
    assert never.headline == "2 detectors ranked under 1 reference"


def test_the_order_of_images_with_names_changes_nothing():
    images = [{**image, "image": f"{at}.png"} for at, image in enumerate(random_images(8, 8, gaps=True))]
    straight, back = (
        counted(*each, bootstrap=20).to_pandas().sort_values(["truth", "detector"]).reset_index(drop=True)
        for each in (images, images[::-1])
    )
    assert straight.equals(back)


def test_the_mean_over_classes_is_drawn_with_all_classes():
    images = list(random_images(9, 8, gaps=True))
    inverse = [{**each, "masks": {rater: ~mask for rater, mask in each["masks"].items()}} for each in images]
    joint = rank_over_classes({"road": counted(*images, bootstrap=6), "car": counted(*inverse, bootstrap=6)})
    drawn = drawn_again(images, 6), drawn_again(inverse, 6)
    np.testing.assert_allclose(joint.replicates, (drawn[0] + drawn[1]) / 2, atol=1e-7)
    np.testing.assert_allclose(joint.interval[0, 0], expanded(joint.replicates[:, 0, 0], 8))
    assert {"value_low", "value_high", "rank_low", "rank_high", "best_share"} <= {*joint.to_pandas()}
    # by hand: right in one class and wrong in the other, so that all tie in any draw
    road, car = (counted(*[image] * 8, skew=HALF, bootstrap=9) for image in (PRECISE, REVERSED))
    tied = rank_over_classes({"road": road, "car": car})
    np.testing.assert_allclose(tied.replicates, (2 - np.log(2)) / 2)
    assert np.isnan(tied.interval).all()
    assert (tied.best_share == 0.5).all()


@pytest.mark.parametrize("arguments", [{"bootstrap": -1}, {"bootstrap": "many"}, {"seed": 0.5}, {"bootstrap": 10**12}])
def test_refused(arguments):
    with pytest.raises(InputError, match=next(iter(arguments))):
        counted(PRECISE, **arguments)
