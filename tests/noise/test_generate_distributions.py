"""Distributions of generation on any reference, and its statistics vs. closed forms."""

from dataclasses import replace

import numpy as np
import pytest
import shapely
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import special

from kalos_core.noise import NoiseModel
from kalos_core.noise.draws import draw_angle, draw_change, draw_opposition
from kalos_core.noise.moving import Placement, move_masks
from kalos_core.noise.parameters import AxialAngle, CardinalAngle, Chance, EventRate, Opposition, Shift, SizeCurve
from kalos_core.noise.sources import TransplantedFalsePositives
from kalos_core.shapes import Masks
from tests.noise.models import ALWAYS, many, quiet, table, unmatched
from tests.strategies import tables

RNG = np.random.default_rng

BUSY = replace(
    NoiseModel.default(),
    topology=replace(NoiseModel.default().topology, susceptibility=SizeCurve(0.0, 0.0)),
    category=replace(NoiseModel.default().category, occurrence=Chance(0.2)),
    unmatched=replace(NoiseModel.default().unmatched, rate=EventRate(1.0, 0.0)),
)
"""High rates of all events."""


@st.composite
def references(draw):
    """Draw tables of one rater, with polygons and masks, on images of 12 x 10."""
    drawn = draw(tables(raters=2, images=3, marks=10, everyone=True))
    reference = drawn.select(rows=drawn.rater == 0, raters=[0])
    assume(len(reference))
    sized = replace(reference, image_size=np.tile([12.0, 10.0], (len(reference.images), 1)))
    pixels = np.arange(len(sized))[:, None, None] % 3 + np.add.outer(np.arange(10), np.arange(12)) % 2 > 0
    return replace(sized, shapes=dict(sized.shapes) | {"mask": Masks.from_arrays(pixels)})


@settings(max_examples=10)
@given(references(), st.sampled_from([0.3, 1.0, 5.0]), st.integers(0, 99), st.sampled_from([None, [2, 1]]))
def test_distributions(reference, magnitude, seed, schools):
    made = BUSY.generate(reference, raters=3, magnitude=magnitude, seed=seed, schools=schools)
    annotations, events, begin = made.annotations, made.events, made.reference
    assert len(made.truth) == len(annotations)
    assert annotations.id.tolist() == list(range(1, len(annotations) + 1))
    # every annotation comes from one event, and the reference of the event is on its image
    assert np.sort(events.rows[events.rows >= 0]).tolist() == list(range(len(annotations)))
    for column in made.truth.T:
        known = column >= 0
        assert (made.original.image[column[known]] == annotations.image[known]).all()
    # each rater consumes each reference annotation exactly once
    done = events.outcome == "done"
    for rater in range(3):
        own = done & (events.rater == rater)
        consumed = events.reference_rows[own]
        mine = np.flatnonzero(begin.rater == made.reference_rater[rater])
        assert np.sort(consumed[consumed >= 0]).tolist() == mine.tolist()
    # an addition has no reference annotation; a deletion leaves none
    added = events.rows[done & (events.event == "addition"), 0]
    if schools is None:
        assert (made.truth[added] == -1).all()
        assert (made.truth[np.setdiff1d(np.arange(len(annotations)), added), 0] >= 0).all()
    assert (events.rows[events.event == "deletion"] == -1).all()
    # centres stay on the image, and every shape has a box
    corners = annotations.shapes["box"].corners
    centre = (corners[:, :2] + corners[:, 2:]) / 2
    assert (centre >= -1e-9).all()
    assert (centre <= np.array([12, 10]) + 1e-9).all()
    assert (corners[:, 2:] > corners[:, :2]).all()
    assert shapely.is_valid(annotations.shapes["polygon"].geometries).all()
    assert not annotations.shapes["polygon"].absent().any()
    assert not annotations.shapes["mask"].absent().any()
    again = BUSY.generate(reference, raters=3, magnitude=magnitude, seed=seed, schools=schools)
    assert np.array_equal(again.annotations.shapes["box"].corners, corners)
    assert np.array_equal(again.object, made.object)


