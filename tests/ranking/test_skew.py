"""Precision averaged over skew: the integral, its limits, and the area under the curve."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from sklearn.metrics import precision_score

from kalos_core import InputError
from kalos_core.ranking import mean_precision
from kalos_core.ranking.skew import curve_area, sample_curve, skew_range

RANGES = [(0.1, 0.5), (0.0, 0.0428), (0.023, 0.235), (0.01, 0.1), (0.0, 1.0), (0.2, 0.2)]
rates = st.floats(1e-6, 1)


def integral(tpr, fpr, skew):
    """Compute Eq. 7 by numerical integration."""
    low, high = skew
    whole = quad(lambda p: p * tpr / (p * tpr + (1 - p) * fpr), low, high, epsabs=0, epsrel=1e-12, limit=200)[0]
    return whole / (high - low)


@pytest.mark.parametrize("skew", RANGES[:-1])
@given(tpr=rates, fpr=rates)
def test_the_closed_form_is_the_integral(skew, tpr, fpr):
    assert mean_precision(tpr, fpr, skew) == pytest.approx(integral(tpr, fpr, skew), rel=1e-9)


@pytest.mark.parametrize("skew", RANGES[:-1])
def test_near_the_diagonal(skew):
    for apart in (0, 1e-15, -1e-9, 1e-5, 9.9e-4, 1.01e-3, 2e-3, 3e-3, -2.1e-3):
        tpr = 0.4 * (1 + apart)
        assert mean_precision(tpr, 0.4, skew) == pytest.approx(integral(tpr, 0.4, skew), rel=1e-11)
    assert mean_precision(0.4, 0.4, skew) == pytest.approx(sum(skew) / 2, rel=1e-14)


def test_by_hand():
    # TPR 1, FPR 1/2: the mean of p / (p + (1 - p) / 2) = 2 p / (1 + p) over [0, 1] is 2 (1 - ln 2)
    assert mean_precision(1, 0.5, (0, 1)) == pytest.approx(2 * (1 - np.log(2)))
    assert mean_precision([0.3, 0.0, 0.0], [0.0, 0.3, 0.0], (0.1, 0.5))[:2].tolist() == [1, 0]
    assert np.isnan(mean_precision(0, 0, (0.1, 0.5)))


def test_at_one_skew_it_is_precision_as_scikit_learn_has_it():
    rng = np.random.default_rng(1)
    truth, found = rng.random(200) < 0.3, rng.random(200) < 0.4
    tpr, fpr = found[truth].mean(), found[~truth].mean()
    skew = (truth.mean(), truth.mean())
    assert mean_precision(tpr, fpr, skew) == pytest.approx(precision_score(truth, found), rel=1e-12)
    assert np.isnan(mean_precision(0, 0, skew))


def naive_area(tpr, fpr, skew):
    """Integrate numerically segment by segment from (0, 0)."""
    area, before = 0.0, np.zeros(2)
    for point in np.column_stack([tpr, fpr]):
        step, start = point - before, before
        if step[0] > 0:

            def height(share, step=step, start=start):
                return float(mean_precision(*(start + share * step), skew))

            area += quad(height, 0, 1, limit=400, epsabs=1e-11, epsrel=1e-9)[0] * step[0]
        before = point
    return area


CURVES = [
    ([1], [1]),
    ([0.5, 1], [0, 1]),
    ([0, 1], [0.1, 1]),
    ([0.2, 0.6, 1], [1e-4, 0.01, 1]),
    ([0.9, 0.9, 1], [1e-6, 0.3, 1]),
    ([0, 0.5, 1], [0, 0.5, 1]),
]


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("skew", [(0.1, 0.5), (0.0, 0.0428)])
def test_area_is_that_of_numerical_integration_and_of_samples(curve, skew):
    tpr, fpr = (np.array(side, np.float64) for side in curve)
    area = curve_area(tpr, fpr, skew)
    assert area == pytest.approx(naive_area(tpr, fpr, skew), abs=1e-8)
    if tpr[0]:
        recall = (np.arange(4000) + 0.5) / 4000
        assert sample_curve(tpr, fpr, skew, recall).mean() == pytest.approx(area, abs=2e-4)


def test_area_by_hand():
    for skew in RANGES:
        # everything at once: precision is the mean skew at every recall
        assert curve_area(np.array([1.0]), np.array([1.0]), skew) == pytest.approx(sum(skew) / 2)
        # all found before any false alarm
        assert curve_area(np.array([0.4, 1.0, 1.0]), np.array([0.0, 0.0, 1.0]), skew) == pytest.approx(1)
    # from (0, 0) to the first point precision is constant
    single = curve_area(np.array([0.3]), np.array([0.1]), (0.1, 0.5))
    assert single == pytest.approx(0.3 * mean_precision(0.3, 0.1, (0.1, 0.5)))
    both = curve_area(np.array([[0.5, 1.0], [np.nan, np.nan]]), np.array([[0.0, 1.0], [0.0, 1.0]]), (0.1, 0.5))
    assert both[0] > 0.5
    assert np.isnan(both[1])
    assert np.isnan(sample_curve(np.array([np.nan]), np.array([1.0]), (0.1, 0.5), np.array([0.5, 1.0]))).all()


def test_default_skew_by_hand():
    # mean .2, standard deviation of the sample .1
    assert skew_range([0.1, 0.2, 0.3]) == (0.0, pytest.approx(0.5))
    assert skew_range([0.19, 0.2, 0.21]) == (pytest.approx(0.17), pytest.approx(0.23))
    assert skew_range([0.9, 0.1]) == (0.0, 1.0)
    with pytest.raises(InputError, match=r"expected positives .* got none; give `skew`"):
        skew_range([0.0, 0.0])
    for skew in [(0.5, 0.1), (-0.1, 0.5), (0.1, 1.1), (0, 0), (np.nan, 0.5), (0.1,), ("a", 0.5)]:
        with pytest.raises(InputError, match="skew: expected fractions of positives 0 <= p1 <= p2 <= 1, p2 > 0, got"):
            mean_precision(0.5, 0.5, skew)
