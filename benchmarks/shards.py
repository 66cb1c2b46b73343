"""`python -m benchmarks.shards`: a million images as shards, processed locally and by one and two Dask workers.

Each measurement runs in its own process. Times are wall-clock; CPU seconds say how long dedicated cores would take.
The *serial* part is the work outside of shards: opening, joining, the bootstrap.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import kalos_core
from kalos_core import Annotations, distributed
from kalos_core.shapes import Boxes

RATERS, OBJECTS, CLASSES = 3, 6, 80
PER_SHARD = 10_000
MISSED, CONFUSED, ADDED = 0.05, 0.05, 0.05
CALLS = ("agreement", "variations")


def tables(images: int, seed: int = 0) -> Iterator[Annotations]:
    """Yield images in tables of `PER_SHARD`: six objects each, by three raters who err by a pixel and make mistakes."""
    for number, first in enumerate(range(0, images, PER_SHARD)):
        yield table(first, min(PER_SHARD, images - first), np.random.default_rng([seed, number]))


def table(first: int, images: int, rng: np.random.Generator) -> Annotations:
    """Return the images from `first` on, created without a Python object per annotation."""
    objects = images * OBJECTS
    corner, side = rng.uniform(0, 500, (objects, 2)), rng.uniform(20, 100, (objects, 2))
    kind = rng.integers(0, CLASSES, objects)
    rater = np.repeat(np.arange(RATERS), objects)
    image = np.tile(np.repeat(np.arange(images), OBJECTS), RATERS)
    low = np.tile(corner, (RATERS, 1)) + rng.normal(0, 1.5, (len(rater), 2))
    size = np.maximum(np.tile(side, (RATERS, 1)) + rng.normal(0, 1.5, (len(rater), 2)), 4)
    category = np.tile(kind, RATERS)
    other = rng.random(len(rater)) < CONFUSED
    category[other] = rng.integers(0, CLASSES, int(other.sum()))
    alone = rng.random(len(rater)) < ADDED  # added where no other rater annotated, instead of the missed object
    low[alone] = rng.uniform(0, 500, (int(alone.sum()), 2))
    keep = (rng.random(len(rater)) >= MISSED) | alone
    order = np.flatnonzero(keep)[np.argsort(image[keep], kind="stable")]
    number = np.arange(first, first + images)
    return Annotations(
        image=image[order],
        rater=rater[order],
        category=category[order],
        id=first * RATERS * OBJECTS + np.arange(len(order)),
        shapes={"box": Boxes(np.concatenate([low, low + size], axis=1)[order])},
        images=number.tolist(),
        files=[f"{name:08}.jpg" for name in number.tolist()],
        raters=["ann", "bob", "cid"],
        categories=[f"class {code}" for code in range(CLASSES)],
        image_size=np.full((images, 2), 640.0),
        assigned=np.ones((images, RATERS), np.bool_),
    )


def write(folder: Path, images: int) -> dict[str, Any]:
    """Write the shards; return the time and their content."""
    begin = time.perf_counter()
    shards = distributed.write_shards(tables(images), folder, PER_SHARD)
    return {
        "call": "write_shards",
        "workers": 0,
        "seconds": time.perf_counter() - begin,
        "annotations": shards.rows,
        "megabytes": peak(),
    }


def run(folder: Path, call: str, workers: int) -> dict[str, Any]:
    """Run one call, locally (0) or with this many workers of one thread each."""
    if not workers:
        return measured(folder, call, None)
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        before = client.run(time.process_time)
        record = measured(folder, call, client)
        after = client.run(time.process_time)
        memory = client.run(peak)
    of_workers = sum(after[name] - before[name] for name in before)
    return {**record, "workers": workers, "shards_cpu": of_workers, "worker_megabytes": max(memory.values())}


def measured(folder: Path, call: str, client: Any) -> dict[str, Any]:
    """Run a call and time it: in total, and from before the first shard to after the last."""
    told: list[tuple[float, float]] = []

    def progress(*_: Any) -> None:
        told.append((time.perf_counter(), time.process_time()))

    begin = time.perf_counter(), time.process_time()
    found = getattr(kalos_core, call)(distributed.open_shards(folder, client, progress=progress))
    end = time.perf_counter(), time.process_time()
    (shards, shards_cpu), (seconds, cpu) = (
        (last[0] - first[0], last[1] - first[1]) for first, last in ((told[0], told[-1]), (begin, end))
    )
    return {
        "call": call,
        "workers": 0,
        "seconds": seconds,
        "shards": shards,
        "shards_cpu": shards_cpu,
        "serial_cpu": cpu - shards_cpu,
        "megabytes": peak(),
        "found": found.headline.splitlines()[0],
    }


def peak() -> float:
    """Return the peak memory of this process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def line(record: dict[str, Any]) -> str:
    """Format a record as a line of text."""
    who = {0: "alone", 1: "1 worker"}.get(record["workers"], f"{record['workers']} workers")
    text = f"{record['call']:<13} {who:<9} {record['seconds']:7.0f} s   peak {record['megabytes']:6.0f} MB"
    if "shards" in record:
        text += f"   on shards {record['shards']:6.0f} s, CPU {record['shards_cpu']:6.0f} s"
        text += f"   serial CPU {record['serial_cpu']:5.1f} s"
    if "worker_megabytes" in record:
        text += f"   a worker {record['worker_megabytes']:4.0f} MB"
    return text