@settings(max_examples=8)
@given(references(), st.integers(0, 99))
def test_nothing_happens_without_magnitude(reference, seed):
    made = BUSY.generate(reference, raters=1, magnitude=0, seed=seed)
    for kind, name in (("box", "corners"), ("polygon", "points"), ("mask", "first"), ("mask", "length")):
        column = made.annotations.shapes[kind]
        assert np.array_equal(getattr(column, name), getattr(reference.shapes[kind], name))
    assert np.array_equal(made.annotations.category, reference.category)
    assert made.truth[:, 0].tolist() == list(range(len(reference)))


@settings(max_examples=20)
@given(st.integers(0, 999), st.tuples(st.floats(-4, 8), st.floats(-4, 8), st.floats(0.3, 9), st.floats(0.3, 9)))
def test_a_pixel_is_on_where_its_centre_comes_from_one_that_was(seed, after):
    pixels = RNG(seed).random((7, 9)) < 0.5
    x, y, width, height = after
    before, after = np.array([[2.0, 1, 7, 5]]), np.array([[x, y, x + width, y + height]])
    to = Placement(np.array([0]), before, after, np.array([[9, 7]]))
    moved = np.zeros((7, 9), bool)
    for _, column, top, bottom in zip(*move_masks(Masks.from_arrays([pixels]), to).strips(np.array([0])), strict=True):
        moved[top:bottom, column] = True
    for row in range(7):
        for column in range(9):
            old_x, old_y = 2 + (column + 0.5 - x) / width * 5, 1 + (row + 0.5 - y) / height * 4
            if min(abs(old_x - round(old_x)), abs(old_y - round(old_y))) < 1e-9:
                continue  # on an edge, either side is right
            inside = 0 <= old_x < 9 and 0 <= old_y < 7
            assert moved[row, column] == (inside and pixels[int(old_y), int(old_x)])


def test_a_change_is_its_trend_and_a_residual_of_students_t():
    distribution, area = Shift(intercept=0.3, slope=2.0, nu=4.0, mu=0.01, sigma=0.02), np.full(40_000, 0.05)
    change = draw_change(distribution, area, RNG(0))
    low, high = distribution.limits
    assert change.min() == pytest.approx(0.4 + low)  # of 40,000, some are beyond the quantile .001
    assert change.max() == pytest.approx(0.4 + high)
    spread = 0.02 * np.sqrt(4 / 2)  # of Student's t with 4 degrees of freedom, before it is clipped
    assert change.mean() == pytest.approx(0.41, abs=5 * spread / 200)
    middle = np.quantile(change - 0.41, [0.25, 0.75]) / 0.02
    assert middle == pytest.approx([-0.7407, 0.7407], abs=0.03)  # printed tables: t(.75, 4) = .7407


def test_angles_follow_their_weights_and_concentrations():
    distribution = CardinalAngle(weights=(0.4, 0.3, 0.2, 0.1), kappas=(4.0, 4.0, 4.0, 4.0))
    angle = draw_angle(distribution, 40_000, RNG(0))
    # the mean of exp(i angle) is the sum of the weighted directions times I1 / I0
    expected = (0.4 + 0.3j - 0.2 - 0.1j) * special.i1(4) / special.i0(4)
    assert abs(np.exp(1j * angle).mean() - expected) < 5 / 200
    axial = draw_angle(AxialAngle(axis=0.7, kappa=2.0), 40_000, RNG(0))
    doubled = np.exp(2j * axial).mean()
    assert abs(doubled - np.exp(1.4j) * special.i1(2) / special.i0(2)) < 5 / 200
    assert abs(np.exp(1j * axial).mean()) < 5 / 200  # both directions equally


