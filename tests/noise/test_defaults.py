"""Shipped parameters, and the script that creates them."""

import json

import pytest

from kalos_core import NoiseModel
from scripts.noise_defaults import default_model


def test_the_script_makes_what_is_shipped(lvis, lvis_path):
    model = default_model(lvis, lvis_path.name)
    made, shipped = model.to_pandas(), NoiseModel.default().to_pandas()
    names = ["distribution", "parameter", "source", "rows", "reason"]
    assert made[names].equals(shipped[names])
    for column in ("value", "low", "high"):  # other machines may differ in the last digit
        assert made[column].tolist() == pytest.approx(shipped[column].tolist(), rel=1e-3, abs=1e-9, nan_ok=True)
    for distribution in json.loads(model.to_json())["localization"].values():
        for value in distribution.values():
            for number in value if isinstance(value, list) else [value]:
                assert number == float(f"{number:.5g}")
