"""The round trip: raters are generated from known distributions, and the fit finds these distributions again."""

from dataclasses import replace

import numpy as np
import pytest

from kalos_core.noise.fit.distributions import estimate_distributions
from kalos_core.noise.fit.observations import Shifts, observe
from kalos_core.noise.parameters import CardinalAngle, Chance, EventRate, Shift, SizeCurve
from tests.noise.models import quiet, table

KNOWN = quiet(
    unmatched={"rate": EventRate(-0.6, 0.08), "selection": SizeCurve(-9.0, -1.2), "deletion": Chance(0.5)},
    category={
        "occurrence": Chance(0.12),
        "translation": Shift(0.004, 0.0, 6.0, 0.0, 0.0008),
        "width": Shift(0.05, 0.0, 6.0, 0.0, 0.01),
    },
    localization={
        "translation": Shift(0.002, 0.05, 6.0, 0.0, 0.0006),
        "angle": CardinalAngle((0.4, 0.3, 0.2, 0.1), (8.0,) * 4),
        "width": Shift(0.03, 0.5, 6.0, 0.0, 0.008),
        "height": Shift(0.02, 0.0, 6.0, 0.0, 0.01),
    },
)
"""Shifts that never part two annotations of one object, so that every event is seen for what it was."""


def scattered(images, seed):
    """Four to sixteen annotations an image, each in a cell of its own of 5 x 4."""
    rng = np.random.default_rng(seed)
    annotations = []
    for image in range(images):
        for cell in rng.permutation(20)[: rng.integers(4, 17)]:
            sides = np.exp(rng.uniform(np.log(30), np.log(140), 2))
            corner = np.array([cell % 5, cell // 5]) * 200 + 100 - sides / 2
            annotations.append((image, ("cat", "dog", "emu")[rng.integers(3)], [*corner, *sides]))
    return table(*annotations, size=(1000.0, 800.0))


@pytest.fixture(scope="module")
def draws():
    """The distributions found again in three draws, shifts in the first; magnitude 0 is the reference itself."""
    reference = scattered(150, 0)
    pairs = [KNOWN.generate(reference, raters=["reference", "noisy"], magnitude=[0, 1], seed=seed) for seed in range(3)]
    first, *others = (observe(pair.annotations) for pair in pairs)
    nothing = Shifts(*np.zeros((5, 0)))  # fits of shifts take long
    seen = [first, *(replace(other, correct=nothing, wrong_class=nothing) for other in others)]
    return [estimate_distributions(each, paper=True) for each in seen]


def test_events_are_found_again(draws):
    # half of the free events are annotations of either rater; the trend is steeper than it was, since what is added
    # counts among the annotations of the noisy rater
    for annotations in (10, 12):
        found = [draw["unmatched.rate"].distribution.expected(annotations) for draw in draws]
        assert np.mean(found) == pytest.approx(KNOWN.unmatched.rate.expected(annotations) / 2, rel=0.1)
    # annotations compete with those of their own image, which flattens the curve over all images
    slopes = [draw["unmatched.selection"].distribution.slope for draw in draws]
    assert np.mean(slopes) == pytest.approx(KNOWN.unmatched.selection.slope, rel=0.25)
    ends = [draw["category.occurrence"].interval[0] for draw in draws]
    assert sum(low <= KNOWN.category.occurrence.probability <= high for low, high in ends) >= len(draws) - 1


def test_shifts_and_directions_are_found_again(draws):
    found = draws[0]
    parts = ("localization.translation", "localization.width", "localization.height")
    for name in (*parts, "category.translation", "category.width"):
        distribution, known = found[name].distribution, KNOWN.distribution(name)
        area = 0.01  # of most annotations
        assert distribution.trend(area) + distribution.mu == pytest.approx(known.trend(area), rel=0.1), name
        assert distribution.sigma == pytest.approx(known.sigma, rel=0.2), name
    for name in parts[:2]:
        assert found[name].distribution.slope == pytest.approx(KNOWN.distribution(name).slope, rel=0.25)
    distribution = found["localization.angle"].distribution
    assert distribution.weights == pytest.approx((0.4, 0.3, 0.2, 0.1), abs=0.05)
    assert distribution.kappas == pytest.approx((8.0,) * 4, rel=0.35)
