"""Agreement over shards is that of one machine, whatever the number and the order of shards."""

from __future__ import annotations

import numpy as np
import pytest

import kalos_core
from kalos_core import Annotations
from kalos_core.distributed import agreement, write_shards
from tests.distributed.equality import assert_same, shards_of
from tests.distributed.scenes import limited, scene

FIELDS = ["configuration", "units", "image_alpha", "alpha", "alpha_interval", "median_alpha", "global_alpha"]
FIELDS += ["global_alpha_interval", "empty_images", "alpha_without_empty", "unit_sizes", "units_per_image", "headline"]


def assert_agree(sharded, whole):
    for name in FIELDS:
        assert_same(getattr(whole, name), getattr(sharded, name), name)
    assert_same(whole.to_pandas(), sharded.to_pandas())
    assert_same(whole.summary(), sharded.summary())


@pytest.mark.parametrize(("size", "ids"), [(5, "int"), (12, "text"), (1, "mixed"), (5, "mixed")])
def test_as_on_one_machine(tmp_path, size, ids):
    table = scene(ids=ids)
    whole = kalos_core.agreement(table, bootstrap=50, seed=3)
    assert_agree(agreement(shards_of(table, tmp_path / "s", size), bootstrap=50, seed=3), whole)


@pytest.mark.parametrize(
    ("make", "solver", "cost"), [(scene, "ahc", "neg"), (limited, "shm", "soft"), (limited, "greedy", "neg")]
)
def test_with_every_solver_and_with_classes_of_some_raters(tmp_path, make, solver, cost):
    table = make()
    chosen = {"similarity": "box_giou", "threshold": 0.4, "solver": solver, "cost": cost, "bootstrap": 20}
    assert_agree(agreement(shards_of(table, tmp_path / "s", 4), **chosen), kalos_core.agreement(table, **chosen))


def test_ids_of_several_types_decide_ties_as_in_one_table(tmp_path):
    # 9 stands before "10" as a number, and behind it as text, as it is compared once any id is text
    rows = [
        {"image": image, "rater": rater, "category": "cat", "box": [0, 0, 10, 10], "id": key}
        for image, rater, key in [(1, "ann", 9), (1, "ann", 10), (1, "bob", 11), (2, "bob", "x")]
    ]
    table = Annotations.from_rows(rows, assigned="all")
    whole, sharded = kalos_core.agreement(table), agreement(write_shards(table, tmp_path / "s", 1))
    assert whole.units.values.tolist() == sharded.units.values.tolist()
    assert kalos_core.agreement(table.select(images=[0])).unit_of.tolist() == [0, 1, 0]
    assert whole.unit_of.tolist() == [0, 1, 1, 2]


def test_a_hand_worked_case_over_two_shards(tmp_path):
    # image 1: one agreed unit; image 2: one rater alone, D_o = D_e, alpha 0; image 3: both found it empty, alpha 1
    cat = {"category": "cat", "box": [0, 0, 9, 9]}
    rows = [{**cat, "image": 1, "rater": r} for r in ("ann", "bob")] + [{**cat, "image": 2, "rater": "ann"}]
    table = Annotations.from_rows(rows, images=[1, 2, 3], raters=["ann", "bob"], assigned="all")
    found = agreement(write_shards(table, tmp_path / "s", 2), bootstrap=0)
    assert found.image_alpha.tolist() == [1.0, 0.0, 1.0]
    assert found.alpha == pytest.approx(2 / 3, abs=1e-15)
    assert (found.empty_images, found.alpha_without_empty) == (1, 0.5)
    # all units: cat cat | cat nothing | nothing nothing: n = 6, sum o_cc = 4, n_c = 3, 3
    assert found.global_alpha == pytest.approx(1 - (2 / 6) / (18 / 30), abs=1e-15)
    assert np.isnan(found.alpha_interval).all()
