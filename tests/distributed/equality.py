"""Comparison of results to 1e-12, and shards for computing them."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd
import pytest

from kalos_core.distributed import open_shards, write_shards
from tests.tiers import first

EXACTLY_AS_ONE = {"rtol": 0, "atol": 1e-12}

every_size = pytest.mark.parametrize("size", first([5, 1, 23]))
"""Images or items per shard of a scene of 23."""


def shards_of(table, folder, size):
    """Write the shards of a table, listed in another order than their images or items."""
    write_shards(table, folder, size)
    file = folder / "dataset.json"
    content = json.loads(file.read_text())
    content["shards"] = content["shards"][::-1]
    file.write_text(json.dumps(content))
    return open_shards(folder)


OF_ROWS = {
    "account",
    "of_shards",
    *("Agreement.annotations", "Agreement.pairs", "Agreement.unit_of", "Confusions.findings", "Disputes.table"),
    *("LabelConvergence.counted", "Variations.annotations", "Variations.pairs", "Variations.side_row"),
}
"""Fields that results of shards do not hold, or hold in any order."""


def assert_same(one, other, path=""):
    """Check that two results of one class have equal values in every field."""
    assert type(one) is type(other), path
    if is_dataclass(one):
        for name in [field.name for field in fields(one)]:
            if name not in OF_ROWS and f"{type(one).__name__}.{name}" not in OF_ROWS:
                assert_same(getattr(one, name), getattr(other, name), f"{path}.{name}")
    elif isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, other, rtol=0, atol=1e-12)
    elif (isinstance(one, np.ndarray) and one.dtype.kind == "f") or isinstance(one, float):
        np.testing.assert_allclose(one, other, **EXACTLY_AS_ONE, err_msg=path)
    elif isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other, err_msg=path)
    elif isinstance(one, dict):
        assert one.keys() == other.keys(), path
        for name in one:
            assert_same(one[name], other[name], f"{path}[{name!r}]")
    elif isinstance(one, (tuple, list)):
        assert len(one) == len(other), path
        for number, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            assert_same(mine, theirs, f"{path}[{number}]")
    else:
        assert one == other, path
