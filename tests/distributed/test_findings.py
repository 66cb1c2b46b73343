"""Variations over shards: the counts, rates and confusions of one machine."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import kalos_core
from kalos_core import Annotations
from kalos_core.distributed import variations, write_shards
from tests.distributed.equality import assert_same, every_size, shards_of
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


@every_size
@pytest.mark.parametrize(
    ("make", "chosen"), [(scene, {"threshold": 0.4}), (partial(scene, ids="mixed"), {}), (limited, {"max_merge": 2})]
)
def test_as_on_one_machine(tmp_path, size, make, chosen):
    table = make()
    whole = kalos_core.variations(table, **chosen)
    assert len(whole.confusions().count) > 1
    assert_agree(variations(shards_of(table, tmp_path / "s", size), **chosen), whole)


def test_a_hand_worked_case_over_two_shards(tmp_path):
    # image 1: the same object, once a cat and once a dog; image 2: what only ann saw; image 3: what only bob saw
    rows = [
        {"image": image, "rater": rater, "category": category, "box": [x, 0, 9, 9]}
        for image, rater, category, x in [
            *((1, "ann", "cat", 0), (1, "bob", "dog", 0), (2, "ann", "cat", 0)),
            *((3, "bob", "cat", 0), (3, "bob", "cat", 20)),
        ]
    ]
    table = Annotations.from_rows(rows, assigned="all")
    found = variations(write_shards(table, tmp_path / "s", 2))
    counts = {name: count for name, count in found.counts().items() if count}
    assert counts == {"wrong_class": 1, "missing": 1, "additional": 2}
    assert (found.counts_by_rater()["ann"]["additional"], found.counts_by_rater()["ann"]["missing"]) == (1, 2)
    assert found.rates()["bob"]["additional"] == pytest.approx(200 / 3, abs=1e-12)
    assert found.confusions().to_pandas().to_numpy().tolist() == [["cat", "dog", 1]]
    assert found.to_pandas()["additional"].tolist() == [0, 0, 2]
    assert np.isnan(found.identical_share)