def outlook(records: list[dict[str, Any]]) -> list[str]:
    """Estimate the time of ten and a hundred workers on dedicated cores, from CPU seconds, as the machine is shared."""
    lines = []
    for call in CALLS:
        ours = {record["workers"]: record for record in records if record["call"] == call}
        alone = ours.get(0)
        if alone:
            work, serial = alone["shards_cpu"], alone["serial_cpu"]
            times = ", ".join(f"{many} workers {serial + work / many:.0f} s" for many in (1, 2, 10, 100))
            lines.append(
                f"{call}: serial {serial:.0f} of {serial + work:.0f} CPU s ({serial / (serial + work):.0%}); {times}"
            )
        if {1, 2} <= set(ours):
            cpu = ours[2]["shards_cpu"] / ours[1]["shards_cpu"]
            wall = ours[1]["shards"] / ours[2]["shards"]
            lines.append(
                f"{call}: two workers are {wall:.2f} times as fast on shards as one, for {cpu:.2f} times the CPU"
            )
    return lines


def main() -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.shards", description=__doc__.split("\n")[0])
    parser.add_argument("--images", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=Path("artifacts/shards"), help="folder of the shards")
    parser.add_argument("--workers", type=int, nargs="*", default=[0, 1, 2], help="0: alone")
    parser.add_argument("--out", type=Path, help="file for a copy of the printed lines")
    parser.add_argument("--one", nargs=2, metavar=("CALL", "WORKERS"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        call, workers = given.one
        print(
            json.dumps(write(given.folder, given.images) if call == "write" else run(given.folder, call, int(workers)))
        )
        return 0
    lines, records = [], []
    wanted = [] if (given.folder / "dataset.json").exists() else [("write", 0)]
    wanted += [(call, workers) for workers in given.workers for call in CALLS]
    for call, workers in wanted:
        command = [
            sys.executable,
            "-m",
            "benchmarks.shards",
            "--images",
            str(given.images),
            "--folder",
            str(given.folder),
        ]
        done = subprocess.run([*command, "--one", call, str(workers)], stdout=subprocess.PIPE, text=True, check=True)
        records.append(json.loads(done.stdout.splitlines()[-1]))
        lines.append(line(records[-1]))
        print(lines[-1], flush=True)
    shards = distributed.open_shards(given.folder)
    head = f"{shards.images:,} images, {shards.rows:,} annotations, {RATERS} raters, {len(shards)} shards"
    lines = [f"{head}; {os.cpu_count()} cores", *lines, *outlook(records)]
    lines += sorted({record["found"] for record in records if "found" in record})
    print("\n".join(lines))
    if given.out:
        given.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
