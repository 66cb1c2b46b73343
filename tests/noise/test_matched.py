"""Shifts that stay matched, rates per rater, coupled changes, and additions where no rater sees anything."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from kalos_core import InputError, NoiseModel, variations
from kalos_core.noise.draws import draw_change
from kalos_core.noise.fit.coupling import fit_coupling
from kalos_core.noise.fit.observations import Shifts
from kalos_core.noise.parameters import Chance, Coupling, EventRate, Overlap, OwnClass, Shift, SizeCurve
from kalos_core.noise.sources import ConfusionClasses, TransplantedFalsePositives
from tests.noise.models import always, by_raters, halves, many, quiet, table

MATCHED = {"overlap": Overlap(0.5)}
HEAVY = Shift(intercept=0.0, slope=0.0, nu=1.0, mu=0.0, sigma=0.03)
RNG = np.random.default_rng


def overlaps(made):
    """Return the IoU of each annotation with its reference, by the definition."""
    before = made.reference.shapes["box"].corners[made.truth[:, 0]]
    after = made.annotations.shapes["box"].corners
    sides = np.minimum(before, after)[:, 2:] - np.maximum(before, after)[:, :2]
    common = np.maximum(sides, 0).prod(axis=1)
    areas = [(corners[:, 2:] - corners[:, :2]).prod(axis=1) for corners in (before, after)]
    return common / (sum(areas) - common)


def test_a_shift_that_parts_is_drawn_again_at_magnitude_one():
    reference = many(300)
    loose = dict.fromkeys(("translation", "width", "height"), HEAVY)
    matching = quiet(localization=loose | MATCHED)
    free, kept = (model.generate(reference, raters=1) for model in (quiet(localization=loose), matching))
    assert overlaps(free).min() < 0.5
    assert overlaps(kept).min() >= 0.5
    assert (free.redrawn_share, free.events.redrawn.max()) == (0, 0)
    assert kept.redrawn_share == pytest.approx((overlaps(free) < 0.5).mean(), abs=0.05)
    assert f"shifts drawn again {kept.redrawn_share:.1%}" in repr(kept)
    # the shift is that of magnitude 1, multiplied: a large one separates them
    strong = matching.generate(reference, raters=1, magnitude=4)
    assert overlaps(strong).min() < 0.5
    assert strong.events.shift[:, 1] == pytest.approx(4 * kept.events.shift[:, 1], abs=1e-9)


def test_generate_takes_shifts_of_either_kind():
    reference, model = many(100), quiet(localization={"translation": HEAVY})
    assert (model.shifts, NoiseModel.default().shifts) == ("free", "matched")
    assert overlaps(model.generate(reference, raters=1, shifts="matched")).min() >= 0.5
    with pytest.raises(InputError, match="shifts: expected one of 'free', 'matched', got 'loose'"):
        model.generate(reference, raters=1, shifts="loose")


def test_fragments_and_merges_equal_the_counted_merges():
    loose = halves() | {"first_translation": HEAVY, "second_distance": HEAVY, "split": Chance(0.5)}
    # two halves of a bar each: either alone overlaps their union by exactly one half, which counts as correct
    rows = [(image, "cat", [20 + 60 * index, 40, 40, 20]) for image in range(60) for index in range(2)]
    made = quiet(topology=loose, localization=MATCHED).generate(table(*rows), raters=1)
    splits = made.events.counts()["split"]["done"]
    found = variations(made.with_reference(), max_merge=2).counts()
    assert splits > 20
    assert found["merged"] >= 0.9 * (splits + made.events.counts()["merge"]["done"])


@pytest.mark.parametrize("dispersion", [0.0, 0.5])
def test_both_raters_of_a_pair_have_as_many_unmatched_as_the_rate_says(dispersion):
    rate = EventRate(np.log(0.2), 1.0, "power", dispersion=dispersion)  # 0.2 x (1 + 4) = 1 of 4
    model = quiet(unmatched={"rate": rate, "selection": SizeCurve(0.0, 0.0)}, localization=MATCHED)
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


@pytest.mark.parametrize(("share", "stays"), [(1.0, 0.0), (1.0, 1.0), (0.5, 0.0)])
def test_additions_are_of_classes_of_the_image_as_often_as_the_share_says(share, stays):
    rows, names = [], [*[("cat", "cat", "dog", "dog")] * 600, *[("emu",)] * 600]
    for image, given in enumerate(names):
        places = RNG(image).permutation(30)[: len(given)]  # elsewhere in each image, so that others fit in between
        boxes = [[20 * (at % 10), 25 * (at // 10), 15, 15] for at in places.tolist()]
        rows += [(image, name, box) for name, box in zip(given, boxes, strict=True)]
    rate = EventRate(np.log(0.5), np.log(0.5), "each", empty=0.0)  # each annotation with probability .5
    unmatched = {"rate": rate, "added": rate, "own_class": OwnClass(share, stays), "selection": SizeCurve(0.0, 0.0)}
    made = quiet(unmatched=unmatched, localization=MATCHED).generate(
        table(*rows), raters=1, class_source=ConfusionClasses(), false_positive_source=TransplantedFalsePositives(32)
    )
    events = made.events
    added = (events.event == "addition") & (events.outcome == "done")
    names = made.annotations.categories[events.category_to[added]]
    own = np.where(events.image[added] < 600, np.isin(names, ("cat", "dog")), names == "emu")
    assert own.mean() == pytest.approx(share, abs=0.05)
    deleted = events.event == "deletion"
    emus = np.bincount(events.image[deleted], minlength=1200)[600:] == 1
    again = np.bincount(events.image[added], minlength=1200)[600:] > 0
    assert emus.mean() == pytest.approx(0.5, abs=0.08)
    if stays:  # annotations that are missed completely are added
        assert again[emus].all()
        assert again[~emus].mean() < 0.15
    # in all as many are added as missed; of a share of one half, twice as many of any class as of own ones
    assert added.sum() / deleted.sum() == pytest.approx(1 / share, rel=0.12)


def test_nothing_is_added_on_images_without_annotations():
    boxes = [[*corner, 20, 20] for corner in RNG(0).uniform((0, 0), (180, 80), (50, 2)).tolist()]
    rows = [
        (50 * late + i, name, "cat", box) for late, name in enumerate(("ann", "bob")) for i, box in enumerate(boxes)
    ]
    annotations = by_raters(*rows, images=range(200), assigned="all")
    where = []
    for empty in (None, 2.0):
        unmatched = {"rate": EventRate(np.log(2.0), 0.0, empty=empty), "deletion": Chance(0.0)}
        made = quiet(unmatched=unmatched, localization=MATCHED).generate(annotations, raters=1, reference="ann")
        where.append(np.bincount(made.annotations.image, minlength=200))
    paper, faithful = where
    assert faithful[100:].sum() == 0  # neither sees anything there
    assert paper[100:].sum() > 50
    assert faithful[50:100].mean() == pytest.approx(2, abs=5 * np.sqrt(2 / 50))  # bob does, ann does not


def test_the_density_of_a_growing_shift_adds_up_to_one_and_is_what_is_drawn():
    shift = Shift(0.1, 0.0, 3.0, 0.0, 0.05, growth=0.5)
    grid = np.linspace(0, 20, 400_001)
    assert np.exp(shift.log_density(grid, 0.25)).sum() * (grid[1] - grid[0]) == pytest.approx(1, abs=1e-3)
    drawn = np.abs(draw_change(shift, np.full(20_000, 0.25), RNG(0)))
    other = np.abs(0.1 + 0.05 * stats.t(3).rvs(20_000, random_state=1))
    assert np.median(drawn) == pytest.approx(0.5 * np.median(other), rel=0.02)


def test_coupled_changes_keep_their_distributions():
    area, rng, shift = np.full(40_000, 0.01), RNG(0), Shift(0.0, 0.0, 1.5, 0.0, 1.0)
    tail = rng.random(40_000)
    one, other = (draw_change(shift, area, rng, tail) for _ in range(2))
    low, high = shift.limits
    inner = one[(one > low) & (one < high)]
    assert stats.kstest(inner, stats.t(1.5).cdf).statistic < 0.01
    assert stats.spearmanr(np.abs(one), np.abs(other)).statistic > 0.3


def test_a_coupling_is_found_where_there_is_one(lvis, lvis_model):
    shift, area, rng = Shift(0.0, 0.0, 2.0, 0.0, 1.0), np.full(2_000, 0.01), RNG(0)
    for expected, tail in ((0, None), (0.5, np.where(rng.random(2_000) < 0.5, rng.random(2_000), np.nan))):
        moved, *scaled = (np.abs(draw_change(shift, area, rng, tail)) for _ in range(3))
        share, gain = fit_coupling(Shifts(area, moved, area, *scaled), shift, shift, shift)
        assert gain > 20 if expected else gain < 4
        assert share == pytest.approx(expected, abs=0.15 if expected else 0.1)
    assert lvis_model.localization.coupling.share > 0.9
    assert "a common tail lowers AIC by" in lvis_model.provenance["localization.coupling"].reason
    alone = replace(lvis_model, localization=replace(lvis_model.localization, coupling=Coupling(0.0)))
    pairs = [lvis, *(m.generate(lvis, 1, seed=3, reference="r1").with_reference() for m in (lvis_model, alone))]
    found = [variations(pair, max_merge=2) for pair in pairs]
    real, coupled, apart = (each.similarity[each.type == "correct"] for each in found)
    assert stats.ks_2samp(real, coupled).statistic < 0.06 < stats.ks_2samp(real, apart).statistic


def test_a_shift_that_always_parts_is_halved_until_it_does_not():
    made = quiet(localization={"translation": always(0.2)} | MATCHED).generate(many(1, 1), raters=1)
    # 20 of 200 pixels wide: 40, 20 and 10 pixels part it; at 5 the overlap is 15 / 25
    assert made.annotations.shapes["box"].corners[0, 0] == pytest.approx(5)
    assert made.events.redrawn.tolist() == [100]
