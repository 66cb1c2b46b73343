"""Arguments are checked before a shard is read: no file of the shards here can be."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from kalos_core import InputError
from kalos_core import distributed as over
from tests.distributed.scenes import labels, scene


@pytest.fixture(scope="module")
def of(tmp_path_factory):
    """Shards of all raters, of two, of one, of raters without names, and of labels."""
    folder, table = tmp_path_factory.mktemp("shards"), scene()
    two, one = table.select(raters=["ann", "bob"]), table.select(raters=["ann"])
    tables = {"all": table, "two": two, "one": one, "labels": labels()}
    tables["local"] = replace(table, raters_are_local=True)
    made = {name: over.write_shards(each, folder / name, 10) for name, each in tables.items()}
    for file in folder.glob("*/a*.parquet"):
        file.write_bytes(b"")
    return SimpleNamespace(**made)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda of: over.agreement(of.all, similarity="x"), "similarity: expected one of"),
        (lambda of: over.agreement(of.all, threshold=2), "threshold: expected"),
        (lambda of: over.agreement(of.all, solver="x"), "solver: expected one of"),
        (lambda of: over.agreement(of.all, cost="x"), "cost: expected one of"),
        (lambda of: over.agreement(of.all, bootstrap=-1), "bootstrap: expected a whole number"),
        (lambda of: over.agreement(of.all, client=5), "client: expected a dask.distributed.Client, or .* got int"),
        (lambda of: over.agreement(of.one), "annotations: expected at least two raters, got 1"),
        (lambda of: over.modified_map(of.all, thresholds=[0]), "thresholds: expected similarities above 0"),
        (lambda of: over.modified_map(of.all, size="tiny"), "size: expected one of"),
        (lambda of: over.modified_map(of.all, ties="x"), "ties: expected one of 'coco', 'joint', 'shuffle', got 'x'"),
        (lambda of: over.label_convergence(of.all, samples=1), "samples: expected a whole number of at least 2"),
        (lambda of: over.label_convergence(of.all, fraction=2), "fraction: expected a share"),
        (lambda of: over.label_convergence(of.all, line=3), "line: expected a Line"),
        (lambda of: over.label_convergence(of.all, solver="x"), "solver: expected one of"),
        (lambda of: over.calibrate(of.all, similarities=["box_iou"] * 2), "similarities: expected one or more, each"),
        (lambda of: over.calibrate(of.all, repeats=0), "repeats: expected a whole number of at least 1, got 0"),
        (lambda of: over.calibrate(of.all, coordinates="x"), "coordinates: expected one of"),
        (lambda of: over.rater_vitality(of.two), "vitality: expected at least three raters"),
        (lambda of: over.collaboration(of.local), "collaboration: expected raters who are the same person"),
        (lambda of: over.sensitivity(of.all, strict=0.4), "strict: expected a threshold of at least the anchor 0.5"),
        (lambda of: over.variations(of.all, threshold=0), "threshold: expected a similarity above 0, got 0"),
        (lambda of: over.variations(of.all, max_merge=0), "max_merge: expected a whole number of at least 1, got 0"),
        (lambda of: over.label_agreement(of.labels, bootstrap=-1), "bootstrap: expected a whole number"),
        (lambda of: over.label_agreement(of.labels, weights="heavy"), "weights: expected one of .* got 'heavy'"),
        (lambda of: over.label_agreement(of.labels, metric={"colour": "ordinal"}), "metric: expected"),
    ],
)
def test_refused(of, call, message):
    with pytest.raises(InputError, match=f"^{message}"):
        call(of)
