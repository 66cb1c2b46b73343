"""Counts of the coverage and discovery benchmarks, by hand."""

import numpy as np
import pytest

from benchmarks import coverage, discoveries
from kalos_core import agreement, compare
from tests.test_agreement import AGREED, table


def of_one_value(images, _, __, rng):
    """Return the mean of normal values with the interval of Student's t; NaN if the first value is above 1."""
    values = rng.normal(0.5, 1, images)
    half = 2.1314 * values.std(ddof=1) / np.sqrt(images)  # t(.025, 15)
    ends = values.mean() + np.array([-half, half])
    return {"mean": (values.mean(), np.full(2, np.nan) if values[0] > 1 else ends)}


def test_covered_pixels_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(coverage.STUDIES, "values", (of_one_value, 100_000, (2,)))
    true = coverage.true_values("values", 2)
    assert true["mean"] == pytest.approx(0.5, abs=0.02)
    [found] = coverage.count_covered("values", 2, 16, 300, true, workers=1)
    drawn = [of_one_value(16, 2, 0, np.random.default_rng([16, 2, seed]))["mean"][1] for seed in range(300)]
    known = [(low, high) for low, high in drawn if not np.isnan(low)]
    assert found.without == 300 - len(known) > 60
    assert found.covered == np.mean([low <= true["mean"] <= high for low, high in known])
    assert found.covered == pytest.approx(0.95, abs=0.05)
    assert "| mean | 2 |" in coverage.page([vars(found)])


def test_clear_differences_are_counted() -> None:
    good = [(*mark, image) for image in range(12) for mark in AGREED]
    bad = [(rater, "dog" if rater == "bob" and image < 9 else name, at, image) for rater, name, at, image in good]
    first, second = (agreement(table(*marks, images=range(12)), bootstrap=0) for marks in (good, bad))
    same, worse = compare(first, first), compare(first, second)
    mean, classes, _ = discoveries.count_discoveries("twelve images", [same, worse])
    assert (mean.comparisons, mean.differences, mean.with_interval) == (2, 2, 1)
    assert (mean.clear, mean.any_clear, mean.without_zero) == (1, 1, 1)
    assert classes.differences == len(same.classes.name) + len(worse.classes.name)
    power = discoveries.count_power(20, 1.5, 3, {"mean alpha": -0.1})
    assert [(row.of, row.images, row.sets) for row in power] == [("mean alpha", 20, 3)]
    shown = discoveries.page([vars(row) for row in (mean, *power)])
    assert "| twelve images | mean alpha | 2 | 1 of 2 | 1 | 1 | 1 | 1 |" in shown
    assert "| mean alpha | 20 | 0.100 |" in shown
