"""Variations over shards: the counts, rates and confusions of one machine."""

from __future__ import annotations

import numpy as np
import pytest

import kalos_core
from kalos_core import Annotations, InputError
from kalos_core.distributed import variations, write_shards
from tests.distributed.equality import SHARDS, assert_same, shards_of
from tests.distributed.scenes import limited, scene

METHODS = ("counts", "counts_by_rater", "rates", "merged_by", "split_by")


def assert_agree(sharded, whole):
    for name in METHODS:
        assert_same(getattr(whole, name)(), getattr(sharded, name)(), name)
    assert len(whole) == len(sharded)
    assert whole.headline == sharded.headline
    assert_same(whole.identical_share, sharded.identical_share)
    one, other = whole.confusions(), sharded.confusions()
    for name in ("category_a", "category_b", "count", "by_rater"):
        assert_same(getattr(one, name), getattr(other, name), name)
    codes = np.stack([whole.image, whole.type_code])
    counts = sharded.to_pandas().drop(columns="image").to_numpy()
    assert [counts[image, kind] for image, kind in codes.T] == [
        int((codes == column[:, None]).all(axis=0).sum()) for column in codes.T
    ]
    assert counts.sum() == len(whole)


@pytest.mark.parametrize("size", SHARDS.values(), ids=SHARDS)
@pytest.mark.parametrize("ids", ["int", "mixed"])
def test_as_on_one_machine(tmp_path, size, ids):
    table = scene(ids=ids)
    whole = kalos_core.variations(table, threshold=0.4)
    assert whole.counts()["merged"] > 0
    assert len(whole.confusions().count) > 1
    assert_agree(variations(shards_of(table, tmp_path / "s", size), threshold=0.4), whole)


def test_with_classes_of_some_raters(tmp_path):
    table = limited()
    assert_agree(
        variations(shards_of(table, tmp_path / "s", 4), max_merge=2), kalos_core.variations(table, max_merge=2)
    )


def test_a_hand_worked_case_over_two_shards(tmp_path):
    # image 1: the same object, once a cat and once a dog; image 2: what only ann saw; image 3: what only bob saw
    rows = [
        {"image": 1, "rater": "ann", "category": "cat", "box": [0, 0, 9, 9]},
        {"image": 1, "rater": "bob", "category": "dog", "box": [0, 0, 9, 9]},
        {"image": 2, "rater": "ann", "category": "cat", "box": [0, 0, 9, 9]},
        {"image": 3, "rater": "bob", "category": "cat", "box": [0, 0, 9, 9]},
        {"image": 3, "rater": "bob", "category": "cat", "box": [20, 0, 9, 9]},
    ]
    table = Annotations.from_rows(rows, assigned="all")
    found = variations(write_shards(table, tmp_path / "s", 2))
    assert {name: count for name, count in found.counts().items() if count} == {
        "wrong_class": 1,
        "missing": 1,
        "additional": 2,
    }
    assert (found.counts_by_rater()["ann"]["additional"], found.counts_by_rater()["ann"]["missing"]) == (1, 2)
    assert found.rates()["bob"]["additional"] == pytest.approx(200 / 3, abs=1e-12)
    assert found.confusions().to_pandas().to_numpy().tolist() == [["cat", "dog", 1]]
    assert found.to_pandas()["additional"].tolist() == [0, 0, 2]
    assert np.isnan(found.identical_share)


def test_arguments_are_checked_before_a_shard_is_read(tmp_path):
    shards = write_shards(scene(), tmp_path / "s", 10)
    (tmp_path / "s" / "annotations-00000.parquet").write_bytes(b"")
    with pytest.raises(InputError, match="threshold: expected a similarity above 0, got 0"):
        variations(shards, threshold=0)
    with pytest.raises(InputError, match="max_merge: expected a whole number of at least 1, got 0"):
        variations(shards, max_merge=0)
