"""Workers: failed shards are retried, bad ones are named in messages, and only one shard is in memory at a time."""

from __future__ import annotations

import gc
import os
import signal
import weakref
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import dask
import pytest
from distributed import Client, LocalCluster

import kalos_core
from kalos_core import Annotations, InputError, agreement, label_agreement, variations
from kalos_core.distributed import open_shards, write_shards
from kalos_core.distributed.work import over_shards
from tests.distributed.equality import assert_same
from tests.distributed.scenes import labels, scene
from tests.tiers import extended

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of Dask, closed shortly after
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(n_workers=1, threads_per_worker=2, processes=True, dashboard_address=":0") as made:
        yield made


@pytest.fixture
def shards(tmp_path):
    return write_shards(scene(), tmp_path / "s", 4)


def test_workers_return_the_same_as_one_machine(cluster, shards, tmp_path):
    table, whole = scene(), agreement(scene(), bootstrap=50, seed=1)
    answers = write_shards(labels(), tmp_path / "labels", 8)
    with Client(cluster) as client:
        found = agreement(open_shards(shards.folder, client), bootstrap=50, seed=1)
        answered = label_agreement(open_shards(answers.folder, client), bootstrap=10)
        vitality = kalos_core.rater_vitality(found)
    assert_same(kalos_core.rater_vitality(whole), vitality)
    assert_same(whole.alpha_interval, found.alpha_interval)
    assert_same(whole.image_alpha, found.image_alpha)
    assert_same(label_agreement(labels(), bootstrap=10), answered)
    by_address = open_shards(shards.folder, cluster.scheduler_address)
    assert variations(by_address).counts() == variations(table).counts()


@dataclass(frozen=True)
class Dies:
    """Task that kills workers in the middle of one shard: all of them, or only the first, which leaves a flag."""

    image: str
    flag: Path | None = None

    def __call__(self, annotations: Annotations) -> tuple[str, int]:
        if annotations.images[0] == self.image and not (self.flag and self.flag.exists()):
            if self.flag:
                self.flag.write_text("dead")
            os.kill(os.getpid(), signal.SIGKILL)
        return annotations.images[0], len(annotations)


@extended
@pytest.mark.parametrize("bad", [0, 1])
def test_a_shard_that_all_workers_die_of_is_named(shards, bad):
    # the scheduler blames all shards of the worker, in any order
    first = [shard.read().images[0] for shard in shards]
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        pytest.raises(InputError, match=rf"annotations-0000{bad}\.parquet: expected a worker to finish it"),
    ):
        over_shards(shards, Dies(first[bad]), client)


@pytest.mark.parametrize("with_workers", [False, True])
def test_one_bad_shard_is_named(cluster, shards, tmp_path, with_workers):
    (tmp_path / "s" / "annotations-00003.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match=r"annotations-00003.parquet: expected a Parquet file, got one that cannot"):
        agreement(open_shards(shards.folder, cluster.scheduler_address if with_workers else None))


def test_missing_columns_are_named_with_their_shard(shards):
    with pytest.raises(InputError, match=r"annotations-00000.parquet: .*polygon"):
        agreement(shards, similarity="polygon_iou")


def test_an_unreachable_address_is_refused(shards, monkeypatch):
    monkeypatch.setattr("kalos_core.distributed.work.TIMEOUT", 1)
    with pytest.raises(InputError, match=r"client: expected the address of a Dask scheduler, got 'tcp://127"):
        agreement(open_shards(shards.folder, "tcp://127.0.0.1:1"))


def test_who_asks_can_stop(cluster, shards):
    def stop(share, _):
        if share > 0.3:
            raise KeyboardInterrupt

    for client in (None, cluster.scheduler_address):
        with pytest.raises(KeyboardInterrupt):
            agreement(open_shards(shards.folder, client, progress=stop))
    again = open_shards(shards.folder, cluster.scheduler_address)
    assert agreement(again, bootstrap=0).alpha == agreement(shards, bootstrap=0).alpha


def held(alive, annotations):
    """Return the number of tables of shards in memory during the work on one."""
    gc.collect()
    alive.add(annotations)
    return len(alive), len(annotations.images)


def test_one_shard_is_held_at_a_time(shards):
    assert over_shards(shards, partial(held, weakref.WeakSet())) == [(1, 4)] * 5 + [(1, 3)]


@extended
def test_a_worker_that_dies_loses_its_shard_only(shards, tmp_path):
    tables = [shard.read() for shard in shards]
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        found = over_shards(shards, Dies(tables[2].images[0], tmp_path / "flag"), client)
    assert (tmp_path / "flag").exists()
    assert found == [(table.images[0], len(table)) for table in tables]
