"""Shifts that stay matched, rates per rater, coupled changes, and what is added where nobody has seen anything."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from kalos_core import Annotations, InputError, NoiseModel, variations
from kalos_core.noise.draws import draw_change
from kalos_core.noise.fit.coupling import fit_coupling
from kalos_core.noise.fit.curves import fit_dispersion
from kalos_core.noise.fit.distributions import estimate_rate, pair_dispersion, rate_fits
from kalos_core.noise.fit.goodness import pearson
from kalos_core.noise.fit.observations import Shifts, observe
from kalos_core.noise.fit.shifts import fit_growing
from kalos_core.noise.parameters import Chance, Coupling, EventRate, Overlap, Shift, SizeCurve
from kalos_core.noise.sources import TransplantedFalsePositives
from tests.noise.models import ALWAYS, always, halves, quiet, table

MATCHED = Overlap(0.5)
HEAVY = Shift(intercept=0.0, slope=0.0, nu=1.0, mu=0.0, sigma=0.03)


def many(images, annotations=4):
    return table(*[(image, "cat", [40 * index, 40, 20, 20]) for image in range(images) for index in range(annotations)])


def overlaps(made):
    """IoU of each annotation with its reference, by the definition."""
    before = made.reference.shapes["box"].corners[made.truth[:, 0]]
    after = made.annotations.shapes["box"].corners
    sides = np.minimum(before, after)[:, 2:] - np.maximum(before, after)[:, :2]
    common = np.maximum(sides, 0).prod(axis=1)
    areas = [(corners[:, 2:] - corners[:, :2]).prod(axis=1) for corners in (before, after)]
    return common / (sum(areas) - common)


def test_a_shift_that_parts_is_drawn_again_at_magnitude_one():
    reference = many(300)
    loose = {"translation": HEAVY, "width": HEAVY, "height": HEAVY}
    free = quiet(localization=loose).generate(reference, raters=1)
    kept = quiet(localization=loose | {"overlap": MATCHED}).generate(reference, raters=1)
    assert overlaps(free).min() < 0.5
    assert overlaps(kept).min() >= 0.5
    assert (free.redrawn_share, free.events.redrawn.max()) == (0, 0)
    assert kept.redrawn_share == pytest.approx((overlaps(free) < 0.5).mean(), abs=0.05)
    assert f"shifts drawn again {kept.redrawn_share:.1%}" in repr(kept)
    # the shift is that of magnitude 1, multiplied: a strong one parts
    strong = quiet(localization=loose | {"overlap": MATCHED}).generate(reference, raters=1, magnitude=4)
    assert overlaps(strong).min() < 0.5
    once = kept.events.shift
    assert strong.events.shift[:, 1] == pytest.approx(4 * once[:, 1], abs=1e-9)


def test_generate_takes_shifts_of_either_kind():
    reference = many(100)
    model = quiet(localization={"translation": HEAVY})
    assert (model.shifts, NoiseModel.default().shifts) == ("free", "matched")
    assert overlaps(model.generate(reference, raters=1, shifts="matched")).min() >= 0.5
    with pytest.raises(InputError, match="shifts: expected one of 'free', 'matched', got 'loose'"):
        model.generate(reference, raters=1, shifts="loose")


def test_a_shift_that_always_parts_is_halved_until_it_does_not():
    made = quiet(localization={"translation": always(0.2), "overlap": MATCHED}).generate(many(1, 1), raters=1)
    # 20 of 200 pixels wide: 40, 20 and 10 pixels part it; at 5 the overlap is 15 / 25
    assert made.annotations.shapes["box"].corners[0, 0] == pytest.approx(5)
    assert made.events.redrawn.tolist() == [100]


def test_fragments_and_merges_are_what_is_counted_as_merged():
    loose = halves() | {"first_translation": HEAVY, "second_distance": HEAVY, "split": Chance(0.5)}
    # two halves of a bar each: either alone overlaps their union by exactly one half, which counts as correct
    rows = [(image, "cat", [20 + 60 * index, 40, 40, 20]) for image in range(60) for index in range(2)]
    model = quiet(topology=loose, localization={"overlap": MATCHED})
    made = model.generate(table(*rows), raters=1)
    splits = made.events.counts()["split"]["done"]
    found = variations(made.with_reference(), max_merge=2).counts()
    assert splits > 20
    assert found["merged"] >= 0.9 * (splits + made.events.counts()["merge"]["done"])


def test_without_a_partner_an_annotation_is_split():
    lonely = table(*[(image, "cat", [60, 40, 40, 20]) for image in range(40)])
    topology = halves() | {"susceptibility": ALWAYS, "split": Chance(0.5)}
    free = quiet(topology=topology).generate(lonely, raters=1).events.counts()
    kept = quiet(topology=topology, localization={"overlap": MATCHED}).generate(lonely, raters=1).events.counts()
    assert 0 < free["merge"]["impossible"] == 40 - free["split"]["done"]
    assert kept["split"]["done"] == 40


@pytest.mark.parametrize("dispersion", [0.0, 0.5])
def test_both_raters_of_a_pair_have_as_many_unmatched_as_the_rate_says(dispersion):
    rate = EventRate(np.log(0.2), 1.0, "power", dispersion=dispersion)  # 0.2 x (1 + 4) = 1 of 4
    model = quiet(unmatched={"rate": rate, "selection": SizeCurve(0.0, 0.0)}, localization={"overlap": MATCHED})
    made = model.generate(many(2_000), raters=1, false_positive_source=TransplantedFalsePositives(32))
    events = made.events
    counts = [np.bincount(events.image[events.event == name], minlength=2_000) for name in ("deletion", "addition")]
    for count in counts:
        assert count.mean() == pytest.approx(1, abs=5 * np.sqrt((1 + dispersion) / 2_000) + 0.02)
    assert counts[0].max() <= 4  # each at most once
    assert set(events.outcome[events.event == "deletion"]) == {"done"}
    if dispersion == 0:
        assert counts[0].var() == pytest.approx(4 * 0.25 * 0.75, rel=0.15)  # binomial of 4 annotations
    else:  # a difficulty that both share
        assert np.corrcoef(counts)[0, 1] > 0.15


def test_nothing_is_added_where_nobody_has_seen_anything():
    corners = np.random.default_rng(0).uniform((0, 0), (180, 80), (50, 2)).tolist()
    rows = [{"image": i, "rater": "ann", "category": "cat", "box": [*corners[i], 20, 20]} for i in range(50)]
    rows += [{**row, "rater": "bob", "image": 50 + row["image"]} for row in rows]
    sizes = dict.fromkeys(range(200), (200, 100))
    annotations = Annotations.from_rows(rows, images=range(200), image_size=sizes, assigned="all")
    where = {}
    for name, empty in (("paper", None), ("faithful", 2.0)):
        rate = EventRate(np.log(2.0), 0.0, empty=empty)
        model = quiet(unmatched={"rate": rate, "deletion": Chance(0.0)}, localization={"overlap": MATCHED})
        made = model.generate(annotations, raters=1, reference="ann")
        where[name] = np.bincount(made.annotations.image, minlength=200)
    assert where["faithful"][100:].sum() == 0  # neither has seen anything there
    assert where["paper"][100:].sum() > 50
    assert where["faithful"][50:100].mean() == pytest.approx(2, abs=5 * np.sqrt(2 / 50))  # bob has, ann has not


def test_the_rate_of_empty_images_is_what_the_other_has_there():
    rows = [
        {"image": i, "rater": "ann", "category": "cat", "box": [10 * x, 0, 9, 9]} for i in range(1, 4) for x in range(i)
    ]
    sizes = dict.fromkeys(range(40), (99, 99))
    seen = observe(
        Annotations.from_rows(rows, images=range(40), raters=["ann", "bob"], image_size=sizes, assigned="all")
    )
    found = estimate_rate(seen, "power").distribution
    assert found.empty == (1 + 2 + 3) / 3


class TestRate:
    def test_lvis_is_counted_per_rater_and_grows_as_a_power(self, lvis):
        seen = observe(lvis)
        fits = {fit.form: fit for fit in rate_fits(seen)}
        # against statsmodels' kind of answer: the score equations of the likelihood hold
        for fit in fits.values():
            assert fit.expected.sum() == pytest.approx(694)
        assert fits["power"].line.slope == pytest.approx(1.40, abs=0.02)
        assert fits["power"].aic < fits["exponential"].aic - 300
        # the likelihood by the definition of Poisson's distribution
        own = seen.annotations_per_rater.ravel()
        count, own = seen.events.ravel()[own > 0], own[own > 0]
        line = fits["power"].line
        by_hand = stats.poisson.logpmf(count, np.exp(line.intercept) * (1.0 + own) ** line.slope).sum()
        assert fits["power"].aic == pytest.approx(4 - 2 * by_hand)

    def test_the_form_is_chosen_by_aic_unless_asked_for_and_said(self, lvis):
        auto, asked, paper = (
            NoiseModel.fit(lvis),
            NoiseModel.fit(lvis, rate="exponential"),
            NoiseModel.fit(lvis, preset="paper"),
        )
        assert [model.unmatched.rate.form for model in (auto, asked, paper)] == ["power", "exponential", "exponential"]
        assert "power: AIC exponential 1,385, power 987; over-dispersed" in auto.provenance["unmatched.rate"].reason
        assert asked.provenance["unmatched.rate"].reason.startswith("200 images of two raters, exponential: AIC")
        assert (paper.shifts, paper.unmatched.rate.dispersion, paper.unmatched.rate.empty) == ("free", 0, None)
        assert paper.localization.coupling.share == paper.localization.width.growth == 0
        with pytest.raises(InputError, match="rate: expected one of 'auto', 'exponential', 'power', got 'cubic'"):
            NoiseModel.fit(lvis, rate="cubic")
        with pytest.raises(InputError, match="preset: expected one of 'faithful', 'paper', got 'best'"):
            NoiseModel.fit(lvis, preset="best")

    def test_the_test_of_fit_fails_for_the_exponential(self, lvis):
        table = NoiseModel.fit(lvis).tests(permutations=199).to_pandas()
        rows = table[table["test"] == "Pearson chi-squared / df"].set_index("model")
        assert rows.loc["exponential", "statistic"] > 3
        assert rows.loc["exponential", "p_value"] == pytest.approx(1 / 200)
        assert rows.loc["power", "p_value"] == pytest.approx(1 / 200)  # better, yet over-dispersed
        assert rows.loc["power", "statistic"] < rows.loc["exponential", "statistic"] / 1.5
        assert rows.loc["power, over-dispersed", "p_value"] > 0.05
        aic = table[(table["distribution"] == "unmatched.rate") & (table["test"] == "AIC")].set_index("model")
        assert aic.loc["power", "note"] == "fits better"

    def test_pearson_by_hand_and_on_its_own_draws(self):
        rng = np.random.default_rng(0)
        # (1 - 2)² / 2 + (5 - 2)² / 2 = 5 over one degree of freedom; with dispersion ½ the variances are 4
        counts, expected = np.array([1, 5]), np.array([2.0, 2.0])
        assert pearson(counts, expected, 0.0, 1, 9, rng).statistic == 5
        assert pearson(counts, expected, 0.5, 1, 9, rng).statistic == 2.5
        mean = np.exp(rng.normal(0, 1, 300))
        assert pearson(rng.poisson(mean), mean, 0.0, 0, 199, rng).p_value > 0.01
        assert pearson(rng.poisson(mean * rng.gamma(1, 1, 300)), mean, 0.0, 0, 199, rng).p_value == 1 / 200

    def test_a_dispersion_comes_back(self):
        rng = np.random.default_rng(1)
        mean = rng.uniform(1, 20, 3_000)
        found, _ = fit_dispersion(rng.poisson(mean * rng.gamma(1 / 0.4, 0.4, 3_000)), mean)
        assert found == pytest.approx(0.4, rel=0.1)

    def test_the_over_dispersion_of_lvis_is_the_likeliest(self, lvis):
        seen = observe(lvis)
        rate = NoiseModel.fit(lvis).unmatched.rate
        found, gain = pair_dispersion(seen, rate)
        both = (seen.annotations_per_rater > 0).all(axis=1)
        expected = rate.expected(seen.annotations_per_rater[both]).sum(axis=1)
        count = seen.events[both].sum(axis=1)
        # the negative binomial as Poisson with a Gamma factor, integrated by quantiles, on a grid of dispersions
        grid, share = np.array([0.3, 0.4, 0.45, 0.5, 0.6]), (np.arange(2_000) + 0.5) / 2_000
        factors = [stats.gamma(1 / d, scale=d).ppf(share) for d in grid]
        logs = [np.log(stats.poisson.pmf(count[:, None], expected[:, None] * f).mean(axis=1)).sum() for f in factors]
        assert grid[int(np.argmax(logs))] in (0.45, 0.5)
        assert found == rate.dispersion == pytest.approx(0.46, abs=0.01)
        plain = stats.poisson.logpmf(count, expected).sum()
        assert gain == pytest.approx(2 * (max(logs) - plain) - 2, abs=0.5)


class TestShifts:
    def test_growth_comes_back_and_lowers_aic_on_lvis(self, lvis):
        seen = observe(lvis).correct
        rng = np.random.default_rng(2)
        area = np.exp(rng.uniform(-8, -1, 4_000))
        low = fit_growing(np.abs(0.02 + 0.004 * rng.standard_t(3, 4_000)) * area**-0.3, area)
        assert (low.growth, low.nu) == (pytest.approx(-0.3, abs=0.03), pytest.approx(3, rel=0.3))
        for part, growth in (("translation", 0.24), ("width", -0.30), ("height", -0.27)):
            size = getattr(seen, part)
            found = fit_growing(size, seen.area)
            assert found.growth == pytest.approx(growth, abs=0.02)
            density = np.log(found.density(size, seen.area)).sum()
            assert found.log_likelihood == pytest.approx(density)

    def test_copies_and_equal_areas_grow_with_nothing(self):
        rows = [
            {"image": image, "rater": rater, "category": "cat", "box": [10, 10, 20 + image * grows, 20]}
            for grows, images in ((0, range(40)), (1, range(40, 80)))
            for image in images
            for rater in ("ann", "bob")
        ]
        for some in (rows[:80], rows[80:], rows):
            table = Annotations.from_rows(some, image_size=dict.fromkeys(range(80), (200, 100)))
            model = NoiseModel.fit(table)
            assert model.localization.width.growth == 0
            found = variations(model.generate(table, raters=1, reference="ann").with_reference(), max_merge=2)
            assert found.counts()["correct"] > 0.5 * len(table) / 2
            # copies stay copies; scale of the residuals has no other bound
            assert np.median(found.similarity[found.type == "correct"]) > 0.99

    def test_the_density_of_a_growing_shift_adds_up_to_one(self):
        shift = Shift(0.1, 0.0, 3.0, 0.0, 0.05, growth=0.5)
        grid = np.linspace(0, 20, 400_001)
        assert np.exp(shift.log_density(grid, 0.25)).sum() * (grid[1] - grid[0]) == pytest.approx(1, abs=1e-3)
        drawn = np.abs(draw_change(shift, np.full(20_000, 0.25), np.random.default_rng(0)))
        assert np.median(drawn) == pytest.approx(
            0.5 * np.median(np.abs(0.1 + 0.05 * stats.t(3).rvs(20_000, random_state=1))), rel=0.02
        )

    def test_coupled_changes_keep_their_distributions(self):
        area, rng = np.full(40_000, 0.01), np.random.default_rng(0)
        tail = rng.random(40_000)
        one, other = (draw_change(Shift(0.0, 0.0, 1.5, 0.0, 1.0), area, rng, tail) for _ in range(2))
        low, high = Shift(0.0, 0.0, 1.5, 0.0, 1.0).limits
        inner = one[(one > low) & (one < high)]
        assert stats.kstest(inner, stats.t(1.5).cdf).statistic < 0.01
        assert stats.spearmanr(np.abs(one), np.abs(other)).statistic > 0.3

    def test_a_coupling_is_found_where_there_is_one(self, lvis):
        shift, area = Shift(0.0, 0.0, 2.0, 0.0, 1.0), np.full(2_000, 0.01)
        rng = np.random.default_rng(0)
        tails = {"none": None, "half": np.where(rng.random(2_000) < 0.5, rng.random(2_000), np.nan)}
        shares = {}
        for name, tail in tails.items():
            sizes = [np.abs(draw_change(shift, area, rng, tail)) for _ in range(3)]
            shares[name], gain = fit_coupling(Shifts(area, sizes[0], area, *sizes[1:]), shift, shift, shift)
            assert gain > 20 if name == "half" else gain < 4
        assert shares["none"] < 0.1
        assert shares["half"] == pytest.approx(0.5, abs=0.15)
        model = NoiseModel.fit(lvis)
        assert model.localization.coupling.share > 0.9
        assert "a common tail lowers AIC by" in model.provenance["localization.coupling"].reason
        alone = replace(model, localization=replace(model.localization, coupling=Coupling(0.0)))
        similar = [
            variations(m.generate(lvis, 1, seed=3, reference="r1").with_reference(), max_merge=2)
            for m in (model, alone)
        ]
        real = variations(lvis, max_merge=2)
        gaps = [
            stats.ks_2samp(*(found.similarity[found.type == "correct"] for found in (real, other))).statistic
            for other in similar
        ]
        assert gaps[0] < 0.06 < gaps[1]


class TestWithReference:
    def test_reference_and_synthetic_raters_in_one_table(self, lvis):
        made = NoiseModel.default().generate(lvis, raters=2, seed=1, reference="r2")
        both = made.with_reference()
        assert both.raters.tolist() == ["r2", "synthetic 1", "synthetic 2"]
        own = lvis.select(raters=["r2"])
        assert both.id[: len(own)].tolist() == own.id.tolist()
        assert len(set(both.id.tolist())) == len(both) == len(own) + len(made.annotations)
        assert np.array_equal(both.assigned, np.repeat(own.assigned, 3, axis=1))
        assert set(both.shapes) == set(made.annotations.shapes)
        assert np.array_equal(both.shapes["box"].corners[: len(own)], own.shapes["box"].corners)

    def test_names_as_ids_are_kept_and_names_of_raters_may_not_repeat(self):
        rows = [{"image": 1, "rater": "ann", "category": "cat", "box": [9, 9, 9, 9], "id": "synthetic 1"}]
        reference = Annotations.from_rows(rows, image_size={1: (99, 99)})
        both = quiet().generate(reference, raters=2).with_reference()
        assert both.id.tolist() == ["synthetic 1", "synthetic 2", "synthetic 3"]
        with pytest.raises(InputError, match="expected other names than those of the reference, got 'ann'"):
            quiet().generate(reference, raters=["ann"]).with_reference()
