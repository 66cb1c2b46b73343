"""Parameters of the noise model: meaning, ranges, and the JSON document."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats
from statsmodels.stats.proportion import proportion_confint

from kalos_core import InputError, NoiseModel, variations
from kalos_core.noise import DISTRIBUTIONS, Provenance
from kalos_core.noise.model import DEFAULTS
from kalos_core.noise.parameters import AxialAngle, CardinalAngle, Chance, EventRate, Opposition, Shift, SizeCurve

SHIFT = Shift(0.1, 2.0, 3.0, -0.02, 0.05)


@pytest.fixture
def document():
    return json.loads(NoiseModel.default().to_json())


def test_a_residual_is_clipped_at_its_quantiles():
    low, high = SHIFT.limits
    assert stats.t.cdf((low + 0.02) / 0.05, 3) == pytest.approx(0.001)
    assert stats.t.cdf((high + 0.02) / 0.05, 3) == pytest.approx(0.999)


def test_the_density_of_a_change_counts_both_signs_and_adds_up_to_one():
    area = 0.05  # trend 0.2
    by_hand = stats.t.pdf(0.3 - 0.2, 3, -0.02, 0.05) + stats.t.pdf(-0.3 - 0.2, 3, -0.02, 0.05)
    assert math.exp(SHIFT.log_density(0.3, area)) == pytest.approx(by_hand)
    whole = integrate.quad(lambda size: math.exp(SHIFT.log_density(size, area)), 0, np.inf, points=None)[0]
    assert whole == pytest.approx(1, abs=1e-6)
    assert SHIFT.log_density([-0.1, 0.1], area)[0] == -math.inf


def test_the_density_of_an_angle_adds_up_to_one_and_peaks_at_its_heaviest_direction():
    grid = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
    uneven = CardinalAngle((0.4, 0.3, 0.2, 0.1), (0.0, 1.0, 5.0, 20.0))
    for distribution in (uneven, AxialAngle(0.3, 2.0), AxialAngle(0.3, 0.0)):
        assert distribution.density(grid).mean() * 2 * np.pi == pytest.approx(1)
    distribution = CardinalAngle((0.1, 0.7, 0.1, 0.1), (8.0,) * 4)
    assert distribution.density([0.0, np.pi / 2, np.pi, -np.pi / 2]).argmax() == 1
    others = sum(stats.vonmises.pdf(np.pi / 2 + 0.2 - centre, 8) for centre in (0, np.pi, 1.5 * np.pi))
    by_hand = 0.7 * stats.vonmises.pdf(0.2, 8) + 0.1 * others
    assert float(distribution.density(np.pi / 2 + 0.2)) == pytest.approx(by_hand)


def test_chances_rates_and_opposition_by_hand():
    assert SizeCurve(1.0, -0.5).probability(0.01) == pytest.approx(1 / (1 + math.exp(-(1 + 0.5 * math.log(100)))))
    assert EventRate(0.5, 0.1).expected(10) == pytest.approx(math.exp(1.5))
    assert EventRate(-1.0, 2.0, "power").expected([0, 3]) == pytest.approx([math.exp(-1), 16 * math.exp(-1)])
    assert EventRate(-1.0, 2.0, "power", empty=0.5).expected([0, 3]) == pytest.approx([0.5, 16 * math.exp(-1)])
    assert Opposition(2.0, 2.0).log_density(0.5) == pytest.approx(math.log(1.5))  # 6 x (1 - x)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Shift(0, 0, 0, 0, 1), "nu: expected a number above 0, got 0"),
        (lambda: Shift(math.nan, 0, 1, 0, 1), "intercept: expected a number, got nan"),
        (lambda: Chance(1.5), "probability: expected a number from 0 to 1, got 1.5"),
        (lambda: CardinalAngle((0.5, 0.5), (1,) * 4), "weights: expected 4 numbers, got"),
        (lambda: CardinalAngle((0.5,) * 4, (1,) * 4), "expected numbers that add up to 1"),
        (lambda: EventRate(0, 1, "cubic"), "form: expected one of 'each', 'exponential', 'power', got 'cubic'"),
        (lambda: Provenance("guessed", ""), "source: expected one of 'chosen', 'default', 'fitted', 'paper', got"),
        (lambda: Provenance("fitted", "", 3, ((1,),)), "interval: expected pairs of numbers"),
        (lambda: NoiseModel.from_json("{not json"), "noise model: expected JSON, got"),
    ],
)
def test_values_out_of_range_are_named(make, message):
    with pytest.raises(InputError) as error:
        make()
    assert message in str(error.value)


def test_the_shipped_chance_of_another_class_is_that_of_its_data(lvis):
    """The paper prints .026 for three data sets together; here 2 of 1,400 pairs differ (interval: `statsmodels`)."""
    model, counts = NoiseModel.default(), variations(lvis, "box_iou", max_merge=2).counts()
    assert (counts["wrong_class"], counts["correct"] + counts["wrong_class"]) == (2, 1400)
    assert model.category.occurrence.probability == pytest.approx(2 / 1400, rel=1e-4)
    origin = model.provenance["category.occurrence"]
    assert (origin.source, origin.rows) == ("fitted", 1400)
    ((low, high),) = origin.interval
    assert (low, high) == pytest.approx(proportion_confint(2, 1400, method="wilson"), rel=1e-4)


def test_the_shipped_model_holds_what_the_paper_prints():
    model = NoiseModel.default()
    assert (model.topology.opposition.alpha, model.topology.opposition.beta) == (4.53, 0.53)
    assert model.topology.enlargement.kappa == pytest.approx(math.log(0.088 / 0.059) / 2, abs=5e-4)
    assert {model.unmatched.deletion.probability, model.topology.split.probability} == {0.5}
    assert all(model.provenance[distribution].reason for distribution in DISTRIBUTIONS)


def test_json_comes_back_the_same_from_text_parsed_or_a_file(tmp_path):
    model = NoiseModel.default()
    path = tmp_path / "model.json"
    path.write_text(model.to_json(), encoding="utf-8")
    for source in (model.to_json(), json.loads(model.to_json()), path, str(path)):
        assert NoiseModel.from_json(source) == model
    assert NoiseModel.from_json(path).to_json() == model.to_json() == DEFAULTS.read_text(encoding="utf-8")


BEYOND = "probability: expected a number from 0 to 1, got 2 @ $.category.occurrence"


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda d: d.update(version=1), "noise model: expected version 3, got 1"),
        (lambda d: d["unmatched"]["rate"].pop("slope"), "required field missing @ $.unmatched.rate.slope"),
        (lambda d: d["unmatched"]["rate"].update(slop=1), "extra fields found (slop) @ $.unmatched.rate"),
        (lambda d: d["category"]["occurrence"].update(probability=2), BEYOND),
        (
            lambda d: d["provenance"].pop("unmatched.rate"),
            "provenance: expected the origin of each distribution, got one without unmatched.rate",
        ),
        (lambda d: d["provenance"]["unmatched.rate"].update(interval=[[0, 1]]), "rate: expected 2 intervals, got 1"),
    ],
)
def test_a_spoilt_document_says_where(document, spoil, message):
    spoil(document)
    with pytest.raises(InputError) as error:
        NoiseModel.from_json(document)
    assert message in str(error.value)


def test_provenance_covers_each_distribution_and_no_other():
    model = NoiseModel.default()
    some = {name: origin for name, origin in model.provenance.items() if name != "unmatched.rate"}
    with pytest.raises(InputError, match=r"got one without unmatched\.rate"):
        replace(model, provenance=some)
    with pytest.raises(InputError, match="got one with weather"):
        replace(model, provenance={**model.provenance, "weather": Provenance("paper", "")})
