"""A working day on a large data set vs. a small one: cost of each step for a process and the database.

Labels are as in `benchmarks.clicks`.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fiftyone as fo
import psutil

import kalos_core.fiftyone as kf
from benchmarks.clicks import LABELS, dataset_of, table_of
from benchmarks.tables import Measured, Row, Table
from benchmarks.watching import Cost, watched
from kalos_core import KalosWarning
from kalos_core.decisions import Decision
from kalos_core.fiftyone.deciding.decide import decide_as_seen
from kalos_core.fiftyone.deciding.shown import shown_ahead
from kalos_core.fiftyone.internals import database
from kalos_core.fiftyone.kinds.agreement.values import OPEN
from tests import plugin

KEY = "day"
EDITED, DECISIONS, PART = 10, 1_000, 100
"""Samples edited before *Update*; number of decisions; how many of the first and last are reported."""

LINEAR = 1.2
"""Maximum factor of the cost per image of the large data set."""


@dataclass(frozen=True)
class Size:
    samples: int
    raters: int
    labels: int

    def __str__(self) -> str:
        return f"{self.samples:,} samples x {self.raters} raters x {self.labels}"


PAIRS = (
    (Size(2_000, 2, LABELS), Size(20_000, 2, LABELS)),
    (Size(500, 66, 1), Size(5_000, 66, 1)),
)
"""Small and large size of the same kind."""


def all_tables(say: Callable[[str], None]) -> Iterator[Table]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)
        plugin.install()
        for small, large in PAIRS:
            say(f"a working day on {large}, beside {small.samples:,}: takes minutes")
            yield from grown(small, large)


def grown(small: Size, large: Size) -> Iterator[Table]:
    """Compare CPU per image and memory of each step, and seconds of each click, of the large vs. the small size."""
    days = [Day.of(small), Day.of(large)]
    less, more = days
    cost, memory = [], []
    for step, costs in more.steps.items():
        for who, ours, other in zip(("process", "database"), costs, less.steps[step], strict=True):
            busy, of_small = (one.took.busy for one in (ours, other))
            assert busy is not None
            assert of_small is not None
            claim = LINEAR if step in OF_ALL else None
            cost.append(Row(f"{step}: {who}", busy.per(large.samples), of_small.per(small.samples), claim))
            memory.append(Row(f"{step}: {who}", ours.memory, other.memory))
    yield Table(
        f"CPU seconds per image: {large}", tuple(cost), "per image", f"per image of {small.samples:,}", speedup=False
    )
    yield Table(f"peak memory in addition to before: {large}", tuple(memory), "", f"{small.samples:,}", speedup=False)
    clicks = tuple(Row(name, took, less.clicks.get(name)) for name, took in more.clicks.items())
    yield Table(f"answers of the panel: {large}", clicks, "", f"{small.samples:,}", speedup=False)


OF_ALL = ("load", "Analyse", "report", "delete")
"""Steps that process every image."""


@dataclass
class Day:
    """Cost of each step by name, for this process and for the database, and seconds of each click."""

    steps: dict[str, list[Cost]]
    clicks: dict[str, Measured]

    @classmethod
    def of(cls, size: Size) -> Day:
        day, annotations = cls({}, {}), table_of(size.samples, size.raters, size.labels)
        with dataset_of(annotations, load=False) as dataset, tempfile.TemporaryDirectory() as folder:
            day.step("load", lambda: kf.load_raters(annotations, dataset))
            day.step("Analyse", lambda: kf.analyse(dataset, KEY))
            day.look(dataset)
            day.decide(dataset)
            edited = dataset.limit(EDITED)
            edited.set_values("r0.detections.label", [["c1"] * size.labels] * EDITED)
            day.step(f"Update of {EDITED}", lambda: kf.update_analysis(dataset, KEY))
            day.step("report", lambda: kf.report(dataset, KEY, Path(folder) / "report.html"))
            day.step("delete", lambda: [kf.delete_run(dataset, run) for run in kf.list_runs(dataset)])
        return day

    def step(self, name: str, act: Callable[[], Any]) -> None:
        server = psutil.Process(database().client.admin.command("serverStatus")["pid"])
        self.steps[name] = watched(act, psutil.Process(), server)

    def look(self, dataset: fo.Dataset) -> None:
        """Measure the second request for every section; the first loads the content."""
        panel = plugin.Workbench(dataset).load()
        for name in panel.state["sections"]:
            for _ in range(2):
                cost = watched(lambda name=name: panel.send("choose_section", value=name), psutil.Process())
            self.clicks[name] = cost[0].took

    def decide(self, dataset: fo.Dataset) -> None:
        """Measure each decision in the view, without FiftyOne's own work for each request."""
        run = kf.list_analyses(dataset)[0].runs["agreement"].key
        took: list[tuple[float, float]] = []
        while len(took) < DECISIONS and (shown := shown_ahead(dataset, run, PART)):
            units = [(of.sample_id, unit.labels) for of in shown for unit in of.disputes if unit.state == OPEN]
            for sample_id, labels in units:
                start, busy = time.perf_counter(), time.process_time()
                decide_as_seen(dataset, run, sample_id, Decision(labels, "none"), None)
                took.append((time.perf_counter() - start, time.process_time() - busy))
        for name, part in (
            (f"of the first {PART}", took[:PART]),
            (f"of the last {PART} of {DECISIONS:,}", took[-PART:]),
        ):
            wall, cpu = zip(*part, strict=True)
            self.clicks[f"a decision, {name}"] = Measured(wall, cpu=cpu)
