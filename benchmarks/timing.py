"""Fair timing of several subjects: in turns, in one process, on fresh input each time."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.tables import Measured


def _nothing(*_: Any) -> None:
    return None


@dataclass(frozen=True)
class Subject:
    """`work(prepare())`, of which only `work` is measured; `tidy` runs afterwards."""

    work: Callable[[Any], Any]
    prepare: Callable[[], Any] = _nothing
    tidy: Callable[[Any], Any] = _nothing


@dataclass(frozen=True)
class Outcome:
    """Time of the rounds, and result of the last."""

    took: Measured
    answer: Any


def alternate(subjects: Sequence[Subject], repeats: int, warm_up: bool = True) -> list[Outcome]:
    """Measure subjects in turns (A B A B) after a warm-up, so that other load affects all of them equally."""
    seconds: list[list[float]] = [[] for _ in subjects]
    cpu: list[list[float]] = [[] for _ in subjects]
    answers: list[Any] = [None] * len(subjects)
    for turn in range(not warm_up, repeats + 1):
        for number, subject in enumerate(subjects):
            given = subject.prepare()
            gc.collect()
            start = time.perf_counter(), time.process_time()
            answers[number] = subject.work(given)
            end = time.perf_counter(), time.process_time()
            subject.tidy(given)
            if turn:
                seconds[number].append(end[0] - start[0])
                cpu[number].append(end[1] - start[1])
    return [
        Outcome(Measured(tuple(wall), cpu=tuple(busy)), answer)
        for wall, busy, answer in zip(seconds, cpu, answers, strict=True)
    ]


def peak_memory(subject: Subject) -> Measured:
    """Return the peak of memory beyond the input in one run after a warm-up; memory of C libraries is not included."""
    subject.work(subject.prepare())
    given = subject.prepare()
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        subject.work(given)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return Measured((float(peak - before),), "B")
