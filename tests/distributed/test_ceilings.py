"""Modified mAP and label convergence over shards: every number of one machine, in every order of detections."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kalos_core
from kalos_core import Annotations
from kalos_core.distributed import label_convergence, modified_map, write_shards
from tests.distributed.equality import assert_same, every_size, shards_of
from tests.distributed.scenes import in_order, limited, scene

pytestmark = pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")


def numbered():
    """Ids of images that are whole numbers, not in their order: mAP takes them by number; and crowd regions."""
    table = scene()
    number = np.random.default_rng(4).permutation(len(table.images)).tolist()
    table = replace(table, images=np.array(number, object))
    crowd = np.arange(len(table)) % 11 == 0
    return replace(table.select(rows=~crowd), crowd_regions=table.select(rows=crowd))


TABLES = {"text": scene, "numbers and crowds": numbered, "mixed": lambda: scene(ids="mixed"), "limits": limited}
THRESHOLDS = (0.4, 0.6)


@every_size
@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("ties", ["coco", "joint"])
def test_map_as_on_one_machine(tmp_path, size, make, ties):
    table = make()
    whole = kalos_core.modified_map(table, thresholds=THRESHOLDS, ties=ties)
    assert_same(whole, modified_map(shards_of(table, tmp_path / "s", size), thresholds=THRESHOLDS, ties=ties))


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_random_orders_and_sizes_as_on_one_machine(tmp_path, make):
    table = in_order(make())
    shards = shards_of(table, tmp_path / "s", 5)
    chosen = {"thresholds": THRESHOLDS, "ties": "shuffle", "orders": 3, "seed": 7}
    assert_same(kalos_core.modified_map(table, **chosen), modified_map(shards, **chosen))
    assert_same(kalos_core.modified_map(table, size="small"), modified_map(shards, size="small"))


@every_size
@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_convergence_as_on_one_machine(tmp_path, size, make):
    table, chosen = make(), {"samples": 12, "fraction": 0.5, "seed": 2, "thresholds": THRESHOLDS}
    whole = kalos_core.label_convergence(table, **chosen)
    found = label_convergence(shards_of(table, tmp_path / "s", size), **chosen)
    assert_same(replace(whole, counted=()), replace(found, counted=()))  # annotations stand there in no order
    assert_same(whole.by_size(samples=6), found.by_size(samples=6))


def test_a_class_that_only_another_shard_has_counts_against(tmp_path):
    # ann has one cat, found by bob, who sees another where ann has none: taken first by the id of its image
    cat = {"category": "cat", "box": [0, 0, 10, 10]}
    rows = [{**cat, "image": image, "rater": rater} for image, rater in [(2, "ann"), (2, "bob"), (1, "bob")]]
    table = Annotations.from_rows(rows, assigned="all")
    found = modified_map(write_shards(table, tmp_path / "s", 1), thresholds=[0.5])
    assert found.directions[0, 0, 1] == pytest.approx(0.5, abs=1e-12)  # the false one of image 1 is taken first
    assert found.directions[0, 1, 0] == pytest.approx(51 / 101, abs=1e-12)  # one of two found: half of the recall
    assert_same(kalos_core.modified_map(table, thresholds=[0.5]), found)
