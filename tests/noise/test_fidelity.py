"""Generated raters against the raters they were fitted to: LVIS, the demo's scenes, and raters who hardly agree."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from demo.raters import simulate
from demo.scenes import objects_of, plan_scene
from kalos_core import Annotations, InputError, NoiseModel, agreement, read_coco, variations
from kalos_core.noise.experiments import signal_loss_table
from kalos_core.noise.fidelity import gap, measure_fidelity, poisson_interval
from kalos_core.resampling import INTERVAL

COUNTS = ("correct", "unmatched")


def demo_annotations():
    """The four simulated raters of `make demo` on its 72 scenes, which need not be painted for that."""
    plans = [plan_scene(index) for index in range(72)]
    scenes = [
        SimpleNamespace(
            name=plan.name, theme=plan.theme.name, image=SimpleNamespace(size=plan.size), objects=objects_of(plan)
        )
        for plan in plans
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_coco(simulate(scenes))


def hardly_agreeing(lvis):
    """LVIS-200 of which each annotation is kept with chance .26: four fifths are unmatched, four times as many."""
    return lvis.select(rows=np.random.default_rng(0).random(len(lvis)) < 0.26)


@pytest.fixture(scope="module")
def fidelities(lvis):
    tables = {"lvis": lvis, "demo": demo_annotations(), "four": hardly_agreeing(lvis)}
    return {name: (table, NoiseModel.fit(table).fidelity(table)) for name, table in tables.items()}


@pytest.mark.parametrize("name", ["lvis", "demo", "four"])
def test_generated_raters_differ_as_real_ones_do(fidelities, name):
    found = fidelities[name][1]
    assert found["alpha"].inside
    assert found["global_alpha"].synthetic == pytest.approx(found["global_alpha"].real, abs=0.03)
    for count in COUNTS:
        assert found[count].synthetic == pytest.approx(found[count].real, rel=0.15)
    for count in ("merged", "wrong_class"):
        low, high = poisson_interval(np.array([round(found[count].real)]))[0]
        assert low <= found[count].synthetic <= high
    assert found["ks_unmatched_per_image"].synthetic < 0.1
    assert found.inside.all()


def test_the_third_has_four_times_the_unmatched_share_of_lvis(fidelities):
    shares = []
    for name in ("lvis", "four"):
        table, found = fidelities[name]
        shares.append(found["unmatched"].real / len(table))
    assert shares[1] == pytest.approx(4 * shares[0], rel=0.05)


def test_the_real_side_is_that_of_other_functions(fidelities, lvis):
    found = fidelities["lvis"][1]
    alone = agreement(lvis)
    assert (found["alpha"].real, found["global_alpha"].real) == pytest.approx((0.688879, 0.648286), abs=1e-6)
    assert (found["alpha"].low, found["alpha"].high) == pytest.approx(alone.alpha_interval)
    counts = variations(lvis, max_merge=2).counts()
    assert found["unmatched"].real == counts["missing"] + counts["additional"] == 694
    assert found["unmatched_per_image"].real == 694 / 200
    for name in ("correct", "merged", "merged_wrong_class", "wrong_class"):
        assert found[name].real == counts[name]
    assert found["merged"].high == pytest.approx(stats.chi2.ppf(INTERVAL[1] / 100, 20) / 2)
    assert (found.pairs, found.images) == (1, 200)


def test_two_real_raters_are_inside_their_own_interval_and_the_papers_are_not(fidelities, lvis):
    paper = NoiseModel.fit(lvis, preset="paper").fidelity(lvis, draws=6)
    assert not paper["alpha"].inside
    assert not paper["ks_unmatched_per_image"].inside
    assert paper["ks_similarity"].synthetic > 2 * fidelities["lvis"][1]["ks_similarity"].synthetic


def test_the_shipped_model_differs_as_the_raters_of_its_data(lvis):
    found = NoiseModel.default().fidelity(lvis)
    assert found["alpha"].inside
    assert found["global_alpha"].synthetic == pytest.approx(0.648, abs=0.03)
    assert found["wrong_class"].inside
    assert found.inside.all()


def careful(raters=2, jitter=0.0, missed=0.0, seed=0, images=200, sides=(30, 140)):
    """Five annotations an image; of each, `missed` by the last rater, and moved and scaled by so many pixels."""
    rng, rows = np.random.default_rng(seed), []
    for image in range(images):
        for cell in rng.permutation(20)[:5]:
            size = rng.uniform(*sides, 2)
            corner = np.array([cell % 5, cell // 5]) * 200 + 100 - size / 2
            name = ("cat", "dog", "emu")[rng.integers(3)]
            for rater in range(raters):
                if rater == raters - 1 and rng.random() < missed:
                    continue
                move, scale = rng.normal(0, 1, (2, 2)) * jitter
                box = [*(corner + move), *np.maximum(size + scale, 5)]
                rows.append({"image": image, "rater": f"r{rater}", "category": name, "box": box})
    sizes = dict.fromkeys(range(images), (1000, 800))
    return Annotations.from_rows(rows, images=range(images), image_size=sizes, assigned="all")


def test_raters_who_never_differ_are_generated_as_copies():
    same = careful()
    model = NoiseModel.fit(same)
    noisy = model.generate(same, raters=2, reference="r0")
    assert set(noisy.events.event) == {"shift"}
    assert len(noisy.annotations) == 2 * 1000
    assert np.abs(noisy.annotations.shapes["box"].bounds()[:1000] - noisy.reference.shapes["box"].bounds()).max() < 1e-6
    found = model.fidelity(same, draws=2)
    assert (found["alpha"].real, found["alpha"].synthetic, found["global_alpha"].synthetic) == (1, 1, 1)
    assert found["correct"].synthetic == 1000
    assert found.inside.all()


@pytest.mark.parametrize("raters", [2, 3])
def test_raters_who_place_boxes_a_little_apart_get_nothing_but_that(raters):
    table = careful(raters=raters, jitter=1.0)
    found = NoiseModel.fit(table).fidelity(table, draws=3)
    assert (found["alpha"].real, found["alpha"].synthetic) == (1, 1)
    for name in ("unmatched", "merged", "wrong_class"):
        assert found[name].synthetic == found[name].real == 0
    assert found.inside.all()


def test_one_of_a_hundred_missed_on_images_of_as_many_is_missed_as_often():
    table = careful(jitter=2.0, missed=0.01)
    model = NoiseModel.fit(table)
    assert model.unmatched.rate.slope == 0
    unmatched = 1000 - (table.rater == 1).sum()
    # as often on either side, of 200 images each
    assert model.unmatched.rate.expected(5) == pytest.approx(unmatched / 400)
    found = model.fidelity(table)
    assert found["unmatched"].real == unmatched
    for name in ("alpha", "global_alpha", "unmatched", "unmatched_per_image", "merged"):
        assert found[name].inside, found[name]


@pytest.mark.parametrize("seed", range(4))
def test_a_trend_of_chance_is_none(seed):
    """Nearly all images have five annotations; who has four has them since one was missed."""
    rng = np.random.default_rng(seed)
    table = careful(raters=2, seed=seed, images=300)
    table = table.select(rows=rng.random(len(table)) > 0.01)
    model = NoiseModel.fit(table)
    mean = (variations(table).type != "correct").sum() / 600
    assert model.unmatched.rate.expected([3, 5, 20]) == pytest.approx([mean] * 3)
    assert "no trend over the number of annotations" in model.provenance["unmatched.rate"].reason


def test_boxes_of_one_size_tell_nothing_of_others():
    """40 x 40 pixels, moved by -3 to 3 of them: a shift of the size of the jitter, used on other sizes, too."""
    rng = np.random.default_rng(0)
    corners = [np.array([at % 5, at // 5]) * 200 + 80 for _ in range(60) for at in rng.permutation(20)[:5]]
    rows = [
        {"image": number // 5, "rater": name, "category": "cat", "box": [*(at + rng.integers(-3, 4, 2)), 40, 40]}
        for number, at in enumerate(corners)
        for name in ("r0", "r1")
    ]
    model = NoiseModel.fit(
        Annotations.from_rows(rows, image_size=dict.fromkeys(range(60), (1000, 800)), assigned="all")
    )
    moved = model.localization.translation
    # two positions a coordinate, each of variance 4: the distance is about sqrt(pi / 2) sqrt(8) = 3.5 of 1,000 pixels
    assert (moved.slope, moved.growth) == (0, 0)
    assert moved.intercept == pytest.approx(0.0039, abs=0.001)
    assert moved.sigma < 0.003
    assert model.localization.width == model.localization.height
    assert model.localization.width.limits == pytest.approx([0, 0], abs=1e-9)
    other = careful(images=40)
    free = model.generate(other, raters=2, reference="r0", shifts="free")
    assert agreement(free.annotations).alpha > 0.98
    assert not model.generate(other, raters=2, reference="r0").redrawn_share > 0.01


def test_copies_have_no_distance_and_agree(lvis):
    images = lvis.select(images=np.arange(30))
    copies = NoiseModel.default().generate(images, ["a", "b"], magnitude=0, reference="r1").annotations
    found = NoiseModel.default().fidelity(copies, draws=1)
    assert (found["alpha"].real, found["unmatched"].real, found["alpha"].inside) == (1, 0, False)
    assert found.to_pandas().columns.tolist() == ["quantity", "real", "synthetic", "low", "high", "inside"]


def test_the_same_seed_gives_the_same_table_in_any_order(lvis):
    some = lvis.select(images=np.arange(40))
    model = NoiseModel.default()
    one, again, other = (model.fidelity(some, draws=2, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(one.by_draw, again.by_draw)
    assert not np.array_equal(one.by_draw, other.by_draw)
    assert len(repr(one).splitlines()) <= 20
    turned = some.select(images=np.arange(40)[::-1])
    assert model.fidelity(turned, draws=1)["alpha"].low == pytest.approx(model.fidelity(some, draws=1)["alpha"].low)


def test_what_cannot_be_compared_is_refused(lvis):
    model = NoiseModel.default()
    with pytest.raises(InputError, match="expected two raters to compare"):
        model.fidelity(lvis.select(raters=["r1"]))
    with pytest.raises(InputError, match="draws: expected a whole number of at least 1, got 0"):
        model.fidelity(lvis, draws=0)
    rows = [{"image": rater, "rater": rater, "category": "cat", "box": [0, 0, 9, 9]} for rater in ("ann", "bob")]
    apart = Annotations.from_rows(
        rows, assigned={"ann": ["ann"], "bob": ["bob"]}, image_size={"ann": (64, 64), "bob": (64, 64)}
    )
    with pytest.raises(InputError, match="two raters who are assigned to the same image"):
        measure_fidelity(model, apart, 1, 0)
    found = model.fidelity(lvis.select(images=np.arange(20)), draws=1)
    with pytest.raises(InputError, match=r"quantity: expected one of 'alpha', .* got 'kappa'"):
        found["kappa"]


def test_distances_are_those_of_scipy():
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 9, 50).astype(float), rng.integers(0, 12, 70).astype(float)
    assert gap(one, other) == stats.ks_2samp(one, other).statistic
    exact = stats.poisson(4.115).sf(8), stats.poisson(17.085).cdf(9)  # 9 or more, 9 or fewer: 2.5 % each
    assert exact == pytest.approx((0.025, 0.025), abs=1e-4)
    assert poisson_interval(np.array([9]))[0] == pytest.approx((4.115, 17.085), abs=1e-3)


def test_signal_loss_against_table_3(lvis):
    """The paper's .2, 1.3, 4.2, 10.1, 28.3 %: its families lose as much around magnitude 1, ours lose less."""
    paper, ours = (
        np.mean([signal_loss_table(model, lvis, rater, raters=10).ratio for rater in ("r1", "r2")], axis=0)
        for model in (NoiseModel.fit(lvis, preset="paper"), NoiseModel.default())
    )
    assert paper[1:3] == pytest.approx([0.013, 0.042], abs=0.01)
    assert (np.diff(paper) > 0).all()
    assert (np.diff(ours) > 0).all()
    assert ours[2:4] == pytest.approx([0.0036, 0.0076], abs=0.002)  # nothing is missed twice
