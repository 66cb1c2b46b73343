"""Time, CPU and peak memory of one round of long work, for this process and others that work for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psutil

from benchmarks.tables import Measured


@dataclass(frozen=True)
class Cost:
    """Wall-clock and CPU seconds, and peak memory of a process beyond what it held before."""

    took: Measured
    memory: Measured


def measured(act: Callable[[], Any]) -> Cost:
    """Measure this process."""
    return watched(act, psutil.Process())[0]


def watched(act: Callable[[], Any], *processes: psutil.Process) -> list[Cost]:
    """Measure each process, sampled every hundredth of a second, because C libraries request memory from the system."""
    stopped = threading.Event()
    before = [(_cpu(one), one.memory_info().rss) for one in processes]
    peaks = [held for _, held in before]

    def watch() -> None:
        while not stopped.wait(0.01):
            peaks[:] = [max(peak, one.memory_info().rss) for peak, one in zip(peaks, processes, strict=True)]

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    start = time.perf_counter()
    act()
    took = time.perf_counter() - start
    stopped.set()
    watching.join()
    return [
        Cost(Measured((took,), cpu=(_cpu(one) - cpu,)), Measured((float(peak - held),), "B"))
        for one, peak, (cpu, held) in zip(processes, peaks, before, strict=True)
    ]


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
