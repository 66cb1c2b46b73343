"""`python -m tests.fuzz --minutes 60`: calls with all kinds of arguments and files, for a given time."""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections import Counter
from pathlib import Path
from tempfile import mkdtemp

from benchmarks.reliability import Tried
from tests import fiftyone_environment  # before FiftyOne is imported

from tests.fuzz.bridge import BRIDGE, COMMAND_LINE, SCENES  # isort: skip
from tests.fuzz.calls import CALLS
from tests.fuzz.files import READERS
from tests.fuzz.harness import search
from tests.fuzz.targets import TARGETS

EACH = 10
"""Number of calls of one function per turn."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="names that contain this")
    parser.add_argument("--memory", type=float, default=6, help="GB that a call may need")
    parser.add_argument("--results", type=Path, help="also note what held in this folder (see benchmarks.reliability)")
    options = parser.parse_args()
    results = options.results and options.results.resolve()
    SCENES[0].get()  # starts the database, which has no limit
    resource.setrlimit(resource.RLIMIT_AS, (int(options.memory * 1e9),) * 2)
    end, seed, tried, findings = time.monotonic() + 60 * options.minutes, options.seed, Counter[str](), set[str]()
    os.chdir(mkdtemp())  # some of them write
    while time.monotonic() < end:
        for name, target in TARGETS.items():
            if options.only in name and time.monotonic() < end:
                count, found = search(target, EACH, seed)
                tried[name] += count
                for place, shown in found.items():
                    if f"{name}: {place}" not in findings:
                        findings.add(f"{name}: {place}")
                        print(ascii(f"{name}: {place}: {shown}"), flush=True)
        seed += 1
    parts = (
        ("unusual calls", "functions, classes and methods", CALLS),
        ("unusual calls of the bridge", "functions", BRIDGE),
        ("unusual command lines", "program", COMMAND_LINE),
        ("damaged files", "formats", READERS),
    )
    for what, of, names in parts:
        count, there = sum(tried[name] for name in names), sum(name in tried for name in names)
        wrong = sum(finding.startswith(tuple(f"{name}: " for name in names)) for finding in findings)
        print(f"{what}: {count:,} of {there} {of}, {wrong} findings")
        if results and count:
            repeat = f"python -m tests.fuzz --minutes {options.minutes:g} --seed {options.seed}"
            repeat += f" --only {options.only}" if options.only else ""
            exempt = sum(bool(TARGETS[name].allowed) for name in names if name in tried)
            about = f"{there} {of}" + (f", {exempt} of them building blocks" if exempt else "")
            Tried(what, about, count, count - wrong, repeat).note(results)
    print(f"next seed {seed}")
    fiftyone_environment.tear_down()
    return bool(findings)


if __name__ == "__main__":
    raise SystemExit(main())
