"""Generated raters vs. the raters they were fitted to: LVIS, and almost identical raters."""

import numpy as np
import pytest
from scipy import stats

from kalos_core import InputError, NoiseModel, agreement, variations
from kalos_core.noise.experiments import signal_loss_table
from kalos_core.noise.fidelity import gap, poisson_interval
from tests.noise.models import by_raters

NAMES = ("ann", "bob", "cid", "dan")
UNMATCHED = 694
"""Number of unmatched annotations in LVIS-200."""


@pytest.fixture(scope="module")
def found(lvis, lvis_model):
    """Return the fidelity of the model fitted to LVIS."""
    return lvis_model.fidelity(lvis)


def test_generated_raters_differ_as_real_ones_do(found):
    assert found["alpha"].inside
    assert found["global_alpha"].synthetic == pytest.approx(found["global_alpha"].real, abs=0.03)
    for count in ("correct", "unmatched"):
        assert found[count].synthetic == pytest.approx(found[count].real, rel=0.15)
    for count in ("merged", "wrong_class"):
        low, high = poisson_interval(np.array([round(found[count].real)]))[0]
        assert low <= found[count].synthetic <= high
    assert found["ks_unmatched_per_image"].synthetic < 0.1
    assert found.inside.all()


def test_the_real_side_is_that_of_other_functions(found, lvis):
    alone = agreement(lvis, "box_iou")
    assert (found["alpha"].real, found["global_alpha"].real) == pytest.approx((0.688879, 0.648286), abs=1e-6)
    assert (found["alpha"].low, found["alpha"].high) == pytest.approx(alone.alpha_interval)
    counts = variations(lvis, "box_iou", max_merge=2).counts()
    assert found["unmatched"].real == counts["missing"] + counts["additional"] == UNMATCHED
    assert found["unmatched_per_image"].real == UNMATCHED / 200
    for name in ("correct", "merged", "merged_wrong_class", "wrong_class"):
        assert found[name].real == counts[name]
    assert found["merged"].high == pytest.approx(stats.chi2.ppf(0.975, 20) / 2)
    assert (found.pairs, found.images) == (1, 200)


def test_the_model_of_the_paper_is_outside_and_the_shipped_one_inside(found, lvis, paper_model):
    paper = paper_model.fidelity(lvis, draws=3)
    assert not paper["alpha"].inside
    assert not paper["ks_unmatched_per_image"].inside
    assert paper["ks_similarity"].synthetic > 2 * found["ks_similarity"].synthetic
    shipped = NoiseModel.default().fidelity(lvis, draws=10)
    assert shipped["global_alpha"].synthetic == pytest.approx(0.648, abs=0.03)
    assert shipped.inside.all()


