"""Classes, raters, pairs of raters and thresholds over shards: every number of one machine."""

from __future__ import annotations

from dataclasses import replace

import pytest

import kalos_core
from kalos_core import Annotations, InputError
from kalos_core.distributed import class_difficulty, collaboration, rater_vitality, sensitivity, write_shards
from tests.distributed.equality import SHARDS, assert_same, shards_of
from tests.distributed.scenes import limited, scene

CALLS = {
    "class_difficulty": (kalos_core.class_difficulty, class_difficulty),
    "rater_vitality": (kalos_core.rater_vitality, rater_vitality),
    "collaboration": (kalos_core.collaboration, collaboration),
}
TABLES = {"boxes": scene, "mixed ids": lambda: scene(ids="mixed"), "limits": limited}
CHOSEN = {"threshold": 0.4, "bootstrap": 25, "seed": 5}


@pytest.mark.parametrize("size", SHARDS.values(), ids=SHARDS)
@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("call", CALLS)
def test_as_on_one_machine(tmp_path, size, make, call):
    table, (on_one, over_shards) = make(), CALLS[call]
    whole = on_one(kalos_core.agreement(table, **CHOSEN))
    assert_same(whole, over_shards(shards_of(table, tmp_path / "s", size), **CHOSEN))


@pytest.mark.parametrize("size", SHARDS.values(), ids=SHARDS)
@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_sensitivity_as_on_one_machine(tmp_path, size, make):
    table, chosen = make(), {"thresholds": [0.3, 0.6], "strict": 0.75, "bootstrap": 25, "seed": 5}
    assert_same(kalos_core.sensitivity(table, **chosen), sensitivity(shards_of(table, tmp_path / "s", size), **chosen))


def test_a_hand_worked_class_over_two_shards(tmp_path):
    # a cat agreed on, and a cat that one rater calls a dog: cat cat | cat dog: n = 4, D_o = 2 / 4, D_e = (16 - 10) / 12
    boxes = [(1, "ann", "cat"), (1, "bob", "cat"), (2, "ann", "cat"), (2, "bob", "dog")]
    rows = [{"image": image, "rater": r, "category": c, "box": [0, 0, 9, 9]} for image, r, c in boxes]
    found = class_difficulty(write_shards(Annotations.from_rows(rows), tmp_path / "s", 1), bootstrap=0)
    assert found.category.tolist() == ["cat", "dog"]
    assert found.alpha.tolist() == [0.5, 0.0]
    assert found.global_alpha.tolist() == [0.0, 0.0]
    assert found.units.tolist() == [2, 1]


def test_what_raters_do_not_allow_is_refused_before_a_shard_is_read(tmp_path):
    two = scene().select(raters=["ann", "bob"])
    shards = write_shards(two, tmp_path / "two", 10)
    local = write_shards(replace(scene(), raters_are_local=True), tmp_path / "local", 10)
    for folder in ("two", "local"):
        (tmp_path / folder / "annotations-00000.parquet").write_bytes(b"")
    with pytest.raises(InputError, match=r"^vitality: expected at least three raters"):
        rater_vitality(shards)
    with pytest.raises(InputError, match=r"^collaboration: expected raters who are the same person on every image"):
        collaboration(local)
    with pytest.raises(InputError, match=r"^strict: expected a threshold of at least the anchor 0.5, got 0.4"):
        sensitivity(shards, strict=0.4)