def test_fragments_lie_opposite():
    angle = draw_opposition(Opposition(4.53, 0.53), 40_000, RNG(0))
    assert np.abs(angle).mean() / np.pi == pytest.approx(4.53 / 5.06, abs=0.005)
    assert angle.mean() == pytest.approx(0, abs=5 * np.pi / 200)


def test_the_number_of_events_is_poisson_and_half_of_them_are_deletions():
    rate = np.exp(0.2 + 0.1 * 4)
    model, source = unmatched(0.0, 0.5, rate=EventRate(0.2, 0.1)), TransplantedFalsePositives(8)
    made = model.generate(many(2_000), raters=2, magnitude=[1, 0.5], false_positive_source=source)
    for rater, level in enumerate((1, 0.5)):
        own = (made.events.rater == rater) & (made.events.stage == "unmatched")
        count = np.bincount(made.events.image[own], minlength=2_000)
        expected = level * rate
        assert count.mean() == pytest.approx(expected, abs=5 * np.sqrt(expected / 2_000))
        assert count.var() == pytest.approx(expected, rel=0.2)
        deletions = (made.events.event[own] == "deletion").mean()
        assert deletions == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(own.sum()))


def test_lost_deletions_are_those_that_draw_a_annotation_again():
    # of n equal annotations and Poisson(m) draws with replacement, n (1 - exp(-m / n)) are drawn at least once
    n, m, images = 4, 3.0, 2_000
    made = unmatched(np.log(m), 1.0).generate(many(images, n), raters=1)
    got = made.events.counts()["deletion"]["done"] / images
    assert got == pytest.approx(n * (1 - np.exp(-m / n)), abs=5 / np.sqrt(images))
    loss = made.signal_loss()
    assert loss.ratio == pytest.approx(1 - n * (1 - np.exp(-m / n)) / m, abs=0.03)
    assert loss.to_pandas().query("stage == 'localization'").lost.item() == loss.done[0]


def test_small_annotations_are_missed_in_proportion_to_their_weight():
    curve = SizeCurve(-8.0, -1.5)
    weights = curve.probability([400 / 20_000, 100 / 20_000])
    annotations = [(image, "cat", box) for image in range(4_000) for box in ([20, 20, 20, 20], [80, 20, 10, 10])]
    made = unmatched(np.log(0.3), 1.0, selection=curve).generate(table(*annotations), raters=1)
    drawn = made.events.reference_rows[made.events.event == "deletion", 0]
    share = (drawn % 2 == 1).mean()
    expected = weights[1] / weights.sum()
    assert share == pytest.approx(expected, abs=5 * 0.5 / np.sqrt(len(drawn)))


def test_chances_are_scaled_by_the_magnitude_up_to_one():
    model = quiet(
        topology={"susceptibility": SizeCurve(0.0, 0.5), "split": Chance(0.7)}, category={"occurrence": Chance(0.1)}
    )
    made = model.generate(many(2_000), raters=4, magnitude=[0.5, 1, 2, 30], seed=1)
    chance = SizeCurve(0.0, 0.5).probability(400 / 20_000)
    events = made.events
    for rater, level in enumerate((0.5, 1, 2, 30)):
        own = events.rater == rater
        topology = (events.stage[own] == "topology").sum() / 8_000
        assert topology == pytest.approx(min(1, level * chance), abs=5 * 0.5 / np.sqrt(8_000))
        splits = (events.event[own & (events.stage == "topology")] == "split").mean()
        assert splits == pytest.approx(0.7, abs=5 * 0.5 / np.sqrt(topology * 8_000))
        assert (events.stage[own] == "category").sum() / 8_000 == pytest.approx(min(1, level * 0.1), abs=0.02)
    counts = quiet(topology={"susceptibility": ALWAYS}).generate(many(50), raters=1).events.counts()
    assert sum(counts["split"].values()) + sum(counts["merge"].values()) == 200
