"""Modified mAP and label convergence over shards: every number of one machine, in every order of detections."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import kalos_core
from kalos_core import Annotations, InputError, KalosWarning, read_coco
from kalos_core.distributed import label_convergence, modified_map, write_shards
from tests.distributed.equality import SHARDS, assert_same, shards_of
from tests.distributed.scenes import limited, scene

pytestmark = pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")


def in_order(make):
    """A table with rows in the order of images, as shards have them."""
    table = make()
    return table.select(rows=np.argsort(table.image, kind="stable"))


def numbered():
    """Ids of images that are whole numbers, not in their order: mAP takes them by number."""
    table = scene()
    number = np.random.default_rng(4).permutation(len(table.images))
    coco = {
        "images": [
            {"id": int(one), "rater_list": table.raters[who].tolist()}
            for one, who in zip(number, table.assigned, strict=True)
        ],
        "categories": [{"id": code, "name": name} for code, name in enumerate(table.categories)],
        "annotations": [
            {"id": row, "image_id": int(number[table.image[row]]), "category_id": int(table.category[row]),
             "rater": table.raters[table.rater[row]], "bbox": table.shapes["box"].xywh()[row].tolist(),
             "iscrowd": int(row % 11 == 0)}
            for row in range(len(table))
        ],
    }  # fmt: skip
    return read_coco(coco)


TABLES = {"text": scene, "numbers and crowds": numbered, "mixed": lambda: scene(ids="mixed"), "limits": limited}
THRESHOLDS = (0.4, 0.6)


@pytest.mark.parametrize("size", SHARDS.values(), ids=SHARDS)
@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("ties", ["coco", "joint"])
def test_map_as_on_one_machine(tmp_path, size, make, ties):
    table = make()
    whole = kalos_core.modified_map(table, thresholds=THRESHOLDS, ties=ties)
    assert_same(whole, modified_map(shards_of(table, tmp_path / "s", size), thresholds=THRESHOLDS, ties=ties))


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_random_orders_and_sizes_as_on_one_machine(tmp_path, make):
    table = in_order(make)
    shards = shards_of(table, tmp_path / "s", 5)
    chosen = {"thresholds": THRESHOLDS, "ties": "shuffle", "orders": 3, "seed": 7}
    assert_same(kalos_core.modified_map(table, **chosen), modified_map(shards, **chosen))
    assert_same(kalos_core.modified_map(table, size="small"), modified_map(shards, size="small"))


@pytest.mark.parametrize("size", SHARDS.values(), ids=SHARDS)
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


def test_a_warning_names_whoever_called(tmp_path):
    shards = write_shards(scene(), tmp_path / "s", 9)
    with pytest.warns(KalosWarning, match="it depends on how many images"):
        label_convergence(shards, samples=5, fraction=0.5, thresholds=[0.4])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda shards: modified_map(shards, thresholds=[0]), "thresholds: expected similarities above 0"),
        (lambda shards: modified_map(shards, size="tiny"), "size: expected one of"),
        (lambda shards: modified_map(shards, ties="x"), "ties: expected 'coco', 'shuffle' or 'joint', got 'x'"),
        (lambda shards: label_convergence(shards, samples=1), "samples: expected a whole number of at least 2"),
        (lambda shards: label_convergence(shards, fraction=2), "fraction: expected a share"),
        (lambda shards: label_convergence(shards, line=3), "line: expected a Line"),
        (lambda shards: label_convergence(shards, solver="x"), "solver: expected one of"),
    ],
)
def test_arguments_are_checked_before_a_shard_is_read(tmp_path, call, message):
    shards = write_shards(scene(), tmp_path / "s", 10)
    (tmp_path / "s" / "annotations-00000.parquet").write_bytes(b"")
    with pytest.raises(InputError, match=f"^{message}"):
        call(shards)


def test_the_list_is_read_in_the_order_of_images(tmp_path):
    shards = shards_of(scene(), tmp_path / "s", 5)
    listed = json.loads((tmp_path / "s" / "dataset.json").read_text())["shards"]
    assert [entry["first_image"] for entry in listed] == [20, 15, 10, 5, 0]
    assert [files.first_image for files in shards.files] == [0, 5, 10, 15, 20]
