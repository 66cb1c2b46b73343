"""The shipped parameters, and the command that makes them."""

import json

import pytest

from kalos_core import Annotations, InputError, NoiseModel
from kalos_core.cli import main
from kalos_core.noise import DISTRIBUTIONS
from kalos_core.noise.defaults import default_model


def test_the_command_writes_what_is_shipped(lvis_path, tmp_path, capsys):
    out = tmp_path / "defaults.json"
    assert main(["noise-defaults", str(lvis_path), "--save", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}: {len(DISTRIBUTIONS)} distributions\n"
    made, shipped = NoiseModel.from_json(out).to_pandas(), NoiseModel.default().to_pandas()
    names = ["distribution", "parameter", "source", "rows", "reason"]
    assert made[names].equals(shipped[names])
    for column in ("value", "low", "high"):  # another machine may find another last digit
        assert made[column].tolist() == pytest.approx(shipped[column].tolist(), rel=1e-3, abs=1e-9, nan_ok=True)


def test_numbers_are_as_long_as_they_are_sure():
    document = json.loads(NoiseModel.default().to_json())
    for distribution in document["localization"].values():
        for value in distribution.values():
            for number in value if isinstance(value, list) else [value]:
                assert number == float(f"{number:.5g}")


def test_data_that_tell_too_little_are_refused():
    rows = [{"image": 1, "rater": name, "category": "cat", "box": [0, 0, 9, 9]} for name in ("ann", "bob")]
    few = Annotations.from_rows(rows, image_size={1: (64, 64)})
    with pytest.raises(InputError, match=r"few\.json: expected at least 30 matched annotations .* got 1 and 0"):
        default_model(few, "few.json")


def test_a_file_that_cannot_be_read_ends_the_command(tmp_path, capsys):
    assert main(["noise-defaults", str(tmp_path / "none.json")]) == 2
    assert "none.json" in capsys.readouterr().err


def test_where_nothing_can_be_written_is_named(lvis_path, tmp_path, capsys):
    assert main(["noise-defaults", str(lvis_path), "--save", str(tmp_path)]) == 2
    assert f"{tmp_path}: expected a file to write to" in capsys.readouterr().err


def test_a_command_is_needed(capsys):
    with pytest.raises(SystemExit):
        main([])
    assert "COMMAND" in capsys.readouterr().err
