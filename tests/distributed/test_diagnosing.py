"""Classes, raters, pairs of raters and thresholds over shards: every number of one machine."""

from __future__ import annotations

import pytest

import kalos_core
from kalos_core import Annotations
from kalos_core.distributed import class_difficulty, collaboration, rater_vitality, sensitivity, write_shards
from tests.distributed.equality import assert_same, every_size, shards_of
from tests.distributed.scenes import limited, scene

CALLS = [
    (kalos_core.class_difficulty, class_difficulty),
    (kalos_core.rater_vitality, rater_vitality),
    (kalos_core.collaboration, collaboration),
]
TABLES = {"boxes": scene, "mixed ids": lambda: scene(ids="mixed"), "limits": limited}
CHOSEN = {"threshold": 0.4, "bootstrap": 25, "seed": 5}


@every_size
@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_as_on_one_machine(tmp_path, size, make):
    table, empty = make(), {"empty": "exclude" if make is scene else "count"}
    result, shards = kalos_core.agreement(table, **CHOSEN, **empty), shards_of(table, tmp_path / "s", size)
    for on_one, over_shards in CALLS:
        assert_same(on_one(result), over_shards(shards, **CHOSEN, **empty))
    chosen = {"thresholds": [0.3, 0.6], "strict": 0.75, "bootstrap": 25, "seed": 5, **empty}
    assert_same(kalos_core.sensitivity(table, **chosen), sensitivity(shards, **chosen))


def test_a_hand_worked_class_over_two_shards(tmp_path):
    # a cat agreed on, and a cat that one rater calls a dog: cat cat | cat dog: n = 4, D_o = 2 / 4, D_e = (16 - 10) / 12
    boxes = [(1, "ann", "cat"), (1, "bob", "cat"), (2, "ann", "cat"), (2, "bob", "dog")]
    rows = [{"image": image, "rater": r, "category": c, "box": [0, 0, 9, 9]} for image, r, c in boxes]
    found = class_difficulty(write_shards(Annotations.from_rows(rows), tmp_path / "s", 1), bootstrap=0)
    assert found.category.tolist() == ["cat", "dog"]
    assert found.alpha.tolist() == [0.5, 0.0]
    assert found.global_alpha.tolist() == [0.0, 0.0]
    assert found.units.tolist() == [2, 1]
