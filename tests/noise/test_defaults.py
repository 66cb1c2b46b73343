"""The shipped parameters, and the command that makes them."""

import json

import pytest

from kalos_core import NoiseModel
from kalos_core.cli import main
from kalos_core.noise import DISTRIBUTIONS


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