def careful(images=60):
    """Return five annotations per image, equal for both raters."""
    rng, rows = np.random.default_rng(0), []
    for image in range(images):
        for cell in rng.permutation(20)[:5]:
            size = rng.uniform(30, 140, 2)
            corner = np.array([cell % 5, cell // 5]) * 200 + 100 - size / 2
            name = ("cat", "dog", "emu")[rng.integers(3)]
            rows += [(image, rater, name, [*corner, *size]) for rater in ("r0", "r1")]
    return by_raters(*rows, images=range(images), size=(1000, 800), assigned="all")


def test_raters_who_never_differ_are_generated_as_copies():
    same = careful()
    model = NoiseModel.fit(same)
    noisy = model.generate(same, raters=2, reference="r0")
    assert set(noisy.events.event) == {"shift"}
    assert len(noisy.annotations) == 2 * 300
    assert np.abs(noisy.annotations.shapes["box"].bounds()[:300] - noisy.reference.shapes["box"].bounds()).max() < 1e-6
    found = model.fidelity(same, draws=2)
    assert (found["alpha"].real, found["alpha"].synthetic, found["global_alpha"].synthetic) == (1, 1, 1)
    assert found["correct"].synthetic == 300
    assert found.inside.all()


def test_annotations_missed_by_chance_are_missed_in_proportion():
    """Almost all images have five annotations of three classes; each is missed with probability .01."""
    table = careful(images=300)
    table = table.select(rows=np.random.default_rng(0).random(len(table)) > 0.01)
    model = NoiseModel.fit(table)
    mean = (variations(table).type != "correct").sum() / 600
    assert model.unmatched.rate.expected([1, 3, 5]) == pytest.approx(np.array([1, 3, 5]) * mean / 5, rel=0.25)


def test_the_same_seed_gives_the_same_table_in_any_order(lvis):
    some, model = lvis.select(images=np.arange(40)), NoiseModel.default()
    one, again, other = (model.fidelity(some, draws=2, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(one.by_draw, again.by_draw)
    assert not np.array_equal(one.by_draw, other.by_draw)
    turned = model.fidelity(some.select(images=np.arange(40)[::-1]), draws=1, seed=3)
    assert turned["alpha"].low == pytest.approx(one["alpha"].low)


def test_incomparable_input_is_refused(lvis):
    model = NoiseModel.default()
    apart = by_raters(
        *((name, name, "cat", [0, 0, 9, 9]) for name in ("ann", "bob")), assigned={"ann": ["ann"], "bob": ["bob"]}
    )
    for call, message in (
        (lambda: model.fidelity(lvis.select(raters=["r1"])), "expected two raters to compare"),
        (lambda: model.fidelity(apart, draws=1), "two raters who annotated the same image"),
    ):
        with pytest.raises(InputError, match=message):
            call()


def test_raters_whose_images_are_all_empty_are_no_pair():
    marks = [(i, r, "cat", [20 * x, 20, 9, 9]) for i in range(40) for x in range(i % 3) for r in ("ann", "bob")]
    assigned = {i: ["ann", "bob"] for i in range(40)} | {40: ["cid", "dan"]}
    found = NoiseModel.default().fidelity(by_raters(*marks, images=range(41), assigned=assigned, raters=NAMES), draws=1)
    assert (found.pairs, found.images) == (1, 40)


def test_distances_are_those_of_scipy():
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 9, 50).astype(float), rng.integers(0, 12, 70).astype(float)
    assert gap(one, other) == stats.ks_2samp(one, other).statistic
    exact = stats.poisson(4.115).sf(8), stats.poisson(17.085).cdf(9)  # 9 or more, 9 or fewer: 2.5 % each
    assert exact == pytest.approx((0.025, 0.025), abs=1e-4)
    assert poisson_interval(np.array([9]))[0] == pytest.approx((4.115, 17.085), abs=1e-3)


def test_signal_loss_against_table_3(lvis, paper_model):
    """The paper's .2, 1.3, 4.2, 10.1, 28.3 %: its families lose as much around magnitude 1, ours lose less."""
    models = (paper_model, NoiseModel.default())
    paper, ours = (signal_loss_table(model, lvis, "r1", raters=5).ratio for model in models)
    assert paper[1:3] == pytest.approx([0.013, 0.042], abs=0.01)
    assert (np.diff(paper) > 0).all()
    assert (np.diff(ours[2:]) > 0).all()
    assert ours[2:4] == pytest.approx([0.0020, 0.0072], abs=0.002)  # no annotation is missed twice


def test_table_3_where_events_are_lost_only_when_no_annotation_is_left(lvis, paper_model):
    """k ~ Poisson(magnitude exp(a + b n)) events in an image of n annotations, max(0, k - n) of them lost."""
    rate, magnitudes, k = paper_model.unmatched.rate, np.array([0.25, 0.5, 1, 2, 5]), np.arange(2000)
    lost = np.zeros((2, 5))
    for rater in range(2):
        counts = np.bincount(lvis.image[lvis.rater == rater])
        counts = counts[counts > 0][:, None]
        mean = magnitudes * np.exp(rate.intercept + rate.slope * counts)
        excess = (stats.poisson.pmf(k, mean[..., None]) * np.maximum(k - counts[..., None], 0)).sum(axis=2)
        lost[rater] = excess.sum(axis=0) / mean.sum(axis=0)
    found = lost.mean(axis=0)
    assert found == pytest.approx([0.009, 0.018, 0.035, 0.097, 0.278], abs=6e-4)
    assert found == pytest.approx([0.002, 0.013, 0.042, 0.101, 0.283], abs=0.0075)  # as printed
