"""The shipped parameters, and the command that makes them."""

import json

import pytest

from kalos_core import InputError, NoiseModel
from kalos_core.cli import main
from kalos_core.noise import DISTRIBUTIONS
from kalos_core.noise.defaults import default_model
from tests.noise.models import by_raters


def test_the_command_writes_what_is_shipped(lvis_path, tmp_path, capsys):
    out = tmp_path / "defaults.json"
    assert main(["noise-defaults", str(lvis_path), "--save", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}: {len(DISTRIBUTIONS)} distributions\n"
    made, shipped = NoiseModel.from_json(out).to_pandas(), NoiseModel.default().to_pandas()
    names = ["distribution", "parameter", "source", "rows", "reason"]
    assert made[names].equals(shipped[names])
    for column in ("value", "low", "high"):  # another machine may find another last digit
        assert made[column].tolist() == pytest.approx(shipped[column].tolist(), rel=1e-3, abs=1e-9, nan_ok=True)
    for distribution in json.loads(out.read_text(encoding="utf-8"))["localization"].values():
        for value in distribution.values():
            for number in value if isinstance(value, list) else [value]:
                assert number == float(f"{number:.5g}")


def test_data_that_tell_too_little_are_refused():
    few = by_raters(*((1, name, "cat", [0, 0, 9, 9]) for name in ("ann", "bob")))
    with pytest.raises(InputError, match=r"few\.json: expected at least 30 matched annotations .* got 1 and 0"):
        default_model(few, "few.json")
