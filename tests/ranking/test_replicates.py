"""Bootstrap replicates over images of the areas and ranks of detectors."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import stats

from kalos_core import DetectorAccumulator, InputError, KalosWarning, rank_over_classes
from kalos_core.ranking import Rankings
from kalos_core.resampling import draws

SKEW = (0.5, 0.5)

PRECISE = {"scores": {"net": [[0.9, 0.1]], "edge": [[0.1, 0.9]]}, "masks": {"ann": [[1, 0]]}}
"""An image where the net is right and the edge detector wrong."""

REVERSED = {"scores": {"net": [[0.1, 0.9]], "edge": [[0.9, 0.1]]}, "masks": {"ann": [[1, 0]]}}
"""The other way around."""


def counted(images, skew=SKEW, **arguments):
    accumulator = DetectorAccumulator(**arguments)
    for image in images:
        accumulator.add(**image)
    return accumulator.result(skew)


def random_images(seed, images=5, raters=3, levels=9):
    """Images of other sizes each, with ties; not every rater is assigned to every image."""
    rng = np.random.default_rng(seed)
    for index in range(images):
        size = (3 + index, 5)
        yield {
            "scores": {name: rng.integers(0, levels, size) / (levels - 1) for name in ("net", "edge", "wide")},
            "masks": {f"r{r}": rng.random(size) < 0.4 for r in range(raters) if r != index},
            "ignore": rng.random(size) < 0.1,
        }


def drawn_again(images, bootstrap, seed, **arguments):
    """(B, T, S) areas, every replicate counted anew from the images drawn."""
    truths = counted(images, bootstrap=0, **arguments).truths.tolist()
    times = np.concatenate(list(draws(len(images), bootstrap, seed))).astype(int)
    areas = []
    for row in times:
        found = counted([images[at] for at in np.repeat(np.arange(len(images)), row)], bootstrap=0, **arguments)
        order = [found.truths.tolist().index(name) if name in found.truths else None for name in truths]
        nothing = np.full(len(found.detectors), np.nan)
        areas.append([nothing if at is None else found.area[at] for at in order])
    return np.array(areas)


def test_by_hand():
    # both images once: the curve goes from (.5, .5) to (1, 1), precision 1/2 all along; the first image twice: 1; the
    # second twice: false alarms come first, a / (a + 1) over recall a, 1 - ln 2
    result = counted([PRECISE, REVERSED], bootstrap=4)
    times = np.concatenate(list(draws(2, 4, 0))).tolist()
    area = {(1, 1): 0.5, (2, 0): 1.0, (0, 2): 1 - np.log(2)}
    expected = [[area[first, second], area[second, first]] for first, second in np.array(times, int).tolist()]
    np.testing.assert_allclose(result.replicates[:, 0], expected)
    # in one replicate both are drawn, and the two tie; in one the net loses, in two it wins
    assert sorted(map(tuple, times)) == [(0, 2), (1, 1), (2, 0), (2, 0)]
    assert result.ranking.best_share.tolist() == [[0.625, 0.375]]
    net = sorted([1 - np.log(2), 0.5, 1, 1])
    low = net[0] + 0.075 * (net[1] - net[0])  # the percentile 2.5 of four lies there
    np.testing.assert_allclose(result.area_interval[0, 0], [low, 1])
    ranks = result.ranking.rank_interval[0, 0]
    np.testing.assert_allclose(ranks, [1, 2 - 0.075 * 0.5])


@pytest.mark.parametrize("skew", [(0.1, 0.5), (0.0, 0.3), (0.2, 0.2), (0.0, 1.0)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_replicate_is_the_area_of_the_images_drawn(skew, seed):
    images = list(random_images(seed))
    arguments = {"skew": skew, "levels": 9, "tolerance": 0.1 * (seed == 2), "methods": ("any", "staple")}
    found = counted(images, bootstrap=12, seed=seed, **arguments)
    np.testing.assert_allclose(found.replicates, drawn_again(images, 12, seed, **arguments), atol=1e-7)
    np.testing.assert_allclose(
        found.area_interval, np.moveaxis(np.nanpercentile(found.replicates, [2.5, 97.5], axis=0), 0, 2)
    )


def test_smooth_curves_of_many_levels():
    rng = np.random.default_rng(4)
    images = [
        {"scores": {"net": np.clip(rng.normal(0.4 + 0.3 * mask, 0.2), 0, 1)}, "masks": {"ann": mask}}
        for mask in rng.random((4, 40, 60)) < 0.2
    ]
    found = counted(images, skew=(0.0, 0.5), bootstrap=8)
    np.testing.assert_allclose(found.replicates, drawn_again(images, 8, 0, skew=(0.0, 0.5)), atol=1e-7, rtol=0)


def test_ranks_and_shares_are_those_of_a_loop():
    rng = np.random.default_rng(5)
    drawn = rng.integers(0, 4, (40, 2, 3)) / 4  # many ties
    drawn[::7, 0] = np.nan
    for less_is_better in (False, True):
        names = np.array(["ann", "bob"], object), np.array(["x", "y", "z"], object)
        found = Rankings("m", *names, drawn[1], less_is_better, replicates=drawn)
        for truth in range(2):
            known = [row for row in drawn[:, truth] if np.isfinite(row).all()]
            ranks = np.array([stats.rankdata(row if less_is_better else -row) for row in known])
            wins = np.array([(row == row.min()) / (row == row.min()).sum() for row in ranks])
            np.testing.assert_allclose(found.best_share[truth], wins.mean(axis=0))
            np.testing.assert_allclose(found.rank_interval[truth], np.percentile(ranks, [2.5, 97.5], axis=0).T)


def test_detectors_that_are_alike_share_the_first_place():
    images = [
        {**image, "scores": dict.fromkeys(("one", "other"), image["scores"]["net"])} for image in random_images(6)
    ]
    found = counted(images, bootstrap=50, skew=(0.1, 0.5)).ranking
    assert (found.best_share == 0.5).all()
    assert (found.rank_interval == 1.5).all()


def test_a_truth_that_marks_nothing_is_left_out_of_the_shares():
    empty = {**PRECISE, "masks": {"ann": [[0, 0]]}}
    found = counted([PRECISE, empty], bootstrap=50)
    nothing = np.isnan(found.replicates).all(axis=(1, 2))
    assert nothing.any()
    assert found.ranking.best_share.tolist() == [[1.0, 0.0]]
    never = counted([empty], bootstrap=5)
    assert np.isnan(never.ranking.best_share).all()
    assert never.headline == "2 detectors ranked under 1 reference"


def test_the_order_of_images_with_names_changes_nothing():
    images = [{**image, "image": f"{at}.png"} for at, image in enumerate(random_images(8))]
    straight, back = (counted(each, bootstrap=20).to_pandas() for each in (images, images[::-1]))
    columns = ["truth", "detector"]
    straight, back = (table.sort_values(columns).reset_index(drop=True) for table in (straight, back))
    assert straight.equals(back)


def test_the_mean_over_classes_is_drawn_with_all_classes():
    images = list(random_images(9))
    classes = {"road": images, "car": [{**image, "scores": {**image["scores"]}} for image in images]}
    for image in classes["car"]:
        image["masks"] = {rater: ~mask for rater, mask in image["masks"].items()}
    found = {name: counted(each, bootstrap=12, skew=(0.1, 0.5)) for name, each in classes.items()}
    drawn = [drawn_again(each, 12, 0, skew=(0.1, 0.5)) for each in classes.values()]
    joint = rank_over_classes(found)
    np.testing.assert_allclose(joint.replicates, (drawn[0] + drawn[1]) / 2, atol=1e-7)
    assert {"value_low", "value_high", "rank_low", "rank_high", "best_share"} <= {*joint.to_pandas()}
    # by hand: right in one class where it is wrong in the other, so that all tie whatever is drawn
    tied = rank_over_classes({"road": counted([PRECISE] * 2), "car": counted([REVERSED] * 2)})
    np.testing.assert_allclose(tied.interval, (2 - np.log(2)) / 2)
    assert (tied.best_share == 0.5).all()


@pytest.mark.parametrize("other", [{"seed": 1}, {"bootstrap": 9}, {"image": "b.png"}])
def test_classes_that_were_not_drawn_together_have_no_intervals(other):
    image = {"image": other.pop("image")} if "image" in other else {}
    found = {"road": counted([PRECISE]), "car": counted([{**PRECISE, **image}], **other)}
    joint = rank_over_classes(found)
    assert joint.replicates is None
    assert "value_low" not in joint.to_pandas()


def test_without_a_bootstrap_intervals_are_undefined():
    found = counted([PRECISE, REVERSED], bootstrap=0)
    table = found.to_pandas()
    assert table[["area_low", "area_high", "rank_low", "rank_high", "best_share"]].isna().all(axis=None)
    assert found.headline == "2 detectors ranked under 1 reference"


def test_counts_are_kept_up_to_a_limit(monkeypatch):
    # of an image four: each of two detectors has a pixel at each of two levels
    monkeypatch.setenv("KALOS_MOST_KEPT", "8")
    usual = counted([PRECISE, REVERSED])
    assert usual.replicates.shape == (1000, 1, 2)
    assert usual.no_intervals == ""
    message = (
        "intervals are undefined: the counts of 3 images are more than 8; KALOS_MOST_KEPT in the environment raises "
        "the limit"
    )
    accumulator = DetectorAccumulator()
    for image in (PRECISE, REVERSED):
        accumulator.add(**image)
    with pytest.warns(KalosWarning, match=message) as caught:
        accumulator.add(**PRECISE)
    assert [entry.filename for entry in caught] == [__file__]
    for _ in range(9):
        accumulator.add(**PRECISE)  # it is said once, and nothing is kept any more
    found = accumulator.result(SKEW)
    assert found.replicates.shape == (0, 1, 2)
    assert found.no_intervals == message
    assert found.ranking.undefined == (message,)
    assert np.isnan(found.area_interval).all()
    again = counted([PRECISE, REVERSED, *[PRECISE] * 10], bootstrap=0)
    np.testing.assert_array_equal(found.area, again.area)
    assert again.ranking.undefined == ()  # nobody wanted any
    joint = rank_over_classes({"road": found, "car": found})
    assert joint.undefined == (f"road: {message}", f"car: {message}")
    assert type(found).from_json(found.to_json()).no_intervals == message


def test_memory_grows_with_images_up_to_the_limit_only(monkeypatch):
    monkeypatch.setenv("KALOS_MOST_KEPT", "400")
    rng = np.random.default_rng(0)

    def held(images, **arguments):
        accumulator = DetectorAccumulator(methods=(), **arguments)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KalosWarning)
            for _ in range(images):
                accumulator.add({"net": rng.random((20, 20))}, {"ann": rng.random((20, 20)) < 0.5})
        return len(pickle.dumps(accumulator))

    assert held(1) > held(1, bootstrap=0) + 2000  # 400 pixels, hardly two of one level
    for kept in ({}, {"bootstrap": 0}):
        assert held(20, **kept) - held(2, **kept) < 20 * 50


def test_the_headline_says_how_sure_the_best_is():
    better = counted([PRECISE, PRECISE, PRECISE, REVERSED])
    share = better.ranking.best_share[0, 0]
    times = np.concatenate(list(draws(4, 1000, 0)))
    assert share == pytest.approx(((times[:, 3] < 2) + 0.5 * (times[:, 3] == 2)).mean())
    assert better.headline.replace("\xa0", " ") == (
        f"2 detectors ranked under 1 reference; the best is best in {100 * share:.0f} % of replicates"
    )
    alone = counted([{**PRECISE, "scores": {"net": PRECISE["scores"]["net"]}}])
    assert alone.headline == "1 detector ranked under 1 reference"


def test_it_comes_back_from_json():
    found = counted([PRECISE, REVERSED], bootstrap=5, seed=3)
    again = type(found).from_json(found.to_json())
    np.testing.assert_array_equal(again.replicates, found.replicates)
    assert again.to_pandas().equals(found.to_pandas())


@pytest.mark.parametrize("arguments", [{"bootstrap": -1}, {"bootstrap": "many"}, {"seed": 0.5}, {"bootstrap": 10**12}])
def test_refused(arguments):
    with pytest.raises(InputError, match=next(iter(arguments))):
        counted([PRECISE], **arguments)
