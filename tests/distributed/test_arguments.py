"""Arguments are checked before reading a shard; the shards in these tests cannot be read."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

import kalos_core as k
from kalos_core import InputError
from kalos_core.distributed import open_shards, write_shards
from tests.distributed.scenes import labels, scene


@pytest.fixture(scope="module")
def of(tmp_path_factory):
    """Create shards of all raters, of two, of one, of raters without names, and of labels."""
    folder, table = tmp_path_factory.mktemp("shards"), scene()
    two, one = table.select(raters=["ann", "bob"]), table.select(raters=["ann"])
    tables = {"all": table, "two": two, "one": one, "labels": labels()}
    tables["local"] = replace(table, raters_are_local=True)
    made = {name: write_shards(each, folder / name, 10) for name, each in tables.items()}
    for file in folder.glob("*/a*.parquet"):
        file.write_bytes(b"")
    return SimpleNamespace(**made)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda of: k.agreement(of.all, similarity="x"), "similarity: expected one of"),
        (lambda of: k.agreement(of.all, threshold=2), "threshold: expected"),
        (lambda of: k.agreement(of.all, solver="x"), "solver: expected one of"),
        (lambda of: k.agreement(of.all, cost="x"), "cost: expected one of"),
        (lambda of: k.agreement(of.all, bootstrap=-1), "bootstrap: expected a whole number"),
        (
            lambda of: k.agreement(open_shards(of.all.folder, client=5)),
            "client: expected a dask.distributed.Client, or .* got int",
        ),
        (lambda _: open_shards("a\0b"), "folder: expected a path of at most 4,095 bytes, without NUL"),
        (lambda _: open_shards("x/" * 2_500), "folder: expected a path of at most 4,095 bytes"),
        (lambda of: k.agreement(of.one), "annotations: expected at least two raters, got 1"),
        (lambda of: k.modified_map(of.all, thresholds=[0]), "thresholds: expected a number above 0"),
        (lambda of: k.modified_map(of.all, size="tiny"), "size: expected one of"),
        (lambda of: k.modified_map(of.all, ties="x"), "ties: expected one of 'coco', 'joint', 'shuffle', got 'x'"),
        (lambda of: k.label_convergence(of.all, samples=1), "samples: expected a whole number of at least 2"),
        (lambda of: k.label_convergence(of.all, fraction=2), "fraction: expected a number above 0 and below 1"),
        (lambda of: k.label_convergence(of.all, line=3), "line: expected a Line"),
        (lambda of: k.label_convergence(of.all, solver="x"), "solver: expected one of"),
        (lambda of: k.calibrate(of.all, similarities=["box_iou"] * 2), "similarities: expected one or more, each"),
        (lambda of: k.calibrate(of.all, repeats=0), "repeats: expected a whole number of at least 1, got 0"),
        (lambda of: k.calibrate(of.all, coordinates="x"), "coordinates: expected one of"),
        (lambda of: k.rater_vitality(of.two), "vitality: expected at least three raters"),
        (lambda of: k.collaboration(of.local), "collaboration: expected raters who are the same person"),
        (lambda of: k.sensitivity(of.all, strict=0.4), "strict: expected a threshold of at least the anchor 0.5"),
        (lambda of: k.variations(of.all, threshold=0), "threshold: expected a number above 0 and at most 1, got 0"),
        (lambda of: k.variations(of.all, max_merge=0), "max_merge: expected a whole number of at least 1, got 0"),
        (lambda of: k.label_agreement(of.labels, bootstrap=-1), "bootstrap: expected a whole number"),
        (lambda of: k.label_agreement(of.labels, weights="heavy"), "weights: expected one of .* got 'heavy'"),
        (lambda of: k.label_agreement(of.labels, metric={"colour": "ordinal"}), "metric: expected"),
    ],
)
def test_refused(of, call, message):
    with pytest.raises(InputError, match=f"^{message}"):
        call(of)
