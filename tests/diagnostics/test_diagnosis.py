"""`diagnose` gives the results of the single functions, or the reason why a data set does not allow one."""

from __future__ import annotations

import numpy as np
import pytest

from kalos_core import Annotations, agreement, collaboration, rater_vitality, sensitivity
from kalos_core.diagnostics import Diagnosis, diagnose
from kalos_core.errors import Undefined


def result_of(raters, **options):
    rng = np.random.default_rng(0)
    rows = [
        {"image": image, "rater": rater, "category": str(rng.choice(["cat", "dog"])), "box": [20 * n, 0, 10, height]}
        for image in range(6)
        for n in range(3)
        for rater, height in zip(raters, rng.uniform(6, 10, len(raters)), strict=True)
    ]
    return agreement(Annotations.from_rows(rows), bootstrap=10, **options)


@pytest.mark.parametrize("threshold", [0.05, 0.7])  # with the existing pairs, and with others
def test_each_is_that_of_its_own_function(threshold):
    result = result_of("abc", threshold=threshold)
    found = diagnose(result, [0.2, 0.8])
    assert isinstance(found, Diagnosis)
    curve = sensitivity(result.annotations, [0.2, 0.8], anchor=threshold, bootstrap=10)
    assert (found.sensitivity.delta, found.sensitivity.anchor) == (curve.delta, threshold)
    np.testing.assert_array_equal(found.sensitivity.image_alpha, curve.image_alpha)
    np.testing.assert_array_equal(found.vitality.vitality, rater_vitality(result).vitality)
    np.testing.assert_array_equal(found.collaboration.alpha, collaboration(result).alpha)
    np.testing.assert_array_equal(found.image_alpha, result.image_alpha)
    assert isinstance(found.intra_rater, Undefined)


def test_a_calibrated_threshold_is_the_anchor():
    found = diagnose(result_of("ab"), [0.2], calibrated=0.95).sensitivity
    assert (found.anchor, found.strict, found.calibrated) == (0.95, 0.95, True)


def test_missing_results_have_a_reason():
    found = diagnose(result_of("ab"), [])
    assert found.vitality.reason.startswith("vitality: expected at least three raters")
    assert found.sensitivity.reason == "sensitivity: expected thresholds to be given, got none"
    assert found.without_image_alphas() is found
